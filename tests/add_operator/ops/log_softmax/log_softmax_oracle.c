/* SPDX-License-Identifier: MIT */
/*
 * log_softmax_oracle.c - the definition of log-softmax in FP64, and the error that a variant may have.
 *
 * Written for reading; shares no code with any variant. The bound is derived in this folder's README.
 */
#include <math.h>

#include "half.h"
#include "log_softmax.h"

/* The largest entry; NaN when any entry is NaN. */
static double maximum(const double *x, int64_t columns) {
  double largest = -INFINITY;
  for (int64_t c = 0; c < columns; c++) {
    if (isnan(x[c])) return NAN;
    if (x[c] > largest) largest = x[c];
  }
  return largest;
}

static double allowed_error(assay_dtype dtype, int64_t columns, double below, double log_sum, double y) {
  if (!isfinite(y)) return 0; /* NaN is judged by class, and -inf is exact */
  const double u = 0x1p-24;
  const double n = (double)columns;
  return (4 + fmin(n, 1024) + n / 32 + below + 2 * log_sum + fabs(y)) * u + assay_rounding_error(dtype, y);
}

/* One row; `y` holds the row's x on entry. */
static void log_softmax_row(assay_dtype dtype, int64_t columns, double *y, double *allowed) {
  const double m = maximum(y, columns);
  double sum = 0;
  /* -inf - -inf, inf - inf and anything with NaN are NaN, as the contract wants. */
  for (int64_t c = 0; c < columns; c++) sum += exp(y[c] - m);
  const double log_sum = log(sum);
  for (int64_t c = 0; c < columns; c++) {
    const double below = m - y[c];
    y[c] = y[c] - m - log_sum;
    allowed[c] = allowed_error(dtype, columns, below, log_sum, y[c]);
  }
}

void assay_log_softmax_oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                              int64_t first, int64_t count, double *want, double *allowed) {
  (void)entry, (void)opt;
  const assay_tensor *x = &in[0];
  const int64_t columns = x->shape[1];
  for (int64_t r = 0; r < count; r++) {
    double *y = want + r * columns;
    for (int64_t c = 0; c < columns; c++) {
      y[c] = assay_get(x->data, x->dtype, (first + r) * x->stride[0] + c * x->stride[1]);
    }
    log_softmax_row(out[0].dtype, columns, y, allowed + r * columns);
  }
}
