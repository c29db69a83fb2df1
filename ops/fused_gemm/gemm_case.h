/* SPDX-License-Identifier: MIT */
/* gemm_case.h - how the run functions of checks make operands and look at results. */
#ifndef ASSAY_GEMM_CASE_H
#define ASSAY_GEMM_CASE_H

#include "gemm.h"
#include "probe.h"

/* Operands of the given sizes, with the knobs at their defaults. */
static inline assay_case *gemm_make(assay_probe *probe, assay_dtype dtype, int64_t m, int64_t n, int64_t k) {
  const assay_row row = {.dims = {m, n, k}};
  assay_plan plan = {0};
  probe->subject->plan(&row, dtype, ASSAY_GEMM_PACKED, &plan);
  return assay_probe_make(probe, &plan);
}

/* All three inputs from one fill. */
static inline bool gemm_fill(assay_probe *probe, assay_case *operands, assay_fill *fill, double a, double b) {
  for (int i = 0; i < ASSAY_FUSED_GEMM_INPUTS; i++) {
    if (!assay_probe_fill_with(probe, operands, i, fill, a, b)) return false;
  }
  return true;
}

/* All three inputs from numbers, the call, and the numbers that must come out of it, exactly. */
static inline bool gemm_expect_table(assay_probe *probe, assay_case *operands, const double *a,
                                     const double *b, const double *bias, const double *want, int64_t count) {
  if (operands == NULL) return false;
  if (!assay_probe_fill(probe, operands, ASSAY_FUSED_GEMM_A, a)) return false;
  if (!assay_probe_fill(probe, operands, ASSAY_FUSED_GEMM_B, b)) return false;
  if (!assay_probe_fill(probe, operands, ASSAY_FUSED_GEMM_BIAS, bias)) return false;
  if (!assay_probe_run_one(probe, operands)) return false;
  for (int64_t i = 0; i < count; i++) {
    if (!assay_probe_expect(probe, operands, i, want[i], 0)) return false;
  }
  return true;
}

#endif
