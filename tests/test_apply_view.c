/* SPDX-License-Identifier: MIT */
/* test_apply_view.c - slices and transposes against plain loops, and the comparison behind `apply --check`.
 */
#include "unit.h"

#include <stdlib.h>

#include "cli/apply.h"
#include "cli/apply_view.h"
#include "ops/ops.h"
#include "tensor.h"

static float data[2 * 3 * 4];
static assay_tensor view;
static assay_message why;

/* Elements are numbered, so that a view is known by its values. */
static void begin(int rank, const int64_t *shape) {
  for (int i = 0; i < 24; i++) data[i] = (float)i;
  view = assay_tensor_make(data, ASSAY_FP32, rank, shape);
  why.text[0] = '\0';
}

static const int64_t shape_234[] = {2, 3, 4};

static void holds(int rank, const int64_t *shape, const int *values, size_t value_count) {
  int64_t count = 0;
  assert_int_equal(view.rank, rank);
  for (int k = 0; k < rank; k++) assert_int_equal(view.shape[k], shape[k]);
  assert_true(assay_tensor_count(&view, &count));
  assert_true((size_t)count <= value_count);
  for (size_t i = 0; i < (size_t)count && i < value_count; i++) {
    const float got = ((const float *)view.data)[assay_tensor_offset(&view, (int64_t)i)];
    if (got != (float)values[i]) fail_msg("element %d is %g, not %d", (int)i, (double)got, values[i]);
  }
}

#define HOLDS(rank, shape, ...)                                                                              \
  holds(rank, (const int64_t[])shape, (const int[]){__VA_ARGS__}, sizeof(int[]){__VA_ARGS__} / sizeof(int))
#define SHAPE(...)                                                                                           \
  { __VA_ARGS__ }

static void slice(const char *text) {
  begin(3, shape_234);
  if (!view_slice(text, &view, &why)) fail_msg("%s: %s", text, why.text);
}

static void test_slices(void **state) {
  (void)state;
  slice("1");
  HOLDS(2, SHAPE(3, 4), 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23);
  slice("1,0:2,::2");
  HOLDS(2, SHAPE(2, 2), 12, 14, 16, 18);
  slice(":,-1,-2:");
  HOLDS(2, SHAPE(2, 2), 10, 11, 22, 23);
  slice("0,:,3");
  HOLDS(1, SHAPE(3), 3, 7, 11);
  slice("1,2,3");
  HOLDS(0, SHAPE(0), 23);
  slice("::2,1:99:2,:-3");
  HOLDS(3, SHAPE(1, 1, 1), 4);
  slice("0:2:9223372036854775807,0,0");
  HOLDS(1, SHAPE(1), 0);
  slice("1,1:1");
  HOLDS(2, SHAPE(0, 4), 0);
  slice("5:,99999999999999999999:");
  assert_int_equal(view.shape[0], 0);
  assert_int_equal(view.shape[1], 0);
  assert_ptr_equal(view.data, data);
}

static void test_slices_that_are_refused(void **state) {
  (void)state;
  static const char *const bad[][2] = {{"", "is no slice"},
                                       {"a", "is no slice"},
                                       {"1,", "is no slice"},
                                       {",1", "is no slice"},
                                       {"1:2:3:4", "is no slice"},
                                       {"1 :2", "is no slice"},
                                       {"-", "is no slice"},
                                       {"...,1", "is no slice"},
                                       {"::0", "step below 1 for axis 0"},
                                       {":,::-1", "step below 1 for axis 1"},
                                       {"2", "index outside axis 0, whose size is 2"},
                                       {"0,-4", "index outside axis 1, whose size is 3"},
                                       {"0,99999999999999999999", "index outside axis 1"},
                                       {":,:,:,:", "more axes than there are: 3"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    begin(3, shape_234);
    const assay_tensor before = view;
    assert_false(view_slice(bad[i][0], &view, &why));
    if (strstr(why.text, bad[i][1]) == NULL) fail_msg("\"%s\" does not say \"%s\"", why.text, bad[i][1]);
    assert_memory_equal(&view, &before, sizeof view);
  }
}

static void test_transposes(void **state) {
  (void)state;
  begin(3, shape_234);
  assert_true(view_transpose(NULL, &view, &why));
  assert_true(view_slice("3,:,1", &view, &why));
  HOLDS(1, SHAPE(3), 15, 19, 23);
  begin(3, shape_234);
  assert_true(view_transpose("1,0,2", &view, &why));
  assert_true(view_slice("2,:,0", &view, &why));
  HOLDS(1, SHAPE(2), 8, 20);
  assert_true(view_transpose("0", &view, &why));
  begin(0, shape_234);
  assert_true(view_transpose(NULL, &view, &why) && view_transpose("", &view, &why));
}

static void test_transposes_that_are_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"",       "0,1",    "0,1,3", "0,0,1",  "0,1,2,3",
                                    "0,1,-1", "2,1,0,", "x",     "0, 1, 2"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    begin(3, shape_234);
    const assay_tensor before = view;
    assert_false(view_transpose(bad[i], &view, &why));
    assert_non_null(strstr(why.text, "write each of the 3 once"));
    assert_memory_equal(&view, &before, sizeof view);
  }
}

/* ---- the comparison ------------------------------------------------------------------------------------ */

/* A merge of (1, 2) and (1, 2) is (1, 4); what else the output holds has to be found. */
static apply_comparison compare_with(double maximum, double sum) {
  const assay_operator *op = assay_operator_find("online_normalizer");
  assert_non_null(op);
  double parts[2] = {1, 2};
  double result[2] = {maximum, sum};
  const int64_t two[] = {2};
  const assay_tensor part = assay_tensor_make(parts, ASSAY_FP64, 1, two);
  const assay_tensor in[] = {part, part};
  const assay_tensor out = assay_tensor_make(result, ASSAY_FP64, 1, two);
  apply_comparison answer;
  assert_true(apply_compare(&op->subject, 1, in, &out, NULL, &answer, &why));
  assert_true(answer.done);
  assert_int_equal(answer.count, 2);
  return answer;
}

static void test_comparison(void **state) {
  (void)state;
  apply_comparison seen = compare_with(1, 4);
  assert_int_equal(seen.wrong, 0);
  assert_int_equal(seen.first, -1);
  assert_true(seen.ulps == 0 && seen.share == 0);
  seen = compare_with(1, 4 + 0x1p-50);
  assert_int_equal(seen.wrong, 0);
  assert_true(seen.ulps == 1 && seen.share > 0 && seen.share < 1);
  seen = compare_with(1, 4.001);
  assert_int_equal(seen.wrong, 1);
  assert_int_equal(seen.first, 1);
  assert_true(seen.got == 4.001 && seen.want == 4 && seen.share > 1);
  seen = compare_with((double)NAN, (double)NAN);
  assert_int_equal(seen.wrong, 2);
  assert_int_equal(seen.first, 0);
  seen = compare_with(1 + 0x1p-52, (double)INFINITY);
  assert_int_equal(seen.wrong, 2);
  assert_true(isinf(seen.share)); /* the maximum is allowed no error */
}

/* More rows than are compared at once, the last of them wrong. */
static void test_comparison_in_parts(void **state) {
  (void)state;
  const assay_operator *op = assay_operator_find("strided_softmax");
  assert_non_null(op);
  enum { COLUMNS = 1 << 18, ROWS = 9 };
  const int64_t shape[] = {ROWS, COLUMNS};
  float zero = 0;
  assay_tensor in = assay_tensor_make(&zero, ASSAY_FP32, 2, shape);
  in.stride[0] = in.stride[1] = 0;
  float *result = malloc(sizeof *result * ROWS * COLUMNS);
  assert_non_null(result);
  for (int64_t i = 0; i < (int64_t)ROWS * COLUMNS; i++) result[i] = 1.0f / COLUMNS;
  result[(int64_t)ROWS * COLUMNS - 1] = 0.5f;
  const assay_tensor out = assay_tensor_make(result, ASSAY_FP32, 2, shape);
  apply_comparison seen;
  assert_true(apply_compare(&op->subject, 0, &in, &out, NULL, &seen, &why));
  assert_int_equal(seen.count, (int64_t)ROWS * COLUMNS);
  assert_int_equal(seen.wrong, 1);
  assert_int_equal(seen.first, (int64_t)ROWS * COLUMNS - 1);
  free(result);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_slices),     cmocka_unit_test(test_slices_that_are_refused),
      cmocka_unit_test(test_transposes), cmocka_unit_test(test_transposes_that_are_refused),
      cmocka_unit_test(test_comparison), cmocka_unit_test(test_comparison_in_parts),
  };
  return cmocka_run_group_tests_name("apply_view", tests, NULL, NULL);
}
