/* SPDX-License-Identifier: MIT */
/* apply_compare.c - `apply --check`: the whole output against the FP64 oracle, some rows at a time. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "apply.h"
#include "check/compare.h"
#include "core/half.h"
#include "core/tensor.h"

/* Elements whose expected values are in memory at once, unless a single unit has more. */
enum { AT_ONCE = 1 << 20 };

static void measure(const comparison *what, int64_t first, apply_comparison *result) {
  const comparison_result judged = compare_all(what);
  if (judged.first >= 0 && result->first < 0) {
    result->first = first + judged.first;
    result->got = assay_get(what->got, what->dtype, judged.first);
    result->want = what->want[judged.first];
    result->allowed = what->allowed[judged.first];
  }
  result->wrong += judged.wrong;
  result->count += what->count;
  for (int64_t i = 0; i < what->count; i++) {
    const double error = fabs(assay_get(what->got, what->dtype, i) - what->want[i]);
    /* Exact ones, those compared by class, and subnormal numbers that may be 0. */
    if (!(error > 0) || !isfinite(error)) continue;
    const double allowed = what->allowed[i];
    const bool wrong =
        !compare_element(what->dtype, assay_get(what->got, what->dtype, i), what->want[i], allowed);
    if (!wrong && error > allowed) continue;
    result->ulps = fmax(result->ulps, error / assay_ulp(what->dtype, what->want[i]));
    result->share = fmax(result->share, allowed > 0 ? error / allowed : (double)INFINITY);
  }
}

bool apply_compare(const assay_subject *subject, int entry, const assay_tensor *in, const assay_tensor *out,
                   const int64_t *opt, apply_comparison *result, assay_message *why) {
  const assay_tensor *y = &out[0];
  int64_t count = 0;
  const bool counted = assay_tensor_count(y, &count);
  assert(counted && y->rank > 0 && assay_tensor_contiguous(y));
  (void)counted;
  *result = (apply_comparison){.done = true, .first = -1};
  if (count == 0) return true;
  const int64_t unit = count / y->shape[0];
  const int64_t step = unit < AT_ONCE ? AT_ONCE / unit : 1;
  const int64_t most = step < y->shape[0] ? step : y->shape[0];
  double *want = apply_memory(2 * sizeof(double) * (size_t)(most * unit), "--check", why);
  if (want == NULL) return false;
  double *allowed = want + most * unit;
  for (int64_t first = 0; first < y->shape[0]; first += step) {
    const int64_t units = y->shape[0] - first < step ? y->shape[0] - first : step;
    subject->oracle(entry, in, out, opt, first, units, want, allowed);
    const comparison what = {
        .dtype = y->dtype,
        .got = (const char *)y->data + (size_t)(first * unit) * assay_dtype_size(y->dtype),
        .want = want,
        .allowed = allowed,
        .count = units * unit,
        .columns = y->shape[y->rank - 1],
    };
    measure(&what, first * unit, result);
  }
  free(want);
  return true;
}
