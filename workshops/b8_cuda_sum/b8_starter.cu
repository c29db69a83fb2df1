/* SPDX-License-Identifier: MIT */
/*
 * The sum of an array on a GPU: your file.
 *
 * Write
 *
 *     y[0] = x[0] + x[1] + ... + x[count - 1]
 *
 * with many threads in many blocks. y holds something else before; an empty sum is 0.
 *
 *     ./assay lesson cuda_sum    warps, shared memory, barriers, and how blocks are joined
 *     ./assay check cuda_sum     is it right? On a GPU, or emulated where there is none
 *     ./assay hint cuda_sum      when you are stuck
 */
#include "assay/kernel.h"

/* Threads a block, and the most blocks that you need. Other numbers are allowed. */
enum { THREADS = 256, MOST_BLOCKS = 64 };

typedef struct sum_args {
  const float *x;
  int64_t count;
  float *sums; /* one for each block */
} sum_args;

#ifdef ASSAY_DEVICE

/*
 *   __shared__ float part[8];      memory that the threads of a block share
 *   __syncthreads();               every thread of the block waits here for all others
 *   v = warp_sum(v);               the sum over the 32 threads of a warp, in each of them
 *   atomicAdd(&args.sums[0], v);   adds to one place, whoever else does it at the same time
 */
KERNEL(sum, sum_args, THREADS) {
  /* Step 1. Which elements does this thread add up, when there are more elements than threads in the grid?
   * What does a thread hold that has none? */

  /* Step 2. How do the threads of a warp join their sums? All of them must take part. */

  /* Step 3. How do the warps of a block join theirs? Between which two accesses must a barrier stand? */

  /* Step 4. Which thread writes the block's sum, and where? */

  (void)args; /* delete this line */
}

#else

/* Makes the function visible to the judge, and lets the compiler check its signature. Leave it as it is. */
ASSAY_API assay_kernel cuda_sum;

assay_status cuda_sum(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                      assay_queue *queue) {
  const float *x = in[0].data;
  float *y = out[0].data;
  const int64_t count = in[0].shape[0]; /* 0 or more */
  (void)opt;

  /*
   * Step 5. How do the blocks join their sums? No block may wait for another, but launches on one queue run
   * one after the other:
   *
   *   float *sums = assay_queue_scratch(queue, bytes);    the GPU's memory for this call, NULL if there is none
   *   const sum_args args = {x, count, sums};
   *   const assay_define defines[] = {{NULL, 0}};
   *   assay_status status = LAUNCH(queue, "sum", assay_dim(blocks), assay_dim(THREADS), 0, 1, defines, args);
   *
   * What has to be written when there is no element?
   */
  (void)x, (void)y, (void)count, (void)queue; /* delete this line */
  return ASSAY_TODO;
}

#endif
