/* SPDX-License-Identifier: MIT */
/*
 * Reduction: your file.
 *
 * Write, for every row r of the packed matrix x,
 *
 *     y[r] = x[r,0] + x[r,1] + ...            when the operation is 0
 *     y[r] = max(x[r,0], x[r,1], ...)         when the operation is 1
 *
 * by a tree: pairs first, then pairs of pairs. One running sum is not exact enough for the checks.
 *
 *     ./assay lesson reduction    the tree, the identity, why a tree is more exact
 *     ./assay check reduction     is it right? Shows the first thing that is not
 *     ./assay hint reduction      when you are stuck
 *
 * The function is only called with valid arguments: you need not check pointers, sizes or types.
 */
#include "assay/workshop.h"

/* Makes the function visible to the judge, and lets the compiler check its signature. Leave it as it is. */
ASSAY_API assay_kernel reduction;

assay_status reduction(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                       assay_queue *queue) {
  /* The input: rows * columns floats, row behind row. Read them, never write them. */
  const float *x = in[0].data;
  const int64_t rows = in[0].shape[0];    /* 0 or more */
  const int64_t columns = in[0].shape[1]; /* 0 or more: nothing to reduce gives the identity */
  const int64_t operation = opt[0];       /* 0: sum, 1: maximum */

  /* The output: one float for each row. */
  float *y = out[0].data;

  /*
   * What you can call:
   *   float *level = assay_queue_scratch(queue, bytes);    memory for this call, whose contents you cannot
   * know; NULL if there is none: then return ASSAY_NO_MEMORY
   */

  /* Step 1. Which is the smallest power of two that is not below the number of columns? */

  /* Step 2. What do you put behind the elements of a row, for a sum and for a maximum? */

  /* Step 3. Which elements make the pairs of a level, how many levels are there, and where is the result? */

  /* Step 4. What does your maximum of two numbers give when one of them is a NaN? The row's result must be
   * NaN. */

  /* Delete these lines as you use the names, and return ASSAY_OK when y is written. */
  (void)x, (void)rows, (void)columns, (void)operation, (void)y;
  (void)queue;
  return ASSAY_TODO;
}
