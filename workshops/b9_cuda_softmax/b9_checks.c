/* SPDX-License-Identifier: MIT */
/* b9_checks.c - what `cuda_softmax` is judged by: its definition, its operands, its named checks. */
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
  assay_status status = assay_beginner_packed(&in[X], "x", FP32, 2, why);
  if (status == ASSAY_OK) status = assay_beginner_packed(&out[Y], "y", FP32, 2, why);
  if (status != ASSAY_OK) return status;
  if (in[X].shape[1] < 1) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "size 1 of x is 0; a row must have 1 element or more");
  }
  status = assay_beginner_size(&out[Y], "y", 0, in[X].shape[0], "as x", why);
  if (status == ASSAY_OK) status = assay_beginner_size(&out[Y], "y", 1, in[X].shape[1], "as x", why);
  if (status == ASSAY_OK) status = assay_beginner_apart(&out[Y], "y", &in[X], "x", why);
  return status;
}

/* A row's sizes are rows and columns. */
static void plan(const assay_row *row, assay_dtype dtype, int layout, assay_plan *result) {
  (void)layout; /* there is one */
  result->in[X] = assay_beginner_operand(dtype, 2, row->dims, row->shift);
  result->out[Y] = assay_beginner_operand(dtype, 2, row->dims, row->shift);
}

/* ---- definition ---------------------------------------------------------------------------------------- */

/*
 * The allowed error, relative, with u = 2^-24: one rounding of the result, 8 for exp, the division and what
 * joins partial sums, n / 32 or fewer additions in a chain of a thread's partial sum, and the rounding of
 * x - m, which exp passes on as a factor of |x - m|. Workshop 1 derives the same bound step by step. A result
 * below the normal numbers of FP32 may be 0 or off by as much as it is, since many GPUs keep no more of it.
 */
static void oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                   int64_t first, int64_t count, double *want, double *allowed) {
  (void)entry, (void)opt;
  const double u = 0x1p-24;
  const int64_t columns = in[X].shape[1];
  const double chain = (double)(columns < 1024 ? columns : 1024) + (double)columns / 32;
  for (int64_t r = 0; r < count; r++) {
    double maximum = -INFINITY;
    double sum = 0;
    for (int64_t c = 0; c < columns; c++) {
      maximum = fmax(maximum, assay_get(in[X].data, in[X].dtype, (first + r) * columns + c));
    }
    for (int64_t c = 0; c < columns; c++) {
      sum += exp(assay_get(in[X].data, in[X].dtype, (first + r) * columns + c) - maximum);
    }
    for (int64_t c = 0; c < columns; c++) {
      const double x = assay_get(in[X].data, in[X].dtype, (first + r) * columns + c);
      const double y = exp(x - maximum) / sum;
      const double distance = isfinite(x - maximum) ? fabs(x - maximum) : 0;
      want[r * columns + c] = y;
      allowed[r * columns + c] =
          isfinite(y) ? assay_rounding_error(out[Y].dtype, y) + y * (8 + chain + distance) * u : 0;
      if (y > 0 && y < 0x1p-126) allowed[r * columns + c] += y;
    }
  }
}

/* ---- contents; a and b are the row's parameters -------------------------------------------------------- */

/* Every second row has a at one place, which moves; the rest is normal. */
static void fill_one(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) x[r * columns + c] = assay_rng_normal(args->rng);
    if (r % 2 == 0) x[r * columns + (r * 37 + columns - 1) % columns] = args->a;
  }
}

/* Half of the entries are -inf, but never a whole row, except every fourth. */
static void fill_masked(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) {
      const bool masked = r % 4 == 3 || (assay_rng_below(args->rng, 2) == 0 && c != r % columns);
      x[r * columns + c] = masked ? -INFINITY : assay_rng_normal(args->rng);
    }
  }
}

/* ---- checks -------------------------------------------------------------------------------------------- */

static void worked_example(assay_probe *probe) {
  /* The numbers of the lesson, and the same two higher, which changes nothing. */
  const double x[] = {0, 1, 2, 2, 3, 4};
  const double want[] = {0.0900305731703805, 0.244728471054798, 0.665240955774822};
  const assay_row row = {.dims = {2, 3}};
  assay_plan case_plan = {0};
  plan(&row, ASSAY_FP32, 0, &case_plan);
  assay_case *operands = assay_probe_make(probe, &case_plan);
  if (operands == NULL || !assay_probe_fill(probe, operands, X, x)) return;
  if (!assay_probe_run_one(probe, operands)) return;
  for (int64_t i = 0; i < 6; i++) {
    if (!assay_probe_expect(probe, operands, i, want[i % 3], 14 * 0x1p-24 * want[i % 3])) return;
  }
}

#define ROW(r, c, contents, p, q)                                                                            \
  { .dims = {r, c}, .dtypes = FP32, .layouts = 1, .fill = (contents), .a = (p), .b = (q) }
#define NORMAL(r, c) ROW(r, c, assay_fill_normal, 0, 1)

static const assay_row narrow_rows[] = {NORMAL(3, 2), NORMAL(3, 31), NORMAL(3, 33), NORMAL(2, 127)};
static const assay_row single_rows[] = {
    {.dims = {3, 1}, .dtypes = FP32, .layouts = 1, .fill = assay_fill_normal, .b = 1, .degenerate = true}};
static const assay_row wide_rows[] = {NORMAL(2, 257), NORMAL(2, 1000), NORMAL(3, 4099)};
static const assay_row many_rows[] = {NORMAL(300, 5)};
static const assay_row empty_rows[] = {
    {.dims = {0, 7}, .dtypes = FP32, .layouts = 1, .fill = assay_fill_normal, .b = 1, .degenerate = true}};
static const assay_row large_rows[] = {ROW(3, 300, assay_fill_uniform, -1000, 1000),
                                       ROW(2, 70, assay_fill_normal, 500, 1)};
static const assay_row negative_rows[] = {ROW(4, 70, assay_fill_uniform, -200, -110)};
static const assay_row masked_rows[] = {ROW(8, 70, fill_masked, 0, 0), ROW(4, 300, fill_masked, 0, 0)};
static const assay_row special_rows[] = {ROW(4, 70, fill_one, NAN, 0), ROW(4, 300, fill_one, INFINITY, 0)};
static const assay_row shifted_rows[] = {
    {.dims = {3, 70}, .dtypes = FP32, .layouts = 1, .fill = assay_fill_normal, .b = 1, .shift = 1}};
static const assay_row fresh_rows[] = {NORMAL(4, 100)};
static const assay_row order_rows[] = {NORMAL(3, 200), ROW(2, 300, fill_one, 60, 0)};
static const assay_row sanitize_rows[] = {NORMAL(3, 70), NORMAL(2, 300)};
static const assay_row traffic_rows[] = {NORMAL(2, 2048)};
static const assay_row stream_rows[] = {NORMAL(64, 1024)};

#define ON_GPU (ASSAY_ON_SIMT | ASSAY_ON_CUDA)

static const assay_check checks[] = {
    BACKEND_CHECK("values", "worked_example", S, ON_GPU, "the formula is wrong", .run = worked_example),
    BACKEND_CHECK("values", "narrow_rows", S, ON_GPU, "a thread without a column takes part in the sum",
                  ROWS(narrow_rows)),
    BACKEND_CHECK("values", "single_column", S, ON_GPU, "the first column is left out of the maximum",
                  ROWS(single_rows)),
    BACKEND_CHECK("values", "wide_rows", S, ON_GPU, "columns behind the width of a block are left out",
                  ROWS(wide_rows)),
    BACKEND_CHECK("values", "many_rows", S, ON_GPU, "rows that have no block of their own are lost",
                  ROWS(many_rows)),
    BACKEND_CHECK("edges", "no_rows", S, ON_GPU, "a grid of no blocks is launched", ROWS(empty_rows)),
    BACKEND_CHECK("edges", "misaligned_base", S, ON_GPU, "wide loads need an aligned address",
                  ROWS(shifted_rows)),
    BACKEND_CHECK("edges", "large_logits", S, ON_GPU, "the maximum is not subtracted", ROWS(large_rows)),
    BACKEND_CHECK("edges", "zero_start", S, ON_GPU, "the maximum starts at 0", ROWS(negative_rows)),
    BACKEND_CHECK("edges", "masked_entries", S, ON_GPU, "-inf does not give 0, or a row of it not NaN",
                  ROWS(masked_rows)),
    BACKEND_CHECK("edges", "special_values", S, ON_GPU, "a NaN or +inf is swallowed", ROWS(special_rows)),
    BACKEND_CHECK("contract", "fresh_contents", S, ON_GPU, "a result of an earlier call is given again",
                  ROWS(fresh_rows), .run = assay_beginner_fresh_contents),
    BACKEND_CHECK("contract", "thread_orders", S, ASSAY_ON_SIMT,
                  "the result depends on which thread or block comes first", ROWS(order_rows),
                  .run = assay_probe_thread_orders),
    BACKEND_CHECK("contract", "busy_stream", S, ASSAY_ON_CUDA, "the call waits for the whole device",
                  ROWS(stream_rows), .run = assay_probe_busy_stream),
    BACKEND_CHECK("contract", "graph_replay", S, ASSAY_ON_CUDA,
                  "the call cannot be captured, or a graph of it keeps old contents", ROWS(stream_rows),
                  .run = assay_probe_graph_replay),
    SANITIZE_CHECKS(sanitize_rows),
    TRAFFIC_CHECK(3, "a row is read more than three times, or a result is written again", traffic_rows),
    {.name = NULL},
};

static const char *const layout_names[] = {"packed"};

const assay_subject assay_cuda_softmax_subject = {
    .name = "cuda_softmax",
    .summary = "softmax of the rows of a matrix on a GPU, a block for each row",
    .formula = "y[r,c] = exp(x[r,c] - m[r]) / s[r]",
    .exports =
        {{.name = "cuda_softmax", .in_names = {"x"}, .in_count = 1, .out_names = {"y"}, .out_count = 1}},
    .export_count = 1,
    .dim_names = {"rows", "columns"},
    .dim_count = 2,
    .layout_names = layout_names,
    .layout_count = 1,
    .validate = validate,
    .plan = plan,
    .oracle = oracle,
    .checks = checks,
};
