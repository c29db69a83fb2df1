/* SPDX-License-Identifier: MIT */
/* attention_avx2.c - the vocabulary of attention_simd.h in AVX2, FMA and F16C: 8 floats, 2^n built from bits.
 */
#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#include "assay/workshop.h"
#include "ops/fused_gemm/gemm_micro_avx2.h"

#define VOCABULARY static inline __attribute__((always_inline))

enum { VEC_LANES = 8 };

_Static_assert(GEMM_NR == 2 * VEC_LANES && (int)GEMM_MR <= (int)VEC_LANES,
               "panels are two vectors wide, tiles one");

typedef __m256 vec;

VOCABULARY vec vec_set1(float a) {
  return _mm256_set1_ps(a);
}

VOCABULARY vec vec_load(const float *p) {
  return _mm256_loadu_ps(p);
}

VOCABULARY vec vec_add(vec a, vec b) {
  return _mm256_add_ps(a, b);
}

VOCABULARY vec vec_sub(vec a, vec b) {
  return _mm256_sub_ps(a, b);
}

VOCABULARY vec vec_mul(vec a, vec b) {
  return _mm256_mul_ps(a, b);
}

VOCABULARY vec vec_fmadd(vec a, vec b, vec c) {
  return _mm256_fmadd_ps(a, b, c);
}

VOCABULARY void vec_store(float *p, vec a) {
  _mm256_storeu_ps(p, a);
}

/* The second operand where either is NaN, as in the instruction. */
VOCABULARY vec vec_max(vec a, vec b) {
  return _mm256_max_ps(a, b);
}

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

/* -1 in the first `count` lanes of 4 bytes. */
VOCABULARY __m256i first_lanes(int count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

VOCABULARY vec vec_hide(vec a, int shown) {
  return _mm256_blendv_ps(a, _mm256_set1_ps(-INFINITY), _mm256_castsi256_ps(first_lanes(shown)));
}

/* 2^k from the lowest bits of a float that hold k + 127. */
VOCABULARY vec power_of_two(vec shifted) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(shifted), 23));
}

/* d = n*ln2 + f*ln2 with n an integer and |f| <= 1/2; the polynomial is minimax for 2^f with the constant
 * term held at 1: relative error 0.4 * 2^-24. A shorter one would do for 16-bit results, but not for the
 * bound, which counts the error of exp before the rounding to the type. */
VOCABULARY vec vec_exp(vec d) {
  const vec log2e = _mm256_set1_ps(0x1.715476p+0f);
  const vec lowest = _mm256_set1_ps(-104.0f); /* e^-104 rounds to 0 in FP32 */
  /* Adding 1.5 * 2^23 rounds to an integer and leaves it in the lowest bits; 127 is the bias of exponents. */
  const vec shift = _mm256_set1_ps(0x1.8p23f + 127.0f);
  const vec counts = _mm256_cmp_ps(d, lowest, _CMP_NLE_UQ);
  d = _mm256_max_ps(lowest, d); /* NaN stays */
  const vec shifted = _mm256_fmadd_ps(d, log2e, shift);
  const vec n = _mm256_sub_ps(shifted, shift);
  vec f = _mm256_fmsub_ps(d, log2e, n);
  f = _mm256_fmadd_ps(d, _mm256_set1_ps(0x1.4ae0cp-26f), f);
  vec p = _mm256_set1_ps(0x1.470b4ap-13f);
  p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(0x1.5f7276p-10f));
  p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(0x1.3b270ep-7f));
  p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(0x1.c6ae72p-5f));
  p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(0x1.ebfbe2p-3f));
  p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(0x1.62e432p-1f));
  p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(1.0f));
  /* 2^n = 2^near * 2^rest: `near` keeps the first product normal, so only the second one rounds, and
   * subnormal results come out right. 2^rest is 0 where the result is to be an exact 0. */
  const vec near = _mm256_max_ps(_mm256_set1_ps(0x1.8p23f + 127.0f - 124.0f), shifted);
  const vec rest = _mm256_add_ps(_mm256_sub_ps(shifted, near), shift);
  return _mm256_mul_ps(_mm256_mul_ps(p, power_of_two(near)), _mm256_and_ps(power_of_two(rest), counts));
}

VOCABULARY vec widen(__m128i halves, assay_dtype dtype) {
  if (dtype == ASSAY_FP16) return _mm256_cvtph_ps(halves);
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

VOCABULARY vec vec_widen(const uint16_t *x, assay_dtype dtype) {
  return widen(_mm_loadu_si128((const __m128i *)(const void *)x), dtype);
}

VOCABULARY vec vec_widen_part(const uint16_t *x, assay_dtype dtype, int count) {
  uint16_t halves[VEC_LANES] = {0};
  for (int k = 0; k < count; ++k) halves[k] = x[k];
  return widen(_mm_loadu_si128((const __m128i *)(const void *)halves), dtype);
}

/* A NaN made of BF16 entries ends in 16 zero bits, so that rounding up cannot carry into its sign. */
VOCABULARY __m128i narrow(vec a, assay_dtype dtype) {
  if (dtype == ASSAY_FP16) return _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m256i bits = _mm256_castps_si256(a);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i up = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
  const __m256i high = _mm256_srli_epi32(up, 16);
  return _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
}

VOCABULARY void vec_narrow(uint16_t *y, assay_dtype dtype, vec a) {
  _mm_storeu_si128((__m128i *)(void *)y, narrow(a, dtype));
}

VOCABULARY void vec_narrow_part(uint16_t *y, assay_dtype dtype, vec a, int count) {
  uint16_t halves[VEC_LANES];
  _mm_storeu_si128((__m128i *)(void *)halves, narrow(a, dtype));
  for (int k = 0; k < count; ++k) y[k] = halves[k];
}

/* Row k of the 8 x 8 matrix becomes column k. */
VOCABULARY void transpose8(__m256i r[8]) {
  __m256i t[8];
#pragma GCC unroll 8
  for (int k = 0; k < 8; k += 2) {
    t[k] = _mm256_unpacklo_epi32(r[k], r[k + 1]);
    t[k + 1] = _mm256_unpackhi_epi32(r[k], r[k + 1]);
  }
  /* r[4g+j] = columns j and 4+j of rows 4g..4g+3 */
#pragma GCC unroll 8
  for (int g = 0; g < 8; g += 4) {
    r[g] = _mm256_unpacklo_epi64(t[g], t[g + 2]);
    r[g + 1] = _mm256_unpackhi_epi64(t[g], t[g + 2]);
    r[g + 2] = _mm256_unpacklo_epi64(t[g + 1], t[g + 3]);
    r[g + 3] = _mm256_unpackhi_epi64(t[g + 1], t[g + 3]);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    t[j] = _mm256_permute2x128_si256(r[j], r[4 + j], 0x20);
    t[4 + j] = _mm256_permute2x128_si256(r[j], r[4 + j], 0x31);
  }
#pragma GCC unroll 8
  for (int k = 0; k < 8; ++k) r[k] = t[k];
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
