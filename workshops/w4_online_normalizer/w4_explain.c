/* SPDX-License-Identifier: MIT */
/* w4_explain.c - two chunks become two states, and the states one; the whole row says the same. */
#include <math.h>

#include "workshops/beginner.h"
#include "workshops/walkthroughs.h"

enum { MOST = 64 };

static void write_state(FILE *out, const char *label, assay_walk_state state) {
  const double pair[2] = {state.maximum, state.sum};
  assay_walk_line(out, label, pair, 2);
}

static bool write_steps(const double *values, int count, FILE *out, assay_message *why) {
  const int total = count - 1;
  if (!assay_beginner_whole(values[0], 0, total)) {
    return assay_walk_refuse(
        why, "the first value is the size of the first chunk, a whole number from 0 to %d, not %g", total,
        values[0]);
  }
  const int size = (int)values[0];
  const assay_walk_state left = assay_walk_state_of(values + 1, size);
  const assay_walk_state right = assay_walk_state_of(values + 1 + size, total - size);
  assay_walk_line(out, "chunk a", values + 1, size);
  write_state(out, "(m, s) of a", left);
  assay_walk_line(out, "chunk b", values + 1 + size, total - size);
  write_state(out, "(m, s) of b", right);
  if (left.maximum == right.maximum) {
    fputs("the maxima are equal: the sums are added, and no exponential is computed\n", out);
  } else {
    const bool is_left = left.maximum > right.maximum;
    const assay_walk_state low = is_left ? right : left;
    const double high = is_left ? left.maximum : right.maximum;
    fprintf(out, "the maximum of %s is the smaller: its sum is multiplied by exp(%g - %g) = %g\n",
            is_left ? "b" : "a", low.maximum, high, exp(low.maximum - high));
  }
  write_state(out, "merged", assay_walk_merge(left, right));
  write_state(out, "of the whole", assay_walk_state_of(values + 1, total));
  return true;
}

static const double example[] = {3, 1, 3, 2, 5, 4};

const assay_walkthrough assay_online_normalizer_walkthrough = {
    .values = "the size of the first chunk, then the elements of both",
    .least = 1,
    .most = 1 + MOST,
    .example = example,
    .example_count = (int)(sizeof example / sizeof example[0]),
    .write = write_steps,
};
