/* SPDX-License-Identifier: MIT */
/* normalizer_avx2.c - the AVX2 variant, and the vocabulary of normalizer_simd.h for FP32 in AVX2 and FMA: 8
 * floats, 2^n built from bits. */
#include <immintrin.h>

#include "normalizer.h"
#include "normalizer_vector.h"

#define VOCABULARY static inline __attribute__((always_inline))

enum { VEC_LANES = 8 };

typedef float element;
typedef __m256 vec;

VOCABULARY vec vec_set1(float a) {
  return _mm256_set1_ps(a);
}

/* The second operand where either is NaN, as in the instruction. */
VOCABULARY vec vec_max(vec a, vec b) {
  return _mm256_max_ps(a, b);
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

VOCABULARY float vec_hmax(vec a) {
  __m128 v = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  v = _mm_max_ps(v, _mm_movehl_ps(v, v));
  return _mm_cvtss_f32(_mm_max_ss(v, _mm_movehdup_ps(v)));
}

VOCABULARY float vec_hsum(vec a) {
  __m128 v = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  v = _mm_add_ps(v, _mm_movehl_ps(v, v));
  return _mm_cvtss_f32(_mm_add_ss(v, _mm_movehdup_ps(v)));
}

/* 2^k from the lowest bits of a float that hold k + 127. */
VOCABULARY vec power_of_two(vec shifted) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(shifted), 23));
}

/* d = n*ln2 + f*ln2 with n an integer and |f| <= 1/2; the polynomial is minimax for 2^f with the constant
 * term held at 1: relative error 0.4 * 2^-24. */
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

/* -1 in the first `count` lanes. */
VOCABULARY __m256i first_lanes(int count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

VOCABULARY vec vec_load(const float *x) {
  return _mm256_loadu_ps(x);
}

VOCABULARY vec vec_load_part(const float *x, int count) {
  const __m256i some = first_lanes(count);
  return _mm256_blendv_ps(_mm256_set1_ps(-INFINITY), _mm256_maskload_ps(x, some), _mm256_castsi256_ps(some));
}

VOCABULARY void vec_store(float *y, vec a) {
  _mm256_storeu_ps(y, a);
}

VOCABULARY void vec_store_part(float *y, vec a, int count) {
  _mm256_maskstore_ps(y, first_lanes(count), a);
}

VOCABULARY void vec_stream(float *y, vec a) {
  _mm256_stream_ps(y, a);
}

VOCABULARY void vec_fence(void) {
  _mm_sfence();
}

#include "normalizer_simd.h"

static normalizer_state summary(const void *x, int64_t count, const void *ahead) {
  return simd_summary(x, count, ahead);
}

static void ending(normalizer_state state, const void *x, void *y, int64_t count, bool stream) {
  if (stream) {
    simd_ending(state, x, y, count, true);
  } else {
    simd_ending(state, x, y, count, false);
  }
}

assay_status assay_normalizer_avx2_summarise(const assay_tensor *in, const assay_tensor *out,
                                             const int64_t *opt, assay_queue *queue) {
  (void)opt; /* no knobs */
  return normalizer_summarise(in, out, queue,
                              in[0].dtype == ASSAY_FP64 ? assay_normalizer_wide_avx2_summary : summary);
}

assay_status assay_normalizer_avx2_finish(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                          assay_queue *queue) {
  (void)opt; /* no knobs */
  normalizer_finish(in, out, queue, in[1].dtype == ASSAY_FP64 ? assay_normalizer_wide_avx2_ending : ending);
  return ASSAY_OK;
}
