/* SPDX-License-Identifier: MIT */
/* b3_explain.c - maximum, exponentials, sum and results for a row of the learner's own, beside the textbook's
 * formula. */
#include <math.h>

#include "workshops/beginner.h"

enum { MOST_VALUES = 64 };

static bool write_steps(const double *values, int count, FILE *out, assay_message *why) {
  (void)why; /* any numbers will do */
  double term[MOST_VALUES];
  double maximum = -INFINITY;
  double sum = 0;
  float naive = 0;
  for (int i = 0; i < count; i++) {
    if (values[i] > maximum) maximum = values[i];
    naive += expf((float)values[i]);
  }
  fputs("x = ", out);
  assay_beginner_list(out, values, count);
  fputs("\nmaximum = ", out);
  assay_beginner_list(out, &maximum, 1);
  for (int i = 0; i < count; i++) {
    term[i] = exp(values[i] - maximum);
    sum += term[i];
  }
  fputs("\nexp(x - maximum) = ", out);
  assay_beginner_list(out, term, count);
  fputs("\ntheir sum = ", out);
  assay_beginner_list(out, &sum, 1);
  for (int i = 0; i < count; i++) term[i] /= sum;
  fputs("\ny = ", out);
  assay_beginner_list(out, term, count);
  for (int i = 0; i < count; i++) term[i] = (double)(expf((float)values[i]) / naive);
  fputs("\nwithout the maximum, FP32 gives ", out);
  assay_beginner_list(out, term, count);
  fputc('\n', out);
  return true;
}

static const double example[] = {1, 3, 2};

const assay_walkthrough assay_softmax_walkthrough = {
    .values = "the elements of a row",
    .least = 1,
    .most = MOST_VALUES,
    .example = example,
    .example_count = (int)(sizeof example / sizeof example[0]),
    .write = write_steps,
};
