/* SPDX-License-Identifier: MIT */
/* sanitize_report.h - what the tools of the emulator found and counted, as text or as JSON. */
#ifndef ASSAY_CLI_SANITIZE_REPORT_H
#define ASSAY_CLI_SANITIZE_REPORT_H

#include <jansson.h>

#include "check/sanitize.h"
#include "output.h"

typedef struct sanitize_report {
  output out;
  bool json;
  uint32_t tools;
  json_t *targets;
  check_totals totals;           /* of targets */
  int findings, failures, cases; /* of all targets */
} sanitize_report;

/* What is watched, for its first line and the JSON. */
typedef struct sanitize_subject {
  const char *workshop, *variant;
  const char *path, *sha256; /* NULL: a variant of the library */
} sanitize_subject;

void sanitize_report_begin(sanitize_report *report, output_colour colour, bool json, uint32_t tools);
void sanitize_report_free(sanitize_report *report);

/* The line that says what is watched. */
void sanitize_report_start(const sanitize_report *report, const sanitize_subject *subject);

void sanitize_report_result(sanitize_report *report, const sanitize_subject *subject, const sanitize_job *job,
                            const sanitize_result *result);

/* What is not there to be watched. */
void sanitize_report_missing(sanitize_report *report, const sanitize_subject *subject, verdict value,
                             const char *reason);

/* The last line, or the JSON object. */
void sanitize_report_end(sanitize_report *report, uint64_t seed);

/* "memory, race": the tools by name. */
void sanitize_tool_names(uint32_t tools, char *text, size_t size);

#endif
