/* SPDX-License-Identifier: MIT */
/*
 * gemm_micro_avx512bf16.h - a block of the result in registers, over panels of words that hold two BF16
 * numbers each: the steps 2p and 2p + 1 along k in the low and the high half of word p.
 */
#ifndef ASSAY_GEMM_MICRO_AVX512BF16_H
#define ASSAY_GEMM_MICRO_AVX512BF16_H

#include "gemm_rows_avx512.h"

/* Both products are added to the sum, each addition to nearest. Subnormal numbers count as 0. */
static inline __attribute__((always_inline)) __m512 gemm_multiply_pairs(__m512 factor, __m512 row,
                                                                        __m512 sum) {
  return _mm512_dpbf16_ps(sum, (__m512bh)_mm512_castps_si512(factor), (__m512bh)_mm512_castps_si512(row));
}

/* gemm_rows over pairs; k counts words. */
static inline void gemm_micro(int64_t k, const float *a, const float *b, float *c, int64_t ldc, int rows,
                              int columns, bool accumulate) {
  gemm_rows(gemm_multiply_pairs, k, a, b, c, ldc, rows, columns, accumulate);
}

#endif
