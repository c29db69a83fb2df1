/* SPDX-License-Identifier: MIT */
/*
 * test_beginner_bounds.c - the beginners' bounds against honest kernels that go another way than the
 * solutions, and against kernels that are a little worse than the lessons allow.
 */
#include "unit.h"

#include <stdlib.h>

#include "check/compare.h"
#include "half.h"
#include "rng.h"
#include "tensor.h"
#include "workshops/beginner.h"

/* One case in memory of its own. */
typedef struct trial {
  const assay_subject *subject;
  assay_plan plan;
  assay_tensor in[ASSAY_MAX_OPERANDS];
  assay_tensor out;
} trial;

static assay_tensor allocate(const assay_operand_plan *plan) {
  assay_tensor tensor = assay_tensor_make(NULL, plan->dtype, plan->rank, plan->shape);
  int64_t count = 0;
  assert_true(assay_tensor_count(&tensor, &count));
  tensor.data = calloc((size_t)count + 1, assay_dtype_size(plan->dtype));
  assert_non_null(tensor.data);
  return tensor;
}

/* Normal numbers with the given mean and deviation; the last input, where there are three, is around 1. */
static trial start(const assay_subject *subject, const assay_row *row, assay_dtype dtype, int layout,
                   uint64_t seed, double mean, double deviation) {
  trial made = {.subject = subject};
  assay_rng rng;
  assay_rng_seed(&rng, seed);
  subject->plan(row, dtype, layout, &made.plan);
  for (int i = 0; i < subject->exports[0].in_count; i++) {
    int64_t count = 0;
    made.in[i] = allocate(&made.plan.in[i]);
    assert_true(assay_tensor_count(&made.in[i], &count));
    for (int64_t k = 0; k < count; k++) {
      const double value = i == 2 ? 0.5 + assay_rng_uniform(&rng) : mean + deviation * assay_rng_normal(&rng);
      assay_put(made.in[i].data, made.in[i].dtype, k, value);
    }
  }
  made.out = allocate(&made.plan.out[0]);
  return made;
}

/* How many elements are not within the bound; the memory is given back. */
static int64_t wrong(trial *made, assay_kernel *kernel) {
  int64_t count = 0;
  int64_t bad = 0;
  assert_int_equal(kernel(made->in, &made->out, made->plan.opt, NULL), ASSAY_OK);
  assert_true(assay_tensor_count(&made->out, &count));
  double *want = malloc(sizeof *want * (size_t)count);
  double *allowed = malloc(sizeof *allowed * (size_t)count);
  assert_true(want != NULL && allowed != NULL);
  made->subject->oracle(0, made->in, &made->out, made->plan.opt, 0, made->out.shape[0], want, allowed);
  for (int64_t i = 0; i < count; i++) {
    if (!compare_element(made->out.dtype, assay_get(made->out.data, made->out.dtype, i), want[i], allowed[i]))
      bad++;
  }
  free(want);
  free(allowed);
  for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) free(made->in[i].data);
  free(made->out.data);
  return bad;
}

/* ---- reduction ----------------------------------------------------------------------------------------- */

static float halves(const float *x, int64_t count) {
  if (count == 1) return x[0];
  const int64_t left = (count + 1) / 2;
  return halves(x, left) + halves(x + left, count - left);
}

static assay_status sum_by_halves(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                  assay_queue *queue) {
  (void)opt, (void)queue;
  for (int64_t r = 0; r < in[0].shape[0]; r++)
    ((float *)out[0].data)[r] = halves((const float *)in[0].data + r * in[0].shape[1], in[0].shape[1]);
  return ASSAY_OK;
}

static assay_status sum_one_by_one(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                   assay_queue *queue) {
  (void)opt, (void)queue;
  for (int64_t r = 0; r < in[0].shape[0]; r++) {
    float sum = 0;
    for (int64_t c = 0; c < in[0].shape[1]; c++) sum += ((const float *)in[0].data)[r * in[0].shape[1] + c];
    ((float *)out[0].data)[r] = sum;
  }
  return ASSAY_OK;
}

static void other_trees_are_within_the_bound(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    const assay_row row = {.dims = {8, (int64_t)(seed * seed * 37)}};
    trial one = start(&assay_reduction_subject, &row, ASSAY_FP32, 0, seed, 1, 1);
    assert_int_equal(wrong(&one, sum_by_halves), 0);
  }
  const assay_row row = {.dims = {8, 30000}};
  trial one = start(&assay_reduction_subject, &row, ASSAY_FP32, 0, 1, 1, 0.1);
  assert_true(wrong(&one, sum_one_by_one) > 0);
}

/* ---- softmax ------------------------------------------------------------------------------------------- */

static assay_status softmax_from_the_end(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                         assay_queue *queue) {
  (void)opt, (void)queue;
  const int64_t columns = in[0].shape[1];
  for (int64_t r = 0; r < in[0].shape[0]; r++) {
    const float *x = (const float *)in[0].data + r * columns;
    float *y = (float *)out[0].data + r * columns;
    float maximum = x[0];
    float sum = 0;
    for (int64_t c = 1; c < columns; c++) maximum = fmaxf(maximum, x[c]);
    for (int64_t c = columns; c-- > 0;) sum += expf(x[c] - maximum);
    const float inverse = 1 / sum;
    for (int64_t c = 0; c < columns; c++) y[c] = expf(x[c] - maximum) * inverse;
  }
  return ASSAY_OK;
}

/* The whole row takes part in every term's error: a sum in BF16 is too far off. */
static assay_status softmax_with_a_short_sum(const assay_tensor *in, const assay_tensor *out,
                                             const int64_t *opt, assay_queue *queue) {
  const assay_status status = softmax_from_the_end(in, out, opt, queue);
  float *y = out[0].data;
  for (int64_t i = 0; i < out[0].shape[0] * out[0].shape[1]; i++) y[i] *= 1.001f;
  return status;
}

static void another_softmax_is_within_the_bound(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    const assay_row row = {.dims = {9, (int64_t)(seed * 51)}};
    trial one = start(&assay_softmax_subject, &row, ASSAY_FP32, 0, seed, 0, (double)seed);
    assert_int_equal(wrong(&one, softmax_from_the_end), 0);
    one = start(&assay_softmax_subject, &row, ASSAY_FP32, 0, seed, 0, 1);
    assert_int_equal(wrong(&one, softmax_with_a_short_sum), 9 * row.dims[1]);
  }
}

/* ---- RMS norm ------------------------------------------------------------------------------------------ */

/* Fused products, an inverse root, the weight before h: other roundings than the solution's. */
static void normalise(const assay_tensor *in, const assay_tensor *out, int64_t r, bool twice) {
  const assay_dtype dtype = in[0].dtype;
  const int64_t columns = in[0].shape[1];
  float squares = 0;
  for (int64_t c = columns; c-- > 0;) {
    const float h =
        assay_load(in[0].data, dtype, r * columns + c) + assay_load(in[1].data, dtype, r * columns + c);
    squares = fmaf(h, h, squares);
  }
  const float inverse = 1 / sqrtf(squares * (1 / (float)columns) + 1e-5f);
  for (int64_t c = 0; c < columns; c++) {
    const int64_t i = r * columns + c;
    const float h = assay_load(in[0].data, dtype, i) + assay_load(in[1].data, dtype, i);
    float y = h * (inverse * assay_load(in[2].data, dtype, c));
    if (twice) {
      assay_store(out[0].data, dtype, i, h * inverse);
      y = assay_load(out[0].data, dtype, i) * assay_load(in[2].data, dtype, c);
    }
    assay_store(out[0].data, dtype, i, y);
  }
}

static assay_status norm_rounded_once(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                      assay_queue *queue) {
  (void)opt, (void)queue;
  for (int64_t r = 0; r < in[0].shape[0]; r++) normalise(in, out, r, false);
  return ASSAY_OK;
}

static assay_status norm_rounded_twice(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                       assay_queue *queue) {
  (void)opt, (void)queue;
  for (int64_t r = 0; r < in[0].shape[0]; r++) normalise(in, out, r, true);
  return ASSAY_OK;
}

static void another_norm_is_within_the_bound(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    const assay_row row = {.dims = {9, (int64_t)(seed * 51)}};
    for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
      trial one = start(&assay_rmsnorm_subject, &row, (assay_dtype)dtype, 0, seed, 0.5, 2);
      assert_int_equal(wrong(&one, norm_rounded_once), 0);
      one = start(&assay_rmsnorm_subject, &row, (assay_dtype)dtype, 0, seed, 0.5, 2);
      assert_true(wrong(&one, norm_rounded_twice) > row.dims[1] / 4);
    }
  }
}

/* ---- matrix product ------------------------------------------------------------------------------------ */

/* No tiles at all, the scale at every term, from the last k to the first. */
static assay_status flat_product(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                 assay_queue *queue) {
  (void)queue;
  const float *a = in[0].data;
  const float *b = in[1].data;
  const float *scale = in[2].data;
  float *c = out[0].data;
  const int64_t rows = in[0].shape[0];
  const int64_t depth = in[0].shape[1];
  const int64_t columns = in[1].shape[1];
  for (int64_t i = 0; i < rows * columns; i++) c[i] = 0;
  for (int64_t k = depth; k-- > 0;) {
    for (int64_t i = 0; i < rows * columns; i++) {
      const int64_t n = i % columns;
      c[i] +=
          a[i / columns * depth + k] * (b[k * columns + n] * scale[k / opt[0] * in[2].shape[1] + n / opt[0]]);
    }
  }
  return ASSAY_OK;
}

static void a_flat_product_is_within_the_bound(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    const assay_row row = {.dims = {5, 7, (int64_t)(seed * 23), (int64_t)seed}};
    trial one = start(&assay_matmul_subject, &row, ASSAY_FP32, 0, seed, 1, 1);
    assert_int_equal(wrong(&one, flat_product), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(other_trees_are_within_the_bound),
      cmocka_unit_test(another_softmax_is_within_the_bound),
      cmocka_unit_test(another_norm_is_within_the_bound),
      cmocka_unit_test(a_flat_product_is_within_the_bound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
