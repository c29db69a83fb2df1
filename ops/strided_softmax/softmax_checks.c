/* SPDX-License-Identifier: MIT */
/* softmax_checks.c - the named checks of strided softmax: what each provokes, and with which contents. */
#include <math.h>

#include "check_table.h"
#include "fill.h"
#include "probe.h"
#include "softmax.h"

/* ---- contents; a and b are the row's parameters -------------------------------------------------------- */

/* Normal entries, and one logit `a` in row r at column r mod columns. */
static void fill_dominant(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) x[r * columns + c] = assay_rng_normal(args->rng);
    x[r * columns + r % columns] = args->a;
  }
}

/* A straight line from a in the first column to b in the last, with a little noise. */
static void fill_ramp(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  const double step = columns > 1 ? (args->b - args->a) / (double)(columns - 1) : 0;
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) {
      x[r * columns + c] = args->a + step * (double)c + 0.01 * assay_rng_uniform(args->rng);
    }
  }
}

/* b everywhere, a in one column that differs from row to row: first, last, one in between. */
static void fill_spike(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  const int64_t places[3] = {columns - 1, 0, columns / 2};
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) x[r * columns + c] = args->b;
    x[r * columns + places[r % 3]] = args->a;
  }
}

/* One 0 first, then terms just under half an ulp of 1: a single FP32 sum never moves from 1. */
static void fill_lost_terms(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) x[r * columns + c] = c == 0 ? 0 : -16.7 - 0.01 * (double)r;
  }
}

/* +a, -a, 0 and small values in random order. */
static void fill_limits(const assay_fill_args *args, double *x) {
  const double values[4] = {args->a, -args->a, 0, 1};
  const int64_t count = args->shape[0] * args->shape[1];
  for (int64_t i = 0; i < count; i++) x[i] = values[assay_rng_below(args->rng, 4)];
}

/* Half of the entries subnormal (below a), the others normal numbers around 0. */
static void fill_subnormals(const assay_fill_args *args, double *x) {
  const int64_t count = args->shape[0] * args->shape[1];
  for (int64_t i = 0; i < count; i++) {
    const double sign = assay_rng_below(args->rng, 2) == 0 ? 1 : -1;
    x[i] = i % 2 == 0 ? sign * args->a * assay_rng_uniform(args->rng) : assay_rng_normal(args->rng);
  }
}

/* A share a of the entries is -inf; the entry at column r mod columns stays finite. */
static void fill_masked(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) {
      const bool masked = assay_rng_uniform(args->rng) < args->a && c != r % columns;
      x[r * columns + c] = masked ? -INFINITY : 2 * assay_rng_normal(args->rng);
    }
  }
}

/* Every second row is -inf throughout. */
static void fill_masked_rows(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) {
      x[r * columns + c] = r % 2 == 0 ? -INFINITY : assay_rng_normal(args->rng);
    }
  }
}

/* Every second row holds a (an infinity or NaN) once, at first, last and inner columns in turn. */
static void fill_special(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  const int64_t places[4] = {0, columns - 1, columns / 2, (2 * columns) / 3};
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) x[r * columns + c] = assay_rng_normal(args->rng);
    if (r % 2 == 0) x[r * columns + places[(r / 2) % 4]] = args->a;
  }
}

/* The seven rows of the public reports on special values, each padded by repeating its last entry. */
static void fill_reported_special(const assay_fill_args *args, double *x) {
  const double table[7][4] = {
      {-INFINITY, -INFINITY, -INFINITY, -INFINITY},
      {INFINITY, 0, 1, 2},
      {INFINITY, INFINITY, 0, 0},
      {NAN, 0, 1, 2},
      {-INFINITY, 0, -INFINITY, 0},
      {0, 0, 0, 0},
      {0, 1, 2, NAN},
  };
  const int64_t columns = args->shape[1];
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) x[r * columns + c] = table[r % 7][c < 4 ? c : 3];
  }
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

#define PACKED           (1u << ASSAY_SOFTMAX_PACKED)
#define TRANSPOSED       (1u << ASSAY_SOFTMAX_TRANSPOSED)
#define SLICED           (1u << ASSAY_SOFTMAX_SLICED)
#define STEPPED          (1u << ASSAY_SOFTMAX_STEPPED)
#define SLICED_T         (1u << ASSAY_SOFTMAX_SLICED_T)
#define GENERAL          (1u << ASSAY_SOFTMAX_GENERAL)
#define ROW_BROADCAST    (1u << ASSAY_SOFTMAX_ROW_BROADCAST)
#define COLUMN_BROADCAST (1u << ASSAY_SOFTMAX_COLUMN_BROADCAST)
#define WINDOWS          (1u << ASSAY_SOFTMAX_WINDOWS)
#define BOTH_WAYS        (PACKED | TRANSPOSED)

/* rows, columns, types, layouts, contents with their parameters */
#define ROW(r, c, types, where, contents, p, q)                                                              \
  { .dims = {r, c}, .dtypes = (types), .layouts = (where), .fill = (contents), .a = (p), .b = (q) }
#define DEGENERATE(r, c, types, where, contents, p, q)                                                       \
  {                                                                                                          \
    .dims = {r, c}, .dtypes = (types), .layouts = (where), .fill = (contents), .a = (p), .b = (q),           \
    .degenerate = true                                                                                       \
  }
#define SHIFTED(r, c, types, where, by)                                                                      \
  { .dims = {r, c}, .dtypes = (types), .layouts = (where), .fill = assay_fill_normal, .b = 1, .shift = (by) }
#define NORMAL(r, c, types, where) ROW(r, c, types, where, assay_fill_normal, 0, 1)

static const assay_row single_column_rows[] = {
    DEGENERATE(1, 1, FLOATS, PACKED, assay_fill_constant, 0.7, 0),
    DEGENERATE(3, 1, FLOATS, PACKED | COLUMN_BROADCAST, assay_fill_constant, 65504, 0),
    DEGENERATE(257, 1, FLOATS, PACKED | SLICED | ROW_BROADCAST, assay_fill_normal, 0, 100),
    DEGENERATE(3, 1, FP32 | BF16, PACKED, assay_fill_constant, -3e38, 0),
    ROW(2, 3, FP32, PACKED, fill_spike, 88.8, 0),
};

static const assay_row vector_edge_rows[] = {
    NORMAL(3, 2, FLOATS, PACKED),   NORMAL(3, 3, FLOATS, PACKED),   NORMAL(3, 7, FLOATS, PACKED),
    NORMAL(3, 8, FLOATS, PACKED),   NORMAL(3, 9, FLOATS, PACKED),   NORMAL(3, 15, FLOATS, PACKED),
    NORMAL(3, 16, FLOATS, PACKED),  NORMAL(3, 17, FLOATS, PACKED),  NORMAL(3, 31, FLOATS, PACKED),
    NORMAL(3, 32, FLOATS, PACKED),  NORMAL(3, 33, FLOATS, PACKED),  NORMAL(3, 63, FLOATS, PACKED),
    NORMAL(3, 64, FLOATS, PACKED),  NORMAL(3, 65, FLOATS, PACKED),  NORMAL(2, 127, FLOATS, PACKED),
    NORMAL(2, 128, FLOATS, PACKED), NORMAL(2, 129, FLOATS, PACKED), NORMAL(2, 257, FLOATS, PACKED),
};

static const assay_row ragged_rows[] = {
    NORMAL(13, 101, FLOATS, PACKED),
    NORMAL(7, 1021, FLOATS, PACKED),
    NORMAL(3, 4093, FLOATS, PACKED),
    NORMAL(17, 19, FLOATS, BOTH_WAYS),
};

static const assay_row widest_rows[] = {NORMAL(3, 8191, FLOATS, PACKED), NORMAL(2, 8192, FLOATS, BOTH_WAYS)};

static const assay_row many_rows[] = {NORMAL(1031, 3, FLOATS, BOTH_WAYS), NORMAL(2053, 33, FP32, BOTH_WAYS)};

/* 2^31 elements and 64 rows more. */
static const assay_row huge_rows[] = {ROW(524352, 4096, FP16, PACKED, assay_fill_normal, 0, 2)};
static const assay_row no_rows[] = {DEGENERATE(0, 5, FLOATS, PACKED, assay_fill_normal, 0, 1),
                                    DEGENERATE(0, 8192, FP32, TRANSPOSED, assay_fill_normal, 0, 1)};

static const assay_row fp16_rows[] = {ROW(3, 4096, FP16, PACKED, assay_fill_normal, 0, 4),
                                      ROW(5, 257, FP16, BOTH_WAYS, assay_fill_normal, 0, 3)};

static const assay_row bf16_rows[] = {ROW(4, 1000, BF16, PACKED, assay_fill_normal, 0, 1),
                                      ROW(5, 65, BF16, BOTH_WAYS, assay_fill_normal, 0, 2)};

static const assay_row uniform_rows[] = {
    DEGENERATE(2, 513, FLOATS, PACKED, assay_fill_constant, 0, 0),
    DEGENERATE(2, 781, FLOATS, PACKED, assay_fill_constant, 0, 0),
    DEGENERATE(9, 1017, FLOATS, PACKED, assay_fill_constant, 0, 0),
    DEGENERATE(2, 4096, FLOATS, BOTH_WAYS, assay_fill_constant, 1, 0),
    DEGENERATE(2, 8192, FLOATS, PACKED, assay_fill_constant, -2, 0),
};

static const assay_row long_sum_rows[] = {ROW(2, 8192, FP32, BOTH_WAYS, fill_lost_terms, 0, 0)};

static const assay_row transposed_rows[] = {
    NORMAL(5, 3, FLOATS, TRANSPOSED), NORMAL(37, 129, FLOATS, TRANSPOSED), NORMAL(64, 64, FLOATS, TRANSPOSED),
    NORMAL(3, 1500, FLOATS, TRANSPOSED)};
static const assay_row sliced_rows[] = {NORMAL(5, 3, FLOATS, SLICED), NORMAL(9, 129, FLOATS, SLICED)};
static const assay_row stepped_rows[] = {NORMAL(5, 3, FLOATS, STEPPED), NORMAL(9, 129, FLOATS, STEPPED)};
static const assay_row sliced_columns_rows[] = {NORMAL(5, 3, FLOATS, SLICED_T),
                                                NORMAL(35, 130, FLOATS, SLICED_T)};
static const assay_row general_rows[] = {NORMAL(5, 3, FLOATS, GENERAL), NORMAL(19, 131, FLOATS, GENERAL)};
static const assay_row row_broadcast_rows[] = {NORMAL(7, 5, FLOATS, ROW_BROADCAST),
                                               NORMAL(33, 1025, FLOATS, ROW_BROADCAST)};
static const assay_row column_broadcast_rows[] = {
    DEGENERATE(7, 5, FLOATS, COLUMN_BROADCAST, assay_fill_normal, 0, 50),
    DEGENERATE(18, 515, FLOATS, COLUMN_BROADCAST, assay_fill_normal, 0, 50)};
static const assay_row window_rows[] = {NORMAL(7, 5, FLOATS, WINDOWS), NORMAL(40, 67, FLOATS, WINDOWS)};
static const assay_row misaligned_rows[] = {
    SHIFTED(3, 35, FLOATS, PACKED | TRANSPOSED, 1),
    SHIFTED(3, 64, FLOATS, PACKED, 2),
    SHIFTED(3, 130, FLOATS, PACKED | TRANSPOSED, 3),
};

static const assay_row large_logit_rows[] = {ROW(5, 67, FLOATS, BOTH_WAYS, assay_fill_uniform, -1000, 1000),
                                             ROW(3, 1025, FLOATS, PACKED, assay_fill_normal, 1000, 2),
                                             ROW(3, 65, FLOATS, PACKED, assay_fill_normal, -1000, 2)};
static const assay_row limit_rows[] = {ROW(6, 37, FP16, BOTH_WAYS, fill_limits, 65504, 0),
                                       ROW(6, 37, FP32 | BF16, BOTH_WAYS, fill_limits, 3e38, 0)};
static const assay_row subnormal_rows[] = {ROW(4, 70, FP32 | BF16, PACKED, fill_subnormals, 1e-38, 0),
                                           ROW(4, 70, FP16, PACKED, fill_subnormals, 6e-5, 0)};
static const assay_row deep_negative_rows[] = {
    ROW(4, 33, FLOATS, BOTH_WAYS, assay_fill_normal, -60000, 40),
    ROW(3, 64, FP32, PACKED, assay_fill_normal, -1e5, 1),
    DEGENERATE(3, 64, FP32 | BF16, BOTH_WAYS, assay_fill_constant, -3e38, 0),
    DEGENERATE(2, 5, FP32, PACKED, assay_fill_constant, -0x1.fffffep127, 0),
};
static const assay_row zero_start_rows[] = {ROW(4, 33, FLOATS, BOTH_WAYS, assay_fill_uniform, -200, -110),
                                            ROW(2, 1030, FLOATS, PACKED, assay_fill_uniform, -200, -110)};
static const assay_row masked_rows[] = {ROW(8, 40, FLOATS, BOTH_WAYS, fill_masked, 0.5, 0),
                                        ROW(5, 515, FLOATS, PACKED, fill_masked, 0.95, 0)};
static const assay_row masked_row_rows[] = {ROW(6, 37, FLOATS, BOTH_WAYS, fill_masked_rows, 0, 0),
                                            ROW(3, 1030, FLOATS, PACKED, fill_masked_rows, 0, 0)};
static const assay_row infinity_rows[] = {ROW(8, 37, FLOATS, BOTH_WAYS, fill_special, INFINITY, 0),
                                          ROW(3, 1030, FLOATS, PACKED, fill_special, INFINITY, 0)};
static const assay_row nan_rows[] = {ROW(8, 37, FLOATS, BOTH_WAYS, fill_special, NAN, 0),
                                     ROW(8, 1030, FLOATS, BOTH_WAYS, fill_special, NAN, 0),
                                     ROW(7, 4, FLOATS, BOTH_WAYS, fill_reported_special, 0, 0),
                                     ROW(7, 1030, FLOATS, BOTH_WAYS, fill_reported_special, 0, 0)};
static const assay_row dominant_rows[] = {ROW(33, 33, FLOATS, BOTH_WAYS, fill_dominant, 120, 0),
                                          ROW(65, 65, FLOATS, PACKED, fill_dominant, 120, 0)};
static const assay_row rising_rows[] = {ROW(3, 70, FLOATS, BOTH_WAYS, fill_ramp, -100, 100),
                                        ROW(2, 2050, FLOATS, PACKED, fill_ramp, 0, 300)};
static const assay_row falling_rows[] = {ROW(3, 200, FLOATS, BOTH_WAYS, fill_ramp, 0, -110),
                                         ROW(2, 3000, FLOATS, PACKED, fill_ramp, 5, -100)};

static const assay_row whole_output_rows[] = {NORMAL(11, 130, FLOATS, BOTH_WAYS),
                                              ROW(5, 33, FLOATS, PACKED, fill_masked, 0.9, 0)};
static const assay_row untouched_rows[] = {NORMAL(6, 50, FLOATS, PACKED | TRANSPOSED | GENERAL)};
static const assay_row repeatable_rows[] = {NORMAL(40, 300, FLOATS, BOTH_WAYS)};
static const assay_row fresh_rows[] = {NORMAL(8, 65, FLOATS, BOTH_WAYS)};
#define WITH_WARPS(r, c, types, where, n)                                                                    \
  {                                                                                                          \
    .dims = {r, c}, .dtypes = (types), .layouts = (where), .fill = assay_fill_normal, .b = 1, .opt = { n }   \
  }
static const assay_row warps_rows[] = {
    WITH_WARPS(5, 37, FLOATS, BOTH_WAYS, 4), WITH_WARPS(5, 37, FLOATS, BOTH_WAYS, 8),
    WITH_WARPS(3, 1100, FP32, BOTH_WAYS, 4), WITH_WARPS(3, 1100, FP32, BOTH_WAYS, 8),
    WITH_WARPS(9, 520, HALVES, PACKED, 8),
};
static const assay_row order_rows[] = {NORMAL(3, 200, FP32, BOTH_WAYS), NORMAL(2, 1160, FP16, BOTH_WAYS),
                                       NORMAL(2, 3200, FP16, TRANSPOSED),
                                       ROW(2, 300, FP32, PACKED, fill_ramp, 0, 90)};
static const assay_row stream_rows[] = {NORMAL(33, 257, FLOATS, BOTH_WAYS),
                                        NORMAL(64, 1024, FP16, BOTH_WAYS)};
static const assay_row thread_rows[] = {NORMAL(150, 1025, FP32, BOTH_WAYS)};
static const assay_row thread_count_rows[] = {NORMAL(301, 257, FLOATS, BOTH_WAYS)};
static const assay_row wide_rows[] = {ROW(3, 65537, FLOATS, PACKED, fill_spike, 10, 0),
                                      ROW(2, 131073, FLOATS, PACKED | GENERAL, fill_spike, 10, 0),
                                      ROW(2, 1048577, FP16, PACKED | TRANSPOSED, fill_spike, 10, 0)};

static const assay_row sanitize_rows[] = {
    NORMAL(3, 70, FP32, BOTH_WAYS), NORMAL(2, 300, HALVES, PACKED | GENERAL), NORMAL(2, 1160, FP16, PACKED),
    SHIFTED(2, 131, BF16, PACKED, 1), NORMAL(2, 3200, FP16, TRANSPOSED)};
static const assay_row traffic_rows[] = {NORMAL(2, 2048, FP32 | FP16, PACKED)};

/* ---- the table ----------------------------------------------------------------------------------------- */

const assay_check assay_softmax_checks[] = {
    CHECK("values", "worked_example", S, "the formula is wrong", .run = assay_softmax_worked_example),
    CHECK("values", "single_column", S, "the first element is left out of the maximum",
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
    CHECK("values", "uniform_rows", S, "the sum is held in 16 bits, or a row's head is added twice",
          ROWS(uniform_rows), .run = assay_softmax_uniform_rows),
    CHECK("values", "odd_widths", M, "the head of an odd row is read from the row before",
          .run = assay_softmax_odd_widths),
    CHECK("values", "long_sums", S, "one FP32 running sum over the row loses the small terms",
          ROWS(long_sum_rows)),

    CHECK("layouts", "transposed", S, "a transposed view is read in storage order", ROWS(transposed_rows)),
    CHECK("layouts", "transposed_known", S, "a transposed view is treated as packed storage",
          .run = assay_softmax_transposed_known),
    CHECK("layouts", "sliced_rows", S, "the gap behind each row is read, or the row stride ignored",
          ROWS(sliced_rows)),
    CHECK("layouts", "stepped_columns", S, "the column stride is taken to be 1", ROWS(stepped_rows)),
    CHECK("layouts", "sliced_columns", S, "the column stride is taken to be the number of rows",
          ROWS(sliced_columns_rows)),
    CHECK("layouts", "general_strides", S, "only one of the two strides is used", ROWS(general_rows)),
    CHECK("layouts", "broadcast_rows", S, "row stride 0 is taken for an error or for packed",
          ROWS(row_broadcast_rows)),
    CHECK("layouts", "broadcast_columns", S, "column stride 0 reads past the one element",
          ROWS(column_broadcast_rows)),
    CHECK("layouts", "overlapping_windows", S, "rows that share elements are taken to be separate",
          ROWS(window_rows)),
    CHECK("layouts", "misaligned_base", S, "vector loads need an aligned base", ROWS(misaligned_rows)),

    CHECK("extremes", "large_logits", S, "the maximum is not subtracted", ROWS(large_logit_rows)),
    CHECK("extremes", "half_limits", S, "the largest finite logits overflow", ROWS(limit_rows)),
    CHECK("extremes", "subnormal_logits", S, "subnormal logits are widened wrongly", ROWS(subnormal_rows)),
    CHECK("extremes", "deep_negative", S, "the maximum starts at a finite stand-in for -inf",
          ROWS(deep_negative_rows)),
    CHECK("extremes", "zero_start", S, "the maximum starts at 0", ROWS(zero_start_rows)),
    CHECK("extremes", "masked_entries", S, "-inf entries do not give exact zeros", ROWS(masked_rows)),
    CHECK("extremes", "masked_rows", S, "a row of -inf does not give NaN, or harms its neighbours",
          ROWS(masked_row_rows)),
    CHECK("extremes", "positive_infinity", S, "a row with +inf gives plausible finite numbers",
          ROWS(infinity_rows)),
    CHECK("extremes", "nan_rows", S, "a NaN is swallowed by the maximum", ROWS(nan_rows)),
    CHECK("extremes", "dominant_position", S, "one position of the row is left out of the maximum",
          ROWS(dominant_rows)),
    CHECK("extremes", "rising_maximum", S, "the sum is not rescaled when the maximum rises late",
          ROWS(rising_rows)),
    CHECK("extremes", "falling_tail", S, "small results are cut off above the subnormals",
          ROWS(falling_rows)),

    CHECK("contract", "whole_output", S, "some elements of the output are never written",
          ROWS(whole_output_rows)),
    CHECK("contract", "inputs_untouched", S, "the input is used as scratch", ROWS(untouched_rows)),
    CHECK("contract", "repeatable", S, "two calls on the same input differ", ROWS(repeatable_rows),
          .run = assay_softmax_repeatable),
    CHECK("contract", "fresh_contents", S, "a result of an earlier call is given again", ROWS(fresh_rows),
          .run = assay_softmax_fresh_contents),
    CHECK("contract", "two_threads", M, "scratch is shared between concurrent calls", ROWS(thread_rows),
          .run = assay_softmax_two_threads),
    CHECK("contract", "thread_count", M, "the result depends on the number of threads",
          ROWS(thread_count_rows), .run = assay_softmax_thread_count),
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
    CHECK("contract", "large_strides", M, "offsets are computed in 32 bits",
          .run = assay_softmax_large_strides),
    /* Too much for the emulator, which takes millions of elements a second. */
    BACKEND_CHECK("contract", "full_size", L, ASSAY_ON_CPU | ASSAY_ON_CUDA,
                  "output indices are computed in 32 bits", .run = assay_softmax_full_size),
    BACKEND_CHECK("contract", "full_inputs", L, ASSAY_ON_CPU | ASSAY_ON_CUDA,
                  "input indices are computed in 32 bits", ROWS(huge_rows), .run = assay_probe_huge),
    BACKEND_CHECK("contract", "random_shapes", L, ASSAY_ON_CPU | ASSAY_ON_CUDA,
                  "a combination of sizes that nobody thought of", .scope = ASSAY_SCOPE_LIBRARY,
                  .run = assay_softmax_random_shapes),
    LIBRARY_CHECK("arguments", "rejects_pointers", S, "NULL or misaligned data reaches a kernel",
                  .run = assay_softmax_rejects_pointers),
    LIBRARY_CHECK("arguments", "rejects_shapes", S, "a bad rank or size reaches a kernel",
                  .run = assay_softmax_rejects_shapes),
    LIBRARY_CHECK("arguments", "rejects_dtypes", S, "an element type without a kernel reaches one",
                  .run = assay_softmax_rejects_dtypes),
    LIBRARY_CHECK("arguments", "rejects_strides", S, "a negative stride reaches a kernel",
                  .run = assay_softmax_rejects_strides),
    LIBRARY_CHECK("arguments", "rejects_span_overflow", S,
                  "a view larger than the address space reaches a kernel",
                  .run = assay_softmax_rejects_span_overflow),
    LIBRARY_CHECK("arguments", "rejects_output_layout", S, "an output with gaps is written as if packed",
                  .run = assay_softmax_rejects_output_layout),
    LIBRARY_CHECK("arguments", "rejects_overlap", S, "the output may destroy input that is still to be read",
                  .run = assay_softmax_rejects_overlap),
    LIBRARY_CHECK("arguments", "rejects_device", S, "memory of another device is used",
                  .run = assay_softmax_rejects_device),
    LIBRARY_CHECK("arguments", "rejects_options", S, "a knob that the variant does not have is ignored",
                  .run = assay_softmax_rejects_options),
    LIBRARY_CHECK("arguments", "workshop_limits", S,
                  "the workshop's width limit is lost or binds the library",
                  .run = assay_softmax_workshop_limits),
    LIBRARY_CHECK("arguments", "wide_rows", M, "rows beyond the workshop's width take a path of their own",
                  ROWS(wide_rows)),
    SANITIZE_CHECKS(sanitize_rows),
    TRAFFIC_CHECK(3, "a row is read more than three times, or a result is written again", traffic_rows),
    {.name = NULL},
};
