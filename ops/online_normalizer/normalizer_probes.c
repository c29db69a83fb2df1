/* SPDX-License-Identifier: MIT */
/* normalizer_probes.c - checks of summarise and finish, and of the contract that all three functions share.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "fill.h"
#include "half.h"
#include "normalizer_sets.h"

static const double empty[2] = {-INFINITY, 0};
static const double exact[2] = {0, 0};

static bool has_kernel(int dtype) {
  return dtype == ASSAY_FP32 || dtype == ASSAY_FP64;
}

/* Fills the operands of any of the three functions from a set: all of it is summarised; its halves are
 * merged; it is finished with its own state. States are the definition's. */
static bool put_set(assay_probe *probe, assay_case *operands, int entry, const normalizer_set *set) {
  double state[2];
  double allowed[2];
  const int64_t half = set->count / 2;
  if (entry == ASSAY_ONLINE_NORMALIZER_SUMMARISE)
    return assay_normalizer_put_elements(probe, operands, 0, set, 0);
  assay_normalizer_set_state(set, 0, entry == ASSAY_ONLINE_NORMALIZER_MERGE ? half : set->count, state,
                             allowed);
  if (operands == NULL || !assay_probe_fill(probe, operands, 0, state)) return false;
  if (entry == ASSAY_ONLINE_NORMALIZER_FINISH)
    return assay_normalizer_put_elements(probe, operands, 1, set, 0);
  assay_normalizer_set_state(set, half, set->count - half, state, allowed);
  return assay_probe_fill(probe, operands, 1, state);
}

/* New contents of the row's kind. */
static bool refill(assay_probe *probe, assay_case *operands) {
  const assay_row *row = probe->row;
  normalizer_set set;
  if (!assay_normalizer_set_open(probe, &set, probe->dtype, row->dims[0], row->fill, row->a, row->b))
    return false;
  const bool done = put_set(probe, operands, probe->layout, &set);
  assay_normalizer_set_close(&set);
  return done;
}

static assay_case *make_row(assay_probe *probe) {
  assay_plan plan = {0};
  assay_normalizer_plan(probe->layout, probe->dtype, probe->row->dims[0], probe->row->shift, &plan);
  assay_case *operands = assay_probe_make(probe, &plan);
  return operands != NULL && refill(probe, operands) ? operands : NULL;
}

void assay_normalizer_on_row(assay_probe *probe) {
  assay_case *operands = make_row(probe);
  if (assay_probe_run_one(probe, operands))
    (void)assay_probe_expect_oracle(probe, operands, probe->row->degenerate);
}

/* The lesson's numbers: (1, 3, 2), then (5, 0); each step by hand. */
void assay_normalizer_worked_example(assay_probe *probe) {
  const double x[] = {1, 3, 2, 5, 0};
  const double e1 = exp(-1);
  const double e2 = exp(-2);
  const double first[2] = {3, e2 + 1 + e1};
  const double second[2] = {5, 1 + exp(-5)};
  const double all[2] = {5, first[1] * e2 + second[1]};
  for (int dtype = 0; dtype < ASSAY_DTYPE_COUNT; dtype++) {
    if (!has_kernel(dtype)) continue;
    const double u = assay_unit_roundoff((assay_dtype)dtype);
    const double few[2] = {0, 16 * u};
    assay_case *three =
        assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_SUMMARISE, (assay_dtype)dtype, 3);
    assay_case *two = assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_SUMMARISE, (assay_dtype)dtype, 2);
    assay_case *merging = assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_MERGE, ASSAY_FP64, 2);
    assay_case *finishing =
        assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_FINISH, (assay_dtype)dtype, 5);
    double state[2];
    if (three == NULL || two == NULL || finishing == NULL) return;
    if (!assay_probe_fill(probe, three, 0, x) || !assay_probe_fill(probe, two, 0, x + 3)) return;
    if (!assay_probe_run_one(probe, three) || !assay_normalizer_expect_state(probe, three, first, few))
      return;
    if (!assay_probe_run_one(probe, two) || !assay_normalizer_expect_state(probe, two, second, few)) return;
    if (!assay_normalizer_run_merge(probe, merging, first, second, state)) return;
    if (!assay_normalizer_expect_state(probe, merging, all, (const double[]){0, 16 * 0x1p-53})) return;
    if (!assay_probe_fill(probe, finishing, 0, all) || !assay_probe_fill(probe, finishing, 1, x)) return;
    if (!assay_probe_run_one(probe, finishing)) return;
    for (int i = 0; i < 5; i++) {
      if (!assay_probe_expect(probe, finishing, i, exp(x[i] - 5) / all[1], 16 * u)) return;
    }
    assay_probe_release(probe);
  }
}

/* The kernel's own state, then the kernel's own results: their sum is 1. */
void assay_normalizer_sums_to_one(assay_probe *probe) {
  const assay_row *row = probe->row;
  normalizer_set set;
  if (!assay_normalizer_set_open(probe, &set, probe->dtype, row->dims[0], row->fill, row->a, row->b)) return;
  assay_case *summing = assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_SUMMARISE, set.dtype, set.count);
  assay_case *finishing = assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_FINISH, set.dtype, set.count);
  double state[2];
  double allowed[2];
  if (assay_normalizer_put_elements(probe, summing, 0, &set, 0) && assay_probe_run_one(probe, summing)) {
    assay_normalizer_read_state(probe, summing, state);
    if (finishing != NULL && assay_probe_fill(probe, finishing, 0, state) &&
        assay_normalizer_put_elements(probe, finishing, 1, &set, 0) &&
        assay_probe_run_one(probe, finishing)) {
      const assay_tensor y = assay_probe_out(probe, finishing, 0);
      double sum = 0;
      for (int64_t i = 0; i < set.count; i++) sum += assay_get(y.data, y.dtype, i);
      assay_normalizer_set_state(&set, 0, set.count, state, allowed);
      /* What the state may be off by, what each result may be, and this sum itself. */
      const double u = assay_unit_roundoff(set.dtype);
      const double room =
          allowed[1] / state[1] + (6 + assay_normalizer_set_spread(&set)) * u + (double)set.count * 0x1p-53;
      if (!(fabs(sum - 1) <= room)) assay_probe_fail(probe, "the results of finish do not sum to 1");
    }
  }
  assay_normalizer_set_close(&set);
}

/* Part of a set, finished with the state of all of it. */
void assay_normalizer_larger_set(assay_probe *probe) {
  const assay_row *row = probe->row;
  normalizer_set set;
  double state[2];
  double allowed[2];
  if (!assay_normalizer_set_open(probe, &set, probe->dtype, 3 * row->dims[0], row->fill, row->a, row->b))
    return;
  assay_normalizer_set_state(&set, 0, set.count, state, allowed);
  for (int third = 0; third < 3; third++) {
    assay_case *finishing =
        assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_FINISH, set.dtype, row->dims[0]);
    if (finishing == NULL || !assay_probe_fill(probe, finishing, 0, state)) break;
    if (!assay_normalizer_put_elements(probe, finishing, 1, &set, third * row->dims[0])) break;
    if (!assay_probe_run_one(probe, finishing) || !assay_probe_expect_oracle(probe, finishing, false)) break;
  }
  assay_normalizer_set_close(&set);
}

/* Two elements at once, then one by one and merged, then finished. */
static bool check_pair(assay_probe *probe, assay_dtype dtype, const double x[2], const double want[2],
                       const double y[2]) {
  const double few[2] = {0, 8 * assay_unit_roundoff(dtype) * (want[1] == 2 ? 0 : 1)};
  double states[2][2];
  double state[2];
  assay_case *both = assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_SUMMARISE, dtype, 2);
  assay_case *one = assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_SUMMARISE, dtype, 1);
  assay_case *merging = assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_MERGE, ASSAY_FP64, 2);
  assay_case *finishing = assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_FINISH, dtype, 2);
  if (finishing == NULL || !assay_probe_fill(probe, both, 0, x) || !assay_probe_run_one(probe, both))
    return false;
  if (!assay_normalizer_expect_state(probe, both, want, few)) return false;
  for (int i = 0; i < 2; i++) {
    if (!assay_probe_fill(probe, one, 0, x + i) || !assay_probe_run_one(probe, one)) return false;
    assay_normalizer_read_state(probe, one, states[i]);
  }
  if (!assay_normalizer_run_merge(probe, merging, states[0], states[1], state)) return false;
  if (!assay_normalizer_expect_state(probe, merging, want, few)) return false;
  if (!assay_probe_fill(probe, finishing, 0, state) || !assay_probe_fill(probe, finishing, 1, x))
    return false;
  if (!assay_probe_run_one(probe, finishing)) return false;
  for (int i = 0; i < 2; i++) {
    const double allowed = y[i] == 0.5 || y[i] == 0 || y[i] == 1 ? 0 : 16 * assay_unit_roundoff(dtype);
    if (!assay_probe_expect(probe, finishing, i, y[i], allowed)) return false;
  }
  assay_probe_release(probe);
  return true;
}

/* Case ON-04: the maximum started at -5e4 (flashinfer-ai/flashinfer#4267), in chunks of two and of one. */
void assay_normalizer_finite_stand_in(assay_probe *probe) {
  const double equal[] = {-1e5, -60000, -99840, -3e38, -(double)FLT_MAX, -1e300};
  for (int dtype = 0; dtype < ASSAY_DTYPE_COUNT; dtype++) {
    if (!has_kernel(dtype)) continue;
    for (size_t i = 0; i < sizeof equal / sizeof equal[0]; i++) {
      const double value = assay_round_to((assay_dtype)dtype, equal[i]);
      if (isinf(value)) continue;
      if (!check_pair(probe, (assay_dtype)dtype, (const double[]){value, value}, (const double[]){value, 2},
                      (const double[]){0.5, 0.5}))
        return;
    }
    const double low = assay_round_to((assay_dtype)dtype, -3e38);
    const double e = exp(-1);
    if (!check_pair(probe, (assay_dtype)dtype, (const double[]){low, -INFINITY}, (const double[]){low, 1},
                    (const double[]){1, 0}))
      return;
    if (!check_pair(probe, (assay_dtype)dtype, (const double[]){-1e5, -1e5 - 1},
                    (const double[]){-1e5, 1 + e}, (const double[]){1 / (1 + e), e / (1 + e)}))
      return;
  }
}

/* A part of nothing but -inf, of any length, is the empty state; so are two of them. */
void assay_normalizer_all_masked(assay_probe *probe) {
  const int64_t counts[] = {1, 2, 3, 17, 64, 1000, 5000, 70000};
  double states[2][2] = {{0}};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    assay_case *operands =
        assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_SUMMARISE, probe->dtype, counts[i]);
    if (!assay_probe_fill_with(probe, operands, 0, assay_fill_constant, -INFINITY, 0)) return;
    if (!assay_probe_run_one(probe, operands)) return;
    if (!assay_normalizer_expect_state(probe, operands, empty, exact)) return;
    assay_normalizer_read_state(probe, operands, states[i % 2]);
    assay_probe_release(probe);
  }
  assay_case *merging = assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_MERGE, ASSAY_FP64, 2);
  double state[2];
  if (assay_normalizer_run_merge(probe, merging, states[0], states[1], state))
    (void)assay_normalizer_expect_state(probe, merging, empty, exact);
}

/* ---- contract ------------------------------------------------------------------------------------------ */

void assay_normalizer_repeatable(assay_probe *probe) {
  const assay_rng start = probe->rng;
  assay_case *first = make_row(probe);
  probe->rng = start;
  assay_case *second = make_row(probe); /* the same contents at other addresses */
  if (!assay_probe_run_one(probe, first) || !assay_probe_expect_oracle(probe, first, false)) return;
  for (int again = 0; again < 3; again++) {
    if (!assay_probe_run_one(probe, second) || !assay_probe_expect_same(probe, first, second)) return;
  }
}

void assay_normalizer_fresh_contents(assay_probe *probe) {
  assay_case *operands = make_row(probe);
  /* The same addresses with new contents, three times; the last time only one number changes. */
  for (int round = 0; round < 3; round++) {
    if (operands == NULL) return;
    const assay_tensor last =
        assay_probe_in(probe, operands, probe->layout == ASSAY_ONLINE_NORMALIZER_SUMMARISE ? 0 : 1);
    if (round < 2) {
      if (!refill(probe, operands)) return;
    } else if (probe->layout == ASSAY_ONLINE_NORMALIZER_MERGE) {
      assay_put(last.data, last.dtype, 1, 9);
    } else {
      const int64_t i = (int64_t)assay_rng_below(&probe->rng, (uint64_t)last.shape[0]);
      assay_put(last.data, last.dtype, i, 2);
    }
    if (!assay_probe_run_one(probe, operands)) return;
    if (!assay_probe_expect_oracle(probe, operands, false)) return;
  }
  /* Then another size in the same process, and the first one again. */
  if (probe->layout != ASSAY_ONLINE_NORMALIZER_SUMMARISE) return;
  assay_case *other = assay_normalizer_case(probe, probe->layout, probe->dtype, probe->row->dims[0] + 3);
  if (!assay_probe_fill_with(probe, other, 0, assay_fill_normal, 0, 1)) return;
  if (!assay_probe_run_one(probe, other) || !assay_probe_expect_oracle(probe, other, false)) return;
  if (assay_probe_run_one(probe, operands)) (void)assay_probe_expect_oracle(probe, operands, false);
}

void assay_normalizer_two_threads(assay_probe *probe) {
  probe->threads = 1; /* the two calls are to meet each other, not their own helpers */
  assay_case *left = make_row(probe);
  assay_case *right = make_row(probe); /* other contents: the generator has moved on */
  if (left == NULL || right == NULL) return;
  const assay_probe_call calls[] = {{left, 0}, {right, 1}, {left, 0}, {right, 1},
                                    {left, 0}, {right, 1}, {left, 0}, {right, 1}};
  for (int round = 0; round < 4; round++) {
    if (!assay_probe_run(probe, calls, 8)) return;
    if (!assay_probe_expect_oracle(probe, left, false)) return;
    if (!assay_probe_expect_oracle(probe, right, false)) return;
  }
}

void assay_normalizer_thread_count(assay_probe *probe) {
  assay_case *cases[3];
  const assay_rng start = probe->rng;
  for (int i = 0; i < 3; i++) {
    probe->rng = start; /* the same contents in each */
    probe->threads = i + 1;
    cases[i] = make_row(probe);
    if (!assay_probe_run_one(probe, cases[i])) return;
  }
  if (!assay_probe_expect_oracle(probe, cases[0], false)) return;
  if (!assay_probe_expect_same(probe, cases[0], cases[1])) return;
  (void)assay_probe_expect_same(probe, cases[0], cases[2]);
}

void assay_normalizer_random_shapes(assay_probe *probe) {
  for (int i = 0; i < 500; i++) {
    /* Sizes spread over the powers of two, so that small ones are as frequent as large ones. */
    const int64_t count =
        2 + (int64_t)assay_rng_below(&probe->rng, UINT64_C(1) << assay_rng_below(&probe->rng, 18));
    const int entry = (int)assay_rng_below(&probe->rng, 3);
    const assay_dtype dtype = assay_rng_below(&probe->rng, 2) == 0 ? ASSAY_FP32 : ASSAY_FP64;
    const double scale = 0.5 + 8 * assay_rng_uniform(&probe->rng);
    assay_plan plan = {0};
    normalizer_set set;
    assay_normalizer_plan(entry, dtype, count, (int64_t)assay_rng_below(&probe->rng, 8), &plan);
    assay_case *operands = assay_probe_make(probe, &plan);
    if (!assay_normalizer_set_open(probe, &set, dtype, count, assay_fill_normal, -3, scale)) return;
    const bool ready = put_set(probe, operands, entry, &set);
    assay_normalizer_set_close(&set);
    if (!ready || !assay_probe_run_one(probe, operands)) return;
    if (entry == ASSAY_ONLINE_NORMALIZER_MERGE) {
      double want[2];
      double allowed[2];
      const assay_tensor in[] = {assay_probe_in(probe, operands, 0), assay_probe_in(probe, operands, 1)};
      assay_normalizer_oracle(entry, in, NULL, NULL, 0, 2, want, allowed);
      if (!assay_normalizer_expect_state(probe, operands, want, allowed)) return;
    } else if (!assay_probe_expect_oracle(probe, operands, false)) {
      return;
    }
    assay_probe_release(probe);
  }
}

void assay_normalizer_full_size(assay_probe *probe) {
  /* 2^31 + 2^16 + 1 elements, nearly all -inf. The zeros lie around the index that 32 bits do not hold, at
   * the ends, and beyond the last whole segment: the maximum is 0, and the sum counts them. */
  const int64_t middle = INT64_C(1) << 31;
  const int64_t count = middle + (INT64_C(1) << 16) + 1;
  enum { ZEROS = 5 };
  const int64_t zeros[ZEROS] = {0, middle - 1, middle, middle + 4097, count - 1};
  const double want[2] = {0, ZEROS};
  assay_plan plan = {0};
  assay_normalizer_plan(ASSAY_ONLINE_NORMALIZER_SUMMARISE, ASSAY_FP32, count, 0, &plan);
  assay_case *operands = assay_probe_make(probe, &plan);
  if (operands == NULL) return;
  float *x =
      assay_probe_in(probe, operands, 0).data; /* not as logical values, which would take 16 GiB more */
  for (int64_t i = 0; i < count; i++) x[i] = -INFINITY;
  for (int i = 0; i < ZEROS; i++) x[zeros[i]] = 0;
  if (!assay_probe_run_one(probe, operands)) return;
  for (int i = 0; i < 2; i++) {
    if (!assay_probe_expect(probe, operands, i, want[i], 0)) return;
  }
}
