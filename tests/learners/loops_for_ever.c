/* SPDX-License-Identifier: MIT */
/* Never returns. */
#include "right.h"

assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  (void)opt, (void)queue;
  right_softmax(in, out);
  for (volatile int i = 0; i >= 0; i = 1) continue;
  return ASSAY_OK;
}
