/* SPDX-License-Identifier: MIT */
/*
 * test_attention.c - the oracle against a second definition, its bound against honest FP32 kernels with other
 * orders of summation, the typed call of the library, and the numbers in the lesson.
 */
#include "unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/compare.h"
#include "file.h"
#include "half.h"
#include "ops/ops.h"
#include "ops/streaming_attention/attention.h"
#include "rng.h"
#include "tensor.h"

enum { LONGEST = 160, WIDEST = 72, MOST = LONGEST * WIDEST };

static uint16_t stored[4][MOST]; /* q, k, v, o */
static float wide[3][MOST];
static double want[MOST];
static double allowed[MOST];

typedef struct problem {
  assay_dtype dtype;
  int64_t n, d;
  bool causal;
} problem;

static void fill(const problem *p, uint64_t seed, double scale, double of_values) {
  assay_rng rng;
  assay_rng_seed(&rng, seed);
  for (int operand = 0; operand < 3; operand++) {
    for (int64_t i = 0; i < p->n * p->d; i++) {
      const double value = (operand == 2 ? of_values : scale) * assay_rng_normal(&rng);
      assay_put(stored[operand], p->dtype, i, value);
      wide[operand][i] = assay_load(stored[operand], p->dtype, i);
    }
  }
}

static void run_oracle(const problem *p) {
  const int64_t shape[2] = {p->n, p->d};
  const int64_t opt[ASSAY_MAX_OPTIONS] = {p->causal};
  assay_tensor in[3];
  for (int i = 0; i < 3; i++) in[i] = assay_tensor_make(stored[i], p->dtype, 2, shape);
  const assay_tensor out = assay_tensor_make(stored[3], p->dtype, 2, shape);
  assay_attention_oracle(0, in, &out, opt, 0, p->n, want, allowed);
}

static void the_oracle_agrees_with_a_log_domain_definition(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 24; seed++) {
    const problem p = {seed % 2 == 0 ? ASSAY_FP16 : ASSAY_BF16, 1 + (int64_t)(seed * 7 % 40),
                       1 + (int64_t)(seed * 5 % 60), seed % 3 == 0};
    fill(&p, seed, 2, 1);
    run_oracle(&p);
    for (int64_t i = 0; i < p.n; i++) {
      long double x[LONGEST];
      long double sum = 0; /* weights exp(x - log(sum(exp(x)))), without a maximum, in long double */
      const int64_t visible = p.causal ? i + 1 : p.n;
      for (int64_t j = 0; j < visible; j++) {
        x[j] = 0;
        for (int64_t c = p.d - 1; c >= 0; c--) {
          x[j] += (long double)wide[0][i * p.d + c] * (long double)wide[1][j * p.d + c];
        }
        x[j] /= sqrtl((long double)p.d);
        sum += expl(x[j]);
      }
      for (int64_t c = 0; c < p.d; c++) {
        long double o = 0;
        for (int64_t j = visible - 1; j >= 0; j--) {
          o += expl(x[j] - logl(sum)) * (long double)wide[2][j * p.d + c];
        }
        assert_near(want[i * p.d + c], (double)o, 1e-12);
        assert_true(allowed[i * p.d + c] > 0);
      }
    }
  }
}

/* ---- honest kernels: the bound must accept each of them, whatever the data ----------------------------- */

typedef struct way {
  int64_t block;
  bool backward;       /* keys of a tile from the last to the first */
  bool in_place;       /* values are added to the running sum one by one */
  bool round_p;        /* weights to 16 bits before they meet v */
  bool scale_first;    /* q is scaled, not the score */
  bool lose_s, lose_a; /* the mistakes: a sum is not rescaled */
  bool half_sums;      /* the mistake: sums in FP16 */
  bool no_diagonal;    /* the mistake: the last visible key is left out */
} way;

static float to_half(assay_dtype dtype, float value) {
  uint16_t half;
  assay_store(&half, dtype, 0, value);
  return assay_load(&half, dtype, 0);
}

static float dot(const problem *p, const way *how, int64_t i, int64_t j) {
  const float scale = 1.0f / sqrtf((float)p->d);
  float sum = 0;
  for (int64_t c = 0; c < p->d; c++) {
    const float q = wide[0][i * p->d + c];
    sum += (how->scale_first ? q * scale : q) * wide[1][j * p->d + c];
  }
  return how->scale_first ? sum : sum * scale;
}

static void attend_row(const problem *p, const way *how, int64_t i, int64_t visible) {
  float m = -INFINITY, s = 0, a[WIDEST] = {0};
  for (int64_t key = 0; key < visible; key += how->block) {
    const int64_t count = visible - key < how->block ? visible - key : how->block;
    float weight[LONGEST], tile[WIDEST] = {0}, sum = 0, top = m;
    for (int64_t j = 0; j < count; j++) {
      weight[j] = dot(p, how, i, key + j);
      top = fmaxf(top, weight[j]);
    }
    const float rescale = expf(m - top);
    if (!how->lose_s) s *= rescale;
    for (int64_t c = 0; c < p->d && !how->lose_a; c++) a[c] *= rescale;
    for (int64_t t = 0; t < count; t++) {
      const int64_t j = how->backward ? count - 1 - t : t;
      const float weighs = expf(weight[j] - top);
      const float used = how->round_p ? to_half(p->dtype, weighs) : weighs;
      sum += weighs;
      float *to = how->in_place ? a : tile;
      for (int64_t c = 0; c < p->d; c++) to[c] += used * wide[2][(key + j) * p->d + c];
    }
    m = top;
    s += sum;
    for (int64_t c = 0; c < p->d; c++)
      a[c] = how->half_sums ? to_half(ASSAY_FP16, a[c] + tile[c]) : a[c] + tile[c];
  }
  for (int64_t c = 0; c < p->d; c++) assay_store(stored[3], p->dtype, i * p->d + c, a[c] / s);
}

static int64_t wrong_elements(const problem *p, const way *how) {
  run_oracle(p);
  for (int64_t i = 0; i < p->n; i++) {
    int64_t visible = p->causal ? i + 1 : p->n;
    if (how->no_diagonal && visible > 1) visible--;
    attend_row(p, how, i, visible);
  }
  const comparison what = {.dtype = p->dtype,
                           .got = stored[3],
                           .want = want,
                           .allowed = allowed,
                           .count = p->n * p->d,
                           .columns = p->d};
  return compare_all(&what).wrong;
}

static void the_bound_accepts_honest_kernels(void **state) {
  (void)state;
  static const int64_t blocks[] = {32, 64, LONGEST};
  static const double scales[] = {0.1, 1, 2, 5, 12};
  static const double values[] = {1, 1000, 1e-4, 0.03};
  assay_rng rng;
  assay_rng_seed(&rng, 6);
  for (uint64_t seed = 0; seed < 1000; seed++) {
    const problem p = {seed % 2 == 0 ? ASSAY_FP16 : ASSAY_BF16,
                       1 + (int64_t)assay_rng_below(&rng, seed % 8 == 0 ? LONGEST : 48),
                       1 + (int64_t)assay_rng_below(&rng, seed % 8 == 0 ? 24 : WIDEST), seed % 3 != 0};
    const way how = {.block = blocks[assay_rng_below(&rng, 3)],
                     .backward = assay_rng_below(&rng, 2) == 0,
                     .in_place = assay_rng_below(&rng, 2) == 0,
                     .round_p = assay_rng_below(&rng, 2) == 0,
                     .scale_first = assay_rng_below(&rng, 2) == 0};
    fill(&p, seed, scales[assay_rng_below(&rng, 5)], values[assay_rng_below(&rng, 4)]);
    if (wrong_elements(&p, &how) != 0) fail_msg("seed %d: an honest kernel is outside the bound", (int)seed);
  }
}

static void the_bound_rejects_the_classic_mistakes(void **state) {
  (void)state;
  const way mistakes[] = {{.block = 32, .lose_s = true},
                          {.block = 32, .lose_a = true},
                          {.block = 32, .half_sums = true},
                          {.block = 32, .no_diagonal = true}};
  for (size_t k = 0; k < sizeof mistakes / sizeof mistakes[0]; k++) {
    for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
      const problem p = {(assay_dtype)dtype, 130, 16, true};
      const bool loud = mistakes[k].half_sums; /* sums beyond 65504 */
      fill(&p, 40 + k, loud ? 0.3 : 1.5, loud ? 14000 : 1);
      assert_true(wrong_elements(&p, &mistakes[k]) > 0);
      const way right = {.block = 32};
      assert_int_equal(wrong_elements(&p, &right), 0);
    }
  }
}

static void weights_below_the_normal_fp16_numbers_may_be_rounded(void **state) {
  (void)state;
  /* Score -12 weighs 6e-6, a subnormal FP16 number, and its value of 60000 is all that shows of the row. */
  const problem p = {ASSAY_FP16, 2, 1, false};
  const double numbers[3][2] = {{1, 1}, {0, -12}, {0, 60000}};
  for (int operand = 0; operand < 3; operand++) {
    for (int i = 0; i < 2; i++) {
      assay_put(stored[operand], p.dtype, i, numbers[operand][i]);
      wide[operand][i] = (float)numbers[operand][i];
    }
  }
  assert_int_equal(wrong_elements(&p, &(way){.block = 32, .round_p = true}), 0);
  assert_int_equal(wrong_elements(&p, &(way){.block = 32}), 0);
}

/* ---- the library's calls ------------------------------------------------------------------------------- */

static assay_status call(uint16_t *o, int64_t n, int64_t d, int64_t causal, int64_t block,
                         assay_queue *queue) {
  const int64_t strides[3] = {0, n * d, d};
  return assay_streaming_attention(ASSAY_FP16, stored[0], strides, stored[1], strides, stored[2], strides, 1,
                                   2, n, d, o, causal, block, queue);
}

static void the_typed_call_computes(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_cpu(2, &queue), ASSAY_OK);
  const problem p = {ASSAY_FP16, 70, 40, true};
  fill(&p, 1, 1, 1);
  assert_int_equal(call(stored[3], 35, 40, 1, 32, queue), ASSAY_OK); /* two heads of 35 rows */
  const problem head = {ASSAY_FP16, 35, 40, true};
  run_oracle(&head);
  for (int i = 0; i < 35 * 40; i++) {
    assert_true(compare_element(ASSAY_FP16, assay_get(stored[3], ASSAY_FP16, i), want[i], allowed[i]));
  }
  assay_queue_close(queue);
}

static void bad_calls_say_what_is_wrong(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_cpu(1, &queue), ASSAY_OK);
  const int64_t strides[3] = {0, 0, 16};
  uint16_t *o = stored[3];
  assert_int_equal(call(stored[1], 4, 16, 0, 0, queue), ASSAY_BAD_ALIAS);
  assert_non_null(strstr(assay_last_error(), "overlaps k"));
  assert_int_equal(call(NULL, 4, 16, 0, 0, queue), ASSAY_BAD_POINTER);
  assert_int_equal(call(o, 4, 257, 0, 0, queue), ASSAY_BAD_SHAPE);
  assert_int_equal(call(o, -1, 16, 0, 0, queue), ASSAY_BAD_SHAPE);
  assert_int_equal(call(o, 4, 16, 2, 0, queue), ASSAY_BAD_OPTION);
  assert_int_equal(call(o, 4, 16, 0, 48, queue), ASSAY_BAD_OPTION);
  assert_int_equal(call(o, 4, 16, 0, 0, NULL), ASSAY_BAD_POINTER);
  assert_int_equal(call(NULL, 0, 16, 0, 0, queue), ASSAY_OK);
  assert_int_equal(assay_streaming_attention(ASSAY_FP16, stored[0], strides, stored[1], NULL, stored[2],
                                             strides, 1, 1, 4, 16, o, 0, 0, queue),
                   ASSAY_BAD_POINTER);
  assert_non_null(strstr(assay_last_error(), "k_strides"));
  assert_int_equal(assay_streaming_attention(ASSAY_FP32, stored[0], strides, stored[1], strides, stored[2],
                                             strides, 1, 1, 4, 16, o, 0, 0, queue),
                   ASSAY_BAD_DTYPE);
  assay_queue_close(queue);
}

/* ---- the lesson ---------------------------------------------------------------------------------------- */

enum { NUMBERS = 16, LINES = 64 };

typedef struct line {
  char key[16];
  int count;
  double value[NUMBERS];
  int decimals[NUMBERS];
} line;

/* The lines of the next block that opens with `fence`, and how many; *text moves behind it. 0: no more. */
static int next_block(char **text, const char *fence, line *lines) {
  char *at = strstr(*text, fence);
  if (at == NULL) return 0;
  at += strlen(fence);
  int used = 0;
  for (; strncmp(at, "```", 3) != 0; at += strcspn(at, "\n") + 1) {
    line *to = &lines[used++];
    *to = (line){.count = 0};
    assert_true(used < LINES && sscanf(at, "%15[^:]", to->key) == 1);
    char *number = strchr(at, ':') + 1;
    while (*number == ' ' && to->count < NUMBERS) {
      char *end;
      to->value[to->count] = strtod(number, &end);
      assert_true(end != number);
      const char *point = memchr(number, '.', (size_t)(end - number));
      to->decimals[to->count++] = point == NULL ? 0 : (int)(end - point) - 1;
      number = end;
    }
    assert_int_equal(*number, '\n');
  }
  *text = at;
  return used;
}

static const line *find(const line *lines, int count, const char *key) {
  for (int i = 0; i < count; i++) {
    if (strcmp(lines[i].key, key) == 0) return &lines[i];
  }
  static const line none = {.count = 0};
  fail_msg("the lesson's example has no line \"%s\"", key);
  return &none;
}

static void expect_numbers(const line *lines, int count, char name, int row, const double *wanted, int many) {
  char key[16];
  snprintf(key, sizeof key, "%c[%d]", name, row);
  const line *got = find(lines, count, key);
  assert_int_equal(got->count, many);
  for (int i = 0; i < many; i++) {
    assert_near(got->value[i], wanted[i], 0.5 * pow(10, -got->decimals[i]) + 1e-12);
  }
}

static void check_row(const line *lines, int count, int row) {
  const line *k = find(lines, count, "k");
  const double *v = find(lines, count, "v")->value;
  const int block = (int)find(lines, count, "block")->value[0];
  const int visible = find(lines, count, "causal")->value[0] > 0 ? row + 1 : k->count;
  double x[NUMBERS], m[NUMBERS], r[NUMBERS], s[NUMBERS], a[NUMBERS];
  double top = -INFINITY, o = 0;
  int tiles = 0;
  for (int key = 0; key < visible; key += block, tiles++) {
    const double old = top;
    const int end = key + block < visible ? key + block : visible;
    for (int j = key; j < end; j++) {
      x[j] = find(lines, count, "q")->value[row] * k->value[j];
      top = fmax(top, x[j]);
    }
    m[tiles] = top;
    r[tiles] = exp(old - top);
    s[tiles] = tiles > 0 ? s[tiles - 1] * r[tiles] : 0;
    a[tiles] = tiles > 0 ? a[tiles - 1] * r[tiles] : 0;
    for (int j = key; j < end; j++) {
      s[tiles] += exp(x[j] - top);
      a[tiles] += exp(x[j] - top) * v[j];
    }
    o = a[tiles] / s[tiles];
  }
  expect_numbers(lines, count, 'x', row, x, visible);
  expect_numbers(lines, count, 'm', row, m, tiles);
  expect_numbers(lines, count, 'r', row, r, tiles);
  expect_numbers(lines, count, 's', row, s, tiles);
  expect_numbers(lines, count, 'a', row, a, tiles);
  expect_numbers(lines, count, 'o', row, &o, 1);
}

static void the_lesson_is_right(void **state) {
  (void)state;
  char path[ASSAY_PATH_SIZE];
  assert_true(
      assay_path_format(path, "%s/workshops/w6_streaming_attention/lesson.md", assay_source_folder()));
  size_t size;
  char *text = assay_read_file(path, 1 << 20, &size);
  assert_non_null(text);
  line lines[LINES] = {{.count = 0}};
  char *at = text;
  int count, examples = 0;
  while ((count = next_block(&at, "```example\n", lines)) > 0) {
    for (int row = 0; row < find(lines, count, "q")->count; row++) check_row(lines, count, row);
    examples++;
  }
  assert_int_equal(examples, 2);
  at = text;
  count = next_block(&at, "```storage\n", lines);
  const line *n = find(lines, count, "n");
  for (int i = 0; i < n->count; i++) {
    assert_near(find(lines, count, "stored")->value[i], 4 * n->value[i] * n->value[i], 0);
    assert_near(find(lines, count, "streamed")->value[i], 4 * (64 + 2 + find(lines, count, "d")->value[i]),
                0);
  }
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_oracle_agrees_with_a_log_domain_definition),
      cmocka_unit_test(the_bound_accepts_honest_kernels),
      cmocka_unit_test(the_bound_rejects_the_classic_mistakes),
      cmocka_unit_test(weights_below_the_normal_fp16_numbers_may_be_rounded),
      cmocka_unit_test(the_typed_call_computes),
      cmocka_unit_test(bad_calls_say_what_is_wrong),
      cmocka_unit_test(the_lesson_is_right),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
