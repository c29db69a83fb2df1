/* SPDX-License-Identifier: MIT */
/*
 * emulator_matrix.c - ldmatrix and mma, in the layouts that the PTX manual draws.
 *
 * A row of a matrix for ldmatrix is 8 elements of 16 bits, 16 bytes. In mma, lane 4g+t holds of A (16 x 16)
 * the pairs of columns 2t and 2t+8 of rows g and g+8, of B (16 x 8) the pairs of rows 2t and 2t+8 of column
 * g, and of the accumulator columns 2t and 2t+1 of rows g and g+8.
 *
 * How hardware orders and rounds the sum of an mma is not documented. Here the 16 products, each exact, and
 * the accumulator are added in FP64 and rounded once to FP32, which is at least as exact as any GPU.
 */
#include "emulator_machine.h"

#include <string.h>

#include "half.h"

enum { ROWS = 16, COLUMNS = 8, DEPTH = 16 };

static bool is_transposed(int32_t operation) {
  return operation == ASSAY_WARP_LDMATRIX_X2_TRANS || operation == ASSAY_WARP_LDMATRIX_X4_TRANS;
}

static void load_matrices(emulated_lane *const *lanes, int32_t operation) {
  const bool two = operation == ASSAY_WARP_LDMATRIX_X2 || operation == ASSAY_WARP_LDMATRIX_X2_TRANS;
  const uint32_t matrices = two ? 2 : 4;
  uint16_t elements[4][8][8];
  for (uint32_t i = 0; i < matrices * 8; i++) {
    emulated_lane *lane = lanes[i];
    const void *row = lane->request->a;
    if ((uintptr_t)row % 16 != 0) {
      assay_emulator_fail_address(lane, lane->line,
                                  "misaligned address: %s reads a row at %p, which is no multiple of 16",
                                  assay_emulator_operation_name(operation), row);
    }
    if (!assay_emulator_is_shared(lane, row, 16)) {
      assay_emulator_fail_address(lane, lane->line,
                                  "%s reads a row at %p, which is not in this block's shared memory",
                                  assay_emulator_operation_name(operation), row);
    }
    memcpy(elements[i / 8][i % 8], row, 16);
  }
  for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++) {
    uint32_t *to = lanes[i]->request->to;
    const uint32_t across = i / 4;
    const uint32_t pair = i % 4 * 2;
    for (uint32_t m = 0; m < matrices; m++) {
      const uint16_t low = is_transposed(operation) ? elements[m][pair][across] : elements[m][across][pair];
      const uint16_t high =
          is_transposed(operation) ? elements[m][pair + 1][across] : elements[m][across][pair + 1];
      to[m] = (uint32_t)low | (uint32_t)high << 16;
    }
  }
}

static double widen(uint32_t pair, uint32_t half, int32_t operation) {
  const uint16_t bits = (uint16_t)(pair >> (half * 16));
  return operation == ASSAY_WARP_MMA_FP16 ? assay_fp16_to_float(bits) : assay_bf16_to_float(bits);
}

static void multiply(emulated_lane *const *lanes, int32_t operation) {
  double a[ROWS][DEPTH];
  double b[DEPTH][COLUMNS];
  for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++) {
    const uint32_t *of_a = lanes[i]->request->a;
    const uint32_t *of_b = lanes[i]->request->b;
    const uint32_t group = i / 4;
    const uint32_t pair = i % 4 * 2;
    for (uint32_t k = 0; k < 4; k++) {
      for (uint32_t half = 0; half < 2; half++)
        a[group + k % 2 * 8][pair + k / 2 * 8 + half] = widen(of_a[k], half, operation);
    }
    for (uint32_t k = 0; k < 2; k++) {
      for (uint32_t half = 0; half < 2; half++)
        b[pair + k * 8 + half][group] = widen(of_b[k], half, operation);
    }
  }
  for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++) {
    float *d = lanes[i]->request->to;
    for (uint32_t k = 0; k < 4; k++) {
      const uint32_t row = i / 4 + k / 2 * 8;
      const uint32_t column = i % 4 * 2 + k % 2;
      double sum = d[k];
      for (uint32_t p = 0; p < DEPTH; p++) sum += a[row][p] * b[p][column];
      d[k] = (float)sum;
    }
  }
}

void assay_emulator_matrix(emulated_lane *const *lanes, int32_t operation) {
  if (operation == ASSAY_WARP_MMA_FP16 || operation == ASSAY_WARP_MMA_BF16) {
    multiply(lanes, operation);
  } else {
    load_matrices(lanes, operation);
  }
}
