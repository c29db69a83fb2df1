/* SPDX-License-Identifier: MIT */
/*
 * Workshop 5: split softmax. Your file: fill it in where it says "Step".
 *
 *     the row in chunks, chunk k being columns k*chunk up to (k+1)*chunk, the last one possibly shorter
 *     stage 1   m[k] = the maximum of chunk k, s[k] = the sum of exp(x[c] - m[k]) over chunk k
 *     stage 2   m, s = all m[k], s[k] of the row merged
 *     stage 3   y[c] = exp(x[c] - m) / s
 *
 *     ./assay lesson split_softmax    the merge, the workspace, a worked example
 *     ./assay check split_softmax     is it right? Shows the first thing that is not
 *     ./assay hint split_softmax      when you are stuck
 *
 * The function is only called with valid arguments: you need not check pointers, shapes or types.
 */
#include "assay/workshop.h"

/* Makes the function visible to the judge, and lets the compiler check its signature. Leave it as it is. */
ASSAY_API assay_kernel split_softmax;

assay_status split_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                           assay_queue *queue) {
  /* The input: rows * columns elements, contiguous. Read it, never write it. */
  const assay_tensor x = in[ASSAY_SPLIT_SOFTMAX_X];
  const assay_dtype dtype = x.dtype;  /* ASSAY_FP32, ASSAY_FP16 or ASSAY_BF16; the type of y as well */
  const int64_t rows = x.shape[0];    /* 0 or more */
  const int64_t columns = x.shape[1]; /* 1 to 131072 */

  /* The output: as x. Write every element. */
  const assay_tensor y = out[ASSAY_SPLIT_SOFTMAX_Y];

  /* Elements of a chunk: 256, 1024 or 4096; 0 leaves the choice to you, but 4096 at least, since the caller's
   * workspace is sized for that. */
  const int64_t chunk = opt[ASSAY_SPLIT_SOFTMAX_CHUNK];

  /* The caller's workspace: at least 2 * rows * chunks + 2 * rows floats, contents undefined. NULL when the
   * caller has none: then take as much with assay_queue_scratch(queue, bytes), which is NULL when there is no
   * memory (return ASSAY_NO_MEMORY). */
  float *workspace = out[ASSAY_SPLIT_SOFTMAX_WORKSPACE].data;

  /*
   * What else you can call (all in include/assay/workshop.h):
   *   float v = assay_load(x.data, dtype, i);      element i of x, as a float
   *   assay_store(y.data, dtype, i, v);            rounds v once and writes element i of y
   *   queue->threads                               how many threads you may use (one is fine)
   */

  /* Step 1. How many chunks has a row? How many elements has its last one, and why is it never empty? */

  /* Step 2. Stage 1: which two floats of the workspace belong to chunk k of row r? What is the state of a
   * chunk that holds nothing but -inf? */

  /* Step 3. Stage 2: how do the states of two chunks become one? What if both maxima are -inf? */

  /* Step 4. Stage 3: what is stored, and how often is it rounded on the way? */

  /* Step 5. With threads: what must be finished before stage 2 reads a state, and before stage 3 does? */

  /* Delete these lines as you use the names, and return ASSAY_OK when y is written. */
  (void)x, (void)y, (void)dtype, (void)rows, (void)columns, (void)chunk, (void)workspace, (void)queue;
  return ASSAY_TODO;
}
