/* SPDX-License-Identifier: MIT */
/* gemm_checks.c - the named checks of the fused GEMM: what each provokes, and with which contents. */
#include <math.h>

#include "check_table.h"
#include "gemm.h"
#include "probe.h"

/* ---- rows ---------------------------------------------------------------------------------------------- */

#define PACKED     (1u << ASSAY_GEMM_PACKED)
#define PADDED_A   (1u << ASSAY_GEMM_PADDED_A)
#define PADDED_B   (1u << ASSAY_GEMM_PADDED_B)
#define PADDED     (1u << ASSAY_GEMM_PADDED)
#define REPEATED_A (1u << ASSAY_GEMM_REPEATED_A)
#define REPEATED_B (1u << ASSAY_GEMM_REPEATED_B)
#define WINDOWS    (1u << ASSAY_GEMM_WINDOWS)
#define BOTH       ASSAY_HAS_16BIT

/* m, n, k, types, layouts, contents with their parameters; then, where given, more fields */
#define ROW(m, n, k, types, where, contents, p, q, ...)                                                      \
  {                                                                                                          \
    .dims = {m, n, k}, .dtypes = (types), .layouts = (where), .fill = (contents), .a = (p), .b = (q),        \
    __VA_ARGS__                                                                                              \
  }
#define NORMAL(m, n, k)           ROW(m, n, k, BOTH, PACKED, assay_gemm_fill_normal, 0, 0, )
#define LAID_OUT(m, n, k, where)  ROW(m, n, k, BOTH, where, assay_gemm_fill_normal, 0, 0, )
#define KNOBS(m, n, k, group, tm) ROW(m, n, k, BOTH, PACKED, assay_gemm_fill_normal, 0, 0, .opt = {group, tm})
#define OUTER(m, n, group, tm)    ROW(m, n, 16, BOTH, PACKED, assay_gemm_fill_outer, 0, 0, .opt = {group, tm})
#define ONES(m, n, k)                                                                                        \
  ROW(m, n, k, BOTH, PACKED, assay_gemm_fill_ones, 1 - (k), 0, ),                                            \
      ROW(m, n, k, BOTH, PACKED, assay_gemm_fill_ones, 1 - (k), 0, .opt = {1, 16})
#define SPLIT(m, n, k)                                                                                       \
  ROW(m, n, k, FP16, PACKED, assay_gemm_fill_split, 2048, 0, ),                                              \
      ROW(m, n, k, BF16, PACKED, assay_gemm_fill_split, 256, 0, )
#define BALANCED(m, n, k)                                                                                    \
  ROW(m, n, k, FP16, PACKED, assay_gemm_fill_balanced, 2048, 64, ),                                          \
      ROW(m, n, k, BF16, PACKED, assay_gemm_fill_balanced, 256, 16, )

/* A, then B of more than 2^31 elements; of B, 256 rows lie behind these. */
static const assay_row huge_rows[] = {ROW(278528, 8, 8192, FP16, PACKED, assay_gemm_fill_normal, 0, 0, ),
                                      ROW(2, 524296, 4352, FP16, PACKED, assay_gemm_fill_normal, 0, 0, )};
static const assay_row single_rows[] = {
    ROW(1, 1, 1, BOTH, PACKED, assay_gemm_fill_normal, 0, 0, .degenerate = true),
    ROW(1, 1, 37, BOTH, PACKED, assay_gemm_fill_normal, 0, 0, .degenerate = true),
    NORMAL(1, 2, 1),
    NORMAL(2, 1, 1),
    NORMAL(1, 200, 3),
    NORMAL(200, 1, 3),
    NORMAL(1, 65, 130),
    NORMAL(65, 1, 130),
    NORMAL(3, 5, 1),
    NORMAL(2, 70, 9), /* few rows, few columns: a kernel may have a path of its own for them */
    NORMAL(3, 129, 65),
    NORMAL(4, 64, 8),
    NORMAL(70, 2, 65),
    NORMAL(70, 3, 130),
    NORMAL(9, 4, 191),
};
static const assay_row row_tail_rows[] = {
    NORMAL(2, 33, 5),  NORMAL(3, 33, 5),  NORMAL(4, 33, 5),  NORMAL(5, 33, 5),  NORMAL(6, 33, 5),
    NORMAL(7, 33, 5),  NORMAL(8, 33, 5),  NORMAL(9, 33, 5),  NORMAL(11, 33, 5), NORMAL(12, 33, 5),
    NORMAL(13, 33, 5), NORMAL(14, 33, 5), NORMAL(15, 33, 5), NORMAL(16, 33, 5), NORMAL(17, 33, 5),
    NORMAL(27, 33, 5), NORMAL(28, 33, 5), NORMAL(29, 33, 5), NORMAL(31, 33, 5), NORMAL(32, 33, 5),
    NORMAL(33, 33, 5), NORMAL(55, 33, 5), NORMAL(56, 33, 5), NORMAL(57, 33, 5), NORMAL(63, 33, 5),
    NORMAL(64, 33, 5), NORMAL(65, 33, 5), NORMAL(127, 9, 5), NORMAL(128, 9, 5), NORMAL(129, 9, 5),
};
static const assay_row column_tail_rows[] = {
    NORMAL(5, 2, 7),   NORMAL(5, 3, 7),   NORMAL(5, 7, 7),   NORMAL(5, 8, 7),   NORMAL(5, 9, 7),
    NORMAL(5, 15, 7),  NORMAL(5, 16, 7),  NORMAL(5, 17, 7),  NORMAL(5, 31, 7),  NORMAL(5, 32, 7),
    NORMAL(5, 33, 7),  NORMAL(5, 47, 7),  NORMAL(5, 48, 7),  NORMAL(5, 49, 7),  NORMAL(5, 63, 7),
    NORMAL(5, 64, 7),  NORMAL(5, 65, 7),  NORMAL(5, 127, 7), NORMAL(5, 128, 7), NORMAL(5, 129, 7),
    NORMAL(3, 255, 7), NORMAL(3, 256, 7), NORMAL(3, 257, 7),
};
static const assay_row depth_tail_rows[] = {
    NORMAL(7, 19, 2),   NORMAL(7, 19, 3),   NORMAL(7, 19, 7),   NORMAL(7, 19, 8),   NORMAL(7, 19, 9),
    NORMAL(7, 19, 15),  NORMAL(7, 19, 16),  NORMAL(7, 19, 17),  NORMAL(7, 19, 31),  NORMAL(7, 19, 32),
    NORMAL(7, 19, 33),  NORMAL(7, 19, 63),  NORMAL(7, 19, 64),  NORMAL(7, 19, 65),  NORMAL(7, 19, 127),
    NORMAL(7, 19, 128), NORMAL(7, 19, 129), NORMAL(7, 19, 255), NORMAL(7, 19, 257), NORMAL(7, 19, 383),
    NORMAL(7, 19, 384), NORMAL(7, 19, 385), NORMAL(7, 19, 511), NORMAL(7, 19, 513), NORMAL(7, 19, 769),
};
static const assay_row ragged_rows[] = {NORMAL(13, 101, 17), NORMAL(101, 13, 31), NORMAL(61, 67, 71),
                                        NORMAL(17, 19, 211)};
/* The last two are large enough for the largest tiles in the emulator, which has eight multiprocessors. */
static const assay_row many_tile_rows[] = {NORMAL(130, 131, 1100), NORMAL(300, 70, 40), NORMAL(70, 300, 40),
                                           NORMAL(639, 109, 72), NORMAL(70, 1030, 136)};
static const assay_row tall_rows[] = {NORMAL(2053, 5, 3), NORMAL(1037, 33, 9)};
static const assay_row wide_rows[] = {NORMAL(5, 4099, 3), NORMAL(3, 2081, 9)};
static const assay_row bias_rows[] = {
    ROW(5, 37, 4, BOTH, PACKED, assay_gemm_fill_ones, 100, 0, .degenerate = true), /* 4 + 100 */
    NORMAL(9, 40, 1000),
    NORMAL(70, 70, 800),
};
static const assay_row fp16_rows[] = {
    ROW(19, 130, 9, FP16, PACKED, assay_gemm_fill_positive, 0, 0, ),
    ROW(33, 65, 64, FP16, PACKED, assay_gemm_fill_normal, 100, 0, ),
};
static const assay_row bf16_rows[] = {
    ROW(19, 130, 9, BF16, PACKED, assay_gemm_fill_positive, 0, 0, ),
    ROW(33, 65, 64, BF16, PACKED, assay_gemm_fill_normal, 1e6, 0, ),
};
static const assay_row integer_rows[] = {BALANCED(17, 33, 65), BALANCED(70, 50, 257), BALANCED(3, 70, 257),
                                         BALANCED(70, 3, 257), BALANCED(15, 131, 1000)};
static const assay_row long_rows[] = {
    ROW(3, 9, 16384, BOTH, PACKED, assay_gemm_fill_positive, 0, 0, ),
    ROW(2, 7, 8192, FP16, PACKED, assay_gemm_fill_normal, 0, 0, ),
};
static const assay_row long_integer_rows[] = {BALANCED(15, 13, 8191)};
static const assay_row split_rows[] = {SPLIT(1, 1, 32),     SPLIT(1, 1, 64),     SPLIT(1, 1, 1024),
                                       SPLIT(1, 1, 4096),   SPLIT(1, 1, 16384),  SPLIT(3, 5, 4096),
                                       SPLIT(129, 129, 32), SPLIT(129, 129, 64), SPLIT(17, 129, 1024)};

static const assay_row padded_a_rows[] = {LAID_OUT(9, 17, 13, PADDED_A), LAID_OUT(70, 40, 65, PADDED_A)};
static const assay_row padded_b_rows[] = {LAID_OUT(9, 17, 13, PADDED_B), LAID_OUT(40, 70, 65, PADDED_B)};
static const assay_row padded_rows[] = {LAID_OUT(9, 17, 13, PADDED), LAID_OUT(65, 130, 33, PADDED),
                                        LAID_OUT(15, 33, 400, PADDED), LAID_OUT(3, 70, 65, PADDED),
                                        LAID_OUT(70, 3, 65, PADDED)};
static const assay_row repeated_a_rows[] = {LAID_OUT(9, 17, 13, REPEATED_A), LAID_OUT(65, 66, 40, REPEATED_A),
                                            LAID_OUT(3, 70, 65, REPEATED_A)};
static const assay_row repeated_b_rows[] = {LAID_OUT(9, 17, 13, REPEATED_B), LAID_OUT(40, 66, 65, REPEATED_B),
                                            LAID_OUT(70, 3, 65, REPEATED_B)};
static const assay_row window_rows[] = {LAID_OUT(9, 17, 13, WINDOWS), LAID_OUT(40, 66, 65, WINDOWS)};
static const assay_row misaligned_rows[] = {
    ROW(17, 35, 33, BOTH, PACKED | PADDED, assay_gemm_fill_normal, 0, 0, .shift = 1),
    ROW(16, 64, 64, BOTH, PACKED, assay_gemm_fill_normal, 0, 0, .shift = 2),
    ROW(14, 32, 128, BOTH, PACKED | PADDED, assay_gemm_fill_normal, 0, 0, .shift = 3),
};

#define SPECIAL(m, n, k, contents, value) ROW(m, n, k, BOTH, PACKED, contents, value, 0, )
static const assay_row nan_rows[] = {
    SPECIAL(9, 37, 21, assay_gemm_fill_special_a, NAN),
    SPECIAL(9, 37, 21, assay_gemm_fill_special_b, NAN),
    SPECIAL(9, 37, 21, assay_gemm_fill_special_bias, NAN),
    SPECIAL(33, 66, 400, assay_gemm_fill_special_a, NAN),
    SPECIAL(33, 66, 400, assay_gemm_fill_special_b, NAN),
    SPECIAL(4, 66, 40, assay_gemm_fill_special_b, NAN),
    SPECIAL(66, 4, 70, assay_gemm_fill_special_b, NAN),
};
static const assay_row infinity_rows[] = {
    SPECIAL(9, 37, 21, assay_gemm_fill_special_a, INFINITY),
    SPECIAL(9, 37, 21, assay_gemm_fill_special_a, -INFINITY),
    SPECIAL(9, 37, 21, assay_gemm_fill_special_b, INFINITY),
    SPECIAL(9, 37, 21, assay_gemm_fill_special_bias, INFINITY),
    SPECIAL(9, 37, 21, assay_gemm_fill_special_bias, -INFINITY),
    SPECIAL(33, 66, 400, assay_gemm_fill_special_b, -INFINITY),
    ROW(9, 37, 21, BOTH, PACKED, assay_gemm_fill_special_b, INFINITY, 1, ), /* 0 * infinity is NaN */
};
static const assay_row around_zero_rows[] = {SPECIAL(17, 33, 65, assay_gemm_fill_cancelling, 0),
                                             SPECIAL(15, 31, 255, assay_gemm_fill_cancelling, 0)};
/* Subnormal factors with normal results, and subnormal FP16 results, which may not become 0. */
static const assay_row subnormal_rows[] = {
    ROW(9, 33, 17, FP16, PACKED, assay_gemm_fill_subnormal, 5e-5, 8, ),
    ROW(9, 33, 17, FP16, PACKED, assay_gemm_fill_subnormal, 5e-5, 0.01, ),
    ROW(9, 33, 17, FP16, PACKED, assay_gemm_fill_subnormal, 0.01, 5e-5, ),
    ROW(9, 33, 17, BF16, PACKED, assay_gemm_fill_subnormal, 8e-39, 1e6, ),
    ROW(9, 33, 17, BF16, PACKED, assay_gemm_fill_subnormal, 1e6, 8e-39, ),
    /* In BF16 a normal sum of subnormal products, and a single step whose factor is subnormal. */
    ROW(9, 33, 401, BF16, PACKED, assay_gemm_fill_subnormal, 3e-20, 3e-19, ),
    ROW(9, 33, 17, BF16, PACKED, assay_gemm_fill_subnormal_step, 4e-39, 2.5e38, ),
    ROW(17, 66, 400, BF16, PACKED, assay_gemm_fill_subnormal_step, 2e38, 5e-39, ),
};
static const assay_row large_rows[] = {
    ROW(9, 33, 21, BF16, PACKED, assay_gemm_fill_normal, 1e35, 0, ),
    ROW(9, 33, 21, BF16, PACKED, assay_gemm_fill_normal, 1e-33, 0, ),
    ROW(9, 33, 21, FP16, PACKED, assay_gemm_fill_normal, 1500, 0, ),
};

static const assay_row knob_rows[] = {
    KNOBS(67, 70, 33, 1, 0),  KNOBS(67, 70, 33, 4, 0),    KNOBS(67, 70, 33, 8, 0),
    KNOBS(67, 70, 33, 0, 16), KNOBS(67, 70, 33, 0, 32),   KNOBS(67, 70, 33, 0, 64),
    KNOBS(15, 9, 3, 8, 16),   KNOBS(150, 40, 400, 4, 64), KNOBS(200, 300, 20, 1, 32),
};
static const assay_row same_bits_rows[] = {SPECIAL(150, 70, 43, assay_gemm_fill_cancelling, 1),
                                           SPECIAL(67, 40, 401, assay_gemm_fill_cancelling, 1)};
/* 5 tiles less a row by 7 tiles less three columns; fewer tiles than a group; one tile. */
static const assay_row order_rows[] = {
    OUTER(79, 445, 1, 16),  OUTER(79, 445, 4, 16),  OUTER(79, 445, 8, 16),  OUTER(159, 221, 4, 32),
    OUTER(159, 221, 8, 32), OUTER(319, 109, 4, 64), OUTER(319, 109, 8, 64), OUTER(35, 445, 4, 16),
    OUTER(17, 9, 8, 16),    OUTER(16, 445, 8, 16),  OUTER(193, 109, 4, 16), OUTER(639, 109, 4, 0),
};
/* Full groups of tiles and a last one of fewer rows, small enough for the emulator. */
static const assay_row last_group_rows[] = {OUTER(79, 189, 4, 16), OUTER(143, 125, 8, 16),
                                            OUTER(159, 125, 4, 32), OUTER(275, 125, 8, 32),
                                            OUTER(319, 125, 4, 64)};
/* Several warps, several steps along k and incomplete tiles, for every height of a tile. */
static const assay_row schedule_rows[] = {KNOBS(33, 70, 70, 4, 16), KNOBS(67, 70, 100, 4, 32),
                                          KNOBS(67, 70, 100, 4, 64)};
static const assay_row stream_rows[] = {KNOBS(67, 70, 100, 0, 0), LAID_OUT(129, 257, 70, PADDED)};
static const assay_row whole_output_rows[] = {NORMAL(11, 130, 9), NORMAL(130, 11, 9)};
static const assay_row untouched_rows[] = {LAID_OUT(16, 50, 30, PACKED | PADDED), NORMAL(70, 70, 70)};
static const assay_row stale_rows[] = {ONES(17, 17, 17),    ONES(63, 63, 63),    ONES(65, 65, 65),
                                       ONES(127, 127, 127), ONES(129, 129, 129), ONES(1, 257, 257),
                                       ONES(257, 1, 257)};
static const assay_row repeatable_rows[] = {NORMAL(70, 90, 100), LAID_OUT(33, 65, 400, PADDED)};
static const assay_row fresh_rows[] = {NORMAL(12, 65, 30)};
static const assay_row thread_rows[] = {NORMAL(64, 70, 1200)};
static const assay_row thread_count_rows[] = {SPECIAL(301, 257, 17, assay_gemm_fill_cancelling, 1),
                                              SPECIAL(60, 120, 801, assay_gemm_fill_cancelling, 1),
                                              SPECIAL(3, 401, 257, assay_gemm_fill_cancelling, 1),
                                              SPECIAL(401, 3, 257, assay_gemm_fill_cancelling, 1)};

static const assay_row sanitize_rows[] = {
    NORMAL(17, 35, 33), LAID_OUT(33, 66, 40, PADDED), KNOBS(34, 130, 24, 4, 16),
    ROW(16, 64, 64, FP16, PACKED, assay_gemm_fill_normal, 0, 0, .shift = 1)};

/* ---- the table ----------------------------------------------------------------------------------------- */

const assay_check assay_gemm_checks[] = {
    CHECK("values", "worked_example", S, "the formula is wrong", .run = assay_gemm_worked_example),
    CHECK("values", "bias_before_relu", S, "relu comes before the bias", .run = assay_gemm_bias_before_relu),
    CHECK("values", "single_elements", S, "m, n or k of 1 takes a wrong path", ROWS(single_rows)),
    CHECK("values", "row_tails", S, "the rows behind the last whole tile are wrong", ROWS(row_tail_rows)),
    CHECK("values", "column_tails", S, "the columns behind the last whole tile are wrong",
          ROWS(column_tail_rows)),
    CHECK("values", "depth_tails", S, "the steps behind the last whole block of k are wrong",
          ROWS(depth_tail_rows)),
    CHECK("values", "ragged_primes", S, "sizes that are no multiple of anything", ROWS(ragged_rows)),
    CHECK("values", "many_tiles", M, "a block of k is lost, or added to the wrong tile",
          ROWS(many_tile_rows)),
    CHECK("values", "tall_matrix", M, "rows are lost between blocks or threads", ROWS(tall_rows)),
    CHECK("values", "wide_matrix", M, "a buffer for a row of B or C is too short", ROWS(wide_rows)),
    CHECK("values", "depth_zero", S, "with k = 0 the result is 0 instead of relu(bias)",
          .run = assay_gemm_depth_zero),
    CHECK("values", "empty_output", S, "m or n of 0 is an error or writes", .run = assay_gemm_empty_output),
    CHECK("values", "bias_once", S, "the bias is added once for every block of k, or not at all",
          ROWS(bias_rows)),
    CHECK("values", "sixteen_bit_sum", S, "the sum is held in 16 bits", .run = assay_gemm_sixteen_bit_sum),
    CHECK("values", "rounded_before_bias", S, "the sum is rounded to 16 bits before the bias is added",
          .run = assay_gemm_rounded_before_bias),
    CHECK("values", "ties_to_even", S, "a result halfway between two numbers is always rounded upward",
          .run = assay_gemm_ties_to_even),
    CHECK("values", "fp16_rounding", S, "FP16 results are truncated", ROWS(fp16_rows)),
    CHECK("values", "bf16_rounding", S, "BF16 results are truncated", ROWS(bf16_rows)),
    CHECK("values", "exact_integers", S, "sums or products are held in fewer bits than FP32 has",
          ROWS(integer_rows), .run = assay_gemm_exact_rows),
    CHECK("values", "split_k_partials", M, "partial sums along k are rounded to 16 bits", ROWS(split_rows),
          .run = assay_gemm_exact_rows),
    CHECK("values", "long_k", M, "a long sum stops growing", ROWS(long_rows)),
    CHECK("values", "long_k_exact", M, "a long sum loses bits that FP32 holds", ROWS(long_integer_rows),
          .run = assay_gemm_exact_rows),

    CHECK("layouts", "padded_a", S, "the row stride of A is taken to be k", ROWS(padded_a_rows)),
    CHECK("layouts", "padded_b", S, "the row stride of B is taken to be n", ROWS(padded_b_rows)),
    CHECK("layouts", "padded_both", S, "one operand's row stride is used for the other", ROWS(padded_rows)),
    CHECK("layouts", "repeated_rows_of_a", S, "row stride 0 of A is taken for packed", ROWS(repeated_a_rows)),
    CHECK("layouts", "repeated_rows_of_b", S, "row stride 0 of B is taken for packed", ROWS(repeated_b_rows)),
    CHECK("layouts", "overlapping_windows", S, "a row stride below the width is \"corrected\"",
          ROWS(window_rows)),
    CHECK("layouts", "two_byte_rows", S, "wide loads need rows at even addresses",
          .run = assay_gemm_two_byte_rows),
    CHECK("layouts", "misaligned_base", S, "vector loads need an aligned base", ROWS(misaligned_rows)),

    CHECK("extremes", "nan_through_relu", S, "relu turns NaN into 0", ROWS(nan_rows)),
    CHECK("extremes", "infinities", S, "an infinity is clamped, or spreads to its neighbours",
          ROWS(infinity_rows)),
    CHECK("extremes", "around_zero", S, "negative sums do not become exactly 0", ROWS(around_zero_rows),
          .run = assay_gemm_exact_rows),
    CHECK("extremes", "subnormals", S, "subnormal factors or results are flushed to 0", ROWS(subnormal_rows)),
    CHECK("extremes", "large_and_small", S, "the range of the type is not used to its ends",
          ROWS(large_rows)),
    CHECK("extremes", "fp16_overflow", S, "results beyond the largest number are clamped to it",
          .run = assay_gemm_fp16_overflow),
    CHECK("extremes", "passing_overflow", S, "a sum overflows FP16 on its way to a small result",
          .run = assay_gemm_passing_overflow),

    CHECK("contract", "knob_values", S, "a value of a knob is refused, or loses tiles", ROWS(knob_rows)),
    CHECK("contract", "knobs_same_bits", M, "a knob changes the sums", ROWS(same_bits_rows),
          .run = assay_gemm_knobs_same_bits),
    /* facebookexperimental/triton#1071, triton-lang/triton#4008 and #1896, flashinfer-ai/flashinfer#3283 */
    CHECK("contract", "tile_order", M, "the short last group of tiles is walked as if it were full",
          ROWS(order_rows), .run = assay_gemm_exact_rows),
    CHECK("contract", "whole_output", S, "some elements of the output are never written",
          ROWS(whole_output_rows)),
    CHECK("contract", "stale_output", S, "earlier contents of c come back in incomplete tiles",
          ROWS(stale_rows), .run = assay_gemm_stale_output),
    CHECK("contract", "inputs_untouched", S, "an input is used as scratch", ROWS(untouched_rows)),
    CHECK("contract", "repeatable", S, "two calls on the same inputs differ", ROWS(repeatable_rows),
          .run = assay_gemm_repeatable),
    CHECK("contract", "fresh_contents", S, "a result or operand of an earlier call is used again",
          ROWS(fresh_rows), .run = assay_gemm_fresh_contents),
    CHECK("contract", "two_threads", M, "scratch is shared between concurrent calls", ROWS(thread_rows),
          .run = assay_gemm_two_threads),
    CHECK("contract", "thread_count", M, "the result depends on the number of threads",
          ROWS(thread_count_rows), .run = assay_gemm_thread_count),
    CHECK("contract", "large_strides", M, "offsets are computed in 32 bits", .run = assay_gemm_large_strides),
    BACKEND_CHECK("contract", "short_last_group", S, ASSAY_ON_SIMT | ASSAY_ON_CUDA,
                  "blocks take tiles of a last group as if it were full", ROWS(last_group_rows),
                  .run = assay_gemm_exact_rows),
    BACKEND_CHECK("contract", "thread_orders", S, ASSAY_ON_SIMT,
                  "the result depends on which thread or block comes first", ROWS(schedule_rows),
                  .run = assay_probe_thread_orders),
    BACKEND_CHECK("contract", "busy_stream", S, ASSAY_ON_CUDA, "the call waits for the whole device",
                  ROWS(stream_rows), .run = assay_probe_busy_stream),
    BACKEND_CHECK("contract", "graph_replay", S, ASSAY_ON_CUDA,
                  "the call cannot be captured, or a graph of it keeps old contents", ROWS(stream_rows),
                  .run = assay_probe_graph_replay),
    /* Too much for the emulator, which takes millions of elements a second. */
    BACKEND_CHECK("contract", "full_size", L, ASSAY_ON_CPU | ASSAY_ON_CUDA,
                  "output indices are computed in 32 bits", .run = assay_gemm_full_size),
    BACKEND_CHECK("contract", "full_inputs", L, ASSAY_ON_CUDA, "input indices are computed in 32 bits",
                  ROWS(huge_rows), .run = assay_probe_huge),
    BACKEND_CHECK("contract", "random_shapes", L, ASSAY_ON_CPU | ASSAY_ON_CUDA,
                  "a combination of sizes that nobody thought of", .scope = ASSAY_SCOPE_LIBRARY,
                  .run = assay_gemm_random_shapes),
    LIBRARY_CHECK("arguments", "rejects_pointers", S, "NULL or misaligned data reaches a kernel",
                  .run = assay_gemm_rejects_pointers),
    LIBRARY_CHECK("arguments", "rejects_shapes", S, "a bad rank or sizes that do not fit reach a kernel",
                  .run = assay_gemm_rejects_shapes),
    LIBRARY_CHECK("arguments", "rejects_dtypes", S, "an element type without a kernel reaches one",
                  .run = assay_gemm_rejects_dtypes),
    LIBRARY_CHECK("arguments", "rejects_strides", S, "a stride that no kernel follows reaches one",
                  .run = assay_gemm_rejects_strides),
    LIBRARY_CHECK("arguments", "rejects_span_overflow", S,
                  "a view larger than the address space reaches a kernel",
                  .run = assay_gemm_rejects_span_overflow),
    LIBRARY_CHECK("arguments", "rejects_output_layout", S, "an output with gaps is written as if packed",
                  .run = assay_gemm_rejects_output_layout),
    LIBRARY_CHECK("arguments", "rejects_overlap", S, "the output may destroy input that is still to be read",
                  .run = assay_gemm_rejects_overlap),
    LIBRARY_CHECK("arguments", "rejects_device", S, "memory of another device is used",
                  .run = assay_gemm_rejects_device),
    LIBRARY_CHECK("arguments", "rejects_options", S, "a knob's value that does not exist is ignored",
                  .run = assay_gemm_rejects_options),
    LIBRARY_CHECK("arguments", "unread_operands", S, "memory that a size of 0 leaves unread is asked for",
                  .run = assay_gemm_unread_operands),
    SANITIZE_CHECKS(sanitize_rows),
    {.name = NULL},
};
