/* SPDX-License-Identifier: MIT */
/* test_hash.c - SHA-256 against the vectors of FIPS 180-4, of bytes and of files. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "file.h"
#include "hash.h"

static const char of_nothing[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
static const char of_abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
static const char of_million_a[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

static char folder[ASSAY_PATH_SIZE];

static int set_up(void **state) {
  (void)state;
  return assay_make_temp_folder(folder) ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  return assay_remove_tree(folder) ? 0 : -1;
}

static void test_bytes(void **state) {
  (void)state;
  char text[ASSAY_HASH_TEXT];
  assay_hash_bytes("", 0, text);
  assert_string_equal(text, of_nothing);
  assay_hash_bytes("abc", 3, text);
  assert_string_equal(text, of_abc);
}

static void file_hashes_to(const void *data, size_t size, const char *want) {
  char path[ASSAY_PATH_SIZE];
  char text[ASSAY_HASH_TEXT];
  assert_true(assay_path_format(path, "%s/data", folder));
  assert_true(assay_write_file(path, data, size, 0600));
  assert_true(assay_hash_file(path, text));
  assert_string_equal(text, want);
}

static void test_files(void **state) {
  (void)state;
  enum { MILLION = 1000000 }; /* more than one block */
  file_hashes_to("", 0, of_nothing);
  file_hashes_to("abc", 3, of_abc);
  char *letters = malloc(MILLION);
  assert_non_null(letters);
  memset(letters, 'a', MILLION);
  file_hashes_to(letters, MILLION, of_million_a);
  free(letters);
}

static void test_unreadable_files(void **state) {
  (void)state;
  char path[ASSAY_PATH_SIZE];
  char text[ASSAY_HASH_TEXT];
  assert_true(assay_path_format(path, "%s/missing", folder));
  errno = 0;
  assert_false(assay_hash_file(path, text));
  assert_int_equal(errno, ENOENT);
  errno = 0;
  assert_false(assay_hash_file(folder, text));
  assert_int_equal(errno, EISDIR);
}

static void test_random_seeds_differ(void **state) {
  (void)state;
  const uint64_t first = assay_random_seed();
  const uint64_t second = assay_random_seed();
  assert_true(first != second);
  assert_true(first >> 32 != second >> 32 &&
              (uint32_t)first != (uint32_t)second); /* all eight bytes are random */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_unreadable_files),
      cmocka_unit_test(test_random_seeds_differ),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
