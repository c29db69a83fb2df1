/* SPDX-License-Identifier: MIT */
/* normalizer_sets.c - sets of elements on the judge's side, and the kernel's functions as calls that return.
 */
#include "normalizer_sets.h"

#include <math.h>
#include <stdlib.h>

#include "half.h"
#include "tensor.h"

bool assay_normalizer_set_open(assay_probe *probe, normalizer_set *set, assay_dtype dtype, int64_t count,
                               assay_fill *fill, double a, double b) {
  const size_t room = (size_t)(count > 0 ? count : 1);
  *set = (normalizer_set){.dtype = dtype,
                          .count = count,
                          .values = malloc(room * sizeof(double)),
                          .elements = malloc(room * assay_dtype_size(dtype))};
  if (set->values == NULL || set->elements == NULL) {
    assay_normalizer_set_close(set);
    assay_probe_unavailable(probe, "not enough memory for the inputs of this case");
    return false;
  }
  const assay_fill_args args = {.rank = 1, .shape = {count}, .a = a, .b = b, .rng = &probe->rng};
  fill(&args, set->values);
  for (int64_t i = 0; i < count; i++) {
    assay_put(set->elements, dtype, i, set->values[i]);
    set->values[i] = assay_get(set->elements, dtype, i);
  }
  return true;
}

void assay_normalizer_set_close(normalizer_set *set) {
  free(set->values);
  free(set->elements);
  *set = (normalizer_set){0};
}

void assay_normalizer_set_state(const normalizer_set *set, int64_t first, int64_t count, double state[2],
                                double allowed[2]) {
  char *data = set->elements;
  const assay_tensor x = assay_tensor_make(data + first * (int64_t)assay_dtype_size(set->dtype), set->dtype,
                                           1, (const int64_t[]){count});
  assay_normalizer_oracle(ASSAY_ONLINE_NORMALIZER_SUMMARISE, &x, NULL, NULL, 0, 2, state, allowed);
}

double assay_normalizer_set_spread(const normalizer_set *set) {
  double low = INFINITY;
  double high = -INFINITY;
  for (int64_t i = 0; i < set->count; i++) {
    if (!isfinite(set->values[i])) continue;
    low = fmin(low, set->values[i]);
    high = fmax(high, set->values[i]);
  }
  return high > low ? high - low : 0;
}

assay_case *assay_normalizer_case(assay_probe *probe, int entry, assay_dtype dtype, int64_t count) {
  assay_plan plan = {0};
  assay_normalizer_plan(entry, dtype, count, 0, &plan);
  return assay_probe_make(probe, &plan);
}

bool assay_normalizer_put_elements(assay_probe *probe, assay_case *operands, int index,
                                   const normalizer_set *set, int64_t first) {
  return operands != NULL && assay_probe_fill(probe, operands, index, set->values + first);
}

void assay_normalizer_read_state(const assay_probe *probe, const assay_case *operands, double state[2]) {
  const assay_tensor out = assay_probe_out(probe, operands, 0);
  for (int i = 0; i < 2; i++) state[i] = assay_get(out.data, out.dtype, i);
}

bool assay_normalizer_run_merge(assay_probe *probe, assay_case *merging, const double left[2],
                                const double right[2], double state[2]) {
  if (merging == NULL || !assay_probe_fill(probe, merging, 0, left)) return false;
  if (!assay_probe_fill(probe, merging, 1, right) || !assay_probe_run_one(probe, merging)) return false;
  assay_normalizer_read_state(probe, merging, state);
  return true;
}

bool assay_normalizer_expect_state(assay_probe *probe, assay_case *operands, const double want[2],
                                   const double allowed[2]) {
  return assay_probe_expect(probe, operands, 0, want[0], allowed[0]) &&
         assay_probe_expect(probe, operands, 1, want[1], allowed[1]);
}

bool assay_normalizer_expect_merge(assay_probe *probe, assay_case *merging, const double left[2],
                                   const double right[2]) {
  double got[2];
  double want[2];
  double allowed[2];
  if (!assay_normalizer_run_merge(probe, merging, left, right, got)) return false;
  const assay_tensor in[] = {assay_probe_in(probe, merging, 0), assay_probe_in(probe, merging, 1)};
  assay_normalizer_oracle(ASSAY_ONLINE_NORMALIZER_MERGE, in, NULL, NULL, 0, 2, want, allowed);
  return assay_normalizer_expect_state(probe, merging, want, allowed);
}
