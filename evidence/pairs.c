/* SPDX-License-Identifier: MIT */
/* pairs.c - order statistics over processes: rounds of one process are not independent, processes are. */
#include "pairs.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* The verdict's margin, and that of a run too short for the usual one. */
static const double margin = 0.01;
static const double quick_margin = 0.05;
static const double least_confidence = 0.95;

/* The log ratio of the pair of `sample` in `baseline`; NaN when there is none. */
static double log_ratio(const bench_sample *sample, const report_variant *baseline) {
  for (int64_t i = 0; i < baseline->samples.count; i++) {
    const bench_sample *other = &baseline->samples.items[i];
    if (other->process == sample->process && other->round == sample->round)
      return log(report_call_ns(other) / report_call_ns(sample));
  }
  return (double)NAN;
}

static int64_t processes_of(const report_variant *variant) {
  int64_t most = 0;
  for (int64_t i = 0; i < variant->samples.count; i++) {
    if (variant->samples.items[i].process >= most) most = variant->samples.items[i].process + 1;
  }
  return most < PAIRS_PROCESSES ? most : PAIRS_PROCESSES;
}

/* The median over the rounds of one process of log(time), or of the log ratio when there is a baseline. */
static double process_median(const report_variant *variant, const report_variant *baseline, int64_t process) {
  double *values = calloc((size_t)variant->samples.count + 1, sizeof *values);
  size_t count = 0;
  for (int64_t i = 0; values != NULL && i < variant->samples.count; i++) {
    const bench_sample *sample = &variant->samples.items[i];
    if (sample->process != process) continue;
    const double value = baseline == NULL ? log(report_call_ns(sample)) : log_ratio(sample, baseline);
    if (!isnan(value)) values[count++] = value;
  }
  const double median = values != NULL ? assay_median(values, count) : (double)NAN;
  free(values);
  return median;
}

int64_t pairs_verdict(double low, double high) {
  if (isnan(low) || isnan(high)) return REPORT_CANNOT_TELL;
  if (low > 1 + margin) return REPORT_FASTER;
  if (high < 1 / (1 + margin)) return REPORT_SLOWER;
  return low >= 1 / (1 + margin) && high <= 1 + margin ? REPORT_SAME : REPORT_CANNOT_TELL;
}

/* Three processes: their range, which covers the median with 75 %, and a verdict only where all say the same
 * beyond 5 %. */
static void quick(const report *from, pairs_ratio *result) {
  if (result->count < from->protocol.processes || result->count == 0) return;
  const double low = assay_quantile(result->logs, (size_t)result->count, 0.0);
  const double high = assay_quantile(result->logs, (size_t)result->count, 1.0);
  result->low = exp(low);
  result->high = exp(high);
  result->confidence = 1 - pow(0.5, result->count - 1);
  if (low > log1p(quick_margin)) result->verdict = REPORT_FASTER;
  if (high < -log1p(quick_margin)) result->verdict = REPORT_SLOWER;
}

/* One process describes, and decides nothing: the medians of all its samples. */
static void describe(const report_variant *candidate, const report_variant *baseline, pairs_ratio *result) {
  report_statistics mine;
  report_statistics theirs;
  if (pairs_statistics(candidate, &mine) && pairs_statistics(baseline, &theirs))
    result->ratio = theirs.median_ns / mine.median_ns;
}

void pairs_of(const report *from, const report_variant *candidate, const report_variant *baseline,
              pairs_ratio *result) {
  *result = (pairs_ratio){.low = (double)NAN, .high = (double)NAN, .verdict = REPORT_CANNOT_TELL};
  const int64_t processes = processes_of(candidate);
  for (int64_t p = 0; p < processes; p++) {
    const double value = process_median(candidate, baseline, p);
    if (!isnan(value)) result->logs[result->count++] = value;
  }
  result->ratio = exp(assay_median(result->logs, (size_t)result->count));
  assay_interval interval;
  if (from->protocol.name == REPORT_SEEDS) {
    describe(candidate, baseline, result);
  } else if (from->protocol.name == REPORT_QUICK) {
    quick(from, result);
  } else if (assay_median_interval(result->logs, (size_t)result->count, least_confidence, &interval)) {
    result->low = exp(interval.low);
    result->high = exp(interval.high);
    result->confidence = interval.confidence;
    result->verdict = pairs_verdict(result->low, result->high);
  }
}

bool pairs_statistics(const report_variant *variant, report_statistics *result) {
  const size_t count = (size_t)variant->samples.count;
  double *values = calloc(count + 1, sizeof *values);
  if (count == 0 || values == NULL) {
    free(values);
    return false;
  }
  for (size_t i = 0; i < count; i++) values[i] = report_call_ns(&variant->samples.items[i]);
  *result = (report_statistics){.median_ns = assay_median(values, count),
                                .min_ns = assay_quantile(values, count, 0.0),
                                .max_ns = assay_quantile(values, count, 1.0),
                                .mad_ns = assay_mad(values, count)};
  free(values);
  return true;
}

int pairs_process_logs(const report_variant *variant, double logs[PAIRS_PROCESSES]) {
  const int64_t processes = processes_of(variant);
  int count = 0;
  for (int64_t p = 0; p < processes; p++) {
    const double value = process_median(variant, NULL, p);
    if (!isnan(value)) logs[count++] = value;
  }
  return count;
}

static int compare_doubles(const void *left, const void *right) {
  const double a = *(const double *)left;
  const double b = *(const double *)right;
  return (a > b) - (a < b);
}

/*
 * How likely is a rank-sum statistic of exactly `rank` for samples of m and n from one distribution: the
 * count of ways is built up one element of the first sample at a time. ways[u] is over C(m + n, m) at the
 * end.
 */
static double *rank_sum_chances(int m, int n) {
  const size_t most = (size_t)m * (size_t)n;
  double *ways = calloc(most + 1, sizeof *ways);
  if (ways == NULL) return NULL;
  ways[0] = 1.0;
  /* The generating function is the Gaussian binomial: product of (1 - q^(n+i)) / (1 - q^i). */
  for (int i = 1; i <= m; i++) {
    const size_t up = (size_t)(n + i);
    const size_t down = (size_t)i;
    for (size_t u = most; u >= up && u <= most; u--) ways[u] -= ways[u - up];
    for (size_t u = down; u <= most; u++) ways[u] += ways[u - down];
    const double scale = (double)i / (double)(n + i);
    for (size_t u = 0; u <= most; u++) ways[u] *= scale;
  }
  return ways;
}

bool pairs_shift(const double *left, int left_count, const double *right, int right_count, double confidence,
                 double *shift, assay_interval *interval) {
  const size_t count = (size_t)left_count * (size_t)right_count;
  double *differences = calloc(count + 1, sizeof *differences);
  double *chances = rank_sum_chances(left_count, right_count);
  *shift = (double)NAN;
  bool found = false;
  if (count > 0 && differences != NULL && chances != NULL) {
    for (size_t i = 0; i < count; i++)
      differences[i] = right[i % (size_t)right_count] - left[i / (size_t)right_count];
    qsort(differences, count, sizeof *differences, compare_doubles);
    *shift = assay_median(differences, count);
    /* Leave out as many differences at both ends as the wanted confidence allows. */
    double outside = 0.0;
    size_t k = 0;
    while (k < count / 2 && 1.0 - 2.0 * (outside + chances[k]) >= confidence) outside += chances[k++];
    found = k > 0;
    if (found) {
      *interval = (assay_interval){differences[k - 1], differences[count - k], 1.0 - 2.0 * outside};
      assert(interval->low <= *shift && *shift <= interval->high);
    }
  }
  free(differences);
  free(chances);
  return found;
}
