/* SPDX-License-Identifier: MIT */
/* vjp_rows_cuda.c - a shape of softmax_backward for GPUs alone, whose operands no cache holds. */
#include "vjp.h"

#include "bench_table.h"

static const assay_row rows[] = {
    {{16384, 8192}, ASSAY_HAS_FP16, 1u << ASSAY_VJP_PACKED, assay_vjp_fill_pair, 1, 1, {0}, 0, false},
};

const assay_bench_suite assay_vjp_rows_cuda = {ASSAY_CUDA, rows, (int)(sizeof rows / sizeof rows[0])};
