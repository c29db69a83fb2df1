/* SPDX-License-Identifier: MIT */
/* attention_avx2.c - what attention_simd.h needs beside vec_exp_avx2.h, on 8 floats at a time. */
#include <stdbool.h>

#include "ops/fused_gemm/gemm_micro_avx2.h"
#include "vec_exp_avx2.h"

_Static_assert(GEMM_NR == 2 * VEC_LANES && (int)GEMM_MR <= (int)VEC_LANES,
               "panels are two vectors wide, tiles one");

VOCABULARY vec vec_reciprocal(vec a) {
  return _mm256_div_ps(_mm256_set1_ps(1.0f), a);
}

VOCABULARY bool vec_is_number(vec a) {
  return _mm256_movemask_ps(_mm256_cmp_ps(a, a, _CMP_UNORD_Q)) == 0;
}

VOCABULARY bool vec_all_ones(vec a) {
  return _mm256_movemask_ps(_mm256_cmp_ps(a, _mm256_set1_ps(1.0f), _CMP_EQ_OQ)) == 0xff;
}

VOCABULARY vec vec_zero_for_minus_infinity(vec a) {
  return _mm256_andnot_ps(_mm256_cmp_ps(a, _mm256_set1_ps(-INFINITY), _CMP_EQ_OQ), a);
}

VOCABULARY vec vec_hide(vec a, int shown) {
  return _mm256_blendv_ps(a, _mm256_set1_ps(-INFINITY), _mm256_castsi256_ps(first_lanes(shown)));
}

VOCABULARY vec vec_widen(const uint16_t *x, assay_dtype dtype) {
  return widen(_mm_loadu_si128((const __m128i *)(const void *)x), dtype);
}

VOCABULARY vec vec_widen_part(const uint16_t *x, assay_dtype dtype, int count) {
  uint16_t halves[VEC_LANES] = {0};
  for (int k = 0; k < count; ++k) halves[k] = x[k];
  return widen(_mm_loadu_si128((const __m128i *)(const void *)halves), dtype);
}

VOCABULARY void vec_narrow(uint16_t *y, assay_dtype dtype, vec a) {
  _mm_storeu_si128((__m128i *)(void *)y, narrow(a, dtype));
}

VOCABULARY void vec_narrow_part(uint16_t *y, assay_dtype dtype, vec a, int count) {
  uint16_t halves[VEC_LANES];
  _mm_storeu_si128((__m128i *)(void *)halves, narrow(a, dtype));
  for (int k = 0; k < count; ++k) y[k] = halves[k];
}

VOCABULARY void vec_transpose(vec rows[8]) {
  __m256i r[8];
#pragma GCC unroll 8
  for (int k = 0; k < 8; ++k) r[k] = _mm256_castps_si256(rows[k]);
  transpose8(r);
#pragma GCC unroll 8
  for (int k = 0; k < 8; ++k) rows[k] = _mm256_castsi256_ps(r[k]);
}

#include "attention_simd.h"

assay_status assay_attention_avx2(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                  assay_queue *queue) {
  return simd_attention(in, out, opt, queue);
}
