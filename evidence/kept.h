/* SPDX-License-Identifier: MIT */
/* kept.h - copies of the sources that ran, by their SHA-256, so that a report outlives the next edit. */
#ifndef ASSAY_KEPT_H
#define ASSAY_KEPT_H

#include <stdbool.h>
#include <stddef.h>

#include "file.h"
#include "hash.h"
#include "report.h"
#include "status.h"

/* A copy of the source with this hash, where one may be: sources/ beside the report or one folder up, or
 * results/sources/ of the tree. Whether its content still has the hash is for the caller to find out. */
bool kept_find(const char *report_file, const char *sha256, char path[ASSAY_PATH_SIZE]);

/* The path of the source where it stands now, in the tree, else as it was given, and its hash. False when it
 * cannot be read. */
bool kept_source_now(const char *source, char path[ASSAY_PATH_SIZE], char sha256[ASSAY_HASH_TEXT]);

/* Whether an earlier place of the report, before source `s` of variant `v` of case `c`, has the same path and
 * hash: variants share headers. */
bool kept_seen_before(const report *from, int64_t c, int64_t v, const report_source *source);

typedef struct kept_outcome {
  char folder[ASSAY_PATH_SIZE]; /* where new copies go */
  int sources;                  /* different ones of the report, each with a copy now */
  int copied;                   /* of them, copied by this call */
} kept_outcome;

/*
 * Gives every source of the report a copy: in results/sources/ of the tree for a report under results/ of the
 * tree, else in sources/ beside the report. Copies that are there are checked against their hash and stay.
 * False with a sentence when a source is not there as it ran and no copy of it is, or when a copy cannot be
 * written; in the first case nothing was written.
 */
bool kept_make(const report *from, const char *report_file, kept_outcome *outcome, assay_message *why);

#endif
