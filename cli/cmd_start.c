/* SPDX-License-Identifier: MIT */
/* cmd_start.c - `assay start` and `assay reset`: the learner's copy of a starter. It is never lost. */
#include "cli.h"
#include "exercise.h"
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { START_BACKEND = 0, START_OPTIONS };
enum { RESET_BACKEND = 0, RESET_FORCE, RESET_OPTIONS };

static const char *const backends[] = {"cpu", "cuda", NULL};

#define OPTION_STARTER                                                                                       \
  {                                                                                                          \
    "backend", OPTION_CHOICE, NULL, backends, 0, 0,                                                          \
        "C for the CPU (the default where there is a choice) or CUDA C"                                      \
  }

static const cli_option start_options[START_OPTIONS] = {
    [START_BACKEND] = OPTION_STARTER,
};
static const cli_option reset_options[RESET_OPTIONS] = {
    [RESET_BACKEND] = OPTION_STARTER,
    [RESET_FORCE] = {"force", OPTION_FLAG, NULL, NULL, 0, 0, "do not ask first"},
};

/* Both commands' first step: which exercise, its starter's text, the path of the copy. */
typedef struct starter {
  const assay_exercise *exercise;
  char *text; /* to be freed */
  size_t size;
  char copy[ASSAY_PATH_SIZE];
} starter;

/* CLI_OK, or the exit code after an error message. */
static int find_starter(const cli_args *args, const cli_value *choice, starter *found) {
  found->exercise = exercise_named(args->names[0]);
  if (found->exercise == NULL) return CLI_USAGE;
  const assay_backend backend =
      choice->given ? (assay_backend)choice->choice : exercise_first_backend(found->exercise);
  if ((found->exercise->backends & (1u << backend)) == 0) {
    output_error("%s has no %s starter yet", found->exercise->name, backend == ASSAY_CPU ? "CPU" : "CUDA");
    return CLI_UNAVAILABLE;
  }
  char file[128];
  exercise_file_name(found->exercise, "starter", backend, file);
  found->text = exercise_read(found->exercise, file, &found->size);
  if (found->text == NULL) return CLI_FAILED;
  work_file(found->exercise, backend, found->copy);
  return CLI_OK;
}

/* ---- start --------------------------------------------------------------------------------------------- */

static int run_start(const cli_args *args) {
  starter found = {0};
  int code = find_starter(args, &args->values[START_BACKEND], &found);
  if (code != CLI_OK) return code;

  const char *name = found.exercise->name;
  char folder[ASSAY_PATH_SIZE];
  work_folder(folder);
  if (!assay_make_folders(folder)) {
    output_error("cannot make the folder %s: %s", folder, strerror(errno));
    code = CLI_FAILED;
  } else if (assay_create_file(found.copy, found.text, found.size, 0644)) {
    printf("wrote %s\nnext: " PROGRAM " lesson %s, edit %s, then " PROGRAM " check %s\n", found.copy, name,
           found.copy, name);
  } else if (errno == EEXIST) {
    output_error("%s exists and is left as it is: " PROGRAM " check %s judges it, " PROGRAM
                 " reset %s starts over",
                 found.copy, name, name);
    code = CLI_FAILED;
  } else {
    output_error("cannot write %s: %s", found.copy, strerror(errno));
    code = CLI_FAILED;
  }
  free(found.text);
  return code;
}

/* ---- reset --------------------------------------------------------------------------------------------- */

/* CLI_OK when the user wants it. */
static int confirm(const char *path) {
  if (!isatty(STDIN_FILENO)) {
    output_error("reset asks before it replaces %s, and there is no terminal to ask on: give --force", path);
    return CLI_USAGE;
  }
  fprintf(stderr, "Replace %s by the starter? A backup is kept. [y/N] ", path);
  char answer[16];
  if (fgets(answer, sizeof answer, stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y')) return CLI_OK;
  output_error("nothing was changed");
  return CLI_FAILED;
}

/* Copies the file to the first free PATH.backup-N. */
static bool keep_backup(const char *path, char backup[ASSAY_PATH_SIZE]) {
  enum { MOST_BACKUPS = 10000 };
  size_t size;
  char *text = assay_read_file(path, (size_t)1 << 30, &size);
  if (text == NULL) {
    output_error("cannot read %s: %s", path, strerror(errno));
    return false;
  }
  bool kept = false;
  for (int i = 1; i <= MOST_BACKUPS && !kept; i++) {
    if (!assay_path_format(backup, "%s.backup-%d", path, i)) break;
    kept = assay_create_file(backup, text, size, 0644);
    if (!kept && errno != EEXIST) break;
  }
  if (!kept) output_error("cannot write a backup of %s, so nothing was changed: %s", path, strerror(errno));
  free(text);
  return kept;
}

static int replace_copy(const starter *found, bool force) {
  if (!assay_file_exists(found->copy)) {
    output_error("%s does not exist: " PROGRAM " start %s writes it", found->copy, found->exercise->name);
    return CLI_FAILED;
  }
  const int code = force ? CLI_OK : confirm(found->copy);
  if (code != CLI_OK) return code;

  char backup[ASSAY_PATH_SIZE];
  if (!keep_backup(found->copy, backup)) return CLI_FAILED;
  if (!assay_write_file(found->copy, found->text, found->size, 0644)) {
    output_error("cannot write %s: %s", found->copy, strerror(errno));
    return CLI_FAILED;
  }
  printf("kept  %s\nwrote %s\nnext: edit %s, then " PROGRAM " check %s\n", backup, found->copy, found->copy,
         found->exercise->name);
  return CLI_OK;
}

static int run_reset(const cli_args *args) {
  starter found = {0};
  const int code = find_starter(args, &args->values[RESET_BACKEND], &found);
  if (code != CLI_OK) return code;
  const int answer = replace_copy(&found, args->values[RESET_FORCE].given);
  free(found.text);
  return answer;
}

static const char *const start_examples[] = {"start NAME", NULL};
static const char *const reset_examples[] = {"reset NAME", "reset NAME --force", NULL};

const cli_command command_start = {
    .name = "start",
    .summary = "begin an exercise: write its starter to work/",
    .about =
        "Writes the starter of an exercise to work/NAME.c, which is yours to edit. The work folder is looked "
        "for in the current folder and above, else made here. A file that exists is never overwritten.",
    .names = "NAME",
    .names_min = 1,
    .names_max = 1,
    .examples = start_examples,
    .options = start_options,
    .option_count = START_OPTIONS,
    .run = run_start,
};

const cli_command command_reset = {
    .name = "reset",
    .summary = "begin again, keeping a backup of your file",
    .about =
        "Copies work/NAME.c to work/NAME.c.backup-1 (or the next free number) and writes the starter anew.",
    .names = "NAME",
    .names_min = 1,
    .names_max = 1,
    .examples = reset_examples,
    .options = reset_options,
    .option_count = RESET_OPTIONS,
    .run = run_reset,
};
