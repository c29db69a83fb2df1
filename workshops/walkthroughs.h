/* SPDX-License-Identifier: MIT */
/* walkthroughs.h - worked examples with a learner's numbers: those of the workshops and of the beginners'
 * CUDA exercises, with the subjects of the latter, and the words that the examples share. All of it is linked
 * into the program only. */
#ifndef ASSAY_WALKTHROUGHS_H
#define ASSAY_WALKTHROUGHS_H

#include "workshops.h"

extern const assay_subject assay_cuda_add_subject;
extern const assay_subject assay_cuda_sum_subject;
extern const assay_subject assay_cuda_softmax_subject;
extern const assay_walkthrough assay_cuda_add_walkthrough;
extern const assay_walkthrough assay_cuda_sum_walkthrough;
extern const assay_walkthrough assay_cuda_softmax_walkthrough;
extern const assay_walkthrough assay_strided_softmax_walkthrough;
extern const assay_walkthrough assay_softmax_backward_walkthrough;
extern const assay_walkthrough assay_fused_gemm_walkthrough;
extern const assay_walkthrough assay_online_normalizer_walkthrough;
extern const assay_walkthrough assay_split_softmax_walkthrough;
extern const assay_walkthrough assay_streaming_attention_walkthrough;

/* A state of the online normaliser: the maximum, and the sum of exp(x - maximum). */
typedef struct assay_walk_state {
  double maximum;
  double sum;
} assay_walk_state;

/* Of no element it is (-inf, 0). A NaN among the values makes the sum NaN. */
assay_walk_state assay_walk_state_of(const double *values, int count);
assay_walk_state assay_walk_merge(assay_walk_state left, assay_walk_state right);

/* "label: 1 2 3" on a line of its own, the label padded so that the values of several lines stand below each
 * other; and the same for one value. */
void assay_walk_line(FILE *out, const char *label, const double *values, int count);
void assay_walk_value(FILE *out, const char *label, double value);

/* A sentence about a value that does not fit; gives false, for `write` to return. */
bool assay_walk_refuse(assay_message *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
