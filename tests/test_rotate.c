/* SPDX-License-Identifier: MIT */
/* test_rotate.c - contents of files from round to round: nothing made or lost, what belongs together stays
 * together. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "bench/rotate.h"
#include "tensor.h"

enum { ROWS = 4, COLUMNS = 5, COUNT = ROWS * COLUMNS };

static float numbers[2 * COUNT];

static assay_tensor matrix(int64_t rows, int64_t columns) {
  return assay_tensor_make(numbers, ASSAY_FP32, 2, (const int64_t[]){rows, columns});
}

static void test_as_they_stand(void **state) {
  (void)state;
  double values[COUNT];
  for (int i = 0; i < 2 * COUNT; i++) numbers[i] = (float)i;
  assay_tensor view = matrix(ROWS, COLUMNS); /* every second column, rows of ten */
  view.stride[0] = 2 * COLUMNS;
  view.stride[1] = 2;
  rotate_read(&view, NULL, values);
  for (int i = 0; i < COUNT; i++) assert_true(values[i] == 2 * i);
}

static int by_value(const void *left, const void *right) {
  const double a = *(const double *)left;
  const double b = *(const double *)right;
  return (a > b) - (a < b);
}

/* All values are still there, none at its place along either axis, and another seed turns otherwise. */
static void test_rotated(void **state) {
  (void)state;
  double values[COUNT];
  double sorted[COUNT];
  int different = 0;
  for (int i = 0; i < COUNT; i++) numbers[i] = (float)i;
  const assay_tensor x = matrix(ROWS, COLUMNS);
  for (uint64_t seed = 0; seed < 20; seed++) {
    double other[COUNT];
    const uint64_t next = seed + 1;
    rotate_read(&x, &seed, values);
    memcpy(sorted, values, sizeof sorted);
    qsort(sorted, COUNT, sizeof sorted[0], by_value);
    for (int i = 0; i < COUNT; i++) {
      assert_true(sorted[i] == i);
      const int from = (int)values[i];
      assert_true(from / COLUMNS != i / COLUMNS && from % COLUMNS != i % COLUMNS);
      /* Neighbours stay neighbours, around the end. */
      if (i % COLUMNS > 0) assert_true(from % COLUMNS == ((int)values[i - 1] % COLUMNS + 1) % COLUMNS);
    }
    rotate_read(&x, &next, other);
    different += memcmp(values, other, sizeof values) != 0;
  }
  assert_true(different >= 15);
}

/* In a product the same k meet: a[m,k] = k and b[k,n] = k turn together. */
static void test_axes_of_one_length_turn_together(void **state) {
  (void)state;
  double a[COUNT];
  double b[COUNT];
  const uint64_t seed = 11;
  const assay_tensor left = matrix(ROWS, COLUMNS);
  for (int i = 0; i < COUNT; i++) numbers[i] = (float)(i % COLUMNS);
  rotate_read(&left, &seed, a);
  const assay_tensor right = matrix(COLUMNS, ROWS);
  for (int i = 0; i < COUNT; i++) {
    const int column = i / ROWS;
    numbers[i] = (float)column;
  }
  rotate_read(&right, &seed, b);
  for (int k = 0; k < COLUMNS; k++) assert_true(a[k] == b[k * ROWS]);
}

static void test_constant(void **state) {
  (void)state;
  for (int i = 0; i < 2 * COUNT; i++) numbers[i] = i % 2 == 0 ? 1.0f : 2.0f;
  assay_tensor x = matrix(ROWS, COLUMNS);
  assert_false(rotate_constant(&x));
  x.stride[0] = 2 * COLUMNS;
  x.stride[1] = 2; /* the even places hold one value */
  assert_true(rotate_constant(&x));
  x.shape[0] = 0;
  assert_true(rotate_constant(&x));
}

/* An axis of one element has nowhere to go. */
static void test_small_axes(void **state) {
  (void)state;
  double values[COUNT];
  const uint64_t seed = 3;
  numbers[0] = 7;
  const assay_tensor one = matrix(1, 1);
  rotate_read(&one, &seed, values);
  assert_true(values[0] == 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_as_they_stand),
      cmocka_unit_test(test_rotated),
      cmocka_unit_test(test_axes_of_one_length_turn_together),
      cmocka_unit_test(test_constant),
      cmocka_unit_test(test_small_axes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
