/* SPDX-License-Identifier: MIT */
/* attention_avx512.c - what attention_simd.h needs beside vec_exp_avx512.h, on 16 floats at a time. */
#include <stdbool.h>

#include "ops/fused_gemm/gemm_micro_avx512.h"
#include "vec_exp_avx512.h"

_Static_assert(GEMM_NR == 2 * VEC_LANES && (int)GEMM_MR <= (int)VEC_LANES,
               "panels are two vectors wide, tiles one");

VOCABULARY vec vec_reciprocal(vec a) {
  return _mm512_div_ps(_mm512_set1_ps(1.0f), a);
}

VOCABULARY bool vec_is_number(vec a) {
  return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q) == 0;
}

VOCABULARY bool vec_all_ones(vec a) {
  return _mm512_cmp_ps_mask(a, _mm512_set1_ps(1.0f), _CMP_EQ_OQ) == 0xffff;
}

VOCABULARY vec vec_zero_for_minus_infinity(vec a) {
  return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, _mm512_set1_ps(-INFINITY), _CMP_NEQ_UQ), a);
}

VOCABULARY vec vec_hide(vec a, int shown) {
  return _mm512_mask_mov_ps(a, (__mmask16)((1u << shown) - 1u), _mm512_set1_ps(-INFINITY));
}

VOCABULARY vec vec_widen(const uint16_t *x, assay_dtype dtype) {
  return widen(_mm256_loadu_si256((const __m256i *)(const void *)x), dtype);
}

VOCABULARY vec vec_widen_part(const uint16_t *x, assay_dtype dtype, int count) {
  return widen(_mm256_maskz_loadu_epi16((__mmask16)((1u << count) - 1u), x), dtype);
}

VOCABULARY void vec_narrow(uint16_t *y, assay_dtype dtype, vec a) {
  _mm256_storeu_si256((__m256i *)(void *)y, narrow(a, dtype));
}

VOCABULARY void vec_narrow_part(uint16_t *y, assay_dtype dtype, vec a, int count) {
  _mm256_mask_storeu_epi16(y, (__mmask16)((1u << count) - 1u), narrow(a, dtype));
}

VOCABULARY void vec_transpose(vec rows[16]) {
  __m512i r[16];
#pragma GCC unroll 16
  for (int k = 0; k < 16; ++k) r[k] = _mm512_castps_si512(rows[k]);
  transpose16(r);
#pragma GCC unroll 16
  for (int k = 0; k < 16; ++k) rows[k] = _mm512_castsi512_ps(r[k]);
}

#include "attention_simd.h"

assay_status assay_attention_avx512(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                    assay_queue *queue) {
  return simd_attention(in, out, opt, queue);
}
