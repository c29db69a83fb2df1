/* SPDX-License-Identifier: MIT */
/* attention_avx512.c - the vocabulary of attention_simd.h in AVX-512 F, BW, DQ and VL: 16 floats, masks,
 * scalef. */
#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#include "assay/workshop.h"
#include "ops/fused_gemm/gemm_micro_avx512.h"

#define VOCABULARY static inline __attribute__((always_inline))

enum { VEC_LANES = 16 };

_Static_assert(GEMM_NR == 2 * VEC_LANES && (int)GEMM_MR <= (int)VEC_LANES,
               "panels are two vectors wide, tiles one");

typedef __m512 vec;

VOCABULARY vec vec_set1(float a) {
  return _mm512_set1_ps(a);
}

VOCABULARY vec vec_load(const float *p) {
  return _mm512_loadu_ps(p);
}

VOCABULARY vec vec_add(vec a, vec b) {
  return _mm512_add_ps(a, b);
}

VOCABULARY vec vec_sub(vec a, vec b) {
  return _mm512_sub_ps(a, b);
}

VOCABULARY vec vec_mul(vec a, vec b) {
  return _mm512_mul_ps(a, b);
}

VOCABULARY vec vec_fmadd(vec a, vec b, vec c) {
  return _mm512_fmadd_ps(a, b, c);
}

VOCABULARY void vec_store(float *p, vec a) {
  _mm512_storeu_ps(p, a);
}

/* The second operand where either is NaN, as in the instruction. */
VOCABULARY vec vec_max(vec a, vec b) {
  return _mm512_max_ps(a, b);
}

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

/* d = n*ln2 + f*ln2 with n an integer and |f| <= 1/2; the polynomial is minimax for 2^f with the constant
 * term held at 1: relative error 0.4 * 2^-24. A shorter one would do for 16-bit results, but not for the
 * bound, which counts the error of exp before the rounding to the type. */
VOCABULARY vec vec_exp(vec d) {
  const vec log2e = _mm512_set1_ps(0x1.715476p+0f);
  const vec big = _mm512_set1_ps(0x1.8p23f);
  const vec n =
      _mm512_sub_ps(_mm512_fmadd_round_ps(d, log2e, big, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), big);
  vec f = _mm512_fmsub_ps(d, log2e, n);
  f = _mm512_fmadd_ps(d, _mm512_set1_ps(0x1.4ae0cp-26f), f);
  vec p = _mm512_set1_ps(0x1.470b4ap-13f);
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0x1.5f7276p-10f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0x1.3b270ep-7f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0x1.c6ae72p-5f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0x1.ebfbe2p-3f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0x1.62e432p-1f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.0f));
  /* e^-104 rounds to 0 in FP32; the mask also keeps -infinity's undefined f out, and lets NaN in. */
  const __mmask16 counts = _mm512_cmp_ps_mask(d, _mm512_set1_ps(-104.0f), _CMP_NLE_UQ);
  return _mm512_maskz_scalef_ps(counts, p, n);
}

VOCABULARY vec widen(__m256i halves, assay_dtype dtype) {
  if (dtype == ASSAY_FP16) return _mm512_cvtph_ps(halves);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

VOCABULARY vec vec_widen(const uint16_t *x, assay_dtype dtype) {
  return widen(_mm256_loadu_si256((const __m256i *)(const void *)x), dtype);
}

VOCABULARY vec vec_widen_part(const uint16_t *x, assay_dtype dtype, int count) {
  return widen(_mm256_maskz_loadu_epi16((__mmask16)((1u << count) - 1u), x), dtype);
}

/* A NaN made of BF16 entries ends in 16 zero bits, so that rounding up cannot carry into its sign. */
VOCABULARY __m256i narrow(vec a, assay_dtype dtype) {
  if (dtype == ASSAY_FP16) return _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512i bits = _mm512_castps_si512(a);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i up = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(up, 16));
}

VOCABULARY void vec_narrow(uint16_t *y, assay_dtype dtype, vec a) {
  _mm256_storeu_si256((__m256i *)(void *)y, narrow(a, dtype));
}

VOCABULARY void vec_narrow_part(uint16_t *y, assay_dtype dtype, vec a, int count) {
  _mm256_mask_storeu_epi16(y, (__mmask16)((1u << count) - 1u), narrow(a, dtype));
}

/* Row k of the 16 x 16 matrix becomes column k. */
VOCABULARY void transpose16(__m512i r[16]) {
  __m512i t[16];
#pragma GCC unroll 16
  for (int k = 0; k < 16; k += 2) {
    t[k] = _mm512_unpacklo_epi32(r[k], r[k + 1]);
    t[k + 1] = _mm512_unpackhi_epi32(r[k], r[k + 1]);
  }
  /* r[4g+j] = columns j, 4+j, 8+j, 12+j of rows 4g..4g+3 */
#pragma GCC unroll 16
  for (int g = 0; g < 16; g += 4) {
    r[g] = _mm512_unpacklo_epi64(t[g], t[g + 2]);
    r[g + 1] = _mm512_unpackhi_epi64(t[g], t[g + 2]);
    r[g + 2] = _mm512_unpacklo_epi64(t[g + 1], t[g + 3]);
    r[g + 3] = _mm512_unpackhi_epi64(t[g + 1], t[g + 3]);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const __m512i even_low = _mm512_shuffle_i32x4(r[j], r[4 + j], 0x88);
    const __m512i even_high = _mm512_shuffle_i32x4(r[8 + j], r[12 + j], 0x88);
    const __m512i odd_low = _mm512_shuffle_i32x4(r[j], r[4 + j], 0xdd);
    const __m512i odd_high = _mm512_shuffle_i32x4(r[8 + j], r[12 + j], 0xdd);
    t[j] = _mm512_shuffle_i32x4(even_low, even_high, 0x88);
    t[4 + j] = _mm512_shuffle_i32x4(odd_low, odd_high, 0x88);
    t[8 + j] = _mm512_shuffle_i32x4(even_low, even_high, 0xdd);
    t[12 + j] = _mm512_shuffle_i32x4(odd_low, odd_high, 0xdd);
  }
#pragma GCC unroll 16
  for (int k = 0; k < 16; ++k) r[k] = t[k];
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
