/* SPDX-License-Identifier: MIT */
/* Right, but its constructor changes the rounding mode. */
#include <fenv.h>

#include "right.h"

__attribute__((constructor)) static void change(void) {
  fesetround(FE_UPWARD);
}

assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  (void)opt, (void)queue;
  right_softmax(in, out);
  return ASSAY_OK;
}
