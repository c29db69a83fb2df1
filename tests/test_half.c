/* SPDX-License-Identifier: MIT */
/*
 * test_half.c - the two independent conversions (core/half.c by arithmetic, workshop.h by bits) against a
 * third: a table of all values built with ldexp, and a search for the nearer of two neighbours, ties to the
 * even pattern.
 */
#include "unit.h"

#include <float.h>

#include "assay/workshop.h"
#include "half.h"

typedef struct type16 {
  assay_dtype dtype;
  unsigned infinity; /* the pattern; one below it is the largest finite value */
  int fraction;
  int bias;
  float (*widen)(uint16_t);
  uint16_t (*narrow)(float);
} type16;

static const type16 types[] = {
    {ASSAY_FP16, 0x7c00, 10, 15, assay_fp16_to_float, assay_fp16_from_float},
    {ASSAY_BF16, 0x7f80, 7, 127, assay_bf16_to_float, assay_bf16_from_float},
};

/* The magnitude of a pattern; that of infinity's pattern is the power of two that the grid would have next.
 */
static double table[2][0x8000];

static int set_up(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    for (unsigned p = 0; p <= types[t].infinity; p++) {
      const int exponent = (int)(p >> types[t].fraction);
      const unsigned one = 1u << types[t].fraction;
      const unsigned units = p % one + (exponent > 0 ? one : 0);
      table[t][p] = ldexp(units, (exponent > 0 ? exponent : 1) - types[t].bias - types[t].fraction);
    }
  }
  return 0;
}

/* The third way. Differences of neighbours and a number between them are exact in double here. */
static uint16_t nearest(int t, double value) {
  const unsigned sign = signbit(value) ? 0x8000u : 0u;
  const double magnitude = fabs(value);
  unsigned low = 0;
  unsigned high = types[t].infinity;
  if (magnitude >= table[t][high]) return (uint16_t)(sign | high);
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    if (table[t][middle] <= magnitude)
      low = middle;
    else
      high = middle;
  }
  const double above = table[t][high] - magnitude;
  const double below = magnitude - table[t][low];
  const unsigned even = low % 2 == 0 ? low : high;
  return (uint16_t)(sign | (below < above ? low : above < below ? high : even));
}

static double value_of(int t, uint16_t pattern) {
  const unsigned rest = pattern & 0x7fffu;
  const double magnitude = rest == types[t].infinity ? (double)INFINITY : table[t][rest];
  return pattern & 0x8000u ? -magnitude : magnitude;
}

static void judge_rounds_like(int t, double value, uint16_t want) {
  const uint64_t got = assay_encode(types[t].dtype, value);
  if (got != want)
    fail_msg("%s: encode(%a) = %04x, expected %04x", assay_dtype_name(types[t].dtype), value, (unsigned)got,
             want);
  assert_same_double(assay_round_to(types[t].dtype, value), value_of(t, want));
}

static void kernel_rounds_like(int t, float value, uint16_t want) {
  const uint16_t got = types[t].narrow(value);
  if (got != want)
    fail_msg("%s: workshop.h rounds %a to %04x, expected %04x", assay_dtype_name(types[t].dtype),
             (double)value, got, want);
}

/* ---- all 65536 patterns -------------------------------------------------------------------------------- */

static void test_every_pattern_widens_and_comes_back(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    for (unsigned p = 0; p < 0x10000; p++) {
      const uint16_t bits = (uint16_t)p;
      if ((p & 0x7fffu) > types[t].infinity) continue;
      const double want = value_of(t, bits);
      const float wide = types[t].widen(bits);
      assert_same_double(assay_decode(types[t].dtype, p), want);
      assert_same_double((double)wide, want);
      judge_rounds_like(t, want, bits);
      kernel_rounds_like(t, wide, bits);
    }
  }
}

static void test_every_nan_stays_a_nan(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    for (unsigned p = 0; p < 0x10000; p++) {
      if ((p & 0x7fffu) <= types[t].infinity) continue;
      const double wide = assay_decode(types[t].dtype, p);
      const float kernel_wide = types[t].widen((uint16_t)p);
      assert_true(isnan(wide));
      assert_true(isnan(kernel_wide));
      assert_int_equal(signbit(wide) != 0, p >= 0x8000u);
      const uint64_t back = assay_encode(types[t].dtype, wide);
      const uint16_t kernel_back = types[t].narrow(kernel_wide);
      assert_true((back & 0x7fffu) > types[t].infinity && back <= 0xffffu);
      assert_true((kernel_back & 0x7fffu) > types[t].infinity);
      assert_int_equal(back & 0x8000u, p & 0x8000u);
      assert_int_equal(kernel_back & 0x8000u, p & 0x8000u);
    }
    assert_true(isnan(assay_round_to(types[t].dtype, (double)NAN)));
  }
}

/* A NaN whose payload lies in the bits that narrowing drops must not become an infinity. */
static void test_nan_with_a_low_payload(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    for (int k = 0; k < 23; k++) {
      const float value = assay_float_from_bits(0x7f800000u | (1u << k));
      assert_true((types[t].narrow(value) & 0x7fffu) > types[t].infinity);
      assert_true((assay_encode(types[t].dtype, (double)value) & 0x7fffu) > types[t].infinity);
    }
  }
}

/* ---- every midpoint ------------------------------------------------------------------------------------ */

/* The last one lies between the largest finite value and infinity. */
static void test_every_midpoint_and_its_fp32_neighbours(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    for (unsigned p = 0; p < types[t].infinity; p++) {
      const float middle = (float)((table[t][p] + table[t][p + 1]) / 2);
      assert_same_double((double)middle, (table[t][p] + table[t][p + 1]) / 2); /* FP32 holds it exactly */
      const float three[] = {nextafterf(middle, 0.0f), middle, nextafterf(middle, INFINITY)};
      const unsigned want[] = {p, p % 2 == 0 ? p : p + 1, p + 1};
      for (int i = 0; i < 3; i++) {
        assert_int_equal(nearest(t, (double)three[i]), want[i]); /* the expectation itself */
        for (int negative = 0; negative < 2; negative++) {
          const float value = negative ? -three[i] : three[i];
          const uint16_t bits = (uint16_t)(want[i] | (negative ? 0x8000u : 0u));
          kernel_rounds_like(t, value, bits);
          judge_rounds_like(t, (double)value, bits);
        }
      }
    }
  }
}

/* Rounding to FP32 first would turn these into ties: the judge must round once. */
static void test_doubles_beside_a_midpoint_round_once(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    for (unsigned p = 0; p < types[t].infinity; p++) {
      const double middle = (table[t][p] + table[t][p + 1]) / 2;
      judge_rounds_like(t, nextafter(middle, 0.0), (uint16_t)p);
      judge_rounds_like(t, -nextafter(middle, (double)INFINITY), (uint16_t)(0x8000u | (p + 1)));
    }
  }
}

static void test_far_values(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    const unsigned infinity = types[t].infinity;
    for (int k = 0; k < 890; k++) {
      judge_rounds_like(t, ldexp(table[t][infinity], k), (uint16_t)infinity);
    }
    judge_rounds_like(t, -DBL_MAX, (uint16_t)(0x8000u | infinity));
    judge_rounds_like(t, (double)INFINITY, (uint16_t)infinity);
    judge_rounds_like(t, DBL_TRUE_MIN, 0);
    judge_rounds_like(t, -DBL_TRUE_MIN, 0x8000);
    judge_rounds_like(t, -0.0, 0x8000);
    kernel_rounds_like(t, FLT_MAX, (uint16_t)infinity);
    kernel_rounds_like(t, -FLT_TRUE_MIN, 0x8000);
    kernel_rounds_like(t, -0.0f, 0x8000);
  }
}

/* Every exponent of FP32 with a spread of fractions, where neither implementation was looked at by hand. */
static void test_a_sweep_of_fp32(void **state) {
  (void)state;
  for (uint32_t bits = 0; bits < 0x7f800000u; bits += 9973) {
    const float value = assay_float_from_bits(bits);
    for (int t = 0; t < 2; t++) {
      const uint16_t want = nearest(t, (double)value);
      kernel_rounds_like(t, value, want);
      judge_rounds_like(t, (double)value, want);
    }
  }
}

/* ---- FP32 and FP64 ------------------------------------------------------------------------------------- */

static void fp32_rounds(double value, float want) {
  assert_same_double(assay_round_to(ASSAY_FP32, value), (double)want);
  assert_int_equal(assay_encode(ASSAY_FP32, value), assay_bits_from_float(want));
  assert_same_double(assay_decode(ASSAY_FP32, assay_bits_from_float(want)), (double)want);
}

static void test_fp32_midpoints(void **state) {
  (void)state;
  for (uint32_t bits = 0; bits < 0x7f800000u; bits += 65521) {
    const float low = assay_float_from_bits(bits);
    const float high = nextafterf(low, INFINITY);
    const double top = isinf(high) ? 0x1p128 : (double)high;
    const double middle = ((double)low + top) / 2;
    fp32_rounds(middle, bits % 2 == 0 ? low : high);
    fp32_rounds(nextafter(middle, 0.0), low);
    fp32_rounds(-nextafter(middle, (double)INFINITY), -high);
  }
}

static void test_fp32_edges(void **state) {
  (void)state;
  fp32_rounds(0x1.ffffffp127, INFINITY); /* half a step above the largest value */
  fp32_rounds(nextafter(0x1.ffffffp127, 0.0), FLT_MAX);
  fp32_rounds(0x1p-150, 0.0f);
  fp32_rounds(nextafter(0x1p-150, 1.0), FLT_TRUE_MIN);
  fp32_rounds(-0.0, -0.0f);
  fp32_rounds(-1e300, -INFINITY);
  assert_true(isnan(assay_round_to(ASSAY_FP32, (double)NAN)));
  assert_true(isnan(assay_decode(ASSAY_FP32, assay_encode(ASSAY_FP32, (double)NAN))));
}

static void test_fp64_is_unchanged(void **state) {
  (void)state;
  const double values[] = {0.0, -0.0, DBL_TRUE_MIN, -DBL_MAX, 0.1, (double)INFINITY, (double)NAN};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    assert_same_double(assay_round_to(ASSAY_FP64, values[i]), values[i]);
    assert_same_double(assay_decode(ASSAY_FP64, assay_encode(ASSAY_FP64, values[i])), values[i]);
  }
  assert_true(assay_encode(ASSAY_FP64, 1.0) == 0x3ff0000000000000u);
}

/* ---- arrays -------------------------------------------------------------------------------------------- */

static void test_get_and_put_touch_one_element(void **state) {
  (void)state;
  const double third = 1.0 / 3.0;
  for (int d = 0; d < ASSAY_DTYPE_COUNT; d++) {
    const assay_dtype dtype = (assay_dtype)d;
    const size_t size = assay_dtype_size(dtype);
    unsigned char bytes[8 * 8 + 1];
    unsigned char *data = bytes + 1; /* not aligned either */
    memset(bytes, 0x5a, sizeof bytes);
    assay_put(data, dtype, 3, third);
    assert_same_double(assay_get(data, dtype, 3), assay_round_to(dtype, third));
    for (size_t i = 0; i < sizeof bytes - 1; i++) {
      if (i < 3 * size || i >= 4 * size) assert_int_equal(data[i], 0x5a);
    }
    assay_put(data, dtype, 5, -(double)INFINITY);
    assert_same_double(assay_get(data + 7 * size, dtype, -2), -(double)INFINITY);
    assay_put(data, dtype, 0, (double)NAN);
    assert_true(isnan(assay_get(data, dtype, 0)));
  }
}

static void test_workshop_load_and_store(void **state) {
  (void)state;
  const assay_dtype dtypes[] = {ASSAY_FP32, ASSAY_FP16, ASSAY_BF16};
  for (int i = 0; i < 3; i++) {
    float array[4] = {0};
    assay_store(array, dtypes[i], 1, 0.1f);
    assert_same_double((double)assay_load(array, dtypes[i], 1), assay_get(array, dtypes[i], 1));
    assert_same_double((double)assay_load(array, dtypes[i], 1), assay_round_to(dtypes[i], (double)0.1f));
    assert_same_double(assay_get(array, dtypes[i], 0), 0.0);
  }
}

/* ---- properties of the types --------------------------------------------------------------------------- */

static void test_constants(void **state) {
  (void)state;
  static const struct {
    assay_dtype dtype;
    double unit, normal, largest;
  } want[] = {
      {ASSAY_FP32, FLT_EPSILON / 2, FLT_MIN, FLT_MAX},
      {ASSAY_FP16, 0x1p-11, 6.103515625e-05, 65504},
      {ASSAY_BF16, 0x1p-8, FLT_MIN, 0x1.fep127},
      {ASSAY_FP64, DBL_EPSILON / 2, DBL_MIN, DBL_MAX},
  };
  for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
    assert_same_double(assay_unit_roundoff(want[i].dtype), want[i].unit);
    assert_same_double(assay_min_normal(want[i].dtype), want[i].normal);
    assert_same_double(assay_max_finite(want[i].dtype), want[i].largest);
    assert_same_double(assay_ulp(want[i].dtype, 1.0), 2 * want[i].unit);
  }
}

static void test_ulp_is_the_distance_to_the_next_value(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    for (unsigned p = 0; p < types[t].infinity; p++) {
      const double step = table[t][p + 1] - table[t][p];
      assert_same_double(assay_ulp(types[t].dtype, table[t][p]), step);
      assert_same_double(assay_ulp(types[t].dtype, -(table[t][p] + step / 4)), step);
    }
    assert_same_double(assay_ulp(types[t].dtype, -(double)INFINITY), (double)INFINITY);
    assert_true(isnan(assay_ulp(types[t].dtype, (double)NAN)));
  }
  /* Of the rounded magnitude: this rounds up to 1. */
  assert_same_double(assay_ulp(ASSAY_FP16, nextafter(1.0, 0.0)), 0x1p-10);
  assert_same_double(assay_ulp(ASSAY_FP32, 0.0), 0x1p-149);
  assert_same_double(assay_ulp(ASSAY_FP32, (double)FLT_MAX), 0x1p104);
  assert_same_double(assay_ulp(ASSAY_FP64, 0.0), DBL_TRUE_MIN);
  assert_same_double(assay_ulp(ASSAY_FP64, DBL_MAX), 0x1p971);
}

static void test_rounding_error_is_a_bound_that_is_reached(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    const assay_dtype dtype = types[t].dtype;
    for (unsigned p = 0; p + 1 < types[t].infinity; p++) {
      const double middle = (table[t][p] + table[t][p + 1]) / 2;
      const double error = fabs(assay_round_to(dtype, middle) - middle);
      const double bound = assay_rounding_error(dtype, -middle);
      assert_true(error <= bound);
      assert_true(bound <= 2 * error);
      if (middle < assay_min_normal(dtype)) assert_same_double(bound, error);
    }
    assert_same_double(assay_rounding_error(dtype, 3.0), 3.0 * assay_unit_roundoff(dtype));
    assert_true(isnan(assay_rounding_error(dtype, (double)NAN)));
  }
  assert_same_double(assay_rounding_error(ASSAY_FP32, 0.0), 0x1p-150);
  assert_same_double(assay_rounding_error(ASSAY_FP32, -8.0), 0x1p-21);
  assert_same_double(assay_rounding_error(ASSAY_FP64, 0.0), DBL_TRUE_MIN);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_pattern_widens_and_comes_back),
      cmocka_unit_test(test_every_nan_stays_a_nan),
      cmocka_unit_test(test_nan_with_a_low_payload),
      cmocka_unit_test(test_every_midpoint_and_its_fp32_neighbours),
      cmocka_unit_test(test_doubles_beside_a_midpoint_round_once),
      cmocka_unit_test(test_far_values),
      cmocka_unit_test(test_a_sweep_of_fp32),
      cmocka_unit_test(test_fp32_midpoints),
      cmocka_unit_test(test_fp32_edges),
      cmocka_unit_test(test_fp64_is_unchanged),
      cmocka_unit_test(test_get_and_put_touch_one_element),
      cmocka_unit_test(test_workshop_load_and_store),
      cmocka_unit_test(test_constants),
      cmocka_unit_test(test_ulp_is_the_distance_to_the_next_value),
      cmocka_unit_test(test_rounding_error_is_a_bound_that_is_reached),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
