/* SPDX-License-Identifier: MIT */
/* check_report.h - what a run of checks shows: lines of text as they come, or one JSON object at the end. */
#ifndef ASSAY_CLI_CHECK_REPORT_H
#define ASSAY_CLI_CHECK_REPORT_H

#include <jansson.h>

#include "check/engine.h"
#include "exercise.h"
#include "output.h"

typedef struct check_report {
  output out;
  bool json;
  bool failures_only; /* checks that pass are counted and not shown */
  json_t *files;      /* of {workshop, backend, variant, path, sha256} */
  json_t *checks;     /* of {workshop, backend, variant, check, verdict, reason, ...} */
  check_totals totals;
  int failures_shown;               /* the first one is shown whole */
  char next[ASSAY_PATH_SIZE + 256]; /* what to do now; empty when there is nothing to say */

  /* Of the current target. */
  const char *name;
  int expected; /* how many checks there will be, at most */
  int seen;
  int passed;
  int name_width;
  char unfinished_stage[64]; /* the last stage whose TODO line is printed */
} check_report;

void check_report_begin(check_report *report, output_colour colour, bool json);
void check_report_free(check_report *report);

/* A source file that is about to be judged: its line, and its entry in `files`. `note` may be empty. */
void check_report_file(check_report *report, const assay_exercise *exercise, const char *backend,
                       const char *variant, const char *path, const char *sha256, const char *note);

/* Another target begins. `heading` is printed, unless it is NULL. */
void check_report_target(check_report *report, const assay_subject *subject, assay_scope scope,
                         assay_backend backend, assay_tier tier, const char *heading);

/* A check_sink; `user` is the report. It does not touch the totals. */
void check_report_result(void *user, const check_result *result);

/* A result that the engine does not give: something is not there to be checked. Adds to the totals. */
void check_report_missing(check_report *report, const check_result *result);

/* Failures once more, what to do now, the line of totals; or the JSON object. */
void check_report_end(check_report *report, uint64_t seed, assay_tier tier);

#endif
