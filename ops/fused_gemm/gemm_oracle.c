/* SPDX-License-Identifier: MIT */
/*
 * gemm_oracle.c - the definition of the fused GEMM in FP64, and the error that a variant may have.
 *
 * Written for reading; shares no code with any variant. The bound is derived in this folder's README.
 */
#include <math.h>
#include <stdlib.h>

#include "gemm.h"
#include "half.h"

/* One row of C on the way: for each column a sum, what its additions lost, and the sum of magnitudes. */
typedef struct row_sums {
  double *sum;
  double *lost;
  double *magnitude;
} row_sums;

/* sum += term for every column; `lost` collects what each addition rounded away, exactly (Knuth's two-sum).
 */
static void add_products(const row_sums *row, double a, const double *b, int64_t columns) {
  for (int64_t j = 0; j < columns; j++) {
    const double term = a * b[j]; /* exact: two 16-bit numbers have at most 22 significant bits together */
    const double before = row->sum[j];
    const double sum = before + term;
    const double taken = sum - before;
    row->lost[j] += (before - (sum - taken)) + (term - taken);
    row->sum[j] = sum;
    row->magnitude[j] += fabs(term);
  }
}

static double relu(double x) {
  return x < 0 ? 0 : x; /* NaN is not below 0 and stays */
}

/*
 * The exact result is within this of what FP32 may give. Near 0 relu makes nothing worse: it never moves two
 * numbers apart.
 */
static double allowed_error(const assay_tensor *c, int64_t k, double magnitude, double want) {
  /* Tensor cores may truncate where FP32 arithmetic rounds: c is then memory of a GPU, whose number is 0 or
   * more. The emulator rounds. */
  const double u = c->device >= 0 ? 0x1p-23 : 0x1p-24;
  const double steps = (double)k;
  if (isnan(want)) return 0; /* judged by class */
  /* Products of BF16 may be subnormal FP32 numbers: each step may then be off by a step of 2^-149. */
  const double subnormal = steps * 0x1p-149;
  return (steps + 2) * u * magnitude + subnormal + assay_rounding_error(c->dtype, want);
}

static void finish_row(const row_sums *row, const assay_tensor *bias, const assay_tensor *c, int64_t k,
                       double *want, double *allowed) {
  for (int64_t j = 0; j < bias->shape[0]; j++) {
    const double addend = assay_get(bias->data, bias->dtype, j);
    /* After an infinity `lost` is NaN, and the sum is what counts. */
    const double product = isfinite(row->lost[j]) ? row->sum[j] + row->lost[j] : row->sum[j];
    want[j] = relu(product + addend);
    allowed[j] = allowed_error(c, k, row->magnitude[j] + fabs(addend), want[j]);
  }
}

/* All of B as doubles, row after row: widened once, it is read again for every row of A. */
static void widen(const assay_tensor *b, double *values) {
  for (int64_t p = 0; p < b->shape[0]; p++) {
    for (int64_t j = 0; j < b->shape[1]; j++) {
      values[p * b->shape[1] + j] = assay_get(b->data, b->dtype, p * b->stride[0] + j);
    }
  }
}

void assay_gemm_oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                       int64_t first, int64_t count, double *want, double *allowed) {
  (void)entry, (void)opt;
  const assay_tensor *a = &in[ASSAY_FUSED_GEMM_A];
  const assay_tensor *b = &in[ASSAY_FUSED_GEMM_B];
  const assay_tensor *bias = &in[ASSAY_FUSED_GEMM_BIAS];
  const int64_t k = a->shape[1];
  const int64_t columns = b->shape[1];
  double *memory = calloc((size_t)((3 + k) * columns + 1), sizeof *memory);
  if (memory == NULL) { /* nothing can be said about the result, so nothing passes */
    for (int64_t i = 0; i < count * columns; i++) want[i] = allowed[i] = NAN;
    return;
  }
  const row_sums row = {.sum = memory, .lost = memory + columns, .magnitude = memory + 2 * columns};
  double *b_values = memory + 3 * columns;
  widen(b, b_values);
  for (int64_t i = 0; i < count; i++) {
    for (int64_t j = 0; j < 3 * columns; j++) memory[j] = 0;
    for (int64_t p = 0; p < k; p++) {
      const double factor = assay_get(a->data, a->dtype, (first + i) * a->stride[0] + p);
      add_products(&row, factor, b_values + p * columns, columns);
    }
    finish_row(&row, bias, out, k, want + i * columns, allowed + i * columns);
  }
  free(memory);
}
