/* SPDX-License-Identifier: MIT */
/* parity_tiles.h - rows and models of the kernels in kernels/clean_tiles.cu. */
#ifndef ASSAY_PARITY_TILES_H
#define ASSAY_PARITY_TILES_H

#include "parity.h"

#define TILES "tests/kernels/clean_tiles.cu"

/* Multiples of 1/4 of -8 to 8. */
static void parity_quarters(void *data, uint32_t count) {
  uint16_t *to = data;
  assay_rng rng;
  assay_rng_seed(&rng, count);
  for (uint32_t i = 0; i < count; ++i)
    to[i] = assay_fp16_from_float((float)assay_rng_below(&rng, 65) * 0.25f - 8.0f);
}

static void model_product(void *const *at, const int64_t *numbers) {
  const float *a = at[0], *b = at[1];
  float *c = at[2];
  const int64_t n = numbers[1], k = numbers[2];
  for (int64_t i = 0; i < numbers[0] * n; ++i) {
    c[i] = 0;
    for (int64_t j = 0; j < k; ++j) c[i] += a[i / n * k + j] * b[j * n + i % n];
  }
}

static void model_reversed_tiles(void *const *at, const int64_t *numbers) {
  const float *x = at[0];
  float *y = at[1];
  for (int64_t i = 0; i < numbers[0]; ++i) y[i] = x[i ^ 255];
}

static void model_reversed_128(void *const *at, const int64_t *numbers) {
  const float *x = at[0];
  float *y = at[1];
  for (int64_t i = 0; i < numbers[0]; ++i) y[i] = x[i ^ 127];
}

static void model_part_sums(void *const *at, const int64_t *numbers) {
  const float *x = at[0];
  float *y = at[1];
  for (int64_t i = 0; i < (numbers[0] + 255) / 256 * 64; ++i) {
    y[i] = 0;
    for (int64_t k = i / 64 * 256 + i % 64; k < i / 64 * 256 + 256; k += 64)
      y[i] += k < numbers[0] ? x[k] : 0;
  }
}

static void model_mirror_difference(void *const *at, const int64_t *numbers) {
  const float *x = at[0];
  float *y = at[1];
  for (int64_t i = 0; i < numbers[0]; ++i) y[i] = x[i] - ((i ^ 127) < numbers[0] ? x[i ^ 127] : 0);
}

static void model_matrix_step(void *const *at, const int64_t *numbers) {
  const uint16_t *a = at[0], *b = at[1];
  float *c = at[2];
  (void)numbers;
  for (int i = 0; i < 16 * 8; ++i) {
    c[i] = 0;
    for (int k = 0; k < 64; ++k)
      c[i] += assay_fp16_to_float(a[i / 8 * 64 + k]) * assay_fp16_to_float(b[i % 8 * 64 + k]);
  }
}

static void model_turned(void *const *at, const int64_t *numbers) {
  const uint16_t *a = at[0];
  float *c = at[2];
  (void)numbers;
  for (int i = 0; i < 4 * 16 * 16; ++i) c[i] = assay_fp16_to_float(a[i % 16 * 64 + i / 16]);
}

static void model_relax(void *const *at, const int64_t *numbers) {
  float before[128];
  float *y = at[1];
  memcpy(y, at[0], sizeof before);
  for (int64_t round = 0; round < numbers[0]; ++round) {
    memcpy(before, y, sizeof before);
    for (int i = 1; i < 127; ++i) y[i] = 0.5f * (before[i - 1] + before[i + 1]);
  }
}

#define TILE_ROW(kernel, blocks, threads, count)                                                             \
  .file = TILES, .name = (kernel), .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .numbers = {count},     \
  .number_count = 1

static const parity_case parity_tiles[] = {
    {.file = TILES,
     .name = "product_tiled",
     .grid = {2, 3, 1},
     .block = {16, 16, 1},
     .regions = {PARITY_IN("a", FLOATS, 40 * 36, parity_small), PARITY_IN("b", FLOATS, 36 * 24, parity_small),
                 PARITY_OUT("c", FLOATS, 40 * 24)},
     .numbers = {40, 24, 36},
     .number_count = 3,
     .model = model_product},
    {.file = TILES,
     .name = "product_coarse",
     .grid = {2, 2, 1},
     .block = {64, 1, 1},
     .shared_bytes = 1024,
     .regions = {PARITY_IN("a", FLOATS, 32 * 24, parity_small), PARITY_IN("b", FLOATS, 24 * 32, parity_small),
                 PARITY_OUT("c", FLOATS, 32 * 32)},
     .numbers = {32, 32, 24},
     .number_count = 3,
     .model = model_product},
    {TILE_ROW("copies_two_stages", 1, 64, 1280),
     .regions = {PARITY_IN("x", FLOATS, 1280, parity_small), PARITY_OUT("y", FLOATS, 1280)},
     .model = model_reversed_tiles},
    {TILE_ROW("copies_within_warp", 1, 128, 1152),
     .regions = {PARITY_IN("x", FLOATS, 1152, parity_small), PARITY_OUT("y", FLOATS, 1152)},
     .model = model_reversed_128},
    {TILE_ROW("copies_of_a_part", 3, 64, 603),
     .regions = {PARITY_IN("x", FLOATS, 603, parity_small), PARITY_OUT("y", FLOATS, 192)},
     .model = model_part_sums},
    {TILE_ROW("copies_by_words", 2, 128, 200), .shared_bytes = 512,
     .regions = {PARITY_IN("x", FLOATS, 200, parity_small), PARITY_OUT("y", FLOATS, 200)},
     .model = model_mirror_difference},
    {.file = TILES,
     .name = "matrix_step",
     .grid = {1, 1, 1},
     .block = {32, 1, 1},
     .regions = {PARITY_IN("a", HALVES, 16 * 64, parity_quarters),
                 PARITY_IN("b", HALVES, 8 * 64, parity_quarters), PARITY_OUT("c", FLOATS, 16 * 8)},
     .model = model_matrix_step},
    {.file = TILES,
     .name = "matrix_turned",
     .grid = {1, 1, 1},
     .block = {128, 1, 1},
     .regions = {PARITY_IN("a", HALVES, 16 * 64, parity_quarters),
                 PARITY_IN("b", HALVES, 8 * 64, parity_quarters), PARITY_OUT("c", FLOATS, 4 * 16 * 16)},
     .model = model_turned},
    {TILE_ROW("relax_two_arrays", 1, 128, 5),
     .regions = {PARITY_IN("x", FLOATS, 128, parity_small), PARITY_OUT("y", FLOATS, 128)},
     .model = model_relax},
    {TILE_ROW("relax_in_place", 1, 128, 6),
     .regions = {PARITY_IN("x", FLOATS, 128, parity_small), PARITY_OUT("y", FLOATS, 128)},
     .model = model_relax},
};

#endif
