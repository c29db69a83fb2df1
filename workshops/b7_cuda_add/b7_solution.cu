/* SPDX-License-Identifier: MIT */
/*
 * b7_solution.cu - the sum of two arrays on a GPU: the reference solution, written to be read.
 *
 * A thread adds one pair. It finds out which one from the number of its block and its number in the block.
 */
#include "assay/kernel.h"

typedef struct add_args {
  const float *a;
  const float *b;
  float *y;
  int64_t count;
} add_args;

#ifdef ASSAY_DEVICE

/* builds: add */
KERNEL(add, add_args, 1024) {
  /* In 64 bits from the beginning: a product of two 32-bit numbers would be cut off before it is widened. */
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  /* The mask: the last block may have more threads than there are elements left. */
  if (i < args.count) args.y[i] = args.a[i] + args.b[i];
}

#else

ASSAY_API assay_kernel cuda_add;

assay_status cuda_add(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                      assay_queue *queue) {
  const add_args args = {in[0].data, in[1].data, out[0].data, in[0].shape[0]};
  const int64_t threads = opt[0] != 0 ? opt[0] : 256;

  /* As many blocks as are needed, an incomplete one included. Without elements there is nothing to start: a
   * grid of no blocks is an error. */
  const int64_t blocks = (args.count + threads - 1) / threads;
  if (blocks == 0) return ASSAY_OK;

  const assay_define defines[] = {{NULL, 0}};
  return LAUNCH(queue, "add", assay_dim(blocks), assay_dim(threads), 0, 1, defines, args);
}

#endif
