/* SPDX-License-Identifier: MIT */
/*
 * test_softmax.c - the oracle against a second definition, its bound against honest FP32 kernels with other
 * orders of summation, the typed call of the library.
 */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/compare.h"
#include "half.h"
#include "ops/ops.h"
#include "ops/strided_softmax/softmax.h"
#include "tensor.h"

enum { WIDEST = 8192 };

static float input[WIDEST];
static double want[WIDEST];
static double allowed[WIDEST];

static void run_oracle(assay_dtype dtype, int64_t columns) {
  const assay_tensor x = assay_tensor_make(input, ASSAY_FP32, 2, (const int64_t[]){1, columns});
  assay_tensor y = x;
  y.dtype = dtype;
  assay_softmax_oracle(0, &x, &y, NULL, 0, 1, want, allowed);
}

static void fill_normal(uint64_t seed, int64_t columns, double scale) {
  assay_rng rng;
  assay_rng_seed(&rng, seed);
  for (int64_t c = 0; c < columns; c++) input[c] = (float)(scale * assay_rng_normal(&rng));
}

static void the_oracle_agrees_with_a_log_domain_definition(void **state) {
  (void)state;
  const int64_t widths[] = {1, 2, 7, 100, 8192};
  for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
    fill_normal(w, widths[w], 5);
    run_oracle(ASSAY_FP32, widths[w]);
    /* y = exp(x - log(sum(exp(x)))) without a maximum: another way to the same number, in long double. */
    long double sum = 0;
    for (int64_t c = 0; c < widths[w]; c++) sum += expl((long double)input[c]);
    for (int64_t c = 0; c < widths[w]; c++) {
      const double other = (double)expl((long double)input[c] - logl(sum));
      assert_true(fabs(want[c] - other) <= 1e-14 * other);
      assert_true(allowed[c] > 0);
    }
  }
}

static void special_rows_follow_the_contract(void **state) {
  (void)state;
  const float rows[5][4] = {{-INFINITY, -INFINITY, -INFINITY, -INFINITY},
                            {INFINITY, 0, 1, 2},
                            {NAN, 0, 1, 2},
                            {0, 1, 2, NAN},
                            {-INFINITY, 0, -INFINITY, 0}};
  for (int r = 0; r < 5; r++) {
    memcpy(input, rows[r], sizeof rows[r]);
    run_oracle(ASSAY_FP32, 4);
    for (int c = 0; c < 4; c++) {
      if (r < 4) assert_true(isnan(want[c]));
      if (r == 4) assert_true(want[c] == (c % 2 == 0 ? 0.0 : 0.5));
      if (r == 4 && c % 2 == 0) assert_true(allowed[c] == 0); /* exact zeros */
    }
  }
}

/* ---- honest kernels: the bound must accept each of them, whatever the data ----------------------------- */

typedef float summation(const float *terms, int64_t count);

static float forward_in_blocks(const float *terms, int64_t count) {
  float total = 0;
  for (int64_t start = 0; start < count; start += 1024) {
    float block = 0;
    for (int64_t i = start; i < count && i < start + 1024; i++) block += terms[i];
    total += block;
  }
  return total;
}

static float backward_in_blocks(const float *terms, int64_t count) {
  float total = 0;
  for (int64_t end = count; end > 0; end -= 1024) {
    float block = 0;
    for (int64_t i = end - 1; i >= 0 && i >= end - 1024; i--) block += terms[i];
    total += block;
  }
  return total;
}

static float in_32_lanes(const float *terms, int64_t count) {
  float lanes[32] = {0};
  for (int64_t i = 0; i < count; i++) lanes[i % 32] += terms[i];
  float total = 0;
  for (int i = 0; i < 32; i++) total += lanes[i];
  return total;
}

static float pairwise(const float *terms, int64_t count) {
  return count == 1 ? terms[0] : pairwise(terms, count / 2) + pairwise(terms + count / 2, count - count / 2);
}

static void honest_kernel(summation *sum, assay_dtype dtype, int64_t columns, bool reciprocal, void *y) {
  static float terms[WIDEST];
  float m = -INFINITY;
  for (int64_t c = 0; c < columns; c++) m = fmaxf(m, input[c]);
  for (int64_t c = 0; c < columns; c++) terms[c] = expf(input[c] - m);
  const float total = sum(terms, columns);
  const float scale = 1 / total;
  for (int64_t c = 0; c < columns; c++)
    assay_store(y, dtype, c, reciprocal ? terms[c] * scale : terms[c] / total);
}

static int64_t wrong_elements(summation *sum, assay_dtype dtype, int64_t columns, bool reciprocal) {
  static float y[WIDEST];
  run_oracle(dtype, columns);
  honest_kernel(sum, dtype, columns, reciprocal, y);
  const comparison what = {
      .dtype = dtype, .got = y, .want = want, .allowed = allowed, .count = columns, .columns = columns};
  return compare_all(&what).wrong;
}

static void the_bound_accepts_honest_orders_of_summation(void **state) {
  (void)state;
  summation *const sums[] = {forward_in_blocks, backward_in_blocks, in_32_lanes, pairwise};
  const int64_t widths[] = {1, 3, 33, 1000, 1024, 1025, 4096, 8191, 8192};
  const double scales[] = {0, 0.01, 1, 10, 40};
  for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
    for (size_t k = 0; k < sizeof scales / sizeof scales[0]; k++) {
      fill_normal(100 * w + k, widths[w], scales[k]);
      for (int dtype = ASSAY_FP32; dtype <= ASSAY_BF16; dtype++) {
        for (size_t s = 0; s < 4; s++) {
          assert_int_equal(wrong_elements(sums[s], (assay_dtype)dtype, widths[w], s % 2 == 0), 0);
        }
      }
    }
  }
}

static float one_chain(const float *terms, int64_t count) {
  float total = 0;
  for (int64_t i = 0; i < count; i++) total += terms[i];
  return total;
}

static float sixteen_bits(const float *terms, int64_t count) {
  float total = 0;
  for (int64_t i = 0; i < count; i++) total = assay_fp16_to_float(assay_fp16_from_float(total + terms[i]));
  return total;
}

static void the_bound_rejects_what_loses_terms(void **state) {
  (void)state;
  for (int64_t c = 0; c < WIDEST; c++) input[c] = c == 0 ? 0 : -16.7f;
  assert_true(wrong_elements(one_chain, ASSAY_FP32, WIDEST, false) > 0);
  assert_int_equal(wrong_elements(in_32_lanes, ASSAY_FP32, WIDEST, false), 0);
  for (int64_t c = 0; c < WIDEST; c++) input[c] = 0;
  assert_true(wrong_elements(sixteen_bits, ASSAY_FP16, WIDEST, false) > 0);
}

/* ---- the library's calls ------------------------------------------------------------------------------- */

static void the_typed_call_computes(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_cpu(1, &queue), ASSAY_OK);
  const float x[6] = {0, 10, 1, 11, 2, 12}; /* two rows of three, transposed */
  float y[6] = {0};
  assert_int_equal(assay_strided_softmax(ASSAY_FP32, x, 2, 3, 1, 2, y, 0, queue), ASSAY_OK);
  for (int i = 0; i < 3; i++)
    assert_true(fabs((double)(y[i] - y[i + 3])) < 1e-6); /* a shift changes nothing */
  assert_true(fabs((double)y[2] - 0.6652409557748218) < 1e-6);
  assay_queue_close(queue);
}

static void bad_calls_say_what_is_wrong(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_cpu(1, &queue), ASSAY_OK);
  float x[6] = {0};
  float y[6] = {0};
  assert_int_equal(assay_strided_softmax(ASSAY_FP32, x, 2, 3, 3, 1, x, 0, queue), ASSAY_BAD_ALIAS);
  assert_non_null(strstr(assay_last_error(), "overlaps"));
  assert_int_equal(assay_strided_softmax(ASSAY_FP32, NULL, 2, 3, 3, 1, y, 0, queue), ASSAY_BAD_POINTER);
  assert_int_equal(assay_strided_softmax(ASSAY_FP32, x, 2, 3, 3, 1, y, 8, queue), ASSAY_BAD_OPTION);
  assert_int_equal(assay_strided_softmax(ASSAY_FP32, x, 2, 3, 3, 1, y, 0, NULL), ASSAY_BAD_POINTER);
  assert_int_equal(assay_strided_softmax(ASSAY_FP32, NULL, 0, 3, 3, 1, NULL, 0, queue), ASSAY_OK);
  const assay_tensor in = assay_tensor_make(x, ASSAY_FP32, 2, (const int64_t[]){2, 3});
  const assay_tensor out = assay_tensor_make(y, ASSAY_FP32, 2, (const int64_t[]){2, 3});
  assert_int_equal(assay_call("strided_softmax", "no_such_variant", &in, &out, NULL, queue),
                   ASSAY_UNAVAILABLE);
  assert_non_null(strstr(assay_last_error(), "no_such_variant"));
  assert_int_equal(assay_call("no_such_operator", NULL, &in, &out, NULL, queue), ASSAY_UNAVAILABLE);
  assert_int_equal(assay_call("strided_softmax", "plain", &in, &out, NULL, queue), ASSAY_OK);
  assay_queue_close(queue);
}

static void every_forced_variant_runs_or_says_why(void **state) {
  (void)state;
  const assay_operator *op = assay_operator_find("strided_softmax");
  assert_non_null(op);
  int ran = 0;
  for (int i = 0; i < op->variant_count; i++) {
    assay_message why = {""};
    const bool here = assay_variant_runs_here(&op->variants[i], &why);
    if (!here) assert_true(strlen(why.text) > 0);
    if (here) ran++;
  }
  assert_true(ran >= 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_oracle_agrees_with_a_log_domain_definition),
      cmocka_unit_test(special_rows_follow_the_contract),
      cmocka_unit_test(the_bound_accepts_honest_orders_of_summation),
      cmocka_unit_test(the_bound_rejects_what_loses_terms),
      cmocka_unit_test(the_typed_call_computes),
      cmocka_unit_test(bad_calls_say_what_is_wrong),
      cmocka_unit_test(every_forced_variant_runs_or_says_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
