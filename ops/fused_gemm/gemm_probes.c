/* SPDX-License-Identifier: MIT */
/* gemm_probes.c - checks of the fused GEMM that make several calls, or calls too large for the whole oracle.
 */
#include <stdlib.h>

#include "gemm_case.h"
#include "half.h"

void assay_gemm_stale_output(assay_probe *probe) {
  /* What c held must not come back, not even multiplied by 0, which NaN and infinity survive: robertknight/
   * rten#81, OpenMathLib/OpenBLAS#2534, ROCm/Tensile#102, triton-lang/triton#2183. */
  probe->special_poison = true;
  assay_case *operands = assay_probe_make_row(probe);
  for (int again = 0; again < 3; again++) { /* each call finds other contents */
    if (!assay_probe_run_one(probe, operands)) return;
    const int64_t count = probe->row->dims[0] * probe->row->dims[1];
    for (int64_t i = 0; i < count; i++) {
      if (!assay_probe_expect(probe, operands, i, 1, 0)) return;
    }
  }
}

void assay_gemm_repeatable(assay_probe *probe) {
  const assay_rng start = probe->rng;
  assay_case *first = assay_probe_make_row(probe);
  if (!assay_probe_run_one(probe, first)) return;
  if (!assay_probe_expect_oracle(probe, first, false)) return;
  probe->rng = start; /* the same contents at other addresses */
  assay_case *second = assay_probe_make_row(probe);
  for (int again = 0; again < 3; again++) {
    if (!assay_probe_run_one(probe, second) || !assay_probe_expect_same(probe, first, second)) return;
  }
}

void assay_gemm_fresh_contents(assay_probe *probe) {
  assay_case *operands = assay_probe_make_row(probe);
  /* The same addresses with new contents, one operand at a time. */
  for (int round = 0; round <= ASSAY_FUSED_GEMM_INPUTS; round++) {
    if (operands == NULL) return;
    if (round > 0 && !assay_probe_fill_with(probe, operands, round - 1, assay_gemm_fill_normal, 0, 0)) return;
    if (round == 3) { /* and a single element of the bias, which the rest of the column shows */
      const assay_tensor bias = assay_probe_in(probe, operands, ASSAY_FUSED_GEMM_BIAS);
      assay_put(bias.data, bias.dtype, bias.shape[0] - 1, 20);
    }
    if (!assay_probe_run_one(probe, operands)) return;
    if (!assay_probe_expect_oracle(probe, operands, false)) return;
  }
  /* Then another shape in the same process, and the first one again. */
  const int64_t *dims = probe->row->dims;
  assay_case *other = gemm_make(probe, probe->dtype, dims[0] / 2, dims[1] + 3, dims[2] + 5);
  if (!gemm_fill(probe, other, assay_gemm_fill_normal, 0, 0)) return;
  if (!assay_probe_run_one(probe, other) || !assay_probe_expect_oracle(probe, other, false)) return;
  if (assay_probe_run_one(probe, operands)) (void)assay_probe_expect_oracle(probe, operands, false);
}

void assay_gemm_two_threads(assay_probe *probe) {
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

void assay_gemm_thread_count(assay_probe *probe) {
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

void assay_gemm_knobs_same_bits(assay_probe *probe) {
  /* Knobs change the order of tiles: they are no reason for another sum. */
  const int64_t groups[] = {1, 4, 8};
  const int64_t tiles[] = {16, 32, 64};
  const assay_rng start = probe->rng;
  assay_case *first = NULL;
  for (int i = 0; i < 9; i++) {
    assay_plan plan = {0};
    plan.opt[ASSAY_FUSED_GEMM_GROUP] = groups[i / 3];
    plan.opt[ASSAY_FUSED_GEMM_TILE_M] = tiles[i % 3];
    probe->subject->plan(probe->row, probe->dtype, probe->layout, &plan);
    probe->rng = start;
    assay_case *operands = assay_probe_make(probe, &plan);
    if (!gemm_fill(probe, operands, probe->row->fill, probe->row->a, probe->row->b)) return;
    if (!assay_probe_run_one(probe, operands)) return;
    if (i == 0 && !assay_probe_expect_oracle(probe, operands, false)) return;
    if (i == 0) first = operands;
    if (!assay_probe_expect_same(probe, first, operands)) return;
  }
}

void assay_gemm_large_strides(assay_probe *probe) {
  const int64_t big = (INT64_C(1) << 31) + 8;
  const int64_t strides[][2] = {{big, 5}, {7, big}, {2 * big, big / 2}};
  for (size_t i = 0; i < sizeof strides / sizeof strides[0]; i++) {
    for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
      const assay_row row = {.dims = {3, 5, 7}};
      assay_plan plan = {0};
      probe->subject->plan(&row, (assay_dtype)dtype, ASSAY_GEMM_PACKED, &plan);
      plan.in[ASSAY_FUSED_GEMM_A].stride[0] = strides[i][0];
      plan.in[ASSAY_FUSED_GEMM_B].stride[0] = strides[i][1];
      assay_case *operands = assay_probe_make(probe, &plan);
      if (!gemm_fill(probe, operands, assay_gemm_fill_normal, 0, 0)) return;
      if (!assay_probe_run_one(probe, operands)) return;
      if (!assay_probe_expect_oracle(probe, operands, false)) return;
    }
  }
}

/* 1 to 2^(bits), small sizes as often as large ones. */
static int64_t random_size(assay_probe *probe, uint64_t bits) {
  return 1 + (int64_t)assay_rng_below(&probe->rng, UINT64_C(1) << assay_rng_below(&probe->rng, bits + 1));
}

void assay_gemm_random_shapes(assay_probe *probe) {
  const int64_t groups[] = {0, 1, 4, 8};
  const int64_t tiles[] = {0, 16, 32, 64};
  for (int i = 0; i < 500; i++) {
    const assay_row row = {.dims = {random_size(probe, 9), random_size(probe, 9), random_size(probe, 11)},
                           .shift = (int64_t)assay_rng_below(&probe->rng, 4)};
    const assay_dtype dtype = assay_rng_below(&probe->rng, 2) == 0 ? ASSAY_FP16 : ASSAY_BF16;
    assay_plan plan = {0};
    plan.opt[ASSAY_FUSED_GEMM_GROUP] = groups[assay_rng_below(&probe->rng, 4)];
    plan.opt[ASSAY_FUSED_GEMM_TILE_M] = tiles[assay_rng_below(&probe->rng, 4)];
    const int layout = (int)assay_rng_below(&probe->rng, ASSAY_GEMM_REPEATED_A); /* those that vary */
    probe->subject->plan(&row, dtype, layout, &plan);
    assay_case *operands = assay_probe_make(probe, &plan);
    if (!gemm_fill(probe, operands, assay_gemm_fill_normal, 0.5 + assay_rng_uniform(&probe->rng), 0)) return;
    if (!assay_probe_run_one(probe, operands)) return;
    if (!assay_probe_expect_oracle(probe, operands, row.dims[0] * row.dims[1] == 1)) return;
    assay_probe_release(probe);
  }
}

void assay_gemm_full_size(assay_probe *probe) {
  /* 2^31 + 2^15 elements of C from operands of one step: an index into C needs more than 32 bits. */
  const int64_t m = (INT64_C(1) << 16) + 1;
  const int64_t n = INT64_C(1) << 15;
  assay_case *operands = gemm_make(probe, ASSAY_FP16, m, n, 1);
  if (!gemm_fill(probe, operands, assay_gemm_fill_normal, 0, 0)) return;
  const assay_tensor a = assay_probe_in(probe, operands, ASSAY_FUSED_GEMM_A);
  for (int64_t i = 0; i < m; i++) assay_put(a.data, a.dtype, i, assay_rng_normal(&probe->rng));
  if (!assay_probe_run_one(probe, operands)) return;
  const assay_tensor in[ASSAY_FUSED_GEMM_INPUTS] = {a, assay_probe_in(probe, operands, 1),
                                                    assay_probe_in(probe, operands, 2)};
  const assay_tensor out = assay_probe_out(probe, operands, 0);
  double *want = malloc(2 * sizeof *want * (size_t)n);
  /* One row out of each of 64 bands, chosen after the call; then the last rows, which a wrapped index misses.
   */
  for (int64_t band = 0; want != NULL && band < 67; band++) {
    const int64_t chosen = band * (m / 64) + (int64_t)assay_rng_below(&probe->rng, (uint64_t)(m / 64));
    const int64_t row = band < 64 ? chosen : m - 1 - (band - 64);
    assay_gemm_oracle(0, in, &out, NULL, row, 1, want, want + n);
    for (int64_t j = 0; j < n; j++) {
      if (!assay_probe_expect(probe, operands, row * n + j, want[j], want[n + j])) {
        free(want);
        return;
      }
    }
  }
  free(want);
}
