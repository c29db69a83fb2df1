/* SPDX-License-Identifier: MIT */
/*
 * test_vjp.c - softmax_backward: the oracle against a second definition, its bound against honest FP32
 * kernels with other orders of summation and against the usual mistakes, the library's calls, the lesson's
 * examples.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "check/compare.h"
#include "file.h"
#include "half.h"
#include "ops/ops.h"
#include "ops/softmax_backward/vjp.h"
#include "tensor.h"

enum { WIDEST = 8192 };

static float y[WIDEST];
static float g[WIDEST];
static double want[WIDEST];
static double allowed[WIDEST];

static void run_oracle(assay_dtype dtype, int64_t columns) {
  const assay_tensor in[] = {assay_tensor_make(y, ASSAY_FP32, 2, (const int64_t[]){1, columns}),
                             assay_tensor_make(g, ASSAY_FP32, 2, (const int64_t[]){1, columns})};
  assay_tensor dx = in[0];
  dx.dtype = dtype;
  assay_vjp_oracle(0, in, &dx, NULL, 0, 1, want, allowed);
}

/* y like a softmax, or of both signs; g around `mean`; both rounded to the type. */
static void fill(assay_rng *rng, assay_dtype dtype, int64_t columns, bool is_signed, double mean) {
  double sum = 0;
  for (int64_t c = 0; c < columns; c++) {
    const double normal = assay_rng_normal(rng);
    want[c] = is_signed ? normal : exp(2 * normal);
    sum += fabs(want[c]);
  }
  for (int64_t c = 0; c < columns; c++) {
    y[c] = (float)assay_round_to(dtype, want[c] / sum);
    g[c] = (float)assay_round_to(dtype, mean + assay_rng_normal(rng));
  }
}

static void the_oracle_agrees_with_pairs_of_differences(void **state) {
  (void)state;
  assay_rng rng;
  assay_rng_seed(&rng, 7);
  const int64_t widths[] = {1, 2, 7, 100, 1025};
  for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
    fill(&rng, ASSAY_FP32, widths[w], w % 2 == 0, 3);
    run_oracle(ASSAY_FP32, widths[w]);
    /* dx = y * (g*(1 - s) + sum_k y_k (g - g_k)) with s the sum of y: no dot product, in long double. */
    long double s = 0;
    for (int64_t k = 0; k < widths[w]; k++) s += (long double)y[k];
    for (int64_t c = 0; c < widths[w]; c++) {
      long double other = (long double)g[c] * (1 - s);
      for (int64_t k = 0; k < widths[w]; k++)
        other += (long double)y[k] * ((long double)g[c] - (long double)g[k]);
      other *= (long double)y[c];
      assert_near(want[c], (double)other, 1e-14);
      assert_true(allowed[c] > 0);
    }
  }
}

static void special_rows_follow_the_contract(void **state) {
  (void)state;
  const float rows[4][2][3] = {{{0.5f, NAN, 0.25f}, {1, 2, 3}},
                               {{0.5f, 0.25f, 0.25f}, {1, 2, NAN}},
                               {{0.5f, 0.25f, 0}, {1, 2, INFINITY}},
                               {{0.5f, 0.25f, 0.25f}, {1, INFINITY, 3}}};
  for (int r = 0; r < 4; r++) {
    memcpy(y, rows[r][0], sizeof rows[r][0]);
    memcpy(g, rows[r][1], sizeof rows[r][1]);
    run_oracle(ASSAY_FP32, 3);
    for (int c = 0; c < 3; c++) {
      if (r < 3 || c == 1) assert_true(isnan(want[c]));
      if (r == 3 && c != 1) assert_true(want[c] == -INFINITY);
    }
  }
}

/* ---- honest kernels: the bound must accept each of them, whatever the data ----------------------------- */

typedef float summation(int64_t first, int64_t count);

static float forward(int64_t first, int64_t count) {
  float total = 0;
  for (int64_t i = first; i < first + count; i++) total += y[i] * g[i];
  return total;
}

static float backward_fused(int64_t first, int64_t count) {
  float total = 0;
  for (int64_t i = first + count - 1; i >= first; i--) total = fmaf(y[i], g[i], total);
  return total;
}

static float forward_in_blocks(int64_t first, int64_t count) {
  float total = 0;
  for (int64_t i = first; i < first + count; i += 1024) {
    total += forward(i, first + count - i < 1024 ? first + count - i : 1024);
  }
  return total;
}

static float backward_in_blocks(int64_t first, int64_t count) {
  float total = 0;
  for (int64_t end = first + count; end > first; end -= 1024) {
    const int64_t start = end - first < 1024 ? first : end - 1024;
    total += backward_fused(start, end - start);
  }
  return total;
}

static float in_32_lanes(int64_t first, int64_t count) {
  float lanes[32] = {0};
  for (int64_t i = 0; i < count; i++) lanes[i % 32] += y[first + i] * g[first + i];
  float total = 0;
  for (int i = 0; i < 32; i++) total += lanes[i];
  return total;
}

static float pairwise(int64_t first, int64_t count) {
  if (count == 1) return y[first] * g[first];
  return pairwise(first, count / 2) + pairwise(first + count / 2, count - count / 2);
}

static int64_t wrong_elements(assay_dtype dtype, int64_t columns, const float *dx) {
  static float rounded[WIDEST];
  for (int64_t c = 0; c < columns; c++) assay_store(rounded, dtype, c, dx[c]);
  const comparison what = {
      .dtype = dtype, .got = rounded, .want = want, .allowed = allowed, .count = columns, .columns = columns};
  return compare_all(&what).wrong;
}

static int64_t wrong_with(summation *sum, assay_dtype dtype, int64_t columns) {
  static float dx[WIDEST];
  const float dot = sum(0, columns);
  for (int64_t c = 0; c < columns; c++) dx[c] = y[c] * (g[c] - dot);
  return wrong_elements(dtype, columns, dx);
}

static void the_bound_accepts_honest_orders_of_summation(void **state) {
  (void)state;
  summation *const sums[] = {forward_in_blocks, backward_in_blocks, in_32_lanes, pairwise};
  const int64_t widths[] = {1, 2, 3, 31, 33, 257, 1000, 1024, 1025, 4096, 8191, 8192};
  const double means[] = {0, 1, 1000, -3e4, 1e-35};
  for (uint64_t run = 0; run < 1000; run++) {
    assay_rng rng;
    assay_rng_seed(&rng, run);
    const int64_t columns = widths[assay_rng_below(&rng, sizeof widths / sizeof widths[0])];
    const assay_dtype dtype = (assay_dtype)assay_rng_below(&rng, 3);
    fill(&rng, dtype, columns, run % 4 == 0, means[assay_rng_below(&rng, 5)]);
    /* Some runs are so small that products and results are subnormal in FP32. */
    for (int64_t c = 0; run % 7 == 0 && c < columns; c++) y[c] *= 0x1p-122f;
    run_oracle(dtype, columns);
    for (int s = 0; s < 4; s++) assert_int_equal(wrong_with(sums[s], dtype, columns), 0);
    if (columns <= 1024) assert_int_equal(wrong_with(forward, dtype, columns), 0);
  }
}

static void the_bound_rejects_the_usual_mistakes(void **state) {
  (void)state;
  enum { N = 100 };
  float dx[N];
  assay_rng rng;
  assay_rng_seed(&rng, 3);
  for (int mistake = 0; mistake < 6; mistake++) {
    fill(&rng, ASSAY_FP16, N, false, 1);
    run_oracle(ASSAY_FP16, N);
    const float dot = in_32_lanes(0, N);
    float mean = 0;
    for (int c = 0; c < N; c++) mean += g[c] / N;
    for (int c = 0; c < N; c++) {
      const float wrong[] = {
          y[c] * g[c] - dot,      g[c] * (y[c] - dot),
          y[c] * (g[c] - mean),   y[c] * (1 - y[c]) * g[c],
          g[c] - y[c] * mean * N, y[c] * (g[c] - assay_bf16_to_float(assay_bf16_from_float(dot)))};
      dx[c] = wrong[mistake];
    }
    assert_true(wrong_elements(ASSAY_FP16, N, dx) > 0);
  }
  /* One FP32 chain over more than 1024 products: 1, then terms that vanish beside it. */
  for (int c = 0; c < WIDEST; c++) {
    y[c] = c == 0 ? 1 : 0x1p-12f;
    g[c] = c == 0 ? 1 : 0x1.fap-13f;
  }
  run_oracle(ASSAY_FP32, WIDEST);
  assert_true(wrong_with(forward, ASSAY_FP32, WIDEST) > 0);
  assert_int_equal(wrong_with(in_32_lanes, ASSAY_FP32, WIDEST), 0);
}

/* ---- the library's calls ------------------------------------------------------------------------------- */

static void the_typed_call_computes_or_says_what_is_wrong(void **state) {
  (void)state;
  assay_queue *q = NULL;
  assert_int_equal(assay_queue_open_cpu(1, &q), ASSAY_OK);
  const float a[6] = {0.5f, 0.25f, 0.25f, 0.25f, 0.25f, 0.5f}; /* two rows of three, transposed */
  const float b[8] = {1, 2, 3, -1, 4, 0, 8, -1};               /* two rows of three with a gap */
  float dx[6] = {0};
  assert_int_equal(assay_softmax_backward(ASSAY_FP32, a, 1, 2, b, 4, 1, 2, 3, dx, 0, q), ASSAY_OK);
  /* Row 0: y = 1/2 1/4 1/4, g = 1 2 3, dot = 7/4. Row 1: y = 1/4 1/4 1/2, g = 4 0 8, dot = 5. */
  const float row0[3] = {-0.375f, 0.0625f, 0.3125f};
  const float row1[3] = {-0.25f, -1.25f, 1.5f};
  for (int c = 0; c < 3; c++) assert_true(dx[c] == row0[c] && dx[3 + c] == row1[c]);

  assert_int_equal(assay_softmax_backward(ASSAY_FP32, dx, 3, 1, b, 4, 1, 2, 3, dx, 0, q), ASSAY_BAD_ALIAS);
  assert_non_null(strstr(assay_last_error(), "dx overlaps y"));
  assert_int_equal(assay_softmax_backward(ASSAY_FP32, a, 3, 1, dx, 3, 1, 2, 3, dx, 0, q), ASSAY_BAD_ALIAS);
  assert_non_null(strstr(assay_last_error(), "dx overlaps g"));
  assert_int_equal(assay_softmax_backward(ASSAY_FP32, a, 3, 1, NULL, 3, 1, 2, 3, dx, 0, q),
                   ASSAY_BAD_POINTER);
  assert_int_equal(assay_softmax_backward(ASSAY_FP64, a, 3, 1, b, 4, 1, 2, 3, dx, 0, q), ASSAY_BAD_DTYPE);
  assert_int_equal(assay_softmax_backward(ASSAY_FP32, a, 3, 1, b, 4, -1, 2, 3, dx, 0, q), ASSAY_BAD_STRIDE);
  assert_int_equal(assay_softmax_backward(ASSAY_FP32, a, 3, 1, b, 4, 1, 2, 0, dx, 0, q), ASSAY_BAD_SHAPE);
  assert_int_equal(assay_softmax_backward(ASSAY_FP32, a, 3, 1, b, 4, 1, 2, 3, dx, 4, q), ASSAY_BAD_OPTION);
  assert_int_equal(assay_softmax_backward(ASSAY_FP32, a, 3, 1, b, 4, 1, 2, 3, dx, 0, NULL),
                   ASSAY_BAD_POINTER);
  assert_int_equal(assay_softmax_backward(ASSAY_FP32, NULL, 3, 1, NULL, 4, 1, 0, 3, NULL, 0, q), ASSAY_OK);
  assay_queue_close(q);
}

/* ---- the lesson's examples ----------------------------------------------------------------------------- */

enum { MOST_LINES = 40, MOST_NUMBERS = 32 };

/* "key: numbers" of an example, and how many decimals were printed. */
typedef struct line {
  char key[24];
  int count;
  double value[MOST_NUMBERS];
  int decimals[MOST_NUMBERS];
} line;

typedef struct example {
  line lines[MOST_LINES];
  int count;
} example;

static void read_line(example *block, char *text) {
  assert_true(block->count < MOST_LINES);
  line *one = &block->lines[block->count++];
  char *colon = strchr(text, ':');
  if (colon == NULL) fail_msg("\"%s\" has no colon", text);
  snprintf(one->key, sizeof one->key, "%.*s", (int)(colon - text), text);
  one->count = 0;
  for (char *at = colon + 1, *end = at; *at != '\0'; at = end) {
    one->value[one->count] = strtod(at, &end);
    if (end == at) fail_msg("\"%s\" is followed by something else than numbers", one->key);
    const char *point = memchr(at, '.', (size_t)(end - at));
    one->decimals[one->count++] = point == NULL ? 0 : (int)(end - point) - 1;
    assert_true(one->count < MOST_NUMBERS);
  }
}

static const line *find(const example *block, const char *name, int row) {
  char key[24];
  snprintf(key, sizeof key, row < 0 ? "%s" : "%s[%d]", name, row);
  for (int i = 0; i < block->count; i++) {
    if (strcmp(block->lines[i].key, key) == 0) return &block->lines[i];
  }
  fail_msg("an example has no line \"%s\"", key);
  return NULL;
}

/* Each printed number must be the exact one rounded to as many decimals as are printed. */
static void expect_numbers(const line *got, const double *exact, int count) {
  if (got->count != count) fail_msg("%s has %d numbers instead of %d", got->key, got->count, count);
  for (int i = 0; i < count; i++) {
    assert_near(got->value[i], exact[i], 0.5 * pow(10, -got->decimals[i]) + 1e-12);
  }
}

/* One operand's row, from its storage. */
static void read_view(const example *block, const char *name, int row, int columns, double *values) {
  char key[3][24];
  const char *const parts[] = {"storage", "first", "strides"};
  for (int i = 0; i < 3; i++) snprintf(key[i], sizeof key[i], "%s_%s", name, parts[i]);
  const line *storage = find(block, key[0], -1);
  const line *strides = find(block, key[2], -1);
  for (int c = 0; c < columns; c++) {
    const int at = (int)(find(block, key[1], -1)->value[0] + row * strides->value[0] + c * strides->value[1]);
    assert_true(at >= 0 && at < storage->count);
    values[c] = storage->value[at];
  }
  expect_numbers(find(block, name, row), values, columns);
}

static void check_example(const example *block) {
  const int rows = (int)find(block, "shape", -1)->value[0];
  const int columns = (int)find(block, "shape", -1)->value[1];
  double a[MOST_NUMBERS], b[MOST_NUMBERS], dx[MOST_NUMBERS];
  for (int r = 0; r < rows; r++) {
    read_view(block, "y", r, columns, a);
    read_view(block, "g", r, columns, b);
    double dot = 0;
    for (int c = 0; c < columns; c++) dot += a[c] * b[c];
    for (int c = 0; c < columns; c++) dx[c] = a[c] * (b[c] - dot);
    expect_numbers(find(block, "dot", r), &dot, 1);
    expect_numbers(find(block, "dx", r), dx, columns);
  }
}

static double loss(const line *x, const line *weights, int place, double h) {
  double sum = 0, total = 0;
  for (int k = 0; k < x->count; k++) {
    const double term = exp(x->value[k] + (k == place ? h : 0));
    sum += term;
    total += term * weights->value[k];
  }
  return total / sum;
}

/* The slope of L(x) = sum(softmax(x) * g), measured and computed. */
static void check_slope(const example *block) {
  const line *x = find(block, "x", -1), *weights = find(block, "g", -1);
  const double h = find(block, "h", -1)->value[0];
  double softmax[MOST_NUMBERS], dx[MOST_NUMBERS], slope[MOST_NUMBERS], sum = 0;
  const double dot = loss(x, weights, -1, 0);
  for (int c = 0; c < x->count; c++) sum += exp(x->value[c]);
  for (int c = 0; c < x->count; c++) {
    softmax[c] = exp(x->value[c]) / sum;
    dx[c] = softmax[c] * (weights->value[c] - dot);
    slope[c] = (loss(x, weights, c, h) - loss(x, weights, c, -h)) / (2 * h);
  }
  expect_numbers(find(block, "y", -1), softmax, x->count);
  expect_numbers(find(block, "dot", -1), &dot, 1);
  expect_numbers(find(block, "dx", -1), dx, x->count);
  expect_numbers(find(block, "slope", -1), slope, x->count);
}

static void the_lesson_is_right(void **state) {
  (void)state;
  char path[ASSAY_PATH_SIZE];
  assert_non_null(assay_source_folder());
  assert_true(assay_path_format(path, "%s/workshops/w2_softmax_backward/lesson.md", assay_source_folder()));
  size_t size;
  char *text = assay_read_file(path, 1 << 20, &size);
  assert_non_null(text);
  int count[2] = {0, 0};
  int kind = -1;
  static example block;
  char *rest = NULL;
  for (char *at = strtok_r(text, "\n", &rest); at != NULL; at = strtok_r(NULL, "\n", &rest)) {
    if (strncmp(at, "```", 3) != 0) {
      if (kind >= 0) read_line(&block, at);
      continue;
    }
    if (kind == 0) check_example(&block);
    if (kind == 1) check_slope(&block);
    kind = strcmp(at, "```example") == 0 ? 0 : strcmp(at, "```slope") == 0 ? 1 : -1;
    if (kind >= 0) count[kind]++;
    block.count = 0;
  }
  free(text);
  assert_true(count[0] >= 4 && count[1] >= 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_oracle_agrees_with_pairs_of_differences),
      cmocka_unit_test(special_rows_follow_the_contract),
      cmocka_unit_test(the_bound_accepts_honest_orders_of_summation),
      cmocka_unit_test(the_bound_rejects_the_usual_mistakes),
      cmocka_unit_test(the_typed_call_computes_or_says_what_is_wrong),
      cmocka_unit_test(the_lesson_is_right),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
