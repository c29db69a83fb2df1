/* SPDX-License-Identifier: MIT */
/* normalizer_wide_avx2.c - the vocabulary of normalizer_simd.h for FP64 in AVX2 and FMA: 4 doubles, 2^n built
 * from bits. */
#include <immintrin.h>

#include "normalizer_vector.h"

#define VOCABULARY static inline __attribute__((always_inline))

enum { VEC_LANES = 4 };

typedef double element;
typedef __m256d vec;

VOCABULARY vec vec_set1(double a) {
  return _mm256_set1_pd(a);
}

/* The second operand where either is NaN, as in the instruction. */
VOCABULARY vec vec_max(vec a, vec b) {
  return _mm256_max_pd(a, b);
}

VOCABULARY vec vec_add(vec a, vec b) {
  return _mm256_add_pd(a, b);
}

VOCABULARY vec vec_sub(vec a, vec b) {
  return _mm256_sub_pd(a, b);
}

VOCABULARY vec vec_mul(vec a, vec b) {
  return _mm256_mul_pd(a, b);
}

VOCABULARY double vec_hmax(vec a) {
  const __m128d v = _mm_max_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
  return _mm_cvtsd_f64(_mm_max_sd(v, _mm_unpackhi_pd(v, v)));
}

VOCABULARY double vec_hsum(vec a) {
  const __m128d v = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
  return _mm_cvtsd_f64(_mm_add_sd(v, _mm_unpackhi_pd(v, v)));
}

/* 2^k from the lowest bits of a double that hold k + 1023. */
VOCABULARY vec power_of_two(vec shifted) {
  return _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(shifted), 52));
}

/* d = n*ln2 + r with n an integer and |r| <= ln2/2; e^r = 1 + r + r^2*q(r), where q interpolates at
 * Chebyshev's nodes: 0.15 * 2^-53 off, relative to e^r. */
VOCABULARY vec vec_exp(vec d) {
  const vec lowest = _mm256_set1_pd(-746.0); /* e^-746 rounds to 0 in FP64 */
  /* Adding 1.5 * 2^52 rounds to an integer and leaves it in the lowest bits; 1023 is the bias of exponents.
   */
  const vec shift = _mm256_set1_pd(0x1.8p52 + 1023.0);
  const vec counts = _mm256_cmp_pd(d, lowest, _CMP_NLE_UQ);
  d = _mm256_max_pd(lowest, d); /* NaN stays */
  const vec shifted = _mm256_fmadd_pd(d, _mm256_set1_pd(0x1.71547652b82fep+0), shift);
  const vec n = _mm256_sub_pd(shifted, shift);
  vec r = _mm256_fnmadd_pd(n, _mm256_set1_pd(0x1.62e42fefa39efp-1), d);
  r = _mm256_fnmadd_pd(n, _mm256_set1_pd(0x1.abc9e3b39803fp-56), r);
  vec q = _mm256_set1_pd(0x1.af38a9b0ec855p-26);
  q = _mm256_fmadd_pd(q, r, _mm256_set1_pd(0x1.289185613a3d6p-22));
  q = _mm256_fmadd_pd(q, r, _mm256_set1_pd(0x1.71de0dae63bb3p-19));
  q = _mm256_fmadd_pd(q, r, _mm256_set1_pd(0x1.a019b90d2ae7ap-16));
  q = _mm256_fmadd_pd(q, r, _mm256_set1_pd(0x1.a01a01a7c41d5p-13));
  q = _mm256_fmadd_pd(q, r, _mm256_set1_pd(0x1.6c16c1788bd90p-10));
  q = _mm256_fmadd_pd(q, r, _mm256_set1_pd(0x1.11111111109b3p-7));
  q = _mm256_fmadd_pd(q, r, _mm256_set1_pd(0x1.5555555553d63p-5));
  q = _mm256_fmadd_pd(q, r, _mm256_set1_pd(0x1.5555555555556p-3));
  q = _mm256_fmadd_pd(q, r, _mm256_set1_pd(0x1.0000000000001p-1));
  const vec one = _mm256_set1_pd(1.0);
  const vec p = _mm256_fmadd_pd(_mm256_fmadd_pd(q, r, one), r, one);
  /* 2^n = 2^near * 2^rest: `near` keeps the first product normal, so only the second one rounds, and
   * subnormal results come out right. 2^rest is 0 where the result is to be an exact 0. */
  const vec near = _mm256_max_pd(_mm256_set1_pd(0x1.8p52 + 1023.0 - 1020.0), shifted);
  const vec rest = _mm256_add_pd(_mm256_sub_pd(shifted, near), shift);
  return _mm256_mul_pd(_mm256_mul_pd(p, power_of_two(near)), _mm256_and_pd(power_of_two(rest), counts));
}

/* -1 in the first `count` lanes. */
VOCABULARY __m256i first_lanes(int count) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}

VOCABULARY vec element_load(const double *x) {
  return _mm256_loadu_pd(x);
}

VOCABULARY vec element_load_part(const double *x, int count) {
  const __m256i some = first_lanes(count);
  return _mm256_blendv_pd(_mm256_set1_pd(-INFINITY), _mm256_maskload_pd(x, some), _mm256_castsi256_pd(some));
}

VOCABULARY void element_store(double *y, vec a) {
  _mm256_storeu_pd(y, a);
}

VOCABULARY void element_store_part(double *y, vec a, int count) {
  _mm256_maskstore_pd(y, first_lanes(count), a);
}

VOCABULARY void element_stream(double *y, vec a) {
  _mm256_stream_pd(y, a);
}

VOCABULARY void vec_fence(void) {
  _mm_sfence();
}

#include "normalizer_simd.h"

normalizer_state assay_normalizer_wide_avx2_summary(const void *x, int64_t count, const void *ahead) {
  return simd_summary(x, count, ahead);
}

void assay_normalizer_wide_avx2_ending(normalizer_state state, const void *x, void *y, int64_t count,
                                       bool stream) {
  if (stream) {
    simd_ending(state, x, y, count, true);
  } else {
    simd_ending(state, x, y, count, false);
  }
}
