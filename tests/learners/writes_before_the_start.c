/* SPDX-License-Identifier: MIT */
/* Writes one element before the output. */
#include "right.h"

assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  (void)opt, (void)queue;
  right_softmax(in, out);
  assay_store(out[0].data, out[0].dtype, -1, 0);
  return ASSAY_OK;
}
