/* SPDX-License-Identifier: MIT */
/* check_source.c - what `assay check` judges: source files, each on its backend, and the library's variants.
 */
#include "check_job.h"
#include "core/hash.h"
#include "progress.h"
#include "suggest.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- source files -------------------------------------------------------------------------------------- */

/* The first advice stays: it belongs to the first exercise that needs work. */
static void advise(check_job *job, const assay_exercise *exercise, assay_backend backend, const char *file,
                   const check_totals *before) {
  char *next = job->report.next;
  const size_t size = sizeof job->report.next;
  const check_totals *now = &job->report.totals;
  if (next[0] != '\0') return;
  if (now->failed > before->failed) {
    snprintf(next, size, "mend %s (" PROGRAM " hint %s helps), then " PROGRAM " check %s", file,
             exercise->name, exercise->name);
  } else if (now->unfinished > before->unfinished) {
    snprintf(next, size, "edit %s, then " PROGRAM " check %s", file, exercise->name);
  } else if (now->passed > before->passed && job->args->name_count == 1 && !check_given(job, CHECK_FILTER)) {
    char name[128], path[ASSAY_PATH_SIZE];
    exercise_file_name(exercise, "solution", backend, name);
    exercise_shown_path(exercise, name, path);
    const bool last = exercise == &assay_exercises[assay_exercise_count - 1];
    snprintf(next, size, "compare your kernel with a solution written to be read: %s%s%s", path,
             last ? "" : "; then " PROGRAM " start ", last ? "" : exercise[1].name);
  }
}

static void add_not_started(check_job *job, const assay_exercise *exercise, assay_backend backend) {
  char reason[128];
  snprintf(reason, sizeof reason, "not started: " PROGRAM " start %s", exercise->name);
  check_add_missing(job, exercise, backend, "yours", "start", VERDICT_TODO, reason);
  if (job->report.next[0] != '\0') return;
  snprintf(job->report.next, sizeof job->report.next, PROGRAM " start %s", exercise->name);
}

/* The first check from entry `first` of the report on that did not pass; NULL when all did. */
static const char *first_open(const check_job *job, size_t first) {
  for (size_t i = first; i < json_array_size(job->report.checks); i++) {
    const json_t *entry = json_array_get(job->report.checks, i);
    const char *word = json_string_value(json_object_get(entry, "verdict"));
    if (strcmp(word, verdict_name(VERDICT_PASS)) == 0) continue;
    if (strcmp(word, verdict_name(VERDICT_UNAVAILABLE)) == 0) continue;
    return json_string_value(json_object_get(entry, "check"));
  }
  return NULL;
}

/* Only a run of all checks of the usual size says something about an exercise. */
static void note_progress(const check_job *job, const assay_exercise *exercise, assay_backend backend,
                          const char *sha256, const check_totals *before, size_t first) {
  const check_totals *now = &job->report.totals;
  const check_totals run = {.passed = now->passed - before->passed,
                            .failed = now->failed - before->failed,
                            .unfinished = now->unfinished - before->unfinished};
  const bool small = backend != ASSAY_SIMT && job->options.tier < ASSAY_TIER_M;
  if (check_given(job, CHECK_FILTER) || small || check_interrupted()) return;
  if (run.passed + run.failed + run.unfinished == 0) return;
  progress_note_check(exercise, backend, sha256, &run, first_open(job, first));
}

/* Judges `file`, which messages call `shown`. CLI_OK, or an exit code after an error message. */
static int check_source(check_job *job, const assay_exercise *exercise, assay_backend backend,
                        const char *file, const char *shown) {
  const bool solution = check_given(job, CHECK_SOLUTION);
  const char *label = solution ? "solution" : "yours";
  char sha256[ASSAY_HASH_TEXT];
  if (!assay_hash_file(file, sha256)) {
    output_error("cannot read %s: %s", shown, strerror(errno));
    return CLI_FAILED;
  }
  char note[128];
  snprintf(note, sizeof note, "%s%s", solution ? "  (reference solution, not your work)" : "",
           backend == ASSAY_SIMT   ? check_given(job, CHECK_TIER)
                                         ? "  (emulated on the CPU: simt)"
                                         : "  (emulated on the CPU: simt, small checks only)"
           : backend == ASSAY_CUDA ? "  (on the GPU: cuda)"
                                   : "");
  check_report_file(&job->report, exercise, cli_backend_names[backend], label, shown, sha256, note);
  char repeat[512];
  check_format_repeat(job, exercise, NULL, repeat);
  const check_target target = {.kind = TARGET_OBJECT,
                               .subject = exercise->subject,
                               .op = exercise->op,
                               .source = file,
                               .label = label,
                               .repeat_command = repeat,
                               .backend = backend};
  const check_totals before = job->report.totals;
  const size_t first = json_array_size(job->report.checks);
  check_target_run(job, &target, NULL);
  if (solution) return CLI_OK;
  advise(job, exercise, backend, shown, &before);
  note_progress(job, exercise, backend, sha256, &before, first);
  return CLI_OK;
}

static int check_solution(check_job *job, const assay_exercise *exercise, assay_backend backend) {
  char name[128], shown[ASSAY_PATH_SIZE], file[ASSAY_PATH_SIZE];
  exercise_file_name(exercise, "solution", backend, name);
  exercise_shown_path(exercise, name, shown);
  if (!exercise_full_path(exercise, name, file)) return CLI_FAILED;
  return check_source(job, exercise, backend, file, shown);
}

static int check_own(check_job *job, const assay_exercise *exercise, assay_backend backend) {
  char shown[ASSAY_PATH_SIZE], file[PATH_MAX];
  work_file(exercise, backend, shown);
  if (!assay_file_exists(shown)) {
    add_not_started(job, exercise, backend);
    return CLI_OK;
  }
  if (realpath(shown, file) == NULL) {
    output_error("cannot read %s: %s", shown, strerror(errno));
    return CLI_FAILED;
  }
  return check_source(job, exercise, backend, file, shown);
}

/* Whether the learner has a file for the backend. */
static bool has_own(const assay_exercise *exercise, assay_backend backend) {
  char path[ASSAY_PATH_SIZE];
  work_file(exercise, backend, path);
  return assay_file_exists(path);
}

/* The backends of a run: the one that is asked for, else the CPU, and the GPU or what stands in for it. A
 * learner's run takes those that have a file; when none has, the one to begin with. */
static bool is_chosen(const check_job *job, const assay_exercise *exercise, assay_backend backend) {
  const cli_value *chosen = &job->args->values[CHECK_BACKEND];
  if (chosen->given) return chosen->choice == (int)backend;
  if (!exercise_has(exercise, backend)) return false;
  if (backend != ASSAY_CPU && backend != default_gpu()) return false;
  if (check_given(job, CHECK_SOLUTION) || has_own(exercise, backend)) return true;
  if (has_own(exercise, ASSAY_CPU) || has_own(exercise, ASSAY_CUDA)) return false;
  return (backend == ASSAY_CPU) == (exercise_first_backend(exercise) == ASSAY_CPU);
}

int check_files(check_job *job, const assay_exercise *exercise) {
  const bool solution = check_given(job, CHECK_SOLUTION);
  int code = CLI_OK;
  for (int i = 0; cli_backend_names[i] != NULL && code == CLI_OK && !check_interrupted(); i++) {
    const assay_backend backend = (assay_backend)i;
    if (!is_chosen(job, exercise, backend)) continue;
    const char *missing = exercise_has(exercise, backend)
                              ? backend_missing(backend)
                              : "the exercise does not exist for this backend yet";
    if (missing == NULL) {
      code = solution ? check_solution(job, exercise, backend) : check_own(job, exercise, backend);
    } else {
      check_add_missing(job, exercise, backend, solution ? "solution" : "yours", "backend",
                        VERDICT_UNAVAILABLE, missing);
      job->asked_unavailable = true;
    }
  }
  return code;
}

/* ---- variants of the library --------------------------------------------------------------------------- */

/* `backend`: the variant's, or the emulator for a variant of the CUDA backend. */
static int check_variant(check_job *job, const assay_exercise *exercise, int index, assay_backend backend) {
  const assay_variant *variant = &exercise->op->variants[index];
  assay_message why = {""};
  const char *missing = backend_missing(backend);
  if (missing != NULL) (void)assay_explain(&why, ASSAY_UNAVAILABLE, "%s", missing);
  /* Whether a GPU fits is found out by the worker: this process never opens one. */
  if (missing != NULL || (backend == ASSAY_CPU && !assay_variant_runs_here(variant, &why))) {
    check_add_missing(job, exercise, backend, variant->name, "variant", VERDICT_UNAVAILABLE, why.text);
    if (check_given(job, CHECK_VARIANT) || check_given(job, CHECK_BACKEND)) job->asked_unavailable = true;
    return CLI_OK;
  }
  char repeat[512], heading[128];
  check_format_repeat(job, exercise, variant->name, repeat);
  snprintf(heading, sizeof heading, "checking libassay, variant %s%s", variant->name,
           backend == ASSAY_SIMT ? ", emulated" : "");
  const check_target target = {.kind = TARGET_LIBRARY,
                               .subject = &exercise->op->subject,
                               .op = exercise->op,
                               .index = index,
                               .label = variant->name,
                               .repeat_command = repeat,
                               .backend = backend};
  check_target_run(job, &target, heading);
  return CLI_OK;
}

/* Whether the operator has the variant that --variant names; an error message when not. */
bool check_variant_is_known(const assay_operator *op, const char *name) {
  if (assay_variant_find(op, name) != NULL) return true;
  suggestion near;
  suggest_begin(&near, name);
  for (int i = 0; i < op->variant_count; i++) suggest_try(&near, op->variants[i].name);
  const char *best = suggest_best(&near);
  if (best != NULL) {
    output_error("%s has no variant \"%.60s\": did you mean %s?", op->subject.name, name, best);
  } else {
    output_error("%s has no variant \"%.60s\": " PROGRAM " list shows them", op->subject.name, name);
  }
  return false;
}

int check_library(check_job *job, const assay_exercise *exercise) {
  const cli_value *backend = &job->args->values[CHECK_BACKEND];
  const char *name = job->args->values[CHECK_VARIANT].text;
  const int count = exercise->op == NULL ? 0 : exercise->op->variant_count;
  int found = 0;
  int code = CLI_OK;
  for (int i = 0; i < count && code == CLI_OK && !check_interrupted(); i++) {
    const assay_variant *variant = &exercise->op->variants[i];
    assay_backend where = variant->backend == ASSAY_CPU ? ASSAY_CPU : default_gpu();
    if (backend->given) where = (assay_backend)backend->choice;
    if (!assay_variant_serves(variant, where)) continue;
    if (name != NULL && strcmp(variant->name, name) != 0) continue;
    found++;
    code = check_variant(job, exercise, i, where);
  }
  if (found == 0 && !check_interrupted()) {
    const char *reason = exercise->op == NULL ? "the exercise is no operator of the library"
                                              : "the library has no such variant for this backend";
    check_add_missing(job, exercise, backend->given ? (assay_backend)backend->choice : ASSAY_CPU,
                      name == NULL ? "library" : name, "backend", VERDICT_UNAVAILABLE, reason);
    job->asked_unavailable = true;
  }
  return code;
}
