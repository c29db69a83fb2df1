/* SPDX-License-Identifier: MIT */
/*
 * vjp_oracle.c - the definition of the softmax's backward pass in FP64, and the error that a variant may
 * have.
 *
 * Written for reading; shares no code with any variant. The bound is derived in this folder's README.
 */
#include <math.h>

#include "half.h"
#include "tensor.h"
#include "vjp.h"

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

/* An infinite term makes the error NaN; the plain sum is then what arithmetic says: an infinity or NaN. */
static double value_of(compensated_sum total) {
  return isfinite(total.error) ? total.sum + total.error : total.sum;
}

/* What a row's bound needs beside its own elements. */
typedef struct row_facts {
  double dot;       /* sum of y*g */
  double magnitude; /* sum of |y*g| */
  double tiny;      /* products that are subnormal in FP32: each may be off by a step of 2^-149 */
} row_facts;

static row_facts facts_of(const assay_tensor *y, const assay_tensor *g, int64_t row) {
  compensated_sum dot = {0, 0};
  compensated_sum magnitude = {0, 0};
  double tiny = 0;
  for (int64_t c = 0; c < y->shape[1]; c++) {
    const double product = assay_get(y->data, y->dtype, row * y->stride[0] + c * y->stride[1]) *
                           assay_get(g->data, g->dtype, row * g->stride[0] + c * g->stride[1]);
    add(&dot, product);
    add(&magnitude, fabs(product));
    if (product != 0 && fabs(product) < 0x1p-126) tiny += 1;
  }
  return (row_facts){value_of(dot), value_of(magnitude), tiny};
}

static double allowed_error(assay_dtype dtype, int64_t columns, const row_facts *row, double y, double away,
                            double dx) {
  if (!isfinite(dx)) return 0; /* judged by class */
  const double u = 0x1p-24;
  const double n = (double)columns;
  const double steps = 6.0 + fmin(n, 1024.0) + n / 32.0;
  /* The product before its rounding to the type may be a subnormal FP32 number. */
  const double intermediate = dx != 0 && fabs(dx) < 0x1p-125 ? 0x1p-149 : 0;
  return fabs(y) * (steps * u * row->magnitude + 2.0 * u * fabs(away) + row->tiny * 0x1p-149) +
         assay_rounding_error(dtype, dx) + intermediate;
}

void assay_vjp_oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                      int64_t first, int64_t count, double *want, double *allowed) {
  (void)entry, (void)opt;
  const assay_tensor *y = &in[ASSAY_SOFTMAX_BACKWARD_Y];
  const assay_tensor *g = &in[ASSAY_SOFTMAX_BACKWARD_G];
  const assay_dtype dtype = out[ASSAY_SOFTMAX_BACKWARD_DX].dtype;
  const int64_t columns = y->shape[1];
  for (int64_t r = 0; r < count; r++) {
    const int64_t row = first + r;
    const row_facts facts = facts_of(y, g, row);
    for (int64_t c = 0; c < columns; c++) {
      const double weight = assay_get(y->data, y->dtype, row * y->stride[0] + c * y->stride[1]);
      const double gradient = assay_get(g->data, g->dtype, row * g->stride[0] + c * g->stride[1]);
      const double away = gradient - facts.dot;
      const double dx = weight * away;
      want[r * columns + c] = dx;
      allowed[r * columns + c] = allowed_error(dtype, columns, &facts, weight, away, dx);
    }
  }
}
