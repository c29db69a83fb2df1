/* SPDX-License-Identifier: MIT */
/* Recurses without end. */
#include "right.h"

assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  (void)opt, (void)queue;
  right_softmax(in, out);
  volatile char frame[1 << 16] = {1};
  if (frame[0] == 0) return ASSAY_OK; /* never: hides the recursion from the compiler */
  frame[1] = (char)strided_softmax(in, out, opt, queue);
  if (frame[1] != 0) return ASSAY_NO_MEMORY;
  return ASSAY_OK;
}
