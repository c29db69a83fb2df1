/* SPDX-License-Identifier: MIT */
/* match.h - two reports side by side: which cases and variants belong together, and what may be said about
 * them. */
#ifndef ASSAY_MATCH_H
#define ASSAY_MATCH_H

#include "report.h"
#include "status.h"

typedef enum match_kind {
  MATCH_RATIOS = 0,    /* both hold the same baseline, by hash: their ratios to it are compared */
  MATCH_SEPARATE_RUNS, /* no common baseline: times of two runs, with what changed between them in the
                          difference */
  MATCH_MACHINES       /* two machines: no ratio of times is formed */
} match_kind;

extern const char *const match_kind_names[]; /* "ratios", "separate runs", "two machines" */

/* One variant of one case in both reports. The new one is `right`. */
typedef struct match_row {
  const report_case *left_case;
  const report_case *right_case;
  const report_variant *left;
  const report_variant *right;
  const char *baseline; /* of MATCH_RATIOS, and of MATCH_MACHINES where both have it; else NULL */
  match_kind kind;
  double left_ratio, right_ratio; /* time(baseline) / time(variant) of each report; NaN without a baseline */
  double left_ns, right_ns;       /* median of a call */
  double ratio;                   /* how many times faster `right` is; NaN for two machines */
  double low, high, confidence;   /* NaN, NaN, 0 without an interval */
  int64_t verdict;                /* report_verdict, of right against left */
  const char *reason;             /* why it cannot be told; else empty */
} match_row;

typedef void match_sink(void *user, const match_row *row);

typedef struct match_outcome {
  int rows;
  int slower;
  int undecided;
  int left_only, right_only; /* cases without a counterpart */
} match_outcome;

/* Refuses, false with a sentence, reports of different modes, cache states or element types, and such as have
 * nothing in common. */
bool match_reports(const report *left, const report *right, match_sink *sink, void *user,
                   match_outcome *outcome, assay_message *why);

#endif
