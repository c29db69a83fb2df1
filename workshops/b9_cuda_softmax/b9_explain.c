/* SPDX-License-Identifier: MIT */
/* b9_explain.c - a row in a block of four threads, in two warps of two: small enough to be seen whole. */
#include <math.h>
#include <stdio.h>

#include "workshops/walkthroughs.h"

enum { MOST = 64, THREADS = 4, WARP = 2, WARPS = THREADS / WARP };

/* What each thread holds: of its columns the maximum, or with `shift` the sum of exp(x - shift). */
static void walk(const double *x, int columns, const double *shift, double *thread) {
  for (int t = 0; t < THREADS; t++) {
    thread[t] = shift == NULL ? -INFINITY : 0;
    for (int c = t; c < columns; c += THREADS) {
      thread[t] = shift == NULL ? fmax(thread[t], x[c]) : thread[t] + exp(x[c] - *shift);
    }
  }
}

static double join(double left, double right, bool maximum) {
  return maximum ? fmax(left, right) : left + right;
}

/* The reduction, level by level; the result. */
static double reduce(FILE *out, const double *thread, bool maximum) {
  double part[WARPS];
  for (int w = 0; w < WARPS; w++) part[w] = join(thread[WARP * w], thread[WARP * w + 1], maximum);
  assay_walk_line(out, maximum ? "thread max" : "thread sum", thread, THREADS);
  assay_walk_line(out, maximum ? "part_max" : "part_sum", part, WARPS);
  const double result = join(part[0], part[1], maximum);
  assay_walk_value(out, maximum ? "m" : "s", result);
  return result;
}

static bool write_steps(const double *x, int columns, FILE *out, assay_message *why) {
  (void)why;
  double thread[THREADS];
  double y[MOST];
  fprintf(out, "a block of %d threads in %d warps of %d: thread t owns columns t, t + %d and so on\n",
          THREADS, WARPS, WARP, THREADS);
  assay_walk_line(out, "x", x, columns);
  walk(x, columns, NULL, thread);
  const double m = reduce(out, thread, true);
  walk(x, columns, &m, thread);
  const double s = reduce(out, thread, false);
  for (int c = 0; c < columns; c++) y[c] = exp(x[c] - m) / s;
  assay_walk_line(out, "y", y, columns);
  return true;
}

static const double example[] = {0, 1, 2};

const assay_walkthrough assay_cuda_softmax_walkthrough = {
    .values = "the elements of one row",
    .least = 1,
    .most = MOST,
    .example = example,
    .example_count = (int)(sizeof example / sizeof example[0]),
    .write = write_steps,
};
