/* SPDX-License-Identifier: MIT */
/* test_status.c - names, sizes, and one sentence of error for each thread. */
#include "unit.h"

#include <pthread.h>
#include <stdio.h>

#include "status.h"

static void test_version(void **state) {
  (void)state;
  char want[32];
  snprintf(want, sizeof want, "%d.%d.%d", ASSAY_VERSION_MAJOR, ASSAY_VERSION_MINOR, ASSAY_VERSION_PATCH);
  assert_string_equal(assay_version(), want);
}

static void test_status_names(void **state) {
  (void)state;
  assert_string_equal(assay_status_name(ASSAY_OK), "ok");
  assert_string_equal(assay_status_name(ASSAY_TODO), "todo");
  assert_string_equal(assay_status_name(ASSAY_BAD_STRIDE), "bad stride");
  assert_string_equal(assay_status_name(ASSAY_UNAVAILABLE), "unavailable");
  for (int i = 0; i < ASSAY_STATUS_COUNT; i++) {
    for (int k = 0; k < i; k++) {
      assert_string_not_equal(assay_status_name((assay_status)i), assay_status_name((assay_status)k));
    }
  }
  const int outside[] = {ASSAY_STATUS_COUNT, -1};
  for (int i = 0; i < 2; i++) assert_string_equal(assay_status_name((assay_status)outside[i]), "?");
}

static void test_dtypes(void **state) {
  (void)state;
  assert_string_equal(assay_dtype_name(ASSAY_FP32), "fp32");
  assert_string_equal(assay_dtype_name(ASSAY_FP16), "fp16");
  assert_string_equal(assay_dtype_name(ASSAY_BF16), "bf16");
  assert_string_equal(assay_dtype_name(ASSAY_FP64), "fp64");
  assert_int_equal(assay_dtype_size(ASSAY_FP32), 4);
  assert_int_equal(assay_dtype_size(ASSAY_FP16), 2);
  assert_int_equal(assay_dtype_size(ASSAY_BF16), 2);
  assert_int_equal(assay_dtype_size(ASSAY_FP64), 8);
  const int outside[] = {ASSAY_DTYPE_COUNT, -1};
  for (int i = 0; i < 2; i++) {
    assert_string_equal(assay_dtype_name((assay_dtype)outside[i]), "?");
    assert_int_equal(assay_dtype_size((assay_dtype)outside[i]), 0);
  }
}

static void test_explain_writes_and_returns(void **state) {
  (void)state;
  assay_message message;
  assert_int_equal(assay_explain(&message, ASSAY_BAD_SHAPE, "columns is %d, must be 1 or more", 0),
                   ASSAY_BAD_SHAPE);
  assert_string_equal(message.text, "columns is 0, must be 1 or more");
  assert_int_equal(assay_explain(&message, ASSAY_OK, "strided_softmax: %s", message.text), ASSAY_OK);
  assert_string_equal(message.text, "strided_softmax: columns is 0, must be 1 or more");
}

static void test_explain_cuts_a_long_sentence(void **state) {
  (void)state;
  char text[1000];
  memset(text, 'x', sizeof text);
  text[sizeof text - 1] = '\0';
  assay_message message[2];
  memset(message, 'y', sizeof message);
  assay_explain(&message[0], ASSAY_OK, "%s", text);
  assert_int_equal(strlen(message[0].text), sizeof message[0].text - 1);
  assert_int_equal(message[1].text[0], 'y');
}

static void *first_error_of_thread(void *result) {
  snprintf(result, 64, "[%s]", assay_last_error());
  assay_set_last_error("of the other thread");
  return NULL;
}

static void test_last_error_belongs_to_a_thread(void **state) {
  (void)state;
  assert_string_equal(assay_last_error(), "");
  assay_set_last_error("of this thread");
  char seen[64] = "";
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, first_error_of_thread, seen), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_string_equal(seen, "[]");
  assert_string_equal(assay_last_error(), "of this thread");
}

static void test_last_error_is_a_copy_and_is_cut(void **state) {
  (void)state;
  char text[1000];
  memset(text, 'z', sizeof text);
  text[sizeof text - 1] = '\0';
  assay_set_last_error(text);
  text[0] = '!';
  assert_int_equal(assay_last_error()[0], 'z');
  assert_int_equal(strlen(assay_last_error()), sizeof(assay_message) - 1);
  assay_set_last_error(assay_last_error() + sizeof(assay_message) - 4);
  assert_string_equal(assay_last_error(), "zzz");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_version),
      cmocka_unit_test(test_status_names),
      cmocka_unit_test(test_dtypes),
      cmocka_unit_test(test_explain_writes_and_returns),
      cmocka_unit_test(test_explain_cuts_a_long_sentence),
      cmocka_unit_test(test_last_error_belongs_to_a_thread),
      cmocka_unit_test(test_last_error_is_a_copy_and_is_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
