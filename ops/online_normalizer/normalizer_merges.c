/* SPDX-License-Identifier: MIT */
/* normalizer_merges.c - checks of the merge alone: states that are given, not summarised. */
#include <math.h>

#include "normalizer_sets.h"

static const double empty[2] = {-INFINITY, 0};
static const double exact[2] = {0, 0};

static assay_case *merge_case(assay_probe *probe) {
  return assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_MERGE, ASSAY_FP64, 2);
}

/* The merge of two states is `want`, to the last bit. */
static bool expect_exactly(assay_probe *probe, assay_case *merging, const double left[2],
                           const double right[2], const double want[2]) {
  double state[2];
  return assay_normalizer_run_merge(probe, merging, left, right, state) &&
         assay_normalizer_expect_state(probe, merging, want, exact);
}

/* A state as it comes from `count` elements around a maximum. */
static void random_state(assay_rng *rng, double scale, double state[2]) {
  state[0] = scale * assay_rng_normal(rng);
  state[1] = 1 + (double)assay_rng_below(rng, 1000) * assay_rng_uniform(rng);
}

void assay_normalizer_known_merges(assay_probe *probe) {
  /* The factor belongs to the smaller maximum, on either side: (1,1) and (3,2) give (3, 2 + e^-2). */
  const double states[][2] = {{1, 1}, {3, 2}, {3, 5}, {-1e5, 1}, {0.6931471805599453, 4}, {0, 4}};
  const double e2 = 0.1353352832366127;
  const struct {
    int left, right;
    double want[2];
  } known[] = {{0, 1, {3, 2 + e2}},
               {1, 0, {3, 2 + e2}},
               {1, 2, {3, 7}},
               {3, 3, {-1e5, 2}},
               {4, 5, {0.6931471805599453, 6}},
               {5, 4, {0.6931471805599453, 6}}};
  assay_case *merging = merge_case(probe);
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    const double allowed[2] = {0, known[i].want[1] * 8 * 0x1p-53};
    double state[2];
    if (!assay_normalizer_run_merge(probe, merging, states[known[i].left], states[known[i].right], state))
      return;
    if (!assay_normalizer_expect_state(probe, merging, known[i].want, allowed)) return;
  }
}

void assay_normalizer_random_states(assay_probe *probe) {
  assay_case *merging = merge_case(probe);
  for (int i = 0; i < 60; i++) {
    double left[2];
    double right[2];
    random_state(&probe->rng, 3, left);
    random_state(&probe->rng, 3, right);
    if (!assay_normalizer_expect_merge(probe, merging, left, right)) return;
  }
}

void assay_normalizer_wide_sums(assay_probe *probe) {
  /* FP32 holds neither these sums nor these maxima. */
  const double pairs[][2][2] = {
      {{0, 0x1p40}, {0, 1}},
      {{0.1, 3}, {0.1 + 0x1p-50, 1}},
      {{1 + 0x1p-45, 16777217}, {1, 1.25}},
      {{-123456.789, 1e15}, {-123456.788, 3}},
  };
  assay_case *merging = merge_case(probe);
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    if (!assay_normalizer_expect_merge(probe, merging, pairs[i][0], pairs[i][1])) return;
    if (!assay_normalizer_expect_merge(probe, merging, pairs[i][1], pairs[i][0])) return;
  }
}

void assay_normalizer_distant_states(assay_probe *probe) {
  /* From maxima whose smaller side still counts to ones whose difference overflows FP64. */
  const double pairs[][2][2] = {
      {{1000, 3}, {-1000, 5}},   {{1000, 1}, {990, 7}},   {{-1000, 2}, {-1036, 1e15}}, {{700, 1}, {0, 1e300}},
      {{1e308, 2}, {-1e308, 3}}, {{3e38, 2}, {-3e38, 9}}, {{-700, 4}, {20, 1}},        {{-1e308, 6}, {0, 1}},
  };
  assay_case *merging = merge_case(probe);
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    if (!assay_normalizer_expect_merge(probe, merging, pairs[i][0], pairs[i][1])) return;
    if (!assay_normalizer_expect_merge(probe, merging, pairs[i][1], pairs[i][0])) return;
  }
}

/* Case ON-01: two empty states merged to NaN (flashinfer-ai/flashinfer#4051, vllm-project/vllm#28181 and
 * #39148; scipy/scipy#20399 for empty input). */
void assay_normalizer_empty_identity(assay_probe *probe) {
  const double states[][2] = {{2.5, 3}, {-1e5, 1}, {1e308, 7}, {-1e308, 2}, {0.1, 1.7}, {-745, 0x1p60}};
  assay_case *merging = merge_case(probe);
  if (!expect_exactly(probe, merging, empty, empty, empty)) return;
  for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
    if (!expect_exactly(probe, merging, empty, states[i], states[i])) return;
    if (!expect_exactly(probe, merging, states[i], empty, states[i])) return;
  }
}

/* The same case's trees: seven leaves, all empty but two. */
void assay_normalizer_empty_leaves(assay_probe *probe) {
  const double leaves[7][2] = {{-INFINITY, 0}, {-INFINITY, 0}, {1, 1},        {-INFINITY, 0},
                               {3, 2},         {-INFINITY, 0}, {-INFINITY, 0}};
  const double want[2] = {3, 2 + 0.1353352832366127};
  const double allowed[2] = {0, 8 * 0x1p-53 * want[1]};
  double state[2] = {-INFINITY, 0};
  assay_case *merging = merge_case(probe);
  for (int i = 0; i < 7; i++) {
    if (!assay_normalizer_run_merge(probe, merging, state, leaves[i], state)) return;
  }
  if (!assay_normalizer_expect_state(probe, merging, want, allowed)) return;
  state[0] = -INFINITY;
  state[1] = 0;
  for (int i = 6; i >= 0; i--) {
    if (!assay_normalizer_run_merge(probe, merging, leaves[i], state, state)) return;
  }
  if (!assay_normalizer_expect_state(probe, merging, want, allowed)) return;
  double pair[4][2]; /* ((0 1) (2 3)) ((4 5) 6) */
  for (int i = 0; i < 3; i++) {
    if (!assay_normalizer_run_merge(probe, merging, leaves[2 * i], leaves[2 * i + 1], pair[i])) return;
  }
  if (!assay_normalizer_run_merge(probe, merging, pair[0], pair[1], pair[0])) return;
  if (!assay_normalizer_run_merge(probe, merging, pair[2], leaves[6], pair[2])) return;
  if (!assay_normalizer_run_merge(probe, merging, pair[0], pair[2], state)) return;
  (void)assay_normalizer_expect_state(probe, merging, want, allowed);
}

void assay_normalizer_commutes(assay_probe *probe) {
  assay_case *forward = merge_case(probe);
  assay_case *backward = merge_case(probe);
  for (int i = 0; i < 80; i++) {
    double left[2];
    double right[2];
    double state[2];
    random_state(&probe->rng, i % 4 == 0 ? 300 : 2, left);
    random_state(&probe->rng, i % 4 == 0 ? 300 : 2, right);
    if (i % 4 == 1) right[0] = left[0]; /* equal maxima */
    if (i % 4 >= 2) { /* most of the sum comes from the scaled side, where a different factor shows */
      double *low = left[0] < right[0] ? left : right;
      low[1] *= 1000;
    }
    if (!assay_normalizer_run_merge(probe, forward, left, right, state)) return;
    if (!assay_normalizer_run_merge(probe, backward, right, left, state)) return;
    if (!assay_probe_expect_same(probe, forward, backward)) return;
  }
}

void assay_normalizer_nan_states(assay_probe *probe) {
  const double pairs[][2][2] = {
      {{1, NAN}, {5, 2}},
      {{5, NAN}, {1, 2}},
      {{1, NAN}, {-INFINITY, 0}},
      {{-INFINITY, NAN}, {3, 1}},
      {{-INFINITY, NAN}, {-INFINITY, 0}},
      {{INFINITY, NAN}, {3, 1}},
      {{INFINITY, NAN}, {INFINITY, NAN}},
      {{2000, 2}, {-2000, NAN}},
  };
  assay_case *merging = merge_case(probe);
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    if (!assay_normalizer_expect_merge(probe, merging, pairs[i][0], pairs[i][1])) return;
    if (!assay_normalizer_expect_merge(probe, merging, pairs[i][1], pairs[i][0])) return;
  }
  const double x[] = {-1, 0, -INFINITY, 2, -200};
  const double broken[][2] = {{2, NAN}, {INFINITY, NAN}, {-INFINITY, NAN}};
  for (int dtype = 0; dtype < ASSAY_DTYPE_COUNT; dtype++) {
    if (dtype != ASSAY_FP32 && dtype != ASSAY_FP64) continue;
    assay_case *finishing =
        assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_FINISH, (assay_dtype)dtype, 5);
    for (int i = 0; i < 3; i++) {
      if (finishing == NULL || !assay_probe_fill(probe, finishing, 0, broken[i])) return;
      if (!assay_probe_fill(probe, finishing, 1, x) || !assay_probe_run_one(probe, finishing)) return;
      if (!assay_probe_expect_oracle(probe, finishing, true)) return;
    }
  }
}

void assay_normalizer_empty_state_finish(assay_probe *probe) {
  /* (-inf) - (-inf) is NaN, and exp(finite + inf) / 0 is an infinity: nothing may look like a probability. */
  const double x[] = {-INFINITY, 0, -5, 3, -INFINITY, -1e30};
  for (int dtype = 0; dtype < ASSAY_DTYPE_COUNT; dtype++) {
    if (dtype != ASSAY_FP32 && dtype != ASSAY_FP64) continue;
    assay_case *finishing =
        assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_FINISH, (assay_dtype)dtype, 6);
    if (finishing == NULL || !assay_probe_fill(probe, finishing, 0, empty)) return;
    if (!assay_probe_fill(probe, finishing, 1, x) || !assay_probe_run_one(probe, finishing)) return;
    if (!assay_probe_expect_oracle(probe, finishing, false)) return;
  }
}
