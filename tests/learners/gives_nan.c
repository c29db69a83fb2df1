/* SPDX-License-Identifier: MIT */
/* One element is NaN. */
#include "right.h"

assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  (void)opt, (void)queue;
  right_softmax(in, out);
  if (out[0].shape[0] > 0) assay_store(out[0].data, out[0].dtype, 0, NAN);
  return ASSAY_OK;
}
