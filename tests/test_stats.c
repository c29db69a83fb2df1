/* SPDX-License-Identifier: MIT */
/* test_stats.c - order statistics against values of Python's statistics module and exact binomial sums. */
#include "unit.h"

#include <stdlib.h>

#include "stats.h"

static const double even[] = {3.5, 1.25, 9.0, 4.75, 2.0, 8.125, 7.0, 5.5};
static const double odd[] = {3.5, 1.25, 9.0, 4.75, 2.0, 8.125, 7.0, 5.5, 6.25};
static const double spoilt[] = {3.5, 1.25, 9.0, 4.75, 2.0, 8.125, (double)NAN, 5.5, 6.25};

static void test_median(void **state) {
  (void)state;
  assert_same_double(assay_median(even, 8), 5.125);
  assert_same_double(assay_median(odd, 9), 5.5);
  assert_same_double(assay_median(odd, 1), 3.5);
  assert_same_double(assay_median(odd, 2), 2.375);
  assert_true(isnan(assay_median(odd, 0)));
  assert_true(isnan(assay_median(spoilt, 9)));
  assert_same_double(assay_median((const double[]){(double)INFINITY, 2.0, -(double)INFINITY}, 3), 2.0);
}

static void test_the_sample_is_not_changed(void **state) {
  (void)state;
  double copy[9];
  memcpy(copy, odd, sizeof odd);
  assay_interval interval;
  assay_median(copy, 9);
  assay_quantile(copy, 9, 0.3);
  assay_mad(copy, 9);
  assert_true(assay_median_interval(copy, 9, 0.95, &interval));
  assert_memory_equal(copy, odd, sizeof odd);
}

/* statistics.quantiles(even, n=10 and n=4, method="inclusive") */
static void test_quantile_is_type_7(void **state) {
  (void)state;
  const double tenths[] = {1.775, 2.6, 3.625, 4.5, 5.125, 5.8, 6.85, 7.675, 8.3875};
  for (int i = 0; i < 9; i++) assert_near(assay_quantile(even, 8, (i + 1) / 10.0), tenths[i], 1e-14);
  assert_same_double(assay_quantile(even, 8, 0.25), 3.125);
  assert_same_double(assay_quantile(even, 8, 0.75), 7.28125);
  assert_same_double(assay_quantile(even, 8, 0.0), 1.25);
  assert_same_double(assay_quantile(even, 8, 1.0), 9.0);
  assert_same_double(assay_quantile(even, 1, 0.7), 3.5);
}

static void test_quantile_rejects(void **state) {
  (void)state;
  assert_true(isnan(assay_quantile(even, 0, 0.5)));
  assert_true(isnan(assay_quantile(spoilt, 9, 0.5)));
  assert_true(isnan(assay_quantile(even, 8, -0.01)));
  assert_true(isnan(assay_quantile(even, 8, 1.01)));
  assert_true(isnan(assay_quantile(even, 8, (double)NAN)));
}

static void test_quantile_between_equal_infinities(void **state) {
  (void)state;
  const double samples[] = {1.0, (double)INFINITY, (double)INFINITY};
  assert_same_double(assay_quantile(samples, 3, 0.75), (double)INFINITY);
}

static void test_mad(void **state) {
  (void)state;
  assert_same_double(assay_mad(even, 8), 2.4375);
  assert_same_double(assay_mad(odd, 9), 2.0);
  assert_same_double(assay_mad(odd, 1), 0.0);
  assert_true(isnan(assay_mad(odd, 0)));
  assert_true(isnan(assay_mad(spoilt, 9)));
}

static void test_interval_of_nine(void **state) {
  (void)state;
  assay_interval interval;
  assert_true(assay_median_interval(odd, 9, 0.95, &interval));
  assert_same_double(interval.low, 2.0); /* 2nd and 8th of the sorted sample */
  assert_same_double(interval.high, 8.125);
  assert_same_double(interval.confidence, 0.9609375);
  assert_true(assay_median_interval(odd, 9, 0.97, &interval));
  assert_same_double(interval.low, 1.25);
  assert_same_double(interval.high, 9.0);
}

/* Samples 1, 2, ... n, so that the bounds are the ranks. */
static bool ranks(size_t count, double confidence, assay_interval *interval) {
  double *samples = calloc(count + 1, sizeof *samples);
  for (size_t i = 0; i < count; i++) samples[i] = (double)(count - i);
  const bool found = assay_median_interval(samples, count, confidence, interval);
  free(samples);
  return found;
}

/* Ranks and coverages computed with Python's integers. */
static void test_interval_of_other_sizes(void **state) {
  (void)state;
  static const struct {
    size_t count;
    double confidence, rank, coverage;
  } cases[] = {
      {2, 0.5, 1, 0.5},
      {3, 0.75, 1, 0.75},
      {6, 0.95, 1, 0.96875},
      {8, 0.95, 1, 0.9921875},
      {8, 0.5, 3, 0.7109375},
      {9, 0.9609375, 2, 0.9609375},
      {10, 0.95, 2, 0.978515625},
      {15, 0.95, 4, 0.96484375},
      {100, 0.95, 40, 0.9647997997822952},
      {2001, 0.95, 957, 0.9508724843431974},
      {5000, 0.95, 2431, 0.9506841418958282},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assay_interval interval;
    assert_true(ranks(cases[i].count, cases[i].confidence, &interval));
    assert_same_double(interval.low, cases[i].rank);
    assert_same_double(interval.high, (double)cases[i].count + 1 - cases[i].rank);
    assert_near(interval.confidence, cases[i].coverage, cases[i].count < 50 ? 0.0 : 1e-12);
  }
}

static void test_interval_needs_a_sample(void **state) {
  (void)state;
  assay_interval interval;
  assert_false(ranks(0, 0.5, &interval));
  assert_false(ranks(1, 0.0, &interval));
  assert_false(ranks(2, 0.51, &interval));
  assert_false(ranks(5, 0.95, &interval));
  assert_false(ranks(9, 1.0, &interval));
  assert_false(ranks(9, (double)NAN, &interval));
  assert_false(assay_median_interval(spoilt, 9, 0.95, &interval));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_median),
      cmocka_unit_test(test_the_sample_is_not_changed),
      cmocka_unit_test(test_quantile_is_type_7),
      cmocka_unit_test(test_quantile_rejects),
      cmocka_unit_test(test_quantile_between_equal_infinities),
      cmocka_unit_test(test_mad),
      cmocka_unit_test(test_interval_of_nine),
      cmocka_unit_test(test_interval_of_other_sizes),
      cmocka_unit_test(test_interval_needs_a_sample),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
