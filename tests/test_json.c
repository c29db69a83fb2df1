/* SPDX-License-Identifier: MIT */
/* test_json.c - numbers come back exactly, foreign text is repaired, and a bad file is refused with its
 * place. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "file.h"
#include "json.h"

static char folder[ASSAY_PATH_SIZE];
static char path[ASSAY_PATH_SIZE];

static int set_up(void **state) {
  (void)state;
  return assay_make_temp_folder(folder) && assay_path_format(path, "%s/test.json", folder) ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  return assay_remove_tree(folder) ? 0 : -1;
}

static void file_holds(const char *want) {
  size_t size = 0;
  char *text = assay_read_file(path, 1 << 20, &size);
  assert_non_null(text);
  assert_string_equal(text, want);
  free(text);
}

static void test_numbers_that_json_lacks_are_null(void **state) {
  (void)state;
  const double values[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
  for (int i = 0; i < 3; i++) {
    json_t *value = assay_json_number(values[i]);
    assert_true(json_is_null(value));
    json_decref(value);
  }
  json_t *value = assay_json_number(0.5);
  assert_true(json_is_real(value));
  assert_same_double(json_real_value(value), 0.5);
  json_decref(value);
}

static void test_numbers_come_back_exactly(void **state) {
  (void)state;
  const double reals[] = {0.1, 1.0 / 3.0, -0.0, 5e-324, 1.7976931348623157e308, 0x1.fffffffffffffp-3, 1e15};
  const json_int_t whole[] = {INT64_C(9007199254740993) /* 2^53 + 1 */, INT64_MAX, INT64_MIN};
  json_t *list = json_array();
  for (int i = 0; i < 7; i++) json_array_append_new(list, assay_json_number(reals[i]));
  for (int i = 0; i < 3; i++) json_array_append_new(list, json_integer(whole[i]));
  assert_true(assay_json_save(list, path));
  json_decref(list);
  char message[256];
  list = assay_json_load(path, message, sizeof message);
  assert_non_null(list);
  for (size_t i = 0; i < 7; i++) assert_same_double(json_real_value(json_array_get(list, i)), reals[i]);
  for (size_t i = 0; i < 3; i++) {
    assert_true(json_is_integer(json_array_get(list, 7 + i)));
    assert_true(json_integer_value(json_array_get(list, 7 + i)) == whole[i]);
  }
  json_decref(list);
}

#define BAD "\xef\xbf\xbd" /* U+FFFD */

static void test_foreign_text_is_repaired(void **state) {
  (void)state;
  static const struct {
    const char *text, *want;
  } cases[] = {
      {"", ""},
      {"plain \n \" text", "plain \n \" text"},
      {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
      {"\xf4\x8f\xbf\xbf|\xef\xbf\xbf|\xee\x80\x80|\xed\x9f\xbf|\xe0\xa0\x80|\xf0\x90\x80\x80|\xc2\x80",
       "\xf4\x8f\xbf\xbf|\xef\xbf\xbf|\xee\x80\x80|\xed\x9f\xbf|\xe0\xa0\x80|\xf0\x90\x80\x80|\xc2\x80"},
      {"\x80", BAD},                   /* a lone continuation */
      {"a\xff|\xfe", "a" BAD "|" BAD}, /* never in UTF-8 */
      {"\xc0\x80", BAD BAD},           /* overlong */
      {"\xc1\xbf", BAD BAD},
      {"\xe0\x9f\xbf", BAD BAD BAD},
      {"\xf0\x8f\xbf\xbf", BAD BAD BAD BAD},
      {"\xed\xa0\x80", BAD BAD BAD},         /* half of a surrogate pair */
      {"\xf4\x90\x80\x80", BAD BAD BAD BAD}, /* above U+10FFFF */
      {"\xf5\x80\x80\x80", BAD BAD BAD BAD},
      {"\xe2\x82", BAD BAD}, /* ends early */
      {"\xc3(", BAD "("},
      {"\xf0\x9f\x98x", BAD BAD BAD "x"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    json_t *value = assay_json_text(cases[i].text);
    assert_non_null(value);
    assert_string_equal(json_string_value(value), cases[i].want);
    json_decref(value);
  }
}

/* Saves `text` and expects it to be refused with "PATH:PLACE: ...WORD...". */
static void refused(const char *text, const char *place, const char *word) {
  assert_true(assay_write_file(path, text, strlen(text), 0600));
  char message[ASSAY_PATH_SIZE + 256] = "";
  json_t *value = assay_json_load(path, message, sizeof message);
  char start[ASSAY_PATH_SIZE];
  assert_true(assay_path_format(start, "%s%s: ", path, place));
  if (value != NULL || strncmp(message, start, strlen(start)) != 0 || strstr(message, word) == NULL) {
    fail_msg("'%s' gave '%s', expected '%s...%s'", text, message, start, word);
  }
  for (const char *c = message; *c != '\0'; c++) assert_true((unsigned char)*c >= ' ');
}

static void test_bad_files_are_refused_with_their_place(void **state) {
  (void)state;
  refused("{\n  \"a\": 1,\n  \"a\": 2\n}\n", ":3:5", "duplicate object key");
  refused("[1, 2]\nx", ":2:1", "end of file expected");
  refused("[1] [2]", ":1:5", "end of file expected");
  refused("{\"a\": 1,}", ":1:9", "string or '}' expected");
  refused("[99999999999999999999]", ":1:21", "too big integer");
  refused("[NaN]", ":1:4", "invalid token");
  refused("[\"\xff\"]", ":1:2", "byte 0xff");
  refused("[\x1b]", ":1:2", "invalid token"); /* and the escape does not reach the terminal */
  refused("", ":1:0", "expected");
}

static void test_missing_file(void **state) {
  (void)state;
  char missing[ASSAY_PATH_SIZE];
  char message[ASSAY_PATH_SIZE];
  char want[ASSAY_PATH_SIZE];
  assert_true(assay_path_format(missing, "%s/none.json", folder));
  assert_true(assay_path_format(want, "%s: No such file or directory", missing));
  assert_null(assay_json_load(missing, message, sizeof message));
  assert_string_equal(message, want);
}

static void test_message_is_cut(void **state) {
  (void)state;
  char message[8];
  memset(message, 'x', sizeof message);
  assert_null(assay_json_load("/nonexistent/file", message, 5));
  assert_memory_equal(message, "/non\0xxx", 8);
}

static void test_layout_of_a_saved_file(void **state) {
  (void)state;
  json_t *value = json_pack("{s:i, s:[f, b], s:{}}", "zebra", 1, "apple", 0.1, 1, "empty");
  assert_non_null(value);
  assert_true(assay_json_save(value, path));
  file_holds(
      "{\n  \"zebra\": 1,\n  \"apple\": [\n    0.10000000000000001,\n    true\n  ],\n  \"empty\": {}\n}\n");
  json_decref(value);
}

static void test_a_failed_save_leaves_the_old_file(void **state) {
  (void)state;
  json_t *loop = json_array();
  json_t *inner = json_array();
  json_array_append(loop, inner);
  json_array_append(inner, loop);
  assert_true(assay_write_file(path, "old", 3, 0600));
  errno = 0;
  assert_false(assay_json_save(loop, path)); /* jansson refuses a value that contains itself */
  assert_int_equal(errno, EINVAL);
  file_holds("old");
  json_array_clear(inner);
  char missing[ASSAY_PATH_SIZE];
  assert_true(assay_path_format(missing, "%s/none/x.json", folder));
  errno = 0;
  assert_false(assay_json_save(inner, missing));
  assert_int_equal(errno, ENOENT);
  json_decref(inner);
  json_decref(loop);
}

static void test_print(void **state) {
  (void)state;
  json_t *value = json_pack("[i, n]", 7);
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  assert_non_null(stream);
  assert_true(assay_json_print(value, stream));
  assert_string_equal(text, "[\n  7,\n  null\n]\n"); /* before fclose: it was flushed */
  fclose(stream);
  free(text);
  stream = fopen("/dev/full", "w");
  assert_non_null(stream);
  errno = 0;
  assert_false(assay_json_print(value, stream));
  assert_int_equal(errno, ENOSPC);
  fclose(stream);
  json_decref(value);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers_that_json_lacks_are_null),
      cmocka_unit_test(test_numbers_come_back_exactly),
      cmocka_unit_test(test_foreign_text_is_repaired),
      cmocka_unit_test(test_bad_files_are_refused_with_their_place),
      cmocka_unit_test(test_missing_file),
      cmocka_unit_test(test_message_is_cut),
      cmocka_unit_test(test_layout_of_a_saved_file),
      cmocka_unit_test(test_a_failed_save_leaves_the_old_file),
      cmocka_unit_test(test_print),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
