/* SPDX-License-Identifier: MIT */
/* workshops.c - the table of exercises, in the order of the course, and the search in it. */
#include "workshops.h"

#include <string.h>

extern const assay_operator assay_strided_softmax_op;
extern const assay_operator assay_softmax_backward_op;
extern const assay_operator assay_fused_gemm_op;
extern const assay_operator assay_online_normalizer_op;
extern const assay_operator assay_split_softmax_op;
extern const assay_operator assay_streaming_attention_op;

const assay_exercise assay_exercises[] = {
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
