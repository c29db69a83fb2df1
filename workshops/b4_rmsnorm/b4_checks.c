/* SPDX-License-Identifier: MIT */
/* b4_checks.c - what `rmsnorm` is judged by: its definition, its operands, its named checks. */
#include <math.h>

#include "check_table.h"
#include "fill.h"
#include "half.h"
#include "workshops/beginner.h"

enum { X = 0, RESIDUAL = 1, WEIGHT = 2 };
enum { Y = 0 };
enum { MOST_COLUMNS = 1024 };

static const double epsilon = 1e-5;

/* ---- operands ------------------------------------------------------------------------------------------ */

static assay_status validate(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_limits limits, assay_message *why) {
  (void)entry, (void)opt, (void)limits;
  assay_status status = assay_beginner_packed(&in[X], "x", HALVES, 2, why);
  if (status != ASSAY_OK) return status;
  const uint32_t same = 1u << in[X].dtype;
  const int64_t columns = in[X].shape[1];
  if (columns < 1 || columns > MOST_COLUMNS) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "x has %lld columns; it must be 1 to %d", (long long)columns,
                         MOST_COLUMNS);
  }
  status = assay_beginner_packed(&in[RESIDUAL], "residual", same, 2, why);
  if (status == ASSAY_OK) status = assay_beginner_packed(&in[WEIGHT], "weight", same, 1, why);
  if (status == ASSAY_OK) status = assay_beginner_packed(&out[Y], "y", same, 2, why);
  if (status == ASSAY_OK)
    status = assay_beginner_size(&in[WEIGHT], "weight", 0, columns, "one for each column of x", why);
  for (int i = 0; i < 2 && status == ASSAY_OK; i++) {
    status = assay_beginner_size(&in[RESIDUAL], "residual", i, in[X].shape[i], "as x", why);
    if (status == ASSAY_OK) status = assay_beginner_size(&out[Y], "y", i, in[X].shape[i], "as x", why);
  }
  if (status == ASSAY_OK) status = assay_beginner_apart(&out[Y], "y", &in[X], "x", why);
  if (status == ASSAY_OK) status = assay_beginner_apart(&out[Y], "y", &in[RESIDUAL], "residual", why);
  if (status == ASSAY_OK) status = assay_beginner_apart(&out[Y], "y", &in[WEIGHT], "weight", why);
  return status;
}

static void plan(const assay_row *row, assay_dtype dtype, int layout, assay_plan *result) {
  (void)layout; /* there is one */
  const int64_t shape[] = {row->dims[0], row->dims[1]};
  result->in[X] = result->in[RESIDUAL] = result->out[Y] = assay_beginner_operand(dtype, 2, shape, row->shift);
  result->in[WEIGHT] = assay_beginner_operand(dtype, 1, &row->dims[1], 0);
}

/* ---- definition ---------------------------------------------------------------------------------------- */

/* What an element may be off by: the lesson counts the FP32 roundings; then comes the one to the type of y.
 */
static double allowed_error(assay_dtype dtype, int64_t columns, double y) {
  if (!isfinite(y)) return 0;
  const double relative = 1.01 * (0.5 * (double)columns + 8) * 0x1p-24;
  return fabs(y) * relative + assay_rounding_error(dtype, y);
}

static void oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                   int64_t first, int64_t count, double *want, double *allowed) {
  (void)entry, (void)opt;
  const assay_dtype dtype = out[Y].dtype;
  const int64_t columns = in[X].shape[1];
  for (int64_t r = 0; r < count; r++) {
    double *y = want + r * columns;
    double squares = 0;
    for (int64_t c = 0; c < columns; c++) {
      const int64_t i = (first + r) * columns + c;
      y[c] = assay_get(in[X].data, dtype, i) + assay_get(in[RESIDUAL].data, dtype, i);
      squares += y[c] * y[c];
    }
    const double root = sqrt(squares / (double)columns + epsilon);
    for (int64_t c = 0; c < columns; c++) {
      y[c] = y[c] / root * assay_get(in[WEIGHT].data, dtype, c);
      allowed[r * columns + c] = allowed_error(dtype, columns, y[c]);
    }
  }
}

/* ---- contents; a and b are the row's parameters -------------------------------------------------------- */

static void fill_weight(const assay_fill_args *args, double *values) {
  for (int64_t c = 0; c < args->shape[0]; c++)
    values[c] = 0.5 + 0.25 * (double)(c % 5) + assay_rng_uniform(args->rng);
}

/* Normal numbers with mean a and deviation b; the weights are around 1, and no two neighbours alike. */
static void fill_plain(const assay_fill_args *args, double *values) {
  if (args->operand == WEIGHT) {
    fill_weight(args, values);
  } else {
    assay_fill_normal(args, values);
  }
}

/* The residual takes nearly all of x away: what is left has few bits of x and all of the residual's last
 * ones. */
static void fill_cancelling(const assay_fill_args *args, double *values) {
  if (args->operand == WEIGHT) {
    fill_weight(args, values);
    return;
  }
  const int64_t count = args->shape[0] * args->shape[1];
  const double sign = args->operand == X ? 1 : -1;
  for (int64_t i = 0; i < count; i++) values[i] = sign * (args->a + args->b * assay_rng_uniform(args->rng));
}

/* Every second row is 0 in x and in the residual. */
static void fill_zero_rows(const assay_fill_args *args, double *values) {
  fill_plain(args, values);
  for (int64_t r = 0; args->operand != WEIGHT && r < args->shape[0]; r += 2) {
    for (int64_t c = 0; c < args->shape[1]; c++) values[r * args->shape[1] + c] = 0;
  }
}

/* Uniform within +-a: x + residual is up to twice that. */
static void fill_wide(const assay_fill_args *args, double *values) {
  if (args->operand == WEIGHT) {
    fill_weight(args, values);
    return;
  }
  const int64_t count = args->shape[0] * args->shape[1];
  for (int64_t i = 0; i < count; i++) values[i] = args->a * (2 * assay_rng_uniform(args->rng) - 1);
}

/* Normal numbers with deviation b, and a once in every second row of x. */
static void fill_special(const assay_fill_args *args, double *values) {
  assay_fill_args plain = *args;
  plain.a = 0;
  fill_plain(&plain, values);
  for (int64_t r = 0; args->operand == X && r < args->shape[0]; r += 2)
    values[r * args->shape[1] + (r + 1) % args->shape[1]] = args->a;
}

/* ---- checks -------------------------------------------------------------------------------------------- */

static void worked_example(assay_probe *probe) {
  /* The lesson's row: h is 3 and 4, the mean of the squares 12.5. */
  const double x[] = {1, 6};
  const double residual[] = {2, -2};
  const double weight[] = {1, 2};
  const double root = sqrt(12.5 + epsilon);
  const double want[] = {3 / root, 4 / root * 2};
  for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
    const assay_row row = {.dims = {1, 2}};
    assay_plan case_plan = {0};
    plan(&row, (assay_dtype)dtype, 0, &case_plan);
    assay_case *operands = assay_probe_make(probe, &case_plan);
    if (operands == NULL || !assay_probe_fill(probe, operands, X, x)) return;
    if (!assay_probe_fill(probe, operands, RESIDUAL, residual)) return;
    if (!assay_probe_fill(probe, operands, WEIGHT, weight) || !assay_probe_run_one(probe, operands)) return;
    for (int64_t i = 0; i < 2; i++) {
      if (!assay_probe_expect(probe, operands, i, want[i], allowed_error((assay_dtype)dtype, 2, want[i])))
        return;
    }
  }
}

#define ROW(r, c, types, contents, p, q)                                                                     \
  { .dims = {r, c}, .dtypes = (types), .layouts = 1, .fill = (contents), .a = (p), .b = (q) }
#define NORMAL(r, c) ROW(r, c, HALVES, fill_plain, 0, 1)

static const assay_row several_rows[] = {NORMAL(5, 8), ROW(4, 16, HALVES, fill_zero_rows, 0, 3)};
static const assay_row ragged_rows[] = {NORMAL(3, 2), NORMAL(3, 7), NORMAL(2, 33), NORMAL(2, 1000)};
static const assay_row single_rows[] = {NORMAL(64, 1)}; /* of both signs */
static const assay_row empty_rows[] = {
    {.dims = {0, 4}, .dtypes = HALVES, .layouts = 1, .fill = fill_plain, .b = 1, .degenerate = true}};
static const assay_row shifted_rows[] = {ROW(3, 64, HALVES, fill_plain, 5, 1)};
static const assay_row intermediate_rows[] = {ROW(4, 256, HALVES, fill_plain, 0, 1),
                                              ROW(4, 64, HALVES, fill_plain, 3, 2)};
static const assay_row cancelling_rows[] = {ROW(3, 40, FP16, fill_cancelling, 8, 4),
                                            ROW(3, 40, BF16, fill_cancelling, 8, 4)};
static const assay_row weight_rows[] = {ROW(4, 300, HALVES, fill_plain, 0, 2)};
static const assay_row long_rows[] = {ROW(2, 1024, HALVES, fill_plain, 2, 0.5)};
static const assay_row small_rows[] = {ROW(3, 32, HALVES, fill_plain, 0, 2e-3)};
static const assay_row zero_rows[] = {ROW(4, 9, HALVES, fill_zero_rows, 0, 1)};
static const assay_row limit_rows[] = {ROW(4, 24, FP16, fill_wide, 65504, 0),
                                       ROW(4, 24, BF16, fill_wide, 1e15, 0)};
static const assay_row nan_rows[] = {ROW(4, 9, HALVES, fill_special, NAN, 1),
                                     ROW(4, 9, HALVES, fill_special, INFINITY, 1)};
static const assay_row fresh_rows[] = {NORMAL(3, 12)};

static const assay_check checks[] = {
    CHECK("values", "worked_example", S, "the formula is wrong", .run = worked_example),
    CHECK("values", "several_rows", S, "the rows share a sum", ROWS(several_rows)),
    CHECK("values", "ragged_widths", S, "the end of a row is left out", ROWS(ragged_rows)),
    CHECK("values", "single_column", S, "the sum is divided by one less than the count", ROWS(single_rows)),
    CHECK("values", "no_rows", S, "an empty matrix is an error or has a row", ROWS(empty_rows)),
    CHECK("values", "shifted_rows", S, "a mean is subtracted, as in another normalisation",
          ROWS(shifted_rows)),
    CHECK("rounding", "sum_not_rounded", S, "x + residual is rounded to 16 bits before it is used",
          ROWS(intermediate_rows)),
    CHECK("rounding", "cancelling_residual", S,
          "a rounded x, or one that is squared alone, is used for the sum", ROWS(cancelling_rows)),
    CHECK("rounding", "weight_last", S, "the normalised number is rounded to 16 bits before it is weighted",
          ROWS(weight_rows)),
    CHECK("rounding", "long_rows", S, "the squares are added up in 16 bits", ROWS(long_rows)),
    CHECK("range", "small_numbers", S, "epsilon is left out, or stands outside the root", ROWS(small_rows)),
    CHECK("range", "zero_rows", S, "a row of zeros is divided by 0", ROWS(zero_rows)),
    CHECK("range", "half_limits", S, "a square or a sum overflows 16 bits", ROWS(limit_rows)),
    CHECK("range", "nan_and_infinity", S, "a NaN or an infinity gives plausible numbers", ROWS(nan_rows)),
    CHECK("contract", "fresh_contents", S, "a result of an earlier call is given again", ROWS(fresh_rows),
          .run = assay_beginner_fresh_contents),
    {.name = NULL},
};

static const char *const layout_names[] = {"packed"};

const assay_subject assay_rmsnorm_subject = {
    .name = "rmsnorm",
    .summary = "adds a residual and divides every row by its root mean square, in 16-bit types",
    .formula = "h = x + residual; y[r,c] = h[r,c] / sqrt(mean(h[r,:]^2) + 1e-5) * weight[c]",
    .exports = {{.name = "rmsnorm",
                 .in_names = {"x", "residual", "weight"},
                 .in_count = 3,
                 .out_names = {"y"},
                 .out_count = 1}},
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
