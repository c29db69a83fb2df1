/* SPDX-License-Identifier: MIT */
/* vjp_checks.c - the named checks of softmax_backward: what each provokes, and with which contents. */
#include <math.h>

#include "check_table.h"
#include "fill.h"
#include "probe.h"
#include "vjp.h"

/* ---- rows ---------------------------------------------------------------------------------------------- */

enum {
  PACKED = 1 << ASSAY_VJP_PACKED,
  TRANSPOSED = 1 << ASSAY_VJP_TRANSPOSED,
  Y_SLICED = 1 << ASSAY_VJP_Y_SLICED,
  G_SLICED = 1 << ASSAY_VJP_G_SLICED,
  SLICED = 1 << ASSAY_VJP_SLICED,
  Y_TRANSPOSED = 1 << ASSAY_VJP_Y_TRANSPOSED,
  G_TRANSPOSED = 1 << ASSAY_VJP_G_TRANSPOSED,
  SLICED_T = 1 << ASSAY_VJP_SLICED_T,
  STEPPED = 1 << ASSAY_VJP_STEPPED,
  GENERAL = 1 << ASSAY_VJP_GENERAL,
  WINDOWS = 1 << ASSAY_VJP_WINDOWS,
  ROW_BROADCAST = 1 << ASSAY_VJP_Y_ROW_BROADCAST | 1 << ASSAY_VJP_G_ROW_BROADCAST,
  COLUMN_BROADCAST = 1 << ASSAY_VJP_Y_COLUMN_BROADCAST | 1 << ASSAY_VJP_G_COLUMN_BROADCAST,
  BOTH_WAYS = PACKED | TRANSPOSED,
};

#define ROW(rows_, columns_, dtypes_, layouts_, fill_, a_, b_)                                               \
  {                                                                                                          \
    .dims = {(rows_), (columns_)}, .dtypes = (dtypes_), .layouts = (layouts_), .fill = (fill_), .a = (a_),   \
    .b = (b_)                                                                                                \
  }
#define DEGENERATE(rows_, columns_, dtypes_, layouts_, fill_, a_, b_)                                        \
  {                                                                                                          \
    .dims = {(rows_), (columns_)}, .dtypes = (dtypes_), .layouts = (layouts_), .fill = (fill_), .a = (a_),   \
    .b = (b_), .degenerate = true                                                                            \
  }
#define SHIFTED(rows_, columns_, dtypes_, layouts_, shift_)                                                  \
  {                                                                                                          \
    .dims = {(rows_), (columns_)}, .dtypes = (dtypes_), .layouts = (layouts_), .fill = assay_vjp_fill_pair,  \
    .a = 1, .b = 1, .shift = (shift_)                                                                        \
  }
#define PAIR(rows_, columns_, dtypes_, layouts_)                                                             \
  ROW(rows_, columns_, dtypes_, layouts_, assay_vjp_fill_pair, 1, 1)

/* 2^31 elements and 64 rows more. */
static const assay_row huge_rows[] = {PAIR(524352, 4096, FP16, PACKED)};
static const assay_row single_column_rows[] = {PAIR(5, 1, FLOATS, BOTH_WAYS | GENERAL)};
static const assay_row vector_edge_rows[] = {
    PAIR(3, 2, FLOATS, PACKED),   PAIR(3, 3, FLOATS, PACKED),   PAIR(3, 4, FLOATS, PACKED),
    PAIR(3, 5, FLOATS, PACKED),   PAIR(3, 7, FLOATS, PACKED),   PAIR(3, 8, FLOATS, PACKED),
    PAIR(3, 9, FLOATS, PACKED),   PAIR(3, 15, FLOATS, PACKED),  PAIR(3, 16, FLOATS, PACKED),
    PAIR(3, 17, FLOATS, PACKED),  PAIR(3, 31, FLOATS, PACKED),  PAIR(3, 32, FLOATS, PACKED),
    PAIR(3, 33, FLOATS, PACKED),  PAIR(3, 63, FLOATS, PACKED),  PAIR(3, 64, FLOATS, PACKED),
    PAIR(3, 65, FLOATS, PACKED),  PAIR(2, 127, FLOATS, PACKED), PAIR(2, 128, FLOATS, PACKED),
    PAIR(2, 129, FLOATS, PACKED), PAIR(2, 257, FLOATS, PACKED),
};
static const assay_row ragged_rows[] = {PAIR(13, 101, FLOATS, PACKED), PAIR(7, 1021, FLOATS, PACKED),
                                        PAIR(3, 4093, FLOATS, PACKED), PAIR(17, 19, FLOATS, BOTH_WAYS)};
static const assay_row widest_rows[] = {PAIR(3, 8191, FLOATS, PACKED), PAIR(2, 8192, FLOATS, BOTH_WAYS)};
static const assay_row many_rows[] = {PAIR(1031, 3, FLOATS, BOTH_WAYS), PAIR(2053, 33, FP32, BOTH_WAYS)};
/* Strips of a GPU that small views do not get: whole ones, and such that clusters of two and four blocks
 * share. */
static const assay_row tall_rows[] = {PAIR(1032, 520, FLOATS, TRANSPOSED), PAIR(2056, 1032, BF16, TRANSPOSED),
                                      PAIR(500, 1601, FP16, TRANSPOSED)};
static const assay_row no_rows[] = {DEGENERATE(0, 5, FLOATS, PACKED, assay_vjp_fill_pair, 1, 1),
                                    DEGENERATE(0, 8192, FP32, TRANSPOSED, assay_vjp_fill_pair, 1, 1)};
static const assay_row fp16_rows[] = {ROW(3, 4096, FP16, PACKED, assay_vjp_fill_pair, 2, 1),
                                      ROW(5, 257, FP16, BOTH_WAYS, assay_vjp_fill_pair, 1, 3)};
static const assay_row bf16_rows[] = {ROW(4, 1000, BF16, PACKED, assay_vjp_fill_pair, 1, 1),
                                      ROW(5, 65, BF16, BOTH_WAYS, assay_vjp_fill_pair, 1, 2)};
static const assay_row as_given_rows[] = {ROW(5, 33, FLOATS, BOTH_WAYS, assay_vjp_fill_signed, 1, 1),
                                          ROW(3, 1030, FLOATS, PACKED, assay_vjp_fill_signed, 0.5, 2)};
static const assay_row flat_rows[] = {DEGENERATE(3, 64, FLOATS, BOTH_WAYS, assay_vjp_fill_flat, 0, 3),
                                      DEGENERATE(2, 1024, FLOATS, PACKED, assay_vjp_fill_flat, 0, -96),
                                      DEGENERATE(2, 8192, FLOATS, BOTH_WAYS, assay_vjp_fill_flat, 0, 1.5),
                                      DEGENERATE(40, 2048, FLOATS, TRANSPOSED, assay_vjp_fill_flat, 0, 1.5)};
static const assay_row one_hot_rows[] = {ROW(33, 33, FLOATS, BOTH_WAYS, assay_vjp_fill_one_hot, 0.5, 1),
                                         ROW(3, 1025, FLOATS, PACKED, assay_vjp_fill_one_hot, 0.5, 4),
                                         DEGENERATE(5, 65, FLOATS, PACKED, assay_vjp_fill_one_hot, 1, 1)};
static const assay_row cancellation_rows[] = {
    ROW(5, 8, FP32, BOTH_WAYS, assay_vjp_fill_shifted, 0.1, 1000),
    ROW(5, 33, FP32, BOTH_WAYS, assay_vjp_fill_shifted, 0.1, 300),
    ROW(4, 12, FP16 | BF16, PACKED, assay_vjp_fill_shifted, 4, 200)};
static const assay_row dot_rows[] = {ROW(6, 200, FLOATS, BOTH_WAYS, assay_vjp_fill_shifted, 0.1, 1),
                                     ROW(4, 1000, FLOATS, PACKED, assay_vjp_fill_shifted, 0.1, 1)};
static const assay_row long_sum_rows[] = {ROW(2, 8192, FLOATS, BOTH_WAYS, assay_vjp_fill_lost_terms, 0, 0)};
static const assay_row identity_rows[] = {ROW(3, 7, FLOATS, BOTH_WAYS, assay_vjp_fill_pair, 1, 1),
                                          ROW(2, 33, FLOATS, PACKED | GENERAL, assay_vjp_fill_pair, 2, 3)};
static const assay_row derivative_rows[] = {ROW(3, 5, FLOATS, PACKED, assay_fill_normal, 0, 1),
                                            ROW(2, 40, FP32, BOTH_WAYS, assay_fill_normal, 0, 2)};
static const assay_row adjoint_rows[] = {ROW(4, 33, FLOATS, BOTH_WAYS, assay_vjp_fill_pair, 1, 1),
                                         ROW(2, 1030, FLOATS, PACKED, assay_vjp_fill_pair, 1, 1)};
static const assay_row row_sum_rows[] = {ROW(6, 64, FLOATS, BOTH_WAYS | GENERAL, assay_vjp_fill_pair, 1, 1),
                                         ROW(3, 700, FLOATS, PACKED, assay_vjp_fill_pair, 1, 5)};

static const assay_row transposed_rows[] = {
    PAIR(5, 3, FLOATS, TRANSPOSED), PAIR(37, 129, FLOATS, TRANSPOSED), PAIR(64, 64, FLOATS, TRANSPOSED),
    PAIR(3, 1500, FLOATS, TRANSPOSED), PAIR(72, 2056, FLOATS, TRANSPOSED)};
static const assay_row y_transposed_rows[] = {PAIR(5, 3, FLOATS, Y_TRANSPOSED),
                                              PAIR(70, 131, FLOATS, Y_TRANSPOSED)};
static const assay_row g_transposed_rows[] = {PAIR(5, 3, FLOATS, G_TRANSPOSED),
                                              PAIR(70, 131, FLOATS, G_TRANSPOSED)};
static const assay_row y_sliced_rows[] = {PAIR(5, 3, FLOATS, Y_SLICED), PAIR(9, 129, FLOATS, Y_SLICED)};
static const assay_row g_sliced_rows[] = {PAIR(5, 3, FLOATS, G_SLICED), PAIR(9, 129, FLOATS, G_SLICED)};
static const assay_row sliced_rows[] = {PAIR(5, 3, FLOATS, SLICED), PAIR(9, 129, FLOATS, SLICED)};
static const assay_row sliced_columns_rows[] = {PAIR(5, 3, FLOATS, SLICED_T), PAIR(35, 130, FLOATS, SLICED_T),
                                                PAIR(38, 1601, FLOATS, SLICED_T)};
static const assay_row stepped_rows[] = {PAIR(5, 3, FLOATS, STEPPED), PAIR(9, 129, FLOATS, STEPPED)};
static const assay_row general_rows[] = {PAIR(5, 3, FLOATS, GENERAL), PAIR(19, 131, FLOATS, GENERAL)};
static const assay_row row_broadcast_rows[] = {PAIR(7, 5, FLOATS, ROW_BROADCAST),
                                               PAIR(33, 1025, FLOATS, ROW_BROADCAST)};
static const assay_row column_broadcast_rows[] = {PAIR(7, 5, FLOATS, COLUMN_BROADCAST),
                                                  PAIR(18, 515, FLOATS, COLUMN_BROADCAST)};
static const assay_row window_rows[] = {PAIR(7, 5, FLOATS, WINDOWS), PAIR(40, 67, FLOATS, WINDOWS)};
static const assay_row misaligned_rows[] = {SHIFTED(3, 35, FLOATS, BOTH_WAYS, 1),
                                            SHIFTED(3, 64, FLOATS, PACKED, 2),
                                            SHIFTED(3, 130, FLOATS, BOTH_WAYS, 3)};

static const assay_row dominant_rows[] = {ROW(33, 33, FLOATS, BOTH_WAYS, assay_vjp_fill_dominant, 0.01, 1),
                                          ROW(65, 65, FLOATS, PACKED, assay_vjp_fill_dominant, 0.01, 1)};
static const assay_row peaked_rows[] = {ROW(7, 33, FLOATS, BOTH_WAYS, assay_vjp_fill_peaked, 0, 1),
                                        ROW(3, 1025, FLOATS, PACKED, assay_vjp_fill_peaked, 0, 8)};
static const assay_row zero_rows[] = {ROW(6, 37, FLOATS, BOTH_WAYS, assay_vjp_fill_with_zeros, 1, 1),
                                      ROW(3, 1030, FLOATS, PACKED, assay_vjp_fill_with_zeros, 1, 1)};
static const assay_row large_rows[] = {ROW(6, 37, FP16, BOTH_WAYS, assay_vjp_fill_large, 1, 65504),
                                       ROW(6, 37, FP32 | BF16, BOTH_WAYS, assay_vjp_fill_large, 1, 1e38)};
static const assay_row subnormal_rows[] = {
    ROW(4, 70, FP32 | BF16, BOTH_WAYS, assay_vjp_fill_subnormal, 1e-38, 1e4),
    ROW(4, 70, FP16, BOTH_WAYS, assay_vjp_fill_subnormal, 6e-5, 30)};
static const assay_row nan_y_rows[] = {ROW(8, 37, FLOATS, BOTH_WAYS, assay_vjp_fill_special, NAN, 0),
                                       ROW(8, 1030, FLOATS, PACKED, assay_vjp_fill_special, NAN, 0)};
static const assay_row nan_g_rows[] = {ROW(8, 37, FLOATS, BOTH_WAYS, assay_vjp_fill_special, NAN, 1),
                                       ROW(8, 1030, FLOATS, PACKED, assay_vjp_fill_special, NAN, 1)};
static const assay_row infinite_rows[] = {ROW(8, 37, FLOATS, BOTH_WAYS, assay_vjp_fill_special, INFINITY, 1),
                                          ROW(8, 1030, FLOATS, PACKED, assay_vjp_fill_special, -INFINITY, 1),
                                          ROW(8, 37, FLOATS, PACKED, assay_vjp_fill_special, INFINITY, 0)};
static const assay_row opposite_rows[] = {ROW(7, 37, FLOATS, BOTH_WAYS, assay_vjp_fill_opposite, 0, 0),
                                          ROW(7, 1030, FLOATS, PACKED, assay_vjp_fill_opposite, 0, 0)};

static const assay_row whole_output_rows[] = {PAIR(11, 130, FLOATS, BOTH_WAYS),
                                              ROW(5, 33, FLOATS, PACKED, assay_vjp_fill_with_zeros, 1, 1)};
static const assay_row untouched_rows[] = {PAIR(6, 50, FLOATS, BOTH_WAYS | GENERAL)};
static const assay_row repeatable_rows[] = {PAIR(40, 300, FLOATS, BOTH_WAYS)};
static const assay_row fresh_rows[] = {PAIR(8, 65, FLOATS, BOTH_WAYS)};
#define WITH_WARPS(rows_, columns_, dtypes_, layouts_, warps_)                                               \
  {                                                                                                          \
    .dims = {(rows_), (columns_)}, .dtypes = (dtypes_), .layouts = (layouts_), .fill = assay_vjp_fill_pair,  \
    .a = 1, .b = 1, .opt = {                                                                                 \
      warps_                                                                                                 \
    }                                                                                                        \
  }
/* The tall ones have more rows than a kernel has blocks whose grid just fills a GPU. */
static const assay_row warps_rows[] = {
    WITH_WARPS(5, 37, FLOATS, BOTH_WAYS, 4), WITH_WARPS(5, 37, FLOATS, BOTH_WAYS, 8),
    WITH_WARPS(3, 1100, FP32, BOTH_WAYS, 4), WITH_WARPS(3, 1100, FP32, BOTH_WAYS, 8),
    WITH_WARPS(9, 520, HALVES, GENERAL, 8),  WITH_WARPS(2100, 3, FP32, PACKED, 4),
    WITH_WARPS(1100, 260, FP16, PACKED, 8),
};
static const assay_row order_rows[] = {PAIR(3, 200, FP32, BOTH_WAYS), PAIR(2, 1160, FP16, BOTH_WAYS),
                                       PAIR(8, 3200, FP16, TRANSPOSED),
                                       WITH_WARPS(1060, 130, FP32, PACKED, 8)};
static const assay_row stream_rows[] = {PAIR(33, 257, FLOATS, BOTH_WAYS), PAIR(64, 1024, FP16, BOTH_WAYS)};
static const assay_row thread_rows[] = {PAIR(100, 1025, FP32, BOTH_WAYS)};
static const assay_row thread_count_rows[] = {PAIR(301, 257, FLOATS, BOTH_WAYS)};
static const assay_row wide_rows[] = {
    ROW(11, 8712, FLOATS, TRANSPOSED | SLICED_T, assay_vjp_fill_shifted, 1, 1),
    ROW(8, 16649, FLOATS, TRANSPOSED, assay_vjp_fill_shifted, 1, 1),
    ROW(3, 65537, FLOATS, PACKED, assay_vjp_fill_shifted, 1, 1),
    ROW(2, 131073, FLOATS, PACKED | GENERAL, assay_vjp_fill_shifted, 1, 1),
    ROW(2, 262145, FP16, PACKED | Y_TRANSPOSED, assay_vjp_fill_shifted, 1, 1)};

static const assay_row sanitize_rows[] = {
    PAIR(3, 70, FP32, BOTH_WAYS),    PAIR(2, 300, FP16 | BF16, PACKED | GENERAL),
    PAIR(2, 1160, FP16, PACKED),     SHIFTED(2, 131, BF16, PACKED, 1),
    PAIR(8, 3200, FP16, TRANSPOSED), PAIR(3, 300, FP16, SLICED_T)};

/* ---- the table ----------------------------------------------------------------------------------------- */

const assay_check assay_vjp_checks[] = {
    CHECK("values", "worked_example", S, "the formula is wrong", .run = assay_vjp_worked_example),
    CHECK("values", "single_column", S, "a row of one element is given 0 without a look",
          ROWS(single_column_rows)),
    CHECK("values", "vector_edges", S, "the tail behind the last full vector is wrong",
          ROWS(vector_edge_rows)),
    CHECK("values", "ragged_primes", S, "sizes that are no multiple of anything", ROWS(ragged_rows)),
    CHECK("values", "widest_row", M, "a buffer or loop ends before 8192 columns", ROWS(widest_rows)),
    CHECK("values", "many_rows", M, "rows are lost between blocks or threads", ROWS(many_rows)),
    CHECK("values", "no_rows", S, "an empty matrix is an error or is written to", ROWS(no_rows)),
    CHECK("values", "fp16_rounding", S, "FP16 results are truncated, or their subnormals flushed",
          ROWS(fp16_rows)),
    CHECK("values", "bf16_rounding", S, "BF16 results are truncated instead of rounded", ROWS(bf16_rows)),
    CHECK("values", "y_as_given", S, "y is taken to be positive with a sum of 1", ROWS(as_given_rows)),
    CHECK("values", "dense_jacobian", S, "the product with diag(y) - y*y^T is another one",
          ROWS(identity_rows), .run = assay_vjp_dense_jacobian),
    CHECK("values", "central_difference", S, "the result is not the slope of sum(softmax(x)*g)",
          ROWS(derivative_rows), .run = assay_vjp_central_difference),
    CHECK("values", "dual_numbers", S, "the result is not the exact derivative of sum(softmax(x)*g)",
          ROWS(derivative_rows), .run = assay_vjp_dual_numbers),
    CHECK("values", "adjoint_identity", S, "<J u, w> and <u, J w> differ: a factor y is on the wrong side",
          ROWS(adjoint_rows), .run = assay_vjp_adjoint),
    CHECK("values", "row_sums", S, "gradients of a row do not add up to 0", ROWS(row_sum_rows),
          .run = assay_vjp_row_sums),
    CHECK("values", "constant_gradient", S, "a constant gradient has an effect", ROWS(flat_rows)),
    CHECK("values", "one_hot", S, "the term diag(y)*g is taken as y itself", ROWS(one_hot_rows)),
    CHECK("values", "cancellation", S, "g and the dot product are rounded before they are subtracted",
          ROWS(cancellation_rows)),
    CHECK("values", "dot_precision", S, "the dot product is held in 16 bits", ROWS(dot_rows)),
    CHECK("values", "long_sums", S, "one FP32 running sum over the row loses the small products",
          ROWS(long_sum_rows)),
    CHECK("values", "odd_widths", M, "the head of an odd row is read from the row before",
          .run = assay_vjp_odd_widths),

    CHECK("layouts", "transposed", S, "transposed views are read in storage order", ROWS(transposed_rows)),
    CHECK("layouts", "known_strides", S, "one operand's strides are used for the other",
          .run = assay_vjp_known_strides),
    CHECK("layouts", "y_sliced", S, "y is read with the packed geometry of g", ROWS(y_sliced_rows)),
    CHECK("layouts", "g_sliced", S, "g is read with the packed geometry of y", ROWS(g_sliced_rows)),
    CHECK("layouts", "sliced_differently", S, "both operands are given one row stride", ROWS(sliced_rows)),
    CHECK("layouts", "y_transposed", S, "y is walked along the rows of g", ROWS(y_transposed_rows)),
    CHECK("layouts", "g_transposed", S, "g is walked along the rows of y", ROWS(g_transposed_rows)),
    CHECK("layouts", "sliced_columns", S, "a column stride is taken to be the number of rows",
          ROWS(sliced_columns_rows)),
    CHECK("layouts", "stepped_columns", S, "a column stride is taken to be 1", ROWS(stepped_rows)),
    CHECK("layouts", "general_strides", S, "only some of the four strides are used", ROWS(general_rows)),
    CHECK("layouts", "broadcast_rows", S, "row stride 0 is taken for an error or for packed",
          ROWS(row_broadcast_rows)),
    CHECK("layouts", "broadcast_columns", S, "column stride 0 reads past the one element",
          ROWS(column_broadcast_rows)),
    CHECK("layouts", "overlapping_windows", S, "rows that share elements are taken to be separate",
          ROWS(window_rows)),
    BACKEND_CHECK("layouts", "tall_views", M, ASSAY_ON_SIMT | ASSAY_ON_CUDA,
                  "strips of a large transposed view overlap, or leave rows out", ROWS(tall_rows),
                  .scope = ASSAY_SCOPE_LIBRARY),
    CHECK("layouts", "misaligned_base", S, "vector loads need an aligned base", ROWS(misaligned_rows)),

    CHECK("extremes", "dominant_position", S, "one position is left out of the dot product",
          ROWS(dominant_rows)),
    CHECK("extremes", "peaked_rows", S, "small weights beside a peak are dropped", ROWS(peaked_rows)),
    CHECK("extremes", "zero_weights", S, "an exact zero of y does not give an exact zero", ROWS(zero_rows)),
    CHECK("extremes", "half_limits", S, "products of the largest gradients leave the type's range",
          ROWS(large_rows)),
    CHECK("extremes", "subnormal_weights", S, "subnormal entries of y count as 0", ROWS(subnormal_rows)),
    CHECK("extremes", "nan_in_y", S, "a NaN in y stays in its own column", ROWS(nan_y_rows)),
    CHECK("extremes", "nan_in_g", S, "a NaN in g is skipped", ROWS(nan_g_rows)),
    CHECK("extremes", "infinities", S, "an infinity is clamped to a finite number", ROWS(infinite_rows)),
    CHECK("extremes", "opposite_infinities", S, "infinities whose sum is NaN give plausible numbers",
          ROWS(opposite_rows)),

    CHECK("contract", "whole_output", S, "some elements of the output are never written",
          ROWS(whole_output_rows)),
    CHECK("contract", "inputs_untouched", S, "an input is used as scratch", ROWS(untouched_rows)),
    CHECK("contract", "repeatable", S, "two calls on the same inputs differ", ROWS(repeatable_rows),
          .run = assay_vjp_repeatable),
    CHECK("contract", "fresh_contents", S, "a result of an earlier call is given again", ROWS(fresh_rows),
          .run = assay_vjp_fresh_contents),
    CHECK("contract", "block_partials", M, "a block's partial sum is lost", .run = assay_vjp_block_partials),
    CHECK("contract", "two_threads", M, "scratch is shared between concurrent calls", ROWS(thread_rows),
          .run = assay_vjp_two_threads),
    CHECK("contract", "thread_count", M, "the result depends on the number of threads",
          ROWS(thread_count_rows), .run = assay_vjp_thread_count),
    CHECK("contract", "large_strides", M, "offsets are computed in 32 bits", .run = assay_vjp_large_strides),
    BACKEND_CHECK("contract", "warps", S, ASSAY_ON_SIMT | ASSAY_ON_CUDA, "one of the knob's values is wrong",
                  ROWS(warps_rows)),
    BACKEND_CHECK("contract", "thread_orders", S, ASSAY_ON_SIMT,
                  "the result depends on which thread or block comes first", ROWS(order_rows),
                  .run = assay_probe_thread_orders),
    BACKEND_CHECK("contract", "busy_stream", S, ASSAY_ON_CUDA, "the call waits for the whole device",
                  ROWS(stream_rows), .run = assay_probe_busy_stream),
    BACKEND_CHECK("contract", "graph_replay", S, ASSAY_ON_CUDA,
                  "the call cannot be captured, or a graph of it keeps old contents", ROWS(stream_rows),
                  .run = assay_probe_graph_replay),
    /* Too much for the emulator, which takes millions of elements a second. */
    BACKEND_CHECK("contract", "full_size", L, ASSAY_ON_CPU | ASSAY_ON_CUDA,
                  "output indices are computed in 32 bits", .run = assay_vjp_full_size),
    BACKEND_CHECK("contract", "full_inputs", L, ASSAY_ON_CPU | ASSAY_ON_CUDA,
                  "input indices are computed in 32 bits", ROWS(huge_rows), .run = assay_probe_huge),
    BACKEND_CHECK("contract", "random_shapes", L, ASSAY_ON_CPU | ASSAY_ON_CUDA,
                  "a combination of sizes that nobody thought of", .scope = ASSAY_SCOPE_LIBRARY,
                  .run = assay_vjp_random_shapes),

    LIBRARY_CHECK("arguments", "rejects_pointers", S, "NULL or misaligned data reaches a kernel",
                  .run = assay_vjp_rejects_pointers),
    LIBRARY_CHECK("arguments", "rejects_shapes", S, "a bad rank or size reaches a kernel",
                  .run = assay_vjp_rejects_shapes),
    LIBRARY_CHECK("arguments", "rejects_dtypes", S, "an element type without a kernel reaches one",
                  .run = assay_vjp_rejects_dtypes),
    LIBRARY_CHECK("arguments", "rejects_strides", S, "a negative stride reaches a kernel",
                  .run = assay_vjp_rejects_strides),
    LIBRARY_CHECK("arguments", "rejects_span_overflow", S,
                  "a view larger than the address space reaches a kernel",
                  .run = assay_vjp_rejects_span_overflow),
    LIBRARY_CHECK("arguments", "rejects_output_layout", S, "an output with gaps is written as if packed",
                  .run = assay_vjp_rejects_output_layout),
    LIBRARY_CHECK("arguments", "rejects_overlap", S, "dx may destroy y or g, which are still to be read",
                  .run = assay_vjp_rejects_overlap),
    LIBRARY_CHECK("arguments", "rejects_device", S, "memory of another device is used",
                  .run = assay_vjp_rejects_device),
    LIBRARY_CHECK("arguments", "rejects_options", S, "a knob that the variant does not have is ignored",
                  .run = assay_vjp_rejects_options),
    LIBRARY_CHECK("arguments", "workshop_limits", S,
                  "the workshop's width limit is lost or binds the library",
                  .run = assay_vjp_workshop_limits),
    LIBRARY_CHECK("arguments", "wide_rows", M, "rows beyond the workshop's width take a path of their own",
                  ROWS(wide_rows)),
    SANITIZE_CHECKS(sanitize_rows),
    {.name = NULL},
};
