/* SPDX-License-Identifier: MIT */
/* b4_explain.c - squares, mean, root and results for a row of the learner's own, with one rounding and with
 * two. */
#include <math.h>

#include "half.h"
#include "workshops/beginner.h"

enum { MOST_VALUES = 64 };
static const double weight = 1.75; /* a BF16 number that lets the example show what two roundings do */

static bool write_steps(const double *values, int count, FILE *out, assay_message *why) {
  (void)why; /* any numbers will do */
  double list[MOST_VALUES];
  double squares = 0;
  for (int i = 0; i < count; i++) {
    list[i] = values[i] * values[i];
    squares += list[i];
  }
  const double mean = squares / count;
  const double root = sqrt(mean + 1e-5);
  fputs("h = ", out);
  assay_beginner_list(out, values, count);
  fputs("\nsquares = ", out);
  assay_beginner_list(out, list, count);
  fprintf(out, "\ntheir mean = %g / %d = %g\nroot = sqrt(%g + 0.00001) = %g\n", squares, count, mean, mean,
          root);
  for (int i = 0; i < count; i++) list[i] = values[i] / root;
  fputs("h / root = ", out);
  assay_beginner_list(out, list, count);
  for (int i = 0; i < count; i++) list[i] = assay_round_to(ASSAY_BF16, values[i] / root * weight);
  fputs("\ntimes a weight of 1.75, rounded once to BF16: ", out);
  assay_beginner_list(out, list, count);
  for (int i = 0; i < count; i++)
    list[i] = assay_round_to(ASSAY_BF16, assay_round_to(ASSAY_BF16, values[i] / root) * weight);
  fputs("\nthe same with h / root rounded to BF16 before: ", out);
  assay_beginner_list(out, list, count);
  fputc('\n', out);
  return true;
}

static const double example[] = {3, 4};

const assay_walkthrough assay_rmsnorm_walkthrough = {
    .values = "the elements of h = x + residual in one row",
    .least = 1,
    .most = MOST_VALUES,
    .example = example,
    .example_count = (int)(sizeof example / sizeof example[0]),
    .write = write_steps,
};
