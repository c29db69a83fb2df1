/* SPDX-License-Identifier: MIT */
/*
 * test_split_softmax.c - the oracle against a second definition, its bound against honest FP32 kernels with
 * other chunks and merges, the size of a workspace, the typed calls.
 */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/compare.h"
#include "half.h"
#include "ops/ops.h"
#include "ops/split_softmax/split_softmax.h"
#include "tensor.h"

enum { WIDEST = 131072 };

static float input[WIDEST];
static double want[WIDEST];
static double allowed[WIDEST];

static void run_oracle(assay_dtype dtype, int64_t columns) {
  const assay_tensor x = assay_tensor_make(input, ASSAY_FP32, 2, (const int64_t[]){1, columns});
  assay_tensor out[2] = {x, {.data = NULL}};
  out[0].dtype = dtype;
  assay_split_softmax_oracle(0, &x, out, NULL, 0, 1, want, allowed);
}

static void fill_normal(uint64_t seed, int64_t columns, double scale) {
  assay_rng rng;
  assay_rng_seed(&rng, seed);
  for (int64_t c = 0; c < columns; c++) input[c] = (float)(scale * assay_rng_normal(&rng));
}

static void the_oracle_agrees_with_a_log_domain_definition(void **state) {
  (void)state;
  const int64_t widths[] = {1, 2, 257, 5000, WIDEST};
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
                            {-INFINITY, -INFINITY, -INFINITY, NAN},
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

typedef struct state32 {
  float m;
  float s;
} state32;

static state32 merged(state32 a, state32 b) {
  const float m = a.m > b.m ? a.m : b.m;
  return (state32){m, a.s * expf(a.m - m) + b.s * expf(b.m - m)};
}

static float in_lanes(const float *x, int64_t count, float m) {
  float lanes[32] = {0};
  for (int64_t i = 0; i < count; i++) lanes[i % 32] += expf(x[i] - m);
  float total = 0;
  for (int i = 31; i >= 0; i--) total += lanes[i];
  return total;
}

static float one_chain(const float *x, int64_t count, float m) {
  float total = 0;
  for (int64_t i = 0; i < count; i++) total += expf(x[i] - m);
  return total;
}

static float pairwise(const float *x, int64_t count, float m) {
  if (count == 1) return expf(x[0] - m);
  return pairwise(x, count / 2, m) + pairwise(x + count / 2, count - count / 2, m);
}

typedef float summation(const float *x, int64_t count, float m);

static state32 of_chunk(summation *sum, int64_t columns, int64_t chunk, int64_t k) {
  const float *x = input + k * chunk;
  const int64_t count = columns - k * chunk < chunk ? columns - k * chunk : chunk;
  state32 result = {-INFINITY, 0};
  for (int64_t i = 0; i < count; i++) result.m = fmaxf(result.m, x[i]);
  result.s = sum(x, count, result.m);
  return result;
}

static state32 as_tree(summation *sum, int64_t columns, int64_t chunk, int64_t first, int64_t last) {
  if (last - first == 1) return of_chunk(sum, columns, chunk, first);
  const int64_t middle = first + (last - first) / 2;
  return merged(as_tree(sum, columns, chunk, first, middle), as_tree(sum, columns, chunk, middle, last));
}

typedef enum merge_order { FORWARD, BACKWARD, TREE, MERGE_ORDERS } merge_order;

static state32 of_row(summation *sum, int64_t columns, int64_t chunk, merge_order order) {
  const int64_t chunks = (columns + chunk - 1) / chunk;
  if (order == TREE) return as_tree(sum, columns, chunk, 0, chunks);
  state32 total = of_chunk(sum, columns, chunk, order == FORWARD ? 0 : chunks - 1);
  for (int64_t k = 1; k < chunks; k++) {
    total = merged(total, of_chunk(sum, columns, chunk, order == FORWARD ? k : chunks - 1 - k));
  }
  return total;
}

/* Wrong elements of a row of the type with this state, by the oracle's bound. */
static int64_t wrong_elements(assay_dtype dtype, int64_t columns, state32 row, bool reciprocal) {
  static float y[WIDEST];
  const float scale = 1 / row.s;
  run_oracle(dtype, columns);
  for (int64_t c = 0; c < columns; c++) {
    const float term = expf(input[c] - row.m);
    assay_store(y, dtype, c, reciprocal ? term * scale : term / row.s);
  }
  const comparison what = {
      .dtype = dtype, .got = y, .want = want, .allowed = allowed, .count = columns, .columns = columns};
  return compare_all(&what).wrong;
}

/* Every chunk size, three orders of merging, four ways to add up a chunk, all magnitudes; 1000 rows. */
static void the_bound_accepts_honest_kernels(void **state) {
  (void)state;
  const int64_t sizes[] = {256, 1024, 4096};
  const double scales[] = {0, 0.01, 1, 10, 40};
  assay_rng rng;
  assay_rng_seed(&rng, 5);
  for (uint64_t seed = 0; seed < 1000; seed++) {
    const int64_t chunk = sizes[seed % 3];
    const uint64_t most = seed % 100 == 0 ? 17 : 13; /* a few rows of full width */
    const int64_t columns =
        1 + (int64_t)assay_rng_below(&rng, UINT64_C(1) << (1 + assay_rng_below(&rng, most)));
    fill_normal(seed, columns, scales[seed / 3 % 5]);
    summation *const sum = chunk == 4096 || seed % 2 == 0 ? in_lanes : seed % 4 == 1 ? one_chain : pairwise;
    const state32 row = of_row(sum, columns, chunk, (merge_order)(seed / 7 % MERGE_ORDERS));
    const assay_dtype dtype = (assay_dtype)(seed / 2 % 3);
    assert_int_equal(wrong_elements(dtype, columns, row, seed % 5 < 2), 0);
  }
}

static void the_bound_accepts_merges_that_lose_the_most(void **state) {
  (void)state;
  /* A 1, then 511 chunks whose sums are just below half an ulp of it: every merge rounds them away. */
  for (int64_t c = 0; c < WIDEST; c++) input[c] = c == 0 ? 0 : c < 256 ? -100 : -16.7f - logf(256);
  const state32 row = of_row(in_lanes, WIDEST, 256, FORWARD);
  assert_true(row.s == 1);
  assert_int_equal(wrong_elements(ASSAY_FP32, WIDEST, row, false), 0);
}

static float sixteen_bits(const float *x, int64_t count, float m) {
  float total = 0;
  for (int64_t i = 0; i < count; i++) {
    total = assay_fp16_to_float(assay_fp16_from_float(total + expf(x[i] - m)));
  }
  return total;
}

static void the_bound_rejects_classic_mistakes(void **state) {
  (void)state;
  /* One chain over a chunk of 4096, where the terms are just below half an ulp of the sum. */
  for (int64_t c = 0; c < 4096; c++) input[c] = c == 0 ? 0 : -16.7f;
  assert_true(wrong_elements(ASSAY_FP32, 4096, of_chunk(one_chain, 4096, 4096, 0), false) > 0);
  assert_int_equal(wrong_elements(ASSAY_FP32, 4096, of_chunk(in_lanes, 4096, 4096, 0), false), 0);
  /* A sum in 16 bits. */
  for (int64_t c = 0; c < 4096; c++) input[c] = 0;
  assert_true(wrong_elements(ASSAY_FP16, 4096, of_chunk(sixteen_bits, 4096, 4096, 0), false) > 0);
  /* No rescaling, in one direction and in the other; a chunk that is left out; a chunk that counts twice. */
  for (int64_t c = 0; c < 600; c++) input[c] = c < 256 ? 0 : c < 512 ? 2 : 1;
  state32 parts[3];
  for (int64_t k = 0; k < 3; k++) parts[k] = of_chunk(in_lanes, 600, 256, k);
  const float sum = parts[0].s + parts[1].s + parts[2].s;
  for (int dtype = ASSAY_FP32; dtype <= ASSAY_BF16; dtype++) {
    assert_true(wrong_elements((assay_dtype)dtype, 600, (state32){2, sum}, false) > 0);
    assert_true(wrong_elements((assay_dtype)dtype, 600, merged(parts[0], parts[1]), false) > 0);
    const state32 twice = merged(merged(parts[0], parts[1]), merged(parts[2], parts[2]));
    assert_true(wrong_elements((assay_dtype)dtype, 600, twice, false) > 0);
    assert_int_equal(wrong_elements((assay_dtype)dtype, 600, of_row(in_lanes, 600, 256, BACKWARD), false), 0);
  }
}

/* ---- the library's calls ------------------------------------------------------------------------------- */

static void a_workspace_has_room_for_every_state(void **state) {
  (void)state;
  size_t bytes = 1;
  size_t alignment = 0;
  assert_int_equal(assay_split_softmax_workspace(1, 131072, 4096, &bytes, &alignment), ASSAY_OK);
  assert_int_equal(bytes, 320); /* 33 states of 8 bytes, in lines of 64 */
  assert_int_equal(alignment, 64);
  assert_int_equal(assay_split_softmax_workspace(8, 768, 256, &bytes, &alignment), ASSAY_OK);
  assert_int_equal(bytes, 256);
  assert_int_equal(assay_split_softmax_workspace(8, 769, 256, &bytes, &alignment), ASSAY_OK);
  assert_int_equal(bytes, 320);
  assert_int_equal(assay_split_softmax_workspace(0, 5, 0, &bytes, &alignment), ASSAY_OK);
  assert_int_equal(bytes, 0);
  assert_int_equal(assay_split_softmax_workspace(1, 5, 0, NULL, &alignment), ASSAY_BAD_POINTER);
  assert_int_equal(assay_split_softmax_workspace(1, 5, 0, &bytes, NULL), ASSAY_BAD_POINTER);
  assert_int_equal(assay_split_softmax_workspace(-1, 5, 0, &bytes, &alignment), ASSAY_BAD_SHAPE);
  assert_int_equal(assay_split_softmax_workspace(1, 0, 0, &bytes, &alignment), ASSAY_BAD_SHAPE);
  assert_int_equal(assay_split_softmax_workspace(1, 5, 512, &bytes, &alignment), ASSAY_BAD_OPTION);
  assert_non_null(strstr(assay_last_error(), "chunk"));
  assert_int_equal(assay_split_softmax_workspace(INT64_MAX, 5, 0, &bytes, &alignment), ASSAY_BAD_SHAPE);
  assert_int_equal(assay_split_softmax_workspace(INT64_MAX / 16, 5, 0, &bytes, &alignment), ASSAY_BAD_SHAPE);
  assert_non_null(strstr(assay_last_error(), "workspace"));
}

static void the_typed_call_computes(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_cpu(2, &queue), ASSAY_OK);
  size_t bytes = 0;
  size_t alignment = 0;
  assert_int_equal(assay_split_softmax_workspace(2, 300, 256, &bytes, &alignment), ASSAY_OK);
  void *workspace = aligned_alloc(alignment, bytes);
  assert_non_null(workspace);
  static float x[600];
  static float y[2][600];
  for (int i = 0; i < 600; i++) x[i] = i % 300 == 299 ? logf(2) : 0;
  assert_int_equal(assay_split_softmax(ASSAY_FP32, x, 2, 300, y[0], 256, workspace, bytes, queue), ASSAY_OK);
  assert_int_equal(assay_split_softmax(ASSAY_FP32, x, 2, 300, y[1], 256, NULL, 0, queue), ASSAY_OK);
  assert_memory_equal(y[0], y[1], sizeof y[0]);
  assert_true(fabs((double)y[0][299] - 2.0 / 301) < 1e-8 && fabs((double)y[0][300] - 1.0 / 301) < 1e-8);
  free(workspace);
  assay_queue_close(queue);
}

static void bad_calls_say_what_is_wrong(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_cpu(1, &queue), ASSAY_OK);
  static float x[600];
  static float y[600];
  static _Alignas(64) float workspace[16];
  const size_t bytes = sizeof workspace;
  assert_int_equal(assay_split_softmax(ASSAY_FP32, x, 2, 300, x, 0, NULL, 0, queue), ASSAY_BAD_ALIAS);
  assert_int_equal(assay_split_softmax(ASSAY_FP32, NULL, 2, 300, y, 0, NULL, 0, queue), ASSAY_BAD_POINTER);
  assert_int_equal(assay_split_softmax(ASSAY_FP32, x, 2, 300, y, 512, NULL, 0, queue), ASSAY_BAD_OPTION);
  assert_int_equal(assay_split_softmax(ASSAY_FP32, x, 2, 300, y, 0, NULL, 0, NULL), ASSAY_BAD_POINTER);
  assert_int_equal(assay_split_softmax(ASSAY_FP32, NULL, 0, 300, NULL, 0, NULL, 0, queue), ASSAY_OK);
  assert_int_equal(assay_split_softmax(ASSAY_FP32, x, 2, 300, y, 0, workspace, bytes, queue), ASSAY_OK);
  assert_int_equal(assay_split_softmax(ASSAY_FP32, x, 2, 300, y, 0, workspace, 60, queue), ASSAY_BAD_SHAPE);
  assert_non_null(strstr(assay_last_error(), "workspace has 15 floats"));
  assert_int_equal(assay_split_softmax(ASSAY_FP32, x, 2, 300, y, 0, workspace + 1, bytes, queue),
                   ASSAY_BAD_POINTER);
  assert_non_null(strstr(assay_last_error(), "workspace is not aligned"));
  const assay_tensor in = assay_tensor_make(x, ASSAY_FP32, 2, (const int64_t[]){2, 300});
  assay_tensor out[2] = {in, assay_tensor_make(NULL, ASSAY_FP32, 1, (const int64_t[]){0})};
  out[0].data = y;
  assert_int_equal(assay_call("split_softmax", "no_such_variant", &in, out, NULL, queue), ASSAY_UNAVAILABLE);
  assert_int_equal(assay_call("split_softmax", "plain", &in, out, NULL, queue), ASSAY_OK);
  out[1].data = workspace;
  assert_int_equal(assay_call("split_softmax", "plain", &in, out, NULL, queue), ASSAY_BAD_SHAPE);
  assay_queue_close(queue);
}

/* The variants on wide rows whose exponentials fit into memory of a thread, and on wider ones. */
static void variants_agree_for_any_thread_count(void **state) {
  (void)state;
  const assay_operator *op = assay_operator_find("split_softmax");
  assert_non_null(op);
  const int64_t columns =
      400001; /* split over two threads its exponentials are not kept, over five they are */
  float *x = malloc(sizeof *x * (size_t)columns);
  float *y[2] = {malloc(sizeof *x * (size_t)columns), malloc(sizeof *x * (size_t)columns)};
  assert_true(x != NULL && y[0] != NULL && y[1] != NULL);
  for (int64_t c = 0; c < columns; c++) x[c] = (float)((c * 7919) % 4001) / 400;
  const assay_tensor in = assay_tensor_make(x, ASSAY_FP32, 2, (const int64_t[]){1, columns});
  for (int v = 0; v < op->variant_count; v++) {
    assay_message why = {""};
    if (op->variants[v].backend != ASSAY_CPU || !assay_variant_runs_here(&op->variants[v], &why)) continue;
    const int counts[] = {1, 2, 5};
    for (int t = 0; t < 3; t++) {
      assay_queue *queue = NULL;
      assert_int_equal(assay_queue_open_cpu(counts[t], &queue), ASSAY_OK);
      assay_tensor out[2] = {in, assay_tensor_make(NULL, ASSAY_FP32, 1, (const int64_t[]){0})};
      out[0].data = y[t == 0 ? 0 : 1];
      assert_int_equal(assay_call("split_softmax", op->variants[v].name, &in, out, NULL, queue), ASSAY_OK);
      if (t > 0) assert_memory_equal(y[0], y[1], sizeof *x * (size_t)columns);
      assay_queue_close(queue);
    }
  }
  free(x);
  free(y[0]);
  free(y[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_oracle_agrees_with_a_log_domain_definition),
      cmocka_unit_test(special_rows_follow_the_contract),
      cmocka_unit_test(the_bound_accepts_honest_kernels),
      cmocka_unit_test(the_bound_accepts_merges_that_lose_the_most),
      cmocka_unit_test(the_bound_rejects_classic_mistakes),
      cmocka_unit_test(a_workspace_has_room_for_every_state),
      cmocka_unit_test(the_typed_call_computes),
      cmocka_unit_test(bad_calls_say_what_is_wrong),
      cmocka_unit_test(variants_agree_for_any_thread_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
