/* SPDX-License-Identifier: MIT */
/* normalizer_checks.c - the named checks of the normaliser: what each provokes, and with which contents. */
#include <math.h>

#include "check_table.h"
#include "fill.h"
#include "probe.h"
#include "normalizer.h"

/* ---- contents; a and b are the row's parameters -------------------------------------------------------- */

/* A straight line from a to b. */
static void fill_ramp(const assay_fill_args *args, double *x) {
  const int64_t count = args->shape[0];
  const double step = count > 1 ? (args->b - args->a) / (double)(count - 1) : 0;
  for (int64_t i = 0; i < count; i++) x[i] = args->a + step * (double)i;
}

/* Normal elements, and `a` at the place b of the way from the first to the last. */
static void fill_one(const assay_fill_args *args, double *x) {
  const int64_t count = args->shape[0];
  for (int64_t i = 0; i < count; i++) x[i] = assay_rng_normal(args->rng);
  x[(int64_t)(args->b * (double)(count - 1))] = args->a;
}

/* `a` at the place b among nothing but -inf. */
static void fill_one_among_masked(const assay_fill_args *args, double *x) {
  const int64_t count = args->shape[0];
  for (int64_t i = 0; i < count; i++) x[i] = -INFINITY;
  x[(int64_t)(args->b * (double)(count - 1))] = args->a;
}

/* One 0 first, then terms of exp(a): just under half an ulp of 1, so that a single sum never moves from 1. */
static void fill_lost_terms(const assay_fill_args *args, double *x) {
  for (int64_t i = 0; i < args->shape[0]; i++) x[i] = i == 0 ? 0 : args->a;
}

/* +a, -a, 0 and 1 in random order. */
static void fill_limits(const assay_fill_args *args, double *x) {
  const double values[4] = {args->a, -args->a, 0, 1};
  for (int64_t i = 0; i < args->shape[0]; i++) x[i] = values[assay_rng_below(args->rng, 4)];
}

/* Half of the elements subnormal (below a), the others normal numbers around 0. */
static void fill_subnormals(const assay_fill_args *args, double *x) {
  for (int64_t i = 0; i < args->shape[0]; i++) {
    const double sign = assay_rng_below(args->rng, 2) == 0 ? 1 : -1;
    x[i] = i % 2 == 0 ? sign * args->a * assay_rng_uniform(args->rng) : assay_rng_normal(args->rng);
  }
}

/* A share a of the elements is -inf, among them the first b; the last one is not. */
static void fill_masked(const assay_fill_args *args, double *x) {
  const int64_t count = args->shape[0];
  for (int64_t i = 0; i < count; i++) {
    const bool masked = (double)i < args->b || assay_rng_uniform(args->rng) < args->a;
    x[i] = masked && i + 1 < count ? -INFINITY : 2 * assay_rng_normal(args->rng);
  }
}

/* The middle third is masked. */
static void fill_masked_middle(const assay_fill_args *args, double *x) {
  const int64_t count = args->shape[0];
  for (int64_t i = 0; i < count; i++) {
    const bool masked = i >= count / 3 && i < 2 * count / 3;
    x[i] = masked ? -INFINITY : args->b * assay_rng_normal(args->rng);
  }
}

/* Eight levels, each a above the one before, with noise of b. */
static void fill_stairs(const assay_fill_args *args, double *x) {
  const int64_t count = args->shape[0];
  for (int64_t i = 0; i < count; i++) {
    const int64_t level = 8 * i / count;
    x[i] = args->a * (double)level + args->b * assay_rng_uniform(args->rng);
  }
}

/* Normal elements, and one of `a` in the middle of each of eight parts. */
static void fill_peaks(const assay_fill_args *args, double *x) {
  const int64_t part = args->shape[0] / 8;
  for (int64_t i = 0; i < args->shape[0]; i++) {
    x[i] = i % part == part / 2 ? args->a : assay_rng_normal(args->rng);
  }
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

#define SUMMARISE (1u << ASSAY_ONLINE_NORMALIZER_SUMMARISE)
#define MERGE     (1u << ASSAY_ONLINE_NORMALIZER_MERGE)
#define FINISH    (1u << ASSAY_ONLINE_NORMALIZER_FINISH)
#define BOTH_ENDS (SUMMARISE | FINISH)
#define ALL_THREE (SUMMARISE | MERGE | FINISH)
#define WIDE      (FP32 | FP64)

/* elements, types, functions, contents with their parameters */
#define ROW(n, types, which, contents, p, q)                                                                 \
  { .dims = {n}, .dtypes = (types), .layouts = (which), .fill = (contents), .a = (p), .b = (q) }
#define DEGENERATE(n, types, which, contents, p, q)                                                          \
  {                                                                                                          \
    .dims = {n}, .dtypes = (types), .layouts = (which), .fill = (contents), .a = (p), .b = (q),              \
    .degenerate = true                                                                                       \
  }
#define SHIFTED(n, which, by)                                                                                \
  { .dims = {n}, .dtypes = WIDE, .layouts = (which), .fill = assay_fill_normal, .b = 1, .shift = (by) }
#define NORMAL(n, which) ROW(n, WIDE, which, assay_fill_normal, 0, 1)
#define PARTS(n, parts, types, contents, p, q)                                                               \
  { .dims = {n, parts}, .dtypes = (types), .layouts = SUMMARISE, .fill = (contents), .a = (p), .b = (q) }

static const assay_row single_rows[] = {
    ROW(1, WIDE, SUMMARISE | MERGE, assay_fill_constant, 0.7, 0),
    ROW(1, WIDE, SUMMARISE | MERGE, assay_fill_constant, -250, 0),
    DEGENERATE(1, WIDE, FINISH, assay_fill_constant, 88.8, 0),
};
static const assay_row empty_rows[] = {ROW(0, WIDE, SUMMARISE, assay_fill_constant, 0, 0),
                                       DEGENERATE(0, WIDE, MERGE | FINISH, assay_fill_constant, 0, 0)};
static const assay_row vector_edge_rows[] = {
    NORMAL(2, BOTH_ENDS),   NORMAL(3, BOTH_ENDS),   NORMAL(4, BOTH_ENDS),  NORMAL(5, BOTH_ENDS),
    NORMAL(7, BOTH_ENDS),   NORMAL(8, BOTH_ENDS),   NORMAL(9, BOTH_ENDS),  NORMAL(15, BOTH_ENDS),
    NORMAL(16, BOTH_ENDS),  NORMAL(17, BOTH_ENDS),  NORMAL(31, BOTH_ENDS), NORMAL(32, BOTH_ENDS),
    NORMAL(33, BOTH_ENDS),  NORMAL(63, BOTH_ENDS),  NORMAL(64, BOTH_ENDS), NORMAL(65, BOTH_ENDS),
    NORMAL(127, BOTH_ENDS), NORMAL(129, BOTH_ENDS),
};
static const assay_row ragged_rows[] = {NORMAL(101, ALL_THREE), NORMAL(1021, ALL_THREE),
                                        NORMAL(4093, ALL_THREE), NORMAL(12289, ALL_THREE)};
static const assay_row block_edge_rows[] = {
    NORMAL(1023, BOTH_ENDS),  NORMAL(1025, BOTH_ENDS),  NORMAL(4095, BOTH_ENDS),
    NORMAL(4096, BOTH_ENDS),  NORMAL(4097, BOTH_ENDS),  NORMAL(8193, BOTH_ENDS),
    NORMAL(65535, BOTH_ENDS), NORMAL(65537, BOTH_ENDS), NORMAL(131073, BOTH_ENDS)};
static const assay_row equal_rows[] = {ROW(781, WIDE, ALL_THREE & ~FINISH, assay_fill_constant, -2, 0),
                                       ROW(70001, WIDE, SUMMARISE, assay_fill_constant, 3, 0),
                                       DEGENERATE(781, WIDE, FINISH, assay_fill_constant, -2, 0)};
static const assay_row long_sum_rows[] = {ROW(65536, FP32, SUMMARISE, fill_lost_terms, -16.7, 0)};
static const assay_row double_rows[] = {ROW(300, FP64, ALL_THREE, assay_fill_normal, 0, 3),
                                        ROW(5000, FP64, ALL_THREE, assay_fill_normal, 1e6, 1)};
static const assay_row sum_rows[] = {ROW(33, WIDE, FINISH, assay_fill_normal, 0, 2),
                                     ROW(3000, WIDE, FINISH, assay_fill_normal, 50, 4)};
static const assay_row larger_rows[] = {ROW(40, WIDE, FINISH, assay_fill_normal, 0, 2),
                                        ROW(1000, WIDE, FINISH, fill_ramp, -20, 60)};

static const assay_row cut_rows[] = {PARTS(19, 2, WIDE, assay_fill_normal, 0, 2)};
static const assay_row single_part_rows[] = {PARTS(24, 24, WIDE, assay_fill_normal, 0, 3),
                                             PARTS(16, 16, WIDE, fill_ramp, -100, 100)};
static const assay_row left_rows[] = {PARTS(3000, 9, WIDE, assay_fill_normal, 0, 4),
                                      PARTS(500, 11, WIDE, assay_fill_uniform, -1000, 1000)};
static const assay_row balanced_rows[] = {PARTS(3000, 13, WIDE, assay_fill_normal, 0, 4),
                                          PARTS(40, 16, WIDE, assay_fill_normal, -1000, 3)};
static const assay_row random_rows[] = {PARTS(3000, 12, WIDE, assay_fill_normal, 0, 4),
                                        PARTS(30, 17, WIDE, assay_fill_normal, 1000, 3)};
static const assay_row masked_part_rows[] = {PARTS(30, 3, WIDE, fill_masked_middle, 0, 2),
                                             PARTS(3000, 6, WIDE, fill_masked_middle, 0, 300)};
static const assay_row stair_rows[] = {PARTS(80, 8, WIDE, fill_stairs, 1, 1),
                                       PARTS(800, 8, WIDE, fill_stairs, 300, 1),
                                       PARTS(800, 8, WIDE, fill_stairs, -4, 2)};
static const assay_row peak_rows[] = {PARTS(160, 8, WIDE, fill_peaks, 120, 0),
                                      PARTS(4000, 8, WIDE, fill_peaks, 1e5, 0)};
static const assay_row pipeline_rows[] = {PARTS(900, 7, WIDE, assay_fill_normal, 0, 5),
                                          PARTS(64, 8, WIDE, fill_stairs, 2, 3)};

static const assay_row large_rows[] = {ROW(67, WIDE, BOTH_ENDS, assay_fill_uniform, -1000, 1000),
                                       ROW(1025, WIDE, ALL_THREE, assay_fill_normal, 1000, 2),
                                       ROW(65, WIDE, ALL_THREE, assay_fill_normal, -1000, 2)};
static const assay_row limit_rows[] = {ROW(37, FP32, BOTH_ENDS, fill_limits, 3e38, 0),
                                       ROW(300, WIDE, BOTH_ENDS, fill_limits, 3e38, 0),
                                       ROW(300, FP64, BOTH_ENDS, fill_limits, 1.7e308, 0)};
static const assay_row subnormal_rows[] = {ROW(70, FP32, BOTH_ENDS, fill_subnormals, 1e-38, 0),
                                           ROW(70, FP64, BOTH_ENDS, fill_subnormals, 2e-308, 0)};
static const assay_row zero_start_rows[] = {ROW(33, WIDE, ALL_THREE, assay_fill_normal, -200, 2),
                                            ROW(1030, WIDE, ALL_THREE, assay_fill_normal, -110, 1),
                                            ROW(4, FP64, SUMMARISE, assay_fill_normal, -1e6, 1)};
static const assay_row masked_rows[] = {ROW(40, WIDE, BOTH_ENDS, fill_masked, 0.5, 0),
                                        ROW(515, WIDE, BOTH_ENDS, fill_masked, 0.95, 0)};
static const assay_row masked_start_rows[] = {ROW(40, WIDE, BOTH_ENDS, fill_masked, 0.2, 20),
                                              ROW(5000, WIDE, BOTH_ENDS, fill_masked, 0, 4500),
                                              ROW(140000, FP32, SUMMARISE, fill_masked, 0, 70000),
                                              ROW(9, WIDE, SUMMARISE, fill_one_among_masked, 5, 1)};
static const assay_row infinity_rows[] = {ROW(37, WIDE, SUMMARISE, fill_one, INFINITY, 0),
                                          ROW(37, WIDE, SUMMARISE, fill_one, INFINITY, 0.6),
                                          ROW(5001, WIDE, SUMMARISE, fill_one, INFINITY, 1),
                                          ROW(3, WIDE, SUMMARISE, fill_one_among_masked, INFINITY, 0.5),
                                          DEGENERATE(37, WIDE, FINISH, fill_one, INFINITY, 0.5)};
static const assay_row nan_rows[] = {ROW(37, WIDE, SUMMARISE, fill_one, NAN, 0),
                                     ROW(37, WIDE, SUMMARISE, fill_one, NAN, 0.45),
                                     ROW(37, WIDE, SUMMARISE, fill_one, NAN, 1),
                                     ROW(5001, WIDE, SUMMARISE, fill_one, NAN, 0.99),
                                     ROW(9, WIDE, SUMMARISE, fill_one_among_masked, NAN, 0.5),
                                     ROW(70000, FP32, SUMMARISE, fill_one_among_masked, NAN, 1),
                                     DEGENERATE(37, WIDE, FINISH, fill_one, NAN, 0.5)};
static const assay_row rising_rows[] = {
    ROW(70, WIDE, BOTH_ENDS, fill_ramp, -100, 100), ROW(2050, WIDE, BOTH_ENDS, fill_ramp, 0, 300),
    ROW(1000, WIDE, BOTH_ENDS, fill_ramp, 0, 0.5), ROW(20000, WIDE, BOTH_ENDS, fill_ramp, 0, 40)};
static const assay_row falling_rows[] = {ROW(200, FP32, BOTH_ENDS, fill_ramp, 0, -110),
                                         ROW(3000, FP32, BOTH_ENDS, fill_ramp, 5, -100),
                                         ROW(3000, FP64, BOTH_ENDS, fill_ramp, 5, -750)};
static const assay_row dominant_rows[] = {
    ROW(33, WIDE, BOTH_ENDS, fill_one, 30, 0),        ROW(33, WIDE, BOTH_ENDS, fill_one, 30, 0.5),
    ROW(33, WIDE, BOTH_ENDS, fill_one, 30, 0.97),     ROW(33, WIDE, BOTH_ENDS, fill_one, 30, 1),
    ROW(4099, WIDE, BOTH_ENDS, fill_one, 120, 1),     ROW(4099, WIDE, BOTH_ENDS, fill_one, 12, 0.999),
    ROW(70001, FP32, BOTH_ENDS, fill_one, 20, 0.995), ROW(70001, FP32, BOTH_ENDS, fill_one, 20, 0.3)};

static const assay_row whole_rows[] = {NORMAL(1300, FINISH), ROW(33, WIDE, FINISH, fill_masked, 0.9, 0),
                                       NORMAL(50, SUMMARISE | MERGE)};
static const assay_row untouched_rows[] = {NORMAL(300, ALL_THREE)};
static const assay_row misaligned_rows[] = {SHIFTED(35, BOTH_ENDS, 1), SHIFTED(64, BOTH_ENDS, 2),
                                            SHIFTED(130, BOTH_ENDS, 3), SHIFTED(5000, BOTH_ENDS, 1)};
/* Below 0: what an output holds before a call is near 0, and would win if it were merged in. */
static const assay_row repeatable_rows[] = {ROW(40, WIDE, ALL_THREE, assay_fill_normal, -9, 1),
                                            ROW(70000, WIDE, BOTH_ENDS, assay_fill_normal, -9, 1)};
static const assay_row fresh_rows[] = {NORMAL(65, ALL_THREE)};
static const assay_row thread_rows[] = {NORMAL(50, MERGE), NORMAL(9000, BOTH_ENDS),
                                        ROW(140000, FP32, BOTH_ENDS, assay_fill_normal, 0, 1)};
static const assay_row thread_count_rows[] = {ROW(300007, FP32, BOTH_ENDS, assay_fill_normal, 0, 2),
                                              ROW(150001, FP64, BOTH_ENDS, assay_fill_normal, 0, 2)};
static const assay_row streamed_rows[] = {ROW(1048583, FP32, FINISH, assay_fill_normal, 0, 2),
                                          ROW(524295, FP64, FINISH, assay_fill_normal, 0, 2)};
static const assay_row type_rows[] = {{.dtypes = WIDE, .layouts = SUMMARISE}};

/* ---- the table ----------------------------------------------------------------------------------------- */

/* Most rows: the function on its contents, against the oracle. */
#define ON_ROWS(table) ROWS(table), .run = assay_normalizer_on_row

const assay_check assay_normalizer_checks[] = {
    CHECK("values", "worked_example", S, "a formula is wrong", .run = assay_normalizer_worked_example),
    CHECK("values", "single_element", S, "the first element is left out", ON_ROWS(single_rows)),
    CHECK("values", "no_elements", S, "an empty part is an error, or not the empty state",
          ON_ROWS(empty_rows)),
    CHECK("values", "vector_edges", S, "the tail behind the last full vector is wrong",
          ON_ROWS(vector_edge_rows)),
    CHECK("values", "ragged_primes", S, "sizes that are no multiple of anything", ON_ROWS(ragged_rows)),
    CHECK("values", "block_edges", M, "elements are lost or repeated between blocks",
          ON_ROWS(block_edge_rows)),
    CHECK("values", "equal_elements", S, "elements equal to the maximum are counted once",
          ON_ROWS(equal_rows)),
    CHECK("values", "long_sums", S, "one FP32 running sum over all elements loses the small terms",
          ON_ROWS(long_sum_rows)),
    CHECK("values", "double_precision", S, "FP64 elements or states pass through FP32", ON_ROWS(double_rows)),
    CHECK("values", "sums_to_one", S, "summarise and finish disagree about the sum", ROWS(sum_rows),
          .run = assay_normalizer_sums_to_one),
    CHECK("values", "larger_set", S, "finish takes the maximum or sum of its own elements", ROWS(larger_rows),
          .run = assay_normalizer_larger_set),

    CHECK("merging", "known_merges", S, "the factor stands on the wrong side, or has the wrong sign",
          .run = assay_normalizer_known_merges),
    CHECK("merging", "random_states", S, "the merge is right for some pairs only",
          .run = assay_normalizer_random_states),
    CHECK("merging", "empty_identity", S, "merging with the empty state gives NaN or changes a state",
          .run = assay_normalizer_empty_identity),
    CHECK("merging", "empty_leaves", S, "a tree with empty leaves loses the others",
          .run = assay_normalizer_empty_leaves),
    CHECK("merging", "merge_commutes", S, "left and right are not treated alike",
          .run = assay_normalizer_commutes),
    CHECK("merging", "wide_sums", S, "a merged state is rounded to FP32", .run = assay_normalizer_wide_sums),
    CHECK("merging", "every_cut", S, "two parts do not give the whole", ROWS(cut_rows),
          .run = assay_normalizer_every_cut),
    CHECK("merging", "single_element_parts", S, "parts of one element do not add up", ROWS(single_part_rows),
          .run = assay_normalizer_single_elements),
    CHECK("merging", "left_fold", S, "a chain of merges drifts or forgets", ROWS(left_rows),
          .run = assay_normalizer_left_fold),
    CHECK("merging", "right_fold", S, "a chain from the end drifts or forgets", ROWS(left_rows),
          .run = assay_normalizer_right_fold),
    CHECK("merging", "balanced_tree", S, "merged states do not merge again", ROWS(balanced_rows),
          .run = assay_normalizer_balanced_tree),
    CHECK("merging", "random_tree", S, "the order of merges matters beyond rounding", ROWS(random_rows),
          .run = assay_normalizer_random_tree),
    CHECK("merging", "masked_part_between", S, "a part of nothing but -inf poisons its neighbours",
          ROWS(masked_part_rows), .run = assay_normalizer_masked_part),
    CHECK("merging", "rising_parts", S, "the older sum is not rescaled when the maximum rises",
          ROWS(stair_rows), .run = assay_normalizer_rising_parts),
    CHECK("merging", "huge_in_each_part", S, "a maximum that parts share is counted once", ROWS(peak_rows),
          .run = assay_normalizer_huge_in_each_part),
    CHECK("merging", "tree_then_finish", S, "the three functions together are no softmax",
          ROWS(pipeline_rows), .run = assay_normalizer_tree_then_finish),

    CHECK("extremes", "large_elements", S, "the maximum is not subtracted", ON_ROWS(large_rows)),
    CHECK("extremes", "distant_states", S, "far maxima overflow or underflow to NaN",
          .run = assay_normalizer_distant_states),
    CHECK("extremes", "type_limits", S, "the largest finite elements overflow", ON_ROWS(limit_rows)),
    CHECK("extremes", "subnormal_elements", S, "subnormal elements are taken for something else",
          ON_ROWS(subnormal_rows)),
    CHECK("extremes", "finite_stand_in", S, "the maximum starts at a finite stand-in for -inf",
          .run = assay_normalizer_finite_stand_in),
    CHECK("extremes", "zero_start", S, "the maximum starts at 0", ON_ROWS(zero_start_rows)),
    CHECK("extremes", "masked_elements", S, "-inf does not give exact zeros", ON_ROWS(masked_rows)),
    CHECK("extremes", "masked_start", S, "leading -inf elements make the sum NaN",
          ON_ROWS(masked_start_rows)),
    CHECK("extremes", "all_masked", S, "nothing but -inf does not give the empty state", ROWS(type_rows),
          .run = assay_normalizer_all_masked),
    CHECK("extremes", "positive_infinity", S, "+inf gives a plausible finite sum", ON_ROWS(infinity_rows)),
    CHECK("extremes", "nan_elements", S, "a NaN is swallowed by the maximum or becomes it",
          ON_ROWS(nan_rows)),
    CHECK("extremes", "nan_states", S, "a NaN sum is lost in a merge or at the end",
          .run = assay_normalizer_nan_states),
    CHECK("extremes", "empty_state_finish", S, "the empty state gives plausible results",
          .run = assay_normalizer_empty_state_finish),
    CHECK("extremes", "rising_maximum", S, "the running sum is not rescaled when the maximum rises",
          ON_ROWS(rising_rows)),
    CHECK("extremes", "falling_tail", S, "small results are cut off above the subnormals",
          ON_ROWS(falling_rows)),
    CHECK("extremes", "dominant_position", S, "one position is left out of the maximum",
          ON_ROWS(dominant_rows)),

    CHECK("contract", "whole_output", S, "some elements of the output are never written",
          ON_ROWS(whole_rows)),
    CHECK("contract", "inputs_untouched", S, "an input is used as scratch", ON_ROWS(untouched_rows)),
    CHECK("contract", "misaligned_base", S, "vector loads need an aligned base", ON_ROWS(misaligned_rows)),
    CHECK("contract", "repeatable", S, "two calls on the same input differ", ROWS(repeatable_rows),
          .run = assay_normalizer_repeatable),
    CHECK("contract", "fresh_contents", S, "a result of an earlier call is given again", ROWS(fresh_rows),
          .run = assay_normalizer_fresh_contents),
    CHECK("contract", "two_threads", M, "scratch is shared between concurrent calls", ROWS(thread_rows),
          .run = assay_normalizer_two_threads),
    CHECK("contract", "thread_count", M, "the result depends on the number of threads",
          ROWS(thread_count_rows), .run = assay_normalizer_thread_count),

    CHECK("contract", "full_size", L, "indices are computed in 32 bits", .run = assay_normalizer_full_size),
    LIBRARY_CHECK("contract", "random_shapes", L, "a combination of sizes that nobody thought of",
                  .run = assay_normalizer_random_shapes),
    LIBRARY_CHECK("contract", "streamed_output", M, "stores that bypass the caches miss the ends",
                  ON_ROWS(streamed_rows)),
    LIBRARY_CHECK("arguments", "rejects_pointers", S, "NULL or misaligned data reaches a kernel",
                  .run = assay_normalizer_rejects_pointers),
    LIBRARY_CHECK("arguments", "rejects_shapes", S, "a bad rank or size reaches a kernel",
                  .run = assay_normalizer_rejects_shapes),
    LIBRARY_CHECK("arguments", "rejects_dtypes", S, "an element type without a kernel reaches one",
                  .run = assay_normalizer_rejects_dtypes),
    LIBRARY_CHECK("arguments", "rejects_strides", S, "elements with gaps are read as if adjacent",
                  .run = assay_normalizer_rejects_strides),
    LIBRARY_CHECK("arguments", "rejects_span_overflow", S,
                  "an operand larger than the address space reaches a kernel",
                  .run = assay_normalizer_rejects_span_overflow),
    LIBRARY_CHECK("arguments", "rejects_overlap", S, "an output may destroy input that is still to be read",
                  .run = assay_normalizer_rejects_overlap),
    LIBRARY_CHECK("arguments", "rejects_device", S, "memory of another device is used",
                  .run = assay_normalizer_rejects_device),
    {.name = NULL},
};
