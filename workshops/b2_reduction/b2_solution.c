/* SPDX-License-Identifier: MIT */
/*
 * b2_solution.c - reduction: the reference solution, written to be read.
 *
 * The upper half of a level is folded onto the lower half until one element is left, as the threads of a
 * GPU's block do it.
 */
#include "assay/workshop.h"

ASSAY_API assay_kernel reduction;

enum { SUM = 0, MAXIMUM = 1 };

static float combine(int64_t operation, float left, float right) {
  if (operation == SUM) return left + right;
  /* A comparison with a NaN is false: `left` has to be asked, and a NaN on the right is given as it is. */
  return left > right || isnan(left) ? left : right;
}

assay_status reduction(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                       assay_queue *queue) {
  const float *x = in[0].data;
  float *y = out[0].data;
  const int64_t rows = in[0].shape[0];
  const int64_t columns = in[0].shape[1];
  const int64_t operation = opt[0];

  int64_t width = 1;
  while (width < columns) width *= 2;
  float *level = assay_queue_scratch(queue, (size_t)width * sizeof(float));
  if (level == NULL) return ASSAY_NO_MEMORY;

  /* What changes nothing when it is combined with anything: no element is smaller than -inf. */
  const float identity = operation == SUM ? 0.0f : -INFINITY;
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t i = 0; i < width; i++) level[i] = i < columns ? x[r * columns + i] : identity;
    for (int64_t half = width / 2; half > 0; half /= 2) {
      for (int64_t i = 0; i < half; i++) level[i] = combine(operation, level[i], level[i + half]);
    }
    y[r] = level[0];
  }
  return ASSAY_OK;
}
