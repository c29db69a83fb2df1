/* SPDX-License-Identifier: MIT */
/*
 * progress.h - work/progress.json: what a learner has passed, which hints were read, whether the solution
 * was.
 *
 * The file is the learner's, not a version's: fields that this program does not know are kept, and a file
 * that cannot be read is set aside under another name. Nothing here can make a command fail; what could not
 * be kept is said in one line.
 *
 *   {"version": 1, "exercises": {NAME: {
 *     "lesson": DATE, "hints": LEVEL, "solution_shown": DATE,
 *     "passed":  {BACKEND: {"first": DATE, "date": DATE, "sha256": HASH, "hints": LEVEL, "solution_shown":
 * BOOL}}, "checked": {BACKEND: {"date": DATE, "sha256": HASH, "state": "passed|failed|unfinished", "check":
 * NAME}}}}}
 */
#ifndef ASSAY_CLI_PROGRESS_H
#define ASSAY_CLI_PROGRESS_H

#include <jansson.h>

#include "check/verdict.h"
#include "exercise.h"

typedef struct progress {
  json_t *root; /* never NULL */
  char path[ASSAY_PATH_SIZE];
  int lock;    /* descriptor of the locked folder, -1: none */
  bool frozen; /* a damaged file is still in its place: it must not be overwritten */
} progress;

/* Reads the file; an empty progress when there is none. */
void progress_read(progress *state);
void progress_free(progress *state);

/* Of one exercise. The texts belong to the progress; "" where there is nothing. */
typedef struct progress_view {
  int hints;          /* the highest level read, 0: none */
  const char *lesson; /* the date */
  const char *shown;  /* the date when the solution was printed on request before a pass */
  const char *passed; /* the date of the last pass on any backend */
  const char *sha256; /* of the file that passed then */
} progress_view;

progress_view progress_of(const progress *state, const assay_exercise *exercise);

/* What the last check said of a file with this hash, on any backend: "passed", "failed", "unfinished"; ""
 * when it was not checked in this form. `check` is the first check that did not pass, may be "". */
const char *progress_verdict(const progress *state, const assay_exercise *exercise, const char *sha256,
                             const char **check);

/* Each notes one event in the file. A hint's level only ever rises. */
void progress_note_lesson(const assay_exercise *exercise);
void progress_note_hint(const assay_exercise *exercise, int level);
void progress_note_solution(const assay_exercise *exercise);

/* A run of all checks on the learner's file: how its results add up, and the first that did not pass (NULL:
 * all did). */
void progress_note_check(const assay_exercise *exercise, assay_backend backend, const char *sha256,
                         const check_totals *totals, const char *check);

#endif
