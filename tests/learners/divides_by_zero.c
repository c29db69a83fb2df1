/* SPDX-License-Identifier: MIT */
/* An integer division by zero. */
#include "right.h"

assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  (void)opt, (void)queue;
  right_softmax(in, out);
  volatile int zero = 0;
  zero = 100 / zero;
  return ASSAY_OK;
}
