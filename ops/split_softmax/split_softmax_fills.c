/* SPDX-License-Identifier: MIT */
/* split_softmax_fills.c - contents of x in the checks: what makes chunks, rows and special values visible. */
#include <math.h>

#include "split_softmax_fills.h"

/* An element's value from its place: what most of these contents come down to. */
typedef double value_at(const assay_fill_args *args, int64_t row, int64_t column);

static void fill_each(const assay_fill_args *args, double *x, value_at *value) {
  const int64_t columns = args->shape[1];
  for (int64_t r = 0; r < args->shape[0]; r++) {
    for (int64_t c = 0; c < columns; c++) x[r * columns + c] = value(args, r, c);
  }
}

static int64_t chunk_of(const assay_fill_args *args, int64_t column) {
  return column / (int64_t)args->b;
}

static int64_t chunks(const assay_fill_args *args) {
  return chunk_of(args, args->shape[1] - 1) + 1;
}

/* A column inside chunk k, another one for every row. */
static int64_t column_in_chunk(const assay_fill_args *args, int64_t row, int64_t k) {
  const int64_t first = k * (int64_t)args->b;
  const int64_t left = args->shape[1] - first;
  const int64_t width = left < (int64_t)args->b ? left : (int64_t)args->b;
  return first + row * 97 % width;
}

static double normal(const assay_fill_args *args, int64_t row, int64_t column) {
  (void)row, (void)column;
  return assay_rng_normal(args->rng);
}

static double spike(const assay_fill_args *args, int64_t row, int64_t column) {
  const int64_t places[3] = {args->shape[1] - 1, 0, args->shape[1] / 2};
  return column == places[row % 3] ? args->a : args->b;
}

static double step(const assay_fill_args *args, int64_t row, int64_t column) {
  (void)row;
  return args->a * (double)chunk_of(args, column) + assay_rng_normal(args->rng);
}

static double row_level(const assay_fill_args *args, int64_t row, int64_t column) {
  (void)column;
  return args->a * (double)row + assay_rng_normal(args->rng);
}

static double ramp(const assay_fill_args *args, int64_t row, int64_t column) {
  (void)row;
  const double slope = (args->b - args->a) / (double)(args->shape[1] - 1);
  return args->a + slope * (double)column + 0.01 * assay_rng_uniform(args->rng);
}

static double lost_term(const assay_fill_args *args, int64_t row, int64_t column) {
  (void)args;
  return column == 0 ? 0 : -16.7 - 0.01 * (double)row;
}

static double limit(const assay_fill_args *args, int64_t row, int64_t column) {
  (void)row, (void)column;
  const double values[4] = {args->a, -args->a, 0, 1};
  return values[assay_rng_below(args->rng, 4)];
}

static double maybe_subnormal(const assay_fill_args *args, int64_t row, int64_t column) {
  (void)row;
  if (column % 2 == 1) return assay_rng_normal(args->rng);
  return args->a * (2 * assay_rng_uniform(args->rng) - 1);
}

static double maybe_masked(const assay_fill_args *args, int64_t row, int64_t column) {
  const bool masked = assay_rng_uniform(args->rng) < args->a && column != row % args->shape[1];
  return masked ? -INFINITY : 2 * assay_rng_normal(args->rng);
}

static double masked_chunk(const assay_fill_args *args, int64_t row, int64_t column) {
  const int64_t k = chunk_of(args, column);
  const int64_t last = chunks(args) - 1;
  const bool masked[6] = {k == 0, k == last, k == last / 2, k != last, k != 0, k % 2 == 1};
  return masked[row % 6] ? -INFINITY : assay_rng_normal(args->rng);
}

static double leading_masked(const assay_fill_args *args, int64_t row, int64_t column) {
  const int64_t masked = 1 + row % (chunks(args) - 1);
  return chunk_of(args, column) < masked ? -INFINITY : args->a + assay_rng_normal(args->rng);
}

static double masked_row(const assay_fill_args *args, int64_t row, int64_t column) {
  (void)column;
  return row % 2 == 0 ? -INFINITY : assay_rng_normal(args->rng);
}

void assay_split_softmax_fill_spike(const assay_fill_args *args, double *x) {
  fill_each(args, x, spike);
}

void assay_split_softmax_fill_last(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  fill_each(args, x, normal);
  for (int64_t r = 0; r < args->shape[0]; r++) x[(r + 1) * columns - 1] = args->a;
}

void assay_split_softmax_fill_dominant(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  fill_each(args, x, normal);
  for (int64_t r = 0; r < args->shape[0]; r++) {
    x[r * columns + column_in_chunk(args, r, r % chunks(args))] = args->a;
  }
}

void assay_split_softmax_fill_levels(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  for (int64_t r = 0; r < args->shape[0]; r++) {
    double level = 0;
    for (int64_t c = 0; c < columns; c++) {
      if (c % (int64_t)args->b == 0) level = args->a * (2 * assay_rng_uniform(args->rng) - 1);
      x[r * columns + c] = level + assay_rng_normal(args->rng);
    }
  }
}

void assay_split_softmax_fill_steps(const assay_fill_args *args, double *x) {
  fill_each(args, x, step);
}

void assay_split_softmax_fill_row_levels(const assay_fill_args *args, double *x) {
  fill_each(args, x, row_level);
}

void assay_split_softmax_fill_ramp(const assay_fill_args *args, double *x) {
  fill_each(args, x, ramp);
}

void assay_split_softmax_fill_lost_terms(const assay_fill_args *args, double *x) {
  fill_each(args, x, lost_term);
}

void assay_split_softmax_fill_limits(const assay_fill_args *args, double *x) {
  fill_each(args, x, limit);
}

void assay_split_softmax_fill_subnormals(const assay_fill_args *args, double *x) {
  fill_each(args, x, maybe_subnormal);
}

void assay_split_softmax_fill_masked(const assay_fill_args *args, double *x) {
  fill_each(args, x, maybe_masked);
}

void assay_split_softmax_fill_masked_chunks(const assay_fill_args *args, double *x) {
  fill_each(args, x, masked_chunk);
}

void assay_split_softmax_fill_leading_masked(const assay_fill_args *args, double *x) {
  fill_each(args, x, leading_masked);
}

void assay_split_softmax_fill_masked_rows(const assay_fill_args *args, double *x) {
  fill_each(args, x, masked_row);
}

void assay_split_softmax_fill_special(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  const int64_t places[4] = {0, columns - 1, columns / 2, (2 * columns) / 3};
  fill_each(args, x, normal);
  for (int64_t r = 0; r < args->shape[0]; r += 2) x[r * columns + places[r / 2 % 4]] = args->a;
}

void assay_split_softmax_fill_special_masked(const assay_fill_args *args, double *x) {
  const int64_t columns = args->shape[1];
  fill_each(args, x, normal);
  for (int64_t r = 0; r < args->shape[0]; r += 2) {
    const int64_t k = r / 2 % chunks(args);
    for (int64_t c = 0; c < columns; c++) {
      if (chunk_of(args, c) == k) x[r * columns + c] = -INFINITY;
    }
    x[r * columns + column_in_chunk(args, r, k)] = args->a;
  }
}
