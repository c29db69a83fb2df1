/* SPDX-License-Identifier: MIT */
/*
 * test_gemm.c - the oracle of the fused GEMM against a second definition, its bound against honest FP32
 * kernels with other orders of summation and against the classic mistakes, the order of tiles, the typed
 * call.
 */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/compare.h"
#include "half.h"
#include "ops/fused_gemm/gemm.h"
#include "ops/ops.h"
#include "tensor.h"

enum { MOST = 4096, ROWS = 3, COLUMNS = 4, DEEPEST = 1024 };

/* One problem: C [ROWS, COLUMNS] = relu(A [ROWS, depth] * B [depth, COLUMNS] + bias). */
static uint16_t a[MOST];
static uint16_t b[MOST];
static uint16_t bias[COLUMNS];
static uint16_t c[ROWS * COLUMNS];
static double want[ROWS * COLUMNS];
static double allowed[ROWS * COLUMNS];

static void describe(assay_dtype dtype, int64_t depth, assay_tensor in[3], assay_tensor *out) {
  in[ASSAY_FUSED_GEMM_A] = assay_tensor_make(a, dtype, 2, (const int64_t[]){ROWS, depth});
  in[ASSAY_FUSED_GEMM_B] = assay_tensor_make(b, dtype, 2, (const int64_t[]){depth, COLUMNS});
  in[ASSAY_FUSED_GEMM_BIAS] = assay_tensor_make(bias, dtype, 1, (const int64_t[]){COLUMNS});
  *out = assay_tensor_make(c, dtype, 2, (const int64_t[]){ROWS, COLUMNS});
}

static void run_oracle(assay_dtype dtype, int64_t depth) {
  assay_tensor in[3];
  assay_tensor out;
  describe(dtype, depth, in, &out);
  assay_gemm_oracle(0, in, &out, NULL, 0, ROWS, want, allowed);
}

/* Normal contents around `mean`. */
static void fill(uint64_t seed, assay_dtype dtype, int64_t depth, double mean) {
  assay_rng rng;
  assay_rng_seed(&rng, seed);
  for (int64_t i = 0; i < ROWS * depth; i++) assay_put(a, dtype, i, mean + assay_rng_normal(&rng));
  for (int64_t i = 0; i < depth * COLUMNS; i++) assay_put(b, dtype, i, mean + assay_rng_normal(&rng));
  for (int64_t j = 0; j < COLUMNS; j++) assay_put(bias, dtype, j, assay_rng_normal(&rng));
}

static void the_oracle_agrees_with_long_double(void **state) {
  (void)state;
  const int64_t depths[] = {0, 1, 2, 7, 100, 1000};
  for (size_t k = 0; k < sizeof depths / sizeof depths[0]; k++) {
    for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
      /* Summed the other way round, in long double. */
      const int64_t depth = depths[k];
      assay_rng rng;
      assay_rng_seed(&rng, k);
      for (int64_t i = 0; i < ROWS * depth; i++)
        assay_put(a, (assay_dtype)dtype, i, assay_rng_uniform(&rng) * 8 - 4);
      for (int64_t i = 0; i < depth * COLUMNS; i++)
        assay_put(b, (assay_dtype)dtype, i, assay_rng_uniform(&rng) * 8 - 4);
      for (int64_t j = 0; j < COLUMNS; j++) assay_put(bias, (assay_dtype)dtype, j, (double)j - 2);
      run_oracle((assay_dtype)dtype, depth);
      for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
        long double sum = assay_get(bias, (assay_dtype)dtype, i % COLUMNS);
        for (int64_t p = depth - 1; p >= 0; p--) {
          sum += (long double)assay_get(a, (assay_dtype)dtype, i / COLUMNS * depth + p) *
                 (long double)assay_get(b, (assay_dtype)dtype, p * COLUMNS + i % COLUMNS);
        }
        assert_near(want[i], sum > 0 ? (double)sum : 0, 1e-14 * (double)(depth + 1) * 16);
        assert_true(allowed[i] > 0);
      }
    }
  }
}

static void special_numbers_follow_the_contract(void **state) {
  (void)state;
  for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
    fill(7, (assay_dtype)dtype, 5, 0);
    assay_put(a, (assay_dtype)dtype, 2, NAN);                    /* row 0 */
    assay_put(b, (assay_dtype)dtype, 3 * COLUMNS + 1, INFINITY); /* column 1 */
    assay_put(a, (assay_dtype)dtype, 5 + 3, 2);                  /* +2 and -2 meet it in rows 1 and 2 */
    assay_put(a, (assay_dtype)dtype, 10 + 3, -2);
    assay_put(bias, (assay_dtype)dtype, 3, -INFINITY);
    run_oracle((assay_dtype)dtype, 5);
    for (int j = 0; j < COLUMNS; j++) assert_true(isnan(want[j]));
    assert_true(want[COLUMNS + 1] == INFINITY && want[2 * COLUMNS + 1] == 0);
    assert_true(want[COLUMNS + 3] == 0 && isfinite(want[COLUMNS]));
  }
}

/* ---- honest kernels: the bound must accept each of them, whatever the data ----------------------------- */

typedef float summation(const float *terms, int64_t count);

static float forward(const float *terms, int64_t count) {
  float sum = 0;
  for (int64_t i = 0; i < count; i++) sum += terms[i];
  return sum;
}

static float backward(const float *terms, int64_t count) {
  float sum = 0;
  for (int64_t i = count - 1; i >= 0; i--) sum += terms[i];
  return sum;
}

static float in_tiles(const float *terms, int64_t count) {
  float total = 0;
  for (int64_t start = 0; start < count; start += 32) {
    total += forward(terms + start, count - start < 32 ? count - start : 32);
  }
  return total;
}

static float in_lanes(const float *terms, int64_t count) {
  float lanes[8] = {0};
  for (int64_t i = 0; i < count; i++) lanes[i % 8] += terms[i];
  return forward(lanes, 8);
}

static float pairwise(const float *terms, int64_t count) {
  if (count <= 1) return count == 1 ? terms[0] : 0;
  return pairwise(terms, count / 2) + pairwise(terms + count / 2, count - count / 2);
}

/* The operator with one order of summation and a rounding of its own. */
static void kernel(summation *sum, assay_dtype dtype, int64_t depth, bool bias_first) {
  float terms[DEEPEST];
  for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
    for (int64_t p = 0; p < depth; p++) {
      terms[p] =
          assay_load(a, dtype, i / COLUMNS * depth + p) * assay_load(b, dtype, p * COLUMNS + i % COLUMNS);
    }
    const float addend = assay_load(bias, dtype, i % COLUMNS);
    if (bias_first && depth > 0) terms[0] += addend;
    const float total = bias_first && depth > 0 ? sum(terms, depth) : sum(terms, depth) + addend;
    assay_store(c, dtype, i, total < 0 ? 0 : total);
  }
}

static int64_t wrong_elements(assay_dtype dtype) {
  const comparison what = {.dtype = dtype,
                           .got = c,
                           .want = want,
                           .allowed = allowed,
                           .count = ROWS * COLUMNS,
                           .columns = COLUMNS};
  return compare_all(&what).wrong;
}

static void the_bound_accepts_honest_orders_of_summation(void **state) {
  (void)state;
  summation *const sums[] = {forward, backward, in_tiles, in_lanes, pairwise};
  const double means[] = {0, 0.1, 3, -2};
  for (uint64_t seed = 0; seed < 1000; seed++) {
    const assay_dtype dtype = seed % 2 == 0 ? ASSAY_FP16 : ASSAY_BF16;
    const int64_t depth = seed % 50 == 0 ? DEEPEST : (int64_t)(seed * 7919 % 130);
    fill(seed, dtype, depth, means[seed / 2 % 4]);
    run_oracle(dtype, depth);
    for (size_t s = 0; s < sizeof sums / sizeof sums[0]; s++) {
      kernel(sums[s], dtype, depth, seed % 3 == 0);
      assert_int_equal(wrong_elements(dtype), 0);
    }
  }
}

static void a_gpu_may_truncate(void **state) {
  (void)state;
  double on_gpu[ROWS * COLUMNS];
  assay_tensor in[3];
  assay_tensor out;
  fill(1, ASSAY_FP16, 100, 1);
  run_oracle(ASSAY_FP16, 100);
  describe(ASSAY_FP16, 100, in, &out);
  out.device = 0;
  assay_gemm_oracle(0, in, &out, NULL, 0, ROWS, want, on_gpu);
  for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
    const double stored = assay_rounding_error(ASSAY_FP16, want[i]);
    assert_near(on_gpu[i] - stored, 2 * (allowed[i] - stored), 1e-12);
  }
}

/* ---- mistakes that it must not accept ------------------------------------------------------------------ */

static float round_16(assay_dtype dtype, float value) {
  uint16_t half;
  assay_store(&half, dtype, 0, value);
  return assay_load(&half, dtype, 0);
}

static float sum_fp16(const float *terms, int64_t count) {
  float sum = 0;
  for (int64_t i = 0; i < count; i++) sum = round_16(ASSAY_FP16, sum + terms[i]);
  return sum;
}

static float sum_bf16(const float *terms, int64_t count) {
  float sum = 0;
  for (int64_t i = 0; i < count; i++) sum = round_16(ASSAY_BF16, sum + terms[i]);
  return sum;
}

static float without_the_last(const float *terms, int64_t count) {
  return forward(terms, count - 1);
}

static void the_bound_rejects_the_classic_mistakes(void **state) {
  (void)state;
  for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
    summation *const sixteen = dtype == ASSAY_FP16 ? sum_fp16 : sum_bf16;
    int64_t caught[3] = {0};
    for (uint64_t seed = 0; seed < 20; seed++) {
      fill(seed, (assay_dtype)dtype, 128, 0.5);
      run_oracle((assay_dtype)dtype, 128);
      kernel(sixteen, (assay_dtype)dtype, 128, false);
      caught[0] += wrong_elements((assay_dtype)dtype) > 0;
      kernel(without_the_last, (assay_dtype)dtype, 128, false);
      caught[1] += wrong_elements((assay_dtype)dtype) > 0;
      kernel(forward, (assay_dtype)dtype, 128, false); /* right, but for a bias that came twice */
      for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
        const float again =
            assay_load(c, (assay_dtype)dtype, i) + assay_load(bias, (assay_dtype)dtype, i % COLUMNS);
        assay_store(c, (assay_dtype)dtype, i, again < 0 ? 0 : again);
      }
      caught[2] += wrong_elements((assay_dtype)dtype) > 0;
    }
    for (int i = 0; i < 3; i++) assert_int_equal(caught[i], 20);
  }
}

/* ---- the order of tiles -------------------------------------------------------------------------------- */

static void every_tile_is_walked_exactly_once(void **state) {
  (void)state;
  for (int64_t rows = 1; rows <= 11; rows++) {
    for (int64_t columns = 1; columns <= 11; columns++) {
      for (int64_t group = 1; group <= 13; group++) {
        bool seen[11][11] = {{false}};
        int64_t last_group = 0;
        for (int64_t pid = 0; pid < rows * columns; pid++) {
          const assay_gemm_tile tile = assay_gemm_tile_at(pid, rows, columns, group);
          assert_true(tile.row >= 0 && tile.row < rows && tile.column >= 0 && tile.column < columns);
          assert_false(seen[tile.row][tile.column]);
          seen[tile.row][tile.column] = true;
          assert_true(tile.row / group >= last_group); /* one group after another */
          last_group = tile.row / group;
        }
      }
    }
  }
}

static void groups_go_down_before_they_go_right(void **state) {
  (void)state;
  /* Five rows and two columns of tiles in groups of three: the last group has two rows. */
  const int64_t order[10][2] = {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1},
                                {2, 1}, {3, 0}, {4, 0}, {3, 1}, {4, 1}};
  for (int64_t pid = 0; pid < 10; pid++) {
    const assay_gemm_tile tile = assay_gemm_tile_at(pid, 5, 2, 3);
    assert_int_equal(tile.row, order[pid][0]);
    assert_int_equal(tile.column, order[pid][1]);
  }
  const int64_t many = INT64_C(1) << 40; /* no product of sizes overflows */
  const assay_gemm_tile tile = assay_gemm_tile_at(many - 1, 2, many / 2, INT64_MAX);
  assert_int_equal(tile.row, 1);
  assert_int_equal(tile.column, many / 2 - 1);
}

/* ---- the library's calls ------------------------------------------------------------------------------- */

static void the_typed_call_computes(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_cpu(1, &queue), ASSAY_OK);
  const double left[] = {1, 2, 0, 0, 3, -1}; /* rows of two, three elements apart */
  const double right[] = {1, -1, 2, 0.5};
  for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
    for (int i = 0; i < 6; i++) assay_put(a, (assay_dtype)dtype, i, left[i]);
    for (int i = 0; i < 4; i++) assay_put(b, (assay_dtype)dtype, i, right[i]);
    for (int i = 0; i < 2; i++) assay_put(bias, (assay_dtype)dtype, i, 1);
    for (int64_t tile_m = 16; tile_m <= 64; tile_m *= 2) {
      assert_int_equal(assay_fused_gemm((assay_dtype)dtype, a, 3, b, 2, bias, 2, 2, 2, c, 4, tile_m, queue),
                       ASSAY_OK);
      const double result[] = {6, 1, 7, 2.5};
      for (int i = 0; i < 4; i++) assert_true(assay_get(c, (assay_dtype)dtype, i) == result[i]);
    }
  }
  assay_queue_close(queue);
}

static void bad_calls_say_what_is_wrong(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_cpu(1, &queue), ASSAY_OK);
  memset(a, 0, sizeof a);
  memset(b, 0, sizeof b);
  memset(bias, 0, sizeof bias);
  const assay_dtype dtype = ASSAY_FP16;
  assert_int_equal(assay_fused_gemm(dtype, a, 2, b, 2, bias, 2, 2, 2, b, 0, 0, queue), ASSAY_BAD_ALIAS);
  assert_non_null(strstr(assay_last_error(), "overlaps b"));
  assert_int_equal(assay_fused_gemm(dtype, NULL, 2, b, 2, bias, 2, 2, 2, c, 0, 0, queue), ASSAY_BAD_POINTER);
  assert_int_equal(assay_fused_gemm(dtype, a, -2, b, 2, bias, 2, 2, 2, c, 0, 0, queue), ASSAY_BAD_STRIDE);
  assert_int_equal(assay_fused_gemm(dtype, a, 2, b, 2, bias, -2, 2, 2, c, 0, 0, queue), ASSAY_BAD_SHAPE);
  assert_int_equal(assay_fused_gemm(ASSAY_FP32, a, 2, b, 2, bias, 2, 2, 2, c, 0, 0, queue), ASSAY_BAD_DTYPE);
  assert_int_equal(assay_fused_gemm(dtype, a, 2, b, 2, bias, 2, 2, 2, c, 3, 0, queue), ASSAY_BAD_OPTION);
  assert_non_null(strstr(assay_last_error(), "group"));
  assert_int_equal(assay_fused_gemm(dtype, a, 2, b, 2, bias, 2, 2, 2, c, 0, 48, queue), ASSAY_BAD_OPTION);
  assert_int_equal(assay_fused_gemm(dtype, a, 2, b, 2, bias, 2, 2, 2, c, 0, 0, NULL), ASSAY_BAD_POINTER);
  assert_int_equal(assay_fused_gemm(dtype, NULL, 2, NULL, 2, NULL, 0, 2, 2, NULL, 0, 0, queue), ASSAY_OK);
  assert_int_equal(assay_fused_gemm(dtype, NULL, 0, NULL, 2, bias, 2, 2, 0, c, 8, 16, queue), ASSAY_OK);
  assay_queue_close(queue);
}

/* Every CPU variant that runs here, with NaN and infinities in c before the call, on 1 to 3 threads. */
static void variants_ignore_what_c_held(void **state) {
  (void)state;
  const assay_operator *op = assay_operator_find("fused_gemm");
  assert_non_null(op);
  const uint16_t stale[] = {0x7fff, 0x7c00, 0xfc00, 0xffff};
  for (int v = 0; v < op->variant_count; v++) {
    assay_message why = {""};
    if (op->variants[v].backend != ASSAY_CPU || !assay_variant_runs_here(&op->variants[v], &why)) continue;
    for (int threads = 1; threads <= 3; threads++) {
      assay_queue *queue = NULL;
      assert_int_equal(assay_queue_open_cpu(threads, &queue), ASSAY_OK);
      fill(3, ASSAY_BF16, 17, 0);
      run_oracle(ASSAY_BF16, 17);
      assay_tensor in[3];
      assay_tensor out;
      describe(ASSAY_BF16, 17, in, &out);
      for (int i = 0; i < ROWS * COLUMNS; i++) c[i] = stale[i % 4];
      assert_int_equal(assay_call("fused_gemm", op->variants[v].name, in, &out, NULL, queue), ASSAY_OK);
      assert_int_equal(wrong_elements(ASSAY_BF16), 0);
      assay_queue_close(queue);
    }
  }
}

/* c of one variant, NULL for dispatch's choice, within the bound. */
static void run_variant(const char *name, assay_dtype dtype, int64_t depth, uint16_t *result) {
  assay_queue *queue = NULL;
  assay_tensor in[3];
  assay_tensor out;
  assert_int_equal(assay_queue_open_cpu(1, &queue), ASSAY_OK);
  describe(dtype, depth, in, &out);
  assert_int_equal(assay_call("fused_gemm", name, in, &out, NULL, queue), ASSAY_OK);
  assert_int_equal(wrong_elements(dtype), 0);
  memcpy(result, c, sizeof c);
  assay_queue_close(queue);
}

/* Which of the two is faster is for the machine to say: both must be right, and the choice must be one of
 * them, the same again and again. */
static void dispatch_takes_pairs_or_floats(void **state) {
  (void)state;
  const assay_operator *op = assay_operator_find("fused_gemm");
  const assay_variant *pairs = assay_variant_find(op, "avx512bf16");
  assay_message why = {""};
  if (pairs == NULL || !assay_variant_runs_here(pairs, &why)) skip();
  const bool preferred = assay_variant_is_preferred(pairs);
  for (uint64_t seed = 0; seed < 40; seed++) {
    const assay_dtype dtype = seed % 4 == 0 ? ASSAY_FP16 : ASSAY_BF16;
    const int64_t depth = seed % 8 == 1 ? DEEPEST : (int64_t)(seed * 7919 % 130) + 1;
    uint16_t of_pairs[ROWS * COLUMNS];
    uint16_t of_floats[ROWS * COLUMNS];
    uint16_t chosen[ROWS * COLUMNS];
    fill(seed, dtype, depth, 0.1);
    if (seed % 3 == 0) assay_put(b, dtype, 0, 0x1p-130); /* subnormal in BF16 */
    run_oracle(dtype, depth);
    run_variant("avx512bf16", dtype, depth, of_pairs);
    run_variant("avx512", dtype, depth, of_floats);
    run_variant(NULL, dtype, depth, chosen);
    assert_memory_equal(chosen, preferred ? of_pairs : of_floats, sizeof chosen);
    assert_true(assay_variant_is_preferred(pairs) == preferred);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_oracle_agrees_with_long_double),
      cmocka_unit_test(special_numbers_follow_the_contract),
      cmocka_unit_test(the_bound_accepts_honest_orders_of_summation),
      cmocka_unit_test(a_gpu_may_truncate),
      cmocka_unit_test(the_bound_rejects_the_classic_mistakes),
      cmocka_unit_test(every_tile_is_walked_exactly_once),
      cmocka_unit_test(groups_go_down_before_they_go_right),
      cmocka_unit_test(the_typed_call_computes),
      cmocka_unit_test(bad_calls_say_what_is_wrong),
      cmocka_unit_test(variants_ignore_what_c_held),
      cmocka_unit_test(dispatch_takes_pairs_or_floats),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
