/* SPDX-License-Identifier: MIT */
/*
 * vec_avx512.h - 16 floats in AVX-512 F, BW, DQ and VL, with masks: the vocabulary that row kernels are
 * written in.
 *
 *   vec, VEC_LANES                   a vector of floats
 *   vec_load, vec_load_part          elements of a dtype, widened; absent lanes get a value of the caller's
 *   vec_store, vec_store_part, vec_stream    rounded to a dtype; stream wants the address of a whole vector
 *   vec_load_scratch, vec_store_scratch      floats at any address
 *   TILE_BYTES, tile_transpose       a square of elements with TILE_BYTES a side, transposed while copied
 *   vec_fence                        orders streaming stores
 *
 * vec_avx2.h and vec_avx512.h define the same names; a *_avx512.c file includes its one.
 */
#ifndef ASSAY_VEC_AVX512_H
#define ASSAY_VEC_AVX512_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "assay/workshop.h"

#define VOCABULARY static inline __attribute__((always_inline))

enum { VEC_LANES = 16, TILE_BYTES = 64 };

typedef __m512 vec;

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

/* a * b + c, rounded once. */
VOCABULARY vec vec_fma(vec a, vec b, vec c) {
  return _mm512_fmadd_ps(a, b, c);
}

VOCABULARY float vec_hmax(vec a) {
  return _mm512_reduce_max_ps(a);
}

VOCABULARY float vec_hsum(vec a) {
  return _mm512_reduce_add_ps(a);
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

VOCABULARY vec vec_load_part(const char *x, assay_dtype dtype, int64_t i, int count, vec absent) {
  const __mmask16 some = (__mmask16)((1u << count) - 1u);
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

/* Row k of the 16 x 16 matrix becomes column k. */
VOCABULARY void transpose16(__m512i r[16]) {
  __m512i t[16];
#pragma GCC unroll 16
  for (int k = 0; k < 16; k += 2) {
    t[k] = _mm512_unpacklo_epi32(r[k], r[k + 1]);
    t[k + 1] = _mm512_unpackhi_epi32(r[k], r[k + 1]);
  }
  /* r[4g+j] = columns j, 4+j, 8+j, 12+j of rows 4g..4g+3 */
#pragma GCC unroll 16
  for (int g = 0; g < 16; g += 4) {
    r[g] = _mm512_unpacklo_epi64(t[g], t[g + 2]);
    r[g + 1] = _mm512_unpackhi_epi64(t[g], t[g + 2]);
    r[g + 2] = _mm512_unpacklo_epi64(t[g + 1], t[g + 3]);
    r[g + 3] = _mm512_unpackhi_epi64(t[g + 1], t[g + 3]);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const __m512i even_low = _mm512_shuffle_i32x4(r[j], r[4 + j], 0x88);
    const __m512i even_high = _mm512_shuffle_i32x4(r[8 + j], r[12 + j], 0x88);
    const __m512i odd_low = _mm512_shuffle_i32x4(r[j], r[4 + j], 0xdd);
    const __m512i odd_high = _mm512_shuffle_i32x4(r[8 + j], r[12 + j], 0xdd);
    t[j] = _mm512_shuffle_i32x4(even_low, even_high, 0x88);
    t[4 + j] = _mm512_shuffle_i32x4(odd_low, odd_high, 0x88);
    t[8 + j] = _mm512_shuffle_i32x4(even_low, even_high, 0xdd);
    t[12 + j] = _mm512_shuffle_i32x4(odd_low, odd_high, 0xdd);
  }
#pragma GCC unroll 16
  for (int k = 0; k < 16; ++k) r[k] = t[k];
}

/* 16 x 16 elements of 4 bytes or 32 x 32 of 2; a column of x is one load. Pairs of 2-byte columns are
 * interleaved into 4-byte elements, whose lower and upper halves of each lane make two matrices of 16 x 16.
 */
VOCABULARY void tile_transpose(const char *x, int64_t column_step, char *to, int64_t pitch,
                               assay_dtype dtype) {
  __m512i m[16];
  if (dtype == ASSAY_FP32) {
#pragma GCC unroll 16
    for (int k = 0; k < 16; ++k) m[k] = _mm512_loadu_si512(x + k * column_step);
    transpose16(m);
#pragma GCC unroll 16
    for (int k = 0; k < 16; ++k) _mm512_storeu_si512(to + k * pitch, m[k]);
    return;
  }
#pragma GCC unroll 2
  for (int half = 0; half < 2; ++half) {
#pragma GCC unroll 16
    for (int k = 0; k < 16; ++k) {
      const __m512i a = _mm512_loadu_si512(x + 2 * k * column_step);
      const __m512i b = _mm512_loadu_si512(x + (2 * k + 1) * column_step);
      m[k] = half == 0 ? _mm512_unpacklo_epi16(a, b) : _mm512_unpackhi_epi16(a, b);
    }
    transpose16(m);
#pragma GCC unroll 16
    for (int k = 0; k < 16; ++k) _mm512_storeu_si512(to + (k / 4 * 8 + half * 4 + k % 4) * pitch, m[k]);
  }
}

#endif
