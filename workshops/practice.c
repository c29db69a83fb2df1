/* SPDX-License-Identifier: MIT */
/* practice.c - the tables of the practice sessions, one a workshop. */
#include "practice.h"

#include <string.h>

#define STEPS(table) .steps = (table), .step_count = (int)(sizeof(table) / sizeof((table)[0]))

static const assay_practice_step direct_or_copy[] = {
    {.what = "a small matrix read by columns, directly and through a copy that is timed with it",
     .command = "bench",
     .arguments = {"--library", "--shape", "256x257:transposed:fp16"},
     .small = {"--library", "--quick", "--shape", "256x257:transposed:fp16"}},
    {.what = "the same for a matrix that no longer fits a core's own cache",
     .command = "bench",
     .arguments = {"--library", "--shape", "1024x1024:transposed:fp16"},
     .small = {"--library", "--quick", "--shape", "1024x1024:transposed:fp16"}},
};

static const assay_practice_step fused_or_eager[] = {
    {.what = "short rows: one pass against an expression of several passes",
     .command = "bench",
     .arguments = {"--library", "--shape", "256x1025:fp16"},
     .small = {"--library", "--quick", "--shape", "256x1025:fp16"}},
    {.what = "rows four times as long and four times as many",
     .command = "bench",
     .arguments = {"--library", "--shape", "1024x4097:fp16"},
     .small = {"--library", "--quick", "--shape", "256x1025:fp16"}},
};

static const assay_practice_step group_then_tile[] = {
    {.what = "a tiny ragged product: group 1, 4 and 8, then tile_m 16, 32 and 64",
     .command = "bench",
     .arguments = {"--solution", "--shape", "127x65x33:fp16"},
     .small = {"--solution", "--quick", "--shape", "127x65x33:fp16"}},
    {.what = "the same knobs on a cube of 512",
     .command = "bench",
     .arguments = {"--solution", "--shape", "512x512x512:fp16"},
     .small = {"--solution", "--quick", "--shape", "127x65x33:fp16"}},
    {.what = "group where it decides which tiles meet in a GPU's second-level cache",
     .need = PRACTICE_NEEDS_GPU,
     .command = "bench",
     .arguments = {"--library", "--backend", "cuda", "--shape", "512x512x512:fp16"},
     .small = {"--library", "--backend", "cuda", "--quick", "--shape", "127x65x33:fp16"}},
};

static const assay_practice_step partitions_and_trees[] = {
    {.what = "one set cut in every way and merged in every order",
     .command = "check",
     .arguments = {"--solution", "--all", "--filter",
                   "^(every_cut|left_fold|right_fold|balanced_tree|random_tree)$"},
     .small = {"--solution", "--all", "--tier", "S", "--filter",
               "^(every_cut|left_fold|balanced_tree|random_tree)$"}},
    {.what = "logits around +1000 and -1000",
     .command = "check",
     .arguments = {"--solution", "--all", "--filter",
                   "^(large_elements|distant_states|rising_parts|rising_maximum)$"},
     .small = {"--solution", "--all", "--tier", "S", "--filter", "^(large_elements|distant_states)$"}},
    {.what = "states of nothing",
     .command = "check",
     .arguments = {"--solution", "--all", "--filter",
                   "^(no_elements|empty_identity|empty_leaves|empty_state_finish)$"},
     .small = {"--solution", "--all", "--tier", "S", "--filter",
               "^(no_elements|empty_identity|empty_leaves)$"}},
};

static const assay_practice_step chunk_sizes[] = {
    {.what = "few wide rows: chunks of 256, 1024 and 4096",
     .command = "bench",
     .arguments = {"--solution", "--shape", "4x32769:fp16"},
     .small = {"--solution", "--quick", "--shape", "4x32769:fp16"}},
    {.what = "sixteen times as many rows, four times as wide",
     .command = "bench",
     .arguments = {"--solution", "--shape", "64x131072:fp16"},
     .small = {"--solution", "--quick", "--shape", "4x32769:fp16"}},
    {.what = "the same where every stage is a launch",
     .need = PRACTICE_NEEDS_GPU,
     .command = "bench",
     .arguments = {"--library", "--backend", "cuda", "--shape", "4x32769:fp16"},
     .small = {"--library", "--backend", "cuda", "--quick", "--shape", "4x32769:fp16"}},
};

static const assay_practice_step key_tiles[] = {
    {.what = "causal attention over 129 keys, tiles of 32 and of 64, against stored scores",
     .command = "bench",
     .arguments = {"--solution", "--shape", "129x32:causal=1:fp16"},
     .small = {"--solution", "--quick", "--shape", "129x32:causal=1:fp16"}},
    {.what = "the same over 512 keys",
     .command = "bench",
     .arguments = {"--solution", "--shape", "512x64:causal=1:fp16"},
     .small = {"--solution", "--quick", "--shape", "129x32:causal=1:fp16"}},
    {.what = "against PyTorch's scaled_dot_product_attention",
     .need = PRACTICE_NEEDS_PYTORCH,
     .command = "bench",
     .arguments = {"--shape", "512x64:causal=1:fp16"},
     .small = {"--shape", "512x64:causal=1:fp16", "--quick"}},
};

const assay_practice assay_practices[] = {
    {.name = "1",
     .exercise = "strided_softmax",
     .title = "Read in place, or copy first",
     .change = "how a transposed matrix is read: in place by its strides, or from a contiguous copy",
     .comparison = "each variant against copy_then_kernel, whose copy is part of its time",
     .prediction = "256x257: plain < 1 * copy_then_kernel",
     .question = "When does a copy earn back what it costs, and what about the matrix decides that?",
     STEPS(direct_or_copy)},
    {.name = "2",
     .exercise = "softmax_backward",
     .title = "One pass, or an expression of passes",
     .change = "whether the intermediate results are written to memory",
     .comparison = "each variant against eager_fp32, which converts, multiplies, sums and subtracts in turn",
     .prediction = "256x1025: plain < 0.7 * eager_fp32",
     .question = "Why is the N-by-N matrix of derivatives never needed, although the formula begins with it?",
     STEPS(fused_or_eager)},
    {.name = "3",
     .exercise = "fused_gemm",
     .title = "The order of tiles, then their height",
     .change = "group first, then tile_m; never both at once",
     .comparison = "the solution's knobs among each other and against fp32_gemm_then_cast",
     .prediction = "127x65x33: solution < 1.2 * fp32_gemm_then_cast",
     .question = "Why must the baseline add the bias in FP32 too before it rounds, and what would a win over "
                 "one that "
                 "rounds earlier prove?",
     STEPS(group_then_tile)},
    {.name = "4",
     .exercise = "online_normalizer",
     .title = "Any cut, any tree, one result",
     .change = "where the elements are cut, and in which order the parts are merged",
     .comparison = "every cut and tree against the definition; extreme logits; states of nothing",
     .question = "Why does a state carry its maximum, when only the sum is divided by in the end?",
     STEPS(partitions_and_trees)},
    {.name = "5",
     .exercise = "split_softmax",
     .title = "How long a piece may be",
     .change = "the chunk: 256, 1024 or 4096 elements",
     .comparison = "the three chunks among each other and against eager_fp32, for few rows and for many",
     .prediction = "4x32769: solution < 1 * eager_fp32",
     .question = "What do more pieces win, what does each of them cost, and at which shape do the two meet?",
     STEPS(chunk_sizes)},
    {.name = "6",
     .exercise = "streaming_attention",
     .title = "Tiles of keys, and no matrix of scores",
     .change = "block_n: 32 or 64 keys a tile",
     .comparison = "both tiles against dense_attention, which stores every score, causal",
     .prediction = "129x32: solution < 1 * dense_attention",
     .question =
         "What does rescaling the numerator save, and what is paid for it when the maximum rises late?",
     STEPS(key_tiles)},
};
const int assay_practice_count = (int)(sizeof assay_practices / sizeof assay_practices[0]);

const assay_practice *assay_practice_at(int index) {
  if (index >= 0 && index < assay_practice_count) return &assay_practices[index];
  index -= assay_practice_count;
  return index >= 0 && index < assay_capstone_count ? &assay_capstones[index] : NULL;
}

const assay_practice *assay_practice_find(const char *name) {
  const assay_practice *practice;
  for (int i = 0; (practice = assay_practice_at(i)) != NULL; i++) {
    if (strcmp(practice->name, name) == 0) return practice;
  }
  return NULL;
}
