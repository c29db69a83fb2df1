/* SPDX-License-Identifier: MIT */
/*
 * record.h - the experiment record: fifteen fields, in Markdown, of which a report fills in what it knows.
 *
 * What only a person knows stays a marked blank. The check holds what the person wrote against the report
 * that the record names.
 */
#ifndef ASSAY_RECORD_H
#define ASSAY_RECORD_H

#include <stdbool.h>

#include "hash.h"
#include "report.h"
#include "status.h"

enum { RECORD_FIELDS = 15 };

/* The mark of a field that waits for a person. */
#define RECORD_BLANK "**(blank)**"

extern const char *const record_titles[RECORD_FIELDS];

/* The record of a report, which stands at `path` (as the record will say) and has this SHA-256; of no report
 * (NULL) the blank form. To be freed; NULL without memory. */
char *record_text(const report *from, const char *path, const char *sha256);

/* Marks the field as one that waits for a person, with what to write there. */
void record_blank(FILE *out, int field);

/* What `check --json` has answered, from a file; NULL when the file holds no such answer. */
json_t *record_load_checks(const char *path);

/* The record of an answer, as record_text: correctness in place of timing. To be freed. */
char *record_checks_text(const json_t *answer, const char *path, const char *sha256);

typedef struct record_finding {
  int line;
  const char *text;
} record_finding;

typedef void record_sink(void *user, const record_finding *finding);

/* Blanks, missing fields, rows that the report does not give, claims that it does not support. Returns how
 * many findings there are, -1 with a sentence when the file cannot be read. */
int record_check(const char *path, record_sink *sink, void *user, assay_message *why);

#endif
