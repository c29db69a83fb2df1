/* SPDX-License-Identifier: MIT */
/* split_softmax_onednn.c - oneDNN's softmax as a baseline of split_softmax. */
#include "ops/onednn.h"

static assay_status run(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                        assay_queue *queue) {
  (void)opt;
  return assay_onednn_run(ASSAY_ONEDNN_SOFTMAX, in, 1, out, queue);
}

static const char *const sources[] = {"ops/split_softmax/split_softmax_onednn.c", ASSAY_ONEDNN_SOURCES, NULL};

extern const assay_bench_baseline assay_split_softmax_onednn;

const assay_bench_baseline assay_split_softmax_onednn = {
    .name = "onednn_softmax",
    .expression = "y = oneDNN's softmax primitive over the columns of x, by its strides",
    .rounding =
        "once, of y; FP16 and BF16 go through FP32 copies, which are timed: its BF16 is rounded in between",
    .sources = sources,
    .prepare = assay_onednn_prepare,
    .entry = {run}};
