/* SPDX-License-Identifier: MIT */
/*
 * Strides: your file.
 *
 * x and bias are views: each has its own strides into memory that somebody else laid out. y has the same
 * shape and is packed. Write, for every index,
 *
 *     y[i,j,...] = x[i,j,...] + bias[i,j,...]
 *
 *     ./assay lesson strides    what a stride is, with a worked example
 *     ./assay check strides     is it right? Shows the first thing that is not
 *     ./assay hint strides      when you are stuck
 *
 * The function is only called with valid arguments: you need not check pointers, sizes or types.
 */
#include "assay/workshop.h"

/* Makes the function visible to the judge, and lets the compiler check its signature. Leave it as it is. */
ASSAY_API assay_kernel strides;

assay_status strides(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                     assay_queue *queue) {
  /* A tensor has data, rank (1 to 4 here), shape[0 .. rank - 1] and stride[0 .. rank - 1]. Sizes and strides
   * are int64_t and count elements, not bytes; a size may be 0, a stride too. */
  const assay_tensor x = in[0];
  const assay_tensor bias = in[1];
  const float *x_data = x.data; /* of element (0, 0, ...) */
  const float *bias_data = bias.data;

  /* The output: packed, of the same shape. Write every element, in the order of its storage. */
  const assay_tensor y = out[0];
  float *y_data = y.data;

  /* Step 1. How many elements does y have? */

  /* Step 2. Which index (i, j, ...) has the element at position p of the packed y? Begin with the last
   * dimension. */

  /* Step 3. Where does x have the element of that index, and where does bias? */

  /* Delete these lines as you use the names, and return ASSAY_OK when y is written. */
  (void)x, (void)bias, (void)x_data, (void)bias_data, (void)y, (void)y_data;
  (void)opt, (void)queue;
  return ASSAY_TODO;
}
