/* SPDX-License-Identifier: MIT */
/* test_counts.c - sectors, passes over banks and words of emulated kernels against numbers found by hand. */
#include "unit.h"

#include "emulator.h"
#include "emulator_join.h"
#include "emulator_watch.h"

enum { WORDS = 2048 };

typedef struct count_args {
  const float *in;
  float *out;
  int64_t count;
} count_args;

static float in[WORDS] __attribute__((aligned(128)));
static float out[WORDS] __attribute__((aligned(128)));

/* ---- one access of a warp ------------------------------------------------------------------------------ */

/* Lane i has `bytes` bytes at base + i * step. */
static warp_access access_of(uint32_t mask, uintptr_t base, uintptr_t step, uint16_t bytes) {
  warp_access access = {.mask = mask};
  for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++) {
    access.address[i] = base + i * step;
    access.bytes[i] = bytes;
  }
  return access;
}

static void test_sectors(void **state) {
  static const struct {
    uint32_t mask;
    uintptr_t base, step;
    uint16_t bytes;
    int64_t sectors;
  } cases[] = {
      {0xffffffffu, 4096, 4, 4, 4},    /* 128 bytes side by side */
      {0xffffffffu, 4100, 4, 4, 5},    /* the same, not at a sector's beginning */
      {0xffffffffu, 4096, 8, 4, 8},    /* every second word */
      {0xffffffffu, 4096, 128, 4, 32}, /* each lane a row of its own */
      {0xffffffffu, 4096, 0, 4, 1},    /* all the same word */
      {0xffffffffu, 4096, 16, 16, 16}, /* 512 bytes */
      {0xffffffffu, 4096, 2, 2, 2},    {0xffffffffu, 4112, 32, 32, 33}, /* 1024 bytes that begin in the middle
                                                                           of a sector */
      {0x0000ffffu, 4096, 4, 4, 2},    {0x80000001u, 4096, 32, 4, 2},   {0, 4096, 4, 4, 0},
      {0xffffffffu, 4096, 4, 0, 0},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const warp_access access = access_of(cases[i].mask, cases[i].base, cases[i].step, cases[i].bytes);
    if (assay_join_sectors(&access) != cases[i].sectors)
      fail_msg("case %zu: %lld sectors, not %lld", i, (long long)assay_join_sectors(&access),
               (long long)cases[i].sectors);
  }
}

/* The order of lanes does not matter, and a long stretch may hold a short one that begins later. */
static void test_sectors_out_of_order(void **state) {
  (void)state;
  warp_access access = access_of(7, 4096, 0, 4);
  access.address[0] = 4096 + 320;
  access.address[1] = 4096;
  access.bytes[1] = 256;
  access.address[2] = 4096 + 64;
  assert_int_equal(assay_join_sectors(&access), 9);
}

static void test_passes(void **state) {
  static const struct {
    uint32_t mask;
    uintptr_t step;
    uint16_t bytes;
    int64_t passes;
  } cases[] = {
      {0xffffffffu, 4, 4, 1},     /* each lane a bank */
      {0xffffffffu, 0, 4, 1},     /* all the same word */
      {0xffffffffu, 8, 4, 2},     /* every second word: 16 banks, two words each */
      {0xffffffffu, 12, 4, 1},    /* 3 and 32 share no divisor */
      {0xffffffffu, 128, 4, 32},  /* a column of 32 words a row */
      {0xffffffffu, 132, 4, 1},   /* of 33 */
      {0xffffffffu, 2, 2, 1},     /* two lanes share a word */
      {0xffffffffu, 64, 2, 16},   /* two banks, 16 words each */
      {0xffffffffu, 8, 8, 2},     /* two halves */
      {0xffffffffu, 16, 16, 4},   /* four quarters */
      {0xffffffffu, 128, 16, 32}, /* 8 lanes of a quarter in the same four banks */
      {0x000000ffu, 16, 16, 1},   /* one quarter is there */
      {0x00000001u, 4, 4, 1},     {0, 4, 4, 0},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const warp_access access = access_of(cases[i].mask, 4096, cases[i].step, cases[i].bytes);
    if (assay_join_passes(&access) != cases[i].passes)
      fail_msg("case %zu: %lld passes, not %lld", i, (long long)assay_join_passes(&access),
               (long long)cases[i].passes);
  }
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

typedef struct count_case {
  const char *kernel;
  uint32_t blocks, threads;
  int64_t count;
  int64_t bytes_read, sectors_read, bytes_written, sectors_written;
  int64_t shared_accesses, shared_passes;
} count_case;

static const count_case cases[] = {
    {"neighbours", 1, 32, 0, 128, 4, 128, 4, 0, 0},     {"neighbours", 3, 64, 0, 768, 24, 768, 24, 0, 0},
    {"neighbours", 1, 40, 0, 160, 5, 160, 5, 0, 0},     {"every_second", 1, 32, 0, 128, 8, 128, 4, 0, 0},
    {"a_row_apart", 1, 32, 0, 128, 32, 128, 4, 0, 0},   {"one_for_all", 1, 32, 0, 128, 1, 128, 4, 0, 0},
    {"one_off", 1, 32, 0, 128, 5, 128, 4, 0, 0},        {"wide", 1, 32, 0, 512, 16, 512, 16, 0, 0},
    {"half_the_size", 1, 32, 0, 64, 2, 64, 2, 0, 0},    {"walk", 1, 32, 128, 512, 16, 128, 4, 0, 0},
    {"walk", 1, 32, 40, 160, 5, 128, 4, 0, 0},          {"uneven", 1, 32, 2, 384, 4, 128, 4, 0, 0},
    {"alone", 1, 1, 70000, 280000, 70000, 4, 1, 0, 0},  {"alone", 1, 32, 1000, 128000, 1000, 128, 1, 0, 0},
    {"tile_column", 1, 32, 0, 128, 4, 128, 4, 2, 64},   {"padded_column", 1, 32, 0, 128, 4, 128, 4, 2, 2},
    {"tile_broadcast", 1, 32, 0, 128, 4, 128, 4, 2, 2}, {"tile_wide", 1, 32, 0, 512, 16, 512, 16, 2, 8},
    {"tile_double", 1, 32, 0, 128, 4, 128, 4, 2, 4},    {"copies", 1, 32, 0, 512, 16, 128, 4, 2, 8},
};

static assay_counts count(assay_queue *queue, const char *kernel, uint32_t blocks, uint32_t threads,
                          int64_t number) {
  const assay_region regions[] = {
      {.name = "in", .start = in, .bytes = sizeof in, .element_bytes = 4, .written = true, .constant = true},
      {.name = "out", .start = out, .bytes = sizeof out, .element_bytes = 4},
  };
  const count_args args = {in, out, number};
  const assay_launch launch = {.file = "tests/kernels/counts.cu",
                               .kernel = kernel,
                               .grid = {blocks, 1, 1},
                               .block = {threads, 1, 1},
                               .cluster = 1,
                               .args = &args,
                               .arg_bytes = sizeof args};
  assert_int_equal(assay_emulator_watch(queue, ASSAY_TOOL_COUNTS, regions, 2), ASSAY_OK);
  if (assay_emulator_launch(queue, &launch) != ASSAY_OK)
    fail_msg("%s: %s", kernel, assay_emulator_message(queue));
  return assay_emulator_counts(queue, -1);
}

static void expect(const char *kernel, const char *what, int64_t got, int64_t want) {
  if (got != want) fail_msg("%s: %s %lld, not %lld", kernel, what, (long long)got, (long long)want);
}

/* Under every order of threads the same. */
static void test_kernels(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_emulator(2, &queue), ASSAY_OK);
  for (uint64_t seed = 0; seed < 3; seed++) {
    assay_emulator_seed(queue, seed);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      const count_case *one = &cases[i];
      const assay_counts got = count(queue, one->kernel, one->blocks, one->threads, one->count);
      const assay_counts read = assay_emulator_counts(queue, 0);
      const assay_counts written = assay_emulator_counts(queue, 1);
      expect(one->kernel, "bytes read", got.bytes_read, one->bytes_read);
      expect(one->kernel, "sectors read", got.sectors_read, one->sectors_read);
      expect(one->kernel, "bytes written", got.bytes_written, one->bytes_written);
      expect(one->kernel, "sectors written", got.sectors_written, one->sectors_written);
      expect(one->kernel, "shared accesses", got.shared_accesses, one->shared_accesses);
      expect(one->kernel, "shared passes", got.shared_passes, one->shared_passes);
      expect(one->kernel, "bytes of in", read.bytes_read, one->bytes_read);
      expect(one->kernel, "sectors of in", read.sectors_read, one->sectors_read);
      expect(one->kernel, "bytes written to in", read.bytes_written, 0);
      expect(one->kernel, "bytes of out", written.bytes_written, one->bytes_written);
      expect(one->kernel, "sectors of out", written.sectors_written, one->sectors_written);
      expect(one->kernel, "launches", got.launches, 1);
      expect(one->kernel, "blocks", got.blocks, one->blocks);
      expect(one->kernel, "threads", got.threads, (int64_t)one->blocks * one->threads);
    }
  }
  assay_queue_close(queue);
}

static void test_words(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_emulator(1, &queue), ASSAY_OK);
  assay_counts got = count(queue, "words", 2, 64, 0);
  expect("words", "barriers", got.barriers, 2);               /* one a block */
  expect("words", "warp operations", got.warp_operations, 8); /* a shuffle and a __syncwarp a warp */
  expect("words", "atomics", got.atomics, 128);
  /* A thread: a read, a shuffle, two barriers, the access of its atomic. */
  expect("words", "steps", got.steps, 128 * 5);
  got = count(queue, "matrix", 1, 32, 0);
  expect("matrix", "FLOPs", got.matrix_flops, 2 * 2 * 16 * 8 * 16);
  expect("matrix", "warp operations", got.warp_operations, 2);
  assay_queue_close(queue);
}

/* Launches add up until the next watch begins. */
static void test_sums(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_emulator(1, &queue), ASSAY_OK);
  (void)count(queue, "neighbours", 1, 32, 0);
  const count_args args = {in, out, 0};
  const assay_launch launch = {.file = "tests/kernels/counts.cu",
                               .kernel = "every_second",
                               .grid = {1, 1, 1},
                               .block = {32, 1, 1},
                               .cluster = 1,
                               .args = &args,
                               .arg_bytes = sizeof args};
  assert_int_equal(assay_emulator_launch(queue, &launch), ASSAY_OK);
  const assay_counts both = assay_emulator_counts(queue, -1);
  expect("two launches", "launches", both.launches, 2);
  expect("two launches", "sectors read", both.sectors_read, 12);
  const assay_counts fresh = count(queue, "neighbours", 1, 32, 0);
  expect("a new watch", "sectors read", fresh.sectors_read, 4);
  assay_queue_close(queue);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sectors), cmocka_unit_test(test_sectors_out_of_order),
      cmocka_unit_test(test_passes),  cmocka_unit_test(test_kernels),
      cmocka_unit_test(test_words),   cmocka_unit_test(test_sums),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
