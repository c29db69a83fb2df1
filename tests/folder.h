/* SPDX-License-Identifier: MIT */
/* folder.h - a new folder for every test, and what tests of files ask about one. */
#ifndef ASSAY_FOLDER_H
#define ASSAY_FOLDER_H

#include "unit.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "file.h"

static char folder[ASSAY_PATH_SIZE];

/* A new folder for every test. */
static inline int set_up(void **state) {
  (void)state;
  return assay_make_temp_folder(folder) ? 0 : -1;
}

static inline int tear_down(void **state) {
  (void)state;
  return assay_remove_tree(folder) ? 0 : -1;
}

/* Paths in the test's folder; four at a time. */
static inline const char *in_folder(const char *name) {
  static char paths[4][ASSAY_PATH_SIZE];
  static unsigned next;
  char *path = paths[next++ % 4];
  assert_true(assay_path_format(path, "%s/%s", folder, name));
  return path;
}

static inline void holds(const char *path, const char *want) {
  size_t size = 0;
  char *text = assay_read_file(path, 1 << 20, &size);
  assert_non_null(text);
  assert_int_equal(size, strlen(want));
  assert_string_equal(text, want);
  free(text);
}

/* How many entries a folder has: a temporary file that stayed would be one more. */
static inline int entries(const char *path) {
  DIR *listing = opendir(path);
  assert_non_null(listing);
  int count = 0;
  while (readdir(listing) != NULL) count++;
  closedir(listing);
  return count - 2; /* "." and ".." */
}

static inline mode_t mode_of(const char *path) {
  struct stat status;
  assert_int_equal(lstat(path, &status), 0);
  return status.st_mode;
}

#define IN_NEW_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
