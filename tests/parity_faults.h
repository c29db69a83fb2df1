/* SPDX-License-Identifier: MIT */
/* parity_faults.h - rows of the kernels with a planted fault, in kernels/fault_*.cu: which tool must find
 * each. */
#ifndef ASSAY_PARITY_FAULTS_H
#define ASSAY_PARITY_FAULTS_H

#include "parity.h"

static void parity_seventh_bin(void *data, uint32_t count) {
  uint32_t *to = data;
  for (uint32_t i = 0; i < count; ++i) to[i] = i * 7;
}

#define PARITY_FAULT(source, kernel, kind, blocks, threads)                                                  \
  .file = "tests/kernels/fault_" source ".cu", .name = (kernel), .tool = ASSAY_TOOL_##kind,                  \
  .grid = {blocks, 1, 1}, .block = {threads, 1, 1}
/* x in, y out, n */
#define PARITY_MAP(x_count, y_count, n)                                                                      \
  .regions = {PARITY_IN("x", FLOATS, x_count, parity_small), PARITY_OUT("y", FLOATS, y_count)},              \
  .numbers = {n}, .number_count = 1
#define PARITY_BINS(x_count, bin_count, bin_fill, n)                                                         \
  .regions = {PARITY_IN("x", WORDS, x_count, parity_seventh_bin),                                            \
              PARITY_BOTH("bins", WORDS, bin_count, bin_fill)},                                              \
  .numbers = {n}, .number_count = 1
#define PARITY_DONE(x_count, partial_count, total_fill, n)                                                   \
  .regions = {PARITY_IN("x", FLOATS, x_count, parity_small), PARITY_OUT("partial", FLOATS, partial_count),   \
              PARITY_BOTH("count", WORDS, 1, parity_zero), PARITY_BOTH("total", FLOATS, 1, total_fill)},     \
  .numbers = {n}, .number_count = 1

static const parity_case parity_faults[] = {
    {PARITY_FAULT("races", "load_without_barrier", RACE, 1, 128), PARITY_MAP(128, 128, 128)},
    {PARITY_FAULT("races", "reuse_without_barrier", RACE, 1, 128), PARITY_MAP(512, 128, 512)},
    {PARITY_FAULT("races", "last_warp_without_sync", RACE, 1, 64), PARITY_MAP(64, 1, 64)},
    {PARITY_FAULT("races", "same_element_shared", RACE, 1, 128), PARITY_MAP(128, 128, 128)},
    {PARITY_FAULT("races", "same_element_global", RACE, 2, 64), PARITY_MAP(128, 64, 128)},
    {PARITY_FAULT("races", "plain_total", RACE, 6, 32),
     .regions = {PARITY_IN("x", FLOATS, 192, parity_small), PARITY_BOTH("total", FLOATS, 1, parity_zero)},
     .numbers = {192}, .number_count = 1},
    {PARITY_FAULT("races", "plain_histogram", RACE, 1, 128), PARITY_BINS(128, 32, parity_zero, 128)},
    {PARITY_FAULT("races", "clear_while_counting", RACE, 1, 128), PARITY_BINS(128, 32, parity_zero, 128)},
    {PARITY_FAULT("races", "plain_block_counter", RACE, 4, 32), PARITY_DONE(128, 4, parity_zero, 128)},
    {PARITY_FAULT("races", "count_before_all_wrote", RACE, 3, 64), PARITY_DONE(192, 192, parity_zero, 192)},
    {PARITY_FAULT("races", "count_without_fence", RACE, 4, 32), PARITY_DONE(128, 4, NULL, 128)},
    {PARITY_FAULT("races", "copies_without_wait", RACE, 1, 64), PARITY_MAP(256, 256, 256)},
    {PARITY_FAULT("races", "wait_for_one_too_few", RACE, 1, 64), PARITY_MAP(768, 768, 768)},
    {PARITY_FAULT("races", "one_buffer_for_two", RACE, 1, 64), PARITY_MAP(768, 768, 768)},
    {PARITY_FAULT("races", "stencil_in_place", RACE, 2, 64),
     .regions = {PARITY_BOTH("matrix", FLOATS, 128, parity_small)}, .numbers = {128}, .number_count = 1},
    {.file = "tests/kernels/fault_races.cu",
     .name = "transpose_in_place",
     .tool = ASSAY_TOOL_RACE,
     .grid = {2, 2, 1},
     .block = {16, 16, 1},
     .regions = {PARITY_BOTH("matrix", FLOATS, 900, parity_small)},
     .numbers = {30},
     .number_count = 1},
    {PARITY_FAULT("races", "scan_in_one_buffer", RACE, 1, 128), PARITY_MAP(128, 128, 128)},
    {PARITY_FAULT("races", "partials_without_barrier", RACE, 1, 128), PARITY_MAP(128, 1, 128)},
    {PARITY_FAULT("races", "result_overwritten", RACE, 1, 64), PARITY_MAP(64, 64, 64)},
    {PARITY_FAULT("races", "warp_overwrites_broadcast", RACE, 1, 64), PARITY_MAP(64, 64, 64)},
    {PARITY_FAULT("races", "peer_without_sync", RACE, 2, 32), .shared_bytes = 128, .cluster = 2,
     .regions = {PARITY_IN("x", WORDS, 32, parity_words), PARITY_OUT("y", WORDS, 64)}},

    {PARITY_FAULT("memory", "guard_lets_one_more", MEMORY, 2, 128), PARITY_MAP(200, 200, 200)},
    {PARITY_FAULT("memory", "next_of_the_last", MEMORY, 2, 128), PARITY_MAP(200, 200, 200)},
    {PARITY_FAULT("memory", "before_the_first", MEMORY, 2, 128), PARITY_MAP(200, 200, 200)},
    {PARITY_FAULT("memory", "index_of_32_bits", MEMORY, 2, 128), PARITY_MAP(200, 200, 200)},
    {PARITY_FAULT("memory", "into_the_next_array", MEMORY, 1, 64), PARITY_MAP(64, 64, 1)},
    {PARITY_FAULT("memory", "write_past_static", MEMORY, 1, 64), PARITY_MAP(64, 64, 2)},
    {PARITY_FAULT("memory", "past_dynamic", MEMORY, 1, 64), PARITY_MAP(64, 64, 64), .shared_bytes = 256},
    {PARITY_FAULT("memory", "vector_askew", MEMORY, 1, 64), PARITY_MAP(257, 256, 256)},
    {PARITY_FAULT("memory", "vector_past_end", MEMORY, 1, 64), PARITY_MAP(253, 253, 253)},
    {.file = "tests/kernels/fault_memory.cu",
     .name = "rows_for_columns",
     .tool = ASSAY_TOOL_MEMORY,
     .grid = {2, 2, 1},
     .block = {16, 16, 1},
     .regions = {PARITY_IN("in", FLOATS, 600, parity_small), PARITY_OUT("out", FLOATS, 600)},
     .numbers = {20, 30},
     .number_count = 2},
    {PARITY_FAULT("memory", "one_bin_too_many", MEMORY, 1, 128), PARITY_BINS(128, 64, parity_zero, 128)},
    {PARITY_FAULT("memory", "halo_past_end", MEMORY, 3, 64), PARITY_MAP(192, 192, 192)},
    {PARITY_FAULT("memory", "copy_past_end", MEMORY, 1, 64), PARITY_MAP(253, 64, 253)},
    {PARITY_FAULT("memory", "input_overwritten", MEMORY, 1, 64), PARITY_MAP(64, 64, 64)},

    {PARITY_FAULT("init", "tail_of_the_tile", INIT, 1, 128), PARITY_MAP(100, 1, 100)},
    {PARITY_FAULT("init", "adds_to_the_output", INIT, 2, 128), PARITY_MAP(200, 200, 200)},
    {PARITY_FAULT("init", "bins_not_cleared", INIT, 1, 128), PARITY_BINS(128, 32, NULL, 128)},
    {PARITY_FAULT("init", "shared_bins_not_cleared", INIT, 1, 128), PARITY_BINS(128, 32, parity_zero, 128)},
    {PARITY_FAULT("init", "absent_partials", INIT, 1, 128), PARITY_MAP(128, 1, 128)},
    {PARITY_FAULT("init", "block_without_work", INIT, 4, 32), PARITY_DONE(90, 4, NULL, 90)},
    {PARITY_FAULT("init", "edge_of_the_halo", INIT, 2, 64), PARITY_MAP(128, 128, 128)},
    {PARITY_FAULT("init", "padding_as_data", INIT, 1, 64), PARITY_MAP(64, 64, 1)},
    {PARITY_FAULT("init", "copies_leave_a_rest", INIT, 1, 64), PARITY_MAP(50, 64, 50)},

    {PARITY_FAULT("sync", "barrier_in_the_guard", SYNC, 1, 128), PARITY_MAP(100, 100, 100)},
    {PARITY_FAULT("sync", "leaves_before_barrier", SYNC, 1, 128), PARITY_MAP(100, 100, 100)},
    {PARITY_FAULT("sync", "barrier_in_each_branch", SYNC, 1, 64), PARITY_MAP(64, 64, 64)},
    {PARITY_FAULT("sync", "barrier_in_uneven_loop", SYNC, 1, 64), PARITY_MAP(64, 64, 64)},
    {PARITY_FAULT("sync", "mask_of_absent_lanes", SYNC, 1, 32), PARITY_MAP(32, 32, 32)},
    {PARITY_FAULT("sync", "shuffle_from_departed", SYNC, 1, 32), PARITY_MAP(20, 20, 20)},
    {PARITY_FAULT("sync", "shuffle_from_unnamed", SYNC, 1, 32), PARITY_MAP(32, 32, 32)},
    {PARITY_FAULT("sync", "mask_without_caller", SYNC, 1, 32), PARITY_MAP(32, 32, 32)},
    {PARITY_FAULT("sync", "half_a_warp", SYNC, 1, 48), PARITY_MAP(48, 48, 48)},
    {PARITY_FAULT("sync", "masks_disagree", SYNC, 1, 32), PARITY_MAP(32, 32, 32)},
    {PARITY_FAULT("sync", "flag_never_set", SYNC, 1, 32),
     .regions = {PARITY_IN("x", FLOATS, 32, parity_small), PARITY_OUT("y", FLOATS, 32),
                 PARITY_BOTH("flag", WORDS, 1, parity_zero)}},
    {PARITY_FAULT("sync", "cluster_not_complete", SYNC, 2, 32), PARITY_MAP(32, 32, 32), .cluster = 2},
};

/* Mistakes that no tool of ours finds: the tool says nothing. */
#define PARITY_UNSEEN(kernel, blocks, threads)                                                               \
  .file = "tests/kernels/fault_unseen.cu", .name = (kernel), .grid = {blocks, 1, 1}, .block = {threads, 1, 1}

static const parity_case parity_unseen[] = {
    {PARITY_UNSEEN("read_then_exchange", 2, 64),
     .regions = {PARITY_IN("x", WORDS, 64, parity_words), PARITY_BOTH("count", WORDS, 1, parity_zero)}},
    {PARITY_UNSEEN("fence_too_early", 4, 32), PARITY_DONE(128, 4, NULL, 128)},
    {PARITY_UNSEEN("into_the_next_row", 5, 64),
     .regions = {PARITY_IN("in", FLOATS, 200, parity_small), PARITY_BOTH("out", FLOATS, 200, parity_zero)},
     .numbers = {5, 40}, .number_count = 2},
};

#endif
