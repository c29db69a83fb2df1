/* SPDX-License-Identifier: MIT */
/* test_kernel.c - every primitive of kernel.h, emulated, against its plain model. */
#include "unit.h"

#include <stdlib.h>

#include "emulator.h"
#include "primitives.h"
#include "primitives_memory.h"
#include "primitives_warps.h"

static void compare(const primitive *one, const uint32_t *got, const uint32_t *want, uint64_t seed) {
  for (uint32_t i = 0; i < one->out_words; ++i) {
    if (got[i] == want[i]) continue;
    const double a = (double)assay_float_from_bits(got[i]);
    const double b = (double)assay_float_from_bits(want[i]);
    if (one->allowed > 0 && ((isnan(a) && isnan(b)) || fabs(a - b) <= one->allowed * fabs(b))) continue;
    fail_msg("%s, seed %d: word %u is 0x%08x (%g), expected 0x%08x (%g)", one->name, (int)seed, i, got[i], a,
             want[i], b);
  }
}

/* Memory of exactly the kernel's size, so that a sanitizer or the allocator sees what goes beyond. */
static void run(const primitive *one, uint64_t seed, int threads) {
  assay_queue *queue = NULL;
  uint32_t *in = calloc(one->in_words + 4, sizeof *in);
  uint32_t *got = calloc(one->out_words + 4, sizeof *got);
  uint32_t *want = calloc(one->out_words, sizeof *want);
  assert_true(in != NULL && got != NULL && want != NULL);
  one->fill(in, one->in_words);
  one->model(in, want);
  assert_int_equal(assay_queue_open_emulator(threads, &queue), ASSAY_OK);
  assay_emulator_seed(queue, seed);
  const assay_status status = primitive_launch(one, queue, in, got);
  if (status != ASSAY_OK) fail_msg("%s: %s", one->name, assay_emulator_message(queue));
  assert_int_equal(assay_queue_wait(queue), ASSAY_OK);
  compare(one, got, want, seed);
  assay_queue_close(queue);
  free(in);
  free(got);
  free(want);
}

static void run_all(const primitive *table, size_t count, uint64_t seed, int threads) {
  for (size_t i = 0; i < count; ++i) run(&table[i], seed, threads);
}

static void test_warps(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 8; ++seed)
    run_all(warp_primitives, sizeof warp_primitives / sizeof warp_primitives[0], seed, 1);
}

static void test_memory(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 2; ++seed)
    run_all(memory_primitives, sizeof memory_primitives / sizeof memory_primitives[0], seed, 1);
}

static void test_threads(void **state) {
  (void)state;
  run_all(warp_primitives, sizeof warp_primitives / sizeof warp_primitives[0], 5, 4);
  run_all(memory_primitives, sizeof memory_primitives / sizeof memory_primitives[0], 0, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_warps),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
