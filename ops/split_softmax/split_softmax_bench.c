/* SPDX-License-Identifier: MIT */
/* split_softmax_bench.c - what is timed of split softmax: few wide rows and many, against separate passes. */
#include "split_softmax.h"

#include "ops/bench_passes.h"
#include "fill.h"

enum { NO_WORKSPACE = 1 << ASSAY_SPLIT_SOFTMAX_NONE, OWN_WORKSPACE = 1 << ASSAY_SPLIT_SOFTMAX_OWN };

static const assay_row rows[] = {
    {{4, 32769}, ASSAY_HAS_FP16, NO_WORKSPACE, assay_fill_normal, 0, 3, {0}, 0, false},
    {{64, 131072}, ASSAY_HAS_FP16, NO_WORKSPACE, assay_fill_normal, 0, 3, {0}, 0, false},
    {{64, 131072}, ASSAY_HAS_FP32, OWN_WORKSPACE, assay_fill_normal, 0, 3, {0}, 0, false},
    {{4096, 2048}, ASSAY_HAS_BF16, NO_WORKSPACE, assay_fill_normal, 0, 3, {0}, 0, false},
};

static void work(const assay_row *row, assay_dtype dtype, int layout, assay_bench_work *result) {
  (void)layout; /* a workspace is small beside the rows */
  const double elements = (double)row->dims[0] * (double)row->dims[1];
  result->bytes = 2 * elements * (dtype == ASSAY_FP32 ? 4 : 2);
  result->flops = 5 * elements; /* maximum, difference, exponential, sum, product */
}

/* One loop a pass; threads share each pass over all rows, which are too few to share out. */
static assay_status eager_fp32(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                               assay_queue *queue) {
  (void)opt;
  const int64_t count = in[0].shape[0];
  const int64_t columns = in[0].shape[1];
  const int threads = assay_pass_threads(queue, count * columns);
  float *wide = assay_queue_scratch(queue, (size_t)(count * columns) * sizeof *wide);
  if (wide == NULL) return ASSAY_NO_MEMORY;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < count * columns; i++) wide[i] = assay_load(in[0].data, in[0].dtype, i);
  for (int64_t r = 0; r < count; r++) {
    float *x = wide + r * columns;
    float m = x[0];
    double sum = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(max : m)
    for (int64_t c = 0; c < columns; c++) m = x[c] > m ? x[c] : m;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t c = 0; c < columns; c++) x[c] = expf(x[c] - m);
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
    for (int64_t c = 0; c < columns; c++) sum += x[c];
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t c = 0; c < columns; c++) x[c] = (float)(x[c] / sum);
  }
  assay_pass_round(wide, count * columns, out[0].data, out[0].dtype, threads);
  return ASSAY_OK;
}

static const assay_bench_baseline baselines[] = {
    {.name = "eager_fp32",
     .expression = "w = float(x); w = exp(w - max(w)); w = w / sum(w); y = w: passes over rows in plain C",
     .rounding = "once, of y; everything before is FP32 with an FP64 sum",
     .entry = {eager_fp32}},
};

const assay_bench_table assay_split_softmax_bench = {
    .rows = rows,
    .row_count = (int)(sizeof rows / sizeof rows[0]),
    .work = work,
    .tolerance = "relative: u_out + (8 + min(n,1024) + n/32)*u + abs(x-m)*u",
    .knobs = 1u << ASSAY_SPLIT_SOFTMAX_CHUNK,
    .baselines = baselines,
    .baseline_count = (int)(sizeof baselines / sizeof baselines[0]),
};
