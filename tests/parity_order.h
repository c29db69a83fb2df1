/* SPDX-License-Identifier: MIT */
/* parity_order.h - rows and models of the kernels in kernels/clean_order.cu. */
#ifndef ASSAY_PARITY_ORDER_H
#define ASSAY_PARITY_ORDER_H

#include "parity.h"

#define ORDER "tests/kernels/clean_order.cu"

static void parity_maze(void *data, uint32_t count) {
  uint8_t *to = data;
  assay_rng rng;
  assay_rng_seed(&rng, count);
  for (uint32_t i = 0; i < count; ++i) to[i] = assay_rng_below(&rng, 3) > 0;
}

static void model_chain(void *const *at, const int64_t *numbers) {
  const uint32_t *x = at[0];
  uint32_t *y = at[1], *ready = at[3], *totals = at[4];
  const int64_t pieces = (numbers[0] + 63) / 64;
  uint32_t sum = 0;
  for (int64_t i = 0; i < numbers[0]; ++i) {
    y[i] = sum += x[i];
    totals[i / 64] = sum;
  }
  for (int64_t p = 0; p < pieces; ++p) ready[p] = 1;
  *(uint32_t *)at[2] = (uint32_t)pieces;
}

static void model_handoff(void *const *at, const int64_t *numbers) {
  const uint32_t *x = at[0];
  uint32_t *y = at[1], *room = at[2];
  (void)numbers;
  for (int i = 0; i < 64; ++i) room[i] = x[i] * 3;
  for (int i = 0; i < 64; ++i) y[i] = room[63 - i];
  *(uint32_t *)at[3] = 2;
  *(uint32_t *)at[4] = 1;
}

static void model_mailbox(void *const *at, const int64_t *numbers) {
  const uint32_t *x = at[0];
  uint32_t *y = at[1];
  (void)numbers;
  for (int i = 0; i < 128; ++i) y[i] = x[i ^ 31] + 1;
}

static void model_lock(void *const *at, const int64_t *numbers) {
  uint32_t *sum = at[1], *rounds = at[2];
  (void)numbers;
  for (uint32_t block = 0; block < 5; ++block) *sum += 3 * block + 3;
  *rounds += 15;
}

static void model_cluster_sum(void *const *at, const int64_t *numbers) {
  const uint32_t *x = at[0];
  uint32_t *y = at[1];
  (void)numbers;
  for (int i = 0; i < 512; ++i) {
    uint32_t sum = 0;
    for (int k = i / 256 * 256; k < i / 256 * 256 + 256; ++k) sum += x[k];
    y[i] = sum - x[i];
  }
}

static void model_cluster_ring(void *const *at, const int64_t *numbers) {
  uint32_t value[128], next[128];
  (void)numbers;
  memcpy(value, at[0], sizeof value);
  for (uint32_t round = 0; round < 3; ++round) {
    for (int i = 0; i < 128; ++i) next[i] = value[(i / 32 + 3) % 4 * 32 + 31 - i % 32] * 2 + round;
    memcpy(value, next, sizeof value);
  }
  memcpy(at[1], value, sizeof value);
}

static void model_halves(void *const *at, const int64_t *numbers) {
  const uint32_t *x = at[0];
  uint32_t *y = at[1];
  (void)numbers;
  for (uint32_t i = 0; i < 64; ++i) y[i] = i % 32 < 16 ? x[i ^ 15] + (i % 32 ^ 1) : x[i ^ 15] * 2 + 8;
}

static void model_flood(void *const *at, const int64_t *numbers) {
  const uint8_t *open = at[0];
  uint32_t *label = at[1];
  bool changed = true;
  (void)numbers;
  for (uint32_t i = 0; i < 256; ++i) label[i] = open[i] != 0 ? i : 1000;
  while (changed) {
    changed = false;
    for (int i = 0; i < 256; ++i) {
      const int around[4] = {i % 16 > 0 ? i - 1 : i, i % 16 < 15 ? i + 1 : i, i > 15 ? i - 16 : i,
                             i < 240 ? i + 16 : i};
      for (int k = 0; open[i] != 0 && k < 4; ++k) {
        if (label[around[k]] >= label[i]) continue;
        label[i] = label[around[k]];
        changed = true;
      }
    }
  }
}

static void model_room(void *const *at, const int64_t *numbers) {
  const uint32_t *x = at[0];
  uint32_t *y = at[1], *room = at[2];
  (void)numbers;
  for (uint32_t b = 0; b < 3; ++b) {
    for (uint32_t i = 0; i < 64; ++i) room[b * 64 + i] = (x[(i + 1) % 64] + b) * 2;
    for (uint32_t i = 0; i < 64; ++i) y[b * 64 + i] = room[b * 64 + (i + 63) % 64];
    *(uint32_t *)at[3] += x[1] + b;
  }
  *(uint32_t *)at[4] = 1;
}

static void model_votes_counted(void *const *at, const int64_t *numbers) {
  const uint32_t *x = at[0];
  uint32_t *y = at[1];
  (void)numbers;
  for (uint32_t b = 0; b < 2; ++b) {
    uint32_t even = 0;
    for (uint32_t i = 0; i < 96; ++i) even += x[b * 96 + i] % 2 == 0;
    for (uint32_t i = 0; i < 96; ++i) y[b * 96 + i] = i < even ? i + 1 : 0;
  }
}

#define ORDER_ROW(kernel, blocks, threads)                                                                   \
  .file = ORDER, .name = (kernel), .grid = {blocks, 1, 1}, .block = {threads, 1, 1}

static const parity_case parity_order[] = {
    {ORDER_ROW("chained_scan", 5, 64),
     .regions = {PARITY_IN("x", WORDS, 300, parity_words), PARITY_OUT("y", WORDS, 300),
                 PARITY_BOTH("ticket", WORDS, 1, parity_zero), PARITY_BOTH("ready", WORDS, 5, parity_zero),
                 PARITY_OUT("totals", WORDS, 5)},
     .numbers = {300}, .number_count = 1, .model = model_chain},
    {ORDER_ROW("handoff_between_blocks", 2, 64),
     .regions = {PARITY_IN("x", WORDS, 64, parity_words), PARITY_OUT("y", WORDS, 64),
                 PARITY_OUT("room", WORDS, 64), PARITY_BOTH("ticket", WORDS, 1, parity_zero),
                 PARITY_BOTH("flag", WORDS, 1, parity_zero)},
     .model = model_handoff},
    {ORDER_ROW("volatile_flag", 2, 64),
     .regions = {PARITY_IN("x", WORDS, 64, parity_words), PARITY_OUT("y", WORDS, 64),
                 PARITY_OUT("room", WORDS, 64), PARITY_BOTH("ticket", WORDS, 1, parity_zero),
                 PARITY_BOTH("flag", WORDS, 1, parity_zero)},
     .model = model_handoff},
    {ORDER_ROW("mailbox", 1, 64),
     .regions = {PARITY_IN("x", WORDS, 128, parity_words), PARITY_OUT("y", WORDS, 128)},
     .model = model_mailbox},
    {ORDER_ROW("lock_around_sum", 5, 32),
     .regions = {PARITY_BOTH("lock", WORDS, 1, parity_zero), PARITY_BOTH("sum", WORDS, 1, parity_zero),
                 PARITY_BOTH("rounds", WORDS, 1, parity_zero)},
     .model = model_lock},
    {ORDER_ROW("cluster_sum", 8, 64), .shared_bytes = 8, .cluster = 4,
     .regions = {PARITY_IN("x", WORDS, 512, parity_words), PARITY_OUT("y", WORDS, 512)},
     .model = model_cluster_sum},
    {ORDER_ROW("cluster_ring", 4, 32), .shared_bytes = 128, .cluster = 4,
     .regions = {PARITY_IN("x", WORDS, 128, parity_words), PARITY_OUT("y", WORDS, 128)},
     .model = model_cluster_ring},
    {ORDER_ROW("half_warps", 1, 64),
     .regions = {PARITY_IN("x", WORDS, 64, parity_words), PARITY_OUT("y", WORDS, 64)}, .model = model_halves},
    {ORDER_ROW("flood_labels", 1, 256),
     .regions = {PARITY_IN("open", BYTES, 256, parity_maze), PARITY_OUT("label", WORDS, 256)},
     .numbers = {16}, .number_count = 1, .model = model_flood},
    {ORDER_ROW("room_in_global", 3, 64),
     .regions = {PARITY_IN("x", WORDS, 64, parity_words), PARITY_OUT("y", WORDS, 192),
                 PARITY_OUT("room", WORDS, 192), PARITY_BOTH("ticket", WORDS, 1, parity_zero),
                 PARITY_BOTH("flag", WORDS, 1, parity_zero)},
     .model = model_room},
    {ORDER_ROW("counted_votes", 2, 96),
     .regions = {PARITY_IN("x", WORDS, 192, parity_words), PARITY_OUT("y", WORDS, 192)},
     .model = model_votes_counted},
};

#endif
