/* SPDX-License-Identifier: MIT */
/* split_softmax_rows_cuda.c - shapes of split softmax for GPUs alone: one row that has to fill the whole
 * device, and rows that no cache holds. */
#include "split_softmax.h"

#include "bench_table.h"
#include "fill.h"

enum { NO_WORKSPACE = 1 << ASSAY_SPLIT_SOFTMAX_NONE };

static const assay_row rows[] = {
    {{1, 131072}, ASSAY_HAS_FP16, NO_WORKSPACE, assay_fill_normal, 0, 1, {0}, 0, false},
    {{512, 131072}, ASSAY_HAS_FP16, NO_WORKSPACE, assay_fill_normal, 0, 1, {0}, 0, false},
};

const assay_bench_suite assay_split_softmax_rows_cuda = {ASSAY_CUDA, rows,
                                                         (int)(sizeof rows / sizeof rows[0])};
