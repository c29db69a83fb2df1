/* SPDX-License-Identifier: MIT */
/* test_schedule.c - samples, order and verdicts, on times that a real run recorded. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/schedule.h"
#include "evidence/report.h"
#include "rng.h"
#include "unit.h"

enum { PROCESSES = 9, ROUNDS = 5, SAMPLES = PROCESSES * ROUNDS, TRIALS = 400 };

static void test_calls_of_a_sample(void **state) {
  (void)state;
  const schedule usual = schedule_of(SCHEDULE_ASSAY);
  assert_int_equal(schedule_calls(&usual, 100e3, false), 20); /* 2 ms */
  assert_int_equal(schedule_calls(&usual, 5e6, false), 20);   /* just 100 ms */
  assert_int_equal(schedule_calls(&usual, 10e6, false), 10);
  assert_int_equal(schedule_calls(&usual, 3e9, false), 1);
  assert_int_equal(schedule_calls(&usual, 1e3, false), 1000); /* 20 calls would be 20 us */
  assert_int_equal(schedule_calls(&usual, 0, false), 1 << 20);
  assert_int_equal(schedule_calls(&usual, (double)NAN, false), 1 << 20);
  assert_int_equal(schedule_calls(&usual, 1e3, true), 1); /* the second call would find a warm cache */
  const schedule seeds = schedule_of(SCHEDULE_SEEDS);
  assert_int_equal(schedule_calls(&seeds, 1e3, false), 20);
  assert_int_equal(schedule_calls(&seeds, 3e9, false), 20);
}

static void test_orders(void **state) {
  (void)state;
  enum { COUNT = 7 };
  int first[COUNT];
  int second[COUNT];
  int seen_first[COUNT] = {0};
  schedule_shuffle(first, COUNT, 5);
  schedule_shuffle(second, COUNT, 5);
  assert_memory_equal(first, second, sizeof first);
  for (uint64_t seed = 0; seed < 700; seed++) {
    int found = 0;
    schedule_shuffle(first, COUNT, seed);
    for (int i = 0; i < COUNT; i++) found |= 1 << first[i];
    assert_int_equal(found, (1 << COUNT) - 1);
    seen_first[first[0]]++;
  }
  /* Each place is met about 100 times; five standard deviations of a binomial number are below 50. */
  for (int i = 0; i < COUNT; i++) assert_in_range(seen_first[i], 50, 150);
}

/* ---- noise: drawn, and recorded -------------------------------------------------------------------------
 */

/* Draws the logarithm of what disturbs one sample of a process. */
typedef double draw_noise(assay_rng *rng, const double *recorded);

/* Two per cent from sample to sample; one in twenty is held up by up to a half more. */
static double drawn(assay_rng *rng, const double *recorded) {
  (void)recorded;
  const double usual = 0.02 * assay_rng_normal(rng);
  return assay_rng_below(rng, 20) == 0 ? usual + 0.4 * assay_rng_uniform(rng) : usual;
}

static double replayed(assay_rng *rng, const double *recorded) {
  return recorded[assay_rng_below(rng, SAMPLES)];
}

/* The same kernel twice, the second time `factor` slower. Half of what a process does to its samples is
 * shared by both, half is each one's own. */
static void make_pair(draw_noise *draw, const double *recorded, double process_deviation, assay_rng *rng,
                      double factor, bench_sample *fast, bench_sample *slow) {
  int count = 0;
  for (int p = 0; p < PROCESSES; p++) {
    const double shared = process_deviation * assay_rng_normal(rng);
    const double own[2] = {process_deviation * assay_rng_normal(rng),
                           process_deviation * assay_rng_normal(rng)};
    for (int r = 0; r < ROUNDS; r++, count++) {
      const double a = shared + own[0] + draw(rng, recorded);
      const double b = shared + own[1] + draw(rng, recorded);
      fast[count] = (bench_sample){p, r, 0, 20, (int64_t)(20e6 * exp(a)), 0};
      slow[count] = (bench_sample){p, r, 1, 20, (int64_t)(20e6 * exp(b) * factor), 0};
    }
  }
}

/* How often the verdict on a kernel that is `factor` slower is one of two. */
static int count_verdicts(draw_noise *draw, const double *recorded, double factor, schedule_verdict wanted,
                          schedule_verdict also) {
  const schedule usual = schedule_of(SCHEDULE_ASSAY);
  int found = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    bench_sample fast[SAMPLES];
    bench_sample slow[SAMPLES];
    assay_rng rng;
    assay_rng_seed(&rng, (uint64_t)trial + 1);
    make_pair(draw, recorded, 0.01, &rng, factor, fast, slow);
    const schedule_ratio ratio = schedule_compare(&usual, slow, SAMPLES, fast, SAMPLES);
    found += ratio.verdict == wanted || ratio.verdict == also;
  }
  return found;
}

static void test_same_kernel(void **state) {
  (void)state;
  const int wrong = count_verdicts(drawn, NULL, 1.0, SCHEDULE_FASTER, SCHEDULE_SLOWER);
  print_message("A against A: %d of %d verdicts are false\n", wrong, TRIALS);
  assert_in_range(wrong, 0, TRIALS / 20);
}

static void test_planted_slowdown(void **state) {
  (void)state;
  const int found = count_verdicts(drawn, NULL, 1.05, SCHEDULE_SLOWER, SCHEDULE_SLOWER);
  print_message("5 %% slower: found in %d of %d\n", found, TRIALS);
  assert_in_range(found, TRIALS * 9 / 10, TRIALS);
}

static void test_planted_speedup(void **state) {
  (void)state;
  const int found = count_verdicts(drawn, NULL, 1 / 1.05, SCHEDULE_FASTER, SCHEDULE_FASTER);
  assert_in_range(found, TRIALS * 9 / 10, TRIALS);
}

/* The deviations of a variant's samples from its median in a run on a machine with other work to do. */
static void take_recorded(double deviations[SAMPLES]) {
  char message[600];
  report *recorded = report_load("tests/series/recorded.json", message, sizeof message);
  if (recorded == NULL) print_error("%s\n", message);
  assert_non_null(recorded);
  const report_variant *variant = &recorded->cases.items[0].variants.items[0];
  assert_int_equal(variant->samples.count, SAMPLES);
  assert_non_null(variant->statistics);
  for (int i = 0; i < SAMPLES; i++) {
    deviations[i] = log(report_call_ns(&variant->samples.items[i]) / variant->statistics->median_ns);
  }
  report_free(recorded);
}

static void test_recorded_noise(void **state) {
  (void)state;
  double deviations[SAMPLES];
  take_recorded(deviations);
  const int wrong = count_verdicts(replayed, deviations, 1.0, SCHEDULE_FASTER, SCHEDULE_SLOWER);
  print_message("A against A, noise of a busy machine: %d of %d verdicts are false\n", wrong, TRIALS);
  assert_in_range(wrong, 0, TRIALS / 20);
  /* Where samples differ by a factor of two among themselves only large differences can be told. */
  assert_in_range(count_verdicts(replayed, deviations, 2, SCHEDULE_SLOWER, SCHEDULE_SLOWER), TRIALS * 9 / 10,
                  TRIALS);
}

/* ---- whole runs, recorded by tests/trials.sh -------------------------------------------------------------
 */

/* How many of the cases of a recorded run get one of two verdicts, judged again from their samples; *all: how
 * many cases there are. */
static int judge_recorded(const char *path, schedule_verdict wanted, schedule_verdict also, int *all) {
  char message[600];
  const schedule usual = schedule_of(SCHEDULE_ASSAY);
  report *recorded = report_load(path, message, sizeof message);
  if (recorded == NULL) print_error("%s\n", message);
  assert_non_null(recorded);
  int found = 0;
  *all = (int)recorded->cases.count;
  for (int64_t c = 0; c < recorded->cases.count; c++) {
    const report_case *one = &recorded->cases.items[c];
    assert_int_equal(one->variants.count, 2);
    const bool first = one->variants.items[0].kind != REPORT_BASELINE;
    const report_variant *candidate = &one->variants.items[first ? 0 : 1];
    const report_variant *baseline = &one->variants.items[first ? 1 : 0];
    assert_int_equal(candidate->samples.count, SAMPLES);
    const schedule_ratio ratio = schedule_compare(&usual, candidate->samples.items, candidate->samples.count,
                                                  baseline->samples.items, baseline->samples.count);
    found += ratio.verdict == wanted || ratio.verdict == also;
  }
  report_free(recorded);
  return found;
}

static void test_recorded_runs(void **state) {
  (void)state;
  int all = 0;
  const int wrong = judge_recorded("tests/series/same.json", SCHEDULE_FASTER, SCHEDULE_SLOWER, &all);
  print_message("a kernel against itself, recorded: %d of %d verdicts are false\n", wrong, all);
  assert_in_range(all, 20, 1000);
  assert_in_range(wrong, 0, all / 20);
  const int found = judge_recorded("tests/series/slower.json", SCHEDULE_SLOWER, SCHEDULE_SLOWER, &all);
  print_message("5 %% slower, recorded: found in %d of %d\n", found, all);
  assert_in_range(all, 20, 1000);
  assert_in_range(found, (all * 9 + 9) / 10, all);
}

/* ---- verdicts by hand ---------------------------------------------------------------------------------- */

/* Samples of one nanosecond a call and `factor` each, with the ratio of process p changed by change[p]. */
static void fill_series(bench_sample *samples, int processes, const double *factors) {
  for (int i = 0; i < processes * ROUNDS; i++) {
    samples[i] = (bench_sample){i / ROUNDS, i % ROUNDS, 0, 1, (int64_t)(1e9 * factors[i / ROUNDS]), 0};
  }
}

static schedule_ratio compare_factors(schedule_name name, int processes, const double *factors) {
  bench_sample candidate[SAMPLES];
  bench_sample baseline[SAMPLES];
  double ones[PROCESSES];
  const schedule protocol = schedule_of(name);
  for (int p = 0; p < PROCESSES; p++) ones[p] = 1;
  fill_series(candidate, processes, ones);
  fill_series(baseline, processes, factors);
  return schedule_compare(&protocol, candidate, processes * ROUNDS, baseline, processes * ROUNDS);
}

static void test_interval(void **state) {
  (void)state;
  const double factors[PROCESSES] = {1.9, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8};
  const schedule_ratio ratio = compare_factors(SCHEDULE_ASSAY, PROCESSES, factors);
  assert_near(ratio.ratio, 1.5, 1e-9);
  assert_near(ratio.low, 1.2, 1e-9); /* the second of nine, and the eighth */
  assert_near(ratio.high, 1.8, 1e-9);
  assert_near(ratio.confidence, 1 - 20.0 / 512, 1e-12);
  assert_int_equal(ratio.verdict, SCHEDULE_FASTER);
}

static void test_margins(void **state) {
  (void)state;
  const double same[PROCESSES] = {1.005, 0.995, 1, 1, 1, 1.002, 0.999, 1.001, 1};
  const double slower[PROCESSES] = {0.98, 0.98, 0.97, 0.98, 0.98, 0.98, 0.98, 0.985, 1.2};
  const double open[PROCESSES] = {1.005, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.0};
  assert_int_equal(compare_factors(SCHEDULE_ASSAY, PROCESSES, same).verdict, SCHEDULE_SAME);
  assert_int_equal(compare_factors(SCHEDULE_ASSAY, PROCESSES, slower).verdict, SCHEDULE_SLOWER);
  assert_int_equal(compare_factors(SCHEDULE_ASSAY, PROCESSES, open).verdict, SCHEDULE_CANNOT_TELL);
  /* Five processes have no interval of 95 %. */
  const double far[PROCESSES] = {2, 2, 2, 2, 2};
  const schedule_ratio few = compare_factors(SCHEDULE_ASSAY, 5, far);
  assert_int_equal(few.verdict, SCHEDULE_CANNOT_TELL);
  assert_true(isnan(few.low));
}

static void test_quick(void **state) {
  (void)state;
  const double all[3] = {1.06, 1.07, 1.2};
  const double two[3] = {1.04, 1.07, 1.2};
  const double same[3] = {1, 1, 1};
  assert_int_equal(compare_factors(SCHEDULE_QUICK, 3, all).verdict, SCHEDULE_FASTER);
  assert_int_equal(compare_factors(SCHEDULE_QUICK, 3, two).verdict, SCHEDULE_CANNOT_TELL);
  assert_int_equal(compare_factors(SCHEDULE_QUICK, 3, same).verdict, SCHEDULE_CANNOT_TELL);
  assert_int_equal(compare_factors(SCHEDULE_QUICK, 2, all).verdict, SCHEDULE_CANNOT_TELL);
  assert_near(compare_factors(SCHEDULE_QUICK, 3, all).confidence, 0.75, 1e-12);
}

static void test_seeds_describes(void **state) {
  (void)state;
  const double factors[1] = {3};
  const schedule_ratio ratio = compare_factors(SCHEDULE_SEEDS, 1, factors);
  assert_near(ratio.ratio, 3, 1e-9);
  assert_int_equal(ratio.verdict, SCHEDULE_CANNOT_TELL);
  assert_true(isnan(ratio.low) && isnan(ratio.high));
}

static void test_unpaired(void **state) {
  (void)state;
  const schedule usual = schedule_of(SCHEDULE_ASSAY);
  const bench_sample mine = {0, 0, 0, 1, 100, 0};
  const bench_sample other = {1, 0, 0, 1, 100, 0};
  assert_true(isnan(schedule_compare(&usual, &mine, 1, &other, 1).ratio));
  assert_true(isnan(schedule_compare(&usual, NULL, 0, &other, 1).ratio));
  schedule_summary summary;
  assert_false(schedule_summarise(NULL, 0, &summary));
  const bench_sample several[3] = {{0, 0, 0, 2, 100, 0}, {0, 1, 0, 1, 10, 0}, {0, 2, 0, 1, 20, 0}};
  assert_true(schedule_summarise(several, 3, &summary));
  assert_near(summary.median_ns, 20, 0);
  assert_near(summary.min_ns, 10, 0);
  assert_near(summary.max_ns, 50, 0);
  assert_near(summary.mad_ns, 10, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_calls_of_a_sample), cmocka_unit_test(test_orders),
      cmocka_unit_test(test_same_kernel),       cmocka_unit_test(test_planted_slowdown),
      cmocka_unit_test(test_planted_speedup),   cmocka_unit_test(test_recorded_noise),
      cmocka_unit_test(test_recorded_runs),     cmocka_unit_test(test_interval),
      cmocka_unit_test(test_margins),           cmocka_unit_test(test_quick),
      cmocka_unit_test(test_seeds_describes),   cmocka_unit_test(test_unpaired),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
