/* SPDX-License-Identifier: MIT */
/* trace.h - one call of an emulated kernel in a worker, and the steps of one of its blocks. */
#ifndef ASSAY_TRACE_H
#define ASSAY_TRACE_H

#include "engine.h"
#include "worker_trace.h"

typedef struct trace_job {
  const check_target *target; /* a .cu file on the emulator */
  assay_row row;              /* sizes, options, and how the inputs are filled */
  assay_dtype dtype;
  int layout;
  uint64_t seed; /* of the inputs */
  uint32_t block;
  uint32_t steps; /* how many are kept, TRACE_STEPS_MOST at most */
} trace_job;

typedef struct trace_result {
  bool refused;      /* the operands are not valid for this subject: `reason` says why */
  verdict verdict;   /* PASS: the call returned; whether its results are right is not looked at */
  char reason[1024]; /* "" for PASS */
  char shape[512];   /* of the inputs */
  trace_page *page;  /* counts that are in range, texts that end; NULL when no kernel was called */
} trace_result;

/* To be freed with trace_free in every case. */
void trace_run(const trace_job *job, trace_result *result);
void trace_free(trace_result *result);

/* The row, with its first type and layout, of the subject's first check on the emulator whose sizes are all
 * above 1; false when there is none. */
bool trace_default(const assay_subject *subject, assay_row *row, assay_dtype *dtype, int *layout);

#endif
