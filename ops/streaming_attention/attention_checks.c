/* SPDX-License-Identifier: MIT */
/* attention_checks.c - the named checks of streaming attention: what each provokes, and with which contents.
 */
#include <math.h>

#include "check_table.h"
#include "attention.h"
#include "fill.h"
#include "probe.h"

#define PACKED      (1u << ASSAY_ATTENTION_PACKED)
#define PITCHED     (1u << ASSAY_ATTENTION_PITCHED)
#define INTERLEAVED (1u << ASSAY_ATTENTION_INTERLEAVED)
#define SHARED      (1u << ASSAY_ATTENTION_SHARED)
#define WINDOWS     (1u << ASSAY_ATTENTION_WINDOWS)

/* n, d, types, layouts, contents with their parameters, causal, block_n */
#define ROW(n, d, types, where, contents, p, q, causal, block)                                               \
  {                                                                                                          \
    .dims = {n, d}, .dtypes = (types), .layouts = (where), .fill = (contents), .a = (p), .b = (q), .opt = {  \
      causal,                                                                                                \
      block                                                                                                  \
    }                                                                                                        \
  }
#define NORMAL(n, d, types, where, causal, block)                                                            \
  ROW(n, d, types, where, assay_fill_normal, 0, 1, causal, block)
#define SHIFTED(n, d, types, where, causal, by)                                                              \
  {                                                                                                          \
    .dims = {n, d}, .dtypes = (types), .layouts = (where), .fill = assay_fill_normal, .b = 1,                \
    .opt = {causal}, .shift = (by)                                                                           \
  }
#define NOTHING(n, d, heads, batch, types, causal)                                                           \
  {                                                                                                          \
    .dims = {n, d, heads, batch}, .dtypes = (types), .layouts = PACKED, .fill = assay_fill_normal, .b = 1,   \
    .opt = {causal}, .degenerate = true                                                                      \
  }
/* n, d, heads, batch, types, layouts, causal, block_n */
#define HEADS(n, d, heads, batch, types, where, causal, block)                                               \
  {                                                                                                          \
    .dims = {n, d, heads, batch}, .dtypes = (types), .layouts = (where), .fill = assay_fill_normal, .b = 1,  \
    .opt = {                                                                                                 \
      causal,                                                                                                \
      block                                                                                                  \
    }                                                                                                        \
  }
/* Sizes and options for a check that makes its own contents. */
#define SIZES(n, d, types, where, causal, block) NORMAL(n, d, types, where, causal, block)

static const assay_row full_rows[] = {
    NORMAL(17, 16, HALVES, PACKED, 0, 0),
    NORMAL(40, 64, HALVES, PACKED, 0, 0),
    NORMAL(100, 32, HALVES, PACKED, 0, 32),
};
static const assay_row causal_rows[] = {
    NORMAL(17, 16, HALVES, PACKED, 1, 0),
    NORMAL(40, 64, HALVES, PACKED, 1, 0),
    NORMAL(100, 32, HALVES, PACKED, 1, 64),
};
static const assay_row tile_edge_rows[] = {
    NORMAL(31, 16, HALVES, PACKED, 1, 32),  NORMAL(32, 16, HALVES, PACKED, 0, 32),
    NORMAL(33, 32, HALVES, PACKED, 1, 32),  NORMAL(63, 16, HALVES, PACKED, 0, 64),
    NORMAL(64, 64, HALVES, PACKED, 1, 64),  NORMAL(65, 16, HALVES, PACKED, 0, 64),
    NORMAL(65, 32, HALVES, PACKED, 1, 32),  NORMAL(95, 16, HALVES, PACKED, 0, 32),
    NORMAL(97, 16, HALVES, PACKED, 1, 64),  NORMAL(127, 16, HALVES, PACKED, 0, 64),
    NORMAL(128, 16, HALVES, PACKED, 1, 32), NORMAL(129, 64, HALVES, PACKED, 0, 64),
    NORMAL(129, 16, HALVES, PACKED, 1, 32),
};
static const assay_row few_keys_rows[] = {
    NORMAL(2, 16, HALVES, PACKED, 1, 0),  NORMAL(3, 64, HALVES, PACKED, 0, 32),
    NORMAL(5, 32, HALVES, PACKED, 1, 64), NORMAL(7, 16, HALVES, PACKED, 0, 0),
    NORMAL(13, 64, HALVES, PACKED, 1, 0),
};
static const assay_row block_rows[] = {
    NORMAL(193, 32, HALVES, PACKED, 1, 32),
    NORMAL(193, 32, HALVES, PACKED, 1, 64),
    NORMAL(193, 32, HALVES, PACKED, 0, 32),
    NORMAL(193, 32, HALVES, PACKED, 0, 64),
};
/* One row; one behind a tile of 16, 32, 64 or 128 keys, with both values of block_n. */
static const assay_row causal_tile_rows[] = {
    NORMAL(1, 16, HALVES, PACKED, 1, 32),  NORMAL(1, 32, HALVES, PACKED, 1, 64),
    NORMAL(17, 32, HALVES, PACKED, 1, 32), NORMAL(17, 16, HALVES, PACKED, 1, 64),
    NORMAL(33, 16, HALVES, PACKED, 1, 32), NORMAL(33, 64, HALVES, PACKED, 1, 64),
    NORMAL(65, 64, HALVES, PACKED, 1, 32), NORMAL(65, 16, HALVES, PACKED, 1, 64),
    NORMAL(129, 32, FP16, PACKED, 1, 32),  NORMAL(129, 16, BF16, PACKED, 1, 64)};
static const assay_row longest_rows[] = {
    NORMAL(2048, 32, FP16, PACKED, 1, 0),
    NORMAL(2047, 16, BF16, PACKED, 1, 32),
};
static const assay_row no_rows[] = {NOTHING(0, 16, 0, 0, HALVES, 0), NOTHING(0, 64, 0, 0, HALVES, 1)};
static const assay_row no_heads_rows[] = {NOTHING(5, 16, 2, 0, HALVES, 0), NOTHING(5, 16, 0, 2, HALVES, 1),
                                          NOTHING(0, 24, 2, 3, HALVES, 1)};
static const assay_row scale_rows[] = {SIZES(9, 16, HALVES, PACKED, 0, 0), SIZES(9, 32, HALVES, PACKED, 0, 0),
                                       SIZES(9, 64, HALVES, PACKED, 0, 0)};

static const assay_row pitched_rows[] = {NORMAL(9, 16, HALVES, PITCHED, 0, 0),
                                         NORMAL(70, 32, HALVES, PITCHED, 1, 32),
                                         NORMAL(66, 64, HALVES, PITCHED, 0, 64)};
static const assay_row projection_rows[] = {NORMAL(9, 16, HALVES, INTERLEAVED, 0, 0),
                                            NORMAL(66, 64, HALVES, INTERLEAVED, 1, 0)};
static const assay_row repeated_key_rows[] = {NORMAL(9, 16, HALVES, SHARED, 1, 0),
                                              NORMAL(66, 32, HALVES, SHARED, 1, 32)};
static const assay_row window_rows[] = {NORMAL(9, 16, HALVES, WINDOWS, 0, 0),
                                        NORMAL(66, 32, HALVES, WINDOWS, 1, 64)};
static const assay_row misaligned_rows[] = {SHIFTED(35, 16, HALVES, PACKED | PITCHED, 0, 1),
                                            SHIFTED(66, 64, HALVES, PACKED, 1, 3)};

static const assay_row large_score_rows[] = {
    ROW(40, 64, HALVES, PACKED, assay_attention_fill_sharp, 12, 0, 0, 0),
    ROW(70, 16, HALVES, PACKED, assay_attention_fill_sharp, 25, 0, 1, 32)};
static const assay_row negative_rows[] = {
    ROW(40, 32, HALVES, PACKED, assay_attention_fill_negative, 150, 0, 1, 32)};
static const assay_row rising_rows[] = {ROW(130, 16, HALVES, PACKED, assay_attention_fill_ramp, 40, 1, 0, 32),
                                        ROW(200, 16, HALVES, PACKED, assay_attention_fill_ramp, 60, 0, 0, 32),
                                        ROW(200, 64, HALVES, PACKED, assay_attention_fill_ramp, 60, 0, 1, 64),
                                        ROW(130, 32, HALVES, PACKED, assay_attention_fill_ramp, 8, 0, 1, 32)};
static const assay_row falling_rows[] = {
    ROW(200, 16, HALVES, PACKED, assay_attention_fill_ramp, -60, 0, 0, 32),
    ROW(200, 64, HALVES, PACKED, assay_attention_fill_ramp, -8, 0, 1, 64)};
static const assay_row dominant_rows[] = {
    ROW(65, 16, HALVES, PACKED, assay_attention_fill_dominant, 40, 0, 0, 32),
    ROW(129, 64, HALVES, PACKED, assay_attention_fill_dominant, 40, 0, 0, 64)};
static const assay_row diagonal_rows[] = {
    ROW(70, 64, HALVES, PACKED, assay_attention_fill_diagonal, 40, 0, 1, 0),
    ROW(33, 16, HALVES, PACKED, assay_attention_fill_diagonal, 30, 0, 1, 32)};
static const assay_row loud_rows[] = {ROW(70, 32, HALVES, PACKED, assay_attention_fill_loud, 9000, 0, 1, 32),
                                      ROW(129, 16, HALVES, PACKED, assay_attention_fill_loud, 9000, 0, 0, 64),
                                      ROW(40, 16, BF16, PACKED, assay_attention_fill_loud, 1e35, 0, 0, 32)};
static const assay_row small_weight_rows[] = {
    ROW(129, 16, HALVES, PACKED, assay_attention_fill_small_late, 9, 4000, 0, 32),
    ROW(129, 16, BF16, PACKED, assay_attention_fill_small_late, 60, 1e26, 0, 64)};
static const assay_row subnormal_rows[] = {
    ROW(33, 16, FP16, PACKED, assay_attention_fill_subnormal, 6e-5, 0, 1, 0)};
static const assay_row nan_query_rows[] = {
    ROW(40, 16, HALVES, PACKED, assay_attention_fill_nan_query, NAN, 0, 0, 0),
    ROW(70, 64, HALVES, PITCHED, assay_attention_fill_nan_query, NAN, 0, 1, 32),
    ROW(40, 16, HALVES, PACKED, assay_attention_fill_nan_query, INFINITY, 0, 1, 0)};
static const assay_row nan_key_rows[] = {
    ROW(40, 16, HALVES, PACKED, assay_attention_fill_nan_key, NAN, 0, 1, 32),
    ROW(133, 64, HALVES, PITCHED, assay_attention_fill_nan_key, NAN, 0, 1, 64)};
static const assay_row nan_value_rows[] = {
    ROW(40, 16, HALVES, PACKED, assay_attention_fill_nan_value, NAN, 0, 0, 32),
    ROW(40, 16, HALVES, PACKED, assay_attention_fill_nan_value, NAN, 0, 1, 32),
    ROW(133, 64, HALVES, PITCHED, assay_attention_fill_nan_value, NAN, 0, 1, 64),
    ROW(133, 32, HALVES, PACKED, assay_attention_fill_nan_value, INFINITY, 0, 1, 64)};
static const assay_row masked_key_rows[] = {
    ROW(70, 16, HALVES, PACKED, assay_attention_fill_masked_key, 0, 0, 0, 32),
    ROW(133, 64, HALVES, PACKED, assay_attention_fill_masked_key, 0, 0, 1, 32)};

static const assay_row whole_output_rows[] = {NORMAL(37, 16, HALVES, PACKED, 1, 0),
                                              NORMAL(101, 64, HALVES, PACKED, 0, 0)};
static const assay_row untouched_rows[] = {NORMAL(50, 32, HALVES, PACKED | PITCHED, 1, 0)};
static const assay_row repeatable_rows[] = {NORMAL(150, 32, HALVES, PACKED | PITCHED, 1, 0)};
static const assay_row fresh_rows[] = {NORMAL(40, 16, HALVES, PACKED, 1, 0)};
static const assay_row thread_rows[] = {NORMAL(400, 16, HALVES, PACKED, 0, 0)};
static const assay_row thread_count_rows[] = {NORMAL(301, 32, HALVES, PACKED, 1, 0),
                                              NORMAL(301, 16, HALVES, PITCHED, 0, 32)};
/* Several tiles and blocks; the last row has values that a hidden weight of 0 does not hide. */
static const assay_row order_rows[] = {
    NORMAL(100, 16, HALVES, PITCHED, 1, 32), NORMAL(130, 32, BF16, PACKED, 0, 64),
    ROW(70, 64, FP16, PACKED, assay_attention_fill_ramp, 60, 0, 0, 32),
    ROW(133, 16, HALVES, PACKED, assay_attention_fill_nan_value, NAN, 0, 1, 64)};
static const assay_row stream_rows[] = {NORMAL(100, 32, HALVES, PITCHED, 1, 32),
                                        NORMAL(513, 64, HALVES, PACKED, 0, 0)};

/* The last row has queries enough to fill a GPU, whose variants then take more of them a block. */
static const assay_row head_rows[] = {HEADS(33, 16, 3, 2, HALVES, PACKED, 1, 0),
                                      HEADS(70, 24, 2, 3, HALVES, PACKED | PITCHED, 0, 32),
                                      HEADS(129, 16, 8, 8, FP16, PACKED, 1, 0)};
/* The same with tiles of 80 and 48 keys. In the last row blocks do not begin with a tile. */
static const assay_row many_head_rows[] = {HEADS(81, 64, 16, 8, BF16, PACKED, 0, 0),
                                           HEADS(49, 104, 16, 8, FP16, PACKED, 1, 0),
                                           {.dims = {225, 72, 8, 8},
                                            .dtypes = FP16,
                                            .layouts = PACKED,
                                            .fill = assay_attention_fill_nan_value,
                                            .a = NAN,
                                            .opt = {1}}};
static const assay_row interleaved_rows[] = {HEADS(33, 16, 3, 2, HALVES, INTERLEAVED, 1, 0),
                                             HEADS(70, 40, 4, 1, HALVES, INTERLEAVED, 0, 0)};
static const assay_row shared_rows[] = {HEADS(33, 16, 3, 2, HALVES, SHARED, 1, 0),
                                        HEADS(66, 64, 2, 2, HALVES, SHARED, 0, 0)};
/* Each of q, k and v, and o, has 2^31 elements and two batches more. */
static const assay_row huge_rows[] = {HEADS(16, 64, 1024, 2050, FP16, PACKED, 1, 0)};
static const assay_row long_rows[] = {NORMAL(2500, 8, FP16, PACKED, 1, 0)};

static const assay_row sanitize_rows[] = {
    NORMAL(33, 16, HALVES, PACKED, 0, 32), NORMAL(70, 32, FP16, PACKED | PITCHED, 1, 32),
    NORMAL(40, 64, BF16, PACKED, 1, 64), SHIFTED(35, 16, FP16, PACKED, 0, 1),
    ROW(70, 16, FP16, PACKED, assay_attention_fill_nan_value, NAN, 0, 1, 32)};

const assay_check assay_attention_checks[] = {
    CHECK("values", "worked_example", S, "the formula is wrong", .run = assay_attention_worked_example),
    CHECK("values", "single_key", S, "one key does not give its value back, bit for bit",
          .run = assay_attention_single_key),
    CHECK("values", "all_keys", S, "a row misses keys although nothing is masked", ROWS(full_rows)),
    CHECK("values", "causal_rows", S, "a row sees a later key, or misses an earlier one", ROWS(causal_rows)),
    CHECK("values", "few_keys", S, "a tile that is mostly empty is taken for a full one",
          ROWS(few_keys_rows)),
    CHECK("values", "tile_edges", S, "the last tile of keys is wrong when it is short", ROWS(tile_edge_rows)),
    CHECK("values", "scale", S, "the scores are not divided by sqrt(d)", ROWS(scale_rows),
          .run = assay_attention_scale),
    CHECK("values", "block_sizes", S, "a value of block_n changes the result", ROWS(block_rows)),
    CHECK("values", "causal_tiles", S, "the loop over key tiles ends before the diagonal of a row",
          ROWS(causal_tile_rows)),
    CHECK("values", "prefix_averages", S, "equal scores do not give the average of the visible values",
          .run = assay_attention_prefix_averages),
    CHECK("values", "output_rounding", S, "results are truncated, or rounded twice",
          .run = assay_attention_output_rounding),
    CHECK("values", "no_rows", S, "an empty sequence is an error or is written to", ROWS(no_rows)),
    CHECK("values", "longest", M, "a buffer or loop ends before 2048 rows", ROWS(longest_rows)),

    CHECK("layouts", "pitched_rows", S, "the row strides of q, k and v are mixed up", ROWS(pitched_rows)),
    CHECK("layouts", "fused_projection", S,
          "rows of q, k and v that lie beside each other are read as packed", ROWS(projection_rows)),
    CHECK("layouts", "repeated_key", S, "row stride 0 is taken for packed", ROWS(repeated_key_rows)),
    CHECK("layouts", "overlapping_rows", S, "a row stride below d is taken for an error", ROWS(window_rows)),
    CHECK("layouts", "misaligned_base", S, "vector loads need an aligned base", ROWS(misaligned_rows)),
    CHECK("layouts", "padded_nan", S, "what lies behind the last key or in a gap reaches the result",
          .run = assay_attention_padded_nan),

    CHECK("extremes", "large_scores", S, "the maximum is not subtracted", ROWS(large_score_rows)),
    CHECK("extremes", "negative_scores", S, "the maximum starts at 0 or at a finite stand-in",
          ROWS(negative_rows)),
    CHECK("extremes", "rising_maximum", S, "numerator or denominator is not rescaled when the maximum rises",
          ROWS(rising_rows)),
    CHECK("extremes", "falling_maximum", S, "the maximum is that of the last tile", ROWS(falling_rows)),
    CHECK("extremes", "rescaled_ones", S, "numerator and denominator are rescaled by different factors",
          .run = assay_attention_rescaled_ones),
    CHECK("extremes", "dominant_key", S, "one position of a tile is left out", ROWS(dominant_rows)),
    CHECK("extremes", "dominant_tiles", S, "a tile loses what an earlier or later one outweighs",
          .run = assay_attention_dominant_tiles),
    CHECK("extremes", "diagonal", S, "a causal row does not see its own key", ROWS(diagonal_rows)),
    CHECK("extremes", "large_values", S, "the sum of weighted values is held in 16 bits",
          .run = assay_attention_large_values),
    CHECK("extremes", "loud_values", S, "unnormalised sums overflow", ROWS(loud_rows)),
    CHECK("extremes", "small_weights", S, "small weights are dropped although their values are large",
          ROWS(small_weight_rows)),
    CHECK("extremes", "subnormal_values", S, "subnormal inputs or results become 0", ROWS(subnormal_rows)),
    CHECK("extremes", "nan_query", S, "a NaN in a query is swallowed by the maximum", ROWS(nan_query_rows)),
    CHECK("extremes", "nan_key", S, "a NaN in a key is lost, or reaches rows that do not see it",
          ROWS(nan_key_rows)),
    CHECK("extremes", "nan_value", S, "a NaN in a value is lost, or reaches rows or columns beside it",
          ROWS(nan_value_rows)),
    CHECK("extremes", "masked_keys", S, "a first tile of -inf scores makes NaN of all that follows",
          ROWS(masked_key_rows)),
    CHECK("extremes", "future_changes", S, "an earlier row depends on a later key or value",
          .run = assay_attention_future_changes),
    CHECK("extremes", "future_nan_keys", S, "NaN in a later key reaches earlier rows",
          .run = assay_attention_future_nan_keys),
    CHECK("extremes", "future_nan_values", S, "0 * NaN of a later value reaches earlier rows",
          .run = assay_attention_future_nan_values),

    CHECK("contract", "whole_output", S, "some elements of the output are never written",
          ROWS(whole_output_rows)),
    CHECK("contract", "inputs_untouched", S, "an input is used as scratch", ROWS(untouched_rows)),
    CHECK("contract", "repeatable", S, "two calls on the same input differ", ROWS(repeatable_rows),
          .run = assay_attention_repeatable),
    CHECK("contract", "fresh_contents", S, "a result of an earlier call is given again", ROWS(fresh_rows),
          .run = assay_attention_fresh_contents),
    CHECK("contract", "two_threads", M, "scratch is shared between concurrent calls", ROWS(thread_rows),
          .run = assay_attention_two_threads),
    CHECK("contract", "thread_count", M, "the result depends on the number of threads",
          ROWS(thread_count_rows), .run = assay_attention_thread_count),
    BACKEND_CHECK("contract", "thread_orders", S, ASSAY_ON_SIMT,
                  "the result depends on which thread or block comes first", ROWS(order_rows),
                  .run = assay_probe_thread_orders),
    BACKEND_CHECK("contract", "busy_stream", S, ASSAY_ON_CUDA, "the call waits for the whole device",
                  ROWS(stream_rows), .run = assay_probe_busy_stream),
    BACKEND_CHECK("contract", "graph_replay", S, ASSAY_ON_CUDA,
                  "the call cannot be captured, or a graph of it keeps old contents", ROWS(stream_rows),
                  .run = assay_probe_graph_replay),
    CHECK("contract", "large_strides", M, "offsets are computed in 32 bits",
          .run = assay_attention_large_strides),

    LIBRARY_CHECK("values", "any_head_size", S, "columns beyond a power of two are ignored, or the scale is",
                  .run = assay_attention_any_head_size),
    LIBRARY_CHECK("values", "heads_and_batches", S, "a head is attended with another one's keys",
                  ROWS(head_rows)),
    BACKEND_CHECK("values", "many_heads", M, ASSAY_ON_SIMT | ASSAY_ON_CUDA,
                  "larger blocks and tiles, which many queries get, are wrong", ROWS(many_head_rows),
                  .scope = ASSAY_SCOPE_LIBRARY),
    LIBRARY_CHECK("values", "head_tags", S, "heads or batches are written to each other's place",
                  .run = assay_attention_head_tags),
    LIBRARY_CHECK("values", "no_heads", S, "no batch or no head is an error or is written to",
                  ROWS(no_heads_rows)),
    LIBRARY_CHECK("layouts", "interleaved_heads", S, "the head stride is taken for n * d",
                  ROWS(interleaved_rows)),
    LIBRARY_CHECK("layouts", "shared_heads", S, "head or batch stride 0 of k and v is taken for packed",
                  ROWS(shared_rows)),
    /* Too much for the emulator, which takes millions of elements a second. */
    BACKEND_CHECK("contract", "full_size", L, ASSAY_ON_CPU | ASSAY_ON_CUDA,
                  "output indices are computed in 32 bits", .scope = ASSAY_SCOPE_LIBRARY,
                  .run = assay_attention_full_size),
    BACKEND_CHECK("contract", "full_inputs", L, ASSAY_ON_CPU | ASSAY_ON_CUDA,
                  "input indices are computed in 32 bits", ROWS(huge_rows), .scope = ASSAY_SCOPE_LIBRARY,
                  .run = assay_probe_huge),
    BACKEND_CHECK("contract", "random_shapes", L, ASSAY_ON_CPU | ASSAY_ON_CUDA,
                  "a combination of sizes that nobody thought of", .scope = ASSAY_SCOPE_LIBRARY,
                  .run = assay_attention_random_shapes),
    LIBRARY_CHECK("arguments", "rejects_pointers", S, "NULL or misaligned data reaches a kernel",
                  .run = assay_attention_rejects_pointers),
    LIBRARY_CHECK("arguments", "rejects_shapes", S, "a bad rank or size reaches a kernel",
                  .run = assay_attention_rejects_shapes),
    LIBRARY_CHECK("arguments", "rejects_dtypes", S, "an element type without a kernel reaches one",
                  .run = assay_attention_rejects_dtypes),
    LIBRARY_CHECK("arguments", "rejects_strides", S, "a negative or inner stride reaches a kernel",
                  .run = assay_attention_rejects_strides),
    LIBRARY_CHECK("arguments", "rejects_span_overflow", S,
                  "a view larger than the address space reaches a kernel",
                  .run = assay_attention_rejects_span_overflow),
    LIBRARY_CHECK("arguments", "rejects_output_layout", S, "an output with gaps is written as if packed",
                  .run = assay_attention_rejects_output_layout),
    LIBRARY_CHECK("arguments", "rejects_overlap", S, "the output may destroy input that is still to be read",
                  .run = assay_attention_rejects_overlap),
    LIBRARY_CHECK("arguments", "rejects_device", S, "memory of another device is used",
                  .run = assay_attention_rejects_device),
    LIBRARY_CHECK("arguments", "rejects_options", S, "a knob takes a value that it does not have",
                  .run = assay_attention_rejects_options),
    LIBRARY_CHECK("arguments", "workshop_limits", S, "the workshop's limits are lost or bind the library",
                  .run = assay_attention_workshop_limits),
    LIBRARY_CHECK("arguments", "long_sequence", M,
                  "sequences beyond the workshop's length take a path of their own", ROWS(long_rows)),
    SANITIZE_CHECKS(sanitize_rows),
    {.name = NULL},
};
