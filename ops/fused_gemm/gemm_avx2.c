/* SPDX-License-Identifier: MIT */
/* gemm_avx2.c - the vocabulary of gemm_blocked_simd.h in AVX2, FMA and F16C. */
#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "assay/workshop.h"
#include "gemm_micro_avx2.h"

#define VOCABULARY static inline __attribute__((always_inline))

enum { LANES = 8 };

VOCABULARY __m256 widen(__m128i halves, assay_dtype dtype) {
  if (dtype == ASSAY_FP16) return _mm256_cvtph_ps(halves);
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

VOCABULARY __m256 load_halves(const uint16_t *from, assay_dtype dtype) {
  return widen(_mm_loadu_si128((const __m128i *)(const void *)from), dtype);
}

/* The first `count` elements, 0 to 7 of them, and zeros. */
VOCABULARY __m256 load_some_halves(const uint16_t *from, int64_t count, assay_dtype dtype) {
  uint16_t some[LANES] = {0};
  for (int64_t i = 0; i < count; ++i) some[i] = from[i];
  return load_halves(some, dtype);
}

VOCABULARY __m256 load_up_to(const uint16_t *from, int64_t count, assay_dtype dtype) {
  return count >= LANES ? load_halves(from, dtype) : load_some_halves(from, count > 0 ? count : 0, dtype);
}

/* To nearest, ties to even; a NaN stays one whatever its low bits are. */
VOCABULARY __m128i narrow(__m256 a, assay_dtype dtype) {
  if (dtype == ASSAY_FP16) return _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m256i bits = _mm256_castps_si256(a);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i up = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_UNORD_Q));
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
  const __m256i upper = _mm256_srli_epi32(_mm256_blendv_epi8(up, quiet, nan), 16);
  /* Packing works in halves of the register: the two low quarters of its result are ours. */
  const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(upper, upper), 0x08);
  return _mm256_castsi256_si128(packed);
}

/* Widens n elements, and zeros up to whole panels of columns behind them. */
VOCABULARY void gemm_widen(float *to, const uint16_t *from, int n, assay_dtype dtype) {
  _mm256_storeu_ps(to, load_up_to(from, n, dtype));
  _mm256_storeu_ps(to + LANES, load_up_to(from + LANES, n - LANES, dtype));
}

/* A square of 8 x 8 floats, rows in and columns out. */
VOCABULARY void transpose8(__m256 x[LANES]) {
  __m256 y[LANES];
#pragma GCC unroll 4
  for (int i = 0; i < LANES; i += 2) {
    y[i] = _mm256_unpacklo_ps(x[i], x[i + 1]);
    y[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < LANES; i += 4) {
    x[i] = _mm256_shuffle_ps(y[i], y[i + 2], 0x44);
    x[i + 1] = _mm256_shuffle_ps(y[i], y[i + 2], 0xee);
    x[i + 2] = _mm256_shuffle_ps(y[i + 1], y[i + 3], 0x44);
    x[i + 3] = _mm256_shuffle_ps(y[i + 1], y[i + 3], 0xee);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    y[i] = _mm256_permute2f128_ps(x[i], x[i + 4], 0x20);
    y[i + 4] = _mm256_permute2f128_ps(x[i], x[i + 4], 0x31);
  }
#pragma GCC unroll 8
  for (int i = 0; i < LANES; ++i) x[i] = y[i];
}

/* Rows of A, `step` elements apart, as k groups of GEMM_MR floats; rows beyond `rows` become 0. */
VOCABULARY void gemm_pack_a(float *to, const uint16_t *from, int64_t step, int rows, int64_t k,
                            assay_dtype dtype) {
  for (int64_t p = 0; p < k; p += LANES) {
    __m256 x[LANES];
#pragma GCC unroll 8
    for (int r = 0; r < LANES; ++r) {
      x[r] = r < rows ? load_up_to(from + r * step + p, k - p, dtype) : _mm256_setzero_ps();
    }
    transpose8(x);
#pragma GCC unroll 8
    for (int i = 0; i < LANES; ++i) {
      float *group = to + (p + i) * GEMM_MR;
      if (i >= k - p) break;
      _mm_storeu_ps(group, _mm256_castps256_ps128(x[i]));
      _mm_storel_pi((__m64 *)(void *)(group + 4), _mm256_extractf128_ps(x[i], 1));
    }
  }
}

VOCABULARY __m128i finish_vector(__m256 sums, __m256 bias, assay_dtype dtype) {
  /* max gives its second operand where either is NaN: so NaN passes, as relu wants. */
  return narrow(_mm256_max_ps(_mm256_setzero_ps(), _mm256_add_ps(sums, bias)), dtype);
}

VOCABULARY void gemm_finish(uint16_t *c, const float *sums, const uint16_t *bias, int64_t n,
                            assay_dtype dtype) {
  int64_t j = 0;
  for (; j + LANES <= n; j += LANES) {
    const __m128i result = finish_vector(_mm256_loadu_ps(sums + j), load_halves(bias + j, dtype), dtype);
    _mm_storeu_si128((__m128i *)(void *)(c + j), result);
  }
  if (j == n) return;
  const size_t left = (size_t)(n - j);
  float last[LANES] = {0};
  memcpy(last, sums + j, left * sizeof *last);
  const __m128i result =
      finish_vector(_mm256_loadu_ps(last), load_some_halves(bias + j, n - j, dtype), dtype);
  memcpy(c + j, &result, left * sizeof *c);
}

#include "gemm_blocked_simd.h"

assay_status assay_gemm_avx2(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  return gemm_blocked(in, out, opt, queue);
}
