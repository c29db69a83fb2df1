/* SPDX-License-Identifier: MIT */
/* judge.h - one check on one target: the probe's functions, and what they have found out so far. */
#ifndef ASSAY_JUDGE_H
#define ASSAY_JUDGE_H

#include "case.h"
#include "engine.h"
#include "probe.h"
#include "session.h"
#include "worker_watch.h"

enum { JUDGE_CASES = 32, JUDGE_REASON = 512, JUDGE_DETAIL = 2048 };

typedef struct judge {
  assay_probe probe; /* first: checks get a pointer to it */
  const check_target *target;
  const check_options *options;
  load_request load; /* how a fresh worker gets the kernel */
  session worker;
  int session_number; /* counts workers, so that a case knows whether it is mapped */
  int slots;          /* used by the current case */
  assay_placement placement;
  assay_case *cases[JUDGE_CASES];
  int case_count;
  uint64_t poison;
  double oracle_seconds; /* of the current case, for the time limit */

  /* What watches emulated kernels. */
  assay_buffer watch_buffer; /* shared with the worker, fd -1: not needed yet */
  int watch_session;         /* the worker that has it, 0: none */
  bool timed;                /* the page is wanted for plain calls too */
  watch_page watched;        /* a copy of what it held after the last request */

  /* The check's verdict; reset by judge_begin_check. */
  verdict verdict;
  char reason[JUDGE_REASON];
  char detail[JUDGE_DETAIL];
  int cases_run;
} judge;

void judge_init(judge *self, const check_target *target, const check_options *options, const char *object);
void judge_close(judge *self);

/* Starts a worker if none lives. False: `verdict` and `reason` say why. */
bool judge_ensure_worker(judge *self);

/* Runs all cases of a check until one does not pass. */
void judge_check(judge *self, const assay_check *check);

/* The probe as it is at the beginning of a case: seeds, type, layout. */
void judge_begin_case(judge *self, const assay_check *check, int row, int dtype, int layout);

/* Sets the verdict unless there is one that is not PASS; always returns false. */
bool judge_end(judge *self, verdict value, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Before and after a request whose kernels tools may watch (judge_watch.c). */
bool judge_watch_begin(judge *self);
void judge_watch_end(judge *self);

/* The table behind probe.h. */
extern const assay_probe_calls judge_probe_calls;

/* Expected values of a case: computed from what its inputs hold now; to be freed with judge_expected_free. */
typedef struct judge_expected {
  double *want;
  double *allowed;
  int64_t count;
  int64_t columns;
} judge_expected;
bool judge_expect_begin(judge *self, const assay_case *operands, judge_expected *expected);
bool judge_expect_proof(judge *self, const assay_case *operands, const judge_expected *expected,
                        bool degenerate);
bool judge_expect_compare(judge *self, const assay_case *operands, const judge_expected *expected);
void judge_expected_free(judge_expected *expected);

/* How long the next request may take. */
double judge_seconds(const judge *self, const assay_case *operands);

#endif
