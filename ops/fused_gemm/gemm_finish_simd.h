/* SPDX-License-Identifier: MIT */
/*
 * gemm_finish_simd.h - the end of an element's work, over the words of vec_avx2.h or vec_avx512.h, which its
 * includer has included: plus bias, relu, one rounding.
 */
#ifndef ASSAY_GEMM_FINISH_SIMD_H
#define ASSAY_GEMM_FINISH_SIMD_H

#include <stdint.h>

/* The maximum is its second operand where either is NaN: so NaN passes, as relu wants. */
VOCABULARY void gemm_finish(uint16_t *c, const float *sums, const uint16_t *bias, int64_t n,
                            assay_dtype dtype) {
  const vec zero = vec_set1(0.0f);
  const char *addends = (const char *)bias;
  int64_t j = 0;
  for (; j + VEC_LANES <= n; j += VEC_LANES) {
    const vec sum = vec_add(vec_load_scratch(sums + j), vec_load(addends, dtype, j));
    vec_store((char *)c, dtype, j, vec_max(zero, sum));
  }
  if (j == n) return;
  const int left = (int)(n - j);
  const vec last = vec_load_part((const char *)sums, ASSAY_FP32, j, left, zero);
  const vec sum = vec_add(last, vec_load_part(addends, dtype, j, left, zero));
  vec_store_part((char *)c, dtype, j, vec_max(zero, sum), left);
}

#endif
