/* SPDX-License-Identifier: MIT */
/*
 * gemm_micro_avx2.h - the innermost loop of a product of matrices in AVX2 and FMA: a 6 x 16 block of the
 * result stays in 12 of the 16 registers while k steps go by, beside two with the row of b and one with the
 * broadcast of a.
 */
#ifndef ASSAY_GEMM_MICRO_AVX2_H
#define ASSAY_GEMM_MICRO_AVX2_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

enum { GEMM_MR = 6, GEMM_NR = 16 };

/* The sign bits of lanes 0..count-1 set, as masked loads and stores want them. */
static inline __attribute__((always_inline)) void gemm_micro_lanes(int count, __m256i *lanes) {
  *lanes = _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* A row of a finished block: only the lanes of the masks touch memory. */
static inline __attribute__((always_inline)) void gemm_micro_row(float *c, __m256 left, __m256 right,
                                                                 __m256i left_lanes, __m256i right_lanes,
                                                                 bool accumulate) {
  if (accumulate) {
    left = _mm256_add_ps(left, _mm256_maskload_ps(c, left_lanes));
    right = _mm256_add_ps(right, _mm256_maskload_ps(c + 8, right_lanes));
  }
  _mm256_maskstore_ps(c, left_lanes, left);
  _mm256_maskstore_ps(c + 8, right_lanes, right);
}

/* `most` is a constant wherever this is expanded, so that unused rows cost nothing. */
static inline __attribute__((always_inline)) void gemm_micro_rows(const int most, int64_t k, const float *a,
                                                                  const float *b, float *c, int64_t ldc,
                                                                  int rows, int columns, bool accumulate) {
  __m256 left[GEMM_MR];
  __m256 right[GEMM_MR];
#pragma GCC unroll 6
  for (int r = 0; r < most; ++r) left[r] = right[r] = _mm256_setzero_ps();
  for (int64_t p = 0; p < k; ++p, a += GEMM_MR, b += GEMM_NR) {
    const __m256 b_left = _mm256_loadu_ps(b);
    const __m256 b_right = _mm256_loadu_ps(b + 8);
#pragma GCC unroll 6
    for (int r = 0; r < most; ++r) {
      const __m256 factor = _mm256_broadcast_ss(a + r);
      left[r] = _mm256_fmadd_ps(factor, b_left, left[r]);
      right[r] = _mm256_fmadd_ps(factor, b_right, right[r]);
    }
  }
  __m256i left_lanes;
  __m256i right_lanes;
  gemm_micro_lanes(columns, &left_lanes);
  gemm_micro_lanes(columns - 8, &right_lanes);
#pragma GCC unroll 6
  for (int r = 0; r < most; ++r) {
    if (r < rows) gemm_micro_row(c + r * ldc, left[r], right[r], left_lanes, right_lanes, accumulate);
  }
}

/*
 * c[r][j] = or += sum over p < k of a[p*GEMM_MR + r] * b[p*GEMM_NR + j], for r < rows and j < columns; no
 * other element of c is read or written. a and b are packed panels, whole at every step: what their unused
 * rows and columns hold does not matter. One FP32 chain along k, whatever rows and columns are.
 */
static inline void gemm_micro(int64_t k, const float *a, const float *b, float *c, int64_t ldc, int rows,
                              int columns, bool accumulate) {
  if (rows > 3) {
    gemm_micro_rows(GEMM_MR, k, a, b, c, ldc, rows, columns, accumulate);
  } else if (rows > 1) {
    gemm_micro_rows(3, k, a, b, c, ldc, rows, columns, accumulate);
  } else {
    gemm_micro_rows(1, k, a, b, c, ldc, rows, columns, accumulate);
  }
}

#endif
