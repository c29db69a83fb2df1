/* SPDX-License-Identifier: MIT */
/*
 * gemm_exact.c - checks of the fused GEMM on small numbers that every right kernel computes exactly: each sum
 * is one that FP32 holds, so one wrong bit is a mistake and no matter of tolerance.
 */
#include <math.h>
#include <stdlib.h>

#include "gemm_case.h"
#include "half.h"

void assay_gemm_worked_example(assay_probe *probe) {
  /* The example of the lesson: no two of m, n and k are the same, and no operand is symmetric. */
  const double a[] = {1, 2, -1, 0, 0, -3, 2, 1};
  const double b[] = {2, 0, 1, 1, -1, 4, 3, 4, 0, 5, 2, -6};
  const double bias[] = {1, -2, 0.5};
  const double want[] = {2, 0, 9.5, 9, 11, 0};
  for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
    assay_case *operands = gemm_make(probe, (assay_dtype)dtype, 2, 3, 4);
    if (!gemm_expect_table(probe, operands, a, b, bias, want, 6)) return;
  }
}

void assay_gemm_depth_zero(assay_probe *probe) {
  /* With k = 0 the sum is empty, not the result: pytorch/pytorch#33467, pytorch/pytorch#31421,
   * microsoft/onnxruntime#21483, apache/tvm#19578, ml-explore/mlx#2698, triton-lang/triton#7808. The matrices
   * have no elements: once they are no memory at all, once memory of no bytes. */
  const double bias[] = {-1, 0, 2.5};
  const double want[] = {0, 0, 2.5, 0, 0, 2.5};
  for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
    for (int absent = 0; absent < 2; absent++) {
      const int64_t sizes[][2] = {{2, 3}, {130, 131}};
      for (int i = 0; i < 2; i++) {
        const assay_row row = {.dims = {sizes[i][0], sizes[i][1], 0}};
        assay_plan plan = {0};
        probe->subject->plan(&row, (assay_dtype)dtype, ASSAY_GEMM_PACKED, &plan);
        plan.in[ASSAY_FUSED_GEMM_A].absent = plan.in[ASSAY_FUSED_GEMM_B].absent = absent == 1;
        assay_case *operands = assay_probe_make(probe, &plan);
        if (i == 0) {
          if (!gemm_expect_table(probe, operands, bias, bias, bias, want, 6)) return;
          continue;
        }
        if (!assay_probe_fill_with(probe, operands, ASSAY_FUSED_GEMM_BIAS, assay_gemm_fill_normal, 0, 0))
          return;
        if (!assay_probe_run_one(probe, operands)) return;
        if (!assay_probe_expect_oracle(probe, operands, false)) return;
      }
      assay_probe_release(probe);
    }
  }
}

void assay_gemm_empty_output(assay_probe *probe) {
  /* Nothing to write, whatever else there is; the same threads as above. Behind c are guards. */
  const int64_t sizes[][3] = {{0, 3, 4}, {2, 0, 4}, {0, 0, 0}, {0, 257, 0}, {300, 0, 1}};
  for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
      const assay_row row = {.dims = {sizes[i][0], sizes[i][1], sizes[i][2]}};
      assay_plan plan = {0};
      probe->subject->plan(&row, (assay_dtype)dtype, ASSAY_GEMM_PACKED, &plan);
      plan.in[ASSAY_FUSED_GEMM_BIAS].absent = sizes[i][1] == 0;
      assay_case *operands = assay_probe_make(probe, &plan);
      if (!gemm_fill(probe, operands, assay_gemm_fill_normal, 0, 0)) return;
      if (!assay_probe_run_one(probe, operands)) return;
      if (!assay_probe_expect_oracle(probe, operands, true)) return;
      assay_probe_release(probe);
    }
  }
}

void assay_gemm_sixteen_bit_sum(assay_probe *probe) {
  /* Beside `big` the type has no odd numbers: a 16-bit sum, or a second rounding, loses both ones. */
  for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
    const double big = dtype == ASSAY_FP16 ? 2048 : 256;
    const double a[] = {big, 1, 1, 1, big, 1, 1, 1, big};
    const double b[] = {1, 0, -1, 1, 0, -1, 1, 0, -1};
    const double bias[] = {0, 1, 0};
    const double want[] = {big + 2, 1, 0, big + 2, 1, 0, big + 2, 1, 0};
    assay_case *operands = gemm_make(probe, (assay_dtype)dtype, 3, 3, 3);
    if (!gemm_expect_table(probe, operands, a, b, bias, want, 9)) return;
  }
}

void assay_gemm_rounded_before_bias(assay_probe *probe) {
  /* The sum is big + 1, which the type does not hold; with its bias of 1 or -1 it is a number that it holds.
   */
  for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
    const double big = dtype == ASSAY_FP16 ? 2048 : 256;
    const double a[] = {big, 1};
    const double b[] = {1, 1, 1, 1, 1, 1};
    const double bias[] = {1, -1, -big};
    const double want[] = {big + 2, big, 1};
    assay_case *operands = gemm_make(probe, (assay_dtype)dtype, 1, 3, 2);
    if (!gemm_expect_table(probe, operands, a, b, bias, want, 3)) return;
  }
}

void assay_gemm_bias_before_relu(assay_probe *probe) {
  const double a[] = {3, -3};
  const double b[] = {1, 1, 1, 1};
  const double bias[] = {5, -2, 2, -5};
  const double want[] = {8, 1, 5, 0, 2, 0, 0, 0}; /* 3 and -3, plus each bias, then relu */
  for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
    assay_case *operands = gemm_make(probe, (assay_dtype)dtype, 2, 4, 1);
    if (!gemm_expect_table(probe, operands, a, b, bias, want, 8)) return;
  }
}

void assay_gemm_ties_to_even(assay_probe *probe) {
  /* Halfway between two numbers of the type: once the lower one is even, once the upper one. */
  for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
    const double big = dtype == ASSAY_FP16 ? 2048 : 256;
    const double a[] = {big, 1};
    const double b[] = {1, 1, 1, 1, 1, 3, 0, 5};
    const double bias[] = {0, 0, 0, 0};
    const double want[] = {big, big + 4, big, big + 4}; /* big + 1, + 3, + 0, + 5 */
    assay_case *operands = gemm_make(probe, (assay_dtype)dtype, 1, 4, 2);
    if (!gemm_expect_table(probe, operands, a, b, bias, want, 4)) return;
  }
}

/* Rows of a table whose sums FP32 holds exactly: what is left is the one rounding, and no error is allowed,
 * where the bound for such long sums of such large numbers would let even zeros pass. */
void assay_gemm_exact_rows(assay_probe *probe) {
  assay_case *operands = assay_probe_make_row(probe);
  if (!assay_probe_run_one(probe, operands)) return;
  const assay_tensor in[ASSAY_FUSED_GEMM_INPUTS] = {assay_probe_in(probe, operands, 0),
                                                    assay_probe_in(probe, operands, 1),
                                                    assay_probe_in(probe, operands, 2)};
  const assay_tensor out = assay_probe_out(probe, operands, 0);
  const int64_t count = out.shape[0] * out.shape[1];
  double *want = malloc(2 * sizeof *want * (size_t)count);
  if (want == NULL) return;
  assay_gemm_oracle(0, in, &out, NULL, 0, out.shape[0], want, want + count);
  for (int64_t i = 0; i < count; i++) {
    if (!assay_probe_expect(probe, operands, i, assay_round_to(probe->dtype, want[i]), 0)) break;
  }
  free(want);
}

/* 13 x 5 x 7 with each operand moved off its alignment by its own number of elements. */
static bool shifted_case(assay_probe *probe, assay_dtype dtype, int shifts) {
  const assay_row row = {.dims = {13, 5, 7}};
  assay_plan plan = {0};
  double a[13 * 7], b[7 * 5], bias[5], want[13 * 5];
  for (int i = 0; i < 13 * 7; i++) a[i] = i % 5 - 2;
  for (int i = 0; i < 7 * 5; i++) b[i] = i * 3 % 7 - 3;
  for (int j = 0; j < 5; j++) bias[j] = 2 * j - 3;
  for (int i = 0; i < 13 * 5; i++) {
    double sum = bias[i % 5];
    for (int p = 0; p < 7; p++) sum += a[i / 5 * 7 + p] * b[p * 5 + i % 5];
    want[i] = fmax(sum, 0);
  }
  probe->subject->plan(&row, dtype, ASSAY_GEMM_PACKED, &plan);
  for (int i = 0; i < ASSAY_FUSED_GEMM_INPUTS; i++) plan.in[i].shift = shifts >> (2 * i) & 3;
  plan.out[0].shift = shifts >> 6 & 3;
  assay_case *operands = assay_probe_make(probe, &plan);
  const bool right = gemm_expect_table(probe, operands, a, b, bias, want, 13 * 5);
  assay_probe_release(probe);
  return right;
}

void assay_gemm_two_byte_rows(assay_probe *probe) {
  /* Rows of odd length start at addresses that are aligned to 2 bytes and no more: NVIDIA/cutlass#49. First
   * its sizes; then every combination of 0 to 3 elements off for each operand, with the same bits each time.
   */
  double a[6], b[12];
  for (int i = 0; i < 6; i++) a[i] = i;
  for (int i = 0; i < 12; i++) b[i] = i;
  const double bias[] = {-40, -40, -40, -40};
  const double want[] = {0, 0, 0, 0, 16, 28, 40, 52};
  for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
    assay_case *operands = gemm_make(probe, (assay_dtype)dtype, 2, 4, 3);
    if (!gemm_expect_table(probe, operands, a, b, bias, want, 8)) return;
    for (int shifts = 0; shifts < 256; shifts++) {
      if (!shifted_case(probe, (assay_dtype)dtype, shifts)) return;
    }
  }
}

void assay_gemm_fp16_overflow(assay_probe *probe) {
  /* 65504 is the largest number; from 65520 on the nearest one is infinity, and 65512 is still nearer to it.
   */
  const double a[] = {2047, 1};
  const double b[] = {32, 32, 32, -64, 16, 8, 0, 0};
  const double bias[] = {0, 0, 0, 0};
  const double want[] = {INFINITY, 65504, 65504, 0};
  assay_case *operands = gemm_make(probe, ASSAY_FP16, 1, 4, 2);
  if (!gemm_expect_table(probe, operands, a, b, bias, want, 4)) return;
  /* In BF16 the sum itself leaves FP32: 2^100 * 2^28 = 2^128. */
  const double wide_a[] = {0x1p100};
  const double wide_b[] = {0x1p28, 0x1p27, -0x1p28, 0x1p-100};
  const double wide_want[] = {INFINITY, 0x1p127, 0, 1};
  operands = gemm_make(probe, ASSAY_BF16, 1, 4, 1);
  (void)gemm_expect_table(probe, operands, wide_a, wide_b, bias, wide_want, 4);
}

void assay_gemm_passing_overflow(assay_probe *probe) {
  /* Sums that leave FP16 on the way and come back are no overflow. */
  const double a[] = {32768, 1, 32768, 1, -32768, 1, -32768, 1};
  double b[8 * 3];
  for (int i = 0; i < 8 * 3; i++) b[i] = i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : -1;
  const double bias[] = {1, 2, 5};
  const double want[] = {5, 10, 1};
  assay_case *operands = gemm_make(probe, ASSAY_FP16, 1, 3, 8);
  (void)gemm_expect_table(probe, operands, a, b, bias, want, 3);
}
