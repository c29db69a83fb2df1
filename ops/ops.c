/* SPDX-License-Identifier: MIT */
/* ops.c - the registry: the only list of operators. A new operator is its folder and two lines here. */
#include "ops.h"

extern const assay_operator assay_strided_softmax_op;
extern const assay_operator assay_softmax_backward_op;
extern const assay_operator assay_fused_gemm_op;
extern const assay_operator assay_online_normalizer_op;
extern const assay_operator assay_split_softmax_op;
extern const assay_operator assay_streaming_attention_op;

const assay_operator *const assay_operators[] = {
    &assay_strided_softmax_op,   &assay_softmax_backward_op, &assay_fused_gemm_op,
    &assay_online_normalizer_op, &assay_split_softmax_op,    &assay_streaming_attention_op,
};

const int assay_operator_count = (int)(sizeof assay_operators / sizeof assay_operators[0]);
