/* SPDX-License-Identifier: MIT */
/* trace_report.h - the steps of a trace in print, each with its line of the source. */
#ifndef ASSAY_CLI_TRACE_REPORT_H
#define ASSAY_CLI_TRACE_REPORT_H

#include "check/trace.h"

typedef struct trace_report {
  const char *shown;  /* how the file is called */
  const char *sha256; /* of its text */
  char *text;         /* the source, its line ends replaced by NUL */
  const char **lines;
  int line_count;
} trace_report;

/* Reads the source; false with errno set. Close it in any case. */
bool trace_report_open(trace_report *report, const char *file);
void trace_report_close(trace_report *report);

/* Whether a launch had the block that was asked for; `blocks` is the size of the largest grid. Without any
 * launch there is nothing to miss: true. */
bool trace_block_exists(const trace_result *result, uint64_t *blocks);

void trace_report_print(const trace_report *report, const trace_job *job, const trace_result *result,
                        bool json);

#endif
