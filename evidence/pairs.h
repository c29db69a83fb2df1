/* SPDX-License-Identifier: MIT */
/*
 * pairs.h - from raw samples to a ratio of times, its interval and its verdict.
 *
 * The evidence side has its own arithmetic and does not use what the benchmark computed: a number that only
 * its author can reproduce proves nothing.
 */
#ifndef ASSAY_PAIRS_H
#define ASSAY_PAIRS_H

#include "report.h"
#include "stats.h"

enum { PAIRS_PROCESSES = 256 };

typedef struct pairs_ratio {
  double ratio;                 /* time(baseline) / time(candidate); NaN without a single pair */
  double low, high;             /* NaN without an interval */
  double confidence;            /* 0 without an interval */
  int64_t verdict;              /* report_verdict */
  int count;                    /* processes that hold a pair */
  double logs[PAIRS_PROCESSES]; /* the median log ratio of each of them */
} pairs_ratio;

/* Two variants of one case: the median of the log ratios of paired rounds in each process, and their median
 * and interval over the processes. */
void pairs_of(const report *from, const report_variant *candidate, const report_variant *baseline,
              pairs_ratio *result);

/* The verdict on an interval of a ratio: outside +-1 %, inside it, or neither. Without an interval: cannot
 * tell. */
int64_t pairs_verdict(double low, double high);

/* Median, smallest, largest and median absolute deviation of a call's nanoseconds. False without samples. */
bool pairs_statistics(const report_variant *variant, report_statistics *result);

/* The median log nanoseconds of a call in each process. Returns how many processes there are. */
int pairs_process_logs(const report_variant *variant, double logs[PAIRS_PROCESSES]);

/*
 * The shift between two independent samples, right minus left: the median of all differences, with the exact
 * interval of the rank-sum test. False when the samples are too small for `confidence`; the shift is set all
 * the same.
 */
bool pairs_shift(const double *left, int left_count, const double *right, int right_count, double confidence,
                 double *shift, assay_interval *interval);

#endif
