/* SPDX-License-Identifier: MIT */
/* split_softmax_avx2.c - the vocabulary of split_softmax_simd.h in AVX2, FMA and F16C: 8 floats, 2^n built
 * from bits. */
#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#include "assay/workshop.h"

#define VOCABULARY static inline __attribute__((always_inline))

enum { VEC_LANES = 8, KEY_LANES = 16 };

typedef __m256 vec;
typedef __m256i key;

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

VOCABULARY vec vec_load_scratch(const float *p) {
  return _mm256_loadu_ps(p);
}

VOCABULARY void vec_store_scratch(float *p, vec a) {
  _mm256_storeu_ps(p, a);
}

VOCABULARY void vec_fence(void) {
  _mm_sfence();
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

/* A NaN made of BF16 entries ends in 16 zero bits, so that rounding up cannot carry into its sign. */
VOCABULARY __m128i narrow(vec a, assay_dtype dtype) {
  if (dtype == ASSAY_FP16) return _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m256i bits = _mm256_castps_si256(a);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i up = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
  const __m256i high = _mm256_srli_epi32(up, 16);
  return _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
}

/* -1 in the first `count` lanes of 4 bytes. */
VOCABULARY __m256i first_lanes(int count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

VOCABULARY vec vec_load(const char *x, assay_dtype dtype, int64_t i) {
  if (dtype == ASSAY_FP32) return _mm256_loadu_ps((const float *)(const void *)(x + i * 4));
  return widen(_mm_loadu_si128((const __m128i *)(const void *)(x + i * 2)), dtype);
}

VOCABULARY vec vec_load_part(const char *x, assay_dtype dtype, int64_t i, int count) {
  const __m256i some = first_lanes(count);
  vec v;
  if (dtype == ASSAY_FP32) {
    v = _mm256_maskload_ps((const float *)(const void *)(x + i * 4), some);
  } else {
    uint16_t halves[VEC_LANES] = {0};
    for (int k = 0; k < count; ++k) memcpy(&halves[k], x + (i + k) * 2, 2);
    v = widen(_mm_loadu_si128((const __m128i *)(const void *)halves), dtype);
  }
  return _mm256_blendv_ps(_mm256_set1_ps(-INFINITY), v, _mm256_castsi256_ps(some));
}

VOCABULARY void vec_store(char *y, assay_dtype dtype, int64_t i, vec a) {
  if (dtype == ASSAY_FP32) {
    _mm256_storeu_ps((float *)(void *)(y + i * 4), a);
  } else {
    _mm_storeu_si128((__m128i *)(void *)(y + i * 2), narrow(a, dtype));
  }
}

VOCABULARY void vec_store_part(char *y, assay_dtype dtype, int64_t i, vec a, int count) {
  if (dtype == ASSAY_FP32) {
    _mm256_maskstore_ps((float *)(void *)(y + i * 4), first_lanes(count), a);
  } else {
    uint16_t halves[VEC_LANES];
    _mm_storeu_si128((__m128i *)(void *)halves, narrow(a, dtype));
    for (int k = 0; k < count; ++k) memcpy(y + (i + k) * 2, &halves[k], 2);
  }
}

VOCABULARY void vec_stream(char *y, assay_dtype dtype, int64_t i, vec a) {
  if (dtype == ASSAY_FP32) {
    _mm256_stream_ps((float *)(void *)(y + i * 4), a);
  } else {
    _mm_stream_si128((__m128i *)(void *)(y + i * 2), narrow(a, dtype));
  }
}

#include "split_softmax_simd.h"

assay_status assay_split_softmax_avx2(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                      assay_queue *queue) {
  return split_softmax_with(partials, normalise, in, out, opt, queue);
}
