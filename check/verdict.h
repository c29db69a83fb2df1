/* SPDX-License-Identifier: MIT */
/* verdict.h - the seven words a check can end with, and what a run of checks adds up to. */
#ifndef ASSAY_VERDICT_H
#define ASSAY_VERDICT_H

#include "op.h"

typedef enum verdict {
  VERDICT_PASS = 0,
  VERDICT_FAIL,        /* wrong result, or source that does not compile */
  VERDICT_TODO,        /* the exercise is not written yet */
  VERDICT_UNAVAILABLE, /* this machine cannot run it */
  VERDICT_SUSPECT,     /* right values, but something was done that a kernel has no business to do */
  VERDICT_CRASH,       /* a signal, an exit, or too much memory */
  VERDICT_TIMEOUT,
  VERDICT_COUNT
} verdict;

/* "PASS", "FAIL" and so on. */
const char *verdict_name(verdict value);

/* One check of one target. The strings are owned by the engine and valid during the sink's call only. */
typedef struct check_result {
  const char *workshop; /* the exercise's or operator's name */
  const char *backend;  /* "cpu" */
  const char *variant;  /* "yours", "solution", a variant of the library, or a built-in must-fail kernel */
  const char *check;    /* "build" when the source does not compile or load */
  const char *stage;
  const char *catches;
  verdict verdict;
  const char *reason; /* one line; empty for PASS */
  const char
      *detail; /* several lines: case, element, expected, got, ..., ends with a newline; may be empty */
  const char *repeat; /* the command that repeats a failure; empty for PASS */
  int cases;          /* how many were run */
  double seconds;
} check_result;

/* What a whole run adds up to; `failed` includes CRASH, TIMEOUT and SUSPECT. */
typedef struct check_totals {
  int passed;
  int failed;
  int unfinished;
  int unavailable;
  int not_run; /* behind the first failing stage */
} check_totals;

void check_totals_add(check_totals *totals, verdict value);

/* 1 when anything failed, else 2 when anything is unfinished, else 3 when nothing passed or
 * `asked_unavailable` (something asked for by name cannot run here), else 0. */
int check_exit_code(const check_totals *totals, bool asked_unavailable);

#endif
