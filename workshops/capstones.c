/* SPDX-License-Identifier: MIT */
/* capstones.c - the tables of the capstones, the tasks at the end of the course (docs/capstones.md). */
#include "practice.h"

#include "shared_workspace.h"

#define STEPS(table) .steps = (table), .step_count = (int)(sizeof(table) / sizeof((table)[0]))

/* ---- A: tiles of keys in the future ---------------------------------------------------------------------
 */

/* One row, then one behind a tile of 16, 32, 64 and 128 keys, with both values of block_n; and NaN or other
 * numbers in everything that a row does not see. */
#define CAUSAL "^(causal_tiles|future_changes|future_nan_keys|future_nan_values)$"
#define SHORT                                                                                                \
  "17x32:causal=1:block_n=32:fp16,17x32:causal=1:block_n=64:fp16,129x32:causal=1:block_n=32:fp16,"           \
  "129x32:causal=1:block_n=64:fp16"
#define LONG                                                                                                 \
  "2048x64:causal=1:block_n=32:fp16,2048x64:causal=1:block_n=64:fp16,8192x64:causal=1:block_n=64:fp16"
#define PAIR "--library", "--backend", "cuda", "--variant", "tiles", "--baseline", "all_tiles"

static const assay_practice_step future_tiles[] = {
    {.what =
         "the reference solution, which ends its loop at the last row of its tile, where this machine can",
     .command = "check",
     .arguments = {"--solution", "--filter", CAUSAL},
     .small = {"--solution", "--tier", "S", "--filter", CAUSAL}},
    {.what = "the kernel that skips, emulated",
     .variant = "tiles",
     .command = "check",
     .arguments = {"--library", "--variant", "tiles", "--backend", "simt", "--filter", CAUSAL},
     .small = {"--library", "--variant", "tiles", "--backend", "simt", "--filter", "^causal_tiles$"}},
    {.what = "the same kernel without skipping, emulated",
     .variant = "all_tiles",
     .command = "check",
     .arguments = {"--library", "--variant", "all_tiles", "--backend", "simt", "--filter", CAUSAL},
     .small = {"--library", "--variant", "all_tiles", "--backend", "simt", "--filter", "^causal_tiles$"}},
    {.what = "both on the GPU",
     .need = PRACTICE_NEEDS_GPU,
     .variant = "tiles",
     .command = "check",
     .arguments = {"--library", "--backend", "cuda", "--filter", CAUSAL},
     .small = {"--library", "--backend", "cuda", "--filter", CAUSAL}},
    {.what = "few rows, as a graph: there are hardly any tiles to skip",
     .need = PRACTICE_NEEDS_GPU,
     .variant = "all_tiles",
     .command = "bench",
     .arguments = {PAIR, "--mode", "graph", "--shape", SHORT},
     .small = {PAIR, "--mode", "graph", "--quick", "--shape", SHORT}},
    {.what = "many rows, as a graph: nearly half of all tiles lie in the future",
     .need = PRACTICE_NEEDS_GPU,
     .variant = "all_tiles",
     .command = "bench",
     .arguments = {PAIR, "--mode", "graph", "--shape", LONG},
     .small = {PAIR, "--mode", "graph", "--quick", "--shape", LONG}},
    {.what = "few rows and many between two events, the host's part of a call included",
     .need = PRACTICE_NEEDS_GPU,
     .variant = "all_tiles",
     .command = "bench",
     .arguments = {PAIR, "--mode", "events", "--shape", SHORT "," LONG},
     .small = {PAIR, "--mode", "events", "--quick", "--shape", SHORT "," LONG}},
};

static const char *const future_tiles_by_hand[] = {
    "in C, on any machine: keep a copy of your work/streaming_attention.c whose loop over keys runs to the "
    "end,",
    "  and hides what a row does not see; end the loop of the other at the row's own key; then",
    "  ./assay bench streaming_attention --against COPY.c --shape 129x32:causal=1,2048x64:causal=1", NULL};

/* ---- B: a workspace for one call ------------------------------------------------------------------------
 */

#define OWNERSHIP                                                                                            \
  "^(workspace_overrun|workspace_contents|workspace_or_not|own_workspaces|private_scratch|"                  \
  "rejects_workspace_size|rejects_workspace_type|rejects_workspace_place|rejects_device)$"
#define WITH_WORKSPACE "4x32769:exact_workspace:fp16,64x131072:exact_workspace:fp16"
#define ALLOCATING     "--library", "--backend", "cuda", "--variant", "staged", "--baseline", "staged_allocating"

static const assay_practice_step workspaces[] = {
    {.what =
         "bytes, type, alignment and place of a workspace, and calls side by side with one each, on the CPU",
     .command = "check",
     .arguments = {"--library", "--backend", "cpu", "--variant", "plain", "--filter", OWNERSHIP},
     .small = {"--library", "--backend", "cpu", "--variant", "plain", "--tier", "S", "--filter", OWNERSHIP}},
    {.what = "two calls with one workspace, stage by stage, emulated", .show = workspace_show},
    {.what = "two calls with one workspace on two streams",
     .need = PRACTICE_NEEDS_GPU,
     .variant = "staged",
     .show = workspace_show},
    {.what = "two streams with a workspace each, and the refusals, on the GPU",
     .need = PRACTICE_NEEDS_GPU,
     .variant = "staged",
     .command = "check",
     .arguments = {"--library", "--backend", "cuda", "--variant", "staged", "--filter", OWNERSHIP},
     .small = {"--library", "--backend", "cuda", "--variant", "staged", "--filter", OWNERSHIP}},
    {.what = "the caller's workspace and an allocation in every call, as a graph",
     .need = PRACTICE_NEEDS_GPU,
     .variant = "staged",
     .command = "bench",
     .arguments = {ALLOCATING, "--mode", "graph", "--shape", WITH_WORKSPACE},
     .small = {ALLOCATING, "--mode", "graph", "--quick", "--shape", WITH_WORKSPACE}},
    {.what = "the same between two events, as a program calls it",
     .need = PRACTICE_NEEDS_GPU,
     .variant = "staged",
     .command = "bench",
     .arguments = {ALLOCATING, "--mode", "events", "--shape", WITH_WORKSPACE},
     .small = {ALLOCATING, "--mode", "events", "--quick", "--shape", WITH_WORKSPACE}},
};

/* ---- C: three stages, three kernels ---------------------------------------------------------------------
 */

#define STAGES                                                                                               \
  "^(worked_example|ragged_primes|ragged_last_chunk|lone_last_element|levels_of_chunks|rising_maximum|"      \
  "masked_chunks|every_chunk_size)$"
#define TOOLS "^(sanitize_memory|sanitize_race|sanitize_init|sanitize_sync)$"
#define WIDE  "4x32769:exact_workspace:fp16,64x131072:exact_workspace:fp16"

static const assay_practice_step three_stages[] = {
    {.what = "the reference solution in CUDA C over ragged widths, on the GPU or emulated",
     .command = "check",
     .arguments = {"--solution", "--filter", STAGES},
     .small = {"--solution", "--tier", "S", "--filter", "^(worked_example|lone_last_element)$"}},
    {.what = "the emulator's tools on the solution: accesses outside, races, unwritten memory, barriers",
     .command = "check",
     .arguments = {"--solution", "--backend", "simt", "--filter", TOOLS},
     .small = {"--solution", "--backend", "simt", "--filter", "^sanitize_race$"}},
    {.what = "the same tools on the library's three kernels",
     .variant = "staged",
     .command = "check",
     .arguments = {"--library", "--variant", "staged", "--backend", "simt", "--filter", TOOLS},
     .small = {"--library", "--variant", "staged", "--backend", "simt", "--filter", "^sanitize_race$"}},
    {.what = "ragged widths, streams and graphs on the GPU",
     .need = PRACTICE_NEEDS_GPU,
     .variant = "staged",
     .command = "check",
     .arguments = {"--library", "--variant", "staged", "--backend", "cuda"},
     .small = {"--library", "--variant", "staged", "--backend", "cuda", "--tier", "S"}},
    {.what = "three launches against the one of a cluster, as a graph",
     .need = PRACTICE_NEEDS_GPU,
     .variant = "staged",
     .command = "bench",
     .arguments = {"--library", "--backend", "cuda", "--mode", "graph", "--variant", "staged", "--baseline",
                   "cluster", "--shape", WIDE},
     .small = {"--library", "--backend", "cuda", "--mode", "graph", "--variant", "staged", "--baseline",
               "cluster", "--quick", "--shape", WIDE}},
};

static const char *const three_stages_by_hand[] = {
    "on a GPU, before it is timed, every kernel under memcheck, racecheck, initcheck and synccheck:",
    "  scripts/gpu.sh sanitize split_softmax",
    "the same three stages in Triton, timed by the same graphs in the same rounds:",
    "  python3 -m assay.bench split_softmax --backend cuda", NULL};

/* ---- the table ------------------------------------------------------------------------------------------
 */

const assay_practice assay_capstones[] = {
    {.name = "capstone_a",
     .exercise = "streaming_attention",
     .title = "Capstone A: skip the key tiles of the future",
     .change = "where the loop over key tiles ends: at the largest query of the tile, or at the last key",
     .comparison = "tiles, which skips, against all_tiles, the same kernel without; each against the oracle",
     .prediction = "2048x64: tiles < 0.7 * all_tiles",
     .question =
         "Which share of the tiles is skipped at N = 129 and at N = 2048, and why is the time that is "
         "saved not that share?",
     .by_hand = future_tiles_by_hand,
     STEPS(future_tiles)},
    {.name = "capstone_b",
     .exercise = "split_softmax",
     .title = "Capstone B: a workspace belongs to one call",
     .change = "who owns the memory between the stages: each call, the caller, or two calls at once",
     .comparison =
         "one workspace each against one for both; the caller's against an allocation in every call",
     .prediction = "4x32769: staged < 1 * staged_allocating",
     .question =
         "Until when does a workspace belong to its call on a stream, and what would have to be added "
         "before two calls might share one?",
     STEPS(workspaces)},
    {.name = "capstone_c",
     .exercise = "split_softmax",
     .title = "Capstone C: three stages as three kernels",
     .change = "what orders the stages: launches on one stream, or barriers inside one launch",
     .comparison =
         "the three kernels against the one of a cluster, and, by hand, against the same three in Triton",
     .prediction = "64x131072: staged > 1 * cluster",
     .question =
         "What does a launch order that no barrier of a block can, and what does it cost at each shape?",
     .by_hand = three_stages_by_hand,
     STEPS(three_stages)},
};
const int assay_capstone_count = (int)(sizeof assay_capstones / sizeof assay_capstones[0]);
