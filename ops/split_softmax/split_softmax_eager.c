/* SPDX-License-Identifier: MIT */
/* split_softmax_eager.c - what split softmax is compared with on a GPU: separate launches. */
#include "split_softmax.h"

#include "ops/eager_passes.h"

static const char *const sources[] = {"ops/strided_softmax/eager_passes.cu", "ops/eager_passes.h",
                                      "ops/split_softmax/split_softmax_eager.c", NULL};

static assay_status eager_passes(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                 assay_queue *queue) {
  (void)opt;
  return assay_eager_softmax(&in[0], &out[0], queue);
}

extern const assay_bench_baseline assay_split_softmax_eager;

const assay_bench_baseline assay_split_softmax_eager = {
    .name = "eager_passes",
    .expression =
        "w = float(x); m = max(w); w = w - m; w = exp(w); s = sum(w); w = w / s; y = w: seven launches",
    .rounding = "once, of y; everything before is FP32",
    .backend = ASSAY_CUDA,
    .entry = {eager_passes},
    .sources = sources};
