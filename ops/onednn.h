/* SPDX-License-Identifier: MIT */
/*
 * onednn.h - oneDNN as a baseline, in builds that find its headers.
 *
 * Only its headers are needed to build: before version 3 descriptors are structs whose layout nobody should
 * guess. The library itself is looked for when a baseline is prepared, as OpenBLAS is, so that a program
 * built here also starts where oneDNN is not, and libassay depends on nothing.
 */
#ifndef ASSAY_ONEDNN_H
#define ASSAY_ONEDNN_H

#include "bench_table.h"

typedef enum assay_onednn_kind {
  ASSAY_ONEDNN_SOFTMAX = 0,      /* x; y: over the last axis */
  ASSAY_ONEDNN_SOFTMAX_BACKWARD, /* y, g; dx */
  ASSAY_ONEDNN_MATMUL_RELU       /* a, b, bias; c = relu(a b + bias) */
} assay_onednn_kind;

/* A baseline's `prepare`. */
bool assay_onednn_prepare(int threads, assay_message *why);

/* Runs the primitive on matrices. FP32 is its own, and BF16 but for the softmax. What is not becomes FP32 in
 * packed copies and is rounded once at the end, all of it inside the call. The primitive is made for the
 * first call with these operands and kept, as frameworks do. */
assay_status assay_onednn_run(assay_onednn_kind kind, const assay_tensor *in, int in_count,
                              const assay_tensor *out, assay_queue *queue);

/* What a report names as sources, behind a baseline's own file. */
#define ASSAY_ONEDNN_SOURCES "ops/onednn.c", "ops/onednn.h", "ops/bench_passes.c", "ops/bench_passes_avx2.c"

#endif
