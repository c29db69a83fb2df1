/* SPDX-License-Identifier: MIT */
/*
 * Softmax backward: your file.
 *
 * Write, for every row r and column c,
 *
 *     dx[r,c] = y[r,c] * (g[r,c] - dot[r])       dot[r] = the sum over k of y[r,k] * g[r,k]
 *
 *     ./assay lesson softmax_backward    where the formula comes from, a worked example
 *     ./assay check softmax_backward     is it right? Shows the first thing that is not
 *     ./assay hint softmax_backward      when you are stuck
 *
 * The function is only called with valid arguments: you need not check pointers, shapes or types.
 */
#include "assay/workshop.h"

/* Makes the function visible to the judge, and lets the compiler check its signature. Leave it as it is. */
ASSAY_API assay_kernel softmax_backward;

assay_status softmax_backward(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                              assay_queue *queue) {
  /* The inputs: two views of somebody else's memory, of one type and shape. Read them, never write them. */
  const assay_tensor y = in[ASSAY_SOFTMAX_BACKWARD_Y]; /* what the softmax gave, perhaps rounded since */
  const assay_tensor g = in[ASSAY_SOFTMAX_BACKWARD_G]; /* the gradient with respect to y */
  const assay_dtype dtype = y.dtype;                   /* ASSAY_FP32, ASSAY_FP16 or ASSAY_BF16; of dx too */
  const int64_t rows = y.shape[0];                     /* 0 or more */
  const int64_t columns = y.shape[1];                  /* 1 to 8192 */

  /* Each has strides of its own: elements from (r, c) to (r + 1, c), and to (r, c + 1); 0 or more. */
  const int64_t y_row = y.stride[0], y_column = y.stride[1];
  const int64_t g_row = g.stride[0], g_column = g.stride[1];

  /* The output: contiguous, rows * columns elements. Write every one of them. */
  const assay_tensor dx = out[ASSAY_SOFTMAX_BACKWARD_DX];

  /*
   * What you can call (all in include/assay/workshop.h):
   *   float v = assay_load(y.data, dtype, i);      element i of y, as a float
   *   assay_store(dx.data, dtype, i, v);           rounds v once and writes element i of dx
   *   float *row = assay_queue_scratch(queue, bytes);    memory for this call, NULL if there is none
   *   queue->threads                               how many threads you may use (one is fine)
   */

  /* Step 1. Which index has element (r, c) of y? Of g? Of dx? */

  /* Step 2. How is the sum of the products built: in which type, and in how many partial sums? */

  /* Step 3. What must be known before the first element of a row can be written? */

  /* Step 4. In which order are the subtraction and the product, and how often is the result rounded? */

  /* Step 5. What comes out of your steps for a row with a NaN in y, a NaN in g, an infinity in g? */

  /* Delete these lines as you use the names, and return ASSAY_OK when dx is written. */
  (void)y, (void)g, (void)dx, (void)dtype, (void)rows, (void)columns;
  (void)y_row, (void)y_column, (void)g_row, (void)g_column, (void)opt, (void)queue;
  return ASSAY_TODO;
}
