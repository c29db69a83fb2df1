/* SPDX-License-Identifier: MIT */
/* w2_explain.c - the gradient of one softmax row: y, y * g, their sum, and what reaches x. */
#include <math.h>

#include "workshops/walkthroughs.h"

enum { MOST = 32 };

static bool write_steps(const double *values, int count, FILE *out, assay_message *why) {
  double y[MOST];
  double product[MOST];
  double dx[MOST];
  const int n = count / 2;
  const double *g = values + n;
  if (count % 2 != 0) {
    return assay_walk_refuse(why, "x and g have the same number of elements, so %d values are one too many",
                             count);
  }
  const assay_walk_state state = assay_walk_state_of(values, n);
  double dot = 0;
  for (int c = 0; c < n; c++) {
    y[c] = exp(values[c] - state.maximum) / state.sum;
    product[c] = y[c] * g[c];
    dot += product[c];
  }
  double sum = 0;
  for (int c = 0; c < n; c++) {
    dx[c] = y[c] * (g[c] - dot);
    sum += dx[c];
  }
  assay_walk_line(out, "x", values, n);
  assay_walk_line(out, "y", y, n);
  assay_walk_line(out, "g", g, n);
  assay_walk_line(out, "y * g", product, n);
  assay_walk_value(out, "dot", dot);
  assay_walk_line(out, "dx", dx, n);
  fprintf(out, "the elements of dx add up to %.3g: adding one number to all of x changes no y\n", sum);
  return true;
}

static const double example[] = {0, 1, 2, 1, 0, 0};

const assay_walkthrough assay_softmax_backward_walkthrough = {
    .values = "the elements of x, then as many of g, the gradient that arrives at y",
    .least = 2,
    .most = 2 * MOST,
    .example = example,
    .example_count = (int)(sizeof example / sizeof example[0]),
    .write = write_steps,
};
