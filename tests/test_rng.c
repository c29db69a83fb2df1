/* SPDX-License-Identifier: MIT */
/* test_rng.c - fixed numbers (those of state 1,2,3,4 and seed 1234567 are published with the generators in
 * other libraries; all were computed again in Python), and loose bounds on what the distributions look like.
 */
#include "unit.h"

#include "rng.h"

static void test_splitmix64_seeds_the_state(void **state) {
  (void)state;
  const uint64_t of_0[] = {0xe220a8397b1dcdafu, 0x6e789e6aa1b965f4u, 0x06c45d188009454fu,
                           0xf88bb8a8724c81ecu};
  const uint64_t of_1234567[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                 4593380528125082431u};
  assay_rng rng;
  assay_rng_seed(&rng, 0);
  assert_memory_equal(rng.state, of_0, sizeof of_0);
  assay_rng_seed(&rng, 1234567);
  assert_memory_equal(rng.state, of_1234567, sizeof of_1234567);
}

static void test_xoshiro256plusplus(void **state) {
  (void)state;
  const uint64_t want[] = {
      41943041u, 58720359u, 3588806011781223u, 3591011842654386u, 9228616714210784205u, 9973669472204895162u};
  assay_rng rng = {{1, 2, 3, 4}};
  for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) assert_true(assay_rng_next(&rng) == want[i]);
  const uint64_t of_42[] = {0xd0764d4f4476689fu, 0x519e4174576f3791u, 0xfbe07cfb0c24ed8cu,
                            0xb37d9f600cd835b8u};
  assay_rng_seed(&rng, 42);
  for (size_t i = 0; i < sizeof of_42 / sizeof of_42[0]; i++) assert_true(assay_rng_next(&rng) == of_42[i]);
}

static void test_seed_mix_depends_on_both(void **state) {
  (void)state;
  assert_true(assay_seed_mix(1, 2) == 0xbcd9dbb49673066bu);
  assert_true(assay_seed_mix(2, 1) == 0xe06dd043328bd285u);
  assert_true(assay_seed_mix(0, 0) == 0xa706dd2f4d197e6fu);
  enum { SIDE = 40, COUNT = SIDE * SIDE };
  uint64_t seen[COUNT];
  for (uint64_t i = 0; i < COUNT; i++) {
    seen[i] = assay_seed_mix(i / SIDE, i % SIDE);
    for (uint64_t k = 0; k < i; k++) assert_true(seen[k] != seen[i]);
  }
}

static void test_uniform(void **state) {
  (void)state;
  enum { COUNT = 200000 };
  assay_rng rng;
  assay_rng_seed(&rng, 7);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < COUNT; i++) {
    const double value = assay_rng_uniform(&rng);
    assert_true(value >= 0.0 && value < 1.0);
    sum += value;
    squares += value * value;
  }
  assert_near(sum / COUNT, 0.5, 0.005);
  assert_near(squares / COUNT, 1.0 / 3.0, 0.005);
}

/* The top 53 bits of the next number, so that 1 is never reached. */
static void test_uniform_uses_53_bits(void **state) {
  (void)state;
  assay_rng rng = {{0, 0, 0, UINT64_MAX}}; /* the next number is rotl(2^64 - 1, 23) + 0: all ones */
  assert_same_double(assay_rng_uniform(&rng), 1.0 - 0x1p-53);
}

static void test_normal(void **state) {
  (void)state;
  enum { COUNT = 200000 };
  assay_rng rng;
  assay_rng_seed(&rng, 11);
  double moments[5] = {0};
  int beyond_two = 0;
  for (int i = 0; i < COUNT; i++) {
    const double value = assay_rng_normal(&rng);
    assert_true(isfinite(value));
    double power = 1;
    for (int k = 0; k < 5; k++) {
      moments[k] += power / COUNT;
      power *= value;
    }
    beyond_two += fabs(value) > 2;
  }
  assert_near(moments[1], 0.0, 0.02);
  assert_near(moments[2], 1.0, 0.03);
  assert_near(moments[3], 0.0, 0.08);
  assert_near(moments[4], 3.0, 0.2);
  assert_near(beyond_two / (double)COUNT, 0.0455, 0.004);
}

static void test_below_stays_below_and_reaches_all(void **state) {
  (void)state;
  assay_rng rng;
  assay_rng_seed(&rng, 3);
  for (uint64_t bound = 1; bound <= 20; bound++) {
    int hits[20] = {0};
    for (int i = 0; i < 5000; i++) {
      const uint64_t number = assay_rng_below(&rng, bound);
      assert_true(number < bound);
      hits[number]++;
    }
    for (uint64_t i = 0; i < bound; i++) assert_near(hits[i] * (double)bound / 5000, 1.0, 0.35);
  }
}

/* With three quarters of the range as the bound, a plain remainder would hit the lowest third of it twice as
 * often. */
static void test_below_has_no_bias(void **state) {
  (void)state;
  const uint64_t quarter = UINT64_C(1) << 62;
  assay_rng rng;
  assay_rng_seed(&rng, 5);
  int lowest = 0;
  for (int i = 0; i < 30000; i++) {
    const uint64_t number = assay_rng_below(&rng, 3 * quarter);
    assert_true(number < 3 * quarter);
    lowest += number < quarter;
  }
  assert_near(lowest / 30000.0, 1.0 / 3.0, 0.02);
  for (int i = 0; i < 1000; i++) assert_true(assay_rng_below(&rng, UINT64_MAX) < UINT64_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_splitmix64_seeds_the_state),
      cmocka_unit_test(test_xoshiro256plusplus),
      cmocka_unit_test(test_seed_mix_depends_on_both),
      cmocka_unit_test(test_uniform),
      cmocka_unit_test(test_uniform_uses_53_bits),
      cmocka_unit_test(test_normal),
      cmocka_unit_test(test_below_stays_below_and_reaches_all),
      cmocka_unit_test(test_below_has_no_bias),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
