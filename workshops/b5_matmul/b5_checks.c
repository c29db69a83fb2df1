/* SPDX-License-Identifier: MIT */
/* b5_checks.c - what `matmul` is judged by: its definition, its operands, its named checks. */
#include <math.h>

#include "check_table.h"
#include "fill.h"
#include "half.h"
#include "workshops/beginner.h"

enum { A = 0, B = 1, SCALE = 2 };
enum { C = 0 };
enum { TILE = 0 };

/* Tiles that hold `count`, the last one perhaps in part. */
static int64_t tiles_of(int64_t count, int64_t tile) {
  return count / tile + (count % tile != 0 ? 1 : 0);
}

/* ---- operands ------------------------------------------------------------------------------------------ */

static assay_status validate(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_limits limits, assay_message *why) {
  (void)entry, (void)limits;
  const char *const names[] = {"a", "b", "scale"};
  const int64_t tile = opt != NULL ? opt[TILE] : 0;
  if (tile < 1)
    return assay_explain(why, ASSAY_BAD_OPTION, "tile is %lld; it must be 1 or more", (long long)tile);
  assay_status status = ASSAY_OK;
  for (int i = A; i <= SCALE && status == ASSAY_OK; i++)
    status = assay_beginner_packed(&in[i], names[i], FP32, 2, why);
  if (status == ASSAY_OK) status = assay_beginner_packed(&out[C], "c", FP32, 2, why);
  if (status != ASSAY_OK) return status;
  const int64_t depth = in[A].shape[1];
  const int64_t columns = in[B].shape[1];
  status = assay_beginner_size(&in[B], "b", 0, depth, "as many rows as a has columns", why);
  if (status == ASSAY_OK)
    status = assay_beginner_size(&in[SCALE], "scale", 0, tiles_of(depth, tile),
                                 "one for each tile of rows of b", why);
  if (status == ASSAY_OK)
    status = assay_beginner_size(&in[SCALE], "scale", 1, tiles_of(columns, tile),
                                 "one for each tile of columns of b", why);
  if (status == ASSAY_OK) status = assay_beginner_size(&out[C], "c", 0, in[A].shape[0], "the rows of a", why);
  if (status == ASSAY_OK) status = assay_beginner_size(&out[C], "c", 1, columns, "the columns of b", why);
  for (int i = A; i <= SCALE && status == ASSAY_OK; i++)
    status = assay_beginner_apart(&out[C], "c", &in[i], names[i], why);
  return status;
}

/* A row's sizes are the rows of a, the columns of b, what they share, and the tile. */
static void plan(const assay_row *row, assay_dtype dtype, int layout, assay_plan *result) {
  (void)layout; /* there is one */
  const int64_t rows = row->dims[0];
  const int64_t columns = row->dims[1];
  const int64_t depth = row->dims[2];
  const int64_t tile = row->dims[3];
  result->in[A] = assay_beginner_operand(dtype, 2, (const int64_t[]){rows, depth}, row->shift);
  result->in[B] = assay_beginner_operand(dtype, 2, (const int64_t[]){depth, columns}, row->shift);
  result->in[SCALE] =
      assay_beginner_operand(dtype, 2, (const int64_t[]){tiles_of(depth, tile), tiles_of(columns, tile)}, 0);
  result->out[C] = assay_beginner_operand(dtype, 2, (const int64_t[]){rows, columns}, 0);
  result->opt[TILE] = tile;
}

/* ---- definition ---------------------------------------------------------------------------------------- */

/* One element and the sum of the absolute values of its terms. */
static double element(const assay_tensor *in, const int64_t *opt, int64_t r, int64_t c, double *magnitude) {
  const int64_t depth = in[A].shape[1];
  const int64_t columns = in[B].shape[1];
  const int64_t scale_columns = in[SCALE].shape[1];
  double sum = 0;
  *magnitude = 0;
  for (int64_t k = 0; k < depth; k++) {
    const double a = assay_get(in[A].data, in[A].dtype, r * depth + k);
    const double b = assay_get(in[B].data, in[B].dtype, k * columns + c);
    const int64_t tile = k / opt[TILE] * scale_columns + c / opt[TILE];
    const double term = a * b * assay_get(in[SCALE].data, in[SCALE].dtype, tile);
    sum += term;
    *magnitude += fabs(term);
  }
  return sum;
}

/* A term is rounded as a product, as a product with the scale, and in no more additions than there are terms
 * and tiles: K + 3 roundings in all, 1 % for what is of higher order. */
static void oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                   int64_t first, int64_t count, double *want, double *allowed) {
  (void)entry;
  const int64_t columns = out[C].shape[1];
  const double depth = (double)in[A].shape[1];
  for (int64_t i = 0; i < count * columns; i++) {
    double magnitude;
    want[i] = element(in, opt, first + i / columns, i % columns, &magnitude);
    allowed[i] = isfinite(want[i]) ? 1.01 * (depth + 3) * 0x1p-24 * magnitude : 0;
  }
}

/* ---- contents ------------------------------------------------------------------------------------------ */

/* Scales that differ from neighbour to neighbour and from row to row, by factors that are no powers of 2. */
static void fill_scale(const assay_fill_args *args, double *values) {
  for (int64_t i = 0; i < args->shape[0]; i++) {
    for (int64_t k = 0; k < args->shape[1]; k++)
      values[i * args->shape[1] + k] = 1 + 0.7 * (double)i + 2.3 * (double)k;
  }
}

static void fill_plain(const assay_fill_args *args, double *values) {
  if (args->operand == SCALE) {
    fill_scale(args, values);
  } else {
    assay_fill_normal(args, values);
  }
}

/* Odd integers of 12 bits times -1, 0 or 1, and scales of 1/2, 1 and 2: every sum of them is exact in FP32.
 */
static void fill_integers(const assay_fill_args *args, double *values) {
  const double scales[] = {0.5, 1, 2};
  const int64_t count = args->shape[0] * args->shape[1];
  for (int64_t i = 0; i < count; i++) {
    if (args->operand == A) values[i] = 2049 + 2 * (double)assay_rng_below(args->rng, 1024);
    if (args->operand == B) values[i] = (double)assay_rng_below(args->rng, 3) - 1;
    if (args->operand == SCALE) values[i] = scales[assay_rng_below(args->rng, 3)];
  }
}

/* NaN in the last element of a, infinity in the first of b. */
static void fill_special(const assay_fill_args *args, double *values) {
  fill_plain(args, values);
  if (args->operand == A) values[args->shape[0] * args->shape[1] - 1] = NAN;
  if (args->operand == B) values[0] = INFINITY;
}

/* ---- checks -------------------------------------------------------------------------------------------- */

static void worked_example(assay_probe *probe) {
  /* The numbers of the lesson. */
  const double a[] = {1, 2, 3, 4, 5, 6};
  const double b[] = {1, 0, 2, 0, 1, 1, 1, 1, 0};
  const double scale[] = {1, 10, 100, 1000};
  const double want[] = {301, 302, 40, 604, 605, 130};
  const assay_row row = {.dims = {2, 3, 3, 2}};
  assay_plan case_plan = {0};
  plan(&row, ASSAY_FP32, 0, &case_plan);
  assay_case *operands = assay_probe_make(probe, &case_plan);
  if (operands == NULL || !assay_probe_fill(probe, operands, A, a) ||
      !assay_probe_fill(probe, operands, B, b))
    return;
  if (!assay_probe_fill(probe, operands, SCALE, scale) || !assay_probe_run_one(probe, operands)) return;
  for (int64_t i = 0; i < 6; i++) {
    if (!assay_probe_expect(probe, operands, i, want[i], 0)) return;
  }
}

/* No order of additions rounds anything, so that nothing is allowed. */
static void exact_integers(assay_probe *probe) {
  assay_case *operands = assay_probe_make_row(probe);
  if (!assay_probe_run_one(probe, operands)) return;
  assay_tensor in[SCALE + 1];
  for (int i = A; i <= SCALE; i++) in[i] = assay_probe_in(probe, operands, i);
  const int64_t columns = probe->row->dims[1];
  const int64_t tile[] = {probe->row->dims[3]};
  for (int64_t i = 0; i < probe->row->dims[0] * columns; i++) {
    double magnitude;
    const double want = element(in, tile, i / columns, i % columns, &magnitude);
    if (!assay_probe_expect(probe, operands, i, want, 0)) return;
  }
}

#define ROW(m, n, k, tile, contents)                                                                         \
  { .dims = {m, n, k, tile}, .dtypes = FP32, .layouts = 1, .fill = (contents), .b = 1 }
#define NORMAL(m, n, k, tile) ROW(m, n, k, tile, fill_plain)
#define DEGENERATE(m, n, k, tile)                                                                            \
  { .dims = {m, n, k, tile}, .dtypes = FP32, .layouts = 1, .fill = fill_plain, .b = 1, .degenerate = true }

static const assay_row whole_rows[] = {NORMAL(4, 4, 4, 2), NORMAL(8, 12, 16, 4)};
static const assay_row grid_rows[] = {NORMAL(4, 12, 4, 2), NORMAL(4, 4, 12, 2)};
static const assay_row m_rows[] = {NORMAL(5, 4, 4, 4), NORMAL(9, 8, 4, 4)};
static const assay_row n_rows[] = {NORMAL(4, 5, 4, 4), NORMAL(4, 11, 4, 4)};
static const assay_row k_rows[] = {NORMAL(4, 4, 5, 4), NORMAL(4, 4, 11, 4)};
static const assay_row all_rows[] = {NORMAL(7, 9, 13, 4), NORMAL(17, 19, 33, 8)};
static const assay_row small_rows[] = {NORMAL(3, 2, 5, 16), NORMAL(2, 3, 7, 64)};
static const assay_row thin_rows[] = {NORMAL(1, 9, 6, 4), NORMAL(9, 1, 6, 4), NORMAL(6, 5, 1, 4),
                                      NORMAL(5, 7, 6, 1)};
static const assay_row no_depth_rows[] = {DEGENERATE(3, 5, 0, 4)};
static const assay_row empty_rows[] = {DEGENERATE(0, 5, 3, 4), DEGENERATE(5, 0, 3, 4)};
static const assay_row integer_rows[] = {ROW(5, 6, 250, 16, fill_integers), ROW(9, 7, 64, 8, fill_integers)};
static const assay_row special_rows[] = {ROW(6, 7, 5, 4, fill_special)};
static const assay_row fresh_rows[] = {NORMAL(6, 5, 7, 4)};

static const assay_check checks[] = {
    CHECK("values", "worked_example", S, "the indices of a row times a column are wrong",
          .run = worked_example),
    CHECK("values", "whole_tiles", S, "a scale is applied to more or less than its own tile",
          ROWS(whole_rows)),
    CHECK("values", "grid_not_square", S, "rows and columns of the grid of scales are exchanged",
          ROWS(grid_rows)),
    CHECK("tails", "ragged_rows", S, "the last rows of c belong to no tile", ROWS(m_rows)),
    CHECK("tails", "ragged_columns", S, "the last columns of c belong to no tile", ROWS(n_rows)),
    CHECK("tails", "ragged_depth", S, "the last terms of a sum are left out, or there are too many",
          ROWS(k_rows)),
    CHECK("tails", "all_ragged", S, "the tails of two directions disturb each other", ROWS(all_rows)),
    CHECK("tails", "tile_too_large", S, "a tile that is larger than the matrix is not masked",
          ROWS(small_rows)),
    CHECK("edges", "vectors", S, "a size of 1, or a tile of 1, takes a way of its own", ROWS(thin_rows)),
    CHECK("edges", "no_depth", S, "a sum of no terms is not written as 0", ROWS(no_depth_rows)),
    CHECK("edges", "no_elements", S, "an empty result is an error", ROWS(empty_rows)),
    CHECK("precision", "exact_integers", S, "a factor or a sum is held in 16 bits", ROWS(integer_rows),
          .run = exact_integers),
    CHECK("precision", "nan_and_infinity", S, "a NaN or an infinity is taken for padding",
          ROWS(special_rows)),
    CHECK("contract", "fresh_contents", S, "a result of an earlier call is given again", ROWS(fresh_rows),
          .run = assay_beginner_fresh_contents),
    {.name = NULL},
};

static const char *const layout_names[] = {"packed"};

const assay_subject assay_matmul_subject = {
    .name = "matmul",
    .summary = "matrix product by tiles, with a scale for each tile of the second matrix",
    .formula = "c[m,n] = sum over k of a[m,k] * b[k,n] * scale[k / tile, n / tile]",
    .exports = {{.name = "matmul",
                 .in_names = {"a", "b", "scale"},
                 .in_count = 3,
                 .out_names = {"c"},
                 .out_count = 1}},
    .export_count = 1,
    .opt_names = {"tile"},
    .opt_count = 1,
    .dim_names = {"m", "n", "k", "tile"},
    .dim_count = 4,
    .layout_names = layout_names,
    .layout_count = 1,
    .validate = validate,
    .plan = plan,
    .oracle = oracle,
    .checks = checks,
};
