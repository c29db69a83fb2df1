/* SPDX-License-Identifier: MIT */
/* test_verify.c - a good report is valid; each of many changes to it is found, at the right field and line.
 */
#include "evidence_sample.h"
#include "folder.h"

#include "evidence/locate.h"
#include "evidence/verify.h"
#include "ops/ops.h"

enum { FINDINGS = 512 };

typedef struct findings {
  int count;
  char paths[FINDINGS][160];
  int lines[FINDINGS];
  char texts[FINDINGS][400];
} findings;

static void keep(void *user, const verify_finding *finding) {
  findings *all = user;
  if (all->count == FINDINGS) return;
  snprintf(all->paths[all->count], sizeof all->paths[0], "%s", finding->path);
  snprintf(all->texts[all->count], sizeof all->texts[0], "%s", finding->text);
  all->lines[all->count++] = finding->line;
}

static verify_outcome verify(const char *path, findings *all) {
  verify_outcome outcome;
  assay_message why = {""};
  *all = (findings){.count = 0};
  assert_true(verify_file(path, VERIFY_ALL, keep, all, &outcome, &why));
  assert_int_equal(outcome.findings, all->count);
  return outcome;
}

static const char *good_report(void) {
  const char *path = in_folder("r.json");
  sample_write(&sample_usual, assay_operators[0]->subject.name, path);
  return path;
}

static void test_a_good_report_is_valid_and_current(void **state) {
  (void)state;
  findings all;
  const verify_outcome outcome = verify(good_report(), &all);
  if (all.count > 0) fail_msg("line %d, %s: %s", all.lines[0], all.paths[0], all.texts[0]);
  assert_true(outcome.current);
}

/* ---- tampering ----------------------------------------------------------------------------------------- */

/* The value at "cases[0].name", to be changed in place. */
static json_t *at(json_t *root, const char *path) {
  json_t *value = root;
  while (*path != '\0' && value != NULL) {
    if (*path == '[') {
      value = json_array_get(value, (size_t)strtol(path + 1, NULL, 10));
      path = strchr(path, ']') + 1;
    } else {
      char key[64];
      if (*path == '.') path++;
      const size_t length = strcspn(path, ".[");
      snprintf(key, sizeof key, "%.*s", (int)length, path);
      value = json_object_get(value, key);
      path += length;
    }
  }
  assert_non_null(value);
  return value;
}

static void put(json_t *root, const char *parent, const char *key, json_t *value) {
  assert_int_equal(json_object_set_new(at(root, parent), key, value), 0);
}

#define VARIANT "cases[0].variants[1]"
#define SAMPLE  "cases[0].variants[1].samples[7]"

static void sample_time(json_t *root) {
  put(root, SAMPLE, "nanoseconds", json_integer(3));
}
static void median(json_t *root) {
  put(root, VARIANT ".statistics", "median_ns", json_real(123.0));
}
static void smallest(json_t *root) {
  put(root, VARIANT ".statistics", "min_ns", json_real(1.0));
}
static void largest(json_t *root) {
  put(root, VARIANT ".statistics", "max_ns", json_real(1e9));
}
static void deviation(json_t *root) {
  put(root, VARIANT ".statistics", "mad_ns", json_real(0.0));
}
static void ratio(json_t *root) {
  put(root, "cases[0].comparisons[0]", "ratio", json_real(9.5));
}
static void interval(json_t *root) {
  put(root, "cases[0].comparisons[0]", "low", json_real(9.0));
}
static void verdict(json_t *root) {
  put(root, "cases[0].comparisons[1]", "verdict", json_string("faster"));
}
static void source_hash(json_t *root) {
  put(root, VARIANT ".sources[0]", "sha256",
      json_string("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"));
}
static void no_source(json_t *root) {
  put(root, VARIANT, "sources", json_array());
}
static void late_prediction(json_t *root) {
  char hash[ASSAY_HASH_TEXT];
  prediction_hash("2026-11-01T10:00:02Z", sample_usual.prediction, hash);
  put(root, "prediction", "created", json_string("2026-11-01T10:00:02Z"));
  put(root, "prediction", "hash", json_string(hash));
}
static void other_prediction(json_t *root) {
  put(root, "prediction", "text", json_string("64x64: fast < 0.6 * plain"));
}
static void label(json_t *root) {
  put(root, "", "label", json_string("exploratory"));
}
static void lost_sample(json_t *root) {
  json_array_remove(at(root, VARIANT ".samples"), 3);
}
static void repeated_round(json_t *root) {
  put(root, SAMPLE, "round", json_integer(1));
}
static void strange_process(json_t *root) {
  put(root, SAMPLE, "process", json_integer(9));
}
static void position(json_t *root) {
  const json_int_t now = json_integer_value(at(root, "cases[0].variants[2].samples[7].position"));
  put(root, "cases[0].variants[2].samples[7]", "position", json_integer((now + 1) % 3));
}
static void processes(json_t *root) {
  put(root, "protocol", "processes", json_integer(12));
}
static void rounds(json_t *root) {
  put(root, "protocol", "rounds", json_integer(6));
}
static void protocol(json_t *root) {
  put(root, "protocol", "name", json_string("quick"));
}
static void cache(json_t *root) {
  put(root, "", "cache", json_string("cold"));
}
static void mode(json_t *root) {
  put(root, "", "mode", json_string("graph"));
}
static void other_mode_baseline(json_t *root) {
  put(root, "cases[0].comparisons[0]", "baseline", json_string("plain, events"));
}
static void failed_gate(json_t *root) {
  put(root, VARIANT ".gate", "verdict", json_string("FAIL"));
}
static void nothing_compared(json_t *root) {
  put(root, VARIANT ".gate", "compared", json_integer(0));
}
static void too_much_error(json_t *root) {
  put(root, VARIANT ".gate", "max_error_share", json_real(1.5));
}
static void ceiling(json_t *root) {
  put(root, "ceilings[0]", "rate", json_real(1e9));
}
static void future(json_t *root) {
  put(root, "", "created", json_string("2999-01-01T00:00:00Z"));
}
static void unknown_field(json_t *root) {
  put(root, VARIANT, "note", json_string("trust me"));
}
static void lost_field(json_t *root) {
  json_object_del(at(root, VARIANT), "rounding");
}
static void wrong_type(json_t *root) {
  put(root, "", "seed", json_string("5"));
}
static void unknown_operator(json_t *root) {
  put(root, "cases[0]", "operator", json_string("nothing_known"));
}
static void case_twice(json_t *root) {
  json_array_append(at(root, "cases"), at(root, "cases[0]"));
}
static void skipped_and_measured(json_t *root) {
  put(root, "cases[0].skipped[0]", "name", json_string("even"));
}

/* All samples of a variant a hundred thousand times quicker, and every statistic worked out again: only the
 * floor is left to tell. */
static void impossible(json_t *root) {
  json_t *sample;
  size_t i;
  json_array_foreach(at(root, VARIANT ".samples"), i, sample) {
    json_object_set_new(sample, "calls", json_integer(1000000));
  }
  char message[512];
  report *made = report_from_json(root, "sample", message, sizeof message);
  assert_non_null(made);
  report_statistics again;
  assert_true(pairs_statistics(&made->cases.items[0].variants.items[1], &again));
  pairs_ratio pair;
  pairs_of(made, &made->cases.items[0].variants.items[1], &made->cases.items[0].variants.items[2], &pair);
  report_free(made);
  put(root, VARIANT, "statistics",
      json_pack("{s:f, s:f, s:f, s:f}", "median_ns", again.median_ns, "min_ns", again.min_ns, "max_ns",
                again.max_ns, "mad_ns", again.mad_ns));
  put(root, "cases[0].comparisons[1]", "ratio", json_real(pair.ratio));
  put(root, "cases[0].comparisons[1]", "low", json_real(pair.low));
  put(root, "cases[0].comparisons[1]", "high", json_real(pair.high));
  put(root, "cases[0].comparisons[1]", "verdict", json_string("faster"));
}

static const struct {
  void (*change)(json_t *root);
  const char *path; /* of a finding that there must be */
} tamperings[] = {
    {sample_time, "cases[0].variants[1].statistics.min_ns"},
    {median, "cases[0].variants[1].statistics.median_ns"},
    {smallest, "cases[0].variants[1].statistics.min_ns"},
    {largest, "cases[0].variants[1].statistics.max_ns"},
    {deviation, "cases[0].variants[1].statistics.mad_ns"},
    {ratio, "cases[0].comparisons[0].ratio"},
    {interval, "cases[0].comparisons[0].low"},
    {verdict, "cases[0].comparisons[1].verdict"},
    {source_hash, "cases[0].variants[1].sources[0].sha256"},
    {no_source, "cases[0].variants[1].sources"},
    {late_prediction, "prediction.created"},
    {other_prediction, "prediction.hash"},
    {label, "label"},
    {lost_sample, "cases[0].variants[1].samples"},
    {repeated_round, "cases[0].variants[1].samples[7]"},
    {strange_process, "cases[0].variants[1].samples[7]"},
    {position, "cases[0].variants[2].samples[7].position"},
    {processes, "protocol.processes"},
    {rounds, "protocol.rounds"},
    {protocol, "protocol.processes"},
    {cache, "cache"},
    {mode, "mode"},
    {other_mode_baseline, "cases[0].comparisons[0].baseline"},
    {failed_gate, "cases[0].variants[1].gate.verdict"},
    {nothing_compared, "cases[0].variants[1].gate.compared"},
    {too_much_error, "cases[0].variants[1].gate.max_error_share"},
    {ceiling, "ceilings[0].rate"},
    {future, "created"},
    {unknown_field, "cases[0].variants[1].note"},
    {lost_field, "cases[0].variants[1].rounding"},
    {wrong_type, "seed"},
    {unknown_operator, "cases[0].operator"},
    {case_twice, "cases[2].name"},
    {skipped_and_measured, "cases[0].skipped[0].name"},
    {impossible, "cases[0].variants[1].statistics.median_ns"},
};

static json_t *load(const char *path) {
  char message[512];
  json_t *root = assay_json_load(path, message, sizeof message);
  assert_non_null(root);
  return root;
}

static void test_each_tampering_is_found(void **state) {
  (void)state;
  const char *good = good_report();
  const char *bad = in_folder("bad.json");
  for (size_t i = 0; i < sizeof tamperings / sizeof tamperings[0]; i++) {
    json_t *root = load(good);
    tamperings[i].change(root);
    assert_true(assay_json_save(root, bad));
    json_decref(root);
    findings all;
    verify(bad, &all);
    size_t size;
    char *text = assay_read_file(bad, 1 << 24, &size);
    bool found = false;
    for (int k = 0; k < all.count; k++) {
      if (strcmp(all.paths[k], tamperings[i].path) != 0) continue;
      found = true;
      assert_int_equal(all.lines[k], json_line_of(text, tamperings[i].path));
      assert_true(all.lines[k] > 1);
    }
    free(text);
    if (!found)
      fail_msg("tampering %zu: nothing at %s; %d findings, the first at %s: %s", i, tamperings[i].path,
               all.count, all.count > 0 ? all.paths[0] : "", all.count > 0 ? all.texts[0] : "");
  }
}

/* The line of a finding, counted by hand: in a file written by two blanks, "seed" stands where grep -n says.
 */
static void test_the_line_is_the_one_in_the_file(void **state) {
  (void)state;
  static const char text[] = "{\n  \"a\": [1,\n    {\"x\": \"}\\\"\",\n     \"b\": 2}],\n  \"c\": {\"d\": "
                             "{\n    \"e\": [\n 0\n]}}\n}\n";
  assert_int_equal(json_line_of(text, ""), 1);
  assert_int_equal(json_line_of(text, "a"), 2);
  assert_int_equal(json_line_of(text, "a[0]"), 2);
  assert_int_equal(json_line_of(text, "a[1]"), 3);
  assert_int_equal(json_line_of(text, "a[1].b"), 4);
  assert_int_equal(json_line_of(text, "c"), 5);
  assert_int_equal(json_line_of(text, "c.d.e"), 6);
  assert_int_equal(json_line_of(text, "c.d.e[0]"), 7);
  assert_int_equal(json_line_of(text, "c.d.missing.deeper"), 5);
  assert_int_equal(json_line_of(text, "a[9]"), 2);
}

static void test_broken_files_are_findings(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int line;
  } broken[] = {{"", 1},
                {"{\n\"format\": \"assay-report-1\",\n", 2},
                {"[]", 1},
                {"{\"format\": \"other\"}", 1},
                {"{\n \"a\": 1,\n \"a\": 2\n}", 3}};
  for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
    const char *path = in_folder("broken.json");
    findings all;
    assert_true(assay_write_file(path, broken[i].text, strlen(broken[i].text), 0600));
    verify(path, &all);
    assert_int_equal(all.count, 1);
    assert_in_range(all.lines[0], broken[i].line, broken[i].line + 1);
  }
  verify_outcome outcome;
  assay_message why = {""};
  assert_false(verify_file(in_folder("absent.json"), VERIFY_ALL, keep, NULL, &outcome, &why));
  assert_non_null(strstr(why.text, "absent.json"));
}

/* ---- kept sources -------------------------------------------------------------------------------------- */

/* A report of a file that is edited afterwards: valid with a kept copy, current never again. */
static void test_a_changed_source(void **state) {
  (void)state;
  findings all;
  char kernel[ASSAY_PATH_SIZE];
  char kept[ASSAY_PATH_SIZE];
  char hash[ASSAY_HASH_TEXT];
  const char *path = good_report();
  assert_true(assay_path_format(kernel, "%s/kernel.c", folder));
  assert_true(assay_write_file(kernel, "int a;\n", 7, 0600));
  assert_true(assay_hash_file(kernel, hash));
  json_t *root = load(path);
  put(root, VARIANT ".sources[0]", "path", json_string(kernel));
  put(root, VARIANT ".sources[0]", "sha256", json_string(hash));
  assert_true(assay_json_save(root, path));
  json_decref(root);
  assert_true(verify(path, &all).current);
  assert_int_equal(all.count, 0);

  assert_true(assay_write_file(kernel, "int b;\n", 7, 0600));
  verify_outcome outcome = verify(path, &all);
  assert_false(outcome.current);
  assert_string_equal(outcome.changed, kernel);
  assert_int_equal(all.count, 1);
  assert_string_equal(all.paths[0], "cases[0].variants[1].sources[0].sha256");

  assert_true(assay_path_format(kept, "%s/sources", folder));
  assert_true(assay_make_folders(kept));
  assert_true(assay_path_format(kept, "%s/sources/%s", folder, hash));
  assert_true(assay_write_file(kept, "int a;\n", 7, 0600));
  outcome = verify(path, &all);
  assert_int_equal(all.count, 0);
  assert_false(outcome.current);

  assert_true(assay_write_file(kept, "int c;\n", 7, 0600)); /* one byte of the kept copy */
  verify(path, &all);
  assert_int_equal(all.count, 1);
  assert_non_null(strstr(all.texts[0], "kept copy"));
}

/* `test_verify FILE` writes the good report there, for the tests that are scripts. */
int main(int argc, char **argv) {
  if (argc >= 2) {
    sample_plan plan = sample_usual;
    if (argc == 3) plan.cache = argv[2];
    sample_write(&plan, assay_operators[0]->subject.name, argv[1]);
    return 0;
  }
  const struct CMUnitTest tests[] = {
      IN_NEW_FOLDER(test_a_good_report_is_valid_and_current),
      IN_NEW_FOLDER(test_each_tampering_is_found),
      cmocka_unit_test(test_the_line_is_the_one_in_the_file),
      IN_NEW_FOLDER(test_broken_files_are_findings),
      IN_NEW_FOLDER(test_a_changed_source),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
