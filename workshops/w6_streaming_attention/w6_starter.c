/* SPDX-License-Identifier: MIT */
/*
 * Streaming attention: your file.
 *
 * Write, for every row i of q,
 *
 *     o[i,:] = sum over j of p[i,j] * v[j,:] / sum over j of p[i,j]
 *     p[i,j] = exp(x[i,j] - m[i])      x[i,j] = (q[i,:] . k[j,:]) / sqrt(d)      m[i] = the largest x[i,j]
 *
 * where j runs over all keys, or over j <= i when `causal` is 1, without ever storing the n * n scores.
 *
 *     ./assay lesson streaming_attention    the two rescaled sums, the diagonal, a worked example
 *     ./assay check streaming_attention     is it right? Shows the first thing that is not
 *     ./assay hint streaming_attention      when you are stuck
 *
 * The function is only called with valid arguments: you need not check pointers, shapes or types.
 */
#include "assay/workshop.h"

/* Makes the function visible to the judge, and lets the compiler check its signature. Leave it as it is. */
ASSAY_API assay_kernel streaming_attention;

assay_status streaming_attention(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                 assay_queue *queue) {
  /* The inputs: n rows of d elements each, elements of a row adjacent. Read them, never write them. */
  const assay_tensor q = in[ASSAY_STREAMING_ATTENTION_Q];
  const assay_tensor k = in[ASSAY_STREAMING_ATTENTION_K];
  const assay_tensor v = in[ASSAY_STREAMING_ATTENTION_V];
  const assay_dtype dtype = q.dtype; /* ASSAY_FP16 or ASSAY_BF16; the type of all four */
  const int64_t n = q.shape[0];      /* 0 to 2048 */
  const int64_t d = q.shape[1];      /* 16, 32 or 64 */
  const int64_t q_step = q.stride[0], k_step = k.stride[0],
                v_step = v.stride[0]; /* from row to row; 0 or more */

  /* The output: n * d elements, contiguous. Write every one of them. */
  const assay_tensor o = out[ASSAY_STREAMING_ATTENTION_O];

  /* The knobs: 1 hides later keys; keys of a tile, 32 or 64, where 0 leaves the choice to you. */
  const int64_t causal = opt[ASSAY_STREAMING_ATTENTION_CAUSAL];
  const int64_t block_n = opt[ASSAY_STREAMING_ATTENTION_BLOCK_N];

  /*
   * What you can call (all in include/assay/workshop.h):
   *   float x = assay_load(q.data, dtype, i);      element i, as a float
   *   assay_store(o.data, dtype, i, x);            rounds x once and writes element i
   *   float *rows = assay_queue_scratch(queue, bytes);    memory for this call, NULL if there is none
   *   queue->threads                               how many threads you may use (one is fine)
   */

  /* Step 1. Which keys does row i see? Which tiles of keys need no look at all? */

  /* Step 2. What do you keep of a row between two tiles, and with which values does it begin? */

  /* Step 3. A tile brings a larger maximum. What becomes of the two sums that you have so far? */

  /* Step 4. What happens to a key that the row does not see, even when it or its value is NaN? */

  /* Step 5. When is the division? How often is a result rounded to 16 bits on its way? */

  /* Delete these lines as you use the names, and return ASSAY_OK when o is written. */
  (void)q, (void)k, (void)v, (void)o, (void)dtype, (void)n, (void)d, (void)q_step, (void)k_step, (void)v_step;
  (void)causal, (void)block_n, (void)queue;
  return ASSAY_TODO;
}
