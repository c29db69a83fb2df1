/* SPDX-License-Identifier: MIT */
/* vjp_onednn.c - oneDNN's softmax backward as a baseline of softmax_backward. */
#include "ops/onednn.h"

static assay_status run(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                        assay_queue *queue) {
  (void)opt;
  return assay_onednn_run(ASSAY_ONEDNN_SOFTMAX_BACKWARD, in, 2, out, queue);
}

static const char *const sources[] = {"ops/softmax_backward/vjp_onednn.c", ASSAY_ONEDNN_SOURCES, NULL};

extern const assay_bench_baseline assay_vjp_onednn;

const assay_bench_baseline assay_vjp_onednn = {
    .name = "onednn_softmax_backward",
    .expression = "dx = oneDNN's softmax backward primitive on y and g, by their strides",
    .rounding = "once, of dx; FP32 inside; FP16 goes through FP32 copies, which are timed",
    .sources = sources,
    .prepare = assay_onednn_prepare,
    .entry = {run}};
