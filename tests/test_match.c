/* SPDX-License-Identifier: MIT */
/* test_match.c - two reports side by side: ratios by a common baseline, separate runs, refusals; and
 * predictions. */
#include "evidence_sample.h"
#include "folder.h"

#include "evidence/match.h"
#include "evidence/predict_check.h"
#include "ops/ops.h"

enum { ROWS = 16 };

typedef struct rows {
  int count;
  match_row rows[ROWS];
} rows;

static void keep(void *user, const match_row *row) {
  rows *all = user;
  assert_true(all->count < ROWS);
  all->rows[all->count++] = *row;
}

static report *made(const sample_plan *plan, const char *name) {
  char message[512];
  const char *path = in_folder(name);
  sample_write(plan, assay_operators[0]->subject.name, path);
  report *loaded = report_load(path, message, sizeof message);
  assert_non_null(loaded);
  return loaded;
}

/* Compares plans; what was refused is in `why`. */
static bool match(const sample_plan *left_plan, const sample_plan *right_plan, rows *all,
                  match_outcome *outcome, assay_message *why, void (*look)(const rows *all)) {
  report *left = made(left_plan, "left.json");
  report *right = made(right_plan, "right.json");
  *all = (rows){.count = 0};
  const bool matched = match_reports(left, right, keep, all, outcome, why);
  if (matched && look != NULL) look(all);
  report_free(left);
  report_free(right);
  return matched;
}

static void by_baseline(const rows *all) {
  assert_int_equal(all->count, 4); /* two variants in two cases */
  assert_int_equal(all->rows[0].kind, MATCH_RATIOS);
  assert_string_equal(all->rows[0].baseline, "plain");
}

/* The whole second run is 30 % slower: the common baseline takes that out. */
static void test_a_slow_day_is_no_slower_kernel(void **state) {
  (void)state;
  rows all;
  match_outcome outcome;
  assay_message why = {""};
  sample_plan slow_day = sample_usual;
  slow_day.run_shift = 1.3;
  slow_day.seed = 77;
  slow_day.noise = 0.002;
  sample_plan usual = sample_usual;
  usual.noise = 0.002;
  assert_true(match(&usual, &slow_day, &all, &outcome, &why, by_baseline));
  assert_int_equal(outcome.slower, 0);
  for (int i = 0; i < all.count; i++) {
    assert_near(all.rows[i].ratio, 1.0, 0.01);
    assert_int_equal(all.rows[i].verdict, REPORT_SAME);
  }
}

static void test_a_slower_and_a_faster_kernel(void **state) {
  (void)state;
  rows all;
  match_outcome outcome;
  assay_message why = {""};
  sample_plan changed = sample_usual;
  changed.seed = 78;
  changed.variants[0].ns *= 1.05;
  changed.variants[1].ns /= 1.2;
  assert_true(match(&sample_usual, &changed, &all, &outcome, &why, by_baseline));
  assert_int_equal(outcome.slower, 2);
  assert_int_equal(all.rows[0].verdict, REPORT_SLOWER);
  assert_near(all.rows[0].ratio, 1 / 1.05, 0.01);
  assert_true(all.rows[0].low <= all.rows[0].ratio && all.rows[0].ratio <= all.rows[0].high);
  assert_int_equal(all.rows[1].verdict, REPORT_FASTER);
  assert_near(all.rows[1].ratio, 1.2, 0.02);
}

/* Another baseline's source: 4 % may be one of the runs, 50 % is not. */
static void test_separate_runs(void **state) {
  (void)state;
  rows all;
  match_outcome outcome;
  assay_message why = {""};
  sample_plan changed = sample_usual;
  changed.variants[2].source = "core/file.c";
  changed.variants[0].ns *= 1.04;
  changed.variants[1].ns *= 1.5;
  assert_true(match(&sample_usual, &changed, &all, &outcome, &why, NULL));
  assert_int_equal(all.rows[0].kind, MATCH_SEPARATE_RUNS);
  assert_int_equal(all.rows[0].verdict, REPORT_CANNOT_TELL);
  assert_int_equal(all.rows[1].verdict, REPORT_SLOWER);
  assert_null(all.rows[0].baseline);
}

static void test_two_machines_form_no_ratio(void **state) {
  (void)state;
  rows all;
  match_outcome outcome;
  assay_message why = {""};
  sample_plan other = sample_usual;
  other.cpu = "Another CPU";
  other.variants[0].ns *= 3;
  assert_true(match(&sample_usual, &other, &all, &outcome, &why, NULL));
  for (int i = 0; i < all.count; i++) {
    assert_int_equal(all.rows[i].kind, MATCH_MACHINES);
    assert_true(isnan(all.rows[i].ratio));
    assert_int_equal(all.rows[i].verdict, REPORT_CANNOT_TELL);
  }
}

/* However far apart, and what to run instead. */
static void test_too_few_processes(void **state) {
  (void)state;
  rows all;
  match_outcome outcome;
  assay_message why = {""};
  sample_plan quick = sample_usual;
  quick.protocol = "quick";
  quick.processes = 3;
  sample_plan slower = quick;
  slower.variants[0].ns *= 3;
  assert_true(match(&quick, &slower, &all, &outcome, &why, NULL));
  assert_int_equal(outcome.undecided, all.count);
  assert_non_null(strstr(all.rows[0].reason, "run both again without it"));
  sample_plan cut = sample_usual;
  cut.processes = 2;
  assert_true(match(&cut, &cut, &all, &outcome, &why, NULL));
  assert_int_equal(outcome.undecided, all.count);
  assert_non_null(strstr(all.rows[0].reason, "--resume"));
}

static void test_what_is_refused(void **state) {
  (void)state;
  rows all;
  match_outcome outcome;
  assay_message why = {""};
  sample_plan cold = sample_usual;
  cold.cache = "cold";
  assert_false(match(&sample_usual, &cold, &all, &outcome, &why, NULL));
  assert_non_null(strstr(why.text, "cache states differ, warm and cold"));
  sample_plan graph = sample_usual;
  graph.mode = "graph";
  assert_false(match(&sample_usual, &graph, &all, &outcome, &why, NULL));
  assert_non_null(strstr(why.text, "timing modes differ, wall and graph"));
  sample_plan half = sample_usual;
  half.dtype = "fp16";
  assert_false(match(&sample_usual, &half, &all, &outcome, &why, NULL));
  assert_non_null(strstr(why.text, "element types differ, fp32 and fp16"));
  sample_plan strangers = sample_usual;
  strangers.variants[0].name = "one";
  strangers.variants[1].name = "two";
  assert_false(match(&sample_usual, &strangers, &all, &outcome, &why, NULL));
  assert_non_null(strstr(why.text, "in common"));
}

/* A against A, a thousand times: a verdict of a difference is false. The rank-sum interval allows 5 %, and
 * the margin takes most of these away. */
static void test_false_verdicts_are_rare(void **state) {
  (void)state;
  int false_verdicts = 0;
  int found = 0;
  assay_rng rng;
  assay_rng_seed(&rng, 20261130);
  for (int trial = 0; trial < 1000; trial++) {
    double left[9];
    double right[9];
    double slower[9];
    double shift;
    assay_interval interval;
    for (int i = 0; i < 9; i++) {
      left[i] = 0.02 * assay_rng_normal(&rng);
      right[i] = 0.02 * assay_rng_normal(&rng);
      slower[i] = 0.02 * assay_rng_normal(&rng) - log(1.05);
    }
    assert_true(pairs_shift(left, 9, right, 9, 0.95, &shift, &interval));
    const int64_t verdict = pairs_verdict(exp(interval.low), exp(interval.high));
    false_verdicts += verdict == REPORT_FASTER || verdict == REPORT_SLOWER;
    assert_true(pairs_shift(left, 9, slower, 9, 0.95, &shift, &interval));
    found += pairs_verdict(exp(interval.low), exp(interval.high)) == REPORT_SLOWER;
  }
  assert_in_range(false_verdicts, 0, 50);
  assert_in_range(found, 900, 1000);
}

/* Against the exact table of the rank-sum test: for 9 and 9 the 18th difference from each end covers 96 %,
 * and samples of three carry no interval of 95 %. */
static void test_the_rank_sum_interval(void **state) {
  (void)state;
  double left[9];
  double right[9];
  double shift;
  assay_interval interval;
  for (int i = 0; i < 9; i++) {
    left[i] = 0;
    right[i] = i;
  }
  assert_true(pairs_shift(left, 9, right, 9, 0.95, &shift, &interval));
  assert_same_double(shift, 4.0);
  assert_same_double(interval.low, 1.0); /* each of 0..8 nine times: the 18th is a 1 */
  assert_same_double(interval.high, 7.0);
  assert_near(interval.confidence, 0.9600164541341012, 1e-12);
  assert_false(pairs_shift(left, 3, right, 3, 0.95, &shift, &interval));
  assert_true(pairs_shift(left, 3, right, 3, 0.9, &shift, &interval));
  assert_near(interval.confidence, 0.9, 1e-12);
  assert_false(pairs_shift(left, 0, right, 3, 0.5, &shift, &interval));
  assert_true(isnan(shift));
}

/* ---- predictions --------------------------------------------------------------------------------------- */

static void test_claims(void **state) {
  (void)state;
  prediction read;
  assay_message why = {""};
  static const char text[] =
      "256x257: avx512 < 0.5 * plain; fast>2*slow\n1024x1024 transposed : solution chunk=256 < 1 * \"c d\"";
  assert_true(prediction_parse("\"9 by 9\": a < 1 * b", &read, &why));
  assert_string_equal(read.claims[0].shape, "9 by 9");
  assert_true(prediction_parse(text, &read, &why));
  assert_int_equal(read.count, 3);
  assert_string_equal(read.claims[0].shape, "256x257");
  assert_string_equal(read.claims[0].left, "avx512");
  assert_true(read.claims[0].below);
  assert_same_double(read.claims[0].factor, 0.5);
  assert_string_equal(read.claims[1].shape, "");
  assert_false(read.claims[1].below);
  assert_string_equal(read.claims[2].shape, "1024x1024 transposed");
  assert_string_equal(read.claims[2].left, "solution chunk=256");
  assert_string_equal(read.claims[2].right, "c d");
  static const char *const wrong[] = {"",
                                      "avx512",
                                      "a < b",
                                      "a < 0 * b",
                                      "a < -1 * b",
                                      "a < 1e9 * b",
                                      "a < nan * b",
                                      "a <= 1 * b",
                                      "a < 1 * b < c",
                                      "a < 1 b",
                                      ": a < 1 * b",
                                      "a < 1 * a",
                                      "x: < 1 * b",
                                      "a < 1 * ",
                                      "a < 0x2 * b",
                                      "a < 1.2.3 * b",
                                      "a = 1 * b"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    if (prediction_parse(wrong[i], &read, &why)) fail_msg("accepted: %s", wrong[i]);
    assert_non_null(strstr(why.text, "[SHAPE:] VARIANT (<|>) FACTOR * VARIANT"));
  }
}

static void test_a_prediction_file_is_bound(void **state) {
  (void)state;
  prediction declared;
  prediction again;
  assay_message why = {""};
  const char *path = in_folder("p.json");
  assert_true(prediction_make("fast < 0.5 * plain", &declared, &why));
  assert_true(prediction_save(&declared, path, &why));
  assert_false(prediction_save(&declared, path, &why));
  assert_non_null(strstr(why.text, "exists"));
  assert_true(prediction_load(path, &again, &why));
  assert_string_equal(again.text, declared.text);
  assert_string_equal(again.hash, declared.hash);
  prediction_free(&again);
  size_t size;
  char *text = assay_read_file(path, 1 << 16, &size);
  char *digit = strstr(text, "0.5");
  digit[2] = '6';
  assert_true(assay_write_file(path, text, size, 0600));
  free(text);
  assert_false(prediction_load(path, &again, &why));
  assert_non_null(strstr(why.text, "was changed"));
  prediction_free(&declared);
}

typedef struct fates {
  int count;
  claim_fate fate[8];
  double ratio[8];
} fates;

static void keep_fate(void *user, const claim_result *result) {
  fates *all = user;
  assert_true(all->count < 8);
  all->ratio[all->count] = result->ratio;
  all->fate[all->count++] = result->fate;
}

static void test_the_fate_of_claims(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int count;
    claim_fate fate;
  } cases[] = {{"64x64: fast < 0.7 * plain", 1, CLAIM_SUPPORTED},
               {"fast < 0.7 * plain", 2, CLAIM_SUPPORTED},
               {"128x128: fast > 0.7 * plain", 1, CLAIM_REFUTED},
               {"fast < 0.3 * plain", 2, CLAIM_REFUTED},
               {"even < 1 * plain", 2, CLAIM_CANNOT_TELL},
               {"9x9: fast < 1 * plain", 1, CLAIM_CANNOT_TELL},
               {"absent < 1 * plain", 2, CLAIM_CANNOT_TELL},
               {"64x64 packed fp32: fast < 0.7 * plain", 1, CLAIM_SUPPORTED}};
  report *from = made(&sample_usual, "r.json");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    prediction declared;
    assay_message why = {""};
    fates all = {.count = 0};
    assert_true(prediction_parse(cases[i].text, &declared, &why));
    prediction_judge(from, &declared, keep_fate, &all);
    assert_int_equal(all.count, cases[i].count);
    if (all.fate[0] != cases[i].fate)
      fail_msg("%s: fate %d, ratio %g", cases[i].text, (int)all.fate[0], all.ratio[0]);
  }
  report_free(from);
}

static void test_dates(void **state) {
  (void)state;
  char now[UTC_TEXT];
  utc_now(now);
  assert_true(utc_valid(now));
  assert_true(utc_valid("2024-02-29T23:59:60Z"));
  static const char *const wrong[] = {"",
                                      "2026-02-29T00:00:00Z",
                                      "2026-13-01T00:00:00Z",
                                      "2026-00-01T00:00:00Z",
                                      "2026-04-31T00:00:00Z",
                                      "2026-04-30T24:00:00Z",
                                      "2026-04-30T00:60:00Z",
                                      "2026-04-30 00:00:00Z",
                                      "2026-04-30T00:00:00+00:00",
                                      "2026-04-3xT00:00:00Z"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    if (utc_valid(wrong[i])) fail_msg("accepted: %s", wrong[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_NEW_FOLDER(test_a_slow_day_is_no_slower_kernel),
      IN_NEW_FOLDER(test_a_slower_and_a_faster_kernel),
      IN_NEW_FOLDER(test_separate_runs),
      IN_NEW_FOLDER(test_two_machines_form_no_ratio),
      IN_NEW_FOLDER(test_too_few_processes),
      IN_NEW_FOLDER(test_what_is_refused),
      cmocka_unit_test(test_false_verdicts_are_rare),
      cmocka_unit_test(test_the_rank_sum_interval),
      cmocka_unit_test(test_claims),
      IN_NEW_FOLDER(test_a_prediction_file_is_bound),
      IN_NEW_FOLDER(test_the_fate_of_claims),
      cmocka_unit_test(test_dates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
