/* SPDX-License-Identifier: MIT */
/* log_softmax_checks.c - the named checks of log-softmax: what each provokes, and with which contents. */
#include <math.h>

#include "check_table.h"
#include "fill.h"
#include "log_softmax.h"

/* ---- contents; a and b are the row's parameters -------------------------------------------------------- */

/* One 0 first, then terms just under half an ulp of 1: a single FP32 sum never moves from 1. */
static void fill_lost_terms(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) x[r * columns + c] = c == 0 ? 0 : -16.7 - 0.01 * (double)r;
  }
}

/* b everywhere, and a once in every second row. */
static void fill_special(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) x[r * columns + c] = args->b + assay_rng_normal(args->rng);
    if (r % 2 == 0) x[r * columns + r % columns] = args->a;
  }
}

/* ---- run functions ------------------------------------------------------------------------------------- */

/* Logarithms of 1/6, 2/6 and 3/6, from logits that are themselves logarithms, and the same shifted. */
static void worked_example(assay_probe *probe) {
  const assay_plan plan = {
      .in = {{.dtype = ASSAY_FP32, .rank = 2, .shape = {2, 3}, .stride = {3, 1}}},
      .out = {{.dtype = ASSAY_FP32, .rank = 2, .shape = {2, 3}, .stride = {3, 1}}},
  };
  const double x[] = {0, 0.69314718, 1.09861229, 5, 5.69314718, 6.09861229};
  const double want[] = {-1.79175947, -1.09861229, -0.69314718, -1.79175947, -1.09861229, -0.69314718};
  assay_case *operands = assay_probe_make(probe, &plan);
  if (operands == NULL || !assay_probe_fill(probe, operands, 0, x)) return;
  if (!assay_probe_run_one(probe, operands)) return;
  for (int64_t i = 0; i < 6; i++) {
    if (!assay_probe_expect(probe, operands, i, want[i], 4e-6)) return;
  }
}

/* A valid call that is spoiled in one place after another. */
static void rejects_arguments(assay_probe *probe) {
  const assay_plan plan = {
      .in = {{.dtype = ASSAY_FP32, .rank = 2, .shape = {6, 5}, .stride = {5, 1}}},
      .out = {{.dtype = ASSAY_FP32, .rank = 2, .shape = {6, 5}, .stride = {5, 1}}},
  };
  const int64_t opt[ASSAY_MAX_OPTIONS] = {0};
  assay_case *operands = assay_probe_make(probe, &plan);
  if (operands == NULL) return;
  const assay_tensor x = assay_probe_in(probe, operands, 0);
  const assay_tensor y = assay_probe_out(probe, operands, 0);
  assay_tensor bad = x;
  bad.data = NULL;
  (void)assay_probe_reject(probe, &bad, &y, opt, ASSAY_BAD_POINTER, "x is NULL");
  bad = x;
  bad.shape[1] = 4;
  (void)assay_probe_reject(probe, &bad, &y, opt, ASSAY_BAD_SHAPE, "as x is");
  bad = x;
  bad.stride[0] = -5;
  (void)assay_probe_reject(probe, &bad, &y, opt, ASSAY_BAD_STRIDE, "0 or more");
  bad = x;
  bad.dtype = ASSAY_FP16;
  (void)assay_probe_reject(probe, &bad, &y, opt, ASSAY_BAD_DTYPE, "as x is");
  bad = y;
  bad.data = x.data;
  (void)assay_probe_reject(probe, &x, &bad, opt, ASSAY_BAD_ALIAS, "overlaps");
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

enum { PACKED = 1, TRANSPOSED = 2 };

#define ROW(r, c, types, where, contents, p, q)                                                              \
  { .dims = {r, c}, .dtypes = (types), .layouts = (where), .fill = (contents), .a = (p), .b = (q) }
#define NORMAL(r, c, types, where) ROW(r, c, types, where, assay_fill_normal, 0, 1)

static const assay_row widths[] = {NORMAL(3, 2, FLOATS, PACKED), NORMAL(3, 31, FLOATS, PACKED),
                                   NORMAL(3, 33, FLOATS, PACKED), NORMAL(5, 257, FLOATS, PACKED)};
static const assay_row single_column[] = {{.dims = {4, 1},
                                           .dtypes = FLOATS,
                                           .layouts = PACKED,
                                           .fill = assay_fill_normal,
                                           .b = 1,
                                           .degenerate = true}};
static const assay_row views[] = {NORMAL(7, 5, FLOATS, TRANSPOSED), NORMAL(64, 33, FLOATS, TRANSPOSED)};
static const assay_row long_rows[] = {ROW(2, 8192, FP32, PACKED, fill_lost_terms, 0, 0)};
static const assay_row large_rows[] = {ROW(4, 64, FP32, PACKED, assay_fill_normal, 3000, 20)};
static const assay_row low_rows[] = {ROW(4, 64, FP32, PACKED, assay_fill_normal, -3000, 20)};
static const assay_row rounding_rows[] = {ROW(8, 1536, HALVES, PACKED, assay_fill_normal, 0, 2)};
static const assay_row masked_rows[] = {ROW(6, 40, FLOATS, PACKED, fill_special, -INFINITY, 0)};
static const assay_row nan_rows[] = {ROW(6, 40, FLOATS, PACKED, fill_special, NAN, 0),
                                     ROW(6, 40, FLOATS, PACKED, fill_special, INFINITY, 0)};
static const assay_row whole_rows[] = {NORMAL(37, 129, FLOATS, PACKED)};
static const assay_row wide_rows[] = {NORMAL(2, 20000, FP32, PACKED)};

const assay_check assay_log_softmax_checks[] = {
    CHECK("values", "worked_example", S, "the formula is another", .run = worked_example),
    CHECK("values", "single_column", S, "a row of one element is not 0", ROWS(single_column)),
    CHECK("values", "widths", S, "the columns behind the last whole block are left out", ROWS(widths)),
    CHECK("layouts", "transposed", S, "the strides are ignored", ROWS(views)),
    CHECK("numerics", "large_logits", S, "the maximum is not subtracted", ROWS(large_rows)),
    CHECK("numerics", "deep_negative", S, "the maximum starts at 0", ROWS(low_rows)),
    CHECK("numerics", "long_sums", S, "one FP32 running sum loses the small terms", ROWS(long_rows)),
    CHECK("numerics", "half_rounding", S, "a value is rounded to 16 bits on the way", ROWS(rounding_rows)),
    CHECK("extremes", "masked_entries", S, "-inf entries do not give -inf", ROWS(masked_rows)),
    CHECK("extremes", "special_rows", S, "a NaN or +inf is swallowed", ROWS(nan_rows)),
    CHECK("contract", "whole_output", S, "some elements of the output are never written", ROWS(whole_rows)),
    LIBRARY_CHECK("arguments", "rejects_arguments", S, "bad metadata reaches a kernel",
                  .run = rejects_arguments),
    LIBRARY_CHECK("arguments", "wide_rows", S, "the workshop's width limit binds the library",
                  ROWS(wide_rows)),
    {.name = NULL},
};
