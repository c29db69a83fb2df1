/* SPDX-License-Identifier: MIT */
/*
 * Softmax of rows on a GPU: your file.
 *
 * Write, for every row r and column c,
 *
 *     y[r,c] = exp(x[r,c] - m[r]) / s[r]       m[r] = the maximum of row r of x
 *                                              s[r] = the sum of exp(x[r,c] - m[r]) over c
 *
 * with one block for each row.
 *
 *     ./assay lesson cuda_softmax    two reductions in one kernel, and where barriers must stand
 *     ./assay check cuda_softmax     is it right? On a GPU, or emulated where there is none
 *     ./assay hint cuda_softmax      when you are stuck
 */
#include "assay/kernel.h"

/* Threads a block; another multiple of 32 up to 1024 is allowed. */
enum { THREADS = 128, WARPS = THREADS / 32 };

typedef struct softmax_args {
  const float *x;
  float *y;
  int64_t rows, columns; /* contiguous: element (r, c) has the index r * columns + c */
} softmax_args;

#ifdef ASSAY_DEVICE

/*
 *   __shared__ float part[WARPS];      memory that the threads of a block share
 *   __syncthreads();                   every thread of the block waits here for all others
 *   v = warp_max(v); v = warp_sum(v);  over the 32 threads of a warp, in each of them
 *   ASSAY_INFINITY, fmaxf, expf        as in C
 */
KERNEL(softmax_row, softmax_args, THREADS) {
  /* Step 1. Which row is this block's, and which columns are this thread's? There may be fewer columns than
   * threads, and far more. */

  /* Step 2. How does every thread learn the maximum of the whole row? With which value must it begin? */

  /* Step 3. The sum. May it use the shared array of the maximum? Who may still be reading there? */

  /* Step 4. The results. */

  (void)args; /* delete this line */
}

#else

/* Makes the function visible to the judge, and lets the compiler check its signature. Leave it as it is. */
ASSAY_API assay_kernel cuda_softmax;

assay_status cuda_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                          assay_queue *queue) {
  const softmax_args args = {in[0].data, out[0].data, in[0].shape[0], in[0].shape[1]};
  (void)opt;

  /*
   * Step 5. The launch, with a block for each row; there may be no row at all:
   *
   *   const assay_define defines[] = {{NULL, 0}};
   *   return LAUNCH(queue, "softmax_row", assay_dim(blocks), assay_dim(THREADS), 0, 1, defines, args);
   */
  (void)args, (void)queue; /* delete this line */
  return ASSAY_TODO;
}

#endif
