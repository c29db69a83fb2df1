/* SPDX-License-Identifier: MIT */
/*
 * vec_exp_avx512.h - what softmaxes need beside vec_avx512.h: e^x with scalef, and the order of 16-bit floats
 * as integers.
 *
 *   vec_exp(d)                       e^d for d <= 0: exactly 1 at 0, exactly 0 at -infinity, NaN for NaN
 *   key, KEY_LANES                   16-bit floats as integers of the same order
 *   key_load, key_max, key_hmax      a vector of them, the larger of two, the largest of all
 */
#ifndef ASSAY_VEC_EXP_AVX512_H
#define ASSAY_VEC_EXP_AVX512_H

#include "vec_avx512.h"

enum { KEY_LANES = 32 };

typedef __m512i key;

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

#endif
