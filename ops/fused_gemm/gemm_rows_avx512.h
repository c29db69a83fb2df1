/* SPDX-License-Identifier: MIT */
/*
 * gemm_rows_avx512.h - the innermost loop of a product of matrices in AVX-512 F: a 14 x 32 block of the
 * result stays in 28 registers while k steps go by. Two more hold the row of b, one the broadcast of a: a
 * larger block would spill, a smaller one would wait for the latency of the multiply-adds. What a step
 * multiplies is the caller's: floats, or words of two BF16 numbers.
 */
#ifndef ASSAY_GEMM_ROWS_AVX512_H
#define ASSAY_GEMM_ROWS_AVX512_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

enum { GEMM_MR = 14, GEMM_NR = 32 };

/* Row r of a finished block: only the lanes of the masks touch memory. */
static inline __attribute__((always_inline)) void gemm_store_row(float *c, __m512 left, __m512 right,
                                                                 __mmask16 left_lanes, __mmask16 right_lanes,
                                                                 bool accumulate) {
  if (accumulate) {
    left = _mm512_add_ps(left, _mm512_maskz_loadu_ps(left_lanes, c));
    right = _mm512_add_ps(right, _mm512_maskz_loadu_ps(right_lanes, c + 16));
  }
  _mm512_mask_storeu_ps(c, left_lanes, left);
  _mm512_mask_storeu_ps(c + 16, right_lanes, right);
}

/* sum + factor * row in every lane. */
typedef __m512 gemm_multiply(__m512 factor, __m512 row, __m512 sum);

static inline __attribute__((always_inline)) __m512 gemm_multiply_floats(__m512 factor, __m512 row,
                                                                         __m512 sum) {
  return _mm512_fmadd_ps(factor, row, sum);
}

/* `multiply` and `most` are constants wherever this is expanded, so that unused rows cost nothing. */
static inline __attribute__((always_inline)) void gemm_some_rows(gemm_multiply *multiply, const int most,
                                                                 int64_t k, const float *a, const float *b,
                                                                 float *c, int64_t ldc, int rows, int columns,
                                                                 bool accumulate) {
  __m512 left[GEMM_MR];
  __m512 right[GEMM_MR];
#pragma GCC unroll 14
  for (int r = 0; r < most; ++r) left[r] = right[r] = _mm512_setzero_ps();
  for (int64_t p = 0; p < k; ++p, a += GEMM_MR, b += GEMM_NR) {
    const __m512 b_left = _mm512_loadu_ps(b);
    const __m512 b_right = _mm512_loadu_ps(b + 16);
#pragma GCC unroll 14
    for (int r = 0; r < most; ++r) {
      const __m512 factor = _mm512_set1_ps(a[r]);
      left[r] = multiply(factor, b_left, left[r]);
      right[r] = multiply(factor, b_right, right[r]);
    }
  }
  const uint32_t lanes = columns >= GEMM_NR ? UINT32_MAX : (UINT32_C(1) << columns) - 1;
#pragma GCC unroll 14
  for (int r = 0; r < most; ++r) {
    if (r < rows) {
      gemm_store_row(c + r * ldc, left[r], right[r], (__mmask16)lanes, (__mmask16)(lanes >> 16), accumulate);
    }
  }
}

/*
 * c[r][j] = or += sum over p < k of a[p*GEMM_MR + r] * b[p*GEMM_NR + j] with the product and sum of
 * `multiply`, for r < rows and j < columns; no other element of c is read or written. a and b are packed
 * panels, whole at every step: what their unused rows and columns hold does not matter. One chain along k,
 * whatever rows and columns are.
 */
static inline __attribute__((always_inline)) void gemm_rows(gemm_multiply *multiply, int64_t k,
                                                            const float *a, const float *b, float *c,
                                                            int64_t ldc, int rows, int columns,
                                                            bool accumulate) {
  if (rows > 8) {
    gemm_some_rows(multiply, GEMM_MR, k, a, b, c, ldc, rows, columns, accumulate);
  } else if (rows > 4) {
    gemm_some_rows(multiply, 8, k, a, b, c, ldc, rows, columns, accumulate);
  } else if (rows > 1) {
    gemm_some_rows(multiply, 4, k, a, b, c, ldc, rows, columns, accumulate);
  } else {
    gemm_some_rows(multiply, 1, k, a, b, c, ldc, rows, columns, accumulate);
  }
}

#endif
