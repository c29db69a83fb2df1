/* SPDX-License-Identifier: MIT */
/* operators.h - the list of operators, in the order of the workshops: a new one is its folder and one line
 * here. */
#ifndef ASSAY_OPERATORS_H
#define ASSAY_OPERATORS_H

#include "op.h"

/* Each stands for the folder ops/NAME/ and its descriptor assay_NAME_op. */
#define ASSAY_OPERATORS(OPERATOR)                                                                            \
  OPERATOR(strided_softmax)                                                                                  \
  OPERATOR(softmax_backward)                                                                                 \
  OPERATOR(fused_gemm)                                                                                       \
  OPERATOR(online_normalizer)                                                                                \
  OPERATOR(split_softmax)                                                                                    \
  OPERATOR(streaming_attention)

#define ASSAY_OPERATOR_DECLARED(name) extern const assay_operator assay_##name##_op;
ASSAY_OPERATORS(ASSAY_OPERATOR_DECLARED)
#undef ASSAY_OPERATOR_DECLARED

#endif
