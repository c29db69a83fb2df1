/* SPDX-License-Identifier: MIT */
/*
 * RMS normalisation with a residual: your file.
 *
 * Write, for every row r and column c of the packed matrices,
 *
 *     h[r,c] = x[r,c] + residual[r,c]
 *     y[r,c] = h[r,c] / sqrt(mean of h[r,:] squared + 1e-5) * weight[c]
 *
 * All arrays hold 16-bit numbers. Everything between reading and writing is FP32, and y is rounded once.
 *
 *     ./assay lesson rmsnorm    where a second rounding hides, with a worked example
 *     ./assay check rmsnorm     is it right? Shows the first thing that is not
 *     ./assay hint rmsnorm      when you are stuck
 *
 * The function is only called with valid arguments: you need not check pointers, sizes or types.
 */
#include "assay/workshop.h"

/* Makes the function visible to the judge, and lets the compiler check its signature. Leave it as it is. */
ASSAY_API assay_kernel rmsnorm;

assay_status rmsnorm(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                     assay_queue *queue) {
  /* The inputs. Read them, never write them. */
  const assay_tensor x = in[0];
  const assay_tensor residual = in[1]; /* of the same shape */
  const assay_tensor weight = in[2];   /* one for each column */
  const assay_dtype dtype = x.dtype;   /* ASSAY_FP16 or ASSAY_BF16, the type of all four */
  const int64_t rows = x.shape[0];     /* 0 or more */
  const int64_t columns = x.shape[1];  /* 1 to 1024 */

  /* The output: of the shape of x. Write every element. */
  const assay_tensor y = out[0];

  /*
   * What you can call (all in include/assay/workshop.h):
   *   float v = assay_load(x.data, dtype, i);      element i, counted from the start, as a float
   *   assay_store(y.data, dtype, i, v);            rounds v once and writes element i
   *   sqrtf(v)                                     the square root of a float
   *   float *row = assay_queue_scratch(queue, bytes);    memory for this call, NULL if there is none
   */

  /* Step 1. What is h of one element? Where do you keep it, and in which type? */

  /* Step 2. What is added up over a row, and by what is it divided? */

  /* Step 3. Where does 1e-5 belong, so that a row of zeros gives zeros? */

  /* Step 4. In which order do you divide, weight and round? */

  /* Delete these lines as you use the names, and return ASSAY_OK when y is written. */
  (void)x, (void)residual, (void)weight, (void)dtype, (void)rows, (void)columns, (void)y;
  (void)opt, (void)queue;
  return ASSAY_TODO;
}
