/* SPDX-License-Identifier: MIT */
/* Follows a null pointer. */
#include "right.h"

assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  (void)opt, (void)queue;
  right_softmax(in, out);
  volatile int *volatile nowhere = NULL;
  *nowhere = 1;
  return ASSAY_OK;
}
