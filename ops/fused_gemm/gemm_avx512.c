/* SPDX-License-Identifier: MIT */
/* gemm_avx512.c - the vocabulary of gemm_blocked_simd.h in AVX-512 F, BW, DQ and VL. */
#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#include "assay/workshop.h"
#include "gemm_micro_avx512.h"

#define VOCABULARY static inline __attribute__((always_inline))

enum { LANES = 16 };

/* Lanes 0..count-1, for any count above 0. */
VOCABULARY __mmask16 lanes_of(int64_t count) {
  return (__mmask16)(count >= LANES ? 0xffffu : (1u << count) - 1u);
}

/* Lanes of the mask, others are 0 and touch no memory. */
VOCABULARY __m512 load_halves(const uint16_t *from, __mmask16 lanes, assay_dtype dtype) {
  const __m256i halves = _mm256_maskz_loadu_epi16(lanes, from);
  if (dtype == ASSAY_FP16) return _mm512_cvtph_ps(halves);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

/* To nearest, ties to even; a NaN stays one whatever its low bits are. */
VOCABULARY __m256i narrow(__m512 a, assay_dtype dtype) {
  if (dtype == ASSAY_FP16) return _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512i bits = _mm512_castps_si512(a);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i up = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
  const __mmask16 nan = _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);
  const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_mask_mov_epi32(up, nan, quiet), 16));
}

/* Widens n elements, and zeros up to whole panels of columns behind them. */
VOCABULARY void gemm_widen(float *to, const uint16_t *from, int n, assay_dtype dtype) {
  const uint32_t lanes = n >= GEMM_NR ? UINT32_MAX : (UINT32_C(1) << n) - 1;
  _mm512_storeu_ps(to, load_halves(from, (__mmask16)lanes, dtype));
  _mm512_storeu_ps(to + LANES, load_halves(from + LANES, (__mmask16)(lanes >> 16), dtype));
}

/* A square of 16 x 16 floats, rows in and columns out: pairs, fours, then quarters of the registers. */
VOCABULARY void transpose16(__m512 x[LANES]) {
  __m512 y[LANES];
#pragma GCC unroll 8
  for (int i = 0; i < LANES; i += 2) {
    y[i] = _mm512_unpacklo_ps(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_ps(x[i], x[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < LANES; i += 4) {
    x[i] = _mm512_shuffle_ps(y[i], y[i + 2], 0x44);
    x[i + 1] = _mm512_shuffle_ps(y[i], y[i + 2], 0xee);
    x[i + 2] = _mm512_shuffle_ps(y[i + 1], y[i + 3], 0x44);
    x[i + 3] = _mm512_shuffle_ps(y[i + 1], y[i + 3], 0xee);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    y[i] = _mm512_shuffle_f32x4(x[i], x[i + 4], 0x88);
    y[i + 4] = _mm512_shuffle_f32x4(x[i], x[i + 4], 0xdd);
    y[i + 8] = _mm512_shuffle_f32x4(x[i + 8], x[i + 12], 0x88);
    y[i + 12] = _mm512_shuffle_f32x4(x[i + 8], x[i + 12], 0xdd);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    x[i] = _mm512_shuffle_f32x4(y[i], y[i + 8], 0x88);
    x[i + 8] = _mm512_shuffle_f32x4(y[i], y[i + 8], 0xdd);
    x[i + 4] = _mm512_shuffle_f32x4(y[i + 4], y[i + 12], 0x88);
    x[i + 12] = _mm512_shuffle_f32x4(y[i + 4], y[i + 12], 0xdd);
  }
}

/* Rows of A, `step` elements apart, as k groups of GEMM_MR floats; rows beyond `rows` become 0. */
VOCABULARY void gemm_pack_a(float *to, const uint16_t *from, int64_t step, int rows, int64_t k,
                            assay_dtype dtype) {
  const __mmask16 used = (__mmask16)((1u << GEMM_MR) - 1u);
  for (int64_t p = 0; p < k; p += LANES) {
    const __mmask16 lanes = lanes_of(k - p);
    __m512 x[LANES];
#pragma GCC unroll 16
    for (int r = 0; r < LANES; ++r) {
      x[r] = r < rows ? load_halves(from + r * step + p, lanes, dtype) : _mm512_setzero_ps();
    }
    transpose16(x);
#pragma GCC unroll 16
    for (int i = 0; i < LANES; ++i) {
      if (i < k - p) _mm512_mask_storeu_ps(to + (p + i) * GEMM_MR, used, x[i]);
    }
  }
}

/* max gives its second operand where either is NaN: so NaN passes, as relu wants. */
VOCABULARY void gemm_finish(uint16_t *c, const float *sums, const uint16_t *bias, int64_t n,
                            assay_dtype dtype) {
  for (int64_t j = 0; j < n; j += LANES) {
    const __mmask16 lanes = lanes_of(n - j);
    const __m512 sum =
        _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, sums + j), load_halves(bias + j, lanes, dtype));
    const __m512 result = _mm512_max_ps(_mm512_setzero_ps(), sum);
    _mm256_mask_storeu_epi16(c + j, lanes, narrow(result, dtype));
  }
}

#include "gemm_blocked_simd.h"

assay_status assay_gemm_avx512(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                               assay_queue *queue) {
  return gemm_blocked(in, out, opt, queue);
}
