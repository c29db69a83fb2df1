/* SPDX-License-Identifier: MIT */
/* w5_explain.c - a row in chunks: the three launches partials, merge, normalise. */
#include <math.h>
#include <stdio.h>

#include "workshops/beginner.h"
#include "workshops/walkthroughs.h"

enum { MOST = 64 };

static bool write_steps(const double *values, int count, FILE *out, assay_message *why) {
  double y[MOST];
  const double *x = values + 1;
  const int columns = count - 1;
  if (!assay_beginner_whole(values[0], 1, MOST)) {
    return assay_walk_refuse(why, "the first value is the chunk, a whole number from 1 to %d, not %g", MOST,
                             values[0]);
  }
  const int chunk = (int)values[0];
  assay_walk_state whole = {-INFINITY, 0};
  fputs("launch 1, partials: the maximum and the sum of exponentials of each chunk\n", out);
  for (int first = 0; first < columns; first += chunk) {
    const int size = columns - first < chunk ? columns - first : chunk;
    const assay_walk_state state = assay_walk_state_of(x + first, size);
    const double pair[2] = {state.maximum, state.sum};
    char label[32];
    snprintf(label, sizeof label, "  x[%d..%d]", first, first + size - 1);
    assay_walk_line(out, label, x + first, size);
    assay_walk_line(out, "  (m, s)", pair, 2);
    whole = assay_walk_merge(whole, state);
  }
  fputs("launch 2, merge: every sum is scaled to the largest maximum\n", out);
  const double pair[2] = {whole.maximum, whole.sum};
  assay_walk_line(out, "  (m, s)", pair, 2);
  fputs("launch 3, normalise: exp(x - m) / s\n", out);
  for (int c = 0; c < columns; c++) y[c] = exp(x[c] - whole.maximum) / whole.sum;
  assay_walk_line(out, "  y", y, columns);
  return true;
}

static const double example[] = {3, 1, 3, 2, 5, 4, 0, 1};

const assay_walkthrough assay_split_softmax_walkthrough = {
    .values = "the chunk, then the elements of one row",
    .least = 2,
    .most = 1 + MOST,
    .example = example,
    .example_count = (int)(sizeof example / sizeof example[0]),
    .write = write_steps,
};
