/* SPDX-License-Identifier: MIT */
/* compare.c - the comparator, and the proof that a lazy output would not pass a case. */
#include "compare.h"

#include <float.h>
#include <math.h>

#include "half.h"

bool compare_element(assay_dtype dtype, double got, double want, double allowed) {
  const double rounded = assay_round_to(dtype, want);
  if (isnan(rounded)) return isnan(got);
  if (isinf(rounded)) return got == rounded;
  if (!isfinite(got)) return false;
  const bool may_flush = dtype == ASSAY_FP32 || dtype == ASSAY_BF16;
  if (got == 0 && may_flush && fabs(rounded) < assay_min_normal(dtype)) return true;
  return !!(fabs(got - want) <= allowed); /* an allowance of NaN passes nothing */
}

comparison_result compare_all(const comparison *what) {
  comparison_result result = {0, -1};
  for (int64_t i = 0; i < what->count; i++) {
    if (compare_element(what->dtype, assay_get(what->got, what->dtype, i), what->want[i], what->allowed[i]))
      continue;
    if (result.first < 0) result.first = i;
    result.wrong++;
  }
  return result;
}

bool compare_values_pass(const comparison *what, const double *values) {
  for (int64_t i = 0; i < what->count; i++) {
    const double value = assay_round_to(what->dtype, values[i]);
    if (!compare_element(what->dtype, value, what->want[i], what->allowed[i])) return false;
  }
  return true;
}

bool compare_zeros_pass(const comparison *what) {
  for (int64_t i = 0; i < what->count; i++) {
    if (!compare_element(what->dtype, 0, what->want[i], what->allowed[i])) return false;
  }
  return true;
}

bool compare_constant_passes(const comparison *what) {
  /* A constant has to lie in every element's interval, so the intervals have to meet. */
  double low = -DBL_MAX;
  double high = DBL_MAX;
  int64_t special = 0;
  for (int64_t i = 0; i < what->count; i++) {
    const double want = assay_round_to(what->dtype, what->want[i]);
    if (!isfinite(want)) {
      special++;
      const double first = assay_round_to(what->dtype, what->want[0]);
      if (isnan(want) != isnan(first) || (!isnan(want) && want != first)) return false;
      continue;
    }
    low = fmax(low, what->want[i] - what->allowed[i]);
    high = fmin(high, what->want[i] + what->allowed[i]);
  }
  if (special > 0) return special == what->count;
  if (low > high) return compare_zeros_pass(what); /* flushed results lie outside their interval */
  /* The interval may hold no value of the type: try the nearest ones. */
  const double middle = assay_round_to(what->dtype, low / 2 + high / 2);
  const double candidates[3] = {middle, assay_round_to(what->dtype, low), assay_round_to(what->dtype, high)};
  for (int k = 0; k < 3; k++) {
    bool passes = true;
    for (int64_t i = 0; passes && i < what->count; i++) {
      passes = compare_element(what->dtype, candidates[k], what->want[i], what->allowed[i]);
    }
    if (passes) return true;
  }
  return compare_zeros_pass(what);
}
