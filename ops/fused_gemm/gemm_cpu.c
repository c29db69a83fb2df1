/* SPDX-License-Identifier: MIT */
/*
 * gemm_cpu.c - the vocabulary of gemm_blocked_simd.h in portable C, with loops of constant lengths that
 * compilers turn into whatever vectors the machine has.
 */
#include <stdbool.h>
#include <stdint.h>

#include "assay/workshop.h"

enum { GEMM_MR = 4, GEMM_NR = 8, GEMM_STEPS = 1 };

/* As gemm_micro in gemm_micro_avx512.h; product and sum are rounded one after the other here. */
static inline void gemm_micro(int64_t k, const float *a, const float *b, float *c, int64_t ldc, int rows,
                              int columns, bool accumulate) {
  float sum[GEMM_MR][GEMM_NR] = {{0}};
  for (int64_t p = 0; p < k; ++p, a += GEMM_MR, b += GEMM_NR) {
#pragma GCC unroll 4
    for (int r = 0; r < GEMM_MR; ++r) {
#pragma GCC unroll 8
      for (int j = 0; j < GEMM_NR; ++j) sum[r][j] += a[r] * b[j];
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int j = 0; j < columns; ++j) {
      c[r * ldc + j] = accumulate ? c[r * ldc + j] + sum[r][j] : sum[r][j];
    }
  }
}

/* A step of B: n elements as floats, and zeros up to a whole panel behind them. */
static inline void gemm_pack_b(float *to, const uint16_t *from, int64_t step, int steps, int n,
                               assay_dtype dtype) {
  (void)step, (void)steps;
  if (n == GEMM_NR) {
    for (int j = 0; j < GEMM_NR; ++j) to[j] = assay_load(from, dtype, j);
    return;
  }
  for (int j = 0; j < GEMM_NR; ++j) to[j] = j < n ? assay_load(from, dtype, j) : 0.0f;
}

/* Rows of A, `step` elements apart, as k groups of GEMM_MR floats; rows beyond `rows` become 0. */
static inline void gemm_pack_a(float *to, const uint16_t *from, int64_t step, int rows, int64_t k,
                               assay_dtype dtype) {
  for (int r = 0; r < GEMM_MR; ++r) {
    for (int64_t p = 0; p < k; ++p) {
      to[p * GEMM_MR + r] = r < rows ? assay_load(from + r * step, dtype, p) : 0.0f;
    }
  }
}

static inline void gemm_finish(uint16_t *c, const float *sums, const uint16_t *bias, int64_t n,
                               assay_dtype dtype) {
  for (int64_t j = 0; j < n; ++j) {
    const float sum = sums[j] + assay_load(bias, dtype, j);
    assay_store(c, dtype, j, sum < 0.0f ? 0.0f : sum); /* NaN is not below 0 and stays */
  }
}

#include "gemm_blocked_simd.h"

assay_status assay_gemm_cpu(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                            assay_queue *queue) {
  gemm_task task = gemm_describe(in, out, queue);
  return gemm_blocked(&task, opt, queue);
}
