/* SPDX-License-Identifier: MIT */
/* Returns an error for a valid call. */
#include "right.h"

assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  (void)opt, (void)queue;
  right_softmax(in, out);
  if (out[0].shape[1] > 3) return ASSAY_BAD_SHAPE;
  return ASSAY_OK;
}
