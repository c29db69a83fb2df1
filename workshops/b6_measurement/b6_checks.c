/* SPDX-License-Identifier: MIT */
/* b6_checks.c - what `measurement` is judged by: its definition, its operands, its named checks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check_table.h"
#include "fill.h"
#include "half.h"
#include "workshops/beginner.h"

enum { BEFORE = 0, AFTER = 1, WHOLE = 2 };
enum { RESULT = 0 };
enum { BYTES = 0 };
enum { MEDIAN, SPEEDUP, RATE, SHARE, OVERALL, RESULTS };
enum { MOST_SAMPLES = 1000 };

/* ---- operands ------------------------------------------------------------------------------------------ */

static assay_status validate(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_limits limits, assay_message *why) {
  (void)entry, (void)limits;
  const char *const names[] = {"before", "after", "whole"};
  const int64_t bytes = opt != NULL ? opt[BYTES] : 0;
  if (bytes < 1)
    return assay_explain(why, ASSAY_BAD_OPTION, "bytes is %lld; it must be 1 or more", (long long)bytes);
  for (int i = BEFORE; i <= WHOLE; i++) {
    const assay_status status = assay_beginner_packed(&in[i], names[i], FP64, 1, why);
    if (status != ASSAY_OK) return status;
    if (in[i].shape[0] < 1 || in[i].shape[0] > MOST_SAMPLES) {
      return assay_explain(why, ASSAY_BAD_SHAPE, "%s has %lld samples; it must be 1 to %d", names[i],
                           (long long)in[i].shape[0], MOST_SAMPLES);
    }
  }
  assay_status status = assay_beginner_packed(&out[RESULT], "result", FP64, 1, why);
  if (status == ASSAY_OK)
    status = assay_beginner_size(&out[RESULT], "result", 0, RESULTS, "one for each question", why);
  for (int i = BEFORE; i <= WHOLE && status == ASSAY_OK; i++)
    status = assay_beginner_apart(&out[RESULT], "result", &in[i], names[i], why);
  return status;
}

/* A row's sizes are the numbers of samples and the bytes. */
static void plan(const assay_row *row, assay_dtype dtype, int layout, assay_plan *result) {
  (void)layout; /* there is one */
  const int64_t results = RESULTS;
  for (int i = BEFORE; i <= WHOLE; i++) result->in[i] = assay_beginner_operand(dtype, 1, &row->dims[i], 0);
  result->out[RESULT] = assay_beginner_operand(dtype, 1, &results, 0);
  result->opt[BYTES] = row->dims[3];
}

/* ---- definition ---------------------------------------------------------------------------------------- */

static int ascending(const void *left, const void *right) {
  const double a = *(const double *)left;
  const double b = *(const double *)right;
  return a < b ? -1 : a > b ? 1 : 0;
}

static double median_of(const assay_tensor *samples) {
  double sorted[MOST_SAMPLES];
  const int64_t count = samples->shape[0];
  memcpy(sorted, samples->data, sizeof *sorted * (size_t)count);
  qsort(sorted, (size_t)count, sizeof *sorted, ascending);
  return count % 2 == 1 ? sorted[count / 2] : sorted[count / 2 - 1] / 2 + sorted[count / 2] / 2;
}

/*
 * u is 2^-53. A median is off by u at most (the sum of two samples is rounded, the half of it is not), and
 * the oracle's by as much. Quotients add what both sides are off by, and u: the numbers in `roundings` are
 * twice what the lesson counts, since the oracle is rounded too. In the last one 1 - share is off by what
 * share is off by, absolutely, and all of it is divided by a sum that may be small.
 */
static void oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                   int64_t first, int64_t count, double *want, double *allowed) {
  (void)entry, (void)out;
  static const double roundings[] = {[MEDIAN] = 2, [SPEEDUP] = 6, [RATE] = 6, [SHARE] = 6};
  const double before = median_of(&in[BEFORE]);
  const double after = median_of(&in[AFTER]);
  double all[RESULTS];
  double off[RESULTS];
  all[MEDIAN] = before;
  all[SPEEDUP] = before / after;
  all[RATE] = (double)opt[BYTES] / after; /* a byte a nanosecond is 10^9 bytes a second */
  all[SHARE] = before / median_of(&in[WHOLE]);
  const double left = 1 - all[SHARE] + all[SHARE] / all[SPEEDUP];
  all[OVERALL] = 1 / left;
  for (int i = MEDIAN; i <= SHARE; i++) off[i] = roundings[i] * 0x1p-53 * all[i];
  off[OVERALL] = 24 * 0x1p-53 * all[OVERALL] * (1 + (all[SHARE] + all[SHARE] / all[SPEEDUP]) / left);
  for (int64_t i = 0; i < count; i++) {
    want[i] = all[first + i];
    allowed[i] = off[first + i];
  }
}

/* ---- contents; a is the time of one call before, b what it is divided by after ------------------------- */

/* Times around a (before), a / b (after) and 1.6 a (whole), in no order. */
static void fill_times(const assay_fill_args *args, double *values) {
  const double centre = args->operand == BEFORE  ? args->a
                        : args->operand == AFTER ? args->a / args->b
                                                 : 1.6 * args->a;
  for (int64_t i = 0; i < args->shape[0]; i++)
    values[i] = centre * (0.9 + 0.2 * assay_rng_uniform(args->rng));
}

/* The same with one call in seven that was disturbed and took fifty times as long. */
static void fill_disturbed(const assay_fill_args *args, double *values) {
  fill_times(args, values);
  for (int64_t i = args->operand; i < args->shape[0]; i += 7) values[i] *= 50;
}

/* Falling times and then rising ones: the smallest stands in the middle of the list. */
static void fill_valley(const assay_fill_args *args, double *values) {
  double sorted[MOST_SAMPLES];
  const int64_t count = args->shape[0];
  fill_times(args, sorted);
  qsort(sorted, (size_t)count, sizeof *sorted, ascending);
  for (int64_t i = 0; i < count; i++) values[count / 2 + (i % 2 == 0 ? i / 2 : -(i + 1) / 2)] = sorted[i];
}

/* The program is nothing but the part, and every call takes the same time. */
static void fill_nothing_else(const assay_fill_args *args, double *values) {
  for (int64_t i = 0; i < args->shape[0]; i++)
    values[i] = args->operand == AFTER ? args->a / args->b : args->a;
}

/* ---- checks -------------------------------------------------------------------------------------------- */

/* The last result that the check's stage asks for: a learner answers one question after the other. */
static int last_asked(const assay_probe *probe) {
  static const char *const stages[] = {[MEDIAN] = "median", [SPEEDUP] = "speedup", [RATE] = "rate"};
  for (int i = MEDIAN; i <= RATE; i++) {
    if (strcmp(probe->check->stage, stages[i]) == 0) return i;
  }
  return OVERALL;
}

/* The lesson's numbers. They are exact, the results are not: 16 u is more than each may be off by. */
static void worked_example(assay_probe *probe) {
  const double before[] = {90, 300, 100, 110, 80};
  const double after[] = {50, 48, 52, 400};
  const double whole[] = {125};
  const double want[RESULTS] = {[MEDIAN] = 100,
                                [SPEEDUP] = 100 / 51.0,
                                [RATE] = 12000 / 51.0,
                                [SHARE] = 0.8,
                                [OVERALL] = 1 / (0.2 + 0.8 * 51 / 100)};
  const assay_row row = {.dims = {5, 4, 1, 12000}};
  assay_plan case_plan = {0};
  plan(&row, ASSAY_FP64, 0, &case_plan);
  assay_case *operands = assay_probe_make(probe, &case_plan);
  if (operands == NULL || !assay_probe_fill(probe, operands, BEFORE, before)) return;
  if (!assay_probe_fill(probe, operands, AFTER, after) || !assay_probe_fill(probe, operands, WHOLE, whole))
    return;
  if (!assay_probe_run_one(probe, operands)) return;
  for (int i = MEDIAN; i <= last_asked(probe); i++) {
    if (!assay_probe_expect(probe, operands, i, want[i], want[i] * 16 * 0x1p-53)) return;
  }
}

/* The row's case, but only as far as the stage has come. */
static void results_so_far(assay_probe *probe) {
  assay_case *operands = assay_probe_make_row(probe);
  if (!assay_probe_run_one(probe, operands)) return;
  assay_tensor in[WHOLE + 1];
  double want[RESULTS];
  double allowed[RESULTS];
  for (int i = BEFORE; i <= WHOLE; i++) in[i] = assay_probe_in(probe, operands, i);
  const assay_tensor out = assay_probe_out(probe, operands, RESULT);
  oracle(0, in, &out, &probe->row->dims[3], 0, RESULTS, want, allowed);
  for (int i = MEDIAN; i <= last_asked(probe); i++) {
    if (!assay_probe_expect(probe, operands, i, want[i], allowed[i])) return;
  }
}

#define ROW(before, after, whole, bytes, contents, p, q)                                                     \
  {                                                                                                          \
    .dims = {before, after, whole, bytes}, .dtypes = FP64, .layouts = 1, .fill = (contents), .a = (p),       \
    .b = (q)                                                                                                 \
  }
#define PARTS(table) ROWS(table), .run = results_so_far

static const assay_row odd_rows[] = {ROW(7, 5, 9, 4096, fill_times, 812.4, 1.7),
                                     ROW(3, 3, 3, 64, fill_times, 0.31, 2)};
static const assay_row even_rows[] = {ROW(8, 6, 4, 4096, fill_times, 812.4, 1.7),
                                      ROW(2, 2, 2, 64, fill_times, 35, 2)};
/* The median of one sample is that sample: a copy would do. */
static const assay_row single_rows[] = {{.dims = {1, 1, 1, 4096},
                                         .dtypes = FP64,
                                         .layouts = 1,
                                         .fill = fill_times,
                                         .a = 812.4,
                                         .b = 1.7,
                                         .degenerate = true}};
static const assay_row unsorted_rows[] = {ROW(9, 9, 9, 4096, fill_valley, 5000, 3),
                                          ROW(10, 10, 10, 4096, fill_valley, 5e6, 3)};
static const assay_row many_rows[] = {ROW(1000, 1000, 1000, 4096, fill_times, 812.4, 1.7)};
static const assay_row disturbed_rows[] = {ROW(21, 22, 15, 4096, fill_disturbed, 812.4, 1.7)};
static const assay_row slower_rows[] = {ROW(7, 8, 9, 4096, fill_times, 400, 0.6)};
static const assay_row large_rows[] = {ROW(5, 6, 7, INT64_C(48) << 30, fill_times, 3e7, 1.5)};
static const assay_row share_rows[] = {ROW(11, 12, 13, 1 << 20, fill_times, 1e5, 8)};
static const assay_row slower_part_rows[] = {ROW(11, 12, 13, 1 << 20, fill_times, 1e5, 0.25)};
static const assay_row nothing_else_rows[] = {ROW(4, 5, 3, 1 << 20, fill_nothing_else, 1e5, 4)};
static const assay_row fresh_rows[] = {ROW(7, 7, 7, 4096, fill_times, 812.4, 1.7)};

static const assay_check checks[] = {
    CHECK("median", "worked_median", S, "the mean, or another sample, is given", .run = worked_example),
    CHECK("median", "odd_counts", S, "samples are rounded to whole nanoseconds", PARTS(odd_rows)),
    CHECK("median", "even_counts", S, "one of the two middle samples is given, and not their mean",
          PARTS(even_rows)),
    CHECK("median", "single_sample", S, "one sample has no middle pair", PARTS(single_rows)),
    CHECK("median", "unsorted_times", S, "the samples are not sorted, or are sorted where they lie",
          PARTS(unsorted_rows)),
    CHECK("median", "many_samples", S, "a buffer is too small for the samples", PARTS(many_rows)),
    CHECK("speedup", "worked_speedup", S, "the quotient is upside down", .run = worked_example),
    CHECK("speedup", "disturbed_calls", S, "means are compared, and disturbed calls decide",
          PARTS(disturbed_rows)),
    CHECK("speedup", "slower_after", S, "a slowdown is shown as a speedup", PARTS(slower_rows)),
    CHECK("rate", "worked_rate", S, "the unit is not 10^9 bytes a second, or the time is that before",
          .run = worked_example),
    CHECK("rate", "large_bytes", S, "the bytes are held in 32 bits", PARTS(large_rows)),
    CHECK("amdahl", "worked_amdahl", S, "the part's speedup is taken for that of the program",
          .run = worked_example),
    CHECK("amdahl", "program_share", S, "the share is taken from the times after the change",
          PARTS(share_rows)),
    CHECK("amdahl", "slower_part", S, "a program is not allowed to become slower", PARTS(slower_part_rows)),
    CHECK("amdahl", "nothing_else", S, "a part that is the whole program divides by 0",
          PARTS(nothing_else_rows)),
    CHECK("contract", "fresh_contents", S, "a result of an earlier call is given again", ROWS(fresh_rows),
          .run = assay_beginner_fresh_contents),
    {.name = NULL},
};

static const char *const layout_names[] = {"packed"};

const assay_subject assay_measurement_subject = {
    .name = "measurement",
    .summary = "median, speedup, rate and share of the whole, from raw samples",
    .formula = "median; before / after; bytes / after; p = before / whole; 1 / (1 - p + p / speedup)",
    .exports = {{.name = "measurement",
                 .in_names = {"before", "after", "whole"},
                 .in_count = 3,
                 .out_names = {"result"},
                 .out_count = 1}},
    .export_count = 1,
    .opt_names = {"bytes"},
    .opt_count = 1,
    .dim_names = {"before", "after", "whole", "bytes"},
    .dim_count = 4,
    .layout_names = layout_names,
    .layout_count = 1,
    .validate = validate,
    .plan = plan,
    .oracle = oracle,
    .checks = checks,
};
