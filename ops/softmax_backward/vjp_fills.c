/* SPDX-License-Identifier: MIT */
/* vjp_fills.c - contents of y and g for the checks of softmax_backward. */
#include <math.h>

#include "vjp.h"

/* ---- contents; operand 0 is y, operand 1 is g, a and b are the row's parameters ------------------------ */

/* Softmax rows of normal logits, each scaled by a factor between `low` and `low` + `range`. */
static void fill_softmax(const assay_fill_args *args, double *y, double deviation, double low, double range) {
  const int64_t columns = args->shape[1];
  for (int64_t r = 0; r < args->shape[0]; r++, y += columns) {
    double sum = 0;
    for (int64_t c = 0; c < columns; c++) sum += y[c] = exp(deviation * assay_rng_normal(args->rng));
    const double scale = (low + range * assay_rng_uniform(args->rng)) / sum;
    for (int64_t c = 0; c < columns; c++) y[c] *= scale;
  }
}

static void fill_normal(const assay_fill_args *args, double *g, double mean, double deviation) {
  const int64_t count = args->shape[0] * args->shape[1];
  for (int64_t i = 0; i < count; i++) g[i] = mean + deviation * assay_rng_normal(args->rng);
}

void assay_vjp_fill_pair(const assay_fill_args *args, double *values) {
  if (args->operand == ASSAY_SOFTMAX_BACKWARD_Y) {
    fill_softmax(args, values, args->a, 0.7, 0.6);
  } else {
    fill_normal(args, values, 0, args->b);
  }
}

/* g is b plus normal noise of deviation a: the dot product is near b, and g - dot is what is left of both. */
void assay_vjp_fill_shifted(const assay_fill_args *args, double *values) {
  if (args->operand == ASSAY_SOFTMAX_BACKWARD_Y) {
    fill_softmax(args, values, 0.5, 1, 0);
  } else {
    fill_normal(args, values, args->b, args->a);
  }
}

/* y: equal powers of two that add up to 1; g: b everywhere. The result is an exact 0. */
void assay_vjp_fill_flat(const assay_fill_args *args, double *values) {
  const int64_t count = args->shape[0] * args->shape[1];
  const double y = 1.0 / (double)args->shape[1];
  for (int64_t i = 0; i < count; i++) values[i] = args->operand == ASSAY_SOFTMAX_BACKWARD_Y ? y : args->b;
}

/* y: a in row r at column r mod columns, else 0; g normal. */
void assay_vjp_fill_one_hot(const assay_fill_args *args, double *values) {
  const int64_t columns = args->shape[1];
  if (args->operand == ASSAY_SOFTMAX_BACKWARD_G) {
    fill_normal(args, values, 0, args->b);
    return;
  }
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) values[r * columns + c] = c == r % columns ? args->a : 0;
  }
}

/* One product y*g = b^2 in a column that moves with the row, beside small ones. */
void assay_vjp_fill_dominant(const assay_fill_args *args, double *values) {
  const int64_t columns = args->shape[1];
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) {
      values[r * columns + c] = c == r % columns ? args->b : args->a * (1 + assay_rng_uniform(args->rng));
    }
  }
}

/* Products 1, then some just under half an ulp of 1: a single FP32 sum never moves from 1. */
void assay_vjp_fill_lost_terms(const assay_fill_args *args, double *values) {
  const int64_t columns = args->shape[1];
  const double small = args->operand == ASSAY_SOFTMAX_BACKWARD_Y ? 0x1p-12 : 0x1.fap-13;
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) values[r * columns + c] = c == 0 ? 1 : small;
  }
}

/* Signed normal numbers in both: no y of a softmax, but the formula does not ask. */
void assay_vjp_fill_signed(const assay_fill_args *args, double *values) {
  fill_normal(args, values, 0, args->operand == ASSAY_SOFTMAX_BACKWARD_Y ? args->a : args->b);
}

/* y: softmax rows with half of the entries 0; g normal. */
void assay_vjp_fill_with_zeros(const assay_fill_args *args, double *values) {
  const int64_t count = args->shape[0] * args->shape[1];
  assay_vjp_fill_pair(args, values);
  for (int64_t i = 0; i < count && args->operand == ASSAY_SOFTMAX_BACKWARD_Y; i++) {
    if (assay_rng_below(args->rng, 2) == 0) values[i] = 0;
  }
}

/* y: 1 - 2^-7 in one column and tiny elsewhere; g normal. */
void assay_vjp_fill_peaked(const assay_fill_args *args, double *values) {
  const int64_t columns = args->shape[1];
  if (args->operand == ASSAY_SOFTMAX_BACKWARD_G) {
    fill_normal(args, values, 0, args->b);
    return;
  }
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) {
      const double rest = 0x1p-7 / (double)columns * (0.5 + assay_rng_uniform(args->rng));
      values[r * columns + c] = c == (r * 5 + 3) % columns ? 1 - 0x1p-7 : rest;
    }
  }
}

/* y as ever; g is +b, -b, or small, at random: sums of opposite large terms. */
void assay_vjp_fill_large(const assay_fill_args *args, double *values) {
  if (args->operand == ASSAY_SOFTMAX_BACKWARD_Y) {
    fill_softmax(args, values, 1, 0.1, 0.3); /* no difference then leaves the range */
    return;
  }
  const int64_t count = args->shape[0] * args->shape[1];
  for (int64_t i = 0; i < count; i++) {
    const double values4[4] = {args->b, -args->b, 1, assay_rng_normal(args->rng)};
    values[i] = values4[assay_rng_below(args->rng, 4)];
  }
}

/* y: up to a, which makes it subnormal, in every second column; g normal with b. */
void assay_vjp_fill_subnormal(const assay_fill_args *args, double *values) {
  const int64_t count = args->shape[0] * args->shape[1];
  assay_fill_args plain = *args;
  plain.a = 1;
  assay_vjp_fill_pair(&plain, values);
  for (int64_t i = 0; i < count && args->operand == ASSAY_SOFTMAX_BACKWARD_Y; i += 2) {
    values[i] = args->a * assay_rng_uniform(args->rng);
  }
}

/* Every second row holds a value once, at first, last and inner columns in turn: `special` in one operand. */
static void put_special(const assay_fill_args *args, double *values, double special) {
  const int64_t columns = args->shape[1];
  const int64_t places[4] = {0, columns - 1, columns / 2, (2 * columns) / 3};
  for (int64_t r = 0; r < args->shape[0]; r += 2) values[r * columns + places[(r / 2) % 4]] = special;
}

/* a in every second row of the operand number b. */
void assay_vjp_fill_special(const assay_fill_args *args, double *values) {
  assay_fill_args plain = *args;
  plain.a = plain.b = 1;
  assay_vjp_fill_pair(&plain, values);
  if (args->operand == (int)args->b) put_special(args, values, args->a);
}

/* g: an infinity of each sign in every third row, and +infinity where y is 0 in every other third one. */
void assay_vjp_fill_opposite(const assay_fill_args *args, double *values) {
  const int64_t columns = args->shape[1];
  assay_fill_args plain = *args;
  plain.a = plain.b = 1;
  assay_vjp_fill_pair(&plain, values);
  for (int64_t r = 0; r < args->shape[0]; r++) {
    double *row = values + r * columns;
    if (args->operand == ASSAY_SOFTMAX_BACKWARD_G && r % 3 == 0) row[1] = -INFINITY;
    if (args->operand == ASSAY_SOFTMAX_BACKWARD_G && r % 3 != 2) row[columns - 2] = INFINITY;
    if (args->operand == ASSAY_SOFTMAX_BACKWARD_Y && r % 3 == 1) row[columns - 2] = 0;
  }
}
