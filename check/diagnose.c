/* SPDX-License-Identifier: MIT */
/* diagnose.c - what wrong elements have in common: the sentence that saves the learner an hour. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "buffer.h"
#include "compare.h"
#include "half.h"

/* Counted over the wrong elements. */
typedef struct evidence {
  int64_t nan;
  int64_t infinite;
  int64_t zero;
  int64_t unwritten; /* still hold the poison */
  int64_t rows;      /* that have a wrong element */
  int64_t full_rows; /* all of whose elements are wrong */
  int64_t first_row, last_row;
  int64_t first_column, last_column;
  int64_t missing_nan; /* NaN was wanted, something else came */
  bool scaled;         /* in every wrong row got/want is one number */
} evidence;

static double got_at(const comparison *what, int64_t i) {
  return assay_get(what->got, what->dtype, i);
}

static bool wrong_at(const comparison *what, int64_t i) {
  return !compare_element(what->dtype, got_at(what, i), what->want[i], what->allowed[i]);
}

static void count_element(const comparison *what, int64_t i, evidence *seen) {
  const double got = got_at(what, i);
  if (isnan(got)) seen->nan++;
  if (isinf(got)) seen->infinite++;
  if (got == 0) seen->zero++;
  if (isnan(what->want[i])) seen->missing_nan++;
  if (assay_encode(what->dtype, got) == assay_poison_bits(what->dtype, i, what->poison)) seen->unwritten++;
}

/* Whether got = factor * want across the row, within 2 %, with a factor that differs from 1 by more than
 * that. */
static bool row_is_scaled(const comparison *what, int64_t row) {
  const double tiny = 1e-6;
  double factor = 0;
  int64_t compared = 0;
  for (int64_t c = 0; c < what->columns; c++) {
    const int64_t i = row * what->columns + c;
    const double got = got_at(what, i);
    if (!isfinite(got) || !isfinite(what->want[i])) return false;
    if (fabs(what->want[i]) < tiny) { /* too coarse for a ratio in FP16 */
      if (fabs(got) > 1000 * tiny) return false;
      continue;
    }
    const double here = got / what->want[i];
    if (compared++ == 0) factor = here;
    if (!(fabs(here - factor) <= 0.02 * fabs(factor))) return false;
  }
  return compared > 1 && fabs(factor - 1) > 0.02;
}

static void collect(const comparison *what, evidence *seen) {
  *seen =
      (evidence){.first_row = -1, .first_column = INT64_MAX, .last_column = -1, .scaled = what->columns > 2};
  for (int64_t row = 0; row < what->count / what->columns; row++) {
    int64_t wrong = 0;
    for (int64_t c = 0; c < what->columns; c++) {
      const int64_t i = row * what->columns + c;
      if (!wrong_at(what, i)) continue;
      wrong++;
      count_element(what, i, seen);
      if (c < seen->first_column) seen->first_column = c;
      if (c > seen->last_column) seen->last_column = c;
    }
    if (wrong == 0) continue;
    if (seen->first_row < 0) seen->first_row = row;
    seen->last_row = row;
    seen->rows++;
    if (wrong == what->columns) seen->full_rows++;
    if (seen->scaled && !row_is_scaled(what, row)) seen->scaled = false;
  }
}

void compare_diagnose(const comparison *what, const comparison_result *result, char *text, size_t size) {
  text[0] = '\0';
  if (result->wrong == 0 || what->columns < 1 || what->count % what->columns != 0) return;
  evidence seen;
  collect(what, &seen);
  const int64_t wrong = result->wrong;
  const int64_t all_rows = what->count / what->columns;
  int used = 0;
  const char *kind = seen.unwritten == wrong     ? "never written"
                     : seen.missing_nan == wrong ? "finite where NaN is right"
                     : seen.nan == wrong         ? "NaN"
                     : seen.infinite == wrong    ? "infinite"
                     : seen.zero == wrong        ? "zero"
                     : seen.scaled               ? "off by one factor a row: is the sum right?"
                                                 : NULL;
  if (kind != NULL) used = snprintf(text, size, "all of them %s", kind);
  const char *joint = used > 0 ? "; " : "";
  if (used < 0 || (size_t)used >= size) return;
  char *rest = text + used;
  const size_t left = size - (size_t)used;
  if (wrong == what->count) {
    if (used == 0) snprintf(rest, left, "every element is wrong");
  } else if (seen.full_rows == seen.rows && seen.rows == 1) {
    snprintf(rest, left, "%sonly row %lld, and all of it", joint, (long long)seen.first_row);
  } else if (seen.full_rows == seen.rows && seen.last_row == all_rows - 1 &&
             seen.rows == all_rows - seen.first_row) {
    snprintf(rest, left, "%sall rows from %lld on", joint, (long long)seen.first_row);
  } else if (seen.full_rows == seen.rows) {
    snprintf(rest, left, "%swhole rows: %lld of %lld", joint, (long long)seen.rows, (long long)all_rows);
  } else if (seen.first_column == seen.last_column) {
    snprintf(rest, left, "%sonly in column %lld", joint, (long long)seen.first_column);
  } else if (seen.last_column == what->columns - 1 && seen.first_column > 0 &&
             wrong == seen.rows * (what->columns - seen.first_column)) {
    snprintf(rest, left, "%sin columns %lld to the end: the tail of the row?", joint,
             (long long)seen.first_column);
  } else if (seen.rows == 1) {
    snprintf(rest, left, "%sonly in row %lld", joint, (long long)seen.first_row);
  }
}
