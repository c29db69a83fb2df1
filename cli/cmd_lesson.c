/* SPDX-License-Identifier: MIT */
/* cmd_lesson.c - `assay lesson` and `assay hint`: the texts of an exercise. */
#include "cli.h"
#include "exercise.h"
#include "output.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HINT_LEVEL = 0, HINT_OPTIONS };
enum { MOST_HINTS = 3 };

static const cli_option hint_options[HINT_OPTIONS] = {
    [HINT_LEVEL] = {"level", OPTION_WHOLE, "N", NULL, 1, MOST_HINTS,
                    "1 says where to look (the default), 2 and 3 say more"},
};

/* ---- lesson -------------------------------------------------------------------------------------------- */

/* False when there is no pager to use. */
static bool show_in_pager(const char *text, size_t size) {
  const char *pager = getenv("PAGER");
  if (pager == NULL || *pager == '\0' || !isatty(STDOUT_FILENO)) return false;
  FILE *pipe = popen(pager, "w");
  if (pipe == NULL) return false;
  /* A reader who leaves the pager early is no error. */
  void (*before)(int) = signal(SIGPIPE, SIG_IGN);
  fwrite(text, 1, size, pipe);
  pclose(pipe);
  signal(SIGPIPE, before);
  return true;
}

static int run_lesson(const cli_args *args) {
  const assay_exercise *exercise = exercise_named(args->names[0]);
  if (exercise == NULL) return CLI_USAGE;
  size_t size;
  char *text = exercise_read(exercise, "lesson.md", &size);
  if (text == NULL) return CLI_FAILED;
  if (!show_in_pager(text, size)) fwrite(text, 1, size, stdout);
  free(text);
  return CLI_OK;
}

/* ---- hint ---------------------------------------------------------------------------------------------- */

/* The section under the `level`th "## " heading, which is a part of it; lines in ``` fences are no headings.
 * Its length without empty lines at the end; 0 when there is none. */
static size_t find_section(const char *text, int level, const char **section) {
  const char *end = text + strlen(text);
  const char *begin = NULL;
  bool fenced = false;
  int headings = 0;
  for (const char *line = text; line < end;) {
    const char *next = strchr(line, '\n');
    next = next == NULL ? end : next + 1;
    if (strncmp(line, "```", 3) == 0) fenced = !fenced;
    if (!fenced && strncmp(line, "## ", 3) == 0) {
      headings++;
      if (headings == level) begin = line;
      if (headings == level + 1) end = line;
    }
    line = next;
  }
  if (begin == NULL) return 0;
  while (end > begin && (end[-1] == '\n' || end[-1] == ' ')) end--;
  *section = begin;
  return (size_t)(end - begin);
}

static int run_hint(const cli_args *args) {
  const assay_exercise *exercise = exercise_named(args->names[0]);
  if (exercise == NULL) return CLI_USAGE;
  const int level = args->values[HINT_LEVEL].given ? (int)args->values[HINT_LEVEL].whole : 1;
  size_t size;
  char *text = exercise_read(exercise, "hint.md", &size);
  if (text == NULL) return CLI_FAILED;

  const char *section, *following;
  const size_t length = find_section(text, level, &section);
  int code = CLI_OK;
  if (length == 0) {
    output_error("%s has no hint of level %d", exercise->name, level);
    code = CLI_FAILED;
  } else {
    printf("%.*s\n\n", (int)length, section);
    if (level < MOST_HINTS && find_section(text, level + 1, &following) > 0) {
      printf("More: " PROGRAM " hint %s --level %d\n", exercise->name, level + 1);
    } else {
      char file[128], path[ASSAY_PATH_SIZE];
      exercise_file_name(exercise, "solution", exercise_first_backend(exercise), file);
      exercise_shown_path(exercise, file, path);
      printf("That is the last hint. A solution to compare with: %s\n", path);
    }
  }
  free(text);
  return code;
}

static const char *const lesson_examples[] = {"lesson NAME", NULL};
static const char *const hint_examples[] = {"hint NAME", "hint NAME --level 2", NULL};

const cli_command command_lesson = {
    .name = "lesson",
    .summary = "read the lesson of an exercise",
    .about = "Prints the lesson of an exercise, on a terminal through the program that PAGER names.",
    .names = "NAME",
    .names_min = 1,
    .names_max = 1,
    .examples = lesson_examples,
    .run = run_lesson,
};

const cli_command command_hint = {
    .name = "hint",
    .summary = "get a hint, in three levels",
    .about = "Prints a hint on an exercise. Each of the three levels says more than the one before.",
    .names = "NAME",
    .names_min = 1,
    .names_max = 1,
    .examples = hint_examples,
    .options = hint_options,
    .option_count = HINT_OPTIONS,
    .run = run_hint,
};
