/* SPDX-License-Identifier: MIT */
/*
 * softmax_oracle.c - the definition of strided softmax in FP64, and the error that a variant may have.
 *
 * Written for reading; shares no code with any variant. The bound is derived in this folder's README.
 */
#include <math.h>

#include "half.h"
#include "softmax.h"
#include "tensor.h"

/* A running sum with the rounding error of each addition carried along (Neumaier 1974). */
typedef struct compensated_sum {
  double sum;
  double error;
} compensated_sum;

static void add(compensated_sum *total, double term) {
  const double sum = total->sum + term;
  const double lost = fabs(total->sum) >= fabs(term) ? (total->sum - sum) + term : (term - sum) + total->sum;
  total->sum = sum;
  total->error += lost;
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

/* Relative error of one element before its own rounding, for a distance `below` from the maximum. */
static double relative_bound(int64_t columns, double below) {
  const double u = 0x1p-24;
  const double n = (double)columns;
  return (8.0 + fmin(n, 1024.0) + n / 32.0) * u + below * u;
}

static double allowed_error(assay_dtype dtype, int64_t columns, double below, double y) {
  if (isnan(y) || y == 0) return 0; /* NaN is judged by class; exp(-inf) is an exact zero */
  /* exp(x - max) may itself be a subnormal FP32 number, rounded to one more step of 2^-149. */
  const double intermediate = y < 0x1p-125 ? 0x1p-149 : 0;
  return y * relative_bound(columns, below) + assay_rounding_error(dtype, y) + intermediate;
}

/* One row: y[c] = exp(x[c] - m) / sum(exp(x - m)). `y` holds the row's x on entry. */
static void softmax_row(assay_dtype dtype, int64_t columns, double *y, double *allowed) {
  const double m = maximum(y, columns);
  for (int64_t c = 0; c < columns; c++) allowed[c] = y[c] == -INFINITY ? 0 : m - y[c];
  compensated_sum total = {0, 0};
  for (int64_t c = 0; c < columns; c++) {
    y[c] = exp(y[c] - m); /* -inf - -inf, inf - inf and anything with NaN are NaN, as the contract wants */
    add(&total, y[c]);
  }
  const double sum = isfinite(total.error) ? total.sum + total.error : total.sum;
  for (int64_t c = 0; c < columns; c++) {
    y[c] /= sum;
    allowed[c] = allowed_error(dtype, columns, allowed[c], y[c]);
  }
}

void assay_softmax_oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                          int64_t first, int64_t count, double *want, double *allowed) {
  (void)entry, (void)opt;
  const assay_tensor *x = &in[ASSAY_STRIDED_SOFTMAX_X];
  const int64_t columns = x->shape[1];
  for (int64_t r = 0; r < count; r++) {
    double *y = want + r * columns;
    for (int64_t c = 0; c < columns; c++) {
      y[c] = assay_get(x->data, x->dtype, (first + r) * x->stride[0] + c * x->stride[1]);
    }
    softmax_row(out[ASSAY_STRIDED_SOFTMAX_Y].dtype, columns, y, allowed + r * columns);
  }
}
