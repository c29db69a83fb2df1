/* SPDX-License-Identifier: MIT */
/* b2_checks.c - what `reduction` is judged by: its definition, its operands, its named checks. */
#include <math.h>

#include "check_table.h"
#include "fill.h"
#include "half.h"
#include "workshops/beginner.h"

enum { X = 0 };
enum { Y = 0 };
enum { OPERATION = 0 };
enum { SUM = 0, MAXIMUM = 1 };

/* ---- operands ------------------------------------------------------------------------------------------ */

static assay_status validate(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_limits limits, assay_message *why) {
  (void)entry, (void)limits;
  const int64_t operation = opt != NULL ? opt[OPERATION] : SUM;
  if (operation != SUM && operation != MAXIMUM) {
    return assay_explain(why, ASSAY_BAD_OPTION,
                         "operation is %lld; it must be 0 for the sum or 1 for the maximum",
                         (long long)operation);
  }
  assay_status status = assay_beginner_packed(&in[X], "x", FP32, 2, why);
  if (status == ASSAY_OK) status = assay_beginner_packed(&out[Y], "y", FP32, 1, why);
  if (status == ASSAY_OK)
    status = assay_beginner_size(&out[Y], "y", 0, in[X].shape[0], "one for each row of x", why);
  if (status == ASSAY_OK) status = assay_beginner_apart(&out[Y], "y", &in[X], "x", why);
  return status;
}

/* A row's sizes are rows and columns; its layouts choose the operation, since all operands are packed. */
static void plan(const assay_row *row, assay_dtype dtype, int operation, assay_plan *result) {
  const int64_t shape[] = {row->dims[0], row->dims[1]};
  result->in[X] = assay_beginner_operand(dtype, 2, shape, row->shift);
  result->out[Y] = assay_beginner_operand(dtype, 1, shape, 0);
  result->opt[OPERATION] = operation;
}

/* ---- definition ---------------------------------------------------------------------------------------- */

/* Levels of a tree over `count` leaves: the logarithm to the base 2, rounded up. */
static int depth_of(int64_t count) {
  int depth = 0;
  while ((INT64_C(1) << depth) < count) depth++;
  return depth;
}

/*
 * A leaf of a tree goes through one addition a level, each with a relative error of at most u = 2^-24. So the
 * sum of the absolute values, times (1 + u)^levels - 1, bounds the error of the result; 1 % covers what is of
 * higher order.
 */
static void oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                   int64_t first, int64_t count, double *want, double *allowed) {
  (void)entry, (void)out;
  const int64_t columns = in[X].shape[1];
  for (int64_t r = 0; r < count; r++) {
    double sum = 0;
    double magnitude = 0;
    double maximum = -INFINITY;
    for (int64_t c = 0; c < columns; c++) {
      const double value = assay_get(in[X].data, in[X].dtype, (first + r) * columns + c);
      sum += value;
      magnitude += fabs(value);
      if (isnan(value) || value > maximum) maximum = value;
      if (isnan(maximum)) maximum = NAN; /* and nothing is larger than that */
    }
    want[r] = opt[OPERATION] == MAXIMUM ? maximum : sum;
    const bool exact = opt[OPERATION] == MAXIMUM || !isfinite(want[r]);
    allowed[r] = exact ? 0 : 1.01 * depth_of(columns) * 0x1p-24 * magnitude;
  }
}

/* ---- contents; a and b are the row's parameters -------------------------------------------------------- */

/* One element a, and all others b, which is less than half a step of FP32 at a: added to a one by one they
 * vanish. The place of a is the first, the last, and one in between, in turn. */
static void fill_lost(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  const int64_t places[] = {0, columns - 1, columns / 3};
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) x[r * columns + c] = args->b * (1 + 0.1 * (double)r);
    x[r * columns + places[r % 3]] = args->a;
  }
}

/* Normal numbers; a at a place that moves from row to row, in every second row. */
static void fill_one(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) x[r * columns + c] = assay_rng_normal(args->rng);
    if (r % 2 == 0) x[r * columns + (r * 5 + 1) % columns] = args->a;
  }
}

/* Every second row is -inf throughout. */
static void fill_masked(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++)
      x[r * columns + c] = r % 2 == 0 ? -INFINITY : assay_rng_normal(args->rng);
  }
}

/* ---- checks -------------------------------------------------------------------------------------------- */

static void worked_example(assay_probe *probe) {
  /* The numbers of the lesson, and the same with the signs changed. */
  const double x[] = {3, 1, 4, 1, 5, -3, -1, -4, -1, -5};
  const double want[2][2] = {{14, -14}, {5, -1}};
  for (int operation = SUM; operation <= MAXIMUM; operation++) {
    const assay_row row = {.dims = {2, 5}};
    assay_plan case_plan = {0};
    plan(&row, ASSAY_FP32, operation, &case_plan);
    assay_case *operands = assay_probe_make(probe, &case_plan);
    if (operands == NULL || !assay_probe_fill(probe, operands, X, x)) return;
    if (!assay_probe_run_one(probe, operands)) return;
    for (int64_t i = 0; i < 2; i++) {
      if (!assay_probe_expect(probe, operands, i, want[operation][i], 0)) return;
    }
  }
}

#define TO_SUM     (1u << SUM)
#define TO_MAXIMUM (1u << MAXIMUM)
#define TO_BOTH    (TO_SUM | TO_MAXIMUM)
#define ROW(r, c, operations, contents, p, q)                                                                \
  { .dims = {r, c}, .dtypes = FP32, .layouts = (operations), .fill = (contents), .a = (p), .b = (q) }
#define NORMAL(r, c, operations) ROW(r, c, operations, assay_fill_normal, 0, 1)
#define DEGENERATE(r, c, operations)                                                                         \
  {                                                                                                          \
    .dims = {r, c}, .dtypes = FP32, .layouts = (operations), .fill = assay_fill_normal, .b = 1,              \
    .degenerate = true                                                                                       \
  }

static const assay_row power_rows[] = {NORMAL(3, 2, TO_BOTH), NORMAL(3, 8, TO_BOTH), NORMAL(2, 256, TO_BOTH)};
static const assay_row ragged_rows[] = {NORMAL(3, 3, TO_BOTH), NORMAL(3, 5, TO_BOTH), NORMAL(4, 7, TO_BOTH),
                                        NORMAL(2, 100, TO_BOTH), NORMAL(2, 1000, TO_BOTH)};
static const assay_row single_rows[] = {DEGENERATE(4, 1, TO_BOTH)}; /* a copy is right */
static const assay_row negative_rows[] = {ROW(3, 5, TO_MAXIMUM, assay_fill_uniform, -9, -1),
                                          ROW(3, 100, TO_MAXIMUM, assay_fill_uniform, -1e30, -1e29)};
static const assay_row lost_rows[] = {ROW(6, 4096, TO_SUM, fill_lost, 1, 0x1.8p-26),
                                      ROW(6, 30000, TO_SUM, fill_lost, -1024, -0x1.8p-16)};
static const assay_row masked_rows[] = {ROW(4, 6, TO_MAXIMUM, fill_masked, 0, 0)};
static const assay_row infinity_rows[] = {ROW(4, 9, TO_BOTH, fill_one, INFINITY, 0),
                                          ROW(4, 9, TO_SUM, fill_one, -INFINITY, 0)};
static const assay_row nan_rows[] = {ROW(6, 7, TO_BOTH, fill_one, NAN, 0),
                                     ROW(6, 8, TO_BOTH, fill_one, NAN, 0)};
static const assay_row empty_rows[] = {DEGENERATE(3, 0, TO_BOTH), DEGENERATE(0, 4, TO_BOTH)};
static const assay_row fresh_rows[] = {NORMAL(5, 13, TO_BOTH)};

static const assay_check checks[] = {
    CHECK("values", "worked_example", S, "the pairs of a level are wrong", .run = worked_example),
    CHECK("values", "powers_of_two", S, "a level too many or too few is added up", ROWS(power_rows)),
    CHECK("values", "ragged_counts", S, "an element without a partner is lost or added twice",
          ROWS(ragged_rows)),
    CHECK("values", "single_element", S, "a tree of one leaf has no level", ROWS(single_rows)),
    CHECK("identity", "negative_maximum", S, "a maximum is padded with 0", ROWS(negative_rows)),
    CHECK("identity", "masked_rows", S, "a finite stand-in for -inf is the maximum of a row of -inf",
          ROWS(masked_rows)),
    CHECK("identity", "no_elements", S, "nothing to reduce does not give the identity", ROWS(empty_rows)),
    CHECK("precision", "lost_terms", S, "one running sum, or a few, lose the small terms", ROWS(lost_rows)),
    CHECK("special", "infinities", S, "an infinity is clamped or gives NaN", ROWS(infinity_rows)),
    CHECK("special", "nan_rows", S, "a NaN is swallowed by a comparison", ROWS(nan_rows)),
    CHECK("contract", "fresh_contents", S, "a result of an earlier call is given again", ROWS(fresh_rows),
          .run = assay_beginner_fresh_contents),
    {.name = NULL},
};

static const char *const layout_names[] = {"sum", "maximum"};

const assay_subject assay_reduction_subject = {
    .name = "reduction",
    .summary = "sum or maximum of every row, by a tree of pairs",
    .formula = "y[r] = x[r,0] + x[r,1] + ...   or   max(x[r,0], x[r,1], ...)",
    .exports = {{.name = "reduction", .in_names = {"x"}, .in_count = 1, .out_names = {"y"}, .out_count = 1}},
    .export_count = 1,
    .opt_names = {"operation"},
    .opt_count = 1,
    .dim_names = {"rows", "columns"},
    .dim_count = 2,
    .layout_names = layout_names,
    .layout_count = 2,
    .validate = validate,
    .plan = plan,
    .oracle = oracle,
    .checks = checks,
};
