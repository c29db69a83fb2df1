/* SPDX-License-Identifier: MIT */
/*
 * predict.h - a hypothesis that is written down before anything is timed, and bound to the report by its
 * hash.
 *
 * A prediction is one claim a line (or between semicolons):
 *
 *     [SHAPE:] VARIANT (<|>) FACTOR * VARIANT
 *
 * "256x257: avx512 < 0.5 * plain" claims that at 256x257 avx512 takes less than half the time of plain.
 * Without a shape the claim is about every shape of the report. Names may hold blanks ("solution chunk=256")
 * and may stand in double quotes.
 */
#ifndef ASSAY_PREDICT_H
#define ASSAY_PREDICT_H

#include <stdbool.h>

#include "hash.h"
#include "status.h"
#include "utc.h"

enum { PREDICTION_NAME = 80, PREDICTION_CLAIMS = 64 };

typedef struct prediction_claim {
  char shape[PREDICTION_NAME]; /* "256x257"; empty: every shape */
  char left[PREDICTION_NAME];
  char right[PREDICTION_NAME];
  bool below; /* time(left) < factor * time(right), else > */
  double factor;
} prediction_claim;

typedef struct prediction {
  char *text; /* as it was written, owned */
  char created[UTC_TEXT];
  char hash[ASSAY_HASH_TEXT]; /* of the date, a newline and the text */
  prediction_claim claims[PREDICTION_CLAIMS];
  int count;
} prediction;

/* Reads the claims in `text`. False with a sentence that says which claim is wrong and what would be right.
 */
bool prediction_parse(const char *text, prediction *result, assay_message *why);

/* What binds text and date together. */
void prediction_hash(const char *created, const char *text, char hash[ASSAY_HASH_TEXT]);

/* A new prediction, dated now; false when the text is no prediction. */
bool prediction_make(const char *text, prediction *result, assay_message *why);

/* A prediction file: JSON with format, created, text and hash. Saving never overwrites. Loading is strict and
 * fails when the hash does not belong to text and date. */
bool prediction_save(const prediction *value, const char *path, assay_message *why);
bool prediction_load(const char *path, prediction *result, assay_message *why);

void prediction_free(prediction *value);

#endif
