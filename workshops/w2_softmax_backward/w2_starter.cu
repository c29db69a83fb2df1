/* SPDX-License-Identifier: MIT */
/*
 * Softmax backward on a GPU: your file.
 *
 * Write, for every row r and column c,
 *
 *     dx[r,c] = y[r,c] * (g[r,c] - dot[r])       dot[r] = the sum over k of y[r,k] * g[r,k]
 *
 *     ./assay lesson softmax_backward    the formula; a later part is about GPUs
 *     ./assay check softmax_backward     is it right? On a GPU, or emulated where there is none
 *     ./assay hint softmax_backward      when you are stuck
 *
 * The file has two halves: kernels, which run on the GPU, and the host function, which starts them. It is
 * written in the part of CUDA that is C as well as C++. Everything that a kernel may call stands in
 * include/assay/kernel.h.
 */
#include "assay/kernel.h"

/* What your kernel needs to know: one struct, passed by value. Strides are in elements; dx is contiguous. */
typedef struct backward_args {
  const void *y, *g;
  void *dx;
  int64_t rows, columns;
  int64_t y_row_stride, y_column_stride;
  int64_t g_row_stride, g_column_stride;
} backward_args;

#ifdef ASSAY_DEVICE

/*
 * In every thread: args (the struct), threadIdx.x, blockIdx.x, blockDim.x, gridDim.x. Compile-time: WARPS
 * (warps a block: 4 or 8) and `element`, the type of y, g and dx.
 *
 *   float v = element_load(y, i);      element i of an array of elements, as a float
 *   element_store(dx, i, v);           rounds v once
 *   __shared__ float part[WARPS];      memory that the threads of a block share
 *   __syncthreads();                   every thread of the block waits here for all others
 *   v = warp_sum(v);                   over the 32 threads of a warp; made of __shfl_xor_sync
 */
KERNEL(backward_row, backward_args, 32 * WARPS) {
  /* Step 1. Which rows does this block own, when there may be more rows than blocks? Where do the rows of y,
   * g and dx begin? */

  /* Step 2. Which columns does this thread take, and what does it add if there is none for it? */

  /* Step 3. How does every thread learn the sum of all threads? Which barrier stands between the writes to
   * shared memory and the reads? */

  /* Step 4. The results. In which order are the subtraction and the product, and how often is it rounded? */

  /* Step 5. The next row of the same block writes to the same shared memory. Who may still be reading? */

  (void)args; /* delete this line */
}

#else

/* Makes the function visible to the judge, and lets the compiler check its signature. Leave it as it is. */
ASSAY_API assay_kernel softmax_backward;

assay_status softmax_backward(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                              assay_queue *queue) {
  /* The data of all three is memory of the GPU: the host must not read it. */
  const assay_tensor *y = &in[ASSAY_SOFTMAX_BACKWARD_Y];
  const assay_tensor *g = &in[ASSAY_SOFTMAX_BACKWARD_G];
  const assay_tensor *dx = &out[ASSAY_SOFTMAX_BACKWARD_DX];
  const int64_t warps = opt[ASSAY_SOFTMAX_BACKWARD_WARPS] != 0 ? opt[ASSAY_SOFTMAX_BACKWARD_WARPS] : 4;
  const backward_args args = {.y = y->data,
                              .g = g->data,
                              .dx = dx->data,
                              .rows = dx->shape[0],
                              .columns = dx->shape[1],
                              .y_row_stride = y->stride[0],
                              .y_column_stride = y->stride[1],
                              .g_row_stride = g->stride[0],
                              .g_column_stride = g->stride[1]};

  /*
   * The host starts the kernel and returns without waiting for it:
   *
   *   const assay_define defines[] = {{"DTYPE", dx->dtype}, {"WARPS", warps}, {NULL, 0}};
   *   return LAUNCH(queue, "backward_row", assay_dim(blocks), assay_dim(32 * warps), 0, 1, defines, args);
   *
   * How many blocks? And what is to be done when there are no rows, since a grid of 0 blocks is an error?
   */
  (void)args, (void)warps, (void)queue;
  return ASSAY_TODO;
}

#endif
