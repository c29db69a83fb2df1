/* SPDX-License-Identifier: MIT */
/* normalizer_wide_avx512.c - the vocabulary of normalizer_simd.h for FP64 in AVX-512: 8 doubles, masks,
 * scalef.
 */
#include <immintrin.h>

#include "normalizer_vector.h"

#define VOCABULARY static inline __attribute__((always_inline))

enum { VEC_LANES = 8 };

typedef double element;
typedef __m512d vec;

VOCABULARY vec vec_set1(double a) {
  return _mm512_set1_pd(a);
}

/* The second operand where either is NaN, as in the instruction. */
VOCABULARY vec vec_max(vec a, vec b) {
  return _mm512_max_pd(a, b);
}

VOCABULARY vec vec_add(vec a, vec b) {
  return _mm512_add_pd(a, b);
}

VOCABULARY vec vec_sub(vec a, vec b) {
  return _mm512_sub_pd(a, b);
}

VOCABULARY vec vec_mul(vec a, vec b) {
  return _mm512_mul_pd(a, b);
}

VOCABULARY double vec_hmax(vec a) {
  return _mm512_reduce_max_pd(a);
}

VOCABULARY double vec_hsum(vec a) {
  return _mm512_reduce_add_pd(a);
}

/* d = n*ln2 + r with n an integer and |r| <= ln2/2; e^r = 1 + r + r^2*q(r), where q interpolates at
 * Chebyshev's nodes: 0.15 * 2^-53 off, relative to e^r. */
VOCABULARY vec vec_exp(vec d) {
  const vec big = _mm512_set1_pd(0x1.8p52);
  const vec n = _mm512_sub_pd(_mm512_fmadd_round_pd(d, _mm512_set1_pd(0x1.71547652b82fep+0), big,
                                                    _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
                              big);
  vec r = _mm512_fnmadd_pd(n, _mm512_set1_pd(0x1.62e42fefa39efp-1), d);
  r = _mm512_fnmadd_pd(n, _mm512_set1_pd(0x1.abc9e3b39803fp-56), r);
  vec q = _mm512_set1_pd(0x1.af38a9b0ec855p-26);
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0x1.289185613a3d6p-22));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0x1.71de0dae63bb3p-19));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0x1.a019b90d2ae7ap-16));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0x1.a01a01a7c41d5p-13));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0x1.6c16c1788bd90p-10));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0x1.11111111109b3p-7));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0x1.5555555553d63p-5));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0x1.5555555555556p-3));
  q = _mm512_fmadd_pd(q, r, _mm512_set1_pd(0x1.0000000000001p-1));
  const vec one = _mm512_set1_pd(1.0);
  const vec p = _mm512_fmadd_pd(_mm512_fmadd_pd(q, r, one), r, one);
  /* e^-746 rounds to 0 in FP64; the mask also keeps -infinity's undefined r out, and lets NaN in. */
  const __mmask8 counts = _mm512_cmp_pd_mask(d, _mm512_set1_pd(-746.0), _CMP_NLE_UQ);
  return _mm512_maskz_scalef_pd(counts, p, n);
}

VOCABULARY __mmask8 first_lanes(int count) {
  return (__mmask8)((1u << count) - 1u);
}

VOCABULARY vec element_load(const double *x) {
  return _mm512_loadu_pd(x);
}

VOCABULARY vec element_load_part(const double *x, int count) {
  return _mm512_mask_loadu_pd(_mm512_set1_pd(-INFINITY), first_lanes(count), x);
}

VOCABULARY void element_store(double *y, vec a) {
  _mm512_storeu_pd(y, a);
}

VOCABULARY void element_store_part(double *y, vec a, int count) {
  _mm512_mask_storeu_pd(y, first_lanes(count), a);
}

VOCABULARY void element_stream(double *y, vec a) {
  _mm512_stream_pd(y, a);
}

VOCABULARY void vec_fence(void) {
  _mm_sfence();
}

#include "normalizer_simd.h"

normalizer_state assay_normalizer_wide_avx512_summary(const void *x, int64_t count, const void *ahead) {
  return simd_summary(x, count, ahead);
}

void assay_normalizer_wide_avx512_ending(normalizer_state state, const void *x, void *y, int64_t count,
                                         bool stream) {
  if (stream) {
    simd_ending(state, x, y, count, true);
  } else {
    simd_ending(state, x, y, count, false);
  }
}
