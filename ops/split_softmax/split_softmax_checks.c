/* SPDX-License-Identifier: MIT */
/* split_softmax_checks.c - the named checks of split softmax: what each provokes, and with which contents. */
#include <math.h>

#include "check_table.h"
#include "fill.h"
#include "probe.h"
#include "split_softmax_fills.h"

/* ---- rows ---------------------------------------------------------------------------------------------- */

#define OWN   (1u << ASSAY_SPLIT_SOFTMAX_OWN)
#define ROOMY (1u << ASSAY_SPLIT_SOFTMAX_ROOMY)
#define NONE  (1u << ASSAY_SPLIT_SOFTMAX_NONE)
#define BOTH  (OWN | NONE)

/* rows, columns, chunk, types, workspaces, contents with their parameters */
#define ROW(r, c, size, types, where, contents, p, q)                                                        \
  {                                                                                                          \
    .dims = {r, c}, .dtypes = (types), .layouts = (where), .fill = (contents), .a = (p), .b = (q), .opt = {  \
      size                                                                                                   \
    }                                                                                                        \
  }
#define DEGENERATE(r, c, size, types, where, contents, p, q)                                                 \
  {                                                                                                          \
    .dims = {r, c}, .dtypes = (types), .layouts = (where), .fill = (contents), .a = (p), .b = (q),           \
    .opt = {size}, .degenerate = true                                                                        \
  }
#define SHIFTED(r, c, size, by)                                                                              \
  {                                                                                                          \
    .dims = {r, c}, .dtypes = FLOATS, .layouts = BOTH, .fill = assay_fill_normal, .b = 1, .opt = {size},     \
    .shift = (by)                                                                                            \
  }
#define NORMAL(r, c, size, types, where) ROW(r, c, size, types, where, assay_fill_normal, 0, 1)

static const assay_row single_column_rows[] = {
    DEGENERATE(1, 1, 0, FLOATS, BOTH, assay_fill_constant, 0.7, 0),
    DEGENERATE(257, 1, 256, FLOATS, BOTH, assay_fill_normal, 0, 100),
    DEGENERATE(3, 1, 4096, FP32 | BF16, OWN, assay_fill_constant, -3e38, 0),
    ROW(2, 3, 0, FP32, OWN, assay_split_softmax_fill_spike, 88.8, 0),
};
static const assay_row vector_edge_rows[] = {
    NORMAL(3, 2, 0, FLOATS, BOTH),     NORMAL(3, 7, 256, FLOATS, OWN),    NORMAL(3, 8, 256, FLOATS, OWN),
    NORMAL(3, 9, 256, FLOATS, OWN),    NORMAL(3, 15, 256, FLOATS, OWN),   NORMAL(3, 16, 256, FLOATS, OWN),
    NORMAL(3, 17, 256, FLOATS, OWN),   NORMAL(3, 31, 256, FLOATS, OWN),   NORMAL(3, 32, 256, FLOATS, OWN),
    NORMAL(3, 33, 256, FLOATS, OWN),   NORMAL(3, 63, 256, FLOATS, OWN),   NORMAL(3, 64, 256, FLOATS, OWN),
    NORMAL(3, 65, 256, FLOATS, OWN),   NORMAL(2, 127, 256, FLOATS, OWN),  NORMAL(2, 129, 256, FLOATS, OWN),
    NORMAL(2, 255, 256, FLOATS, NONE), NORMAL(2, 273, 256, FLOATS, NONE),
};
static const assay_row prime_rows[] = {
    NORMAL(13, 101, 256, FLOATS, BOTH),
    NORMAL(7, 1021, 256, FLOATS, BOTH),
    NORMAL(3, 4093, 1024, FLOATS, BOTH),
    NORMAL(1, 16381, 0, FLOATS, BOTH),
};
static const assay_row many_rows[] = {NORMAL(1031, 3, 0, FLOATS, BOTH), NORMAL(257, 259, 256, FLOATS, BOTH)};
static const assay_row no_rows[] = {DEGENERATE(0, 5, 0, FLOATS, BOTH, assay_fill_normal, 0, 1),
                                    DEGENERATE(0, 131072, 256, FP32, BOTH, assay_fill_normal, 0, 1)};
static const assay_row fp16_rows[] = {ROW(2, 9000, 0, FP16, BOTH, assay_fill_normal, 0, 4),
                                      ROW(3, 600, 256, FP16, OWN, assay_fill_normal, 0, 3)};
static const assay_row bf16_rows[] = {ROW(2, 5000, 0, BF16, BOTH, assay_fill_normal, 0, 1),
                                      ROW(3, 600, 256, BF16, OWN, assay_fill_normal, 0, 2)};
static const assay_row long_sum_rows[] = {
    ROW(2, 4096, 4096, FP32, BOTH, assay_split_softmax_fill_lost_terms, 0, 0),
    ROW(2, 8200, 4096, FP32, BOTH, assay_split_softmax_fill_lost_terms, 0, 0),
    ROW(1, 131072, 0, FP32, OWN, assay_split_softmax_fill_lost_terms, 0, 0),
};
/* Contents that are uniform in [-3, 3) cost the judge less than normal ones. */
static const assay_row widest_rows[] = {ROW(1, 131072, 0, FLOATS, OWN, assay_fill_uniform, -3, 3),
                                        ROW(1, 131071, 256, FP16, NONE, assay_fill_uniform, -3, 3)};

/* Reported for kernels with one limit: every k*chunk - 1, k*chunk, k*chunk + 1. linkedin/Liger-Kernel#1252,
 * tile-ai/TileOPs#796. */
static const assay_row ragged_rows[] = {
    NORMAL(3, 255, 256, FLOATS, BOTH),   NORMAL(3, 256, 256, FLOATS, BOTH),
    NORMAL(3, 257, 256, FLOATS, BOTH),   NORMAL(3, 511, 256, FLOATS, BOTH),
    NORMAL(3, 512, 256, FLOATS, BOTH),   NORMAL(3, 513, 256, FLOATS, BOTH),
    NORMAL(3, 1279, 256, FLOATS, BOTH),  NORMAL(3, 1280, 256, FLOATS, BOTH),
    NORMAL(3, 1281, 256, FLOATS, BOTH),  NORMAL(2, 1023, 1024, FLOATS, BOTH),
    NORMAL(2, 1024, 1024, FLOATS, BOTH), NORMAL(2, 1025, 1024, FLOATS, BOTH),
    NORMAL(2, 3071, 1024, FLOATS, BOTH), NORMAL(2, 3072, 1024, FLOATS, BOTH),
    NORMAL(2, 3073, 1024, FLOATS, BOTH), NORMAL(2, 4095, 4096, FLOATS, OWN),
    NORMAL(2, 4096, 4096, FLOATS, OWN),  NORMAL(2, 4097, 4096, FLOATS, OWN),
    NORMAL(2, 12287, 4096, FLOATS, OWN), NORMAL(2, 12288, 4096, FLOATS, OWN),
    NORMAL(2, 12289, 4096, FLOATS, OWN),
};
static const assay_row lone_rows[] = {
    ROW(3, 257, 256, FLOATS, BOTH, assay_split_softmax_fill_last, 6, 0),
    ROW(2, 2049, 1024, FLOATS, BOTH, assay_split_softmax_fill_last, 8, 0),
    ROW(2, 4097, 4096, FLOATS, BOTH, assay_split_softmax_fill_last, 9, 0),
};
static const assay_row dominant_rows[] = {
    ROW(6, 1400, 256, FLOATS, BOTH, assay_split_softmax_fill_dominant, 120, 256),
    ROW(5, 4500, 1024, FLOATS, BOTH, assay_split_softmax_fill_dominant, 120, 1024),
    ROW(4, 12800, 4096, FLOATS, OWN, assay_split_softmax_fill_dominant, 120, 4096),
};
static const assay_row level_rows[] = {
    ROW(4, 1400, 256, FLOATS, BOTH, assay_split_softmax_fill_levels, 4, 256),
    ROW(3, 5000, 1024, FLOATS, BOTH, assay_split_softmax_fill_levels, 40, 1024),
    ROW(2, 17000, 4096, FLOATS, OWN, assay_split_softmax_fill_levels, 2, 4096),
};
static const assay_row rising_rows[] = {
    ROW(3, 1400, 256, FLOATS, BOTH, assay_split_softmax_fill_steps, 1.5, 256),
    ROW(2, 5000, 1024, FLOATS, BOTH, assay_split_softmax_fill_steps, 30, 1024),
    ROW(2, 17000, 4096, FLOATS, OWN, assay_split_softmax_fill_steps, 5, 4096),
};
static const assay_row falling_rows[] = {
    ROW(3, 1400, 256, FLOATS, BOTH, assay_split_softmax_fill_steps, -1.5, 256),
    ROW(2, 5000, 1024, FLOATS, BOTH, assay_split_softmax_fill_steps, -25, 1024),
    ROW(2, 17000, 4096, FLOATS, OWN, assay_split_softmax_fill_steps, -20, 4096),
};
static const assay_row separate_rows[] = {
    ROW(7, 700, 256, FLOATS, BOTH, assay_split_softmax_fill_row_levels, 17, 0),
    ROW(3, 9000, 4096, FLOATS, BOTH, assay_split_softmax_fill_row_levels, -30, 0),
};
static const assay_row chunk_size_rows[] = {NORMAL(2, 9001, 0, FLOATS, BOTH)};
static const assay_row misaligned_rows[] = {SHIFTED(3, 385, 256, 1), SHIFTED(3, 512, 256, 2),
                                            SHIFTED(3, 1030, 1024, 3)};

static const assay_row large_logit_rows[] = {ROW(5, 667, 256, FLOATS, BOTH, assay_fill_uniform, -1000, 1000),
                                             ROW(2, 4200, 0, FLOATS, OWN, assay_fill_normal, 1000, 2),
                                             ROW(3, 665, 256, FLOATS, OWN, assay_fill_normal, -1000, 2)};
static const assay_row limit_rows[] = {
    ROW(4, 600, 256, FP16, BOTH, assay_split_softmax_fill_limits, 65504, 0),
    ROW(4, 600, 256, FP32 | BF16, BOTH, assay_split_softmax_fill_limits, 3e38, 0)};
static const assay_row subnormal_rows[] = {
    ROW(3, 370, 256, FP32 | BF16, BOTH, assay_split_softmax_fill_subnormals, 1e-38, 0),
    ROW(3, 370, 256, FP16, BOTH, assay_split_softmax_fill_subnormals, 6e-5, 0)};
static const assay_row deep_rows[] = {
    ROW(3, 733, 256, FLOATS, BOTH, assay_fill_normal, -60000, 40),
    ROW(3, 664, 256, FP32, OWN, assay_fill_normal, -1e5, 1),
    DEGENERATE(3, 664, 256, FP32 | BF16, BOTH, assay_fill_constant, -3e38, 0),
    DEGENERATE(2, 300, 256, FP32, OWN, assay_fill_constant, -0x1.fffffep127, 0),
};
static const assay_row zero_start_rows[] = {ROW(3, 533, 256, FLOATS, BOTH, assay_fill_uniform, -200, -110),
                                            ROW(2, 4130, 0, FLOATS, OWN, assay_fill_uniform, -200, -110)};
static const assay_row masked_rows[] = {
    ROW(5, 640, 256, FLOATS, BOTH, assay_split_softmax_fill_masked, 0.5, 0),
    ROW(3, 5115, 1024, FLOATS, OWN, assay_split_softmax_fill_masked, 0.95, 0)};
static const assay_row masked_chunk_rows[] = {
    ROW(6, 1400, 256, FLOATS, BOTH, assay_split_softmax_fill_masked_chunks, 0, 256),
    ROW(6, 4500, 1024, FLOATS, BOTH, assay_split_softmax_fill_masked_chunks, 0, 1024),
    ROW(6, 12800, 4096, FP16, OWN, assay_split_softmax_fill_masked_chunks, 0, 4096)};
static const assay_row leading_rows[] = {
    ROW(4, 1400, 256, FLOATS, BOTH, assay_split_softmax_fill_leading_masked, 0, 256),
    ROW(3, 4500, 1024, FLOATS, OWN, assay_split_softmax_fill_leading_masked, -50, 1024)};
static const assay_row masked_row_rows[] = {
    ROW(4, 637, 256, FLOATS, BOTH, assay_split_softmax_fill_masked_rows, 0, 0),
    ROW(3, 5000, 0, FLOATS, OWN, assay_split_softmax_fill_masked_rows, 0, 0)};
static const assay_row infinity_rows[] = {
    ROW(8, 637, 256, FLOATS, BOTH, assay_split_softmax_fill_special, INFINITY, 0),
    ROW(8, 2500, 1024, FLOATS, OWN, assay_split_softmax_fill_special, INFINITY, 0)};
static const assay_row nan_rows[] = {
    ROW(8, 637, 256, FLOATS, BOTH, assay_split_softmax_fill_special, NAN, 0),
    ROW(8, 2500, 1024, FLOATS, OWN, assay_split_softmax_fill_special, NAN, 0)};
static const assay_row nan_masked_rows[] = {
    ROW(6, 700, 256, FLOATS, BOTH, assay_split_softmax_fill_special_masked, NAN, 256),
    ROW(6, 700, 256, FLOATS, OWN, assay_split_softmax_fill_special_masked, INFINITY, 256)};
static const assay_row tail_rows[] = {
    ROW(2, 1300, 256, FLOATS, BOTH, assay_split_softmax_fill_ramp, 5, -100),
    ROW(2, 9000, 4096, FLOATS, OWN, assay_split_softmax_fill_ramp, 0, -105)};

static const assay_row whole_output_rows[] = {
    NORMAL(5, 1030, 256, FLOATS, BOTH),
    ROW(3, 533, 256, FLOATS, OWN, assay_split_softmax_fill_masked, 0.9, 0)};
static const assay_row untouched_rows[] = {NORMAL(3, 650, 256, FLOATS, BOTH | ROOMY)};
static const assay_row repeatable_rows[] = {NORMAL(5, 1300, 256, FLOATS, NONE)};
static const assay_row fresh_rows[] = {NORMAL(4, 665, 256, FLOATS, BOTH)};
static const assay_row thread_count_rows[] = {
    ROW(3, 30001, 1024, FP32 | FP16, OWN, assay_fill_uniform, -4, 4),
    ROW(1, 70000, 256, BF16, NONE, assay_fill_uniform, -4, 4)};
/* The tall one has more pieces and more rows than a kernel has blocks whose grid just fills a GPU. */
static const assay_row order_rows[] = {
    NORMAL(2, 700, 256, FP32, BOTH),
    NORMAL(1, 9000, 0, FP16, OWN),
    ROW(2, 1400, 256, FP32, OWN, assay_split_softmax_fill_steps, 30, 256),
    NORMAL(1060, 200, 256, FP32, NONE),
};
static const assay_row stream_rows[] = {NORMAL(5, 3000, 256, FLOATS, BOTH),
                                        NORMAL(3, 70000, 4096, FP16, BOTH)};
static const assay_row optional_rows[] = {NORMAL(3, 2700, 256, FLOATS, OWN), NORMAL(2, 9000, 0, FP16, OWN)};
/* The states fill the workspace to its last byte, and behind it nothing is mapped. */
static const assay_row overrun_rows[] = {
    NORMAL(8, 768, 256, FLOATS, OWN),  NORMAL(8, 700, 256, FLOATS, OWN), NORMAL(8, 2048, 1024, FP32, OWN),
    NORMAL(8, 2049, 1024, FP16, OWN),  NORMAL(8, 4096, 4096, BF16, OWN), NORMAL(8, 4097, 4096, FP16, OWN),
    NORMAL(1, 1792, 256, FLOATS, OWN), NORMAL(16, 5, 0, FLOATS, OWN),
};
static const assay_row contents_rows[] = {NORMAL(4, 1300, 256, FLOATS, OWN | ROOMY)};

static const assay_row sanitize_rows[] = {NORMAL(2, 700, 256, FP32, BOTH), NORMAL(3, 600, 256, HALVES, OWN),
                                          NORMAL(1, 2100, 1024, FP16, NONE), SHIFTED(1, 530, 256, 1)};

/* ---- the table ----------------------------------------------------------------------------------------- */

const assay_check assay_split_softmax_checks[] = {
    CHECK("values", "worked_example", S, "the formula is wrong", .run = assay_split_softmax_worked_example),
    CHECK("values", "single_column", S, "the first element is left out of the maximum",
          ROWS(single_column_rows)),
    CHECK("values", "vector_edges", S, "the tail behind the last full vector is wrong",
          ROWS(vector_edge_rows)),
    CHECK("values", "ragged_primes", S, "sizes that are no multiple of anything", ROWS(prime_rows)),
    CHECK("values", "many_rows", M, "rows are lost between blocks or threads", ROWS(many_rows)),
    CHECK("values", "no_rows", S, "an empty matrix is an error or is written to", ROWS(no_rows)),
    CHECK("values", "fp16_rounding", S, "FP16 results are truncated, or their subnormals flushed",
          ROWS(fp16_rows)),
    CHECK("values", "bf16_rounding", S, "BF16 results are truncated instead of rounded", ROWS(bf16_rows)),
    CHECK("values", "uniform_rows", M, "the sum of a long row is held in 16 bits",
          .run = assay_split_softmax_uniform_rows),
    CHECK("values", "alternating_rows", M, "small terms are lost from a 16-bit sum, or small results flushed",
          .run = assay_split_softmax_alternating_rows),
    CHECK("values", "long_sums", M, "one FP32 running sum over a chunk or a row loses the small terms",
          ROWS(long_sum_rows)),

    CHECK("chunks", "ragged_last_chunk", S, "the last chunk is dropped, read past its end, or empty",
          ROWS(ragged_rows)),
    CHECK("chunks", "lone_last_element", S, "a last chunk of one element is dropped", ROWS(lone_rows)),
    CHECK("chunks", "dominant_in_each_chunk", S, "the maximum of some chunk does not reach the row",
          ROWS(dominant_rows)),
    CHECK("chunks", "levels_of_chunks", S, "sums of chunks are added without rescaling", ROWS(level_rows)),
    CHECK("chunks", "rising_maximum", S, "what is summed so far is not rescaled when the maximum rises",
          ROWS(rising_rows)),
    CHECK("chunks", "falling_maximum", S, "a later chunk's sum is not rescaled to the earlier maximum",
          ROWS(falling_rows)),
    CHECK("chunks", "separate_rows", S, "a row is merged or normalised with the states of another",
          ROWS(separate_rows)),
    CHECK("chunks", "every_chunk_size", S, "a value of `chunk` is ignored or changes the result",
          ROWS(chunk_size_rows), .run = assay_split_softmax_every_chunk_size),
    CHECK("chunks", "misaligned_base", S, "vector loads need an aligned base", ROWS(misaligned_rows)),
    CHECK("chunks", "widest_row", M, "a buffer or loop ends before 131072 columns", ROWS(widest_rows)),
    CHECK("chunks", "block_limits", M, "rows just past a power of two take a path of their own",
          .run = assay_split_softmax_block_limits),

    CHECK("extremes", "large_logits", S, "the maximum is not subtracted", ROWS(large_logit_rows)),
    CHECK("extremes", "half_limits", S, "the largest finite logits overflow", ROWS(limit_rows)),
    CHECK("extremes", "subnormal_logits", S, "subnormal logits are widened wrongly", ROWS(subnormal_rows)),
    CHECK("extremes", "deep_negative", S, "the maximum starts at a finite stand-in for -inf",
          ROWS(deep_rows)),
    CHECK("extremes", "zero_start", S, "the maximum starts at 0", ROWS(zero_start_rows)),
    CHECK("extremes", "masked_entries", S, "-inf entries do not give exact zeros", ROWS(masked_rows)),
    CHECK("extremes", "masked_chunks", S, "a chunk of -inf makes its row NaN", ROWS(masked_chunk_rows)),
    CHECK("extremes", "leading_masked_chunks", S, "merging begins with (-inf, 0) and -inf - -inf",
          ROWS(leading_rows)),
    CHECK("extremes", "masked_rows", S, "a row of -inf does not give NaN, or harms its neighbours",
          ROWS(masked_row_rows)),
    CHECK("extremes", "positive_infinity", S, "a row with +inf gives plausible finite numbers",
          ROWS(infinity_rows)),
    CHECK("extremes", "nan_rows", S, "a NaN is swallowed by a maximum", ROWS(nan_rows)),
    CHECK("extremes", "nan_in_masked_chunk", S, "a NaN among -inf is skipped with its chunk",
          ROWS(nan_masked_rows)),
    CHECK("extremes", "falling_tail", S, "small results are cut off above the subnormals", ROWS(tail_rows)),

    CHECK("contract", "whole_output", S, "some elements of the output are never written",
          ROWS(whole_output_rows)),
    CHECK("contract", "inputs_untouched", S, "the input is used as scratch", ROWS(untouched_rows)),
    CHECK("contract", "repeatable", S, "two calls on the same input differ", ROWS(repeatable_rows),
          .run = assay_split_softmax_repeatable),
    CHECK("contract", "fresh_contents", S, "a result of an earlier call is given again", ROWS(fresh_rows),
          .run = assay_split_softmax_fresh_contents),
    CHECK("contract", "workspace_overrun", S, "more workspace is written than was asked for",
          ROWS(overrun_rows)),
    CHECK("contract", "workspace_contents", S, "the workspace is read before it is written",
          ROWS(contents_rows), .run = assay_split_softmax_repeatable),
    CHECK("contract", "workspace_or_not", S, "results depend on who owns the scratch", ROWS(optional_rows),
          .run = assay_split_softmax_workspace_or_not),
    CHECK("contract", "own_workspaces", M, "two calls with a workspace each still share something",
          .run = assay_split_softmax_own_workspaces),
    CHECK("contract", "private_scratch", M, "calls without a workspace share a hidden one",
          .run = assay_split_softmax_private_scratch),
    CHECK("contract", "thread_count", M, "the result depends on the number of threads",
          ROWS(thread_count_rows), .run = assay_split_softmax_thread_count),

    BACKEND_CHECK("contract", "thread_orders", S, ASSAY_ON_SIMT,
                  "the result depends on which thread or block comes first", ROWS(order_rows),
                  .run = assay_probe_thread_orders),
    BACKEND_CHECK("contract", "busy_stream", S, ASSAY_ON_CUDA, "the call waits for the whole device",
                  ROWS(stream_rows), .run = assay_probe_busy_stream),
    BACKEND_CHECK("contract", "graph_replay", S, ASSAY_ON_CUDA,
                  "the call cannot be captured, or a graph of it keeps old contents", ROWS(stream_rows),
                  .run = assay_probe_graph_replay),
    /* Too much for the emulator, which takes millions of elements a second. */
    BACKEND_CHECK("contract", "full_size", L, ASSAY_ON_CPU | ASSAY_ON_CUDA, "indices are computed in 32 bits",
                  .run = assay_split_softmax_full_size),
    BACKEND_CHECK("contract", "random_shapes", L, ASSAY_ON_CPU | ASSAY_ON_CUDA,
                  "a combination of sizes that nobody thought of", .scope = ASSAY_SCOPE_LIBRARY,
                  .run = assay_split_softmax_random_shapes),
    LIBRARY_CHECK("arguments", "rejects_pointers", S, "NULL or misaligned data reaches a kernel",
                  .run = assay_split_softmax_rejects_pointers),
    LIBRARY_CHECK("arguments", "rejects_shapes", S, "a bad rank or size reaches a kernel",
                  .run = assay_split_softmax_rejects_shapes),
    LIBRARY_CHECK("arguments", "rejects_dtypes", S, "an element type without a kernel reaches one",
                  .run = assay_split_softmax_rejects_dtypes),
    LIBRARY_CHECK("arguments", "rejects_strides", S, "a negative stride reaches a kernel",
                  .run = assay_split_softmax_rejects_strides),
    LIBRARY_CHECK("arguments", "rejects_gaps", S, "a view with gaps is read or written as if packed",
                  .run = assay_split_softmax_rejects_gaps),
    LIBRARY_CHECK("arguments", "rejects_span_overflow", S,
                  "a matrix larger than the address space reaches a kernel",
                  .run = assay_split_softmax_rejects_span_overflow),
    LIBRARY_CHECK("arguments", "rejects_overlap", S, "the output may destroy input that is still to be read",
                  .run = assay_split_softmax_rejects_overlap),
    LIBRARY_CHECK("arguments", "rejects_device", S, "memory of another device is used",
                  .run = assay_split_softmax_rejects_device),
    LIBRARY_CHECK("arguments", "rejects_options", S, "a chunk size that no kernel has is rounded or ignored",
                  .run = assay_split_softmax_rejects_options),
    LIBRARY_CHECK("arguments", "rejects_workspace_size", S, "a workspace that is too small is overrun",
                  .run = assay_split_softmax_rejects_workspace_size),
    LIBRARY_CHECK("arguments", "rejects_workspace_type", S,
                  "a workspace of another kind is written as floats",
                  .run = assay_split_softmax_rejects_workspace_type),
    LIBRARY_CHECK("arguments", "rejects_workspace_place", S,
                  "a workspace that is misaligned, or lies in x or y, is used",
                  .run = assay_split_softmax_rejects_workspace_place),
    LIBRARY_CHECK("arguments", "workshop_limits", S,
                  "the workshop's width limit is lost or binds the library",
                  .run = assay_split_softmax_workshop_limits),
    LIBRARY_CHECK("arguments", "beyond_limits", M,
                  "rows beyond the workshop's width take a path never tested",
                  .run = assay_split_softmax_beyond_limits),
    SANITIZE_CHECKS(sanitize_rows),
    {.name = NULL},
};
