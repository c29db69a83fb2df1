/* SPDX-License-Identifier: MIT */
/*
 * split_softmax_allocating.c - the variant `staged` without the caller's workspace, as a baseline: each call
 * takes its scratch in the order of the stream and gives it back. Beside `staged` with a workspace that is
 * what an allocation costs; both times hold all that their call does.
 */
#include "split_softmax.h"

#include "assay/workshop.h"

static assay_status run(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                        assay_queue *queue) {
  assay_tensor without[ASSAY_SPLIT_SOFTMAX_OUTPUTS];
  without[ASSAY_SPLIT_SOFTMAX_Y] = out[ASSAY_SPLIT_SOFTMAX_Y];
  without[ASSAY_SPLIT_SOFTMAX_WORKSPACE] = out[ASSAY_SPLIT_SOFTMAX_WORKSPACE];
  without[ASSAY_SPLIT_SOFTMAX_WORKSPACE].data = NULL;
  return assay_split_softmax_cuda(in, without, opt, queue);
}

static const char *const sources[] = {"ops/split_softmax/split_softmax.cu",
                                      "ops/split_softmax/split_softmax.h",
                                      "ops/split_softmax/split_softmax_allocating.c", NULL};

extern const assay_bench_baseline assay_split_softmax_allocating;

const assay_bench_baseline assay_split_softmax_allocating = {
    .name = "staged_allocating",
    .expression = "the variant staged; its states lie in scratch that the call takes and gives back, in the "
                  "order of the stream, and the workspace of the case is not used",
    .rounding = "once, of y; sums are FP32",
    .backend = ASSAY_CUDA,
    .sources = sources,
    .entry = {run}};
