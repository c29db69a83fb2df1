/* SPDX-License-Identifier: MIT */
/* sanitize.h - all small cases of a subject on the emulator, watched by its tools: what they found, and what
 * was counted. */
#ifndef ASSAY_SANITIZE_H
#define ASSAY_SANITIZE_H

#include "emulator_watch.h"
#include "engine.h"

enum { SANITIZE_FINDINGS = 64, SANITIZE_FAILURES = 8, SANITIZE_TOOLS = 4 };

typedef struct sanitize_job {
  const check_target *target; /* a .cu file or a variant, on the emulator */
  uint32_t tools;             /* of ASSAY_TOOLS_ALL, at least one */
  uint64_t seed;
  double seconds; /* limit of a call, 0: the usual one */
  const assay_row
      *row; /* this one case, with the type and layout below; NULL: all rows of all small checks */
  assay_dtype dtype;
  int layout;
  bool speed; /* measure how fast the largest case runs, with and without each tool */
} sanitize_job;

typedef struct sanitize_finding {
  assay_finding found; /* `times`: in all cases */
  int cases;           /* in how many */
  char where[200];     /* the first of them: shapes and layout */
} sanitize_finding;

/* A call that ended badly without a finding of the tools: a crash, a time limit, another rule of the
 * emulator. */
typedef struct sanitize_failure {
  verdict verdict;
  char reason[512];
  char where[200];
  int cases;
} sanitize_failure;

/* Seconds that the launches of one case took at best, on one thread. */
typedef struct sanitize_speed {
  char where[200];
  int64_t steps;               /* of all threads */
  double plain;                /* without any tool */
  double with[SANITIZE_TOOLS]; /* the tool of bit i */
  double with_all;
} sanitize_speed;

typedef struct sanitize_result {
  verdict verdict; /* PASS: all cases ran, however they ended; TODO, UNAVAILABLE, or FAIL of the build */
  bool refused;    /* the one case is not valid for this subject */
  char reason[1024];
  int cases, not_run;
  sanitize_finding findings[SANITIZE_FINDINGS];
  int finding_count;
  sanitize_failure failures[SANITIZE_FAILURES];
  int failure_count;
  assay_counts all, in[ASSAY_MAX_OPERANDS], out[ASSAY_MAX_OPERANDS];
  int64_t in_bytes[ASSAY_MAX_OPERANDS];  /* to be read at least, in all cases, */
  int64_t out_bytes[ASSAY_MAX_OPERANDS]; /* and to be written; of a workspace 0 */
  sanitize_speed speed;                  /* steps 0: not measured */
} sanitize_result;

/* Called before each case. */
typedef void sanitize_progress(void *user, int done, int all);

void sanitize_run(const sanitize_job *job, sanitize_progress *progress, void *user, sanitize_result *result);

#endif
