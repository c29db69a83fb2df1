/* SPDX-License-Identifier: MIT */
/* gemm_rows_cuda.c - products for GPUs alone, large enough to be limited by the matrix units. */
#include "gemm.h"

#include "bench_table.h"
#include "fill.h"

static const assay_row rows[] = {
    {{4096, 4096, 4096}, ASSAY_HAS_FP16, 1u << ASSAY_GEMM_PACKED, assay_fill_normal, 0, 1, {0}, 0, false},
    {{8192, 8192, 8192}, ASSAY_HAS_FP16, 1u << ASSAY_GEMM_PACKED, assay_fill_normal, 0, 1, {0}, 0, false},
};

const assay_bench_suite assay_gemm_rows_cuda = {ASSAY_CUDA, rows, (int)(sizeof rows / sizeof rows[0])};
