/* SPDX-License-Identifier: MIT */
/* test_watch_cli.c - `assay watch` at a terminal: ways to save a file, keys, signals, and no terminal at all.
 */
#include "folder.h"
#include "terminal.h"

#include <ftw.h>
#include <spawn.h>

#include "process.h"

/* The kernel of a file that is saved, and a text in place of another: how the wrong ones are made. */
static char *right;
static const char exercise[] = "strided_softmax";
static const char file[] = "work/strided_softmax.c";
static const char prompt[] = "[q] quit";

static const char *const to_watch[] = {"watch", exercise, NULL};

static char *replaced(const char *text, const char *old, const char *new) {
  const char *at = strstr(text, old);
  assert_non_null(at);
  char *result = malloc(strlen(text) + strlen(new) + 1);
  assert_non_null(result);
  sprintf(result, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
  return result;
}

static char *wrong(void) {
  return replaced(right, "terms[c] / sum)", "terms[c])");
}

/* Begins a kernel that does not come back. */
static char *endless(void) {
  return replaced(
      right, "const int64_t rows =", "for (volatile int on = 1; on != 0;) {\n  }\n  const int64_t rows =");
}

/* Ways in which editors save. */
static void save_in_place(const char *text) {
  FILE *out = fopen(in_folder(file), "w");
  assert_non_null(out);
  assert_true(fputs(text, out) >= 0);
  assert_int_equal(fclose(out), 0);
}

static void save_by_rename(const char *text) {
  assert_true(assay_write_file(in_folder(file), text, strlen(text), 0644));
}

static void save_anew(const char *text) {
  assert_int_equal(unlink(in_folder(file)), 0);
  usleep(100000);
  save_in_place(text);
}

/* A learner's folder with a started exercise, and a temporary folder that must be empty in the end. */
static int begin(void **state) {
  if (set_up(state) != 0) return -1;
  const char *source = getenv("ASSAY_SOURCE_DIR");
  char path[ASSAY_PATH_SIZE];
  size_t size;
  assay_path_format(path, "%s/workshops/w1_strided_softmax/w1_solution.c", source != NULL ? source : ".");
  right = assay_read_file(path, 1 << 20, &size);
  if (right == NULL || mkdir(in_folder("tmp"), 0700) != 0) return -1;
  setenv("TMPDIR", in_folder("tmp"), 1);
  unsetenv("PAGER");
  terminal t;
  static const char *const start[] = {"start", exercise, NULL};
  const int code = terminal_command(&t, folder, start);
  terminal_free(&t);
  return code;
}

static int end(void **state) {
  free(right);
  unsetenv("TMPDIR");
  return tear_down(state);
}

/* Quits, and everything is as it was: the terminal, the folder for temporary files. */
static void leave(terminal *t, int code) {
  terminal_type(t, "q");
  assert_int_equal(terminal_end(t), code);
  assert_true(terminal_is_as_before(t));
  assert_int_equal(entries(in_folder("tmp")), 0);
  terminal_free(t);
}

/* ---- files --------------------------------------------------------------------------------------------- */

static void saves_of_all_kinds(void **state) {
  (void)state;
  terminal t;
  char *text = wrong();
  terminal_start(&t, folder, to_watch);
  terminal_wait(&t, "TODO  strided_softmax is not written yet");
  terminal_wait(&t, prompt);
  assert_true(terminal_is_raw(&t));

  save_in_place(text);
  terminal_wait(&t, "FAIL  worked_example");
  terminal_wait(&t, "expected:");
  terminal_wait(&t, "got:");
  terminal_wait(&t, prompt);

  save_by_rename("#include \"assay/workshop.h\"\nint strided_softmax(\n");
  terminal_wait(&t, "FAIL  build");
  terminal_wait(&t, "does not compile");
  terminal_wait(&t, prompt);

  save_by_rename(right);
  terminal_wait(&t, "0 failed");
  terminal_wait(&t, prompt);

  assert_int_equal(unlink(in_folder(file)), 0);
  terminal_wait(&t, "work/strided_softmax.c is gone");
  save_in_place(text);
  terminal_wait(&t, "FAIL  worked_example");
  terminal_wait(&t, prompt);

  save_anew(text);
  terminal_wait(&t, "checking work/strided_softmax.c");
  terminal_wait(&t, "FAIL  worked_example");
  terminal_wait(&t, prompt);
  assert_int_equal(terminal_count(&t, 0, "is gone"), 1);
  leave(&t, 1);
  free(text);
}

/* Five saves in a row are one, and a file that is not an exercise's is none. */
static void saves_are_gathered(void **state) {
  (void)state;
  terminal t;
  char *text = wrong();
  terminal_start(&t, folder, to_watch);
  terminal_wait(&t, prompt);
  const size_t before = t.size;
  for (int i = 0; i < 5; i++) {
    save_in_place(text);
    usleep(20000);
  }
  terminal_wait(&t, "FAIL  worked_example");
  terminal_wait(&t, prompt);
  assert_true(assay_write_file(in_folder("work/notes.txt"), "x", 1, 0644));
  while (terminal_read(&t, 1500)) {
  }
  /* One run, unless this test was kept waiting between two saves; never one for each. */
  assert_in_range(terminal_count(&t, before, "checking work/"), 1, 3);
  leave(&t, 1);
  free(text);
}

/* A save breaks off a run, whose worker and files go. */
static void a_save_breaks_off_a_run(void **state) {
  (void)state;
  terminal t;
  char *text = endless();
  save_in_place(text);
  terminal_start(&t, folder, to_watch);
  terminal_wait(&t, "checking work/");
  usleep(1500000); /* it is built, and the kernel runs */
  save_in_place(right);
  terminal_wait(&t, "interrupted: the checks that are left were not run");
  terminal_wait(&t, "0 failed");
  terminal_wait(&t, "0 failed");
  terminal_wait(&t, prompt);
  assert_int_equal(terminal_count(&t, 0, "TIMEOUT"), 0);
  leave(&t, 0);
  free(text);
}

/* The folder itself may go and come back. */
static void folder_is_made_anew(void **state) {
  (void)state;
  terminal t;
  char *text = wrong();
  terminal_start(&t, folder, to_watch);
  terminal_wait(&t, prompt);
  assert_int_equal(rename(in_folder("work"), in_folder("elsewhere")), 0);
  terminal_wait(&t, "is gone");
  assert_int_equal(mkdir(in_folder("work"), 0755), 0);
  save_in_place(text);
  terminal_wait(&t, "FAIL  worked_example");
  terminal_wait(&t, prompt);
  leave(&t, 1);
  free(text);
}

static void polling_sees_the_same(void **state) {
  (void)state;
  static const char *const words[] = {"watch", exercise, "--poll", NULL};
  terminal t;
  char *text = wrong();
  terminal_start(&t, folder, words);
  terminal_wait(&t, prompt);
  save_by_rename(text);
  terminal_wait(&t, "FAIL  worked_example");
  terminal_wait(&t, prompt);
  save_anew(text);
  terminal_wait(&t, "FAIL  worked_example");
  terminal_wait(&t, prompt);
  assert_int_equal(terminal_count(&t, 0, "is gone"), 0);
  leave(&t, 1);
  free(text);
}

/* ---- keys and signals ---------------------------------------------------------------------------------- */

static void keys(void **state) {
  (void)state;
  terminal t;
  terminal_start(&t, folder, to_watch);
  terminal_wait(&t, prompt);
  terminal_type(&t, "h");
  terminal_wait(&t, "## Hint 1");
  terminal_wait(&t, prompt);
  terminal_type(&t, "h");
  terminal_wait(&t, "## Hint 2");
  terminal_wait(&t, prompt);
  terminal_type(&t, "l");
  terminal_wait(&t, "# Workshop 1");
  terminal_wait(&t, prompt);
  assert_true(terminal_is_raw(&t));
  terminal_type(&t, "r");
  terminal_wait(&t, "checking work/strided_softmax.c");
  terminal_wait(&t, prompt);
  terminal_type(&t, "xyz");
  terminal_type(&t, "n");
  terminal_wait(&t, "wrote work/");
  terminal_wait(&t, prompt);
  assert_int_equal(terminal_count(&t, 0, "wrote work/"), 1);
  assert_int_equal(terminal_count(&t, 0, "xyz"), 0);
  leave(&t, 2);
  size_t size;
  char *kept = assay_read_file(in_folder("work/progress.json"), 1 << 20, &size);
  assert_non_null(kept);
  assert_non_null(strstr(kept, "\"hints\": 2"));
  free(kept);
}

/* The program ends by a signal while a kernel runs: by its number, with the terminal as it was. */
static void ends_by(int number, const char *typed) {
  terminal t;
  char *text = endless();
  save_in_place(text);
  terminal_start(&t, folder, to_watch);
  terminal_wait(&t, "checking work/");
  usleep(1000000);
  assert_true(terminal_is_raw(&t));
  if (typed != NULL) {
    terminal_type(&t, typed);
  } else {
    assert_int_equal(kill(t.pid, number), 0);
  }
  assert_int_equal(terminal_end(&t), 128 + number);
  assert_true(terminal_is_as_before(&t));
  assert_int_equal(entries(in_folder("tmp")), 0);
  terminal_free(&t);
  free(text);
}

static void signals_end_it(void **state) {
  (void)state;
  ends_by(SIGINT, "\003");
  ends_by(SIGTERM, NULL);
  ends_by(SIGHUP, NULL);
  ends_by(SIGQUIT, NULL);
}

/* Even a mistake of the program's own leaves the terminal as it was. */
static void a_crash_gives_the_terminal_back(void **state) {
  (void)state;
  terminal t;
  terminal_start(&t, folder, to_watch);
  terminal_wait(&t, prompt);
  assert_true(terminal_is_raw(&t));
  assert_int_equal(kill(t.pid, SIGABRT), 0);
  assert_int_equal(terminal_end(&t), 1000 + SIGABRT);
  assert_true(terminal_is_as_before(&t));
  terminal_free(&t);
}

static void quits_during_a_run(void **state) {
  (void)state;
  terminal t;
  char *text = endless();
  save_in_place(text);
  terminal_start(&t, folder, to_watch);
  terminal_wait(&t, "checking work/");
  usleep(1000000);
  leave(&t, 0);
  free(text);
}

static void a_stop_gives_the_terminal_back(void **state) {
  (void)state;
  terminal t;
  int status;
  terminal_start(&t, folder, to_watch);
  terminal_wait(&t, prompt);
  assert_int_equal(kill(t.pid, SIGTSTP), 0);
  assert_int_equal(waitpid(t.pid, &status, WUNTRACED), t.pid);
  assert_true(WIFSTOPPED(status));
  assert_true(terminal_is_as_before(&t));
  assert_int_equal(kill(t.pid, SIGCONT), 0);
  for (int i = 0; i < 100 && !terminal_is_raw(&t); i++) usleep(20000);
  assert_true(terminal_is_raw(&t));
  leave(&t, 2);
}

/* ---- without a terminal -------------------------------------------------------------------------------- */

static void without_a_terminal(void **state) {
  (void)state;
  char program[512];
  char path[512];
  assert_non_null(realpath(terminal_program(path), program));
  const char *const words[] = {program, "watch", exercise, NULL};
  assay_process_result result; /* its standard input is empty */
  assay_process_run(words, folder, TERMINAL_SECONDS, &result);
  assert_true(result.started);
  assert_int_equal(result.exit_code, 2);
  assert_non_null(strstr(result.output, "TODO  strided_softmax"));
  assert_null(strstr(result.output, prompt));
  free(result.output);

  /* While the input lasts, saves are seen; with its end the last run counts. */
  char *text = wrong();
  save_in_place(text);
  char command[1200];
  snprintf(command, sizeof command, "(sleep 3; cp right.c %s; sleep 1) | '%s' watch", file, program);
  assert_true(assay_write_file(in_folder("right.c"), right, strlen(right), 0644));
  const char *const shell[] = {"sh", "-c", command, NULL};
  assay_process_run(shell, folder, TERMINAL_SECONDS, &result);
  assert_int_equal(result.exit_code, 0);
  const char *failed = strstr(result.output, "FAIL  worked_example");
  assert_non_null(failed);
  assert_non_null(strstr(failed, " 0 failed"));
  assert_null(strstr(result.output, "PASS  "));
  free(result.output);
  free(text);
}

/* An input without end keeps no signal out. */
static void input_without_end(void **state) {
  (void)state;
  char program[512];
  char path[512];
  char command[1200];
  assay_process_result result;
  assert_non_null(realpath(terminal_program(path), program));
  snprintf(command, sizeof command, "timeout -s TERM 2 '%s' watch </dev/zero; echo code $?", program);
  const char *const shell[] = {"sh", "-c", command, NULL};
  assay_process_run(shell, folder, TERMINAL_SECONDS, &result);
  assert_non_null(strstr(result.output, "code 124"));
  free(result.output);
  assert_int_equal(entries(in_folder("tmp")), 0);
}

static void needs_a_file(void **state) {
  (void)state;
  terminal t;
  assert_int_equal(unlink(in_folder(file)), 0);
  assert_int_equal(terminal_command(&t, folder, to_watch), 2);
  assert_non_null(strstr(t.text, "error: work/strided_softmax.c does not exist yet: ./assay start"));
  assert_true(terminal_is_as_before(&t));
  terminal_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(saves_of_all_kinds, begin, end),
      cmocka_unit_test_setup_teardown(saves_are_gathered, begin, end),
      cmocka_unit_test_setup_teardown(a_save_breaks_off_a_run, begin, end),
      cmocka_unit_test_setup_teardown(folder_is_made_anew, begin, end),
      cmocka_unit_test_setup_teardown(polling_sees_the_same, begin, end),
      cmocka_unit_test_setup_teardown(keys, begin, end),
      cmocka_unit_test_setup_teardown(signals_end_it, begin, end),
      cmocka_unit_test_setup_teardown(a_crash_gives_the_terminal_back, begin, end),
      cmocka_unit_test_setup_teardown(quits_during_a_run, begin, end),
      cmocka_unit_test_setup_teardown(a_stop_gives_the_terminal_back, begin, end),
      cmocka_unit_test_setup_teardown(without_a_terminal, begin, end),
      cmocka_unit_test_setup_teardown(input_without_end, begin, end),
      cmocka_unit_test_setup_teardown(needs_a_file, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
