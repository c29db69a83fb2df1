/* SPDX-License-Identifier: MIT */
/*
 * Split softmax on a GPU: your file.
 *
 *     the row in chunks, chunk k being columns k*chunk up to (k+1)*chunk, the last one possibly shorter
 *     stage 1   m[k] = the maximum of chunk k, s[k] = the sum of exp(x[c] - m[k]) over chunk k
 *     stage 2   m, s = all m[k], s[k] of the row merged
 *     stage 3   y[c] = exp(x[c] - m) / s
 *
 *     ./assay lesson split_softmax    the merge, the workspace; a later part is about GPUs
 *     ./assay check split_softmax     is it right? On a GPU, or emulated where there is none
 *     ./assay hint split_softmax      when you are stuck
 *
 * The file has two halves: kernels, which run on the GPU, and the host function, which starts them. It is
 * written in the part of CUDA that is C as well as C++. Everything that a kernel may call stands in
 * include/assay/kernel.h.
 */
#include "assay/kernel.h"

/* Threads of a block in stages 1 and 3, and its warps. Another number is fine, up to 1024. */
enum { THREADS = 256, WARPS = THREADS / 32 };

/* What a softmax must know of the elements that it has seen: two floats of the workspace. */
typedef struct state {
  float maximum;
  float sum; /* of exp(x - maximum) */
} state;

/* What your kernels need to know: one struct, passed by value. x and y are contiguous. */
typedef struct split_args {
  const void *x;
  void *y;
  state *partial; /* one a piece: chunk k of row r is piece r * chunks + k */
  state *merged;  /* one a row */
  int64_t rows, columns, chunks;
} split_args;

#ifdef ASSAY_DEVICE

/*
 * In every thread: args (the struct), threadIdx.x, blockIdx.x, blockDim.x, gridDim.x. Compile-time: CHUNK
 * (elements of a chunk: 256, 1024 or 4096) and `element`, the type of x and y.
 *
 *   float v = element_load(x, i);      element i of an array of elements, as a float
 *   element_store(y, i, v);            rounds v once
 *   __shared__ state part[WARPS];      memory that the threads of a block share
 *   __syncthreads();                   every thread of the block waits here for all others
 *   v = warp_max(v); v = warp_sum(v);  over the 32 threads of a warp; made of __shfl_xor_sync
 */
KERNEL(split_partials, split_args, THREADS) {
  /* Step 1. Which pieces does this block own? Which elements of a piece does this thread own, and what takes
   * the place of those behind the end of the row? */

  /* Step 2. The state of the piece, out of what all threads have found. Which barrier stands between which
   * accesses? What is the state of nothing but -inf? */

  /* Step 3. Who writes args.partial[piece], and how often? */

  (void)args; /* delete this line */
}

KERNEL(split_merge, split_args, 32) {
  /* Step 4. A row's states become one. In which order, so that every run gives the same bits? */

  (void)args; /* delete this line */
}

KERNEL(split_normalise, split_args, THREADS) {
  /* Step 5. The results: from which state, and how often is a value rounded to the type of y? */

  (void)args; /* delete this line */
}

#else

/* Makes the function visible to the judge, and lets the compiler check its signature. Leave it as it is. */
ASSAY_API assay_kernel split_softmax;

assay_status split_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                           assay_queue *queue) {
  /* The data of both, and the workspace, are memory of the GPU: the host must not read or write them. */
  const assay_tensor *x = &in[ASSAY_SPLIT_SOFTMAX_X];
  const assay_tensor *y = &out[ASSAY_SPLIT_SOFTMAX_Y];
  const int64_t chunk = opt[ASSAY_SPLIT_SOFTMAX_CHUNK] != 0 ? opt[ASSAY_SPLIT_SOFTMAX_CHUNK] : 4096;

  /* The caller's workspace: 2 * rows * chunks + 2 * rows floats, contents undefined. NULL when the caller has
   * none: then take as much with assay_queue_scratch(queue, bytes), which is NULL when there is no memory
   * (return ASSAY_NO_MEMORY). */
  state *partial = (state *)out[ASSAY_SPLIT_SOFTMAX_WORKSPACE].data;

  /*
   * Step 6. The host starts three kernels, one behind the other, and returns without waiting for any:
   *
   *   const split_args args = {...};
   *   const assay_define defines[] = {{"DTYPE", x->dtype}, {"CHUNK", chunk}, {NULL, 0}};
   *   assay_status status =
   *       LAUNCH(queue, "split_partials", assay_dim(blocks), assay_dim(THREADS), 0, 1, defines, args);
   *
   * How many blocks has each? What orders the three? What is to be done when there are no rows, since a grid
   * of 0 blocks is an error?
   */
  (void)x, (void)y, (void)chunk, (void)partial, (void)queue;
  return ASSAY_TODO;
}

#endif
