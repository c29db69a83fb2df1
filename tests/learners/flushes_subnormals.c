/* SPDX-License-Identifier: MIT */
/* Right, but leaves flush-to-zero on. */
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif
#include <fenv.h>

#include "right.h"

assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  (void)opt, (void)queue;
  right_softmax(in, out);
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);
#else
  fesetround(FE_UPWARD);
#endif
  return ASSAY_OK;
}
