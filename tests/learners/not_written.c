/* SPDX-License-Identifier: MIT */
/* Still the starter. */
#include "right.h"

assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  (void)opt, (void)queue;
  (void)in, (void)out;
  return ASSAY_TODO;
}
