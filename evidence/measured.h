/* SPDX-License-Identifier: MIT */
/* measured.h - from a measurement to its report, and from the report of an interrupted one back to what is
 * left to do. */
#ifndef ASSAY_MEASURED_H
#define ASSAY_MEASURED_H

#include "bench/bench.h"
#include "predict.h"
#include "report.h"

/* What a report says besides the measurement. */
typedef struct measured_context {
  const char *created; /* UTC */
  const char *const *command;
  int command_count;
  const prediction *declared; /* NULL: none */
  double load;                /* average load before the run */
  const char *only_baseline;  /* NULL: candidates are compared with every baseline */
} measured_context;

/* A new report of what there is so far; NULL without memory. */
report *measured_report(const bench_run *run, const measured_context *context);

/* Takes the samples of `from` over into the run, whose cases and variants are set up. False with a sentence
 * when the report is of something else: another protocol, seed, mode, machine, case or source. */
bool measured_resume(const report *from, bench_run *run, assay_message *why);

#endif
