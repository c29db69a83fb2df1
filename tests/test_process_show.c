/* SPDX-License-Identifier: MIT */
/* test_process_show.c - programs that write where we write: how they end, and that an interrupt reaches them.
 */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "clock.h"
#include "process.h"

static bool never(void) {
  return false;
}

/* The program has made its file: it is ready for the signal. */
static bool when_ready(void) {
  return assay_file_exists(in_folder("ready"));
}

/* What it wrote is in the folder's file "shown". */
static assay_process_result show(const char *script, double seconds, bool (*stop)(void)) {
  const char *const argv[] = {"sh", "-c", script, in_folder("ready"), NULL};
  assay_process_result result;
  const int ours[] = {dup(STDOUT_FILENO), dup(STDERR_FILENO)};
  const int file = open(in_folder("shown"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  fflush(stdout);
  assert_true(file >= 0 && dup2(file, STDOUT_FILENO) >= 0 && dup2(file, STDERR_FILENO) >= 0);
  assay_process_show(argv, seconds, stop, &result);
  dup2(ours[0], STDOUT_FILENO);
  dup2(ours[1], STDERR_FILENO);
  close(ours[0]);
  close(ours[1]);
  close(file);
  assert_true(result.started);
  assert_null(result.output);
  return result;
}

static void test_streams_and_exit_codes(void **state) {
  (void)state;
  assay_process_result result = show("echo a; echo b >&2; cat; exit 7", 20, never);
  assert_int_equal(result.exit_code, 7);
  assert_int_equal(result.signal, 0);
  assert_false(result.timed_out);
  holds(in_folder("shown"), "a\nb\n");
  result = show("kill -15 $$", 20, NULL);
  assert_int_equal(result.signal, SIGTERM);
  assert_int_equal(result.exit_code, -1);
  const char *const nothing[] = {"assay-no-such-program", NULL};
  assay_process_show(nothing, 20, NULL, &result);
  assert_false(result.started);
  assert_int_equal(result.error, ENOENT);
}

static void test_an_interrupt_is_passed_on(void **state) {
  (void)state;
  const int64_t start = assay_now_ns();
  const assay_process_result result =
      show("trap 'echo told; exit 9' INT; : >\"$0\"; while :; do sleep 0.05; done", 60, when_ready);
  assert_true(assay_now_ns() - start < 10 * INT64_C(1000000000));
  assert_int_equal(result.exit_code, 9);
  assert_false(result.timed_out);
  holds(in_folder("shown"), "told\n");
}

static void test_time_limit(void **state) {
  (void)state;
  const int64_t start = assay_now_ns();
  const assay_process_result result = show("trap '' INT; sleep 60", 0.3, never);
  const double took = (double)(assay_now_ns() - start) * 1e-9;
  assert_true(took >= 0.3 && took < 10);
  assert_true(result.timed_out);
  assert_int_equal(result.signal, SIGKILL);
}

int main(void) {
  const struct CMUnitTest tests[] = {IN_NEW_FOLDER(test_streams_and_exit_codes),
                                     IN_NEW_FOLDER(test_an_interrupt_is_passed_on),
                                     IN_NEW_FOLDER(test_time_limit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
