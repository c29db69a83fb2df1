/* SPDX-License-Identifier: MIT */
/*
 * split_softmax_oracle.c - the softmax of every row in FP64, and the error that a variant may have.
 *
 * Written for reading; shares no code with any variant, and knows nothing of chunks: they may not be seen in
 * the result. The bound is derived in this folder's README.
 */
#include <math.h>

#include "half.h"
#include "split_softmax.h"

/* Adds a term to a running sum and keeps what the addition rounded away (Neumaier 1974). */
static void add(double *sum, double *lost, double term) {
  const double total = *sum + term;
  const bool sum_is_larger = fabs(*sum) >= fabs(term);
  *lost += sum_is_larger ? (*sum - total) + term : (term - total) + *sum;
  *sum = total;
}

/* The largest entry; NaN when any entry is NaN. */
static double maximum(const double *x, int64_t columns) {
  double largest = -INFINITY;
  for (int64_t c = 0; c < columns; c++) {
    if (isnan(x[c])) return NAN;
    if (x[c] > largest) largest = x[c];
  }
  return largest;
}

/* Absolute error of one element that lies `below` the maximum and whose result is y. */
static double allowed_error(assay_dtype dtype, int64_t columns, double below, double y) {
  const double u = 0x1p-24;
  const double n = (double)columns;
  if (isnan(y) || y == 0) return 0; /* NaN is judged by class; exp(-inf) is an exact zero */
  const double relative = (8.0 + fmin(n, 1024.0) + n / 32.0) * u + below * u;
  /* exp(x - m) may itself be a subnormal FP32 number, rounded to one more step of 2^-149. */
  const double intermediate = y < 0x1p-125 ? 0x1p-149 : 0;
  return y * relative + assay_rounding_error(dtype, y) + intermediate;
}

/* One row: y[c] = exp(x[c] - m) / sum(exp(x - m)). `y` holds the row's x on entry. */
static void softmax_row(assay_dtype dtype, int64_t columns, double *y, double *allowed) {
  const double m = maximum(y, columns);
  double sum = 0;
  double lost = 0;
  for (int64_t c = 0; c < columns; c++) {
    allowed[c] = m - y[c];
    y[c] = exp(y[c] - m); /* -inf - -inf, inf - inf and anything with NaN are NaN, as the contract wants */
    add(&sum, &lost, y[c]);
  }
  if (isfinite(lost)) sum += lost;
  for (int64_t c = 0; c < columns; c++) {
    y[c] /= sum;
    allowed[c] = allowed_error(dtype, columns, allowed[c], y[c]);
  }
}

void assay_split_softmax_oracle(int entry, const assay_tensor *in, const assay_tensor *out,
                                const int64_t *opt, int64_t first, int64_t count, double *want,
                                double *allowed) {
  (void)entry, (void)opt;
  const assay_tensor *x = &in[ASSAY_SPLIT_SOFTMAX_X];
  const int64_t columns = x->shape[1];
  for (int64_t i = 0; i < count * columns; i++) want[i] = assay_get(x->data, x->dtype, first * columns + i);
  for (int64_t r = 0; r < count; r++) {
    softmax_row(out[ASSAY_SPLIT_SOFTMAX_Y].dtype, columns, want + r * columns, allowed + r * columns);
  }
}
