/* SPDX-License-Identifier: MIT */
/* test_report.c - reports come back as they were written, and whatever is wrong in one is named by its path.
 */
#include <stdlib.h>
#include <unistd.h>

#include "evidence/report.h"
#include "evidence/report_fields.h"
#include "json.h"
#include "unit.h"

static const char recorded[] = "tests/series/recorded.json";

static json_t *load_json(const char *path) {
  char message[400];
  json_t *value = assay_json_load(path, message, sizeof message);
  if (value == NULL) print_error("%s\n", message);
  assert_non_null(value);
  return value;
}

static void test_round_trip(void **state) {
  (void)state;
  char message[400];
  json_t *before = load_json(recorded);
  report *read = report_from_json(before, "x", message, sizeof message);
  assert_non_null(read);
  json_t *after = report_to_json(read);
  assert_true(json_equal(before, after));
  json_decref(before);
  json_decref(after);
  report_free(read);
}

static void test_saved_and_loaded(void **state) {
  (void)state;
  char message[400];
  char path[] = "/tmp/assay-report-XXXXXX";
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  report *read = report_load(recorded, message, sizeof message);
  assert_non_null(read);
  assert_true(report_save(read, path));
  report *again = report_load(path, message, sizeof message);
  assert_non_null(again);
  assert_int_equal(again->cases.count, read->cases.count);
  assert_string_equal(again->created, read->created);
  assert_false(report_save(read, "/nonexistent/folder/r.json"));
  report_free(read);
  report_free(again);
  close(fd);
  unlink(path);
}

static void test_contents(void **state) {
  (void)state;
  char message[400];
  report *read = report_load(recorded, message, sizeof message);
  assert_non_null(read);
  assert_int_equal(read->protocol.name, REPORT_ASSAY);
  assert_int_equal(read->protocol.processes, 9);
  assert_true(read->complete);
  assert_null(read->prediction);
  assert_null(read->environment.gpu);
  const report_case *one = &read->cases.items[0];
  assert_string_equal(one->dims.items[0].name, "rows");
  const report_variant *variant = report_find_variant(one, one->variants.items[0].name);
  assert_ptr_equal(variant, &one->variants.items[0]);
  assert_null(report_find_variant(one, "nobody"));
  assert_int_equal(variant->samples.count, 45);
  const bench_sample sample = {.calls = 20, .nanoseconds = 50};
  assert_near(report_call_ns(&sample), 2.5, 0);
  report_free(read);
  assert_null(report_load("/nonexistent.json", message, sizeof message));
  assert_non_null(strstr(message, "/nonexistent.json"));
}

/* ---- what is refused ----------------------------------------------------------------------------------- */

/* Replaces, adds or (value NULL) takes away the last name of a path such as "cases.0.name". */
static void change(json_t *root, const char *path, json_t *value) {
  char words[200];
  char *rest = NULL;
  json_t *at = root;
  snprintf(words, sizeof words, "%s", path);
  char *word = strtok_r(words, ".", &rest);
  for (char *next = strtok_r(NULL, ".", &rest); next != NULL; next = strtok_r(NULL, ".", &rest)) {
    at = json_is_array(at) ? json_array_get(at, (size_t)atoi(word)) : json_object_get(at, word);
    assert_non_null(at);
    word = next;
  }
  if (value == NULL) {
    assert_int_equal(json_object_del(at, word), 0);
  } else if (json_is_array(at)) {
    assert_int_equal(json_array_set_new(at, (size_t)atoi(word), value), 0);
  } else {
    assert_int_equal(json_object_set_new(at, word, value), 0);
  }
}

static void refuse(const char *path, json_t *value, const char *wanted) {
  char message[400] = "";
  json_t *root = load_json(recorded);
  change(root, path, value);
  report *read = report_from_json(root, "F", message, sizeof message);
  if (read != NULL || strncmp(message, wanted, strlen(wanted)) != 0) {
    fail_msg("%s: \"%s\" does not begin with \"%s\"", path, message, wanted);
  }
  json_decref(root);
}

static void test_refused(void **state) {
  (void)state;
  refuse("format", json_string("assay-report-2"), "F: is no report");
  refuse("format", NULL, "F: is no report");
  refuse("seed", NULL, "F: seed: is missing");
  refuse("more", json_true(), "F: more: is no field");
  refuse("a\nb", json_true(), "F: a?b: is no field");
  refuse("seed", json_integer(-1), "F: seed: must be a whole number from 0 up");
  refuse("seed", json_real(1.5), "F: seed: must be a whole number");
  refuse("complete", json_integer(1), "F: complete: must be true or false");
  refuse("created", json_string("yesterday"), "F: created: must be a time in UTC");
  refuse("created", json_string("2025-13-31T12:00:00Z"), "F: created: must be a time in UTC");
  refuse("mode", json_string("cpu"), "F: mode: must be one of wall, events, graph");
  refuse("command", json_string("assay"), "F: command: must be an array");
  refuse("command.0", json_integer(1), "F: command[0]: must be a string");
  refuse("protocol", json_null(), "F: protocol: must be an object");
  refuse("protocol.rounds", json_integer(0), "F: protocol.rounds: must be a whole number from 1 up");
  refuse("environment.pages", json_string("big"), "F: environment.pages: must be one of huge, base, mixed");
  refuse("environment.load_end", json_null(), "F: environment.load_end: must be a number");
  refuse("git.revision", json_integer(1), "F: git.revision: must be a string");
  refuse("ceilings.0.samples.1", json_integer(0),
         "F: ceilings[0].samples[1]: must be a whole number from 1 up");
  refuse("prediction", json_object(), "F: prediction.text: is missing");
  refuse("cases.0.dims.rows", json_string("8"), "F: cases[0].dims.rows: must be a whole number");
  refuse("cases.0.work.flops", json_real(-1), "F: cases[0].work.flops: must be a number from 0 up");
  refuse("cases.0.variants.0.kind", json_string("mine"),
         "F: cases[0].variants[0].kind: must be one of yours");
  refuse("cases.0.variants.0.sources.0.sha256", json_string("abc"),
         "F: cases[0].variants[0].sources[0].sha256: must be a SHA-256");
  refuse("cases.0.variants.0.samples.3.calls", json_integer(0),
         "F: cases[0].variants[0].samples[3].calls: must be a whole number from 1 up");
  refuse("cases.0.variants.0.samples.3", json_array(),
         "F: cases[0].variants[0].samples[3]: must be an object");
  refuse("cases.0.variants.0.gate.verdict", json_string("OK"),
         "F: cases[0].variants[0].gate.verdict: must be");
  refuse("cases.0.comparisons.0.low", json_string("1"),
         "F: cases[0].comparisons[0].low: must be a number from 0 up, or null");
  refuse("cases.0.comparisons.0.verdict", json_string("won"),
         "F: cases[0].comparisons[0].verdict: must be one of faster, slower, same, cannot tell");
}

static void test_accepted(void **state) {
  (void)state;
  const struct {
    const char *path;
    json_t *value;
  } fine[] = {{"git.revision", json_null()},
              {"cases.0.comparisons.0.low", json_null()},
              {"cases.0.variants.0.statistics", json_null()},
              {"cases", json_array()},
              {"seed", json_integer(INT64_MAX)}};
  for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
    char message[400] = "";
    json_t *root = load_json(recorded);
    change(root, fine[i].path, fine[i].value);
    report *read = report_from_json(root, "F", message, sizeof message);
    assert_string_equal(message, "");
    assert_non_null(read);
    json_t *after = report_to_json(read);
    assert_true(json_equal(root, after));
    json_decref(after);
    json_decref(root);
    report_free(read);
  }
}

/* ---- the schema says the same as the tables ------------------------------------------------------------ */

static void hold_to_schema(const report_field *fields, const json_t *schema, bool outermost);

static void hold_field(const report_field *field, const json_t *schema) {
  const json_t *words = json_object_get(schema, "enum");
  if (field->words != NULL) {
    size_t count = 0;
    while (field->words[count] != NULL) {
      assert_string_equal(json_string_value(json_array_get(words, count)), field->words[count]);
      count++;
    }
    assert_int_equal(json_array_size(words), count);
  }
  if (field->kind == FIELD_WHOLE) {
    assert_int_equal(json_integer_value(json_object_get(schema, "minimum")), field->low);
  }
  const bool nullable = json_is_array(json_object_get(schema, "type"));
  assert_true(nullable == (field->kind == FIELD_TEXT_OR_NULL || field->kind == FIELD_NUMBER_OR_NULL ||
                           field->kind == FIELD_OBJECT_OR_NULL));
  assert_true((json_object_get(schema, "pattern") != NULL) ==
              (field->kind == FIELD_HASH || field->kind == FIELD_TIME));
  if (field->kind == FIELD_OBJECT || field->kind == FIELD_OBJECT_OR_NULL) {
    hold_to_schema(field->fields, schema, false);
  }
  if (field->kind == FIELD_LIST) hold_to_schema(field->fields, json_object_get(schema, "items"), false);
}

static void hold_to_schema(const report_field *fields, const json_t *schema, bool outermost) {
  const json_t *properties = json_object_get(schema, "properties");
  const json_t *required = json_object_get(schema, "required");
  size_t count = outermost ? 1 : 0; /* "format" */
  size_t optional = 0;
  assert_true(json_is_false(json_object_get(schema, "additionalProperties")));
  for (; fields->name != NULL; fields++, count++) {
    const json_t *property = json_object_get(properties, fields->name);
    if (property == NULL) fail_msg("the schema has no %s", fields->name);
    optional += fields->optional;
    if (!fields->optional)
      assert_string_equal(json_string_value(json_array_get(required, count - optional)), fields->name);
    hold_field(fields, property);
  }
  assert_int_equal(json_object_size(properties), count);
  assert_int_equal(json_array_size(required), count - optional);
}

static void test_schema(void **state) {
  (void)state;
  json_t *schema = load_json("schema/report-1.json");
  hold_to_schema(report_fields, schema, true);
  json_decref(schema);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip), cmocka_unit_test(test_saved_and_loaded),
      cmocka_unit_test(test_contents),   cmocka_unit_test(test_refused),
      cmocka_unit_test(test_accepted),   cmocka_unit_test(test_schema),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
