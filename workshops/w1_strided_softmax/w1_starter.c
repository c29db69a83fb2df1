/* SPDX-License-Identifier: MIT */
/*
 * Strided softmax: your file.
 *
 * Write, for every row r and column c,
 *
 *     y[r,c] = exp(x[r,c] - m[r]) / s[r]       m[r] = the maximum of row r of x
 *                                              s[r] = the sum of exp(x[r,c] - m[r]) over c
 *
 *     ./assay lesson strided_softmax    the formula, the addresses, a worked example
 *     ./assay check strided_softmax     is it right? Shows the first thing that is not
 *     ./assay hint strided_softmax      when you are stuck
 *
 * The function is only called with valid arguments: you need not check pointers, shapes or types.
 */
#include "assay/workshop.h"

/* Makes the function visible to the judge, and lets the compiler check its signature. Leave it as it is. */
ASSAY_API assay_kernel strided_softmax;

assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  /* The input: a view of somebody else's memory. Read it, never write it. */
  const assay_tensor x = in[ASSAY_STRIDED_SOFTMAX_X];
  const assay_dtype dtype = x.dtype;         /* ASSAY_FP32, ASSAY_FP16 or ASSAY_BF16; the type of y as well */
  const int64_t rows = x.shape[0];           /* 0 or more */
  const int64_t columns = x.shape[1];        /* 1 to 8192 */
  const int64_t row_stride = x.stride[0];    /* elements from (r, c) to (r + 1, c); 0 or more */
  const int64_t column_stride = x.stride[1]; /* elements from (r, c) to (r, c + 1); 0 or more */

  /* The output: contiguous, rows * columns elements. Write every one of them. */
  const assay_tensor y = out[ASSAY_STRIDED_SOFTMAX_Y];

  /*
   * What you can call (all in include/assay/workshop.h):
   *   float v = assay_load(x.data, dtype, i);      element i of x, as a float
   *   assay_store(y.data, dtype, i, v);            rounds v once and writes element i of y
   *   float *row = assay_queue_scratch(queue, bytes);    memory for this call, NULL if there is none
   *   queue->threads                               how many threads you may use (one is fine)
   */

  /* Step 1. Which index has element (r, c) of x? And which has element (r, c) of y? */

  /* Step 2. What is the maximum of a row? With which value must the search begin, so that it is also right
   * when every element is negative, or -3e38, or -inf? */

  /* Step 3. What do you add up, in which type, and in how many partial sums? */

  /* Step 4. What is stored, and how often is it rounded on the way? */

  /* Step 5. What comes out of your steps for a row with a NaN, with +inf, with nothing but -inf? */

  /* Delete these lines as you use the names, and return ASSAY_OK when y is written. */
  (void)x, (void)y, (void)dtype, (void)rows, (void)columns, (void)row_stride, (void)column_stride;
  (void)opt, (void)queue;
  return ASSAY_TODO;
}
