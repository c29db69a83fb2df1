/* SPDX-License-Identifier: MIT */
/* vjp_bench.c - what is timed of softmax_backward: shapes, work, and the eager expression it replaces. */
#include "vjp.h"

#include "ops/bench_passes.h"
#include "ops/ops.h"

extern const assay_operator assay_softmax_backward_op;

static const assay_row rows[] = {
    {{256, 1025}, ASSAY_HAS_FP16, 1u << ASSAY_VJP_PACKED, assay_vjp_fill_pair, 1, 1, {0}, 0, false},
    {{1024, 4097}, ASSAY_HAS_FP16, 1u << ASSAY_VJP_PACKED, assay_vjp_fill_pair, 1, 1, {0}, 0, false},
    {{2048, 4096}, ASSAY_HAS_FP32, 1u << ASSAY_VJP_PACKED, assay_vjp_fill_pair, 1, 1, {0}, 0, false},
    {{2048, 2048}, ASSAY_HAS_FP16, 1u << ASSAY_VJP_TRANSPOSED, assay_vjp_fill_pair, 1, 1, {0}, 0, false},
};

static void work(const assay_row *row, assay_dtype dtype, int layout, assay_bench_work *result) {
  (void)layout;
  const double elements = (double)row->dims[0] * (double)row->dims[1];
  result->bytes = 3 * elements * (dtype == ASSAY_FP32 ? 4 : 2);
  result->flops = 4 * elements; /* product, sum, difference, product */
}

/* Every line of the expression is a pass over the whole tensor, as in a framework without compilation. */
static assay_status eager_fp32(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                               assay_queue *queue) {
  (void)opt;
  const int64_t count = in[0].shape[0];
  const int64_t columns = in[0].shape[1];
  const int64_t elements = count * columns;
  const int threads = assay_pass_threads(queue, elements);
  float *y = assay_queue_scratch(queue, (size_t)elements * sizeof *y);
  float *g = assay_queue_scratch(queue, (size_t)elements * sizeof *g);
  float *product = assay_queue_scratch(queue, (size_t)elements * sizeof *product);
  float *dot = assay_queue_scratch(queue, (size_t)count * sizeof *dot);
  if (y == NULL || g == NULL || product == NULL || dot == NULL) return ASSAY_NO_MEMORY;
  assay_pass_widen(&in[ASSAY_SOFTMAX_BACKWARD_Y], y, threads);
  assay_pass_widen(&in[ASSAY_SOFTMAX_BACKWARD_G], g, threads);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < elements; i++) product[i] = y[i] * g[i];
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t r = 0; r < count; r++) {
    double sum = 0;
    for (int64_t c = 0; c < columns; c++) sum += product[r * columns + c];
    dot[r] = (float)sum;
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t r = 0; r < count; r++) {
    for (int64_t c = 0; c < columns; c++) g[r * columns + c] -= dot[r];
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < elements; i++) product[i] = y[i] * g[i];
  assay_pass_round(product, elements, out[0].data, out[0].dtype, threads);
  return ASSAY_OK;
}

static assay_status copy_then_kernel(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                     assay_queue *queue) {
  assay_message why;
  assay_tensor packed[ASSAY_SOFTMAX_BACKWARD_INPUTS];
  for (int i = 0; i < ASSAY_SOFTMAX_BACKWARD_INPUTS; i++) {
    if (!assay_pass_packed(&in[i], queue, &packed[i])) return ASSAY_NO_MEMORY;
  }
  return assay_operator_call(&assay_softmax_backward_op, NULL, 0, packed, out, opt, queue, &why);
}

static const assay_bench_baseline baselines[] = {
    {.name = "eager_fp32",
     .expression = "y = float(y); g = float(g); p = y * g; s = sum(p); g = g - s; p = y * g; dx = p: seven "
                   "whole-tensor passes in plain C",
     .rounding = "once, of dx; everything before is FP32 with an FP64 sum",
     .entry = {eager_fp32}},
    {.name = "copy_then_kernel",
     .expression = "packed copies of y and g; dx = the best variant of the library on them; copies are timed",
     .rounding = "once, of dx; the copies are exact",
     .entry = {copy_then_kernel}},
};

const assay_bench_table assay_vjp_bench = {
    .rows = rows,
    .row_count = (int)(sizeof rows / sizeof rows[0]),
    .work = work,
    .tolerance =
        "absolute: abs(y)*((6 + min(n,1024) + n/32)*u*sum(abs(y*g)) + 2u*abs(g-dot)) + u_out*abs(dx)",
    .knobs = 1u << ASSAY_SOFTMAX_BACKWARD_WARPS,
    .baselines = baselines,
    .baseline_count = (int)(sizeof baselines / sizeof baselines[0]),
};
