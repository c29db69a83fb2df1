/* SPDX-License-Identifier: MIT */
/* test_folder.c - folders and paths: making, removing without leaving the tree, finding Assay's own files. */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- folders ------------------------------------------------------------------------------------------- */

static void test_file_exists(void **state) {
  (void)state;
  assert_false(assay_file_exists(in_folder("a")));
  assert_true(assay_write_file(in_folder("a"), "x", 1, 0600));
  assert_true(assay_file_exists(in_folder("a")));
  assert_true(assay_file_exists(folder));
}

static void test_make_folders(void **state) {
  (void)state;
  assert_true(assay_make_folders(in_folder("a/b//c/")));
  assert_true(S_ISDIR(mode_of(in_folder("a/b/c"))));
  assert_true(assay_make_folders(in_folder("a/b/c")));
  assert_true(assay_make_folders("/"));
  assert_true(assay_write_file(in_folder("a/file"), "x", 1, 0600));
  errno = 0;
  assert_false(assay_make_folders(in_folder("a/file")));
  assert_int_equal(errno, EEXIST);
  errno = 0;
  assert_false(assay_make_folders(in_folder("a/file/below")));
  assert_true(errno == EEXIST || errno == ENOTDIR);
  errno = 0;
  assert_false(assay_make_folders(""));
  assert_int_equal(errno, ENOENT);
}

static void test_temp_folders(void **state) {
  (void)state;
  assert_int_equal(mode_of(folder) & 07777, 0700);
  const char *set = getenv("TMPDIR");
  char *before = set != NULL ? strdup(set) : NULL;
  char inside[ASSAY_PATH_SIZE];
  setenv("TMPDIR", folder, 1);
  const bool made = assay_make_temp_folder(inside);
  setenv("TMPDIR", in_folder("missing"), 1);
  char none[ASSAY_PATH_SIZE] = "x";
  const bool made_none = assay_make_temp_folder(none);
  setenv("TMPDIR", "", 1);
  char standard[ASSAY_PATH_SIZE];
  const bool made_standard = assay_make_temp_folder(standard);
  if (before != NULL)
    setenv("TMPDIR", before, 1);
  else
    unsetenv("TMPDIR");
  free(before);
  assert_true(made);
  assert_memory_equal(inside, folder, strlen(folder));
  assert_int_equal(entries(folder), 1);
  assert_false(made_none);
  assert_string_equal(none, "");
  assert_true(made_standard);
  assert_memory_equal(standard, "/tmp/", 5);
  assert_true(assay_remove_tree(standard));
}

static void test_remove_tree_stays_inside(void **state) {
  (void)state;
  assert_true(assay_make_folders(in_folder("tree/deep/er")));
  assert_true(assay_make_folders(in_folder("outside")));
  assert_true(assay_write_file(in_folder("tree/deep/er/file"), "x", 1, 0600));
  assert_true(assay_write_file(in_folder("outside/kept"), "x", 1, 0600));
  assert_int_equal(symlink(in_folder("outside"), in_folder("tree/deep/link")), 0);
  assert_int_equal(symlink(in_folder("outside/kept"), in_folder("tree/file_link")), 0);
  assert_int_equal(symlink("nowhere", in_folder("tree/dangling")), 0);
  assert_true(assay_remove_tree(in_folder("tree")));
  assert_false(assay_file_exists(in_folder("tree")));
  holds(in_folder("outside/kept"), "x");
  /* A link to a folder is removed, not the folder. */
  assert_int_equal(symlink(in_folder("outside"), in_folder("link")), 0);
  assert_true(assay_remove_tree(in_folder("link")));
  holds(in_folder("outside/kept"), "x");
  assert_int_equal(entries(folder), 1);
  errno = 0;
  assert_false(assay_remove_tree(in_folder("tree")));
  assert_int_equal(errno, ENOENT);
}

/* ---- paths --------------------------------------------------------------------------------------------- */

static void test_path_format(void **state) {
  (void)state;
  char path[ASSAY_PATH_SIZE];
  assert_true(assay_path_format(path, "%s/%d", "a", 7));
  assert_string_equal(path, "a/7");
  assert_true(assay_path_format(path, "%0*d", ASSAY_PATH_SIZE - 1, 0));
  assert_int_equal(strlen(path), ASSAY_PATH_SIZE - 1);
  errno = 0;
  assert_false(assay_path_format(path, "%0*d", ASSAY_PATH_SIZE, 0));
  assert_int_equal(errno, ENAMETOOLONG);
  assert_string_equal(path, "");
}

static void test_program_path(void **state) {
  (void)state;
  struct stat named;
  struct stat running;
  assert_int_equal(assay_program_path()[0], '/');
  assert_int_equal(stat(assay_program_path(), &named), 0);
  assert_int_equal(stat("/proc/self/exe", &running), 0);
  assert_true(named.st_ino == running.st_ino && named.st_dev == running.st_dev);
}

static void test_source_folder_by_variable(void **state) {
  (void)state;
  char real[ASSAY_PATH_SIZE];
  assert_non_null(realpath(folder, real));
  const char *set = getenv("ASSAY_SOURCE_DIR");
  char *before = set != NULL ? strdup(set) : NULL;
  setenv("ASSAY_SOURCE_DIR", folder, 1);
  const bool without = assay_source_folder() != NULL;
  const bool prepared = assay_make_folders(in_folder("include/assay")) &&
                        assay_write_file(in_folder("include/assay/workshop.h"), "", 0, 0600);
  setenv("ASSAY_SOURCE_DIR", in_folder("include/.."), 1);
  const char *found = assay_source_folder();
  if (before != NULL)
    setenv("ASSAY_SOURCE_DIR", before, 1);
  else
    unsetenv("ASSAY_SOURCE_DIR");
  free(before);
  assert_false(without); /* a wrong variable is not passed over */
  assert_true(prepared);
  assert_non_null(found);
  assert_string_equal(found, real);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_NEW_FOLDER(test_file_exists),
      IN_NEW_FOLDER(test_make_folders),
      IN_NEW_FOLDER(test_temp_folders),
      IN_NEW_FOLDER(test_remove_tree_stays_inside),
      IN_NEW_FOLDER(test_path_format),
      IN_NEW_FOLDER(test_program_path),
      IN_NEW_FOLDER(test_source_folder_by_variable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
