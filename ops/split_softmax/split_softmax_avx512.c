/* SPDX-License-Identifier: MIT */
/* split_softmax_avx512.c - the vocabulary of split_softmax_simd.h in AVX-512: 16 floats, masks, scalef. */
#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#include "assay/workshop.h"

#define VOCABULARY static inline __attribute__((always_inline))

enum { VEC_LANES = 16, KEY_LANES = 32 };

typedef __m512 vec;
typedef __m512i key;

VOCABULARY vec vec_set1(float a) {
  return _mm512_set1_ps(a);
}

/* The second operand where either is NaN, as in the instruction. */
VOCABULARY vec vec_max(vec a, vec b) {
  return _mm512_max_ps(a, b);
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

VOCABULARY float vec_hmax(vec a) {
  return _mm512_reduce_max_ps(a);
}

VOCABULARY float vec_hsum(vec a) {
  return _mm512_reduce_add_ps(a);
}

/* Bits of a 16-bit float as an integer of the same order: those below the sign are flipped where it is set.
 */
VOCABULARY key key_load(const char *x, int64_t i) {
  const __m512i bits = _mm512_loadu_si512(x + i * 2);
  const __m512i flip = _mm512_and_si512(_mm512_srai_epi16(bits, 15), _mm512_set1_epi16(0x7fff));
  return _mm512_xor_si512(bits, flip);
}

VOCABULARY key key_max(key a, key b) {
  return _mm512_max_epi16(a, b);
}

VOCABULARY int16_t key_hmax(key a) {
  const __m256i v = _mm256_max_epi16(_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64(a, 1));
  const __m128i w = _mm_max_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  /* There is a horizontal minimum of unsigned integers only: this flip reverses the order. */
  const __m128i least = _mm_minpos_epu16(_mm_xor_si128(w, _mm_set1_epi16(0x7fff)));
  return (int16_t)(_mm_cvtsi128_si32(least) ^ 0x7fff);
}

VOCABULARY vec vec_load_scratch(const float *p) {
  return _mm512_loadu_ps(p);
}

VOCABULARY void vec_store_scratch(float *p, vec a) {
  _mm512_storeu_ps(p, a);
}

VOCABULARY void vec_fence(void) {
  _mm_sfence();
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

/* A NaN made of BF16 entries ends in 16 zero bits, so that rounding up cannot carry into its sign. */
VOCABULARY __m256i narrow(vec a, assay_dtype dtype) {
  if (dtype == ASSAY_FP16) return _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512i bits = _mm512_castps_si512(a);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i up = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(up, 16));
}

VOCABULARY vec vec_load(const char *x, assay_dtype dtype, int64_t i) {
  if (dtype == ASSAY_FP32) return _mm512_loadu_ps(x + i * 4);
  return widen(_mm256_loadu_si256((const __m256i *)(const void *)(x + i * 2)), dtype);
}

VOCABULARY vec vec_load_part(const char *x, assay_dtype dtype, int64_t i, int count) {
  const __mmask16 some = (__mmask16)((1u << count) - 1u);
  const vec absent = _mm512_set1_ps(-INFINITY);
  if (dtype == ASSAY_FP32) return _mm512_mask_loadu_ps(absent, some, x + i * 4);
  return _mm512_mask_mov_ps(absent, some, widen(_mm256_maskz_loadu_epi16(some, x + i * 2), dtype));
}

VOCABULARY void vec_store(char *y, assay_dtype dtype, int64_t i, vec a) {
  if (dtype == ASSAY_FP32) {
    _mm512_storeu_ps(y + i * 4, a);
  } else {
    _mm256_storeu_si256((__m256i *)(void *)(y + i * 2), narrow(a, dtype));
  }
}

VOCABULARY void vec_store_part(char *y, assay_dtype dtype, int64_t i, vec a, int count) {
  const __mmask16 some = (__mmask16)((1u << count) - 1u);
  if (dtype == ASSAY_FP32) {
    _mm512_mask_storeu_ps(y + i * 4, some, a);
  } else {
    _mm256_mask_storeu_epi16(y + i * 2, some, narrow(a, dtype));
  }
}

VOCABULARY void vec_stream(char *y, assay_dtype dtype, int64_t i, vec a) {
  if (dtype == ASSAY_FP32) {
    _mm512_stream_ps((float *)(void *)(y + i * 4), a);
  } else {
    _mm256_stream_si256((__m256i *)(void *)(y + i * 2), narrow(a, dtype));
  }
}

#include "split_softmax_simd.h"

assay_status assay_split_softmax_avx512(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                        assay_queue *queue) {
  return split_softmax_with(partials, normalise, in, out, opt, queue);
}
