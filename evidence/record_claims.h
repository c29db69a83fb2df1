/* SPDX-License-Identifier: MIT */
/* record_claims.h - what a sentence that a person wrote claims about a report. */
#ifndef ASSAY_RECORD_CLAIMS_H
#define ASSAY_RECORD_CLAIMS_H

#include "report.h"

/* Called once a problem of the sentence. */
typedef void record_problem(void *user, const char *text);

/*
 * Holds one line of prose against the report (NULL: there is none): ratios need both names and must be in it,
 * "faster" needs two variants and their verdict, a time must be a median, modes and cache states must not
 * meet. `tentative` lines (questions, hypotheses, plans) may say what is faster; their numbers are checked
 * all the same.
 */
void record_check_line(const report *from, const char *line, bool tentative, record_problem *problem,
                       void *user);

#endif
