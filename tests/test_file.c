/* SPDX-License-Identifier: MIT */
/* test_file.c - files are whole or not there, also when the disk fills up. */
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

/* ---- reading ------------------------------------------------------------------------------------------- */

static void test_read_within_the_limit(void **state) {
  (void)state;
  const char *path = in_folder("a");
  assert_true(assay_write_file(path, "a\0b", 3, 0600));
  size_t size = 0;
  char *text = assay_read_file(path, 3, &size);
  assert_non_null(text);
  assert_int_equal(size, 3);
  assert_memory_equal(text, "a\0b", 4); /* with the NUL behind it */
  free(text);
  text = assay_read_file(path, SIZE_MAX, &size);
  assert_non_null(text);
  free(text);
  errno = 0;
  assert_null(assay_read_file(path, 2, &size));
  assert_int_equal(errno, EFBIG);
}

static void test_read_empty(void **state) {
  (void)state;
  const char *path = in_folder("empty");
  assert_true(assay_write_file(path, "", 0, 0600));
  size_t size = 9;
  char *text = assay_read_file(path, 0, &size);
  assert_non_null(text);
  assert_int_equal(size, 0);
  assert_int_equal(text[0], 0);
  free(text);
}

/* Its size is told as 0, or it never ends. */
static void test_read_what_does_not_tell_its_size(void **state) {
  (void)state;
  size_t size = 0;
  char *text = assay_read_file("/proc/self/status", 1 << 20, &size);
  assert_non_null(text);
  assert_non_null(strstr(text, "Pid:"));
  free(text);
  errno = 0;
  assert_null(assay_read_file("/dev/zero", 100000, &size));
  assert_int_equal(errno, EFBIG);
}

static void test_read_large(void **state) {
  (void)state;
  enum { SIZE = 3000001 };
  char *data = malloc(SIZE);
  assert_non_null(data);
  for (size_t i = 0; i < SIZE; i++) data[i] = (char)(i * 7 + i / 251);
  const char *path = in_folder("large");
  assert_true(assay_write_file(path, data, SIZE, 0600));
  size_t size = 0;
  char *back = assay_read_file(path, SIZE, &size);
  assert_non_null(back);
  assert_int_equal(size, SIZE);
  assert_memory_equal(back, data, SIZE);
  free(back);
  free(data);
}

static void test_read_failures(void **state) {
  (void)state;
  size_t size;
  errno = 0;
  assert_null(assay_read_file(in_folder("missing"), 10, &size));
  assert_int_equal(errno, ENOENT);
  errno = 0;
  assert_null(assay_read_file(folder, 10, &size));
  assert_int_equal(errno, EISDIR);
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static void test_write_replaces(void **state) {
  (void)state;
  const char *path = in_folder("a");
  assert_true(assay_write_file(path, "first, and longer", 17, 0600));
  const int old = open(path, O_RDONLY);
  assert_true(old >= 0);
  assert_true(assay_write_file(path, "second", 6, 0600));
  holds(path, "second");
  char start[8] = "";
  assert_int_equal(read(old, start, 5), 5); /* who has the old file open still reads the old file */
  assert_string_equal(start, "first");
  close(old);
  assert_int_equal(entries(folder), 1);
}

static void test_write_in_the_current_folder(void **state) {
  (void)state;
  char before[ASSAY_PATH_SIZE];
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir(folder), 0);
  const bool written = assay_write_file("bare", "x", 1, 0600);
  assert_int_equal(chdir(before), 0);
  assert_true(written);
  holds(in_folder("bare"), "x");
}

static void test_mode_and_umask(void **state) {
  (void)state;
  const mode_t before = umask(027);
  const bool written = assay_write_file(in_folder("a"), "x", 1, 0666);
  const bool created = assay_create_file(in_folder("b"), "x", 1, 0777);
  umask(before);
  assert_true(written && created);
  assert_int_equal(mode_of(in_folder("a")) & 07777, 0640);
  assert_int_equal(mode_of(in_folder("b")) & 07777, 0750);
}

static void test_write_through_a_link_keeps_the_link(void **state) {
  (void)state;
  assert_int_equal(mkdir(in_folder("elsewhere"), 0700), 0);
  const char *target = in_folder("elsewhere/target");
  assert_true(assay_write_file(target, "old", 3, 0600));
  assert_int_equal(symlink(target, in_folder("link")), 0);
  assert_true(assay_write_file(in_folder("link"), "new", 3, 0600));
  assert_true(S_ISLNK(mode_of(in_folder("link"))));
  holds(in_folder("elsewhere/target"), "new");
}

/* A rename would replace the pipe itself, and for root even /dev/null. */
static void test_write_to_a_pipe_keeps_the_pipe(void **state) {
  (void)state;
  const char *path = in_folder("pipe");
  assert_int_equal(mkfifo(path, 0600), 0);
  const int reader = open(path, O_RDONLY | O_NONBLOCK);
  assert_true(reader >= 0);
  assert_true(assay_write_file(path, "text", 4, 0600));
  char text[8] = "";
  assert_int_equal(read(reader, text, sizeof text), 4);
  assert_string_equal(text, "text");
  close(reader);
  assert_true(S_ISFIFO(mode_of(path)));
  assert_int_equal(entries(folder), 1);
}

static void test_write_failures_leave_nothing(void **state) {
  (void)state;
  errno = 0;
  assert_false(assay_write_file(in_folder("missing/a"), "x", 1, 0600));
  assert_int_equal(errno, ENOENT);
  assert_int_equal(mkdir(in_folder("sub"), 0700), 0);
  errno = 0;
  assert_false(assay_write_file(in_folder("sub"), "x", 1, 0600));
  assert_int_equal(errno, EISDIR);
  assert_int_equal(entries(folder), 1);
  errno = 0;
  assert_false(assay_create_file(in_folder("missing/a"), "x", 1, 0600));
  assert_int_equal(errno, ENOENT);
}

/* A limit on the size of files stops the write half way, as a full disk would. */
static void test_full_disk(void **state) {
  (void)state;
  const char *path = in_folder("a");
  static const char large[100000] = {0};
  assert_true(assay_write_file(path, "old", 3, 0600));
  struct rlimit before;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  const struct rlimit small = {50000, before.rlim_max};
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  errno = 0;
  const bool written = assay_write_file(path, large, sizeof large, 0600);
  const int write_error = errno;
  errno = 0;
  const bool created = assay_create_file(in_folder("new"), large, sizeof large, 0600);
  const int create_error = errno;
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  assert_false(written);
  assert_int_equal(write_error, EFBIG);
  assert_false(created);
  assert_int_equal(create_error, EFBIG);
  holds(path, "old");
  assert_int_equal(entries(folder), 1);
}

static int asked;
static int stop_at;

static bool stop(void) {
  return asked++ >= stop_at;
}

/* Whenever it is stopped - before a piece, between two, behind the last - the old file is what is left. */
static void test_a_stopped_write_changes_nothing(void **state) {
  (void)state;
  enum { SIZE = (2 << 20) + 1 };
  char *large = calloc(1, SIZE);
  assert_non_null(large);
  const char *path = in_folder("a");
  assert_true(assay_write_file(path, "old", 3, 0600));
  int stopped = 0;
  for (stop_at = 0;; stop_at++) {
    asked = 0;
    errno = 0;
    if (assay_write_file_unless(path, large, SIZE, 0600, stop)) break;
    assert_int_equal(errno, EINTR);
    holds(path, "old");
    assert_int_equal(entries(folder), 1);
    stopped++;
  }
  free(large);
  assert_int_equal(stopped, 4); /* before three pieces, and behind the last */
  struct stat status;
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(status.st_size, SIZE);
}

static void test_create_never_replaces(void **state) {
  (void)state;
  const char *path = in_folder("a");
  assert_true(assay_create_file(path, "first", 5, 0600));
  holds(path, "first");
  errno = 0;
  assert_false(assay_create_file(path, "second", 6, 0600));
  assert_int_equal(errno, EEXIST);
  holds(path, "first");
  assert_int_equal(entries(folder), 1);
  /* A link that leads nowhere is in the way too. */
  assert_int_equal(symlink(in_folder("nowhere"), in_folder("link")), 0);
  errno = 0;
  assert_false(assay_create_file(in_folder("link"), "x", 1, 0600));
  assert_int_equal(errno, EEXIST);
  assert_false(assay_file_exists(in_folder("nowhere")));
}

/* What a killed process of the same id left behind. */
static void test_left_over_temporary_names_are_passed_over(void **state) {
  (void)state;
  char name[64];
  for (unsigned i = 0; i < 300; i++) {
    snprintf(name, sizeof name, ".assay-%ld-%u.tmp", (long)getpid(), i);
    FILE *file = fopen(in_folder(name), "w");
    assert_non_null(file);
    fclose(file);
  }
  assert_true(assay_write_file(in_folder("a"), "x", 1, 0600));
  holds(in_folder("a"), "x");
  assert_int_equal(entries(folder), 301);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_NEW_FOLDER(test_read_within_the_limit),
      IN_NEW_FOLDER(test_read_empty),
      IN_NEW_FOLDER(test_read_what_does_not_tell_its_size),
      IN_NEW_FOLDER(test_read_large),
      IN_NEW_FOLDER(test_read_failures),
      IN_NEW_FOLDER(test_write_replaces),
      IN_NEW_FOLDER(test_write_in_the_current_folder),
      IN_NEW_FOLDER(test_mode_and_umask),
      IN_NEW_FOLDER(test_write_through_a_link_keeps_the_link),
      IN_NEW_FOLDER(test_write_to_a_pipe_keeps_the_pipe),
      IN_NEW_FOLDER(test_write_failures_leave_nothing),
      IN_NEW_FOLDER(test_full_disk),
      IN_NEW_FOLDER(test_a_stopped_write_changes_nothing),
      IN_NEW_FOLDER(test_create_never_replaces),
      IN_NEW_FOLDER(test_left_over_temporary_names_are_passed_over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
