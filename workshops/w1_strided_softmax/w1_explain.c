/* SPDX-License-Identifier: MIT */
/* w1_explain.c - the softmax of one row of a view: where its elements are, and m, exp, s and y. */
#include <math.h>

#include "workshops/beginner.h"
#include "workshops/walkthroughs.h"

enum { MOST = 64 };

static bool write_steps(const double *values, int count, FILE *out, assay_message *why) {
  double index[MOST];
  double x[MOST];
  double term[MOST];
  double y[MOST];
  const int stored = count - 1;
  if (!assay_beginner_whole(values[0], 0, MOST)) {
    return assay_walk_refuse(why, "the first value is the column stride, a whole number from 0 to %d, not %g",
                             MOST, values[0]);
  }
  const int stride = (int)values[0];
  /* As many columns as the storage holds; a stride of 0 repeats the first element four times. */
  const int columns = stride == 0 ? 4 : (stored + stride - 1) / stride;
  for (int c = 0; c < columns; c++) {
    index[c] = c * stride;
    x[c] = values[1 + c * stride];
  }
  const assay_walk_state state = assay_walk_state_of(x, columns);
  for (int c = 0; c < columns; c++) {
    term[c] = exp(x[c] - state.maximum);
    y[c] = term[c] / state.sum;
  }
  assay_walk_line(out, "storage", values + 1, stored);
  assay_walk_line(out, "index", index, columns);
  assay_walk_line(out, "x", x, columns);
  assay_walk_value(out, "m", state.maximum);
  assay_walk_line(out, "exp(x - m)", term, columns);
  assay_walk_value(out, "s", state.sum);
  assay_walk_line(out, "y", y, columns);
  return true;
}

static const double example[] = {2, 1, 4, 3, 4, 0, 2};

const assay_walkthrough assay_strided_softmax_walkthrough = {
    .values = "the column stride, then the storage of one row",
    .least = 2,
    .most = 1 + MOST,
    .example = example,
    .example_count = (int)(sizeof example / sizeof example[0]),
    .write = write_steps,
};
