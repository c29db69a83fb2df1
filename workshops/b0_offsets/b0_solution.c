/* SPDX-License-Identifier: MIT */
/*
 * b0_solution.c - blocks, offsets and masks: the reference solution, written to be read.
 *
 * The two loops stand for what a GPU does at the same time: the outer one for the blocks, the inner one for
 * the lanes of a block. No block knows what another one does.
 */
#include "assay/workshop.h"

ASSAY_API assay_kernel offsets;

assay_status offsets(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                     assay_queue *queue) {
  const float *x = in[0].data;
  const float *scale = in[1].data;
  float *y = out[0].data;
  const int64_t count = in[0].shape[0];
  const int64_t block = opt[0];
  (void)queue;

  /* Rounded up: an incomplete block is a block too. With count 0 this is (block - 1) / block, which is 0. */
  const int64_t blocks = (count + block - 1) / block;
  for (int64_t b = 0; b < blocks; b++) {
    const float factor = scale[b];
    for (int64_t lane = 0; lane < block; lane++) {
      const int64_t offset = b * block + lane;
      /* The mask guards the read and the write alike: behind the end nothing is ours. */
      if (offset < count) y[offset] = x[offset] * factor;
    }
  }
  return ASSAY_OK;
}
