/* SPDX-License-Identifier: MIT */
/* vjp_eager.c - what the softmax's backward pass is compared with on a GPU: separate launches. */
#include "vjp.h"

#include "ops/eager_passes.h"

static const char *const sources[] = {"ops/strided_softmax/eager_passes.cu", "ops/eager_passes.h",
                                      "ops/softmax_backward/vjp_eager.c", NULL};

static assay_status eager_passes(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                 assay_queue *queue) {
  (void)opt;
  return assay_eager_vjp(&in[ASSAY_SOFTMAX_BACKWARD_Y], &in[ASSAY_SOFTMAX_BACKWARD_G], &out[0], queue);
}

extern const assay_bench_baseline assay_vjp_eager;

const assay_bench_baseline assay_vjp_eager = {
    .name = "eager_passes",
    .expression =
        "y = float(y); g = float(g); p = y * g; s = sum(p); g = g - s; p = y * g; dx = p: seven launches",
    .rounding = "once, of dx; everything before is FP32",
    .backend = ASSAY_CUDA,
    .entry = {eager_passes},
    .sources = sources};
