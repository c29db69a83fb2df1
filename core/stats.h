/* SPDX-License-Identifier: MIT */
/* stats.h - order statistics of small samples. None of them changes its input. */
#ifndef ASSAY_STATS_H
#define ASSAY_STATS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct assay_interval {
  double low;
  double high;
  double confidence; /* exact coverage of the interval for the median, from the binomial distribution */
} assay_interval;

/* NaN for an empty sample; NaN in a sample gives NaN. Even counts average the middle two. */
double assay_median(const double *samples, size_t count);

/* Linear interpolation between order statistics, q in [0, 1] (the definition known as type 7). */
double assay_quantile(const double *samples, size_t count, double q);

/* Median of the absolute deviations from the median, without a scale factor. */
double assay_mad(const double *samples, size_t count);

/* The narrowest symmetric pair of order statistics that covers the median with at least `confidence`; for
 * nine samples and 0.95 the 2nd and 8th (96 %). False when the sample is too small for it or holds a NaN. */
bool assay_median_interval(const double *samples, size_t count, double confidence, assay_interval *interval);

#endif
