/* SPDX-License-Identifier: MIT */
/*
 * Strided softmax on a GPU: your file.
 *
 * Write, for every row r and column c,
 *
 *     y[r,c] = exp(x[r,c] - m[r]) / s[r]       m[r] = the maximum of row r of x
 *                                              s[r] = the sum of exp(x[r,c] - m[r]) over c
 *
 *     ./assay lesson strided_softmax    the formula; its last part is about GPUs
 *     ./assay check strided_softmax     is it right? On a GPU, or emulated where there is none
 *     ./assay hint strided_softmax      when you are stuck
 *
 * The file has two halves: kernels, which run on the GPU, and the host function, which starts them. It is
 * written in the part of CUDA that is C as well as C++. Everything that a kernel may call stands in
 * include/assay/kernel.h.
 */
#include "assay/kernel.h"

/* What your kernel needs to know: one struct, passed by value. */
typedef struct softmax_args {
  const void *x;
  void *y;
  int64_t rows, columns;
  int64_t row_stride, column_stride; /* of x, in elements; y is contiguous */
} softmax_args;

#ifdef ASSAY_DEVICE

/*
 * In every thread: args (the struct), threadIdx.x, blockIdx.x, blockDim.x, gridDim.x. Compile-time: WARPS
 * (warps a block: 4 or 8) and `element`, the type of x and y. float v = element_load(x, i);      element i,
 * as a float element_store(y, i, v);            rounds v once
 *   __shared__ float part[WARPS];      memory that the threads of a block share
 *   __syncthreads();                   every thread of the block waits here for all others
 *   v = warp_max(v); v = warp_sum(v);  over the 32 threads of a warp; __shfl_xor_sync is what they are made
 * of
 */
KERNEL(softmax_row, softmax_args, 32 * WARPS) {
  /* Step 1. Which rows does this block own, when there may be more rows than blocks? */

  /* Step 2. Which columns does this thread read? Which addresses do the 32 threads of a warp read together?
   */

  /* Step 3. How does every thread learn the maximum of the whole row? Between which two accesses to shared
   * memory must a barrier stand? May a thread skip it? */

  /* Step 4. The sum: what may be overwritten, and when has everybody read it? */

  /* Step 5. The results. How often is a value rounded to the type of y? */

  (void)args; /* delete this line */
}

#else

/* Makes the function visible to the judge, and lets the compiler check its signature. Leave it as it is. */
ASSAY_API assay_kernel strided_softmax;

assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  const assay_tensor *x =
      &in[ASSAY_STRIDED_SOFTMAX_X]; /* its data is memory of the GPU: the host must not read it */
  const assay_tensor *y = &out[ASSAY_STRIDED_SOFTMAX_Y];
  const int64_t warps = opt[ASSAY_STRIDED_SOFTMAX_WARPS] != 0 ? opt[ASSAY_STRIDED_SOFTMAX_WARPS] : 4;
  const softmax_args args = {x->data, y->data, x->shape[0], x->shape[1], x->stride[0], x->stride[1]};

  /*
   * The host starts the kernel and returns without waiting for it:
   *
   *   const assay_define defines[] = {{"DTYPE", x->dtype}, {"WARPS", warps}, {NULL, 0}};
   *   return LAUNCH(queue, "softmax_row", assay_dim(blocks), assay_dim(32 * warps), 0, 1, defines, args);
   *
   * How many blocks? And what is to be done when there are no rows, since a grid of 0 blocks is an error?
   */
  (void)args, (void)warps, (void)queue;
  return ASSAY_TODO;
}

#endif
