/* SPDX-License-Identifier: MIT */
/* attention_fills.c - contents of q, k and v that provoke one mistake each; a and b are the row's parameters.
 */
#include <math.h>

#include "attention.h"

/* Sizes of one operand: `rows` rows of d columns in all, n of them a head. */
typedef struct sizes {
  int64_t rows, n, d;
} sizes;

static sizes sizes_of(const assay_fill_args *args) {
  const int rank = args->rank;
  sizes s = {.rows = 1, .n = args->shape[rank - 2], .d = args->shape[rank - 1]};
  for (int i = 0; i < rank - 1; i++) s.rows *= args->shape[i];
  return s;
}

static void normal(const assay_fill_args *args, double scale, double *values) {
  const sizes s = sizes_of(args);
  for (int64_t i = 0; i < s.rows * s.d; i++) values[i] = scale * assay_rng_normal(args->rng);
}

/* q and k that make score(i, j) = 2 * a * j / n - a, by their first column; v is normal. With b above 0 half
 * of each 32 queries are 0: their maximum never moves. */
void assay_attention_fill_ramp(const assay_fill_args *args, double *values) {
  const sizes s = sizes_of(args);
  const double half = pow((double)s.d, 0.25); /* of the scale, in q and in k */
  normal(args, 1, values);
  if (args->operand == ASSAY_STREAMING_ATTENTION_V) return;
  for (int64_t r = 0; r < s.rows; r++) {
    const double place = 2 * (double)(r % s.n) / (double)s.n - 1;
    for (int64_t c = 1; c < s.d; c++) values[r * s.d + c] *= 0.25;
    values[r * s.d] = half * (args->operand == ASSAY_STREAMING_ATTENTION_Q ? 4 : args->a * place / 4);
    if (args->operand != ASSAY_STREAMING_ATTENTION_Q || args->b <= 0 || r % s.n % 32 >= 16) continue;
    for (int64_t c = 0; c < s.d; c++) values[r * s.d + c] = 0;
  }
}

/* Adds to the noise of q and k a pattern of signs that only partners share: their score rises by about a. */
static void pair(const assay_fill_args *args, int64_t multiplier, double *values) {
  const sizes s = sizes_of(args);
  const double strength = sqrt(args->a / sqrt((double)s.d));
  normal(args, args->operand == ASSAY_STREAMING_ATTENTION_V ? 1 : 0.1, values);
  if (args->operand == ASSAY_STREAMING_ATTENTION_V) return;
  for (int64_t r = 0; r < s.rows; r++) {
    const int64_t i = r % s.n;
    const int64_t partner = args->operand == ASSAY_STREAMING_ATTENTION_Q ? i * multiplier % s.n : i;
    assay_rng signs;
    assay_rng_seed(&signs, (uint64_t)partner);
    for (int64_t c = 0; c < s.d; c++) {
      values[r * s.d + c] += assay_rng_below(&signs, 2) == 0 ? strength : -strength;
    }
  }
}

/* Query i and key 7 * i mod n belong together. */
void assay_attention_fill_dominant(const assay_fill_args *args, double *values) {
  pair(args, 7, values);
}

void assay_attention_fill_diagonal(const assay_fill_args *args, double *values) {
  pair(args, 1, values);
}

void assay_attention_fill_loud(const assay_fill_args *args, double *values) {
  normal(args, args->operand == ASSAY_STREAMING_ATTENTION_V ? args->a : 1, values);
}

void assay_attention_fill_sharp(const assay_fill_args *args, double *values) {
  normal(args, args->operand == ASSAY_STREAMING_ATTENTION_V ? 1 : args->a, values);
}

void assay_attention_fill_subnormal(const assay_fill_args *args, double *values) {
  const sizes s = sizes_of(args);
  for (int64_t i = 0; i < s.rows * s.d; i++) {
    const double sign = assay_rng_below(args->rng, 2) == 0 ? 1 : -1;
    /* v is subnormal throughout, so that the results are, too. */
    const bool small = args->operand == ASSAY_STREAMING_ATTENTION_V || i % 2 == 0;
    values[i] = small ? sign * args->a * assay_rng_uniform(args->rng) : assay_rng_normal(args->rng);
  }
}

/* Puts a into one column of row `row` of every head. */
static void plant(const assay_fill_args *args, int64_t row, int64_t column, double value, double *values) {
  const sizes s = sizes_of(args);
  for (int64_t first = 0; first < s.rows; first += s.n) values[(first + row) * s.d + column % s.d] = value;
}

void assay_attention_fill_nan_query(const assay_fill_args *args, double *values) {
  const sizes s = sizes_of(args);
  normal(args, 1, values);
  for (int64_t i = 0; args->operand == ASSAY_STREAMING_ATTENTION_Q && i < s.n; i += 3) {
    plant(args, i, i, args->a, values);
  }
}

void assay_attention_fill_nan_key(const assay_fill_args *args, double *values) {
  const sizes s = sizes_of(args);
  normal(args, 1, values);
  if (args->operand != ASSAY_STREAMING_ATTENTION_K) return;
  plant(args, s.n / 2 + 3, 5, args->a, values);
  plant(args, s.n - 1, 0, args->a, values);
}

void assay_attention_fill_nan_value(const assay_fill_args *args, double *values) {
  const sizes s = sizes_of(args);
  normal(args, 0.5, values);
  if (args->operand != ASSAY_STREAMING_ATTENTION_V) return;
  plant(args, s.n / 2 + 3, 5, args->a, values);
  plant(args, s.n - 2, s.d - 1, args->a, values);
}

/* The first column of q is positive and that of a masked key -inf: the product is -inf, whatever the others
 * are. */
void assay_attention_fill_masked_key(const assay_fill_args *args, double *values) {
  const sizes s = sizes_of(args);
  normal(args, 1, values);
  for (int64_t r = 0; r < s.rows; r++) {
    const int64_t j = r % s.n;
    if (args->operand == ASSAY_STREAMING_ATTENTION_Q) values[r * s.d] = 0.5 + fabs(values[r * s.d]);
    if (args->operand == ASSAY_STREAMING_ATTENTION_K && (j < 40 || j % 3 == 0)) values[r * s.d] = -INFINITY;
  }
}

/* All scores lie around -a, none above 0. */
void assay_attention_fill_negative(const assay_fill_args *args, double *values) {
  const sizes s = sizes_of(args);
  const double half = pow((double)s.d, 0.25);
  normal(args, args->operand == ASSAY_STREAMING_ATTENTION_V ? 1 : 0.5, values);
  if (args->operand == ASSAY_STREAMING_ATTENTION_V) return;
  for (int64_t r = 0; r < s.rows; r++) {
    const double noise = assay_rng_normal(args->rng);
    values[r * s.d] = half * (args->operand == ASSAY_STREAMING_ATTENTION_Q ? 4 : -args->a / 4 + noise);
  }
}

/* Scores fall along the keys by a in all, while values grow from 1 to b. */
void assay_attention_fill_small_late(const assay_fill_args *args, double *values) {
  const sizes s = sizes_of(args);
  const double half = pow((double)s.d, 0.25);
  for (int64_t r = 0; r < s.rows; r++) {
    const double place = (double)(r % s.n) / (double)s.n;
    for (int64_t c = 0; c < s.d; c++) {
      const double noise = assay_rng_normal(args->rng);
      double value = 0.25 * noise;
      if (args->operand == ASSAY_STREAMING_ATTENTION_Q && c == 0) value = half;
      if (args->operand == ASSAY_STREAMING_ATTENTION_K && c == 0) value = -half * args->a * place;
      if (args->operand == ASSAY_STREAMING_ATTENTION_V) value = noise * pow(args->b, place);
      values[r * s.d + c] = value;
    }
  }
}
