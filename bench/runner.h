/* SPDX-License-Identifier: MIT */
/* runner.h - what the parts of a measurement share: the worker of the moment and the case whose operands it
 * has. */
#ifndef ASSAY_RUNNER_H
#define ASSAY_RUNNER_H

#include "bench.h"
#include "check/session.h"
#include "gate.h"

enum { RUNNER_LOADS = 64 };

typedef struct runner {
  bench_run *run;
  session worker; /* pid 0: none */
  bool loaded[RUNNER_LOADS];
  bool broken[RUNNER_LOADS]; /* cannot be loaded */
  bench_case *one;           /* the current case */
  assay_case *operands;
  bool mapped; /* in the current worker */
  gate gate;
  bool gate_ready;
  bool fresh;          /* the inputs are newer than the last request that was carried out */
  uint64_t seed;       /* of the current inputs */
  uint64_t poison;     /* of the next output */
  int64_t prepared_ns; /* what inputs and oracle will take in a process, from the first one's gates */
} runner;

/* One request: a variant's calls and what the judge's own clock says. False: the variant is out, and says
 * why, or the run was interrupted. */
bool runner_call(runner *self, bench_variant *variant, int64_t calls, int warmup, bool cold,
                 session_timing *timing);

/* The output of the last call against the oracle; false: the variant is out. */
bool runner_check(runner *self, bench_variant *variant);

/* A worker with all kernels that are still timed; false when none can be had, or interrupted. */
bool runner_ready(runner *self);

/* Takes the variant out, with the reason. Always false. */
bool runner_drop(bench_variant *variant, verdict value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

typedef enum runner_contents {
  RUNNER_NEW = 0,  /* from the seed: by the row's fill, or the elements of files in rotated order */
  RUNNER_AS_GIVEN, /* the same, but the elements of files as they stand */
  RUNNER_EXACT     /* those on which right kernels are exact */
} runner_contents;

/* New inputs; `sampled`: 64 rows of an output are compared, chosen when the first is there. False without
 * memory. */
bool runner_fill(runner *self, uint64_t seed, runner_contents contents, bool sampled);

#endif
