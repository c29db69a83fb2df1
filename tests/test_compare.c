/* SPDX-License-Identifier: MIT */
/* test_compare.c - the comparator: what passes, what cannot, what a lazy output is, what a pattern is called.
 */
#include "unit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "check/compare.h"
#include "half.h"

static void nan_passes_only_for_nan(void **state) {
  (void)state;
  assert_true(compare_element(ASSAY_FP32, NAN, NAN, 0));
  assert_false(compare_element(ASSAY_FP32, NAN, 1, INFINITY));
  assert_false(compare_element(ASSAY_FP32, 1, NAN, INFINITY));
  assert_false(compare_element(ASSAY_FP32, INFINITY, NAN, INFINITY));
  assert_false(compare_element(ASSAY_FP32, 1, 1, NAN)); /* a bound that is NaN allows nothing */
}

static void infinities_have_a_sign_and_no_neighbours(void **state) {
  (void)state;
  assert_true(compare_element(ASSAY_FP32, INFINITY, INFINITY, 0));
  assert_false(compare_element(ASSAY_FP32, -INFINITY, INFINITY, INFINITY));
  assert_false(compare_element(ASSAY_FP32, FLT_MAX, INFINITY, INFINITY));
  assert_false(compare_element(ASSAY_FP32, INFINITY, FLT_MAX, INFINITY));
  /* The class is that of the rounded oracle: 65520 is infinite in FP16, 65519 is 65504. */
  assert_true(compare_element(ASSAY_FP16, INFINITY, 65520, 0));
  assert_false(compare_element(ASSAY_FP16, INFINITY, 65519, 1e9));
  assert_true(compare_element(ASSAY_FP16, 65504, 65519, 15));
}

static void the_bound_is_inclusive_and_absolute(void **state) {
  (void)state;
  assert_true(compare_element(ASSAY_FP32, 1.5, 1, 0.5));
  assert_false(compare_element(ASSAY_FP32, 1.5, 1, 0.499));
  assert_true(compare_element(ASSAY_FP32, -0.0, 0.0, 0));
  assert_false(compare_element(ASSAY_FP32, 1e-30, 0, 0));
}

static void subnormals_may_be_flushed_but_not_in_fp16(void **state) {
  (void)state;
  assert_true(compare_element(ASSAY_FP32, 0, 0x1p-130, 0));
  assert_true(compare_element(ASSAY_BF16, 0, 0x1p-130, 0));
  assert_false(compare_element(ASSAY_FP32, 0, 0x1p-126, 0));
  assert_false(compare_element(ASSAY_FP16, 0, 0x1p-20, 0));
  assert_false(compare_element(ASSAY_FP32, 0x1p-129, 0x1p-130, 0)); /* flushed or right, nothing else */
}

static comparison make(assay_dtype dtype, const void *got, const double *want, const double *allowed,
                       int64_t count, int64_t columns) {
  return (comparison){.dtype = dtype,
                      .got = got,
                      .want = want,
                      .allowed = allowed,
                      .count = count,
                      .columns = columns,
                      .poison = 99};
}

static void all_elements_are_counted(void **state) {
  (void)state;
  const float got[6] = {1, 2, 3, 4, 5, NAN};
  const double want[6] = {1, 2.5, 3, 4, 4, 6};
  const double allowed[6] = {0, 0.1, 0, 0, 0, 100};
  const comparison what = make(ASSAY_FP32, got, want, allowed, 6, 3);
  const comparison_result result = compare_all(&what);
  assert_int_equal(result.wrong, 3);
  assert_int_equal(result.first, 1);
}

static void lazy_outputs_are_recognised(void **state) {
  (void)state;
  const float got[3] = {0};
  const double small[3] = {1e-9, 2e-9, 3e-9};
  const double loose[3] = {1e-2, 1e-2, 1e-2}; /* a flat tolerance: the fault of other judges */
  const double tight[3] = {1e-12, 1e-12, 1e-12};
  comparison what = make(ASSAY_FP32, got, small, loose, 3, 3);
  assert_true(compare_zeros_pass(&what));
  assert_true(compare_constant_passes(&what));
  what.allowed = tight;
  assert_false(compare_zeros_pass(&what));
  assert_false(compare_constant_passes(&what));
  assert_true(compare_values_pass(&what, small));
  const double other[3] = {1e-9, 2e-9, 4e-9};
  assert_false(compare_values_pass(&what, other));
  const double same[3] = {0.25, 0.25, 0.25};
  what.want = same;
  assert_true(compare_constant_passes(&what));
  assert_false(compare_zeros_pass(&what));
}

static void constants_meet_special_values(void **state) {
  (void)state;
  const float got[2] = {0};
  const double none[2] = {0, 0};
  const double all_nan[2] = {NAN, NAN};
  const double one_nan[2] = {NAN, 1};
  const double both_signs[2] = {INFINITY, -INFINITY};
  comparison what = make(ASSAY_FP32, got, all_nan, none, 2, 2);
  assert_true(compare_constant_passes(&what));
  what.want = one_nan;
  assert_false(compare_constant_passes(&what));
  what.want = both_signs;
  assert_false(compare_constant_passes(&what));
  what.count = 0; /* an empty output accepts anything: such a case must carry the degenerate mark */
  assert_true(compare_zeros_pass(&what));
}

static const char *diagnosis(const float *got, const double *want, int64_t rows, int64_t columns) {
  static char text[256];
  double allowed[64];
  for (int64_t i = 0; i < rows * columns; i++) allowed[i] = 1e-6;
  const comparison what = make(ASSAY_FP32, got, want, allowed, rows * columns, columns);
  const comparison_result result = compare_all(&what);
  compare_diagnose(&what, &result, text, sizeof text);
  return text;
}

static void patterns_are_named(void **state) {
  (void)state;
  double want[12];
  float right[12];
  float got[12];
  for (int i = 0; i < 12; i++) right[i] = (float)(want[i] = 0.1 + 0.05 * i);
  memcpy(got, right, sizeof got);
  assert_string_equal(diagnosis(got, want, 3, 4), "");
  got[3] = got[7] = got[11] = 9;
  got[3] = 8;
  assert_string_equal(diagnosis(got, want, 3, 4), "only in column 3");
  memcpy(got, right, sizeof got);
  for (int i = 8; i < 12; i++) got[i] = NAN;
  assert_string_equal(diagnosis(got, want, 3, 4), "all of them NaN; only row 2, and all of it");
  memcpy(got, right, sizeof got);
  for (int i = 0; i < 12; i++) got[i] = 2 * right[i];
  assert_string_equal(diagnosis(got, want, 3, 4), "all of them off by one factor a row: is the sum right?");
  memcpy(got, right, sizeof got);
  for (int r = 0; r < 3; r++) got[4 * r + 2] = got[4 * r + 3] = 0;
  assert_string_equal(diagnosis(got, want, 3, 4),
                      "all of them zero; in columns 2 to the end: the tail of the row?");
  memcpy(got, right, sizeof got);
  assay_poison_fill(got, ASSAY_FP32, 12, 99);
  memcpy(got, right, 4 * sizeof *got);
  assert_string_equal(diagnosis(got, want, 3, 4), "all of them never written; all rows from 1 on");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nan_passes_only_for_nan),
      cmocka_unit_test(infinities_have_a_sign_and_no_neighbours),
      cmocka_unit_test(the_bound_is_inclusive_and_absolute),
      cmocka_unit_test(subnormals_may_be_flushed_but_not_in_fp16),
      cmocka_unit_test(all_elements_are_counted),
      cmocka_unit_test(lazy_outputs_are_recognised),
      cmocka_unit_test(constants_meet_special_values),
      cmocka_unit_test(patterns_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
