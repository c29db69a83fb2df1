/* SPDX-License-Identifier: MIT */
/* engine.h - runs a subject's checks on one target. */
#ifndef ASSAY_ENGINE_H
#define ASSAY_ENGINE_H

#include "ops/ops.h"
#include "verdict.h"
#include "workshops/workshops.h"

typedef enum target_kind {
  TARGET_OBJECT,    /* a learner's or a solution's source file, built to a shared object */
  TARGET_LIBRARY,   /* a variant of libassay */
  TARGET_MUST_FAIL, /* one of the built-in wrong kernels */
  TARGET_BASELINE   /* one of the operator's baselines, for timing only */
} target_kind;

typedef struct check_target {
  target_kind kind;
  const assay_subject *subject;
  const assay_operator *op;   /* NULL for an exercise that is no operator */
  const char *source;         /* TARGET_OBJECT: the .c file */
  const char *object;         /* TARGET_MUST_FAIL: the right kernel, built, where there is no operator */
  int index;                  /* TARGET_LIBRARY: of the variant; TARGET_MUST_FAIL: of the kernel */
  const char *label;          /* "yours", "solution" or the name of the variant or kernel */
  const char *repeat_command; /* "./assay check NAME --solution": the start of a repeat command */
  assay_backend backend;
} check_target;

typedef struct check_options {
  uint64_t seed;
  assay_tier tier;    /* highest tier that is run: ASSAY_TIER_M is the default */
  const char *filter; /* POSIX extended regular expression over check names, NULL for all */
  bool stop_early;    /* stop behind the first failing stage (a learner's run) */
  double seconds;     /* limit of a call; 0 is the larger of 10 s and 20 times the oracle */
  int threads;        /* 0: as assay_default_threads */
} check_options;

/* Called once a check, in order, from the thread that called check_run. */
typedef void check_sink(void *user, const check_result *result);

/* Runs the checks of the target's subject that apply to it and match the options. Returns false and explains
 * when the options are unusable (a filter that is no regular expression or that matches nothing). A build
 * failure or a missing compiler is one result named "build". Adds to `totals`. Interrupted (check_interrupt):
 * the rest is counted as not run. */
bool check_run(const check_target *target, const check_options *options, check_sink *sink, void *user,
               check_totals *totals, assay_message *why);

/* Safe in a signal handler: makes check_run stop after killing its worker. */
void check_interrupt(void);
bool check_interrupted(void);

/* How many checks of tiers up to `tier` apply to a target on the backend; what `list` shows. */
int check_count(const assay_subject *subject, assay_scope scope, assay_backend backend, assay_tier tier);

/* The main of the worker process: `assay --worker FD`, started only by the engine. */
int worker_main(int socket_fd);

#endif
