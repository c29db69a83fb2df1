/* SPDX-License-Identifier: MIT */
/* test_suites.c - shapes that are timed on one backend alone: they are valid, have names of their own, and
 * their contents do not depend on how many threads make them; and what ran on a GPU is named by its files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/contents.h"
#include "evidence/surroundings.h"
#include "ops/ops.h"
#include "tensor.h"
#include "unit.h"

enum { NAMES = 64 };

static bool list; /* the cases are printed: "test_suites --list", for tests of scripts that time the same */

/* The cases of a row are added to `names`; every one has to be valid for the library. */
static int take_row(const assay_operator *op, const assay_row *row, char names[NAMES][BENCH_NAME],
                    int count) {
  for (int dtype = 0; dtype < ASSAY_DTYPE_COUNT; dtype++) {
    for (int layout = 0; layout < op->subject.layout_count; layout++) {
      if ((row->dtypes >> dtype & 1u) == 0 || (row->layouts >> layout & 1u) == 0) continue;
      bench_case *one = calloc(1, sizeof *one);
      assert_non_null(one);
      *one = (bench_case){.op = op, .row = *row, .dtype = (assay_dtype)dtype, .layout = layout};
      bench_case_describe(one);
      assert_true(one->work.bytes > 0 && one->work.flops > 0);
      assert_true(count < NAMES);
      for (int i = 0; i < count; i++) {
        if (strcmp(names[i], one->name) == 0) fail_msg("%s has %s twice", op->subject.name, one->name);
      }
      if (list) printf("%s\t%s\n", op->subject.name, one->name);
      snprintf(names[count++], BENCH_NAME, "%s", one->name);
      free(one);
    }
  }
  return count;
}

static void test_names(void **state) {
  (void)state;
  int suites = 0;
  for (int i = 0; i < assay_operator_count; i++) {
    const assay_operator *op = assay_operators[i];
    const assay_bench_suite *suite = assay_operator_suite(op, ASSAY_CUDA);
    char names[NAMES][BENCH_NAME];
    int count = 0;
    assert_null(
        assay_operator_suite(op, ASSAY_CPU)); /* its cases are those of the table, and of kept reports */
    for (int r = 0; r < op->bench->row_count; r++) count = take_row(op, &op->bench->rows[r], names, count);
    if (suite == NULL) continue;
    suites++;
    const int own = count;
    for (int r = 0; r < suite->row_count; r++) count = take_row(op, &suite->rows[r], names, count);
    assert_true(count > own);
  }
  assert_true(suites > 0);
}

/* ---- contents in bands --------------------------------------------------------------------------------- */

/* Rows of different sums, so that a row that was cut shows. */
static void fill_rows(const assay_fill_args *args, double *values) {
  for (int64_t r = 0; r < args->shape[0]; r++) {
    const double first = floor(1000 * assay_rng_uniform(args->rng));
    for (int64_t c = 0; c < args->shape[1]; c++) values[r * args->shape[1] + c] = first + (double)c;
  }
}

enum { ROWS = 1000, COLUMNS = 7 };

static void make(float *memory, int threads, bool banded, uint64_t seed) {
  const int64_t shape[] = {ROWS, COLUMNS};
  case_operand operand = {.tensor = assay_tensor_make(memory, ASSAY_FP32, 2, shape)};
  contents_way way = {.fill = fill_rows,
                      .args = {.rank = 2, .shape = {ROWS, COLUMNS}},
                      .seed = seed,
                      .banded = banded,
                      .threads = threads};
  memset(memory, 0xff, ROWS * COLUMNS * sizeof *memory);
  assert_true(contents_make(&way, &operand));
}

static void test_bands(void **state) {
  (void)state;
  static float one[ROWS * COLUMNS];
  static float other[ROWS * COLUMNS];
  make(one, 1, true, 5);
  make(other, 3, true, 5);
  assert_memory_equal(one, other, sizeof one);
  int equal = 0;
  for (int r = 0; r < ROWS; r++) {
    for (int c = 0; c < COLUMNS; c++) assert_true(one[r * COLUMNS + c] == one[r * COLUMNS] + (float)c);
    equal += r > 0 && one[r * COLUMNS] == one[(r - 1) * COLUMNS];
  }
  assert_true(equal < ROWS / 10); /* every row is drawn anew, also where a band begins */
  make(other, 3, true, 6);
  assert_true(memcmp(one, other, sizeof one) != 0);
  /* Not in bands, contents are those that one generator gives from the first row to the last. */
  assay_rng rng;
  double expected[COLUMNS * ROWS];
  const assay_fill_args args = {.rank = 2, .shape = {ROWS, COLUMNS}, .rng = &rng};
  assay_rng_seed(&rng, 5);
  fill_rows(&args, expected);
  make(one, 3, false, 5);
  for (int i = 0; i < ROWS * COLUMNS; i++) assert_true(one[i] == (float)expected[i]);
}

/* ---- sources of kernels for a GPU ---------------------------------------------------------------------- */

static bool names(const report_variant *made, const char *words) {
  for (int64_t i = 0; i < made->sources.count; i++) {
    if (strstr(made->sources.items[i].path, words) != NULL) return true;
  }
  return false;
}

/* The first variant of an operator for a GPU; -1 when it has none. */
static int gpu_variant(const assay_operator *op) {
  for (int v = 0; v < op->variant_count; v++) {
    if (op->variants[v].backend == ASSAY_CUDA) return v;
  }
  return -1;
}

static void test_sources(void **state) {
  (void)state;
  int looked = 0;
  for (int i = 0; i < assay_operator_count; i++) {
    const assay_operator *op = assay_operators[i];
    bench_load load = {.target = TARGET_LIBRARY, .subject = &op->subject, .index = gpu_variant(op)};
    if (load.index < 0) continue;
    const bench_run run = {.backend = ASSAY_CUDA, .loads = &load, .load_count = 1};
    const bench_case one = {.op = op};
    const bench_variant variant = {.kind = BENCH_LIBRARY};
    report_variant made = {.name = NULL};
    looked++;
    assert_true(surroundings_sources(&run, &one, &variant, &made));
    if (made.sources.count == 0 || strstr(made.sources.items[0].path, ".cu") == NULL)
      fail_msg("%s: %s", op->subject.name, made.sources.count > 0 ? made.sources.items[0].path : "none");
    assert_true(names(&made, "include/assay/kernel.h") && names(&made, "include/assay/kernel_cuda.h"));
    assert_false(names(&made, "emulator") || names(&made, "_avx2") || names(&made, "_bench.c"));
    for (int64_t s = 0; s < made.sources.count; s++) {
      free(made.sources.items[s].path);
      free(made.sources.items[s].sha256);
    }
    free(made.sources.items);
  }
  assert_true(looked > 0);
  char *flags = surroundings_flags(true, true);
  assert_non_null(strstr(flags, "; kernels: --std=c++17"));
  free(flags);
  flags = surroundings_flags(false, false);
  assert_null(strstr(flags, "kernels:"));
  free(flags);
}

int main(int argc, char **argv) {
  list = argc == 2 && strcmp(argv[1], "--list") == 0;
  if (list) {
    test_names(NULL);
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_bands),
                                     cmocka_unit_test(test_sources)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
