/* SPDX-License-Identifier: MIT */
/* predict_check.h - what became of a prediction: each claim against the samples of each shape that it is
 * about. */
#ifndef ASSAY_PREDICT_CHECK_H
#define ASSAY_PREDICT_CHECK_H

#include "predict.h"
#include "report.h"

typedef enum claim_fate { CLAIM_SUPPORTED = 0, CLAIM_REFUTED, CLAIM_CANNOT_TELL } claim_fate;

extern const char *const claim_fate_names[]; /* "supported", "refuted", "cannot tell" */

typedef struct claim_result {
  const prediction_claim *claim;
  const report_case *one; /* NULL when no case has the claim's shape */
  claim_fate fate;
  double ratio;       /* time(left) / time(right), to be held against the factor; NaN without samples */
  double low, high;   /* NaN without an interval */
  const char *reason; /* why it cannot be told; empty otherwise */
} claim_result;

typedef void claim_sink(void *user, const claim_result *result);

/* Judges every claim on every case that it is about. */
void prediction_judge(const report *from, const prediction *declared, claim_sink *sink, void *user);

/* Whether a shape as people write it means this case: each of its words ("1024x1024", "transposed", "fp16")
 * is one of the case: its name's, its sizes joined by x, its layout, its type. An empty one means every case.
 */
bool report_case_matches(const report_case *one, const char *shape);

/* "256x257" */
void report_case_sizes(const report_case *one, char *text, size_t size);

#endif
