/* SPDX-License-Identifier: MIT */
/* verifier.h - what the parts of the verification share. */
#ifndef ASSAY_VERIFIER_H
#define ASSAY_VERIFIER_H

#include "report.h"
#include "verify.h"

enum { VERIFIER_PATH = 160 };

typedef struct verifier {
  const char *file;
  const char *text; /* of the file */
  const report *report;
  verify_sink *sink;
  void *user;
  verify_outcome *outcome;
} verifier;

/* A finding at `path`; the sentence is formatted. */
void verifier_find(verifier *self, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether a stored number is the one worked out again; both NaN counts as equal. */
bool verifier_same(double stored, double again);

/* Samples, statistics and comparisons of every case. */
void verifier_check_cases(verifier *self);

/* Sources of every variant: kept copies or the tree; sets `current` of the outcome. */
void verifier_check_sources(verifier *self, verify_depth depth);

#endif
