/* SPDX-License-Identifier: MIT */
/* w3_explain.c - one tile of two rows and two columns: an outer product a step of K, then bias and relu. */
#include <math.h>
#include <stdio.h>

#include "workshops/walkthroughs.h"

enum { MOST_STEPS = 8 };

static bool write_steps(const double *values, int count, FILE *out, assay_message *why) {
  double tile[4] = {0, 0, 0, 0};
  const int steps = (count - 2) / 4;
  if ((count - 2) % 4 != 0) {
    return assay_walk_refuse(why, "a tile of 2 by 2 with K steps needs 4 * K + 2 values, and %d are none",
                             count);
  }
  const double *a = values;
  const double *b = values + 2 * steps;
  const double *bias = values + 4 * steps;
  fprintf(out, "a tile of 2 rows and 2 columns, row by row; K = %d\n", steps);
  for (int k = 0; k < steps; k++) {
    char label[32];
    const double column[2] = {a[k], a[steps + k]};
    for (int i = 0; i < 4; i++) tile[i] += column[i / 2] * b[2 * k + i % 2];
    snprintf(label, sizeof label, "A[:,%d]", k);
    assay_walk_line(out, label, column, 2);
    snprintf(label, sizeof label, "B[%d,:]", k);
    assay_walk_line(out, label, &b[2 * k], 2);
    assay_walk_line(out, "accumulator", tile, 4);
  }
  for (int i = 0; i < 4; i++) tile[i] += bias[i % 2];
  assay_walk_line(out, "+ bias", tile, 4);
  for (int i = 0; i < 4; i++) {
    if (tile[i] < 0) tile[i] = 0; /* NaN stays NaN */
  }
  assay_walk_line(out, "relu", tile, 4);
  fputs("rounded to FP16 or BF16 once, here, and nowhere before\n", out);
  return true;
}

static const double example[] = {1, 2, 3, 4, 1, -1, 2, 0, 0, 5};

const assay_walkthrough assay_fused_gemm_walkthrough = {
    .values = "A of 2 rows and K columns, B of K rows and 2 columns, then 2 of bias",
    .least = 6,
    .most = 4 * MOST_STEPS + 2,
    .example = example,
    .example_count = (int)(sizeof example / sizeof example[0]),
    .write = write_steps,
};
