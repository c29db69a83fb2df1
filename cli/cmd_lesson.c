/* SPDX-License-Identifier: MIT */
/* cmd_lesson.c - `assay lesson` and `assay hint`: the texts of an exercise. */
#include "cli.h"
#include "exercise.h"
#include "output.h"
#include "where.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LESSON_SOLUTION = 0, LESSON_BACKEND, LESSON_OPTIONS };
enum { HINT_LEVEL = 0, HINT_ALL, HINT_OPTIONS };
enum { MOST_HINTS = 3 };

static const char *const written_for[] = {"cpu", "cuda", NULL};

static const cli_option lesson_options[LESSON_OPTIONS] = {
    [LESSON_SOLUTION] = {"solution", OPTION_FLAG, NULL, NULL, 0, 0,
                         "the reference solution instead; noted as seen when you have not passed yet"},
    [LESSON_BACKEND] = {"backend", OPTION_CHOICE, NULL, written_for, 0, 0,
                        "with --solution: C for the CPU or CUDA C; default: as your file"},
};
static const cli_option hint_options[HINT_OPTIONS] = {
    [HINT_LEVEL] = {"level", OPTION_WHOLE, "N", NULL, 1, MOST_HINTS,
                    "this level: 1 says where to look, 2 and 3 say more; default: the next one"},
    [HINT_ALL] = {"all", OPTION_FLAG, NULL, NULL, 0, 0, "all levels"},
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

static void show(const char *text, size_t size) {
  if (!show_in_pager(text, size)) fwrite(text, 1, size, stdout);
}

/* The file name of the solution; CLI_OK, or an exit code after an error message. */
static int find_solution(const cli_args *args, const assay_exercise *exercise, char file[128]) {
  const cli_value *chosen = &args->values[LESSON_BACKEND];
  progress state;
  progress_read(&state);
  const standing at = where_is(&state, exercise);
  progress_free(&state);
  const assay_backend backend = chosen->given ? (assay_backend)chosen->choice : at.backend;
  if (!exercise_has(exercise, backend)) {
    output_error("%s has no %s solution", exercise->name, backend == ASSAY_CPU ? "CPU" : "CUDA");
    return CLI_UNAVAILABLE;
  }
  exercise_file_name(exercise, "solution", backend, file);
  return CLI_OK;
}

/* A learner who has no folder yet gets none from reading. */
static bool keeps_progress(void) {
  char folder[ASSAY_PATH_SIZE];
  work_folder(folder);
  return access(folder, W_OK) == 0;
}

static void note_reading(const assay_exercise *exercise, bool solution) {
  if (!keeps_progress()) return;
  progress state;
  progress_read(&state);
  const progress_view before = progress_of(&state, exercise);
  const bool solution_counts = solution && before.passed[0] == '\0' && before.shown[0] == '\0';
  const bool lesson_counts = !solution && before.lesson[0] == '\0';
  progress_free(&state);
  if (solution_counts) progress_note_solution(exercise);
  if (lesson_counts) progress_note_lesson(exercise);
}

static int run_lesson(const cli_args *args) {
  const assay_exercise *exercise = exercise_named(args->names[0]);
  if (exercise == NULL) return CLI_USAGE;
  const bool solution = args->values[LESSON_SOLUTION].given;
  if (args->values[LESSON_BACKEND].given && !solution) {
    output_error("--backend chooses a solution: give --solution too");
    return CLI_USAGE;
  }
  char file[128] = "lesson.md";
  const int code = solution ? find_solution(args, exercise, file) : CLI_OK;
  if (code != CLI_OK) return code;
  size_t size;
  char *text = exercise_read(exercise, file, &size);
  if (text == NULL) return CLI_FAILED;
  show(text, size);
  free(text);
  note_reading(exercise, solution);
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

/* The level that is asked for, else the one behind the highest that was read. */
static int choose_level(const cli_args *args, const assay_exercise *exercise) {
  if (args->values[HINT_LEVEL].given) return (int)args->values[HINT_LEVEL].whole;
  progress state;
  progress_read(&state);
  const int read = progress_of(&state, exercise).hints;
  progress_free(&state);
  return read < 0 ? 1 : read < MOST_HINTS ? read + 1 : MOST_HINTS;
}

/* CLI_OK, or CLI_FAILED after an error message. */
static int print_hint(const assay_exercise *exercise, const char *text, int level) {
  const char *section;
  const size_t length = find_section(text, level, &section);
  if (length == 0) {
    output_error("%s has no hint of level %d", exercise->name, level);
    return CLI_FAILED;
  }
  printf("%.*s\n\n", (int)length, section);
  return CLI_OK;
}

static int run_hint(const cli_args *args) {
  const assay_exercise *exercise = exercise_named(args->names[0]);
  if (exercise == NULL) return CLI_USAGE;
  const bool all = args->values[HINT_ALL].given;
  if (all && args->values[HINT_LEVEL].given) {
    output_error("--level and --all exclude each other");
    return CLI_USAGE;
  }
  const int last = all ? MOST_HINTS : choose_level(args, exercise);
  size_t size;
  char *text = exercise_read(exercise, "hint.md", &size);
  if (text == NULL) return CLI_FAILED;

  int code = CLI_OK;
  for (int level = all ? 1 : last; level <= last && code == CLI_OK; level++) {
    code = print_hint(exercise, text, level);
  }
  if (code == CLI_OK && last < MOST_HINTS) {
    printf("More: " PROGRAM " hint %s --level %d\n", exercise->name, last + 1);
  } else if (code == CLI_OK) {
    printf("That is the last hint. A solution to compare with: " PROGRAM " lesson %s --solution\n",
           exercise->name);
  }
  free(text);
  if (code == CLI_OK) progress_note_hint(exercise, last);
  return code;
}

static const char *const lesson_examples[] = {"lesson NAME", "lesson NAME --solution", NULL};
static const char *const hint_examples[] = {"hint NAME", "hint NAME --level 2", "hint NAME --all", NULL};

const cli_command command_lesson = {
    .name = "lesson",
    .summary = "read the lesson of an exercise",
    .about = "Prints the lesson of an exercise, on a terminal through the program that PAGER names. With "
             "--solution it prints the reference solution; when you have not passed yet, work/progress.json "
             "notes that you have seen it.",
    .names = "NAME",
    .names_min = 1,
    .names_max = 1,
    .examples = lesson_examples,
    .options = lesson_options,
    .option_count = LESSON_OPTIONS,
    .run = run_lesson,
};

const cli_command command_hint = {
    .name = "hint",
    .summary = "get a hint, in three levels",
    .about =
        "Prints a hint on an exercise: the next one that you have not read. Each of the three levels says "
        "more than the one before; work/progress.json notes the highest that you have read.",
    .names = "NAME",
    .names_min = 1,
    .names_max = 1,
    .examples = hint_examples,
    .options = hint_options,
    .option_count = HINT_OPTIONS,
    .run = run_hint,
};
