/* SPDX-License-Identifier: MIT */
/* b7_checks.c - what `cuda_add` is judged by: its definition, its operands, its named checks. */
#include <math.h>

#include "check_table.h"
#include "fill.h"
#include "half.h"
#include "workshops/beginner.h"
#include "workshops/walkthroughs.h"

enum { A = 0, B = 1 };
enum { Y = 0 };
enum { THREADS = 0 };

/* ---- operands ------------------------------------------------------------------------------------------ */

static assay_status validate(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_limits limits, assay_message *why) {
  (void)entry, (void)limits;
  const int64_t threads = opt != NULL ? opt[THREADS] : 0;
  if (threads < 0 || threads > 1024 || threads % 32 != 0) {
    return assay_explain(why, ASSAY_BAD_OPTION,
                         "threads is %lld; it must be a multiple of 32 up to 1024, or 0 for 256",
                         (long long)threads);
  }
  assay_status status = assay_beginner_packed(&in[A], "a", FP32, 1, why);
  if (status == ASSAY_OK) status = assay_beginner_packed(&in[B], "b", FP32, 1, why);
  if (status == ASSAY_OK) status = assay_beginner_packed(&out[Y], "y", FP32, 1, why);
  if (status != ASSAY_OK) return status;
  status = assay_beginner_size(&in[B], "b", 0, in[A].shape[0], "as a", why);
  if (status == ASSAY_OK) status = assay_beginner_size(&out[Y], "y", 0, in[A].shape[0], "as a", why);
  if (status == ASSAY_OK) status = assay_beginner_apart(&out[Y], "y", &in[A], "a", why);
  if (status == ASSAY_OK) status = assay_beginner_apart(&out[Y], "y", &in[B], "b", why);
  return status;
}

/* A row's size is the number of elements; `threads` stands among its options. */
static void plan(const assay_row *row, assay_dtype dtype, int layout, assay_plan *result) {
  (void)layout; /* there is one */
  result->in[A] = assay_beginner_operand(dtype, 1, row->dims, row->shift);
  result->in[B] = assay_beginner_operand(dtype, 1, row->dims, row->shift);
  result->out[Y] = assay_beginner_operand(dtype, 1, row->dims, row->shift);
}

/* ---- definition ---------------------------------------------------------------------------------------- */

/* FP64 holds the sum of two FP32 numbers well enough to round it once more as FP32 does: more than twice the
 * bits and two. So one rounding is all that is allowed. */
static void oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                   int64_t first, int64_t count, double *want, double *allowed) {
  (void)entry, (void)opt;
  for (int64_t i = 0; i < count; i++) {
    want[i] = assay_get(in[A].data, in[A].dtype, first + i) + assay_get(in[B].data, in[B].dtype, first + i);
    allowed[i] = isfinite(want[i]) ? assay_rounding_error(out[Y].dtype, want[i]) : 0;
  }
}

/* ---- contents ------------------------------------------------------------------------------------------ */

/* Infinities and NaN meet each other and ordinary numbers; an infinity less an infinity is NaN. */
static void fill_special(const assay_fill_args *args, double *values) {
  const double odd[] = {INFINITY, -INFINITY, NAN, 1};
  for (int64_t i = 0; i < args->shape[0]; i++) {
    const int64_t which = args->operand == A ? i / 4 : i;
    values[i] = i % 3 == 0 ? assay_rng_normal(args->rng) : odd[which % 4];
  }
}

/* ---- checks -------------------------------------------------------------------------------------------- */

static void worked_example(assay_probe *probe) {
  /* The numbers of the lesson: 70 elements, blocks of 32 threads, a[i] = i, b[i] = 1000 * (i / 32). */
  double a[70];
  double b[70];
  const assay_row row = {.dims = {70}};
  assay_plan case_plan = {.opt = {32}};
  for (int i = 0; i < 70; i++) {
    const int block = i / 32;
    a[i] = i;
    b[i] = 1000 * block;
  }
  plan(&row, ASSAY_FP32, 0, &case_plan);
  assay_case *operands = assay_probe_make(probe, &case_plan);
  if (operands == NULL || !assay_probe_fill(probe, operands, A, a)) return;
  if (!assay_probe_fill(probe, operands, B, b) || !assay_probe_run_one(probe, operands)) return;
  for (int64_t i = 0; i < 70; i++) {
    if (!assay_probe_expect(probe, operands, i, a[i] + b[i], 0)) return;
  }
}

#define ROW(count, threads, contents)                                                                        \
  {                                                                                                          \
    .dims = {count}, .dtypes = FP32, .layouts = 1, .fill = (contents), .b = 1, .opt = { threads }            \
  }
#define SHIFTED(count, threads, by)                                                                          \
  {                                                                                                          \
    .dims = {count}, .dtypes = FP32, .layouts = 1, .fill = assay_fill_normal, .b = 1, .opt = {threads},      \
    .shift = (by)                                                                                            \
  }

static const assay_row whole_rows[] = {ROW(32, 32, assay_fill_normal), ROW(256, 64, assay_fill_normal),
                                       ROW(2048, 256, assay_fill_normal)};
static const assay_row ragged_rows[] = {ROW(33, 32, assay_fill_normal), ROW(63, 32, assay_fill_normal),
                                        ROW(1000, 128, assay_fill_normal)};
static const assay_row short_rows[] = {ROW(2, 32, assay_fill_normal), ROW(31, 64, assay_fill_normal)};
static const assay_row empty_rows[] = {
    {.dims = {0}, .dtypes = FP32, .layouts = 1, .fill = assay_fill_normal, .b = 1, .degenerate = true}};
static const assay_row thread_rows[] = {ROW(1500, 0, assay_fill_normal), ROW(1500, 32, assay_fill_normal),
                                        ROW(1500, 96, assay_fill_normal), ROW(1500, 1024, assay_fill_normal)};
static const assay_row shifted_rows[] = {SHIFTED(101, 64, 1), SHIFTED(64, 32, 2), SHIFTED(70, 32, 3)};
static const assay_row special_rows[] = {ROW(50, 32, fill_special)};
static const assay_row fresh_rows[] = {ROW(100, 32, assay_fill_normal)};
static const assay_row order_rows[] = {ROW(200, 32, assay_fill_normal)};
static const assay_row large_rows[] = {ROW(100000, 256, assay_fill_normal)};
static const assay_row sanitize_rows[] = {ROW(70, 32, assay_fill_normal), ROW(300, 256, assay_fill_normal)};

#define ON_GPU (ASSAY_ON_SIMT | ASSAY_ON_CUDA)

static const assay_check checks[] = {
    BACKEND_CHECK("values", "worked_example", S, ON_GPU, "a thread takes another thread's element",
                  .run = worked_example),
    BACKEND_CHECK("values", "whole_blocks", S, ON_GPU, "elements behind the first block are left out",
                  ROWS(whole_rows)),
    BACKEND_CHECK("values", "ragged_tail", S, ON_GPU, "the incomplete block at the end is not started",
                  ROWS(ragged_rows)),
    BACKEND_CHECK("edges", "one_short_block", S, ON_GPU, "fewer elements than threads are not masked",
                  ROWS(short_rows)),
    BACKEND_CHECK("edges", "no_elements", S, ON_GPU, "a grid of no blocks is launched", ROWS(empty_rows)),
    BACKEND_CHECK("edges", "thread_counts", S, ON_GPU, "the number of threads a block is taken to be fixed",
                  ROWS(thread_rows)),
    BACKEND_CHECK("edges", "misaligned_base", S, ON_GPU, "wide loads need an aligned address",
                  ROWS(shifted_rows)),
    BACKEND_CHECK("edges", "special_values", S, ON_GPU, "an infinity or a NaN is passed over",
                  ROWS(special_rows)),
    BACKEND_CHECK("contract", "fresh_contents", S, ON_GPU, "a result of an earlier call is given again",
                  ROWS(fresh_rows), .run = assay_beginner_fresh_contents),
    BACKEND_CHECK("contract", "thread_orders", S, ASSAY_ON_SIMT,
                  "the result depends on which thread or block comes first", ROWS(order_rows),
                  .run = assay_probe_thread_orders),
    BACKEND_CHECK("contract", "many_blocks", S, ON_GPU, "a grid of hundreds of blocks is cut short",
                  ROWS(large_rows)),
    BACKEND_CHECK("contract", "busy_stream", S, ASSAY_ON_CUDA, "the call waits for the whole device",
                  ROWS(large_rows), .run = assay_probe_busy_stream),
    BACKEND_CHECK("contract", "graph_replay", S, ASSAY_ON_CUDA,
                  "the call cannot be captured, or a graph of it keeps old contents", ROWS(large_rows),
                  .run = assay_probe_graph_replay),
    SANITIZE_CHECKS(sanitize_rows),
    {.name = NULL},
};

static const char *const layout_names[] = {"packed"};

const assay_subject assay_cuda_add_subject = {
    .name = "cuda_add",
    .summary = "adds two arrays on a GPU",
    .formula = "y[i] = a[i] + b[i]",
    .exports =
        {{.name = "cuda_add", .in_names = {"a", "b"}, .in_count = 2, .out_names = {"y"}, .out_count = 1}},
    .export_count = 1,
    .opt_names = {"threads"},
    .opt_count = 1,
    .dim_names = {"elements"},
    .dim_count = 1,
    .layout_names = layout_names,
    .layout_count = 1,
    .validate = validate,
    .plan = plan,
    .oracle = oracle,
    .checks = checks,
};
