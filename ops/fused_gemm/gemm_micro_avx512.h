/* SPDX-License-Identifier: MIT */
/* gemm_micro_avx512.h - a block of the result in registers, over panels of floats in AVX-512 F. */
#ifndef ASSAY_GEMM_MICRO_AVX512_H
#define ASSAY_GEMM_MICRO_AVX512_H

#include "gemm_rows_avx512.h"

/* gemm_rows with a multiply-add of floats: one FP32 chain along k. */
static inline void gemm_micro(int64_t k, const float *a, const float *b, float *c, int64_t ldc, int rows,
                              int columns, bool accumulate) {
  gemm_rows(gemm_multiply_floats, k, a, b, c, ldc, rows, columns, accumulate);
}

#endif
