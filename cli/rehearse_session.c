/* SPDX-License-Identifier: MIT */
/* rehearse_session.c - one practice session: prediction, run, verdicts, record, question. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "core/json.h"
#include "evidence/predict.h"
#include "ops/ops.h"
#include "output.h"
#include "rehearse.h"
#include "workshops/practice.h"

enum { ARGUMENTS = 24, ANSWER = 1024 };

typedef struct session {
  const rehearsal *how;
  const assay_practice *practice;
  char folder[ASSAY_PATH_SIZE];    /* work/practice-NAME/run-K */
  char predicted[ASSAY_PATH_SIZE]; /* the prediction's file; empty: exploratory */
  int missing;
} session;

/* A variant of the library, by the exercise's table; NULL when it is there. */
static const char *missing_variant(const assay_practice *practice, const char *name) {
  static char text[160];
  const assay_exercise *exercise = assay_exercise_find(practice->exercise);
  if (name == NULL || assay_variant_find(exercise->op, name) != NULL) return NULL;
  snprintf(text, sizeof text, "UNAVAILABLE: the library has no variant %s of %s in this build", name,
           practice->exercise);
  return text;
}

static const char *missing_need(assay_practice_need need) {
  switch (need) {
  case PRACTICE_NEEDS_CPU:
    return NULL;
  case PRACTICE_NEEDS_GPU:
    return backend_missing(ASSAY_CUDA);
  case PRACTICE_NEEDS_PYTORCH:
    return rehearse_python_missing();
  }
  return NULL;
}

/* Why a step is left out; NULL when it is not. */
static const char *missing_of(const assay_practice *practice, const assay_practice_step *step) {
  const char *missing = missing_variant(practice, step->variant);
  return missing != NULL ? missing : missing_need(step->need);
}

static bool is_timed(const assay_practice_step *step) {
  return step->show == NULL && strcmp(step->command, "bench") == 0;
}

static bool times_something(const assay_practice *practice) {
  for (int i = 0; i < practice->step_count; i++) {
    if (is_timed(&practice->steps[i]) && missing_of(practice, &practice->steps[i]) == NULL) return true;
  }
  return false;
}

static void print_head(const session *self) {
  const assay_practice *practice = self->practice;
  const bool numbered = practice->name[0] >= '0' && practice->name[0] <= '9';
  printf("%s%s%s%s\n", numbered ? "Session " : "", numbered ? practice->name : "", numbered ? ": " : "",
         practice->title);
  printf("  exercise:   %s\n  change:     %s\n  comparison: %s\n", practice->exercise, practice->change,
         practice->comparison);
  for (int i = 0; i < practice->step_count; i++)
    printf("  run %d:      %s\n", i + 1, practice->steps[i].what);
  putchar('\n');
}

/* Asks until the answer is a prediction; an empty one leaves the session exploratory. False at the end of the
 * input. */
static bool ask_prediction(session *self) {
  char answer[ANSWER] = "";
  assay_message why = {""};
  prediction declared;
  puts("Your prediction, before anything is timed: [SHAPE:] VARIANT (<|>) FACTOR * VARIANT; an empty line "
       "for none.");
  printf("For example: %s\n", self->practice->prediction);
  for (;;) {
    if (self->how->unattended) {
      snprintf(answer, sizeof answer, "%s", self->practice->prediction);
      printf("> %s\n", answer);
    } else {
      fputs("> ", stdout);
      if (!rehearse_read(answer, sizeof answer)) return false;
    }
    if (answer[strspn(answer, " \t")] == '\0') {
      puts("None: this run is exploratory.");
      return true;
    }
    if (prediction_make(answer, &declared, &why)) break;
    puts(why.text);
    if (self->how->unattended) return false;
  }
  const bool saved = assay_path_format(self->predicted, "%s/prediction.json", self->folder) &&
                     prediction_save(&declared, self->predicted, &why);
  if (saved) {
    printf("kept in %s, %.12s\n\n", self->predicted, declared.hash);
  } else {
    output_error("%s", why.text);
  }
  prediction_free(&declared);
  return saved;
}

/* Runs the command with its answer in a new file. */
static int run_into(const char *path, int count, const char *const *words) {
  fflush(stdout);
  const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  const int shown = file >= 0 ? dup(STDOUT_FILENO) : -1;
  int code = CLI_FAILED;
  if (shown >= 0 && dup2(file, STDOUT_FILENO) >= 0) {
    code = rehearse_command(count, words);
    fflush(stdout);
    (void)dup2(shown, STDOUT_FILENO);
  } else {
    output_error("cannot write %s: %s", path, strerror(errno));
  }
  if (file >= 0) close(file);
  if (shown >= 0) close(shown);
  return code;
}

/* One line a check, from what `check --json` wrote, and the record of them. */
static int show_checks(const char *path) {
  const char *const record[] = {"record", "new", path};
  char message[512];
  json_t *root = assay_json_load(path, message, sizeof message);
  const json_t *checks = json_object_get(root, "checks");
  const json_t *check;
  size_t i;
  if (root == NULL) output_error("%s", message);
  json_array_foreach(checks, i, check) {
    const char *reason = json_string_value(json_object_get(check, "reason"));
    printf("%-4s  %s%s%s\n", json_string_value(json_object_get(check, "verdict")),
           json_string_value(json_object_get(check, "check")), reason[0] != '\0' ? ": " : "", reason);
  }
  json_decref(root);
  return rehearse_command(3, record);
}

/* The command of a step, its report in a file; returns the exit code. */
static int run_step(const session *self, const assay_practice_step *step, const char *report_file,
                    bool timed) {
  const char *words[ARGUMENTS] = {step->command, self->practice->exercise};
  int count = 2;
  const char *const *arguments = self->how->unattended ? step->small : step->arguments;
  for (int i = 0; i < PRACTICE_WORDS && arguments[i] != NULL; i++) words[count++] = arguments[i];
  if (timed) {
    words[count++] = "--output";
    words[count++] = report_file;
  } else {
    words[count++] = "--json";
  }
  if (timed && self->predicted[0] != '\0') {
    words[count++] = "--prediction";
    words[count++] = self->predicted;
  }
  if (step->need == PRACTICE_NEEDS_PYTORCH) return rehearse_python(count, words);
  fputs("$ " PROGRAM, stdout);
  rehearse_print_words(count, words);
  if (!timed) printf(" > %s", report_file);
  putchar('\n');
  return timed ? rehearse_command(count, words) : run_into(report_file, count, words);
}

static void print_line(const char *line) {
  puts(line);
}

static int show_something(const assay_practice_step *step) {
  assay_message why = {""};
  const assay_backend backend = step->need == PRACTICE_NEEDS_GPU ? ASSAY_CUDA : ASSAY_SIMT;
  if (step->show(backend, print_line, &why)) return CLI_OK;
  output_error("this was not to be seen here: %s", why.text);
  return CLI_FAILED;
}

/* Dots, the fate of the prediction and the record, each by its own command. */
static int show_results(const session *self, const char *report_file) {
  const char *const plot[] = {"plot", report_file};
  const char *const judge[] = {"predict", "check", report_file};
  const char *const record[] = {"record", "new", report_file};
  const int plotted = rehearse_command(2, plot);
  if (plotted != CLI_OK) return plotted;
  if (self->predicted[0] != '\0') {
    putchar('\n');
    const int judged = rehearse_command(3, judge);
    /* A refuted prediction, or one that cannot be told, is a result too. */
    if (judged != CLI_OK && judged != CLI_FAILED && judged != CLI_CANNOT_TELL) return judged;
  }
  return rehearse_command(3, record);
}

/* CLI_OK; or the code of a run that left some variant out, all others being there. */
static int run_steps(session *self, bool *ended_early) {
  int worst = CLI_OK;
  *ended_early = true;
  for (int i = 0; i < self->practice->step_count; i++) {
    const assay_practice_step *step = &self->practice->steps[i];
    const char *missing = missing_of(self->practice, step);
    char report_file[ASSAY_PATH_SIZE];
    const bool timed = is_timed(step);
    printf("\nRun %d: %s\n", i + 1, step->what);
    if (missing != NULL) {
      printf("  left out: %s\n", missing);
      self->missing++;
      continue;
    }
    if (step->show != NULL) {
      const int code = show_something(step);
      if (code != CLI_OK) return code;
      continue;
    }
    if (!assay_path_format(report_file, "%s/%s-%d.json", self->folder, timed ? "report" : "checks", i + 1)) {
      output_error("the path of the practice folder is too long: %.80s...", self->folder);
      return CLI_FAILED;
    }
    const int code = run_step(self, step, report_file, timed);
    const bool ended = code == CLI_USAGE || code > CLI_SIGNAL || !assay_file_exists(report_file);
    if (code != CLI_OK && ended) return code;
    if (code != CLI_OK && worst == CLI_OK) worst = code;
    if (code != CLI_OK && timed) puts("  a variant was not timed: see above");
    const int shown = timed ? show_results(self, report_file) : show_checks(report_file);
    if (shown != CLI_OK) return shown;
  }
  *ended_early = false;
  return worst;
}

int rehearse_session(const rehearsal *how, const assay_practice *practice) {
  session self = {.how = how, .practice = practice};
  char name[64];
  snprintf(name, sizeof name, "practice-%s", practice->name);
  if (!rehearse_folder(name, self.folder)) return CLI_FAILED;
  print_head(&self);
  if (practice->prediction != NULL && times_something(practice) && !ask_prediction(&self)) {
    puts("\nstopped before anything was timed");
    return CLI_FAILED;
  }
  bool ended_early;
  int code = run_steps(&self, &ended_early);
  if (ended_early) {
    output_error("the session ended early: a run ended with exit code %d", code);
    return code != CLI_OK ? code : CLI_FAILED;
  }
  if (practice->by_hand != NULL) puts("\nBy hand:");
  for (int i = 0; practice->by_hand != NULL && practice->by_hand[i] != NULL; i++)
    printf("  %s\n", practice->by_hand[i]);
  printf("\nExplain aloud: %s\n", practice->question);
  if (self.missing > 0) {
    printf("missing: %d of %d runs could not be done here, see \"left out\" above\n", self.missing,
           practice->step_count);
    if (code == CLI_OK) code = CLI_UNAVAILABLE;
  }
  return code;
}
