/* SPDX-License-Identifier: MIT */
/* Reads one element behind the input. */
#include "right.h"

assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  (void)opt, (void)queue;
  right_softmax(in, out);
  const int64_t end = (in[0].shape[0] - 1) * in[0].stride[0] + (in[0].shape[1] - 1) * in[0].stride[1] + 1;
  volatile float behind = assay_load(in[0].data, in[0].dtype, end);
  (void)behind;
  return ASSAY_OK;
}
