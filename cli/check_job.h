/* SPDX-License-Identifier: MIT */
/* check_job.h - one run of `assay check`, and what its files share: options, targets, exercises. */
#ifndef ASSAY_CLI_CHECK_JOB_H
#define ASSAY_CLI_CHECK_JOB_H

#include <regex.h>

#include "check_report.h"
#include "cli.h"
#include "exercise.h"

/* The options, by their place in the table. */
enum {
  CHECK_SOLUTION = 0,
  CHECK_LIBRARY,
  CHECK_BACKEND,
  CHECK_VARIANT,
  CHECK_FILTER,
  CHECK_SEED,
  CHECK_TIER,
  CHECK_TIMEOUT,
  CHECK_THREADS,
  CHECK_LEVEL,
  CHECK_ALL,
  CHECK_FAILURES,
  CHECK_JSON,
  CHECK_COLOUR,
  CHECK_OPTIONS
};

/* One run of the command. */
typedef struct check_job {
  const cli_args *args;
  check_options options;
  check_report report;
  regex_t filter; /* compiled when --filter is given */
  bool asked_unavailable;
  int targets_run;         /* that had a check to run */
  assay_message unmatched; /* why the last target without one had none; "" when all had */
} check_job;

static inline bool check_given(const check_job *job, int option) {
  return job->args->values[option].given;
}

/* The start of a repeat command: what is judged, and the options that change how. The engine adds check, tier
 * and seed. */
void check_format_repeat(const check_job *job, const assay_exercise *exercise, const char *variant,
                         char text[512]);

/* Runs the checks on a target, those that the filter matches. */
void check_target_run(check_job *job, const check_target *target, const char *heading);

/* A result for what is not there to be judged. */
void check_add_missing(check_job *job, const assay_exercise *exercise, assay_backend backend,
                       const char *variant, const char *check, verdict value, const char *reason);

/* The learner's files, or with --solution the reference's, on the backends of the run. CLI_OK, or an exit
 * code after an error message; so with the library's variants. */
int check_files(check_job *job, const assay_exercise *exercise);
int check_library(check_job *job, const assay_exercise *exercise);

/* Whether the operator has the variant that --variant names; an error message when not. */
bool check_variant_is_known(const assay_operator *op, const char *name);

#endif
