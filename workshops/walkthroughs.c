/* SPDX-License-Identifier: MIT */
/* walkthroughs.c - what worked examples have in common: lines of numbers, and states of the normaliser. */
#include "walkthroughs.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "beginner.h"

enum { LABEL = 14 }; /* columns of a label with its colon */

assay_walk_state assay_walk_state_of(const double *values, int count) {
  assay_walk_state state = {-INFINITY, 0};
  for (int i = 0; i < count; i++) state.maximum = fmax(state.maximum, values[i]);
  for (int i = 0; i < count; i++) state.sum += exp(values[i] - state.maximum);
  return state;
}

assay_walk_state assay_walk_merge(assay_walk_state left, assay_walk_state right) {
  if (left.maximum == right.maximum) return (assay_walk_state){left.maximum, left.sum + right.sum};
  const assay_walk_state high = left.maximum > right.maximum ? left : right;
  const assay_walk_state low = left.maximum > right.maximum ? right : left;
  return (assay_walk_state){high.maximum, high.sum + low.sum * exp(low.maximum - high.maximum)};
}

static void write_label(FILE *out, const char *label) {
  fprintf(out, "%s:%*s", label, (int)(strlen(label) + 1 < LABEL ? LABEL - strlen(label) - 1 : 1), "");
}

void assay_walk_line(FILE *out, const char *label, const double *values, int count) {
  write_label(out, label);
  assay_beginner_list(out, values, count);
  fputc('\n', out);
}

void assay_walk_value(FILE *out, const char *label, double value) {
  assay_walk_line(out, label, &value, 1);
}

bool assay_walk_refuse(assay_message *why, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(why->text, sizeof why->text, format, args);
  va_end(args);
  return false;
}
