/* SPDX-License-Identifier: MIT */
/* test_process.c - how programs end, what they print, and that nothing of them is left behind. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "file.h"
#include "process.h"

static assay_process_result run_shell(const char *script, double seconds) {
  const char *const argv[] = {"sh", "-c", script, NULL};
  assay_process_result result;
  assay_process_run(argv, NULL, seconds, &result);
  assert_true(result.started);
  assert_non_null(result.output);
  assert_int_equal(result.output[result.output_size], 0);
  return result;
}

static void prints(const char *script, const char *want) {
  assay_process_result result = run_shell(script, 20);
  assert_string_equal(result.output, want);
  assert_int_equal(result.output_size, strlen(want));
  assert_int_equal(result.exit_code, 0);
  free(result.output);
}

/* Gone, or dead and not yet collected by whoever has to. Death takes the system a moment. */
static bool is_dead(long pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  for (int i = 0; i < 200; i++) {
    size_t size = 0;
    char *text = assay_read_file(path, 4096, &size);
    if (text == NULL) return true;
    const char *name_end = strrchr(text, ')');
    const bool zombie = name_end != NULL && name_end[1] == ' ' && (name_end[2] == 'Z' || name_end[2] == 'X');
    free(text);
    if (zombie) return true;
    usleep(10000);
  }
  return false;
}

/* ---- the end of a program ------------------------------------------------------------------------------ */

static void test_exit_codes(void **state) {
  (void)state;
  const int codes[] = {0, 1, 7, 255};
  for (int i = 0; i < 4; i++) {
    char script[32];
    snprintf(script, sizeof script, "exit %d", codes[i]);
    assay_process_result result = run_shell(script, 20);
    assert_int_equal(result.exit_code, codes[i]);
    assert_int_equal(result.signal, 0);
    assert_int_equal(result.error, 0);
    assert_false(result.timed_out);
    assert_string_equal(result.output, "");
    free(result.output);
  }
}

static void test_signals(void **state) {
  (void)state;
  const int signals[] = {SIGSEGV, SIGTERM, SIGKILL};
  for (int i = 0; i < 3; i++) {
    char script[32];
    snprintf(script, sizeof script, "kill -%d $$", signals[i]);
    assay_process_result result = run_shell(script, 20);
    assert_int_equal(result.signal, signals[i]);
    assert_int_equal(result.exit_code, -1);
    assert_false(result.timed_out);
    free(result.output);
  }
}

static void not_started(const char *program, const char *folder, int error) {
  const char *const argv[] = {program, NULL};
  assay_process_result result;
  assay_process_run(argv, folder, 20, &result);
  assert_false(result.started);
  assert_int_equal(result.error, error);
  assert_int_equal(result.exit_code, -1);
  assert_string_equal(result.output, "");
  free(result.output);
}

static void test_programs_that_cannot_start(void **state) {
  (void)state;
  not_started("assay-no-such-program", NULL, ENOENT);
  not_started("/nonexistent/program", NULL, ENOENT);
  not_started("/etc/passwd", NULL, EACCES);
  not_started("true", "/nonexistent", ENOENT);
}

static int open_descriptors(void) {
  int count = 0;
  for (int descriptor = 0; descriptor < 1000; descriptor++) count += fcntl(descriptor, F_GETFD) >= 0;
  return count;
}

static void test_no_descriptor_is_lost(void **state) {
  (void)state;
  const int before = open_descriptors();
  for (int i = 0; i < 3; i++) {
    free(run_shell("echo x", 20).output);
    not_started("assay-no-such-program", NULL, ENOENT);
  }
  assert_int_equal(open_descriptors(), before);
}

/* ---- input and output ---------------------------------------------------------------------------------- */

static void test_both_streams_in_order(void **state) {
  (void)state;
  prints("echo a; echo b >&2; echo c; printf d >&2", "a\nb\nc\nd");
}

static void test_input_is_empty(void **state) {
  (void)state;
  prints("cat; echo end", "end\n");
}

static void test_output_with_nul_bytes(void **state) {
  (void)state;
  assay_process_result result = run_shell("printf 'a\\000b'", 20);
  assert_int_equal(result.output_size, 3);
  assert_memory_equal(result.output, "a\0b", 4);
  free(result.output);
}

static void test_output_of_several_pipes_full(void **state) {
  (void)state;
  assay_process_result result = run_shell("head -c 1000000 /dev/zero | tr '\\000' x; echo end", 60);
  assert_int_equal(result.exit_code, 0);
  assert_int_equal(result.output_size, 1000004);
  for (size_t i = 0; i < 1000000; i++) assert_int_equal(result.output[i], 'x');
  assert_string_equal(result.output + 1000000, "end\n");
  free(result.output);
}

static void test_output_is_cut_at_the_limit(void **state) {
  (void)state;
  assay_process_result result = run_shell("head -c 5000000 /dev/zero | tr '\\000' x; exit 3", 60);
  assert_int_equal(result.exit_code, 3); /* it could write everything and end by itself */
  assert_int_equal(result.output_size, ASSAY_OUTPUT_LIMIT);
  assert_int_equal(strlen(result.output), ASSAY_OUTPUT_LIMIT);
  free(result.output);
}

static void test_output_that_was_closed_early(void **state) {
  (void)state;
  const clock_t start = clock();
  assay_process_result result = run_shell("echo x; exec >&- 2>&-; sleep 0.6; exit 5", 20);
  assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 0.15); /* waited for, not spun for */
  assert_int_equal(result.exit_code, 5);
  assert_string_equal(result.output, "x\n");
  free(result.output);
}

static void test_folder(void **state) {
  (void)state;
  char folder[ASSAY_PATH_SIZE];
  char real[ASSAY_PATH_SIZE];
  assert_true(assay_make_temp_folder(folder));
  assert_non_null(realpath(folder, real));
  const char *const argv[] = {"pwd", "-P", NULL};
  assay_process_result result;
  assay_process_run(argv, folder, 20, &result);
  assert_true(assay_remove_tree(folder));
  assert_true(result.started);
  assert_int_equal(result.output_size, strlen(real) + 1);
  assert_memory_equal(result.output, real, strlen(real));
  free(result.output);
}

/* A caller that ignores or blocks signals does not hand that on. */
static void test_signals_are_as_in_a_shell(void **state) {
  (void)state;
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  void (*handler)(int) = signal(SIGPIPE, SIG_IGN);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  const char *const argv[] = {"grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status", NULL};
  assay_process_result result;
  assay_process_run(argv, NULL, 20, &result);
  sigprocmask(SIG_SETMASK, &before, NULL);
  signal(SIGPIPE, handler);
  assert_int_equal(result.exit_code, 0);
  unsigned long long block = 1;
  unsigned long long ignore = 1;
  assert_int_equal(sscanf(result.output, "SigBlk: %llx SigIgn: %llx", &block, &ignore), 2);
  assert_true(block == 0);
  assert_int_equal(ignore >> (SIGPIPE - 1) & 1, 0);
  free(result.output);
}

/* ---- limits -------------------------------------------------------------------------------------------- */

static void test_time_limit_ends_the_whole_group(void **state) {
  (void)state;
  const int64_t start = assay_now_ns();
  assay_process_result result = run_shell("sleep 60 & echo $!; wait", 0.3);
  const double took = (double)(assay_now_ns() - start) * 1e-9;
  assert_true(took >= 0.3 && took < 10);
  assert_true(result.timed_out);
  assert_int_equal(result.signal, SIGKILL);
  assert_int_equal(result.exit_code, -1);
  const long child = strtol(result.output, NULL, 10);
  assert_true(child > 1);
  assert_true(is_dead(child));
  free(result.output);
}

static void test_time_limit_of_an_endless_writer(void **state) {
  (void)state;
  const int64_t start = assay_now_ns();
  assay_process_result result = run_shell("exec yes", 0.3);
  assert_true(assay_now_ns() - start < 10 * INT64_C(1000000000));
  assert_true(result.timed_out);
  assert_int_equal(result.output_size, ASSAY_OUTPUT_LIMIT);
  free(result.output);
}

/* The program is done; a child of it that keeps the pipe open is no reason to wait. */
static void test_children_left_behind_are_ended(void **state) {
  (void)state;
  const int64_t start = assay_now_ns();
  assay_process_result result = run_shell("sleep 60 & echo $!; exit 4", 30);
  assert_true(assay_now_ns() - start < 10 * INT64_C(1000000000));
  assert_false(result.timed_out);
  assert_int_equal(result.exit_code, 4);
  const long child = strtol(result.output, NULL, 10);
  assert_true(child > 1);
  assert_true(is_dead(child));
  free(result.output);
}

/* It left the group, so it lives on; but nobody waits for it. */
static void test_a_child_that_escaped_is_not_waited_for(void **state) {
  (void)state;
  if (!assay_program_exists("setsid")) skip();
  const int64_t start = assay_now_ns();
  assay_process_result result = run_shell("setsid sh -c 'echo $$; exec sleep 15' & sleep 0.3; exit 6", 30);
  assert_true(assay_now_ns() - start < 10 * INT64_C(1000000000));
  assert_int_equal(result.exit_code, 6);
  const long child = strtol(result.output, NULL, 10);
  assert_true(child > 1);
  kill((pid_t)child, SIGKILL);
  free(result.output);
}

static void test_extreme_limits(void **state) {
  (void)state;
  assay_process_result result = run_shell("exit 2", (double)INFINITY);
  assert_int_equal(result.exit_code, 2);
  free(result.output);
  const double none[] = {0, -1, (double)NAN};
  for (int i = 0; i < 3; i++) {
    result = run_shell("sleep 60", none[i]);
    assert_true(result.timed_out);
    free(result.output);
  }
}

/* ---- names --------------------------------------------------------------------------------------------- */

static void test_program_exists(void **state) {
  (void)state;
  assert_true(assay_program_exists("sh"));
  assert_true(assay_program_exists("/bin/sh"));
  assert_false(assay_program_exists("assay-no-such-program"));
  assert_false(assay_program_exists("/nonexistent/sh"));
  assert_false(assay_program_exists("/etc/passwd")); /* not executable */
  assert_false(assay_program_exists("/tmp"));        /* a folder */
  assert_false(assay_program_exists(""));
}

static bool exists_in(const char *path, const char *name) {
  const char *set = getenv("PATH");
  char *before = strdup(set != NULL ? set : "/usr/bin:/bin");
  setenv("PATH", path, 1);
  const bool found = assay_program_exists(name);
  setenv("PATH", before, 1);
  free(before);
  return found;
}

static void test_program_exists_searches_path(void **state) {
  (void)state;
  char folder[ASSAY_PATH_SIZE];
  char tool[ASSAY_PATH_SIZE];
  char path[3 * ASSAY_PATH_SIZE];
  char here[ASSAY_PATH_SIZE];
  assert_non_null(getcwd(here, sizeof here));
  assert_true(assay_make_temp_folder(folder));
  assert_true(assay_path_format(tool, "%s/assay-test-tool", folder));
  assert_true(assay_write_file(tool, "#!/bin/sh\n", 10, 0700));
  snprintf(path, sizeof path, "/nonexistent:%s", folder);
  const bool last = exists_in(path, "assay-test-tool");
  snprintf(path, sizeof path, "%s:/nonexistent", folder);
  const bool first = exists_in(path, "assay-test-tool");
  const bool absent = exists_in("/nonexistent", "assay-test-tool");
  const bool entered = chdir(folder) == 0;
  const bool current = exists_in("/nonexistent:", "assay-test-tool");
  const bool back = chdir(here) == 0;
  assert_true(assay_remove_tree(folder));
  assert_true(last);
  assert_true(first);
  assert_false(absent);
  assert_true(entered && back);
  assert_true(current);
}

static void test_signal_names(void **state) {
  (void)state;
  assert_string_equal(assay_signal_name(SIGSEGV), "SIGSEGV");
  assert_string_equal(assay_signal_name(SIGKILL), "SIGKILL");
  assert_string_equal(assay_signal_name(SIGFPE), "SIGFPE");
  assert_string_equal(assay_signal_name(SIGABRT), "SIGABRT");
  assert_string_equal(assay_signal_name(SIGBUS), "SIGBUS");
  assert_string_equal(assay_signal_name(SIGILL), "SIGILL");
  assert_string_equal(assay_signal_name(63), "signal 63");
  assert_string_equal(assay_signal_name(0), "signal 0");
}

static void test_time_is_monotonic_nanoseconds(void **state) {
  (void)state;
  struct timespec before;
  struct timespec after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  const int64_t now = assay_now_ns();
  clock_gettime(CLOCK_MONOTONIC, &after);
  assert_true(now / 1000000000 >= before.tv_sec && now / 1000000000 <= after.tv_sec);
  assert_true(now - before.tv_sec * INT64_C(1000000000) >= before.tv_nsec);
  assert_true(now - after.tv_sec * INT64_C(1000000000) <= after.tv_nsec);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exit_codes),
      cmocka_unit_test(test_signals),
      cmocka_unit_test(test_programs_that_cannot_start),
      cmocka_unit_test(test_no_descriptor_is_lost),
      cmocka_unit_test(test_both_streams_in_order),
      cmocka_unit_test(test_input_is_empty),
      cmocka_unit_test(test_output_with_nul_bytes),
      cmocka_unit_test(test_output_of_several_pipes_full),
      cmocka_unit_test(test_output_is_cut_at_the_limit),
      cmocka_unit_test(test_output_that_was_closed_early),
      cmocka_unit_test(test_folder),
      cmocka_unit_test(test_signals_are_as_in_a_shell),
      cmocka_unit_test(test_time_limit_ends_the_whole_group),
      cmocka_unit_test(test_time_limit_of_an_endless_writer),
      cmocka_unit_test(test_children_left_behind_are_ended),
      cmocka_unit_test(test_a_child_that_escaped_is_not_waited_for),
      cmocka_unit_test(test_extreme_limits),
      cmocka_unit_test(test_program_exists),
      cmocka_unit_test(test_program_exists_searches_path),
      cmocka_unit_test(test_signal_names),
      cmocka_unit_test(test_time_is_monotonic_nanoseconds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
