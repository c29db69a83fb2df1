/* SPDX-License-Identifier: MIT */
/* workshops.c - the table of exercises, in the order of the course, and the search in it. */
#include "workshops.h"

#include <string.h>

#include "beginner.h"

extern const assay_operator assay_strided_softmax_op;
extern const assay_operator assay_softmax_backward_op;
extern const assay_operator assay_fused_gemm_op;
extern const assay_operator assay_online_normalizer_op;
extern const assay_operator assay_split_softmax_op;
extern const assay_operator assay_streaming_attention_op;

const assay_exercise assay_exercises[] = {
    {.name = "offsets",
     .alias = "b0",
     .level = "beginner",
     .title = "Blocks, offsets and masks",
     .folder = "b0_offsets",
     .backends = ASSAY_ON_CPU,
     .subject = &assay_offsets_subject,
     .explain = &assay_offsets_walkthrough},
    {.name = "strides",
     .alias = "b1",
     .level = "beginner",
     .title = "Strides of a view",
     .folder = "b1_strides",
     .backends = ASSAY_ON_CPU,
     .subject = &assay_strides_subject,
     .explain = &assay_strides_walkthrough},
    {.name = "reduction",
     .alias = "b2",
     .level = "beginner",
     .title = "Reduction by a tree",
     .folder = "b2_reduction",
     .backends = ASSAY_ON_CPU,
     .subject = &assay_reduction_subject,
     .explain = &assay_reduction_walkthrough},
    {.name = "softmax",
     .alias = "b3",
     .level = "beginner",
     .title = "Softmax of a row",
     .folder = "b3_softmax",
     .backends = ASSAY_ON_CPU,
     .subject = &assay_softmax_subject,
     .explain = &assay_softmax_walkthrough},
    {.name = "rmsnorm",
     .alias = "b4",
     .level = "beginner",
     .title = "RMS norm and one rounding",
     .folder = "b4_rmsnorm",
     .backends = ASSAY_ON_CPU,
     .subject = &assay_rmsnorm_subject,
     .explain = &assay_rmsnorm_walkthrough},
    {.name = "matmul",
     .alias = "b5",
     .level = "beginner",
     .title = "Matrix product by tiles",
     .folder = "b5_matmul",
     .backends = ASSAY_ON_CPU,
     .subject = &assay_matmul_subject,
     .explain = &assay_matmul_walkthrough},
    {.name = "measurement",
     .alias = "b6",
     .level = "beginner",
     .title = "From samples to a claim",
     .folder = "b6_measurement",
     .backends = ASSAY_ON_CPU,
     .subject = &assay_measurement_subject,
     .explain = &assay_measurement_walkthrough},
    {.name = "strided_softmax",
     .alias = "w1",
     .level = "intermediate",
     .title = "Strided softmax",
     .folder = "w1_strided_softmax",
     .backends = ASSAY_ON_CPU | ASSAY_ON_CUDA,
     .subject = &assay_strided_softmax_op.subject,
     .op = &assay_strided_softmax_op},
    {.name = "softmax_backward",
     .alias = "w2",
     .level = "intermediate",
     .title = "Softmax backward",
     .folder = "w2_softmax_backward",
     .backends = ASSAY_ON_CPU | ASSAY_ON_CUDA,
     .subject = &assay_softmax_backward_op.subject,
     .op = &assay_softmax_backward_op},
    {.name = "fused_gemm",
     .alias = "w3",
     .level = "intermediate",
     .title = "Fused GEMM",
     .folder = "w3_fused_gemm",
     .backends = ASSAY_ON_CPU | ASSAY_ON_CUDA,
     .subject = &assay_fused_gemm_op.subject,
     .op = &assay_fused_gemm_op},
    {.name = "online_normalizer",
     .alias = "w4",
     .level = "advanced",
     .title = "Online normaliser",
     .folder = "w4_online_normalizer",
     .backends = ASSAY_ON_CPU,
     .subject = &assay_online_normalizer_op.subject,
     .op = &assay_online_normalizer_op},
    {.name = "split_softmax",
     .alias = "w5",
     .level = "advanced",
     .title = "Split softmax",
     .folder = "w5_split_softmax",
     .backends = ASSAY_ON_CPU | ASSAY_ON_CUDA,
     .subject = &assay_split_softmax_op.subject,
     .op = &assay_split_softmax_op},
    {.name = "streaming_attention",
     .alias = "w6",
     .level = "advanced",
     .title = "Streaming attention",
     .folder = "w6_streaming_attention",
     .backends = ASSAY_ON_CPU | ASSAY_ON_CUDA,
     .subject = &assay_streaming_attention_op.subject,
     .op = &assay_streaming_attention_op},
};
const int assay_exercise_count = (int)(sizeof assay_exercises / sizeof assay_exercises[0]);

const assay_exercise *assay_exercise_find(const char *name) {
  for (int i = 0; i < assay_exercise_count; i++) {
    const assay_exercise *exercise = &assay_exercises[i];
    if (strcmp(exercise->name, name) == 0 || strcmp(exercise->alias, name) == 0) return exercise;
  }
  return NULL;
}
