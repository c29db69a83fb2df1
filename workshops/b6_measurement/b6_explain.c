/* SPDX-License-Identifier: MIT */
/* b6_explain.c - the steps from samples of the learner's own to median, speedup, rate and the share's limit.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workshops/beginner.h"

enum { MOST_SAMPLES = 32 };

static int ascending(const void *left, const void *right) {
  const double a = *(const double *)left;
  const double b = *(const double *)right;
  return a < b ? -1 : a > b ? 1 : 0;
}

/* Sorts, shows and reads off the middle. */
static double show_median(FILE *out, const char *name, const double *samples, int count) {
  double sorted[MOST_SAMPLES];
  memcpy(sorted, samples, sizeof *sorted * (size_t)count);
  qsort(sorted, (size_t)count, sizeof *sorted, ascending);
  const double median = count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
  double sum = 0;
  for (int i = 0; i < count; i++) sum += sorted[i];
  fprintf(out, "%s, sorted: ", name);
  assay_beginner_list(out, sorted, count);
  fprintf(out, " ns; median %g ns (the mean would be %g)\n", median, sum / count);
  return median;
}

static bool write_steps(const double *values, int count, FILE *out, assay_message *why) {
  const int each = (count - 1) / 2;
  if (count % 2 == 0) {
    (void)assay_explain(why, ASSAY_OK,
                        "behind the bytes stand as many samples before as after, and %d cannot be halved",
                        count - 1);
    return false;
  }
  for (int i = 0; i < count; i++) {
    if (isfinite(values[i]) && values[i] > 0) continue;
    (void)assay_explain(why, ASSAY_OK, "value %d is %g; bytes and times must be above 0", i + 1, values[i]);
    return false;
  }
  const double before = show_median(out, "before", values + 1, each);
  const double after = show_median(out, "after", values + 1 + each, each);
  const double speedup = before / after;
  fprintf(out, "speedup = %g / %g = %g\n", before, after, speedup);
  fprintf(out, "rate = %g bytes / %g ns = %g GB/s\n", values[0], after, values[0] / after);
  for (int percent = 10; percent <= 90; percent += 40) {
    const double share = percent / 100.0;
    fprintf(out,
            "if this part takes %d %% of a program, that becomes 1 / (%g + %g / %g) = %g times as fast\n",
            percent, 1 - share, share, speedup, 1 / (1 - share + share / speedup));
  }
  return true;
}

static const double example[] = {12000, 90, 300, 100, 110, 80, 50, 48, 52, 400, 51};

const assay_walkthrough assay_measurement_walkthrough = {
    .values = "the bytes of a call, then samples in ns, as many before as after",
    .least = 3,
    .most = 1 + 2 * MOST_SAMPLES,
    .example = example,
    .example_count = (int)(sizeof example / sizeof example[0]),
    .write = write_steps,
};
