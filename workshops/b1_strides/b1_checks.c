/* SPDX-License-Identifier: MIT */
/* b1_checks.c - what `strides` is judged by: its definition, its operands, its named checks. */
#include <math.h>

#include "check_table.h"
#include "fill.h"
#include "half.h"
#include "tensor.h"
#include "workshops/beginner.h"

enum { X = 0, BIAS = 1 };
enum { Y = 0 };
enum { NO_ELEMENTS = -1 }; /* in a row of a check: a size of 0, where 0 ends the list of sizes */

typedef enum layout {
  PACKED,      /* both */
  TRANSPOSED,  /* x: the last two dimensions lie in the other order */
  REVERSED,    /* x: all dimensions do */
  SLICED,      /* x: a gap behind every row */
  STEPPED,     /* x: every third element */
  ROW_BIAS,    /* bias: one row for all */
  COLUMN_BIAS, /* bias: one number for each row */
  ONE_BIAS,    /* bias: one number */
  LAYOUTS
} layout;

static const char *const layout_names[] = {"packed",  "transposed", "reversed",    "sliced",
                                           "stepped", "row_bias",   "column_bias", "one_bias"};

/* ---- operands ------------------------------------------------------------------------------------------ */

static assay_status validate_view(const assay_tensor *view, const char *name, const assay_tensor *y,
                                  assay_message *why) {
  if (view->rank != y->rank) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "%s has rank %d and y has rank %d; they must be the same",
                         name, (int)view->rank, (int)y->rank);
  }
  for (int i = 0; i < y->rank; i++) {
    const assay_status status = assay_beginner_size(view, name, i, y->shape[i], "as y", why);
    if (status != ASSAY_OK) return status;
    if (view->stride[i] < 0) {
      return assay_explain(why, ASSAY_BAD_STRIDE, "stride %d of %s is %lld; it must be 0 or more", i, name,
                           (long long)view->stride[i]);
    }
  }
  const assay_status status = assay_beginner_memory(view, name, FP32, why);
  return status != ASSAY_OK ? status : assay_beginner_apart(y, "y", view, name, why);
}

static assay_status validate(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_limits limits, assay_message *why) {
  (void)entry, (void)opt, (void)limits;
  const int rank = out[Y].rank;
  if (rank < 1 || rank > ASSAY_MAX_RANK) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "y has rank %d; it must be 1 to %d", rank, ASSAY_MAX_RANK);
  }
  assay_status status = assay_beginner_packed(&out[Y], "y", FP32, rank, why);
  if (status == ASSAY_OK) status = validate_view(&in[X], "x", &out[Y], why);
  if (status == ASSAY_OK) status = validate_view(&in[BIAS], "bias", &out[Y], why);
  return status;
}

/* The strides of an array whose dimensions lie in the order of `order`, the last one innermost, with `gap`
 * elements behind each run of the innermost and `step` from one of them to the next. */
static void lay_out(assay_operand_plan *view, const int *order, int64_t gap, int64_t step) {
  int64_t stride = step;
  for (int i = view->rank - 1; i >= 0; i--) {
    view->stride[order[i]] = stride;
    stride = stride * view->shape[order[i]] + (i == view->rank - 1 ? gap : 0);
  }
}

static void lay_out_x(assay_operand_plan *x, layout how) {
  const int rank = x->rank;
  int order[ASSAY_MAX_RANK] = {0};
  for (int i = 0; i < rank; i++) order[i] = how == REVERSED ? rank - 1 - i : i;
  if (how == TRANSPOSED && rank > 1) {
    order[rank - 2] = rank - 1;
    order[rank - 1] = rank - 2;
  }
  lay_out(x, order, how == SLICED ? 5 : 0, how == STEPPED ? 3 : 1);
}

static void plan(const assay_row *row, assay_dtype dtype, int chosen, assay_plan *result) {
  int64_t shape[ASSAY_MAX_RANK] = {0};
  int rank = 0;
  for (; rank < ASSAY_MAX_RANK && row->dims[rank] != 0; rank++)
    shape[rank] = row->dims[rank] == NO_ELEMENTS ? 0 : row->dims[rank];
  const assay_operand_plan packed = assay_beginner_operand(dtype, rank, shape, 0);
  result->in[X] = result->in[BIAS] = result->out[Y] = packed;
  lay_out_x(&result->in[X], (layout)chosen);
  result->in[X].shift = row->shift;
  int64_t *bias = result->in[BIAS].stride;
  int64_t rows = 1; /* behind dimension i, the last one not counted */
  for (int i = rank - 1; i >= 0; i--) {
    const bool last = i == rank - 1;
    if (chosen == ROW_BIAS) bias[i] = last ? 1 : 0;
    if (chosen == COLUMN_BIAS) bias[i] = last ? 0 : rows;
    if (chosen == ONE_BIAS) bias[i] = 0;
    if (!last) rows *= shape[i];
  }
}

/* ---- definition ---------------------------------------------------------------------------------------- */

/* One addition, rounded once to FP32. The sum in FP64 may itself be rounded, by 2^-53 of it. */
static void oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                   int64_t first, int64_t count, double *want, double *allowed) {
  (void)entry, (void)opt;
  int64_t inner = 1; /* elements in one unit of the first dimension */
  for (int i = 1; i < out[Y].rank; i++) inner *= out[Y].shape[i];
  for (int64_t i = 0; i < count * inner; i++) {
    const int64_t flat = first * inner + i;
    want[i] = assay_get(in[X].data, in[X].dtype, assay_tensor_offset(&in[X], flat)) +
              assay_get(in[BIAS].data, in[BIAS].dtype, assay_tensor_offset(&in[BIAS], flat));
    allowed[i] =
        isfinite(want[i]) ? assay_rounding_error(out[Y].dtype, want[i]) + fabs(want[i]) * 0x1p-53 : 0;
  }
}

/* ---- checks -------------------------------------------------------------------------------------------- */

static void worked_example(assay_probe *probe) {
  /* The lesson's view: the transpose of 3 x 2 numbers, and a bias of one row that is repeated. */
  const assay_plan case_plan = {
      .in = {{.dtype = ASSAY_FP32, .rank = 2, .shape = {2, 3}, .stride = {1, 2}},
             {.dtype = ASSAY_FP32, .rank = 2, .shape = {2, 3}, .stride = {0, 1}}},
      .out = {{.dtype = ASSAY_FP32, .rank = 2, .shape = {2, 3}, .stride = {3, 1}}},
  };
  const double x[] = {10, 30, 50, 20, 40, 60};
  const double bias[] = {1, 2, 3, 1, 2, 3};
  const double want[] = {11, 32, 53, 21, 42, 63};
  assay_case *operands = assay_probe_make(probe, &case_plan);
  if (operands == NULL || !assay_probe_fill(probe, operands, X, x)) return;
  if (!assay_probe_fill(probe, operands, BIAS, bias) || !assay_probe_run_one(probe, operands)) return;
  for (int64_t i = 0; i < 6; i++) {
    if (!assay_probe_expect(probe, operands, i, want[i], 0)) return;
  }
}

/* Offsets beyond 2^31 and 2^32: nearly all of the view is holes, and takes no memory. */
static void large_strides(assay_probe *probe) {
  const int64_t strides[][2] = {
      {(INT64_C(1) << 31) + 4, 2}, {3, (INT64_C(1) << 30) + 2}, {INT64_C(1) << 32, 1}};
  for (size_t i = 0; i < sizeof strides / sizeof strides[0]; i++) {
    const assay_plan case_plan = {
        .in = {{.dtype = ASSAY_FP32, .rank = 2, .shape = {2, 3}, .stride = {strides[i][0], strides[i][1]}},
               {.dtype = ASSAY_FP32, .rank = 2, .shape = {2, 3}, .stride = {3, 1}}},
        .out = {{.dtype = ASSAY_FP32, .rank = 2, .shape = {2, 3}, .stride = {3, 1}}},
    };
    assay_case *operands = assay_probe_make(probe, &case_plan);
    if (!assay_probe_fill_with(probe, operands, X, assay_fill_normal, 0, 1)) return;
    if (!assay_probe_fill_with(probe, operands, BIAS, assay_fill_normal, 0, 1)) return;
    if (!assay_probe_run_one(probe, operands) || !assay_probe_expect_oracle(probe, operands, false)) return;
    assay_probe_release(probe);
  }
}

#define IN(layout_) (1u << (layout_))
#define ROW(where, ...)                                                                                      \
  { .dims = {__VA_ARGS__}, .dtypes = FP32, .layouts = (where), .fill = assay_fill_normal, .b = 1 }
#define EMPTY(...)                                                                                           \
  {                                                                                                          \
    .dims = {__VA_ARGS__}, .dtypes = FP32, .layouts = IN(PACKED), .fill = assay_fill_normal,                 \
    .degenerate = true                                                                                       \
  }

static const assay_row packed_rows[] = {ROW(IN(PACKED), 2, 3), ROW(IN(PACKED), 7, 5)};
static const assay_row rank_rows[] = {ROW(IN(PACKED), 6), ROW(IN(PACKED), 3, 4), ROW(IN(PACKED), 2, 3, 4),
                                      ROW(IN(PACKED), 2, 3, 4, 5)};
static const assay_row transposed_rows[] = {ROW(IN(TRANSPOSED), 4, 3), ROW(IN(TRANSPOSED), 5, 5),
                                            ROW(IN(TRANSPOSED), 2, 4, 3)};
static const assay_row sliced_rows[] = {ROW(IN(SLICED), 4, 3), ROW(IN(SLICED), 2, 3, 4)};
static const assay_row stepped_rows[] = {ROW(IN(STEPPED), 5), ROW(IN(STEPPED), 4, 3)};
static const assay_row reversed_rows[] = {ROW(IN(REVERSED), 2, 3, 4), ROW(IN(REVERSED), 2, 3, 4, 5)};
static const assay_row row_bias_rows[] = {ROW(IN(ROW_BIAS), 4, 3), ROW(IN(ROW_BIAS), 2, 3, 4)};
static const assay_row column_bias_rows[] = {ROW(IN(COLUMN_BIAS), 4, 3), ROW(IN(COLUMN_BIAS), 3, 2, 4),
                                             ROW(IN(ONE_BIAS), 4, 3)};
static const assay_row one_rows[] = {ROW(IN(PACKED) | IN(REVERSED), 1, 5, 1, 3),
                                     ROW(IN(TRANSPOSED), 4, 1, 3)};
static const assay_row empty_rows[] = {EMPTY(NO_ELEMENTS, 3), EMPTY(3, NO_ELEMENTS), EMPTY(NO_ELEMENTS)};
static const assay_row fresh_rows[] = {ROW(IN(TRANSPOSED), 6, 4)};

static const assay_check checks[] = {
    CHECK("values", "worked_example", S, "the index of an element is wrong", .run = worked_example),
    CHECK("values", "packed", S, "rows and columns are exchanged", ROWS(packed_rows)),
    CHECK("values", "every_rank", S, "only matrices are handled", ROWS(rank_rows)),
    CHECK("layouts", "transposed", S, "a transposed view is read in storage order", ROWS(transposed_rows)),
    CHECK("layouts", "sliced_rows", S, "the gap behind each row is read", ROWS(sliced_rows)),
    CHECK("layouts", "stepped_columns", S, "the last stride is taken to be 1", ROWS(stepped_rows)),
    CHECK("layouts", "reversed_dimensions", S, "a stride belongs to another dimension", ROWS(reversed_rows)),
    CHECK("broadcast", "one_row_for_all", S, "a stride of 0 is taken for packed", ROWS(row_bias_rows)),
    CHECK("broadcast", "one_number_a_row", S, "the bias is read by the strides of x", ROWS(column_bias_rows)),
    CHECK("edges", "sizes_of_one", S, "dimensions of size 1 are dropped, their neighbours' strides with them",
          ROWS(one_rows)),
    CHECK("edges", "no_elements", S, "an empty view has an element that is handled", ROWS(empty_rows)),
    CHECK("edges", "large_strides", M, "offsets are computed in 32 bits", .run = large_strides),
    CHECK("contract", "fresh_contents", S, "a result of an earlier call is given again", ROWS(fresh_rows),
          .run = assay_beginner_fresh_contents),
    {.name = NULL},
};

const assay_subject assay_strides_subject = {
    .name = "strides",
    .summary = "adds two views of any strides into a packed array",
    .formula = "y[i,j,...] = x[i,j,...] + bias[i,j,...]",
    .exports =
        {{.name = "strides", .in_names = {"x", "bias"}, .in_count = 2, .out_names = {"y"}, .out_count = 1}},
    .export_count = 1,
    .dim_names = {"size 0", "size 1", "size 2", "size 3"},
    .dim_count = 4,
    .layout_names = layout_names,
    .layout_count = LAYOUTS,
    .validate = validate,
    .plan = plan,
    .oracle = oracle,
    .checks = checks,
};
