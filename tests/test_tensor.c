/* SPDX-License-Identifier: MIT */
/* test_tensor.c - sizes of views, and every way in which their arithmetic can overflow. */
#include "unit.h"

#include "tensor.h"

/* A view of address `base` that is never read. */
static assay_tensor view(uintptr_t base, int rank, const int64_t *shape, const int64_t *stride) {
  assay_tensor tensor = {.data = (void *)base, .dtype = ASSAY_FP32, .device = ASSAY_DEVICE_CPU, .rank = rank};
  for (int k = 0; k < rank && k < ASSAY_MAX_RANK; k++) {
    tensor.shape[k] = shape[k];
    tensor.stride[k] = stride[k];
  }
  return tensor;
}

static void test_make_is_row_major(void **state) {
  (void)state;
  float data[24];
  const assay_tensor tensor = assay_tensor_make(data, ASSAY_BF16, 3, (const int64_t[]){2, 3, 4});
  assert_ptr_equal(tensor.data, data);
  assert_int_equal(tensor.dtype, ASSAY_BF16);
  assert_int_equal(tensor.device, ASSAY_DEVICE_CPU);
  assert_int_equal(tensor.rank, 3);
  assert_memory_equal(tensor.shape, ((const int64_t[]){2, 3, 4}), 3 * sizeof(int64_t));
  assert_memory_equal(tensor.stride, ((const int64_t[]){12, 4, 1}), 3 * sizeof(int64_t));
  assert_true(assay_tensor_contiguous(&tensor));
}

static void test_make_of_a_shape_too_large_is_refused_later(void **state) {
  (void)state;
  const assay_tensor tensor =
      assay_tensor_make(NULL, ASSAY_FP32, 4, (const int64_t[]){2, INT64_MAX / 2, INT64_MAX / 2, 3});
  int64_t number;
  assert_false(assay_tensor_count(&tensor, &number));
  assert_false(assay_tensor_extent(&tensor, &number));
}

static void test_count(void **state) {
  (void)state;
  const int64_t ones[] = {1, 1, 1, 1};
  int64_t count = -1;
  const int64_t half = INT64_MAX / 2; /* 2^62 - 1 */
  const struct {
    int rank;
    bool fits;
    int64_t shape[4];
    int64_t want;
  } cases[] = {
      {0, true, {0}, 1},
      {1, true, {5}, 5},
      {4, true, {2, 3, 5, 7}, 210},
      {2, true, {half, 2}, INT64_MAX - 1},
      {2, false, {half + 1, 2}, 0},
      {2, false, {INT64_MAX, INT64_MAX}, 0},
      {3, true, {INT64_MAX, INT64_MAX, 0}, 0},
      {3, true, {0, INT64_MAX, INT64_MAX}, 0},
      {2, false, {-1, 3}, 0},
      {2, false, {0, -1}, 0},
      {2, false, {-1, -1}, 0},
      {-1, false, {1}, 0},
      {ASSAY_MAX_RANK + 1, false, {1, 1, 1, 1}, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const assay_tensor tensor = view(0, cases[i].rank, cases[i].shape, ones);
    assert_int_equal(assay_tensor_count(&tensor, &count), cases[i].fits);
    if (cases[i].fits) assert_int_equal(count, cases[i].want);
  }
}

typedef struct extent_case {
  int rank;
  bool fits;
  int64_t shape[4];
  int64_t stride[4];
  int64_t want;
} extent_case;

static void test_extent(void **state) {
  (void)state;
  const int64_t quarter = INT64_MAX / 4; /* FP32 elements whose bytes just fit */
  const extent_case cases[] = {
      {0, true, {0}, {0}, 1},
      {2, true, {3, 4}, {4, 1}, 12},
      {2, true, {3, 4}, {1, 3}, 12},
      {2, true, {3, 4}, {10, 2}, 27},
      {2, true, {3, 4}, {0, 1}, 4},                 /* broadcast rows */
      {2, true, {1 << 20, 1 << 20}, {0, 0}, 1},     /* one element repeated */
      {2, true, {INT64_MAX, INT64_MAX}, {0, 0}, 1}, /* the count overflows, the memory does not */
      {2, true, {1, 4}, {INT64_MAX, 1}, 4},         /* a size of 1 never steps */
      {2, true, {0, 4}, {INT64_MAX, INT64_MAX}, 0}, /* empty */
      {2, true, {4, 0}, {INT64_MAX, INT64_MAX}, 0},
      {1, true, {quarter}, {1}, quarter},
      {1, false, {quarter + 1}, {1}, 0}, /* bytes */
      {1, false, {INT64_MAX}, {1}, 0},
      {1, false, {2}, {INT64_MAX}, 0},                     /* one past the last element */
      {1, false, {3}, {INT64_MAX}, 0},                     /* the product */
      {3, false, {2, 2, 2}, {INT64_MAX, INT64_MAX, 5}, 0}, /* the sum, back to a small number */
      {2, false, {2, 2}, {INT64_MAX, 1}, 0},               /* the sum */
      {2, false, {-1, 4}, {4, 1}, 0},
      {2, false, {0, -4}, {4, 1}, 0},
      {2, false, {3, 4}, {-4, 1}, 0},
      {2, false, {0, 4}, {-4, 1}, 0},
      {-1, false, {1}, {1}, 0},
      {ASSAY_MAX_RANK + 1, false, {1, 1, 1, 1}, {1, 1, 1, 1}, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const assay_tensor tensor = view(0, cases[i].rank, cases[i].shape, cases[i].stride);
    int64_t elements = -1;
    if (assay_tensor_extent(&tensor, &elements) != cases[i].fits) fail_msg("extent case %zu", i);
    if (cases[i].fits) assert_int_equal(elements, cases[i].want);
  }
}

static void test_extent_needs_a_known_dtype(void **state) {
  (void)state;
  assay_tensor tensor = assay_tensor_make(NULL, ASSAY_FP32, 1, (const int64_t[]){3});
  int64_t elements;
  const int unknown = ASSAY_DTYPE_COUNT;
  tensor.dtype = (assay_dtype)unknown;
  assert_false(assay_tensor_extent(&tensor, &elements));
}

static void test_data_plus_span_must_not_wrap(void **state) {
  (void)state;
  const int64_t shape[] = {4};
  const int64_t stride[] = {1};
  int64_t elements;
  const assay_tensor last = view(UINTPTR_MAX - 16, 1, shape, stride);
  assert_true(assay_tensor_extent(&last, &elements));
  assert_true(assay_tensor_span(&last).hi == UINTPTR_MAX);
  const assay_tensor beyond = view(UINTPTR_MAX - 12, 1, shape, stride);
  assert_false(assay_tensor_extent(&beyond, &elements));
}

static void test_span(void **state) {
  (void)state;
  const assay_tensor strided = view(4096, 2, (const int64_t[]){3, 4}, (const int64_t[]){10, 2});
  assert_true(assay_tensor_span(&strided).lo == 4096);
  assert_true(assay_tensor_span(&strided).hi == 4096 + 4 * 27);
  const assay_tensor empty = view(4096, 2, (const int64_t[]){3, 0}, (const int64_t[]){10, 2});
  assert_true(assay_tensor_span(&empty).lo == 4096);
  assert_true(assay_tensor_span(&empty).hi == 4096);
  assay_tensor half = strided;
  half.dtype = ASSAY_FP16;
  assert_true(assay_tensor_span(&half).hi == 4096 + 2 * 27);
}

static void test_contiguous(void **state) {
  (void)state;
  const extent_case cases[] = {
      {0, true, {0}, {0}, 0},
      {2, true, {3, 4}, {4, 1}, 0},
      {2, false, {3, 4}, {5, 1}, 0},
      {2, false, {3, 4}, {1, 3}, 0},
      {2, false, {3, 4}, {0, 1}, 0},
      {2, false, {3, 4}, {8, 2}, 0},
      {1, false, {4}, {2}, 0},
      {2, true, {1, 4}, {99, 1}, 0},
      {2, true, {4, 1}, {1, 99}, 0},
      {2, false, {4, 1}, {2, 1}, 0},
      {3, true, {2, 1, 3}, {3, 0, 1}, 0},
      {4, true, {1, 1, 1, 1}, {7, 0, 9, 5}, 0},
      {2, true, {0, 4}, {77, 5}, 0},
      {3, false, {2, INT64_MAX, 3}, {1, 3, 1}, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const assay_tensor tensor = view(0, cases[i].rank, cases[i].shape, cases[i].stride);
    if (assay_tensor_contiguous(&tensor) != cases[i].fits) fail_msg("contiguous case %zu", i);
  }
}

static void test_offset(void **state) {
  (void)state;
  const int64_t shape[] = {2, 3, 4, 5};
  const int64_t stride[] = {1000, 0, 7, 100};
  const assay_tensor tensor = view(0, 4, shape, stride);
  int64_t flat = 0;
  for (int64_t a = 0; a < 2; a++) {
    for (int64_t b = 0; b < 3; b++) {
      for (int64_t c = 0; c < 4; c++) {
        for (int64_t d = 0; d < 5; d++, flat++) {
          assert_int_equal(assay_tensor_offset(&tensor, flat), a * 1000 + c * 7 + d * 100);
        }
      }
    }
  }
  const assay_tensor scalar = view(0, 0, shape, stride);
  assert_int_equal(assay_tensor_offset(&scalar, 0), 0);
  /* More than 32 bits. */
  const assay_tensor wide = view(0, 2, (const int64_t[]){3, 1}, (const int64_t[]){INT64_C(1) << 40, 1});
  assert_int_equal(assay_tensor_offset(&wide, 2), INT64_C(1) << 41);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_make_is_row_major),
      cmocka_unit_test(test_make_of_a_shape_too_large_is_refused_later),
      cmocka_unit_test(test_count),
      cmocka_unit_test(test_extent),
      cmocka_unit_test(test_extent_needs_a_known_dtype),
      cmocka_unit_test(test_data_plus_span_must_not_wrap),
      cmocka_unit_test(test_span),
      cmocka_unit_test(test_contiguous),
      cmocka_unit_test(test_offset),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
