/* SPDX-License-Identifier: MIT */
/* stats.c - order statistics: medians and exact intervals need no assumption on how times are distributed. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *left, const void *right) {
  double a;
  double b;
  memcpy(&a, left, sizeof a);
  memcpy(&b, right, sizeof b);
  return (a > b) - (a < b);
}

/* A sorted copy, to be freed; NULL for an empty sample, one that holds a NaN, or no memory. */
static double *sorted_copy(const double *samples, size_t count) {
  if (count == 0) return NULL;
  for (size_t i = 0; i < count; i++) {
    if (isnan(samples[i])) return NULL;
  }
  double *copy = malloc(count * sizeof *copy);
  if (copy == NULL) return NULL;
  memcpy(copy, samples, count * sizeof *copy);
  qsort(copy, count, sizeof *copy, compare_doubles);
  return copy;
}

static double median_of_sorted(const double *sorted, size_t count) {
  const size_t middle = count / 2;
  return count % 2 == 1 ? sorted[middle] : 0.5 * (sorted[middle - 1] + sorted[middle]);
}

double assay_median(const double *samples, size_t count) {
  double *sorted = sorted_copy(samples, count);
  if (sorted == NULL) return (double)NAN;
  const double median = median_of_sorted(sorted, count);
  free(sorted);
  return median;
}

double assay_quantile(const double *samples, size_t count, double q) {
  if (!(q >= 0.0 && q <= 1.0)) return (double)NAN;
  double *sorted = sorted_copy(samples, count);
  if (sorted == NULL) return (double)NAN;
  const double position = q * (double)(count - 1);
  const size_t below = (size_t)position;
  const double part = position - (double)below;
  double value = sorted[below];
  if (part > 0.0 && sorted[below + 1] != value) value += part * (sorted[below + 1] - value);
  free(sorted);
  return value;
}

double assay_mad(const double *samples, size_t count) {
  double *sorted = sorted_copy(samples, count);
  if (sorted == NULL) return (double)NAN;
  const double median = median_of_sorted(sorted, count);
  for (size_t i = 0; i < count; i++) sorted[i] = fabs(sorted[i] - median);
  const double mad = assay_median(sorted, count);
  free(sorted);
  return mad;
}

/*
 * The pair (k-th smallest, k-th largest) misses the median when fewer than k samples fall on one side of it,
 * so it covers with the probability that a binomial(count, 1/2) number lies in k .. count - k. The sum is
 * taken from the middle outwards: no term underflows however large the sample, and for small ones all of it
 * is exact.
 */
bool assay_median_interval(const double *samples, size_t count, double confidence, assay_interval *interval) {
  const size_t half = count / 2;
  double term = 1.0; /* of `half` successes, starting from 2 * half trials */
  for (size_t j = 1; j <= half; j++) term = term * (double)(2 * j - 1) / (double)(2 * j);
  if (count % 2 == 1) term = term * (double)count / (double)(2 * (half + 1));
  double coverage = count % 2 == 1 ? 2.0 * term : term;
  size_t k = half;
  while (k > 0 && !(coverage >= confidence)) {
    term = term * (double)k / (double)(count - k + 1);
    coverage += 2.0 * term;
    k--;
  }
  if (k == 0) return false;
  double *sorted = sorted_copy(samples, count);
  if (sorted == NULL) return false;
  *interval = (assay_interval){sorted[k - 1], sorted[count - k], coverage};
  free(sorted);
  return true;
}
