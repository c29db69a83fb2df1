/* SPDX-License-Identifier: MIT */
/*
 * verify.h - is a report what it says? Valid: its hashes match the kept sources or the tree, and everything
 * in it that follows from the raw samples was worked out again. Current: its hashes match the tree.
 */
#ifndef ASSAY_VERIFY_H
#define ASSAY_VERIFY_H

#include <stdbool.h>

#include "status.h"

typedef struct verify_finding {
  const char *path; /* of the field: "cases[0].variants[1].statistics.median_ns"; empty for the whole file */
  int line;         /* in the file, from 1 */
  const char *text; /* one sentence */
} verify_finding;

/* Called once a finding, in the order of the file's fields. The strings live during the call only. */
typedef void verify_sink(void *user, const verify_finding *finding);

typedef struct verify_outcome {
  int findings;      /* none: the report is valid */
  bool current;      /* every source of it is in the tree as it was */
  char changed[256]; /* the first source that is not; empty when there is none */
} verify_outcome;

typedef enum verify_depth {
  VERIFY_NUMBERS, /* what the file holds, without the sources: for the report of an edited kernel nobody kept
                   */
  VERIFY_ALL
} verify_depth;

/* False with a sentence when the file cannot be read; what is wrong inside it is a finding. */
bool verify_file(const char *path, verify_depth depth, verify_sink *sink, void *user, verify_outcome *outcome,
                 assay_message *why);

/* The same, and only whether: false with the first finding in `why`. */
bool verify_quietly(const char *path, verify_depth depth, verify_outcome *outcome, assay_message *why);

#endif
