/* SPDX-License-Identifier: MIT */
/* parity_scans.h - rows and models of the kernels in kernels/clean_scans.cu. */
#ifndef ASSAY_PARITY_SCANS_H
#define ASSAY_PARITY_SCANS_H

#include "parity.h"

#define SCANS "tests/kernels/clean_scans.cu"

static void parity_rising(void *data, uint32_t count) {
  uint32_t *to = data;
  uint32_t value = count;
  for (uint32_t i = 0; i < count; ++i) to[i] = value += i * 5 % 3;
}

/* Values of 0 to 255, many of them more than once. */
static void parity_few(void *data, uint32_t count) {
  uint32_t *to = data;
  parity_words(data, count);
  for (uint32_t i = 0; i < count; ++i) to[i] %= 256;
}

static void parity_text(void *data, uint32_t count) {
  uint8_t *to = data;
  for (uint32_t i = 0; i < count; ++i) to[i] = (uint8_t) "abcabab"[i % 7];
}

static void parity_keys(void *data, uint32_t count) {
  uint32_t *to = data;
  for (uint32_t i = 0; i < count; ++i) to[i] = i * 137 % 1000;
}

static void scan_pieces(const uint32_t *x, uint32_t *y, int64_t n, int64_t piece, bool with_self) {
  uint32_t sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (i % piece == 0) sum = 0;
    y[i] = with_self ? sum + x[i] : sum;
    sum += x[i];
  }
}

static void model_scan_256(void *const *at, const int64_t *numbers) {
  scan_pieces(at[0], at[1], numbers[0], 256, true);
}

static void model_scan_512(void *const *at, const int64_t *numbers) {
  scan_pieces(at[0], at[1], numbers[0], 512, false);
}

static void model_scan_all(void *const *at, const int64_t *numbers) {
  scan_pieces(at[0], at[1], numbers[0], numbers[0], true);
}

static void model_compact(void *const *at, const int64_t *numbers) {
  const uint32_t *x = at[0];
  uint32_t *kept = at[1];
  uint32_t count = 0;
  for (int64_t i = 0; i < numbers[0]; ++i) {
    if (x[i] % 3 == 0) kept[count++] = x[i];
  }
  *(uint32_t *)at[2] = count;
}

static int order_words(const void *left, const void *right) {
  const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return (a > b) - (a < b);
}

static void model_sorted(void *const *at, const int64_t *numbers) {
  memcpy(at[1], at[0], (size_t)numbers[0] * sizeof(uint32_t));
  qsort(at[1], (size_t)numbers[0], sizeof(uint32_t), order_words);
}

static void model_rank(void *const *at, const int64_t *numbers) {
  const uint32_t *x = at[0];
  uint32_t *y = at[1];
  for (int64_t i = 0; i < numbers[0]; ++i) {
    y[i] = 0;
    for (int64_t k = 0; k < numbers[0]; ++k) y[i] += x[k] < x[i] || (x[k] == x[i] && k < i);
  }
}

static void model_merge(void *const *at, const int64_t *numbers) {
  uint32_t *merged = at[2];
  memcpy(merged, at[0], (size_t)numbers[0] * sizeof(uint32_t));
  memcpy(merged + numbers[0], at[1], (size_t)numbers[1] * sizeof(uint32_t));
  qsort(merged, (size_t)(numbers[0] + numbers[1]), sizeof(uint32_t), order_words);
}

static void model_find_text(void *const *at, const int64_t *numbers) {
  const uint8_t *text = at[0];
  uint32_t *places = at[2];
  for (int64_t i = 0; i + numbers[1] <= numbers[0]; ++i)
    places[i] = memcmp(text + i, at[1], (size_t)numbers[1]) == 0;
}

static void model_lower_bounds(void *const *at, const int64_t *numbers) {
  const uint32_t *sorted = at[0], *keys = at[1];
  uint32_t *places = at[2];
  for (int64_t i = 0; i < numbers[1]; ++i) {
    places[i] = 0;
    while (places[i] < numbers[0] && sorted[places[i]] < keys[i]) places[i]++;
  }
}

#define SCAN_ROW(kernel, blocks, threads, count)                                                             \
  .file = SCANS, .name = (kernel), .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .numbers = {count},     \
  .number_count = 1
#define SCAN_TWO(kernel, blocks, threads, first, second)                                                     \
  .file = SCANS, .name = (kernel), .grid = {blocks, 1, 1}, .block = {threads, 1, 1},                         \
  .numbers = {first, second}, .number_count = 2

static const parity_case parity_scans[] = {
    {SCAN_ROW("scan_two_buffers", 3, 256, 700),
     .regions = {PARITY_IN("x", WORDS, 700, parity_words), PARITY_OUT("y", WORDS, 700)},
     .model = model_scan_256},
    {SCAN_ROW("scan_up_and_down", 2, 256, 900),
     .regions = {PARITY_IN("x", WORDS, 900, parity_words), PARITY_OUT("y", WORDS, 900)},
     .model = model_scan_512},
    {SCAN_ROW("scan_with_carry", 1, 256, 1000),
     .regions = {PARITY_IN("x", WORDS, 1000, parity_words), PARITY_OUT("y", WORDS, 1000)},
     .model = model_scan_all},
    {SCAN_ROW("compact_ballots", 1, 256, 700),
     .regions = {PARITY_IN("x", WORDS, 700, parity_words), PARITY_BOTH("kept", WORDS, 700, parity_zero),
                 PARITY_OUT("count", WORDS, 1)},
     .model = model_compact},
    {SCAN_ROW("radix_splits", 1, 256, 256),
     .regions = {PARITY_IN("x", WORDS, 256, parity_few), PARITY_OUT("y", WORDS, 256)}, .model = model_sorted},
    {SCAN_ROW("bitonic_sort", 1, 256, 512),
     .regions = {PARITY_IN("x", WORDS, 512, parity_words), PARITY_OUT("y", WORDS, 512)},
     .model = model_sorted},
    {SCAN_ROW("sort_until_quiet", 1, 64, 128),
     .regions = {PARITY_IN("x", WORDS, 128, parity_few), PARITY_OUT("y", WORDS, 128)}, .model = model_sorted},
    {SCAN_ROW("rank_by_tiles", 3, 64, 150),
     .regions = {PARITY_IN("x", WORDS, 150, parity_few), PARITY_OUT("y", WORDS, 150)}, .model = model_rank},
    {SCAN_TWO("merge_paths", 2, 64, 201, 170),
     .regions = {PARITY_IN("a", WORDS, 201, parity_rising), PARITY_IN("b", WORDS, 170, parity_rising),
                 PARITY_OUT("merged", WORDS, 371)},
     .model = model_merge},
    {SCAN_TWO("find_text", 5, 64, 300, 4),
     .regions = {PARITY_IN("text", BYTES, 300, parity_text), PARITY_IN("wanted", BYTES, 4, parity_text),
                 PARITY_BOTH("places", WORDS, 300, parity_zero)},
     .model = model_find_text},
    {SCAN_TWO("lower_bounds", 2, 64, 300, 100),
     .regions = {PARITY_IN("sorted", WORDS, 300, parity_rising), PARITY_IN("keys", WORDS, 100, parity_keys),
                 PARITY_OUT("places", WORDS, 100)},
     .model = model_lower_bounds},
};

#endif
