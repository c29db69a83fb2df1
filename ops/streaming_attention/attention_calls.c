/* SPDX-License-Identifier: MIT */
/* attention_calls.c - checks of streaming attention that compare several calls, or their earlier rows, bit
 * for bit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention.h"
#include "fill.h"
#include "half.h"
#include "probe.h"
#include "tensor.h"

enum { K = ASSAY_STREAMING_ATTENTION_K, V = ASSAY_STREAMING_ATTENTION_V };

static assay_case *make_normal(assay_probe *probe, assay_dtype dtype, int layout, const assay_row *row) {
  assay_plan plan = {0};
  memcpy(plan.opt, row->opt, sizeof plan.opt);
  probe->subject->plan(row, dtype, layout, &plan);
  assay_case *operands = assay_probe_make(probe, &plan);
  for (int i = 0; operands != NULL && i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    if (!assay_probe_fill_with(probe, operands, i, assay_fill_normal, 0, 1)) return NULL;
  }
  return operands;
}

/* ---- the future ---------------------------------------------------------------------------------------- */

typedef enum change { OTHER_NUMBERS, BECOMES_NAN, BECOMES_INFINITE, CHANGES } change;

/* Rows [first, n) of one input get new contents: finite ones, or NaN or infinities in some of their columns.
 */
static void change_future(assay_probe *probe, const assay_tensor *input, int64_t first, change what) {
  const int64_t d = input->shape[1];
  for (int64_t i = first; i < input->shape[0]; i++) {
    for (int64_t c = 0; c < d; c++) {
      double value = 8 * assay_rng_normal(&probe->rng);
      if (what != OTHER_NUMBERS && (i + c) % 3 != 0) continue;
      if (what == BECOMES_NAN) value = NAN;
      if (what == BECOMES_INFINITE) value = i % 2 == 0 ? INFINITY : -INFINITY;
      assay_put(input->data, input->dtype, i * input->stride[0] + c, value);
    }
  }
}

/* Rows before `first` of two outputs must hold the same bits. */
static bool same_past(assay_probe *probe, const assay_tensor *o, const uint16_t *before, int64_t first) {
  const uint16_t *after = o->data;
  for (int64_t i = 0; i < first * o->shape[1]; i++) {
    if (after[i] == before[i]) continue;
    char text[160];
    snprintf(text, sizeof text,
             "o[%lld,%lld] was %.9g and became %.9g when only later keys or values changed",
             (long long)(i / o->shape[1]), (long long)(i % o->shape[1]), assay_decode(o->dtype, before[i]),
             assay_decode(o->dtype, after[i]));
    assay_probe_fail(probe, text);
    return false;
  }
  return true;
}

/* One case, then the same with other contents from row `first` on; then back at the oracle. */
static bool compare_past(assay_probe *probe, assay_dtype dtype, const assay_row *row, int64_t first,
                         int input, change what) {
  assay_case *operands = make_normal(probe, dtype, ASSAY_ATTENTION_PITCHED, row);
  if (!assay_probe_run_one(probe, operands)) return false;
  const assay_tensor o = assay_probe_out(probe, operands, 0);
  const size_t bytes = (size_t)(o.shape[0] * o.shape[1]) * sizeof(uint16_t);
  uint16_t *before = malloc(bytes);
  if (before == NULL) return false;
  memcpy(before, o.data, bytes);
  const assay_tensor changed = assay_probe_in(probe, operands, input);
  change_future(probe, &changed, first, what);
  bool right = assay_probe_run_one(probe, operands) && same_past(probe, &o, before, first);
  right = right && assay_probe_expect_oracle(probe, operands, false);
  free(before);
  assay_probe_release(probe);
  return right;
}

/* The change begins at the diagonal of a tile, inside one, and behind the first tile. */
static void compare_pasts(assay_probe *probe, int input, change what) {
  static const int64_t firsts[] = {1, 17, 40, 64, 69};
  for (size_t i = 0; i < sizeof firsts / sizeof firsts[0]; i++) {
    for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
      const assay_row row = {.dims = {70, i % 2 == 0 ? 16 : 64}, .opt = {1, i % 3 == 0 ? 32 : 64}};
      if (!compare_past(probe, (assay_dtype)dtype, &row, firsts[i], input, what)) return;
    }
  }
}

void assay_attention_future_changes(assay_probe *probe) {
  compare_pasts(probe, K, OTHER_NUMBERS);
  compare_pasts(probe, V, OTHER_NUMBERS);
}

void assay_attention_future_nan_keys(assay_probe *probe) {
  compare_pasts(probe, K, BECOMES_NAN);
  compare_pasts(probe, K, BECOMES_INFINITE);
}

void assay_attention_future_nan_values(assay_probe *probe) {
  compare_pasts(probe, V, BECOMES_NAN);
  compare_pasts(probe, V, BECOMES_INFINITE);
}

/* ---- one key outweighs all others ---------------------------------------------------------------------- */

/* Query and key are constant rows: score = 4 * key. v tells which key it was. */
static bool fill_dominant(assay_probe *probe, assay_case *operands, int64_t n, int64_t d, int64_t place) {
  double *values = malloc(sizeof *values * (size_t)(n * d));
  bool filled = operands != NULL && values != NULL;
  for (int operand = 0; filled && operand < ASSAY_STREAMING_ATTENTION_INPUTS; operand++) {
    for (int64_t i = 0; i < n * d; i++) {
      const int64_t row = i / d;
      const double key = row == place ? 25 : -5;
      values[i] = operand == K ? key : operand == V ? (double)(row - 64) : 1;
    }
    filled = assay_probe_fill(probe, operands, operand, values);
  }
  free(values);
  return filled;
}

void assay_attention_dominant_tiles(assay_probe *probe) {
  /* In turn at the first, an inner and the last place of each tile of 32. Scores are 100 and -20: the others
   * weigh exp(-120) each, and a maximum that misses the large one lets exp overflow. */
  const assay_row row = {.dims = {130, 16}, .opt = {0, 32}};
  const int64_t n = row.dims[ASSAY_ATTENTION_N];
  const int64_t d = row.dims[ASSAY_ATTENTION_D];
  for (int64_t place = 0; place < n; place += place % 32 == 0 ? 13 : place % 32 == 13 ? 18 : 1) {
    const assay_dtype dtype = place % 2 == 0 ? ASSAY_FP16 : ASSAY_BF16;
    assay_case *operands = make_normal(probe, dtype, ASSAY_ATTENTION_PACKED, &row);
    if (!fill_dominant(probe, operands, n, d, place) || !assay_probe_run_one(probe, operands)) return;
    for (int64_t i = 0; i < n * d; i++) {
      if (!assay_probe_expect(probe, operands, i, (double)(place - 64), 1e-20)) return;
    }
    assay_probe_release(probe);
  }
}

/* ---- calls and calls again ----------------------------------------------------------------------------- */

void assay_attention_repeatable(assay_probe *probe) {
  const assay_rng start = probe->rng;
  assay_case *first = assay_probe_make_row(probe);
  if (!assay_probe_run_one(probe, first)) return;
  if (!assay_probe_expect_oracle(probe, first, false)) return;
  probe->rng = start; /* the same contents elsewhere */
  assay_case *second = assay_probe_make_row(probe);
  for (int again = 0; again < 3; again++) {
    if (!assay_probe_run_one(probe, second) || !assay_probe_expect_same(probe, first, second)) return;
  }
}

void assay_attention_fresh_contents(assay_probe *probe) {
  assay_case *operands = assay_probe_make_row(probe);
  /* The same addresses with new contents, one operand after the other; the last time only one row changes. */
  for (int round = 0; round < 4; round++) {
    if (operands == NULL) return;
    if (round < 3 && !assay_probe_fill_with(probe, operands, round, assay_fill_normal, 0, 1)) return;
    if (round == 3) {
      const assay_tensor v = assay_probe_in(probe, operands, V);
      const int64_t row = (int64_t)assay_rng_below(&probe->rng, (uint64_t)v.shape[0]);
      for (int64_t c = 0; c < v.shape[1]; c++) assay_put(v.data, v.dtype, row * v.stride[0] + c, 20);
    }
    if (!assay_probe_run_one(probe, operands)) return;
    if (!assay_probe_expect_oracle(probe, operands, false)) return;
  }
  /* Then another shape in the same process, shorter and wider, and the first one again. */
  assay_row row = *probe->row;
  row.dims[ASSAY_ATTENTION_N] /= 2;
  row.dims[ASSAY_ATTENTION_D] *= 2;
  row.opt[0] = 0;
  assay_case *other = make_normal(probe, probe->dtype, probe->layout, &row);
  if (!assay_probe_run_one(probe, other) || !assay_probe_expect_oracle(probe, other, false)) return;
  if (assay_probe_run_one(probe, operands)) (void)assay_probe_expect_oracle(probe, operands, false);
}

void assay_attention_two_threads(assay_probe *probe) {
  probe->threads = 1; /* the two calls are to meet each other, not their own helpers */
  assay_case *left = assay_probe_make_row(probe);
  assay_case *right = assay_probe_make_row(probe); /* other contents: the generator has moved on */
  if (left == NULL || right == NULL) return;
  const assay_probe_call calls[] = {{left, 0}, {right, 1}, {left, 0}, {right, 1},
                                    {left, 0}, {right, 1}, {left, 0}, {right, 1}};
  for (int round = 0; round < 4; round++) {
    if (!assay_probe_run(probe, calls, 8)) return;
    if (!assay_probe_expect_oracle(probe, left, false)) return;
    if (!assay_probe_expect_oracle(probe, right, false)) return;
  }
}

void assay_attention_thread_count(assay_probe *probe) {
  assay_case *cases[3];
  const assay_rng start = probe->rng;
  for (int i = 0; i < 3; i++) {
    probe->rng = start; /* the same contents in each */
    probe->threads = i + 1;
    cases[i] = assay_probe_make_row(probe);
    if (!assay_probe_run_one(probe, cases[i])) return;
  }
  if (!assay_probe_expect_oracle(probe, cases[0], false)) return;
  if (!assay_probe_expect_same(probe, cases[0], cases[1])) return;
  (void)assay_probe_expect_same(probe, cases[0], cases[2]);
}

void assay_attention_large_strides(assay_probe *probe) {
  const int64_t big = (INT64_C(1) << 31) + 8;
  for (int input = 0; input < ASSAY_STREAMING_ATTENTION_INPUTS; input++) {
    const assay_row row = {.dims = {3, 16}, .opt = {1}};
    assay_plan plan = {.opt = {input % 2}};
    probe->subject->plan(&row, input == 0 ? ASSAY_FP16 : ASSAY_BF16, ASSAY_ATTENTION_PACKED, &plan);
    plan.in[input].stride[0] = big;
    assay_case *operands = assay_probe_make(probe, &plan);
    for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
      if (!assay_probe_fill_with(probe, operands, i, assay_fill_normal, 0, 1)) return;
    }
    if (!assay_probe_run_one(probe, operands)) return;
    if (!assay_probe_expect_oracle(probe, operands, false)) return;
    assay_probe_release(probe);
  }
}

void assay_attention_full_size(assay_probe *probe) {
  /* Very many heads of one row: a row is its head's v, and the heads of v are windows over one short array.
   * The 2^31 + 2^9 results then all come from inputs that fit a cache. */
  const int64_t heads = (INT64_C(1) << 22) + 1;
  const int64_t d = 256;
  const assay_row row = {.dims = {1, d, heads, 2}};
  assay_plan plan = {0};
  probe->subject->plan(&row, ASSAY_FP16, ASSAY_ATTENTION_PACKED, &plan);
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    const bool windows = i == ASSAY_STREAMING_ATTENTION_V;
    plan.in[i].stride[0] = windows ? heads : 0;
    plan.in[i].stride[1] = windows ? 1 : 0;
  }
  assay_case *operands = assay_probe_make(probe, &plan);
  if (operands == NULL) return;
  /* Straight into the storage: as logical values the windows would take 16 GiB. */
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    const assay_tensor in = assay_probe_in(probe, operands, i);
    const int64_t count = i == ASSAY_STREAMING_ATTENTION_V ? 2 * heads - 1 + d : d;
    for (int64_t j = 0; j < count; j++) assay_put(in.data, in.dtype, j, assay_rng_normal(&probe->rng));
  }
  if (!assay_probe_run_one(probe, operands)) return;
  const assay_tensor v = assay_probe_in(probe, operands, ASSAY_STREAMING_ATTENTION_V);
  /* One head out of each of 256 bands, chosen after the call; then the last ones, which a wrapped index
   * misses.
   */
  for (int64_t band = 0; band < 256 + 3; band++) {
    const int64_t within = (int64_t)assay_rng_below(&probe->rng, (uint64_t)(2 * heads / 256));
    const int64_t head = band < 256 ? band * (2 * heads / 256) + within : 2 * heads - 1 - (band - 256);
    for (int64_t c = 0; c < d; c++) {
      const double want = assay_get(v.data, v.dtype, head + c);
      if (!assay_probe_expect(probe, operands, head * d + c, want, assay_rounding_error(v.dtype, want)))
        return;
    }
  }
}

/* Every element against the oracle, where a lazy output may pass: small shapes can have one result alone. */
static bool expect_each(assay_probe *probe, assay_case *operands, const int64_t *opt) {
  assay_tensor in[ASSAY_STREAMING_ATTENTION_INPUTS];
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) in[i] = assay_probe_in(probe, operands, i);
  const assay_tensor o = assay_probe_out(probe, operands, 0);
  int64_t count = 0;
  if (!assay_tensor_count(&o, &count)) return false;
  double *want = malloc(sizeof *want * (size_t)count);
  double *allowed = malloc(sizeof *allowed * (size_t)count);
  bool right = want != NULL && allowed != NULL;
  if (right) assay_attention_oracle(0, in, &o, opt, 0, o.shape[0], want, allowed);
  for (int64_t i = 0; right && i < count; i++) {
    right = assay_probe_expect(probe, operands, i, want[i], allowed[i]);
  }
  free(want);
  free(allowed);
  return right;
}

void assay_attention_random_shapes(assay_probe *probe) {
  for (int i = 0; i < 500; i++) {
    assay_rng *rng = &probe->rng;
    /* Lengths spread over the powers of two, so that small ones are as frequent as large ones. */
    const int64_t n = 1 + (int64_t)assay_rng_below(rng, UINT64_C(1) << assay_rng_below(rng, 10));
    const int64_t d = 1 + (int64_t)assay_rng_below(rng, UINT64_C(1) << assay_rng_below(rng, 9));
    assay_row row = {
        .dims = {n, d, 1 + (int64_t)assay_rng_below(rng, 3), 1 + (int64_t)assay_rng_below(rng, 2)},
        .fill = assay_attention_fill_sharp,
        .a = 0.5 + 3 * assay_rng_uniform(rng)};
    if (i % 3 == 0) row.dims[ASSAY_ATTENTION_HEADS] = row.dims[ASSAY_ATTENTION_BATCH] = 0;
    assay_plan plan = {.opt = {(int64_t)assay_rng_below(rng, 2), 32 * (int64_t)assay_rng_below(rng, 3)}};
    const assay_dtype dtype = assay_rng_below(rng, 2) == 0 ? ASSAY_FP16 : ASSAY_BF16;
    const int layout = (int)assay_rng_below(rng, ASSAY_ATTENTION_LAYOUTS);
    probe->subject->plan(&row, dtype, layout, &plan);
    assay_case *operands = assay_probe_make(probe, &plan);
    for (int k = 0; k < ASSAY_STREAMING_ATTENTION_INPUTS; k++) {
      if (!assay_probe_fill_with(probe, operands, k, row.fill, row.a, 0)) return;
    }
    if (!assay_probe_run_one(probe, operands)) return;
    if (!expect_each(probe, operands, plan.opt)) return;
    assay_probe_release(probe);
  }
}
