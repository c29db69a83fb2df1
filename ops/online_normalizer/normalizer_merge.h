/* SPDX-License-Identifier: MIT */
/*
 * normalizer_merge.h - the merge of two softmax states in FP32, for kernels that keep their states in
 * registers. A test holds it to the public FP64 merge.
 */
#ifndef ASSAY_NORMALIZER_MERGE_H
#define ASSAY_NORMALIZER_MERGE_H

#include <math.h>
#include <stdbool.h>

/*
 * (m,s) of two parts; (-INFINITY, 0) is the identity on both sides, bit for bit. The parts come as values, so
 * m and s may point to where they came from. Only the sum of the smaller maximum is scaled: the other one's
 * factor is exactly 1. That makes the merge commute bit for bit, even where a compiler fuses the product and
 * the sum. A sum that is NaN stays NaN.
 */
static inline void normalizer_merge32(float m1, float s1, float m2, float s2, float *m, float *s) {
  const bool first = m1 >= m2;
  const float top = first ? m1 : m2;
  const float kept = first ? s1 : s2;
  const float low = first ? m2 : m1;
  const float scaled = first ? s2 : s1;
  /* Equal maxima need no factor, and the difference of two -inf, or of two +inf, would be NaN. */
  const float factor = m1 == m2 ? 1.0f : expf(low - top);
  *m = top;
  *s = kept + scaled * factor;
}

#endif
