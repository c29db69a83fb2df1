/* SPDX-License-Identifier: MIT */
/* softmax_rows_cuda.c - shapes of strided softmax for GPUs alone: packed rows beside the transposed ones, and
 * operands that no cache holds. */
#include "softmax.h"

#include "bench_table.h"
#include "fill.h"

enum { PACKED = 1 << ASSAY_SOFTMAX_PACKED, TRANSPOSED = 1 << ASSAY_SOFTMAX_TRANSPOSED };

static const assay_row rows[] = {
    {{256, 257}, ASSAY_HAS_FP16, PACKED, assay_fill_normal, 0, 1, {0}, 0, false},
    {{1024, 1024}, ASSAY_HAS_FP16, PACKED, assay_fill_normal, 0, 1, {0}, 0, false},
    {{8192, 8192}, ASSAY_HAS_FP16, PACKED | TRANSPOSED, assay_fill_normal, 0, 1, {0}, 0, false},
    {{32768, 4096}, ASSAY_HAS_FP16, TRANSPOSED, assay_fill_normal, 0, 1, {0}, 0, false},
};

const assay_bench_suite assay_softmax_rows_cuda = {ASSAY_CUDA, rows, (int)(sizeof rows / sizeof rows[0])};
