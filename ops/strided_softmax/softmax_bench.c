/* SPDX-License-Identifier: MIT */
/* softmax_bench.c - what is timed of strided softmax: shapes, work, and the ways of a program without it. */
#include "softmax.h"

#include "ops/bench_passes.h"
#include "fill.h"
#include "ops/ops.h"

extern const assay_operator assay_strided_softmax_op;

/* Transposes, where a program would copy first; and two shapes whose operands do not fit into caches. */
static const assay_row rows[] = {
    {{256, 257}, ASSAY_HAS_FP16, 1u << ASSAY_SOFTMAX_TRANSPOSED, assay_fill_normal, 0, 3, {0}, 0, false},
    {{1024, 1024}, ASSAY_HAS_FP16, 1u << ASSAY_SOFTMAX_TRANSPOSED, assay_fill_normal, 0, 3, {0}, 0, false},
    {{4096, 2048}, ASSAY_HAS_FP16, 1u << ASSAY_SOFTMAX_TRANSPOSED, assay_fill_normal, 0, 3, {0}, 0, false},
    {{4096, 2048}, ASSAY_HAS_FP32, 1u << ASSAY_SOFTMAX_SLICED, assay_fill_normal, 0, 3, {0}, 0, false},
};

static void work(const assay_row *row, assay_dtype dtype, int layout, assay_bench_work *result) {
  (void)layout;
  const double elements = (double)row->dims[0] * (double)row->dims[1];
  result->bytes = 2 * elements * (dtype == ASSAY_FP32 ? 4 : 2);
  result->flops = 5 * elements; /* maximum, difference, exponential, sum, product */
}

static assay_status copy_then_kernel(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                     assay_queue *queue) {
  assay_message why;
  assay_tensor packed;
  if (!assay_pass_packed(&in[0], queue, &packed)) return ASSAY_NO_MEMORY;
  return assay_operator_call(&assay_strided_softmax_op, NULL, 0, &packed, out, opt, queue, &why);
}

/* A row of floats in place; each loop stands for one pass of the eager expression. */
static void softmax_pass(float *x, int64_t columns) {
  float m = x[0];
  for (int64_t c = 1; c < columns; c++) m = x[c] > m || isnan(x[c]) ? x[c] : m;
  for (int64_t c = 0; c < columns; c++) x[c] = expf(x[c] - m);
  double sum = 0;
  for (int64_t c = 0; c < columns; c++) sum += x[c];
  for (int64_t c = 0; c < columns; c++) x[c] = (float)(x[c] / sum);
}

static assay_status eager_fp32(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                               assay_queue *queue) {
  (void)opt;
  const int64_t count = in[0].shape[0];
  const int64_t columns = in[0].shape[1];
  const int threads = assay_pass_threads(queue, count * columns);
  float *wide = assay_queue_scratch(queue, (size_t)(count * columns) * sizeof *wide);
  if (wide == NULL) return ASSAY_NO_MEMORY;
  assay_pass_widen(&in[0], wide, threads);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t r = 0; r < count; r++) softmax_pass(wide + r * columns, columns);
  assay_pass_round(wide, count * columns, out[0].data, out[0].dtype, threads);
  return ASSAY_OK;
}

static const assay_bench_baseline baselines[] = {
    {.name = "copy_then_kernel",
     .expression = "c = packed copy of x; y = the best variant of the library on c; the copy is timed",
     .rounding = "once, of y; the copy is exact",
     .entry = {copy_then_kernel}},
    {.name = "eager_fp32",
     .expression = "w = float(x); w = exp(w - max(w)); w = w / sum(w); y = w: whole-tensor passes in plain C",
     .rounding = "once, of y; everything before is FP32 with an FP64 sum",
     .entry = {eager_fp32}},
};

const assay_bench_table assay_softmax_bench = {
    .rows = rows,
    .row_count = (int)(sizeof rows / sizeof rows[0]),
    .work = work,
    .tolerance = "relative: u_out + (8 + min(n,1024) + n/32)*u + abs(x-m)*u",
    .knobs = 1u << ASSAY_STRIDED_SOFTMAX_WARPS,
    .baselines = baselines,
    .baseline_count = (int)(sizeof baselines / sizeof baselines[0]),
};
