/* SPDX-License-Identifier: MIT */
/*
 * test_normalizer.c - the oracle against a second definition, its bound against honest kernels with other
 * orders and other trees, the FP32 merge against the public one, the typed calls.
 */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/compare.h"
#include "half.h"
#include "ops/online_normalizer/normalizer.h"
#include "ops/online_normalizer/normalizer_merge.h"
#include "ops/ops.h"
#include "tensor.h"

enum { MOST = 20000 };

static double values[MOST];
static float singles[MOST];
static double want[MOST];
static double allowed[MOST];

/* ---- the oracle ---------------------------------------------------------------------------------------- */

static void oracle_state(assay_dtype dtype, int64_t count) {
  const void *data = dtype == ASSAY_FP64 ? (const void *)values : (const void *)singles;
  const assay_tensor x = assay_tensor_make((void *)(uintptr_t)data, dtype, 1, (const int64_t[]){count});
  assay_normalizer_oracle(ASSAY_ONLINE_NORMALIZER_SUMMARISE, &x, NULL, NULL, 0, 2, want, allowed);
}

static void fill_normal(uint64_t seed, int64_t count, double mean, double scale) {
  assay_rng rng;
  assay_rng_seed(&rng, seed);
  for (int64_t i = 0; i < count; i++) {
    singles[i] = (float)(mean + scale * assay_rng_normal(&rng));
    values[i] = (double)singles[i];
  }
}

static void the_oracle_agrees_with_a_log_domain_definition(void **state) {
  (void)state;
  const int64_t counts[] = {1, 2, 7, 100, 8192};
  for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
    fill_normal(k, counts[k], 3, 5);
    oracle_state(ASSAY_FP64, counts[k]);
    /* m + log(s) is the logarithm of the plain sum, which has no maximum in it. */
    long double sum = 0;
    for (int64_t i = 0; i < counts[k]; i++) sum += expl((long double)values[i]);
    assert_near(want[0] + log(want[1]), (double)logl(sum), 1e-13);
    assert_true(allowed[0] == 0 && allowed[1] > 0);
    /* And finish(x) = exp(x - log(sum)). */
    const double given[2] = {want[0], want[1]};
    const assay_tensor in[] = {
        assay_tensor_make((void *)(uintptr_t)given, ASSAY_FP64, 1, (const int64_t[]){2}),
        assay_tensor_make(values, ASSAY_FP64, 1, (const int64_t[]){counts[k]})};
    assay_normalizer_oracle(ASSAY_ONLINE_NORMALIZER_FINISH, in, NULL, NULL, 0, counts[k], want, allowed);
    for (int64_t i = 0; i < counts[k]; i++) {
      const double other = (double)expl((long double)values[i] - logl(sum));
      assert_near(want[i], other, 1e-13 * other);
    }
  }
}

static void oracle_merge(const double left[2], const double right[2]) {
  const assay_tensor in[] = {
      assay_tensor_make((void *)(uintptr_t)left, ASSAY_FP64, 1, (const int64_t[]){2}),
      assay_tensor_make((void *)(uintptr_t)right, ASSAY_FP64, 1, (const int64_t[]){2})};
  assay_normalizer_oracle(ASSAY_ONLINE_NORMALIZER_MERGE, in, NULL, NULL, 0, 2, want, allowed);
}

static void special_states_follow_the_contract(void **state) {
  (void)state;
  const double empty[2] = {-INFINITY, 0};
  const double some[2] = {2.5, 3};
  oracle_merge(empty, empty);
  assert_true(want[0] == -INFINITY && want[1] == 0 && allowed[1] == 0);
  oracle_merge(empty, some);
  assert_true(want[0] == 2.5 && want[1] == 3);
  oracle_merge((const double[]){INFINITY, NAN}, some);
  assert_true(want[0] == INFINITY && isnan(want[1]));
  const double special[3] = {-INFINITY, NAN, INFINITY};
  for (int i = 0; i < 3; i++) {
    values[0] = values[1] = special[i];
    oracle_state(ASSAY_FP64, 2);
    assert_true(want[0] == (i == 2 ? INFINITY : -INFINITY));
    assert_true(i == 0 ? want[1] == 0 : isnan(want[1]));
  }
  oracle_state(ASSAY_FP64, 0);
  assert_true(want[0] == -INFINITY && want[1] == 0);
}

/* ---- honest kernels: the bound must accept each of them, whatever the data ----------------------------- */

typedef struct pair32 {
  float m, s;
} pair32;

static pair32 merged(pair32 a, pair32 b) {
  pair32 result;
  normalizer_merge32(a.m, a.s, b.m, b.s, &result.m, &result.s);
  return result;
}

/* Two passes over at most 1024 elements, one FP32 chain. */
static pair32 two_passes(const float *x, int64_t count) {
  pair32 state = {-INFINITY, 0};
  for (int64_t i = 0; i < count; i++) state.m = fmaxf(state.m, x[i]);
  for (int64_t i = 0; i < count; i++) state.s += expf(x[i] - state.m);
  return state;
}

/* One pass, the sum rescaled whenever the maximum rises. */
static pair32 one_pass(const float *x, int64_t count) {
  pair32 state = {-INFINITY, 0};
  for (int64_t i = 0; i < count; i++) state = merged(state, (pair32){x[i], 1});
  return state;
}

static pair32 backwards(const float *x, int64_t count) {
  pair32 state = {-INFINITY, 0};
  for (int64_t i = count - 1; i >= 0; i--) state = merged((pair32){x[i], 1}, state);
  return state;
}

static pair32 in_pairs(const float *x, int64_t count) {
  if (count == 1) return (pair32){x[0], 1};
  return merged(in_pairs(x, count / 2), in_pairs(x + count / 2, count - count / 2));
}

typedef pair32 summing(const float *x, int64_t count);

/* FP32 blocks of at most 1024 elements, FP64 across them, by the public merge's formula. */
static bool honest_kernel_passes(summing *sum, int64_t count) {
  double m = -INFINITY;
  double s = 0;
  for (int64_t i = 0; i < count; i += 1024) {
    const pair32 block = sum(singles + i, count - i < 1024 ? count - i : 1024);
    const double top = fmax(m, (double)block.m);
    s = s * exp(m - top) + (double)block.s * exp((double)block.m - top);
    m = top;
  }
  oracle_state(ASSAY_FP32, count);
  return m == want[0] && fabs(s - want[1]) <= allowed[1];
}

/* FP64 elements in FP64, one by one from either end: as many merges as there are elements. */
static bool honest_doubles_pass(int64_t count, bool from_the_end) {
  double m = -INFINITY;
  double s = 0;
  for (int64_t i = 0; i < count; i++) {
    const double x = values[from_the_end ? count - 1 - i : i];
    if (x > m) {
      s *= exp(m - x);
      m = x;
    }
    s += exp(x - m);
  }
  oracle_state(ASSAY_FP64, count);
  return m == want[0] && fabs(s - want[1]) <= allowed[1];
}

static int rising(const void *a, const void *b) {
  const float x = *(const float *)a;
  const float y = *(const float *)b;
  return (x > y) - (x < y);
}

static void the_bound_accepts_honest_kernels(void **state) {
  (void)state;
  summing *const sums[] = {two_passes, one_pass, backwards, in_pairs};
  assay_rng rng;
  assay_rng_seed(&rng, 77);
  for (int run = 0; run < 1000; run++) {
    const int64_t count = 1 + (int64_t)assay_rng_below(&rng, UINT64_C(1) << assay_rng_below(&rng, 14));
    const double scales[] = {0, 1e-3, 1, 10, 300};
    fill_normal((uint64_t)run, count, 100 * assay_rng_normal(&rng), scales[run % 5]);
    if (run % 7 == 0) qsort(singles, (size_t)count, sizeof *singles, rising);
    for (int k = 0; k < 4; k++) assert_true(honest_kernel_passes(sums[k], count));
    assert_true(honest_doubles_pass(count, run % 2 == 0));
  }
}

/* Every element a little above the one before: as many rescalings as there can be. */
static void the_bound_accepts_every_rise(void **state) {
  (void)state;
  summing *const sums[] = {two_passes, one_pass, backwards, in_pairs};
  const double steps[] = {1e-6, 1e-4, 1e-2, 0.5, 20};
  for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
    for (int64_t count = 1; count <= 8000; count = count * 2 + 1) {
      for (int64_t i = 0; i < count; i++) singles[i] = (float)(steps[k] * (double)i);
      for (int s = 0; s < 4; s++) assert_true(honest_kernel_passes(sums[s], count));
    }
  }
}

static void the_bound_rejects_classic_mistakes(void **state) {
  (void)state;
  /* One chain of FP32 terms that never moves from 1. */
  for (int64_t i = 0; i < MOST; i++) singles[i] = i == 0 ? 0 : -16.7f;
  oracle_state(ASSAY_FP32, MOST);
  const pair32 chain = two_passes(singles, MOST);
  assert_true(fabs((double)chain.s - want[1]) > allowed[1]);
  assert_true(honest_kernel_passes(two_passes, MOST));
  /* A sum that is not rescaled; one that misses an element; one in 16 bits. */
  fill_normal(5, 300, 0, 2);
  oracle_state(ASSAY_FP32, 300);
  double unscaled = 0;
  double seen = -INFINITY;
  for (int i = 0; i < 300; i++) {
    seen = fmax(seen, values[i]);
    unscaled += exp(values[i] - seen);
  }
  assert_true(fabs(unscaled - want[1]) > allowed[1]);
  assert_true(fabs(want[1] - exp(values[7] - want[0]) - want[1]) > allowed[1]);
  assert_true(fabs(assay_round_to(ASSAY_FP16, want[1]) - want[1]) > allowed[1]);
  /* FP32 exponentials under FP64 elements. */
  double coarse = 0;
  oracle_state(ASSAY_FP64, 300);
  for (int i = 0; i < 300; i++) coarse += (double)expf((float)(values[i] - want[0]));
  assert_true(fabs(coarse - want[1]) > allowed[1]);
}

/* ---- the FP32 merge that kernels use ------------------------------------------------------------------- */

static bool same_bits(float a, float b) {
  return memcmp(&a, &b, sizeof a) == 0;
}

static void the_empty_state_is_the_identity_in_fp32(void **state) {
  (void)state;
  const pair32 empty = {-INFINITY, 0};
  const pair32 states[] = {{-INFINITY, 0}, {2.5f, 3}, {-1e5f, 1}, {3e38f, 7}, {-3e38f, 2}, {-0.0f, 1}};
  for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
    const pair32 left = merged(empty, states[i]);
    const pair32 right = merged(states[i], empty);
    assert_true(same_bits(left.m, states[i].m) && same_bits(left.s, states[i].s));
    assert_true(same_bits(right.m, states[i].m) && same_bits(right.s, states[i].s));
  }
  assert_true(isnan(merged((pair32){1, NAN}, (pair32){5, 2}).s));
  assert_true(isnan(merged((pair32){5, NAN}, (pair32){1, 2}).s));
}

static void the_merge_in_fp32_follows_the_public_one(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_cpu(1, &queue), ASSAY_OK);
  assay_rng rng;
  assay_rng_seed(&rng, 9);
  for (int i = 0; i < 2000; i++) {
    const float scale = i % 3 == 0 ? 200.0f : 3.0f;
    const pair32 a = {scale * (float)assay_rng_normal(&rng), 1 + 500 * (float)assay_rng_uniform(&rng)};
    pair32 b = {scale * (float)assay_rng_normal(&rng), 1 + 500 * (float)assay_rng_uniform(&rng)};
    if (i % 5 == 0) b.m = a.m;
    double exact[2];
    assert_int_equal(assay_normalizer_merge((const double[]){(double)a.m, (double)a.s},
                                            (const double[]){(double)b.m, (double)b.s}, exact, queue),
                     ASSAY_OK);
    const pair32 got = merged(a, b);
    const pair32 turned = merged(b, a);
    assert_true(same_bits(got.m, turned.m) && same_bits(got.s, turned.s));
    assert_true((double)got.m == exact[0]);
    /* One merge of two terms: exp, product, sum, and the rounding of the distance that exp passes on. */
    const double share = fabs((double)a.m - (double)b.m) < 100 ? fabs((double)a.m - (double)b.m) : 0;
    assert_near((double)got.s, exact[1], (4 + 2 + 1 + share) * 0x1p-24 * exact[1]);
  }
  assay_queue_close(queue);
}

/* ---- the library's calls ------------------------------------------------------------------------------- */

static void the_typed_calls_compute(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_cpu(2, &queue), ASSAY_OK);
  fill_normal(3, MOST, -2, 3);
  double left[2];
  double right[2];
  double whole[2];
  assert_int_equal(assay_normalizer_summarise(ASSAY_FP32, singles, 777, left, queue), ASSAY_OK);
  assert_int_equal(assay_normalizer_summarise(ASSAY_FP32, singles + 777, MOST - 777, right, queue), ASSAY_OK);
  assert_int_equal(assay_normalizer_merge(left, right, whole, queue), ASSAY_OK);
  oracle_state(ASSAY_FP32, MOST);
  assert_true(whole[0] == want[0]);
  assert_near(whole[1], want[1], allowed[1]);
  static float y[MOST];
  assert_int_equal(assay_normalizer_finish(whole, ASSAY_FP32, singles, MOST, y, queue), ASSAY_OK);
  double sum = 0;
  for (int i = 0; i < MOST; i++) sum += (double)y[i];
  assert_near(sum, 1, 1e-4);
  /* Nothing is read or written for no elements, and their state is the empty one. */
  assert_int_equal(assay_normalizer_summarise(ASSAY_FP64, NULL, 0, left, queue), ASSAY_OK);
  assert_true(left[0] == -INFINITY && left[1] == 0);
  assert_int_equal(assay_normalizer_finish(NULL, ASSAY_FP64, NULL, 0, NULL, queue), ASSAY_OK);
  assay_queue_close(queue);
}

static void bad_calls_say_what_is_wrong(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_cpu(1, &queue), ASSAY_OK);
  double one[2] = {0, 1};
  double two[2] = {0, 1};
  float x[4] = {0};
  assert_int_equal(assay_normalizer_merge(one, two, one, queue), ASSAY_BAD_ALIAS);
  assert_non_null(strstr(assay_last_error(), "overlaps left"));
  assert_int_equal(assay_normalizer_merge(one, two, NULL, queue), ASSAY_BAD_POINTER);
  double three[2];
  assert_int_equal(assay_normalizer_merge(one, two, three, NULL), ASSAY_BAD_POINTER);
  assert_non_null(strstr(assay_last_error(), "queue"));
  assert_int_equal(assay_normalizer_summarise(ASSAY_FP16, x, 4, one, queue), ASSAY_BAD_DTYPE);
  assert_int_equal(assay_normalizer_summarise(ASSAY_FP32, x, -1, one, queue), ASSAY_BAD_SHAPE);
  assert_int_equal(assay_normalizer_summarise(ASSAY_FP32, x, INT64_MAX, one, queue), ASSAY_BAD_SHAPE);
  assert_int_equal(assay_normalizer_summarise(ASSAY_FP32, NULL, 4, one, queue), ASSAY_BAD_POINTER);
  assert_int_equal(assay_normalizer_summarise(ASSAY_FP32, x, 4, one, NULL), ASSAY_BAD_POINTER);
  assert_int_equal(assay_normalizer_finish(one, ASSAY_FP32, x, 4, x, queue), ASSAY_BAD_ALIAS);
  assert_int_equal(assay_normalizer_finish(one, ASSAY_FP64, two, 2, one, queue), ASSAY_BAD_ALIAS);
  assert_non_null(strstr(assay_last_error(), "overlaps state"));
  assert_int_equal(assay_normalizer_finish(NULL, ASSAY_FP32, x, 4, two, queue), ASSAY_BAD_POINTER);
  assay_queue_close(queue);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_oracle_agrees_with_a_log_domain_definition),
      cmocka_unit_test(special_states_follow_the_contract),
      cmocka_unit_test(the_bound_accepts_honest_kernels),
      cmocka_unit_test(the_bound_accepts_every_rise),
      cmocka_unit_test(the_bound_rejects_classic_mistakes),
      cmocka_unit_test(the_empty_state_is_the_identity_in_fp32),
      cmocka_unit_test(the_merge_in_fp32_follows_the_public_one),
      cmocka_unit_test(the_typed_calls_compute),
      cmocka_unit_test(bad_calls_say_what_is_wrong),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
