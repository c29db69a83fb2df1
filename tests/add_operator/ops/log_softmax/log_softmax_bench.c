/* SPDX-License-Identifier: MIT */
/* log_softmax_bench.c - what is timed of log-softmax: shapes, work, and the way of a program without it. */
#include "log_softmax.h"

#include "fill.h"
#include "ops/bench_passes.h"

static const assay_row rows[] = {
    {.dims = {256, 1000}, .dtypes = ASSAY_HAS_FP32, .layouts = 1, .fill = assay_fill_normal, .b = 3},
    {.dims = {1024, 1024}, .dtypes = ASSAY_HAS_FP16, .layouts = 1, .fill = assay_fill_normal, .b = 3},
};

static void work(const assay_row *row, assay_dtype dtype, int layout, assay_bench_work *result) {
  (void)layout;
  const double elements = (double)row->dims[0] * (double)row->dims[1];
  result->bytes = 2 * elements * (dtype == ASSAY_FP32 ? 4 : 2);
  result->flops = 5 * elements; /* maximum, difference, exponential, sum, difference */
}

/* Whole-tensor passes, as a program has them that calls one function after another. */
static assay_status eager_fp32(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                               assay_queue *queue) {
  (void)opt;
  const int64_t count = in[0].shape[0];
  const int64_t columns = in[0].shape[1];
  const int threads = assay_pass_threads(queue, count * columns);
  float *wide = assay_queue_scratch(queue, (size_t)(count * columns) * sizeof *wide);
  if (wide == NULL) return ASSAY_NO_MEMORY;
  assay_pass_widen(&in[0], wide, threads);
  for (int64_t r = 0; r < count; r++) {
    float *x = wide + r * columns;
    float m = x[0];
    double sum = 0;
    for (int64_t c = 1; c < columns; c++) m = x[c] > m || isnan(x[c]) ? x[c] : m;
    for (int64_t c = 0; c < columns; c++) sum += (double)expf(x[c] - m);
    for (int64_t c = 0; c < columns; c++) x[c] = x[c] - m - (float)log(sum);
  }
  assay_pass_round(wide, count * columns, out[0].data, out[0].dtype, threads);
  return ASSAY_OK;
}

static const assay_bench_baseline baselines[] = {
    {.name = "eager_fp32",
     .expression = "w = float(x); y = w - max(w) - log(sum(exp(w - max(w)))): whole-tensor passes in plain C",
     .rounding = "once, of y; everything before is FP32 with an FP64 sum",
     .entry = {eager_fp32}},
};

const assay_bench_table assay_log_softmax_bench = {
    .rows = rows,
    .row_count = (int)(sizeof rows / sizeof rows[0]),
    .work = work,
    .tolerance = "absolute: u_out*abs(y) + (4 + min(n,1024) + n/32 + abs(x-m) + 2*ln(s) + abs(y))*u",
    .baselines = baselines,
    .baseline_count = (int)(sizeof baselines / sizeof baselines[0]),
};
