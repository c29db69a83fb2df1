/* SPDX-License-Identifier: MIT */
/* cmd_practice.c - `assay practice`: which rehearsal, and how it talks. */
#include "cli.h"
#include "core/hash.h"
#include "output.h"
#include "rehearse.h"
#include "workshops/practice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PRACTICE_YES = 0, PRACTICE_SEED, PRACTICE_OPTIONS };

static const cli_option practice_options[PRACTICE_OPTIONS] = {
    [PRACTICE_YES] = {"yes", OPTION_FLAG, NULL, NULL, 0, 0,
                      "run unattended, on small sizes: no question is asked"},
    [PRACTICE_SEED] = CLI_OPTION_SEED,
};

static int run_in_process(int argc, const char *const *argv) {
  const char *words[32] = {"assay"};
  if (argc > 31) return CLI_USAGE;
  for (int i = 0; i < argc; i++) words[i + 1] = argv[i];
  return cli_run(argc + 1, words);
}

int (*rehearse_command)(int argc, const char *const *argv) = run_in_process;

void rehearse_print_words(int count, const char *const *words) {
  for (int i = 0; i < count; i++) printf(strpbrk(words[i], "^|$() ") != NULL ? " '%s'" : " %s", words[i]);
}

bool rehearse_folder(const char *name, char path[ASSAY_PATH_SIZE]) {
  char work[ASSAY_PATH_SIZE];
  char all[ASSAY_PATH_SIZE];
  work_folder(work);
  if (assay_path_format(all, "%s/%s", work, name) && assay_make_folders(all)) {
    for (int run = 1; assay_path_format(path, "%s/run-%d", all, run); run++) {
      if (mkdir(path, 0777) == 0) return true;
      if (errno != EEXIST) break;
    }
  }
  output_error("cannot make a folder in %s/%s: %s", work, name, strerror(errno));
  return false;
}

bool rehearse_read(char *line, int size) {
  fflush(stdout);
  if (fgets(line, size, stdin) == NULL) return false;
  line[strcspn(line, "\n")] = '\0';
  return true;
}

int rehearse_choose(const rehearsal *how, const char *question, const char *const *lines, int count) {
  puts(question);
  for (int i = 0; i < count; i++) printf("  %d) %s\n", i + 1, lines[i]);
  if (how->unattended) {
    puts("> 1");
    return 0;
  }
  for (;;) {
    char answer[64];
    fputs("> ", stdout);
    if (!rehearse_read(answer, sizeof answer)) return -1;
    char *end;
    const long number = strtol(answer, &end, 10);
    if (end != answer && *end == '\0' && number >= 1 && number <= count) return (int)number - 1;
    printf("a number from 1 to %d\n", count);
  }
}

bool rehearse_pause(const rehearsal *how) {
  char line[256];
  if (how->unattended) return true;
  fputs("[return] goes on ", stdout);
  return rehearse_read(line, sizeof line);
}

/* The exercise of the drill or the demonstration: the second word, else the first that has an operator. The
 * drill takes any with a solution in C. */
static const assay_exercise *exercise_for(const cli_args *args, bool demo) {
  if (args->name_count > 1) {
    const assay_exercise *named = exercise_named(args->names[1]);
    if (named != NULL && demo && named->op == NULL) {
      output_error("%s is no operator: the demonstration needs one of the workshops", named->name);
      return NULL;
    }
    if (named != NULL && !exercise_has(named, ASSAY_CPU)) {
      output_error("%s has no solution in C, and the drill breaks one", named->name);
      return NULL;
    }
    return named;
  }
  for (int i = 0; i < assay_exercise_count; i++) {
    if (assay_exercises[i].op != NULL) return &assay_exercises[i];
  }
  output_error("this program has no workshops");
  return NULL;
}

static int list_sessions(void) {
  const assay_practice *practice;
  for (int i = 0; (practice = assay_practice_at(i)) != NULL; i++)
    printf("%-10s  %-19s  %s\n", practice->name, practice->exercise, practice->title);
  return CLI_OK;
}

static int run_practice(const cli_args *args) {
  const rehearsal how = {.unattended = args->values[PRACTICE_YES].given,
                         .seed = args->values[PRACTICE_SEED].given
                                     ? (uint64_t)args->values[PRACTICE_SEED].whole
                                     : assay_random_seed()};
  const char *what = args->names[0];
  const bool bug = strcmp(what, "bug") == 0;
  const bool demo = strcmp(what, "demo") == 0;
  const bool list = strcmp(what, "list") == 0;
  const assay_practice *session = assay_practice_find(what);
  if (!bug && !demo && !list && session == NULL) {
    output_error("practice takes a session from 1 to %d, %s to %s, bug, demo or list, not \"%.60s\"",
                 assay_practice_count, assay_capstones[0].name,
                 assay_capstones[assay_capstone_count - 1].name, what);
    return CLI_USAGE;
  }
  if ((session != NULL || list) && args->name_count > 1) {
    output_error("%s: \"%.60s\" is too many",
                 list ? "list shows all sessions" : "a session has its own exercise", args->names[1]);
    return CLI_USAGE;
  }
  if (list) return list_sessions();
  if (!how.unattended && !isatty(STDIN_FILENO)) {
    output_error("practice asks questions, and its input is no terminal: --yes runs it unattended");
    return CLI_USAGE;
  }
  output out;
  output_begin(&out, OUTPUT_COLOUR_NEVER);
  if (session != NULL) return rehearse_session(&how, session);
  const assay_exercise *exercise = exercise_for(args, demo);
  if (exercise == NULL) return CLI_USAGE;
  return bug ? rehearse_bug(&how, exercise) : rehearse_demo(&how, exercise);
}

static const char *const practice_examples[] = {
    "practice list", "practice 1", "practice 4 --yes", "practice capstone_a", "practice bug NAME",
    "practice demo", NULL};

const cli_command command_practice = {
    .name = "practice",
    .summary = "predict, measure, explain: six sessions, three capstones, a bug drill, a demonstration",
    .about =
        "A session asks for a prediction, changes one thing, runs the comparison, writes report and "
        "record into "
        "work/practice-N/ and ends with a question to answer aloud. A capstone does the same for a task at "
        "the end of the course (docs/capstones.md). \"bug\" shows a broken kernel and "
        "its failing "
        "check; you name line and cause. \"demo\" leads through a demonstration of five minutes. Where "
        "a part needs a "
        "GPU or PyTorch and there is none, the rest is done, the missing part is named, and the exit "
        "code is 3.",
    .names = "1..6 | capstone_a..capstone_c | bug [NAME] | demo [NAME] | list",
    .names_min = 1,
    .names_max = 2,
    .examples = practice_examples,
    .options = practice_options,
    .option_count = PRACTICE_OPTIONS,
    .run = run_practice,
};
