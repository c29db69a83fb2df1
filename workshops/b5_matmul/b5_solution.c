/* SPDX-License-Identifier: MIT */
/*
 * b5_solution.c - matrix product by tiles: the reference solution, written to be read.
 *
 * The two outer loops stand for owners that work at the same time: each writes its own tile of c and no
 * other.
 */
#include "assay/workshop.h"

ASSAY_API assay_kernel matmul;

static int64_t smaller(int64_t left, int64_t right) {
  return left < right ? left : right;
}

assay_status matmul(const assay_tensor *in, const assay_tensor *out, const int64_t *opt, assay_queue *queue) {
  const float *a = in[0].data;
  const float *b = in[1].data;
  const float *scale = in[2].data;
  float *c = out[0].data;
  const int64_t scale_columns = in[2].shape[1];
  const int64_t rows = in[0].shape[0];
  const int64_t depth = in[0].shape[1];
  const int64_t columns = in[1].shape[1];
  const int64_t tile = opt[0];
  (void)queue;

  for (int64_t m0 = 0; m0 < rows; m0 += tile) {
    for (int64_t n0 = 0; n0 < columns; n0 += tile) {
      const int64_t m1 = smaller(m0 + tile, rows);
      const int64_t n1 = smaller(n0 + tile, columns);
      for (int64_t m = m0; m < m1; m++) {
        for (int64_t n = n0; n < n1; n++) {
          float total = 0;
          for (int64_t k0 = 0; k0 < depth; k0 += tile) {
            const int64_t k1 = smaller(k0 + tile, depth);
            float step = 0; /* of one tile of b, to which one scale belongs */
            for (int64_t k = k0; k < k1; k++) step += a[m * depth + k] * b[k * columns + n];
            total += step * scale[k0 / tile * scale_columns + n0 / tile];
          }
          c[m * columns + n] = total;
        }
      }
    }
  }
  return ASSAY_OK;
}
