/* SPDX-License-Identifier: MIT */
/*
 * gemm_fills.c - contents of A, B and bias for the checks of the fused GEMM; a and b are the row's
 * parameters.
 *
 * Random contents keep two elements of C apart whatever the seed, so that no constant passes: C[0,0] is
 * large, the rest of column 0 is smaller and column 1 is mostly below 0.
 */
#include <math.h>

#include "gemm.h"

static int64_t rows_of(const assay_fill_args *args) {
  return args->shape[0];
}

static int64_t columns_of(const assay_fill_args *args) {
  return args->rank == 2 ? args->shape[1] : 1;
}

static int64_t count_of(const assay_fill_args *args) {
  return rows_of(args) * columns_of(args);
}

static double sign(assay_rng *rng) {
  return assay_rng_below(rng, 2) == 0 ? 1 : -1;
}

/* Products of about normal size whatever k is, times a. */
void assay_gemm_fill_normal(const assay_fill_args *args, double *x) {
  const int64_t count = count_of(args);
  const int64_t columns = columns_of(args);
  const double scale = args->a != 0 ? args->a : 1;
  const double depth = args->operand == ASSAY_FUSED_GEMM_B ? sqrt((double)(rows_of(args) + 1)) : 1;
  for (int64_t i = 0; i < count; i++) x[i] = assay_rng_normal(args->rng) / depth;
  if (args->operand == ASSAY_FUSED_GEMM_A) {
    for (int64_t i = 0; columns > 0 && i < rows_of(args); i++) x[i * columns] = i == 0 ? 2 : -2;
    return;
  }
  if (args->operand == ASSAY_FUSED_GEMM_B && count > 0) x[0] = 2;
  if (args->operand == ASSAY_FUSED_GEMM_BIAS && count > 0) x[0] = 10;
  if (args->operand == ASSAY_FUSED_GEMM_BIAS && count > 1) x[1] = -6;
  for (int64_t i = 0; i < count; i++) x[i] *= scale;
}

/* Nothing below 0; columns differ by factors. */
void assay_gemm_fill_positive(const assay_fill_args *args, double *x) {
  const int64_t count = count_of(args);
  const int64_t columns = columns_of(args);
  for (int64_t i = 0; i < count; i++) x[i] = assay_rng_uniform(args->rng);
  if (args->operand != ASSAY_FUSED_GEMM_B) return;
  for (int64_t i = 0; i < count; i++) x[i] *= 1 + (double)(i % columns % 4);
}

/*
 * Integers below `a`, whose sums pass far beyond what 16 bits hold and come back: the first third of k adds
 * odd numbers that use every bit of the type, the second takes multiples of `b` away, the last third what is
 * left of them. A final step adds a small product. The result is (1 + i mod 15) * (1 + j mod 13) + j mod 7:
 * exact in both types, as every sum of integers below 2^24 is in FP32, in any order.
 */
void assay_gemm_fill_balanced(const assay_fill_args *args, double *x) {
  const int64_t rows = rows_of(args);
  const int64_t columns = columns_of(args);
  const bool is_a = args->operand == ASSAY_FUSED_GEMM_A;
  if (args->operand == ASSAY_FUSED_GEMM_BIAS) {
    for (int64_t j = 0; j < rows; j++) x[j] = (double)(j % 7);
    return;
  }
  const int64_t depth = is_a ? columns : rows;
  const int64_t third = (depth - 1) / 3;
  for (int64_t i = 0; i < rows * columns; i++) {
    const int64_t p = is_a ? i % columns : i / columns;
    const int64_t other = is_a ? i / columns : i % columns;
    const int64_t twin = p < 2 * third ? 2 * third - 1 - p : p - 2 * third; /* its step in the first third */
    if (p == depth - 1) {
      x[i] = (double)(1 + other % (is_a ? 15 : 13));
    } else if (p >= 3 * third) {
      x[i] = 0;
    } else if (p >= third && is_a) {
      const double whole = x[i - p + twin];
      const double low = fmod(whole, args->b);
      x[i] = p < 2 * third ? whole - low : low;
    } else if (p >= third) {
      x[i] = -x[twin * columns + other];
    } else if (is_a) {
      x[i] = sign(args->rng) * (args->a - 1 - 2 * (double)assay_rng_below(args->rng, (uint64_t)args->a / 4));
    } else {
      x[i] = (double)assay_rng_below(args->rng, 3) - 1;
    }
  }
}

/* a + 1 - a along k, in the even columns: the 1 is lost in any 16-bit partial sum that also holds an a. */
void assay_gemm_fill_split(const assay_fill_args *args, double *x) {
  const int64_t rows = rows_of(args);
  const int64_t columns = columns_of(args);
  for (int64_t i = 0; i < rows * columns; i++) x[i] = args->operand == ASSAY_FUSED_GEMM_A ? 1 : 0;
  if (args->operand != ASSAY_FUSED_GEMM_B) return;
  for (int64_t j = 0; j < columns; j += 2) {
    x[j] = args->a;
    x[columns + j] = 1;
    x[(rows - 1) * columns + j] = -args->a;
  }
}

/* Only the first step along k counts: C[i,j] = (i mod 16 + 1) * (j mod 16 + 1). */
void assay_gemm_fill_outer(const assay_fill_args *args, double *x) {
  const int64_t columns = columns_of(args);
  const int64_t count = count_of(args);
  for (int64_t i = 0; i < count; i++) {
    x[i] = 0;
    if (args->operand == ASSAY_FUSED_GEMM_A && i % columns == 0) x[i] = (double)(i / columns % 16 + 1);
    if (args->operand == ASSAY_FUSED_GEMM_B && i < columns) x[i] = (double)(i % 16 + 1);
  }
}

/* A and B are 1, the bias is a = 1 - k: every element of C is 1. */
void assay_gemm_fill_ones(const assay_fill_args *args, double *x) {
  const int64_t count = count_of(args);
  for (int64_t i = 0; i < count; i++) x[i] = args->operand == ASSAY_FUSED_GEMM_BIAS ? args->a : 1;
}

/* a (an infinity or NaN) once in every second row of A, at the first, last and inner steps in turn. */
void assay_gemm_fill_special_a(const assay_fill_args *args, double *x) {
  const double value = args->a;
  assay_fill_args plain = *args;
  plain.a = 1;
  assay_gemm_fill_normal(&plain, x);
  if (args->operand != ASSAY_FUSED_GEMM_A) return;
  const int64_t columns = columns_of(args);
  const int64_t places[3] = {0, columns - 1, columns / 2};
  for (int64_t i = 1; i < rows_of(args); i += 2) x[i * columns + places[i / 2 % 3]] = value;
}

/* The same in every third column of B; with b set, every second row of A then is 0 behind its first step. */
void assay_gemm_fill_special_b(const assay_fill_args *args, double *x) {
  const double value = args->a;
  assay_fill_args plain = *args;
  plain.a = 1;
  assay_gemm_fill_normal(&plain, x);
  const int64_t columns = columns_of(args);
  const int64_t rows = rows_of(args);
  if (args->operand == ASSAY_FUSED_GEMM_A && args->b != 0) {
    for (int64_t i = 0; i < rows * columns; i++) {
      if (i / columns % 2 == 0 && i % columns > 0) x[i] = 0;
    }
  }
  if (args->operand != ASSAY_FUSED_GEMM_B) return;
  const int64_t places[3] = {rows - 1, 0, rows / 2};
  for (int64_t j = 2; j < columns; j += 3) x[places[j / 3 % 3] * columns + j] = value;
}

/* The same in every third element of the bias. */
void assay_gemm_fill_special_bias(const assay_fill_args *args, double *x) {
  const double value = args->a;
  assay_fill_args plain = *args;
  plain.a = 1;
  assay_gemm_fill_normal(&plain, x);
  if (args->operand != ASSAY_FUSED_GEMM_BIAS) return;
  for (int64_t j = 2; j < rows_of(args); j += 3) x[j] = value;
}

/*
 * Products that cancel, down to 2^-12 of either sign: what the first half of k adds the second takes away.
 * With a = 0 all are multiples of 2^-14 below 4, so that FP32 holds every sum of up to 256 of them, in any
 * order. With a = 1 they are not, and what is left tells one order from another.
 */
void assay_gemm_fill_cancelling(const assay_fill_args *args, double *x) {
  const int64_t rows = rows_of(args);
  const int64_t columns = columns_of(args);
  const bool is_a = args->operand == ASSAY_FUSED_GEMM_A;
  if (args->operand == ASSAY_FUSED_GEMM_BIAS) {
    for (int64_t j = 0; j < rows; j++) x[j] = j == 0 ? 3 : 0;
    return;
  }
  const int64_t depth = is_a ? columns : rows;
  const int64_t half = (depth - 1) / 2;
  for (int64_t i = 0; i < rows * columns; i++) {
    const int64_t p = is_a ? i % columns : i / columns;
    if (p >= 2 * half) {
      x[i] = sign(args->rng) * (is_a ? 0x1p-12 : 1);
    } else if (p >= half) {
      x[i] = is_a ? x[i - half] : -x[i - half * columns];
    } else if (args->a != 0) {
      x[i] = assay_rng_normal(args->rng);
    } else { /* eight bits: both types hold them */
      x[i] = sign(args->rng) * (double)(128 + assay_rng_below(args->rng, 128)) / 128;
    }
  }
}

/* A of about a, B of about b, no bias: for factors, products and results among the subnormal numbers. */
void assay_gemm_fill_subnormal(const assay_fill_args *args, double *x) {
  const int64_t columns = columns_of(args);
  const int64_t count = count_of(args);
  for (int64_t i = 0; i < count; i++) {
    const double spread = 0.25 + 0.75 * assay_rng_uniform(args->rng);
    x[i] =
        args->operand == ASSAY_FUSED_GEMM_A ? args->a * spread * (i < columns ? 1 : 0.5) : args->b * spread;
    if (args->operand == ASSAY_FUSED_GEMM_BIAS) x[i] = 0;
  }
}

/* Of normal size, but for the last step along k: A is about a there, B about b, and both products and sums of
 * about 1. One number among many that are not is subnormal. */
void assay_gemm_fill_subnormal_step(const assay_fill_args *args, double *x) {
  const int64_t rows = rows_of(args);
  const int64_t columns = columns_of(args);
  assay_fill_args plain = *args;
  plain.a = 1;
  assay_gemm_fill_normal(&plain, x);
  if (args->operand == ASSAY_FUSED_GEMM_BIAS) return;
  const bool is_a = args->operand == ASSAY_FUSED_GEMM_A;
  const int64_t count = is_a ? rows : columns;
  for (int64_t i = 0; i < count; i++) {
    const double spread = 0.5 + assay_rng_uniform(args->rng);
    x[is_a ? (i + 1) * columns - 1 : (rows - 1) * columns + i] = (is_a ? args->a : args->b) * spread;
  }
}
