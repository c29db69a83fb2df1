/* SPDX-License-Identifier: MIT */
/*
 * vec_avx2.h - 8 floats in AVX2, FMA and F16C: the vocabulary that row kernels are written in.
 *
 *   vec, VEC_LANES                   a vector of floats
 *   vec_load, vec_load_part          elements of a dtype, widened; absent lanes get a value of the caller's
 *   vec_store, vec_store_part, vec_stream    rounded to a dtype; stream wants the address of a whole vector
 *   vec_load_scratch, vec_store_scratch      floats at any address
 *   TILE_BYTES, tile_transpose       a square of elements with TILE_BYTES a side, transposed while copied
 *   vec_fence                        orders streaming stores
 *
 * vec_avx2.h and vec_avx512.h define the same names; a *_avx2.c file includes its one.
 */
#ifndef ASSAY_VEC_AVX2_H
#define ASSAY_VEC_AVX2_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "assay/workshop.h"

#define VOCABULARY static inline __attribute__((always_inline))

enum { VEC_LANES = 8, TILE_BYTES = 32 };

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

/* a * b + c, rounded once. */
VOCABULARY vec vec_fma(vec a, vec b, vec c) {
  return _mm256_fmadd_ps(a, b, c);
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

VOCABULARY vec vec_load_scratch(const float *p) {
  return _mm256_loadu_ps(p);
}

VOCABULARY void vec_store_scratch(float *p, vec a) {
  _mm256_storeu_ps(p, a);
}

VOCABULARY void vec_fence(void) {
  _mm_sfence();
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

VOCABULARY vec vec_load_part(const char *x, assay_dtype dtype, int64_t i, int count, vec absent) {
  const __m256i some = first_lanes(count);
  vec v;
  if (dtype == ASSAY_FP32) {
    v = _mm256_maskload_ps((const float *)(const void *)(x + i * 4), some);
  } else {
    uint16_t halves[VEC_LANES] = {0};
    for (int k = 0; k < count; ++k) memcpy(&halves[k], x + (i + k) * 2, 2);
    v = widen(_mm_loadu_si128((const __m128i *)(const void *)halves), dtype);
  }
  return _mm256_blendv_ps(absent, v, _mm256_castsi256_ps(some));
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

/* Row k of the 8 x 8 matrix becomes column k. */
VOCABULARY void transpose8(__m256i r[8]) {
  __m256i t[8];
#pragma GCC unroll 8
  for (int k = 0; k < 8; k += 2) {
    t[k] = _mm256_unpacklo_epi32(r[k], r[k + 1]);
    t[k + 1] = _mm256_unpackhi_epi32(r[k], r[k + 1]);
  }
  /* r[4g+j] = columns j and 4+j of rows 4g..4g+3 */
#pragma GCC unroll 8
  for (int g = 0; g < 8; g += 4) {
    r[g] = _mm256_unpacklo_epi64(t[g], t[g + 2]);
    r[g + 1] = _mm256_unpackhi_epi64(t[g], t[g + 2]);
    r[g + 2] = _mm256_unpacklo_epi64(t[g + 1], t[g + 3]);
    r[g + 3] = _mm256_unpackhi_epi64(t[g + 1], t[g + 3]);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    t[j] = _mm256_permute2x128_si256(r[j], r[4 + j], 0x20);
    t[4 + j] = _mm256_permute2x128_si256(r[j], r[4 + j], 0x31);
  }
#pragma GCC unroll 8
  for (int k = 0; k < 8; ++k) r[k] = t[k];
}

VOCABULARY __m256i load_column(const char *x) {
  return _mm256_loadu_si256((const __m256i *)(const void *)x);
}

/* 8 x 8 elements of 4 bytes or 16 x 16 of 2; a column of x is one load. Pairs of 2-byte columns are
 * interleaved into 4-byte elements, whose lower and upper halves of each lane make two matrices of 8 x 8. */
VOCABULARY void tile_transpose(const char *x, int64_t column_step, char *to, int64_t pitch,
                               assay_dtype dtype) {
  __m256i m[8];
  if (dtype == ASSAY_FP32) {
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) m[k] = load_column(x + k * column_step);
    transpose8(m);
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) _mm256_storeu_si256((__m256i *)(void *)(to + k * pitch), m[k]);
    return;
  }
#pragma GCC unroll 2
  for (int half = 0; half < 2; ++half) {
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) {
      const __m256i a = load_column(x + 2 * k * column_step);
      const __m256i b = load_column(x + (2 * k + 1) * column_step);
      m[k] = half == 0 ? _mm256_unpacklo_epi16(a, b) : _mm256_unpackhi_epi16(a, b);
    }
    transpose8(m);
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) {
      _mm256_storeu_si256((__m256i *)(void *)(to + (k / 4 * 8 + half * 4 + k % 4) * pitch), m[k]);
    }
  }
}

#endif
