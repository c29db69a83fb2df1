/* SPDX-License-Identifier: MIT */
/* b8_checks.c - what `cuda_sum` is judged by: its definition, its operands, its named checks. */
#include <math.h>

#include "check_table.h"
#include "fill.h"
#include "half.h"
#include "workshops/beginner.h"
#include "workshops/walkthroughs.h"

enum { X = 0 };
enum { Y = 0 };

/* ---- operands ------------------------------------------------------------------------------------------ */

static assay_status validate(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_limits limits, assay_message *why) {
  (void)entry, (void)limits, (void)opt;
  assay_status status = assay_beginner_packed(&in[X], "x", FP32, 1, why);
  if (status == ASSAY_OK) status = assay_beginner_packed(&out[Y], "y", FP32, 1, why);
  if (status == ASSAY_OK) status = assay_beginner_size(&out[Y], "y", 0, 1, "the sum", why);
  if (status == ASSAY_OK) status = assay_beginner_apart(&out[Y], "y", &in[X], "x", why);
  return status;
}

/* A row's size is the number of elements. */
static void plan(const assay_row *row, assay_dtype dtype, int layout, assay_plan *result) {
  const int64_t one = 1;
  (void)layout; /* there is one */
  result->in[X] = assay_beginner_operand(dtype, 1, row->dims, row->shift);
  result->out[Y] = assay_beginner_operand(dtype, 1, &one, 0);
}

/* ---- definition ---------------------------------------------------------------------------------------- */

/*
 * Each of n elements goes through one addition a step of its chain: those of its thread (256 threads and more
 * share the elements, so at most n / 256), and those that join threads, warps and blocks, which are fewer
 * than 64. Each has a relative error of at most u = 2^-24, of at most the sum of the absolute values; 1 %
 * covers what is of higher order.
 */
static void oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                   int64_t first, int64_t count, double *want, double *allowed) {
  (void)entry, (void)out, (void)opt, (void)first;
  const int64_t elements = in[X].shape[0];
  double sum = 0;
  double magnitude = 0;
  for (int64_t i = 0; i < elements; i++) {
    const double value = assay_get(in[X].data, in[X].dtype, i);
    sum += value;
    magnitude += fabs(value);
  }
  if (count == 0) return;
  want[0] = sum;
  allowed[0] = isfinite(sum) ? 1.01 * (64 + (double)elements / 256) * 0x1p-24 * magnitude : 0;
}

/* ---- contents; a and b are the row's parameters -------------------------------------------------------- */

/* The element at place a is 1, all others are b, which is less than half a step of FP32 at 1: added to it one
 * by one they vanish. */
static void fill_lost(const assay_fill_args *args, double *x) {
  for (int64_t i = 0; i < args->shape[0]; i++) x[i] = i == (int64_t)args->a ? 1 : args->b;
}

/* Ordinary numbers, and a at one place in every 300. */
static void fill_special(const assay_fill_args *args, double *x) {
  for (int64_t i = 0; i < args->shape[0]; i++) x[i] = i % 300 == 37 ? args->a : assay_rng_normal(args->rng);
}

/* Both infinities, far apart: their sum is NaN. */
static void fill_opposite(const assay_fill_args *args, double *x) {
  const int64_t last = args->shape[0] - 1;
  for (int64_t i = 0; i <= last; i++) x[i] = i == 0 ? INFINITY : i == last ? -INFINITY : 1;
}

/* ---- checks -------------------------------------------------------------------------------------------- */

static void worked_example(assay_probe *probe) {
  /* The numbers of the lesson: 1 to 80, of which the first warp has 1 to 32. */
  double x[80];
  const assay_row row = {.dims = {80}};
  assay_plan case_plan = {0};
  for (int i = 0; i < 80; i++) x[i] = i + 1;
  plan(&row, ASSAY_FP32, 0, &case_plan);
  assay_case *operands = assay_probe_make(probe, &case_plan);
  if (operands == NULL || !assay_probe_fill(probe, operands, X, x)) return;
  /* Twice: whatever y holds before, a finite number or none. */
  for (int round = 0; round < 2; round++) {
    probe->special_poison = round == 1;
    if (!assay_probe_run_one(probe, operands)) return;
    if (!assay_probe_expect(probe, operands, 0, 3240, 0)) return;
  }
}

/* The output is one number, so that a constant that happens to be right would pass: all rows are marked. */
#define ROW(count, contents, p, q, by)                                                                       \
  {                                                                                                          \
    .dims = {count}, .dtypes = FP32, .layouts = 1, .fill = (contents), .a = (p), .b = (q), .shift = (by),    \
    .degenerate = true                                                                                       \
  }
#define UNIFORM(count) ROW(count, assay_fill_uniform, 0.5, 1.5, 0)

static const assay_row warp_rows[] = {UNIFORM(1), UNIFORM(31), UNIFORM(32), UNIFORM(33)};
static const assay_row block_rows[] = {UNIFORM(255), UNIFORM(256), UNIFORM(257), UNIFORM(1000)};
static const assay_row many_rows[] = {UNIFORM(5000), UNIFORM(70001)};
static const assay_row empty_rows[] = {UNIFORM(0)};
static const assay_row lost_rows[] = {ROW(65536, fill_lost, 0, 0x1.8p-25, 0),
                                      ROW(65536, fill_lost, 40000, 0x1.8p-25, 0)};
static const assay_row special_rows[] = {ROW(1000, fill_special, INFINITY, 0, 0),
                                         ROW(1000, fill_special, NAN, 0, 0),
                                         ROW(3000, fill_opposite, 0, 0, 0)};
static const assay_row shifted_rows[] = {ROW(1001, assay_fill_uniform, 0.5, 1.5, 1),
                                         ROW(513, assay_fill_uniform, 0.5, 1.5, 3)};
static const assay_row fresh_rows[] = {UNIFORM(3000)};
static const assay_row order_rows[] = {UNIFORM(300), UNIFORM(3000)};
static const assay_row sanitize_rows[] = {UNIFORM(70), UNIFORM(2000)};
static const assay_row large_rows[] = {UNIFORM(1000003)};

#define ON_GPU (ASSAY_ON_SIMT | ASSAY_ON_CUDA)

static const assay_check checks[] = {
    BACKEND_CHECK("values", "worked_example", S, ON_GPU, "the sum begins with what y held before",
                  .run = worked_example),
    BACKEND_CHECK("values", "one_warp", S, ON_GPU, "threads without an element add something",
                  ROWS(warp_rows)),
    BACKEND_CHECK("values", "one_block", S, ON_GPU, "only the first warp's sum is kept", ROWS(block_rows)),
    BACKEND_CHECK("values", "many_blocks", S, ON_GPU, "only one block's sum is kept", ROWS(many_rows)),
    BACKEND_CHECK("values", "lost_terms", S, ON_GPU, "one thread adds everything up, and loses small terms",
                  ROWS(lost_rows)),
    BACKEND_CHECK("edges", "no_elements", S, ON_GPU, "an empty sum is 0, and nothing is written",
                  ROWS(empty_rows)),
    BACKEND_CHECK("edges", "misaligned_base", S, ON_GPU, "wide loads need an aligned address",
                  ROWS(shifted_rows)),
    BACKEND_CHECK("edges", "special_values", S, ON_GPU, "an infinity or a NaN is passed over",
                  ROWS(special_rows)),
    BACKEND_CHECK("contract", "fresh_contents", S, ON_GPU, "a result of an earlier call is given again",
                  ROWS(fresh_rows), .run = assay_beginner_fresh_contents),
    BACKEND_CHECK("contract", "thread_orders", S, ASSAY_ON_SIMT,
                  "the result depends on which thread or block comes first", ROWS(order_rows),
                  .run = assay_probe_thread_orders),
    BACKEND_CHECK("contract", "full_size", M, ASSAY_ON_CUDA, "a grid of many blocks is cut short",
                  ROWS(large_rows)),
    BACKEND_CHECK("contract", "busy_stream", S, ASSAY_ON_CUDA, "the call waits for the whole device",
                  ROWS(many_rows), .run = assay_probe_busy_stream),
    BACKEND_CHECK("contract", "graph_replay", S, ASSAY_ON_CUDA,
                  "the call cannot be captured, or a graph of it keeps old contents", ROWS(many_rows),
                  .run = assay_probe_graph_replay),
    SANITIZE_CHECKS(sanitize_rows),
    {.name = NULL},
};

static const char *const layout_names[] = {"packed"};

const assay_subject assay_cuda_sum_subject = {
    .name = "cuda_sum",
    .summary = "adds up an array on a GPU",
    .formula = "y[0] = x[0] + x[1] + ... + x[n - 1]",
    .exports = {{.name = "cuda_sum", .in_names = {"x"}, .in_count = 1, .out_names = {"y"}, .out_count = 1}},
    .export_count = 1,
    .dim_names = {"elements"},
    .dim_count = 1,
    .layout_names = layout_names,
    .layout_count = 1,
    .validate = validate,
    .plan = plan,
    .oracle = oracle,
    .checks = checks,
};
