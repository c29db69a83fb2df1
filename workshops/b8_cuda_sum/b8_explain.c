/* SPDX-License-Identifier: MIT */
/* b8_explain.c - the five steps in which a warp joins up to 32 numbers. */
#include <stdio.h>
#include <string.h>

#include "workshops/walkthroughs.h"

enum { LANES = 32, SHOWN = 8 };

static bool write_steps(const double *values, int count, FILE *out, assay_message *why) {
  (void)why;
  double lane[LANES] = {0};
  double plain = 0;
  memcpy(lane, values, (size_t)count * sizeof *values);
  for (int i = 0; i < count; i++) plain += values[i];
  fprintf(out,
          "a warp of %d lanes, of which %d have a number and the others hold 0; lanes 0 to %d are shown\n",
          LANES, count, SHOWN - 1);
  assay_walk_line(out, "before", lane, SHOWN);
  for (int distance = LANES / 2; distance > 0; distance /= 2) {
    double next[LANES];
    char label[32];
    for (int i = 0; i < LANES; i++) next[i] = lane[i] + lane[i ^ distance];
    memcpy(lane, next, sizeof lane);
    snprintf(label, sizeof label, "after xor %d", distance);
    assay_walk_line(out, label, lane, SHOWN);
  }
  assay_walk_value(out, "every lane", lane[0]);
  assay_walk_value(out, "one by one", plain);
  return true;
}

static const double example[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

const assay_walkthrough assay_cuda_sum_walkthrough = {
    .values = "the numbers that the lanes of a warp hold",
    .least = 1,
    .most = LANES,
    .example = example,
    .example_count = (int)(sizeof example / sizeof example[0]),
    .write = write_steps,
};
