/* SPDX-License-Identifier: MIT */
/*
 * test_newcomer.c - the way of somebody who has just built the program, at a terminal, up to the first
 * exercise that passes: nothing is typed but what the line "next:" of the screen before says, and the kernel.
 *
 * The whole session is left in build/tests/logs/newcomer.transcript, to be read.
 */
#include "folder.h"
#include "terminal.h"

#include <stdio.h>

enum { COMMAND = 256 };

/* What the screen shows, session by session, as a reader would see it. */
static FILE *transcript;

static void keep(const char *command, const terminal *t) {
  fprintf(transcript, "$ ./assay%s%s\n%s\n", command[0] == '\0' ? "" : " ", command, t->text);
}

/* Splits "start offsets" into words. */
static void split(char *command, const char *words[TERMINAL_WORDS + 1]) {
  int count = 0;
  char *rest = NULL;
  for (char *word = strtok_r(command, " ", &rest); word != NULL && count < TERMINAL_WORDS;
       word = strtok_r(NULL, " ", &rest)) {
    words[count++] = word;
  }
  words[count] = NULL;
}

/* The command of the line "next: ./assay ..." in a text: the part behind the program's name. */
static void next_of(const char *text, char command[COMMAND]) {
  static const char mark[] = "\nnext: ./assay ";
  const char *at = strstr(text, mark);
  if (at == NULL) fail_msg("nothing says what comes next:\n%s", text);
  at += strlen(mark);
  snprintf(command, COMMAND, "%.*s", (int)strcspn(at, "\n,"), at);
}

/* One command; what comes next, if the caller wants to know. */
static void type(const char *command, int code, const char *shows, char next[COMMAND]) {
  char copy[COMMAND];
  const char *words[TERMINAL_WORDS + 1];
  terminal t;
  snprintf(copy, sizeof copy, "%s", command);
  split(copy, words);
  const int got = terminal_command(&t, folder, words);
  keep(command, &t);
  if (got != code) fail_msg("assay %s: exit %d, not %d:\n%s", command, got, code, t.text);
  if (strstr(t.text, shows) == NULL) fail_msg("assay %s does not show \"%s\":\n%s", command, shows, t.text);
  if (next != NULL) next_of(t.text, next);
  terminal_free(&t);
}

static char *read_source(const char *name) {
  char path[ASSAY_PATH_SIZE];
  size_t size;
  const char *source = getenv("ASSAY_SOURCE_DIR");
  assert_true(assay_path_format(path, "%s/%s", source != NULL ? source : ".", name));
  char *text = assay_read_file(path, 1 << 20, &size);
  assert_non_null(text);
  return text;
}

static void save(const char *text) {
  assert_true(assay_write_file(in_folder("work/offsets.c"), text, strlen(text), 0644));
}

/* At the watch: a first try without the mask, a hint, the right one. */
static void write_it(const char *command) {
  char copy[COMMAND];
  const char *words[TERMINAL_WORDS + 1];
  terminal t;
  char *solution = read_source("workshops/b0_offsets/b0_solution.c");
  char *wrong = strdup(solution);
  assert_non_null(wrong);
  char *rounded_up = strstr(wrong, "(count + block - 1) / block;");
  assert_non_null(rounded_up);
  const char *rounded_down = "count / block;              ";
  for (size_t i = 0; rounded_down[i] != '\0'; i++) rounded_up[i] = rounded_down[i];
  snprintf(copy, sizeof copy, "%s", command);
  split(copy, words);
  terminal_start(&t, folder, words);
  terminal_wait(&t, "TODO  offsets is not written yet");
  terminal_wait(&t, "[h] hint");
  save(wrong);
  terminal_wait(&t, "FAIL  ");
  terminal_wait(&t, "expected:");
  terminal_wait(&t, "[h] hint");
  terminal_type(&t, "h");
  terminal_wait(&t, "## Hint 1");
  terminal_wait(&t, "[h] hint");
  save(solution);
  terminal_wait(&t, "0 failed");
  terminal_wait(&t, "[q] quit");
  terminal_type(&t, "q");
  assert_int_equal(terminal_end(&t), 0);
  assert_true(terminal_is_as_before(&t));
  keep(command, &t);
  terminal_free(&t);
  free(wrong);
  free(solution);
}

static void from_nothing_to_a_pass(void **state) {
  (void)state;
  char next[COMMAND];
  type("", 0, "0 of ", next);
  assert_string_equal(next, "start offsets");
  type(next, 0, "wrote work/offsets.c", NULL);
  type("", 0, "nothing written yet", next);
  assert_string_equal(next, "lesson offsets");
  type(next, 0, "# Exercise b0", NULL);
  type("", 0, "nothing written yet", next);
  assert_string_equal(next, "watch offsets");
  write_it(next);
  type("", 0, "1 of ", next);
  assert_int_equal(strncmp(next, "start ", 6), 0);
  assert_null(strstr(next, "offsets"));
  type("list", 0, "passed 20", NULL);
}

int main(void) {
  char path[ASSAY_PATH_SIZE];
  const char *build = getenv("BUILD");
  unsetenv("PAGER");
  assay_path_format(path, "%s/tests/logs", build != NULL ? build : "build");
  if (!assay_make_folders(path)) return 1;
  assay_path_format(path, "%s/tests/logs/newcomer.transcript", build != NULL ? build : "build");
  transcript = fopen(path, "w");
  if (transcript == NULL) return 1;
  const struct CMUnitTest tests[] = {IN_NEW_FOLDER(from_nothing_to_a_pass)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return fclose(transcript) == 0 ? failed : 1;
}
