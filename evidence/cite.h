/* SPDX-License-Identifier: MIT */
/*
 * cite.h - numbers in documents that come from a report, held to it.
 *
 * A number is cited in front of itself, in a comment that a reader of the page does not see:
 *
 *     <!-- report: results/cpu/warm.json; OPERATOR; CASE; VARIANT; FIELD -->12.3
 *
 * The path is meant from the document's folder or from the source folder. CASE is what predict.h takes as a
 * shape. FIELD is "median us", "smallest us", "largest us", "percent of ceiling", "sm mhz" (the
 * median clock of a GPU), "ratio BASELINE" (the number is then written 1.64x), "verdict BASELINE" (a
 * verdict's words follow) or "comparison BASELINE" (both with the interval: 1.64x [1.60, 1.70] faster). As
 * many digits as are written must be right. A number whose report is not current is followed by " (not
 * current)".
 */
#ifndef ASSAY_CITE_H
#define ASSAY_CITE_H

#include <stdbool.h>

#include "status.h"

typedef void cite_sink(void *user, int line, const char *text);

typedef struct cite_outcome {
  int citations;
  int findings; /* numbers that no valid report holds */
  int labels;   /* labels that are missing or no longer right */
} cite_outcome;

/* Checks all citations of a document. Returns its text with every label as it must be, to be freed; NULL with
 * a sentence when it cannot be read. Wrong labels are told to the sink when `tell_labels`. */
char *cite_document(const char *path, bool tell_labels, cite_sink *sink, void *user, cite_outcome *outcome,
                    assay_message *why);

#endif
