/* SPDX-License-Identifier: MIT */
/* attention_rows_cuda.c - heads of streaming attention for GPUs alone: sixteen at once, short and long. */
#include "attention.h"

#include "bench_table.h"
#include "fill.h"

#define HEADS(n, d, causal)                                                                                  \
  {                                                                                                          \
    {n, d, 16, 1}, ASSAY_HAS_FP16, 1u << ASSAY_ATTENTION_PACKED, assay_fill_normal, 0, 1,                    \
        {[ASSAY_STREAMING_ATTENTION_CAUSAL] = (causal)}, 0, false                                            \
  }

static const assay_row rows[] = {
    HEADS(4096, 64, 1),  HEADS(4096, 64, 0),  HEADS(4096, 128, 1),  HEADS(4096, 128, 0),
    HEADS(16384, 64, 1), HEADS(16384, 64, 0), HEADS(16384, 128, 1), HEADS(16384, 128, 0),
};

const assay_bench_suite assay_attention_rows_cuda = {ASSAY_CUDA, rows, (int)(sizeof rows / sizeof rows[0])};
