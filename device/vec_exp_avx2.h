/* SPDX-License-Identifier: MIT */
/*
 * vec_exp_avx2.h - what softmaxes need beside vec_avx2.h: e^x with 2^n built from bits, and the order of
 * 16-bit floats as integers.
 *
 *   vec_exp(d)                       e^d for d <= 0: exactly 1 at 0, exactly 0 at -infinity, NaN for NaN
 *   key, KEY_LANES                   16-bit floats as integers of the same order
 *   key_load, key_max, key_hmax      a vector of them, the larger of two, the largest of all
 */
#ifndef ASSAY_VEC_EXP_AVX2_H
#define ASSAY_VEC_EXP_AVX2_H

#include "vec_avx2.h"

enum { KEY_LANES = 16 };

typedef __m256i key;

/* Bits of a 16-bit float as an integer of the same order: those below the sign are flipped where it is set.
 */
VOCABULARY key key_load(const char *x, int64_t i) {
  const __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)(x + i * 2));
  const __m256i flip = _mm256_and_si256(_mm256_srai_epi16(bits, 15), _mm256_set1_epi16(0x7fff));
  return _mm256_xor_si256(bits, flip);
}

VOCABULARY key key_max(key a, key b) {
  return _mm256_max_epi16(a, b);
}

VOCABULARY int16_t key_hmax(key a) {
  const __m128i v = _mm_max_epi16(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
  /* There is a horizontal minimum of unsigned integers only: this flip reverses the order. */
  const __m128i least = _mm_minpos_epu16(_mm_xor_si128(v, _mm_set1_epi16(0x7fff)));
  return (int16_t)(_mm_cvtsi128_si32(least) ^ 0x7fff);
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

#endif
