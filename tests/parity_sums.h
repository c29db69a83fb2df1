/* SPDX-License-Identifier: MIT */
/* parity_sums.h - rows and models of the kernels in kernels/clean_sums.cu. */
#ifndef ASSAY_PARITY_SUMS_H
#define ASSAY_PARITY_SUMS_H

#include "parity.h"

#define SUMS "tests/kernels/clean_sums.cu"

/* Floats from 0.5 to 1.5 in steps of 2^-20. */
static void parity_near_one(void *data, uint32_t count) {
  float *to = data;
  assay_rng rng;
  assay_rng_seed(&rng, count);
  for (uint32_t i = 0; i < count; ++i) to[i] = 0.5f + (float)assay_rng_below(&rng, 1 << 20) * 0x1p-20f;
}

/* Offsets of rows or segments of 0 to 12 elements, of which every fifth is empty: `count` - 1 of them. */
static void parity_offsets(void *data, uint32_t count) {
  uint32_t *to = data;
  to[0] = 0;
  for (uint32_t i = 1; i < count; ++i) to[i] = to[i - 1] + (i % 5 == 0 ? 0 : 1 + i * 7 % 12);
}

enum { CSR_ROWS = 43, CSR_ENTRIES = 213, CSR_WIDTH = 50, SEGMENTS = 4, SEGMENT_VALUES = 26 };

static void parity_columns(void *data, uint32_t count) {
  uint32_t *to = data;
  parity_words(data, count);
  for (uint32_t i = 0; i < count; ++i) to[i] %= CSR_WIDTH;
}

static float sum_of(const float *x, int64_t from, int64_t to) {
  float sum = 0;
  for (int64_t i = from; i < to; ++i) sum += x[i];
  return sum;
}

/* Numbers: n, which the kernel gets, and the elements a block, which it knows. */
static void sum_pieces(const float *x, float *sums, int64_t n, int64_t piece) {
  for (int64_t b = 0; b * piece < n; ++b)
    sums[b] = sum_of(x, b * piece, b * piece + piece < n ? b * piece + piece : n);
}

static void model_sums_256(void *const *at, const int64_t *numbers) {
  sum_pieces(at[0], at[1], numbers[0], 256);
}

static void model_sums_512(void *const *at, const int64_t *numbers) {
  sum_pieces(at[0], at[1], numbers[0], 512);
}

static void model_strided_sums(void *const *at, const int64_t *numbers) {
  const float *x = at[0];
  float *sums = at[1];
  for (int b = 0; b < 3; ++b) sums[b] = 0;
  for (int64_t i = 0; i < numbers[0]; ++i) sums[i / 256 % 3] += x[i];
}

static void model_dot(void *const *at, const int64_t *numbers) {
  const float *x = at[0], *y = at[1];
  float *total = at[2];
  for (int64_t i = 0; i < numbers[0]; ++i) *total += x[i] * y[i];
}

static void model_last_block(void *const *at, const int64_t *numbers) {
  sum_pieces(at[0], at[1], numbers[0], 256);
  *(float *)at[3] = sum_of(at[0], 0, numbers[0]);
}

static void model_argmax(void *const *at, const int64_t *numbers) {
  const uint32_t *x = at[0];
  int64_t best = 0;
  for (int64_t i = 1; i < numbers[0]; ++i) {
    if (x[i] > x[best]) best = i;
  }
  *(uint64_t *)at[1] = (uint64_t)x[best] << 32 | (0xffffffffu - (uint32_t)best);
}

static void model_maximum(void *const *at, const int64_t *numbers) {
  const float *x = at[0];
  float most = 0;
  for (int64_t i = 0; i < numbers[0]; ++i) most = fmaxf(most, x[i]);
  memcpy(at[1], &most, sizeof most);
}

static void model_softmax(void *const *at, const int64_t *numbers) {
  for (int64_t r = 0; r < numbers[0]; ++r) {
    const float *x = (const float *)at[0] + r * numbers[1];
    float *y = (float *)at[1] + r * numbers[1];
    double sum = 0;
    for (int64_t c = 0; c < numbers[1]; ++c) sum += exp((double)x[c]);
    for (int64_t c = 0; c < numbers[1]; ++c) y[c] = (float)(exp((double)x[c]) / sum);
  }
}

static void model_layernorm(void *const *at, const int64_t *numbers) {
  const int64_t columns = numbers[1];
  for (int64_t r = 0; r < numbers[0]; ++r) {
    const float *x = (const float *)at[0] + r * columns;
    float *y = (float *)at[1] + r * columns;
    double mean = 0, squares = 0;
    for (int64_t c = 0; c < columns; ++c) mean += (double)x[c] / (double)columns;
    for (int64_t c = 0; c < columns; ++c) squares += ((double)x[c] - mean) * ((double)x[c] - mean);
    for (int64_t c = 0; c < columns; ++c)
      y[c] = (float)(((double)x[c] - mean) / sqrt(squares / (double)columns + 1e-5));
  }
}

static void model_matvec(void *const *at, const int64_t *numbers) {
  const float *matrix = at[0], *x = at[1];
  float *y = at[2];
  for (int64_t r = 0; r < numbers[0]; ++r) {
    y[r] = 0;
    for (int64_t c = 0; c < numbers[1]; ++c) y[r] += matrix[r * numbers[1] + c] * x[c];
  }
}

static void model_csr(void *const *at, const int64_t *numbers) {
  const uint32_t *offsets = at[0], *columns = at[1];
  const float *values = at[2], *x = at[3];
  float *y = at[4];
  for (int64_t r = 0; r < numbers[0]; ++r) {
    y[r] = 0;
    for (uint32_t k = offsets[r]; k < offsets[r + 1]; ++k) y[r] += values[k] * x[columns[k]];
  }
}

static void model_bins(void *const *at, int64_t n, uint32_t bins) {
  const uint32_t *x = at[0];
  uint32_t *counts = at[1];
  for (int64_t i = 0; i < n; ++i) counts[x[i] % bins]++;
}

static void model_bins_64(void *const *at, const int64_t *numbers) {
  model_bins(at, numbers[0], 64);
}

static void model_bins_16(void *const *at, const int64_t *numbers) {
  model_bins(at, numbers[0], 16);
}

static void model_segments(void *const *at, const int64_t *numbers) {
  const uint32_t *offsets = at[0];
  float *sums = at[2];
  (void)numbers;
  for (int s = 0; s < SEGMENTS; ++s) sums[s] = sum_of(at[1], offsets[s], offsets[s + 1]);
}

static void model_columns(void *const *at, const int64_t *numbers) {
  const float *x = at[0];
  float *y = at[1];
  for (int64_t i = 0; i < numbers[0] * numbers[1]; ++i) y[i % numbers[1]] += x[i];
}

#define SUM_ROW(kernel, blocks, threads, count)                                                              \
  .file = SUMS, .name = (kernel), .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .numbers = {count},      \
  .number_count = 1

static const parity_case parity_sums[] = {
    {SUM_ROW("tree_interleaved", 4, 256, 1000),
     .regions = {PARITY_IN("x", FLOATS, 1000, parity_small), PARITY_OUT("sums", FLOATS, 4)},
     .model = model_sums_256},
    {SUM_ROW("tree_sequential", 2, 256, 900),
     .regions = {PARITY_IN("x", FLOATS, 900, parity_small), PARITY_OUT("sums", FLOATS, 2)},
     .model = model_sums_512},
    {SUM_ROW("tree_last_warp", 4, 256, 1000),
     .regions = {PARITY_IN("x", FLOATS, 1000, parity_small), PARITY_OUT("sums", FLOATS, 4)},
     .model = model_sums_256},
    {SUM_ROW("sum_shuffles", 3, 256, 2000),
     .regions = {PARITY_IN("x", FLOATS, 2000, parity_small), PARITY_OUT("sums", FLOATS, 3)},
     .model = model_strided_sums},
    {SUM_ROW("dot_atomic", 2, 256, 1500),
     .regions = {PARITY_IN("x", FLOATS, 1500, parity_small), PARITY_IN("y", FLOATS, 1500, parity_small),
                 PARITY_BOTH("total", FLOATS, 1, parity_zero)},
     .model = model_dot},
    {SUM_ROW("last_block_done", 5, 256, 1200),
     .regions = {PARITY_IN("x", FLOATS, 1200, parity_small), PARITY_OUT("partial", FLOATS, 5),
                 PARITY_BOTH("count", WORDS, 1, parity_zero), PARITY_OUT("total", FLOATS, 1)},
     .model = model_last_block},
    {SUM_ROW("argmax_packed", 4, 128, 500),
     .regions = {PARITY_IN("x", WORDS, 500, parity_words), PARITY_BOTH("most", LONGS, 1, parity_long_zero)},
     .model = model_argmax},
    {SUM_ROW("maximum_by_cas", 4, 64, 200),
     .regions = {PARITY_IN("x", FLOATS, 200, parity_near_one), PARITY_BOTH("bits", WORDS, 1, parity_zero)},
     .model = model_maximum},
    {SUM_ROW("histogram_shared", 3, 128, 1000),
     .regions = {PARITY_IN("x", WORDS, 1000, parity_words), PARITY_BOTH("bins", WORDS, 64, parity_zero)},
     .model = model_bins_64},
    {SUM_ROW("histogram_matched", 4, 64, 256),
     .regions = {PARITY_IN("x", WORDS, 256, parity_words), PARITY_BOTH("bins", WORDS, 16, parity_zero)},
     .model = model_bins_16},
    {SUM_ROW("csr_matvec", 3, 128, CSR_ROWS),
     .regions = {PARITY_IN("offsets", WORDS, CSR_ROWS + 1, parity_offsets),
                 PARITY_IN("columns", WORDS, CSR_ENTRIES, parity_columns),
                 PARITY_IN("values", FLOATS, CSR_ENTRIES, parity_small),
                 PARITY_IN("x", FLOATS, CSR_WIDTH, parity_small), PARITY_OUT("y", FLOATS, CSR_ROWS)},
     .model = model_csr},
    {.file = SUMS,
     .name = "softmax_tree",
     .grid = {3, 1, 1},
     .block = {128, 1, 1},
     .regions = {PARITY_IN("x", FLOATS, 600, parity_near_one), PARITY_OUT("y", FLOATS, 600)},
     .numbers = {3, 200},
     .number_count = 2,
     .model = model_softmax,
     .allowed = 1e-6},
    {.file = SUMS,
     .name = "layernorm_warps",
     .grid = {2, 1, 1},
     .block = {128, 1, 1},
     .regions = {PARITY_IN("x", FLOATS, 7 * 90, parity_near_one), PARITY_OUT("y", FLOATS, 7 * 90)},
     .numbers = {7, 90},
     .number_count = 2,
     .model = model_layernorm,
     .allowed = 1e-4},
    {.file = SUMS,
     .name = "matvec_pieces",
     .grid = {2, 1, 1},
     .block = {64, 1, 1},
     .regions = {PARITY_IN("matrix", FLOATS, 100 * 90, parity_small),
                 PARITY_IN("x", FLOATS, 90, parity_small), PARITY_OUT("y", FLOATS, 100)},
     .numbers = {100, 90},
     .number_count = 2,
     .model = model_matvec},
    {.file = SUMS,
     .name = "segment_sums",
     .grid = {SEGMENTS, 1, 1},
     .block = {256, 1, 1},
     .regions = {PARITY_IN("offsets", WORDS, SEGMENTS + 1, parity_offsets),
                 PARITY_IN("x", FLOATS, SEGMENT_VALUES, parity_small), PARITY_OUT("sums", FLOATS, SEGMENTS)},
     .model = model_segments},
    {.file = SUMS,
     .name = "column_sums",
     .grid = {2, 3, 1},
     .block = {64, 1, 1},
     .regions = {PARITY_IN("x", FLOATS, 20 * 100, parity_small), PARITY_BOTH("y", FLOATS, 100, parity_zero)},
     .numbers = {20, 100},
     .number_count = 2,
     .model = model_columns},
};

#endif
