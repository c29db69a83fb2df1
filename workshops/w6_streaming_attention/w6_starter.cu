/* SPDX-License-Identifier: MIT */
/*
 * Streaming attention on a GPU: your file.
 *
 * Write, for every row i of q,
 *
 *     o[i,:] = sum over j of p[i,j] * v[j,:] / sum over j of p[i,j]
 *     p[i,j] = exp(x[i,j] - m[i])      x[i,j] = (q[i,:] . k[j,:]) / sqrt(d)      m[i] = the largest x[i,j]
 *
 * where j runs over all keys, or over j <= i when `causal` is 1, without ever storing the n * n scores.
 *
 *     ./assay lesson streaming_attention    the two rescaled sums; its last part is about GPUs
 *     ./assay check streaming_attention     is it right? On a GPU, or emulated where there is none
 *     ./assay hint streaming_attention      when you are stuck
 *
 * The file has two halves: kernels, which run on the GPU, and the host function, which starts them. It is
 * written in the part of CUDA that is C as well as C++. Everything that a kernel may call stands in
 * include/assay/kernel.h.
 */
#include "assay/kernel.h"

enum { QUERIES = 64, THREADS = 128 }; /* of a block; both halves use them, and you may choose others */

/* What your kernel needs to know: one struct, passed by value. */
typedef struct attention_args {
  const void *q, *k, *v;
  void *o;                              /* n rows of COLUMNS elements, contiguous */
  int64_t n;                            /* 1 to 2048 */
  int64_t q_stride, k_stride, v_stride; /* from row to row, in elements; 0 or more */
  int64_t causal;
} attention_args;

#ifdef ASSAY_DEVICE

/*
 * In every thread: args (the struct), threadIdx.x, blockIdx.x, blockDim.x, gridDim.x. Compile-time: COLUMNS
 * (d: 16, 32 or 64), BLOCK_N (keys of a tile: 32 or 64) and `element`, the 16-bit type of q, k, v and o.
 *
 *   float x = element_load(data, i);      element i, as a float
 *   element_store(data, i, x);            rounds x once
 *   __shared__ float tile[BLOCK_N][COLUMNS];    memory that the threads of a block share, 48 KiB at most
 *   __syncthreads();                      every thread of the block waits here for all others
 *   any = __syncthreads_or(mine);         the same, and tells all of them whether somebody said 1
 *   x = warp_max(x); x = warp_sum(x);     over the 32 threads of a warp
 *   x = __shfl_sync(0xffffffffu, x, lane);      the x of another thread of the warp
 *   mma_m16n8k16(sums, a, b);             16 x 8 sums += a 16 x 16 matrix times a 16 x 8 one, by a warp
 */
KERNEL(attend, attention_args, THREADS) {
  /* Step 1. Which queries does this block own, and which of them this warp, or this thread? What does it keep
   * of each between two tiles, and where: in registers, or in shared memory? */

  /* Step 2. Which tiles does the block visit when causal is 1? Do all of its threads make the same rounds? */

  /* Step 3. A tile of k and v comes into shared memory. Which rows are not there to be read? Between which
   * two accesses must a barrier stand: behind the copying, and where else? */

  /* Step 4. The scores. Which of them does this thread compute, and which threads share a row's maximum? What
   * becomes of a score that is hidden, even if it is NaN? */

  /* Step 5. Both sums move to the new maximum. What is added in FP32, and what may be rounded to 16 bits? */

  /* Step 6. What if v holds NaN in a row that this query does not see, but its neighbour in the tile does? */

  /* Step 7. The division and the results. Which threads have no row to write? */

  (void)args; /* delete this line */
}

#else

/* Makes the function visible to the judge, and lets the compiler check its signature. Leave it as it is. */
ASSAY_API assay_kernel streaming_attention;

assay_status streaming_attention(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                 assay_queue *queue) {
  /* Their data is memory of the GPU: the host must not read it. */
  const assay_tensor *q = &in[ASSAY_STREAMING_ATTENTION_Q];
  const assay_tensor *k = &in[ASSAY_STREAMING_ATTENTION_K];
  const assay_tensor *v = &in[ASSAY_STREAMING_ATTENTION_V];
  const assay_tensor *o = &out[ASSAY_STREAMING_ATTENTION_O];
  const int64_t causal = opt[ASSAY_STREAMING_ATTENTION_CAUSAL];
  const int64_t block_n =
      opt[ASSAY_STREAMING_ATTENTION_BLOCK_N] != 0 ? opt[ASSAY_STREAMING_ATTENTION_BLOCK_N] : 64;
  const int64_t n = q->shape[0];
  const attention_args args = {q->data,      k->data,      v->data,      o->data, n,
                               q->stride[0], k->stride[0], v->stride[0], causal};

  /*
   * The host starts the kernel and returns without waiting for it:
   *
   *   const assay_define defines[] = {
   *       {"DTYPE", q->dtype}, {"COLUMNS", q->shape[1]}, {"BLOCK_N", block_n}, {NULL, 0}};
   *   return LAUNCH(queue, "attend", assay_dim(blocks), assay_dim(THREADS), 0, 1, defines, args);
   *
   * How many blocks? And what is to be done when there are no queries, since a grid of 0 blocks is an error?
   */
  (void)args, (void)block_n, (void)queue;
  return ASSAY_TODO;
}

#endif
