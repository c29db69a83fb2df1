/* SPDX-License-Identifier: MIT */
/* b3_checks.c - what `softmax` is judged by: its definition, its operands, its named checks. */
#include <math.h>

#include "check_table.h"
#include "fill.h"
#include "half.h"
#include "workshops/beginner.h"

enum { X = 0 };
enum { Y = 0 };
enum { MOST_COLUMNS = 1024 };

/* ---- operands ------------------------------------------------------------------------------------------ */

static assay_status validate(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_limits limits, assay_message *why) {
  (void)entry, (void)opt, (void)limits;
  assay_status status = assay_beginner_packed(&in[X], "x", FP32, 2, why);
  if (status == ASSAY_OK) status = assay_beginner_packed(&out[Y], "y", FP32, 2, why);
  if (status != ASSAY_OK) return status;
  const int64_t columns = in[X].shape[1];
  if (columns < 1 || columns > MOST_COLUMNS) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "x has %lld columns; it must be 1 to %d", (long long)columns,
                         MOST_COLUMNS);
  }
  status = assay_beginner_size(&out[Y], "y", 0, in[X].shape[0], "as x", why);
  if (status == ASSAY_OK) status = assay_beginner_size(&out[Y], "y", 1, columns, "as x", why);
  if (status == ASSAY_OK) status = assay_beginner_apart(&out[Y], "y", &in[X], "x", why);
  return status;
}

static void plan(const assay_row *row, assay_dtype dtype, int layout, assay_plan *result) {
  (void)layout; /* there is one */
  const int64_t shape[] = {row->dims[0], row->dims[1]};
  result->in[X] = result->out[Y] = assay_beginner_operand(dtype, 2, shape, row->shift);
}

/* ---- definition ---------------------------------------------------------------------------------------- */

/* What an element may be off by: the lesson counts the roundings, `below` is m - x of the element. */
static double allowed_error(int64_t columns, double below, double y) {
  const double u = 0x1p-24;
  if (isnan(y) || y == 0) return 0; /* NaN is judged by class; exp(-inf) is an exact zero */
  const double relative = (10 + (double)columns + log((double)columns) + below) * u;
  /* exp(x - m) may itself be a subnormal FP32 number, rounded to one more step of 2^-149. */
  const double subnormal = y < 0x1p-125 ? 0x1p-149 : 0;
  return y * relative + assay_rounding_error(ASSAY_FP32, y) + subnormal;
}

static void oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                   int64_t first, int64_t count, double *want, double *allowed) {
  (void)entry, (void)out, (void)opt;
  const int64_t columns = in[X].shape[1];
  for (int64_t r = 0; r < count; r++) {
    double *y = want + r * columns;
    double maximum = -INFINITY;
    double sum = 0;
    for (int64_t c = 0; c < columns; c++) {
      y[c] = assay_get(in[X].data, in[X].dtype, (first + r) * columns + c);
      if (y[c] > maximum) maximum = y[c];
    }
    for (int64_t c = 0; c < columns; c++) {
      allowed[r * columns + c] = y[c] == -INFINITY ? 0 : maximum - y[c];
      y[c] = exp(y[c] - maximum);
      sum += y[c];
    }
    for (int64_t c = 0; c < columns; c++) {
      y[c] /= sum;
      allowed[r * columns + c] = allowed_error(columns, allowed[r * columns + c], y[c]);
    }
  }
}

/* ---- contents; a and b are the row's parameters -------------------------------------------------------- */

/* Entries around a; a share b of them is -inf, but never the one at column r mod columns. */
static void fill_masked(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) {
      const bool masked = assay_rng_uniform(args->rng) < args->b && c != r % columns;
      x[r * columns + c] = masked ? -INFINITY : args->a + assay_rng_normal(args->rng);
    }
  }
}

/* Every second row has a at a place that moves; with b = 1 it is a from end to end. */
static void fill_special(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) {
      const bool special = r % 2 == 0 && (args->b == 1 || c == (r * 3 + 2) % columns);
      x[r * columns + c] = special ? args->a : assay_rng_normal(args->rng);
    }
  }
}

/* The largest entry, a above the others, stands at another place in every row. */
static void fill_peak(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) x[r * columns + c] = assay_rng_normal(args->rng);
    x[r * columns + r % columns] += args->a;
  }
}

/* ---- checks -------------------------------------------------------------------------------------------- */

static void worked_example(assay_probe *probe) {
  /* The row of the lesson, and the same row moved by 10, which softmax does not see. */
  const double x[] = {1, 3, 2, 11, 13, 12};
  const double e = 2.718281828459045;
  const double sum = 1 + e + e * e;
  const double want[] = {1 / sum, e * e / sum, e / sum};
  const assay_row row = {.dims = {2, 3}};
  assay_plan case_plan = {0};
  plan(&row, ASSAY_FP32, 0, &case_plan);
  assay_case *operands = assay_probe_make(probe, &case_plan);
  if (operands == NULL || !assay_probe_fill(probe, operands, X, x) || !assay_probe_run_one(probe, operands))
    return;
  for (int64_t i = 0; i < 6; i++) {
    if (!assay_probe_expect(probe, operands, i, want[i % 3], allowed_error(3, 2, want[i % 3]))) return;
  }
}

#define ROW(r, c, contents, p, q)                                                                            \
  { .dims = {r, c}, .dtypes = FP32, .layouts = 1, .fill = (contents), .a = (p), .b = (q) }
#define NORMAL(r, c) ROW(r, c, assay_fill_normal, 0, 1)
#define DEGENERATE(r, c)                                                                                     \
  { .dims = {r, c}, .dtypes = FP32, .layouts = 1, .fill = assay_fill_normal, .b = 1, .degenerate = true }

static const assay_row several_rows[] = {NORMAL(7, 4), NORMAL(3, 64)};
static const assay_row ragged_rows[] = {NORMAL(2, 2), NORMAL(3, 7), NORMAL(2, 33), NORMAL(2, 1000),
                                        NORMAL(2, 1024)};
static const assay_row single_rows[] = {DEGENERATE(4, 1)}; /* 1 everywhere */
static const assay_row empty_rows[] = {DEGENERATE(0, 5)};
static const assay_row large_rows[] = {ROW(3, 9, assay_fill_uniform, 0, 1000),
                                       ROW(2, 40, assay_fill_normal, 3e4, 2)};
static const assay_row negative_rows[] = {ROW(3, 9, assay_fill_uniform, -400, -200),
                                          ROW(2, 40, assay_fill_normal, -3e4, 2)};
static const assay_row peak_rows[] = {ROW(9, 9, fill_peak, 95, 0), ROW(40, 40, fill_peak, 95, 0)};
static const assay_row masked_rows[] = {ROW(6, 9, fill_masked, 0, 0.5), ROW(4, 40, fill_masked, -1e4, 0.9)};
static const assay_row masked_row_rows[] = {ROW(4, 7, fill_special, -INFINITY, 1)};
static const assay_row nan_rows[] = {ROW(6, 7, fill_special, NAN, 0), ROW(6, 7, fill_special, INFINITY, 0)};
static const assay_row fresh_rows[] = {NORMAL(3, 11)};

static const assay_check checks[] = {
    CHECK("values", "worked_example", S, "the formula is wrong", .run = worked_example),
    CHECK("values", "several_rows", S, "the rows share a maximum or a sum", ROWS(several_rows)),
    CHECK("values", "ragged_widths", S, "the end of a row is left out", ROWS(ragged_rows)),
    CHECK("values", "single_column", S, "the first element is left out of the maximum", ROWS(single_rows)),
    CHECK("values", "no_rows", S, "an empty matrix is an error or has a row", ROWS(empty_rows)),
    CHECK("range", "large_entries", S, "the maximum is not subtracted", ROWS(large_rows)),
    CHECK("range", "negative_entries", S, "the maximum begins at 0", ROWS(negative_rows)),
    CHECK("range", "moving_peak", S, "one position is left out of the maximum", ROWS(peak_rows)),
    CHECK("special", "masked_entries", S, "-inf does not give exactly 0", ROWS(masked_rows)),
    CHECK("special", "masked_rows", S, "a row of -inf does not give NaN, or harms its neighbours",
          ROWS(masked_row_rows)),
    CHECK("special", "nan_and_infinity", S, "a NaN or an infinity gives plausible numbers", ROWS(nan_rows)),
    CHECK("contract", "fresh_contents", S, "a result of an earlier call is given again", ROWS(fresh_rows),
          .run = assay_beginner_fresh_contents),
    {.name = NULL},
};

static const char *const layout_names[] = {"packed"};

const assay_subject assay_softmax_subject = {
    .name = "softmax",
    .summary = "softmax of every row of a packed matrix",
    .formula = "y[r,c] = exp(x[r,c] - max(x[r,:])) / sum(exp(x[r,:] - max(x[r,:])))",
    .exports = {{.name = "softmax", .in_names = {"x"}, .in_count = 1, .out_names = {"y"}, .out_count = 1}},
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
