/* SPDX-License-Identifier: MIT */
/* attention_eager.c - what streaming attention is compared with on a GPU: stored scores, separate launches.
 */
#include "attention_gpu.h"

static const char *const sources[] = {"ops/streaming_attention/attention_dense.cu",
                                      "ops/streaming_attention/attention_gpu.h",
                                      "ops/streaming_attention/attention_eager.c", NULL};

extern const assay_bench_baseline assay_attention_eager;

const assay_bench_baseline assay_attention_eager = {
    .name = "dense_scores",
    .expression =
        "three launches: S = q k' / sqrt(d), stored n x n in FP32 for all heads; P = exp(S - m), masked "
        "ones 0, and its sums; o = P v / sum; masked values are multiplied by 0; tensor cores",
    .rounding = "P, unnormalised, and o to the type of the inputs; scores, sums and the quotient are FP32",
    .backend = ASSAY_CUDA,
    .entry = {assay_attention_dense},
    .sources = sources};
