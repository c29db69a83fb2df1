/* SPDX-License-Identifier: MIT */
/*
 * b3_solution.c - softmax: the reference solution, written to be read.
 *
 * Three passes over a row: no term is known before the maximum, no result before the sum.
 */
#include "assay/workshop.h"

ASSAY_API assay_kernel softmax;

assay_status softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                     assay_queue *queue) {
  const float *x = in[0].data;
  float *y = out[0].data;
  const int64_t rows = in[0].shape[0];
  const int64_t columns = in[0].shape[1];
  (void)opt, (void)queue;

  for (int64_t r = 0; r < rows; r++) {
    const float *row = x + r * columns;
    float *result = y + r * columns;

    /* The comparison passes over a NaN; the exponential below does not, and the sum hands it to the whole
     * row. */
    float maximum = -INFINITY;
    for (int64_t c = 0; c < columns; c++) {
      if (row[c] > maximum) maximum = row[c];
    }

    /* No exponent is above 0, and one is 0: the sum is at least 1. The output keeps the terms meanwhile. */
    float sum = 0;
    for (int64_t c = 0; c < columns; c++) {
      result[c] = expf(row[c] - maximum);
      sum += result[c];
    }

    for (int64_t c = 0; c < columns; c++) result[c] /= sum;
  }
  return ASSAY_OK;
}
