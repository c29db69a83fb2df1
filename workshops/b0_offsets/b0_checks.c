/* SPDX-License-Identifier: MIT */
/* b0_checks.c - what `offsets` is judged by: its definition, its operands, its named checks. */
#include <math.h>

#include "workshops/beginner.h"
#include "check_table.h"
#include "fill.h"
#include "half.h"

enum { X = 0, SCALE = 1 };
enum { Y = 0 };
enum { BLOCK = 0 };

/* Blocks of `block` elements that hold `count` of them, the last one perhaps in part. */
static int64_t blocks_of(int64_t count, int64_t block) {
  return count / block + (count % block != 0 ? 1 : 0);
}

/* ---- operands ------------------------------------------------------------------------------------------ */

static assay_status validate(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_limits limits, assay_message *why) {
  (void)entry, (void)limits;
  const int64_t block = opt != NULL ? opt[BLOCK] : 0;
  if (block < 1) {
    return assay_explain(why, ASSAY_BAD_OPTION, "block is %lld; it must be 1 or more", (long long)block);
  }
  assay_status status = assay_beginner_packed(&in[X], "x", FP32, 1, why);
  if (status == ASSAY_OK) status = assay_beginner_packed(&in[SCALE], "scale", FP32, 1, why);
  if (status == ASSAY_OK) status = assay_beginner_packed(&out[Y], "y", FP32, 1, why);
  if (status != ASSAY_OK) return status;
  const int64_t count = in[X].shape[0];
  status = assay_beginner_size(&in[SCALE], "scale", 0, blocks_of(count, block), "one for each block", why);
  if (status == ASSAY_OK) status = assay_beginner_size(&out[Y], "y", 0, count, "as x", why);
  if (status == ASSAY_OK) status = assay_beginner_apart(&out[Y], "y", &in[X], "x", why);
  if (status == ASSAY_OK) status = assay_beginner_apart(&out[Y], "y", &in[SCALE], "scale", why);
  return status;
}

/* A row's sizes are the number of elements and the block. */
static void plan(const assay_row *row, assay_dtype dtype, int layout, assay_plan *result) {
  (void)layout; /* there is one */
  const int64_t count = row->dims[0];
  const int64_t blocks = blocks_of(count, row->dims[1]);
  result->in[X] = assay_beginner_operand(dtype, 1, &count, row->shift);
  result->in[SCALE] = assay_beginner_operand(dtype, 1, &blocks, 0);
  result->out[Y] = assay_beginner_operand(dtype, 1, &count, row->shift);
  result->opt[BLOCK] = row->dims[1];
}

/* ---- definition ---------------------------------------------------------------------------------------- */

/* The product of two FP32 numbers is exact in FP64, so that one rounding to FP32 is all that is allowed. */
static void oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                   int64_t first, int64_t count, double *want, double *allowed) {
  (void)entry;
  for (int64_t i = 0; i < count; i++) {
    const int64_t block = (first + i) / opt[BLOCK];
    want[i] =
        assay_get(in[X].data, in[X].dtype, first + i) * assay_get(in[SCALE].data, in[SCALE].dtype, block);
    allowed[i] = isfinite(want[i]) ? assay_rounding_error(out[Y].dtype, want[i]) : 0;
  }
}

/* ---- contents ------------------------------------------------------------------------------------------ */

/* x: normal numbers. scale: no two neighbours alike, none of them 1. */
static void fill_plain(const assay_fill_args *args, double *values) {
  for (int64_t i = 0; i < args->shape[0]; i++) {
    values[i] =
        args->operand == X ? assay_rng_normal(args->rng) : 2 + (double)(i % 7) + assay_rng_uniform(args->rng);
  }
}

/* x: infinities and a NaN between normal numbers. scale: every second one is 0, and 0 * inf is NaN. */
static void fill_special(const assay_fill_args *args, double *values) {
  const double odd[] = {INFINITY, -INFINITY, NAN, 0};
  for (int64_t i = 0; i < args->shape[0]; i++) {
    if (args->operand == SCALE) {
      values[i] = i % 2 == 0 ? 0 : 3;
    } else {
      values[i] = i % 3 == 0 ? odd[i / 3 % 4] : assay_rng_normal(args->rng);
    }
  }
}

/* ---- checks -------------------------------------------------------------------------------------------- */

static void worked_example(assay_probe *probe) {
  /* The numbers of the lesson. */
  const double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const double scale[] = {1, 10, 100};
  const double want[] = {1, 2, 3, 4, 50, 60, 70, 80, 900, 1000};
  const assay_row row = {.dims = {10, 4}};
  assay_plan case_plan = {0};
  plan(&row, ASSAY_FP32, 0, &case_plan);
  assay_case *operands = assay_probe_make(probe, &case_plan);
  if (operands == NULL || !assay_probe_fill(probe, operands, X, x)) return;
  if (!assay_probe_fill(probe, operands, SCALE, scale) || !assay_probe_run_one(probe, operands)) return;
  for (int64_t i = 0; i < 10; i++) {
    if (!assay_probe_expect(probe, operands, i, want[i], 0)) return;
  }
}

#define ROW(count, block, contents)                                                                          \
  { .dims = {count, block}, .dtypes = FP32, .layouts = 1, .fill = (contents) }
#define EMPTY(block)                                                                                         \
  { .dims = {0, block}, .dtypes = FP32, .layouts = 1, .fill = fill_plain, .degenerate = true }

static const assay_row whole_rows[] = {ROW(8, 4, fill_plain), ROW(12, 4, fill_plain),
                                       ROW(256, 64, fill_plain)};
static const assay_row ragged_rows[] = {ROW(5, 4, fill_plain), ROW(6, 4, fill_plain), ROW(7, 4, fill_plain),
                                        ROW(1000, 128, fill_plain)};
static const assay_row short_rows[] = {ROW(3, 64, fill_plain), ROW(2, 3, fill_plain)};
static const assay_row odd_rows[] = {ROW(6, 1, fill_plain), ROW(9, 3, fill_plain), ROW(100, 7, fill_plain)};
static const assay_row empty_rows[] = {EMPTY(4), EMPTY(1)};
static const assay_row special_rows[] = {ROW(23, 4, fill_special), ROW(64, 8, fill_special)};
static const assay_row fresh_rows[] = {ROW(21, 8, fill_plain)};

static const assay_check checks[] = {
    CHECK("values", "worked_example", S, "the offsets of a block are wrong", .run = worked_example),
    CHECK("values", "whole_blocks", S, "a block too many is handled, whose scale does not exist",
          ROWS(whole_rows)),
    CHECK("values", "ragged_tail", S, "the incomplete block at the end is left out", ROWS(ragged_rows)),
    CHECK("edges", "one_short_block", S, "fewer elements than a block holds are not masked",
          ROWS(short_rows)),
    CHECK("edges", "odd_blocks", S, "lanes are taken two at a time, and an odd block loses its last",
          ROWS(odd_rows)),
    CHECK("edges", "no_elements", S, "an empty input has no block, and one is handled", ROWS(empty_rows)),
    CHECK("edges", "special_values", S, "a shortcut for 0 hides a NaN or an infinity", ROWS(special_rows)),
    CHECK("contract", "fresh_contents", S, "a result of an earlier call is given again", ROWS(fresh_rows),
          .run = assay_beginner_fresh_contents),
    {.name = NULL},
};

static const char *const layout_names[] = {"packed"};

const assay_subject assay_offsets_subject = {
    .name = "offsets",
    .summary = "multiplies every block of an array by the block's own factor",
    .formula = "y[i] = x[i] * scale[i / block]",
    .exports =
        {{.name = "offsets", .in_names = {"x", "scale"}, .in_count = 2, .out_names = {"y"}, .out_count = 1}},
    .export_count = 1,
    .opt_names = {"block"},
    .opt_count = 1,
    .dim_names = {"elements", "block"},
    .dim_count = 2,
    .layout_names = layout_names,
    .layout_count = 1,
    .validate = validate,
    .plan = plan,
    .oracle = oracle,
    .checks = checks,
};
