/* SPDX-License-Identifier: MIT */
/* bench_passes.h - whole-tensor passes of which the operators' baselines are made; each on its own threads.
 */
#ifndef ASSAY_BENCH_PASSES_H
#define ASSAY_BENCH_PASSES_H

#include <stdbool.h>

#include "assay/workshop.h"

/* Threads worth starting for so many elements on the queue. */
int assay_pass_threads(const assay_queue *queue, int64_t elements);

/* The matrix x (rank 2, any strides) without gaps, in its own type; by square tiles, so that a transpose
 * reads whole cache lines. */
void assay_pass_pack(const assay_tensor *x, void *to, int threads);

/* The same, widened to FP32. */
void assay_pass_widen(const assay_tensor *x, float *to, int threads);

/* Rounds `count` floats to the type, once. */
void assay_pass_round(const float *from, int64_t count, void *to, assay_dtype dtype, int threads);

/* FP16 on CPUs with F16C, for adjacent elements. */
void assay_pass_widen_fp16_avx2(const uint16_t *from, int64_t count, float *to);
void assay_pass_round_fp16_avx2(const float *from, int64_t count, uint16_t *to);

/* A packed copy of x in scratch of the queue; false without memory. */
bool assay_pass_packed(const assay_tensor *x, assay_queue *queue, assay_tensor *packed);

#endif
