/* SPDX-License-Identifier: MIT */
/* b2_explain.c - the levels of the tree over numbers of the learner's own, beside one running sum. */
#include "workshops/beginner.h"

enum { MOST_VALUES = 64 };

static bool write_steps(const double *values, int count, FILE *out, assay_message *why) {
  (void)why; /* any numbers will do */
  double level[MOST_VALUES];
  int width = 1;
  int levels = 0;
  while (width < count) width *= 2, levels++;
  for (int i = 0; i < width; i++) level[i] = i < count ? (float)values[i] : 0;
  fprintf(out, "%d element%s, padded with the identity 0 to %d: ", count, count == 1 ? "" : "s", width);
  assay_beginner_list(out, level, width);
  fputc('\n', out);
  for (int half = width / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; i++) level[i] = (float)level[i] + (float)level[i + half];
    fprintf(out, "element i + element i + %d: ", half);
    assay_beginner_list(out, level, half);
    fputc('\n', out);
  }
  float running = 0;
  for (int i = 0; i < count; i++) running += (float)values[i];
  fprintf(out, "the tree gives %.9g after %d level%s; one running FP32 sum gives %.9g after %d addition%s\n",
          level[0], levels, levels == 1 ? "" : "s", (double)running, count, count == 1 ? "" : "s");
  return true;
}

static const double example[] = {3, 1, 4, 1, 5};

const assay_walkthrough assay_reduction_walkthrough = {
    .values = "the elements of a row, which are added up",
    .least = 1,
    .most = MOST_VALUES,
    .example = example,
    .example_count = (int)(sizeof example / sizeof example[0]),
    .write = write_steps,
};
