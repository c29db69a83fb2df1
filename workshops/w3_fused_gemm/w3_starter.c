/* SPDX-License-Identifier: MIT */
/*
 * Fused GEMM: your file.
 *
 * Write, for every row i < m and column j < n,
 *
 *     c[i,j] = relu(a[i,0]*b[0,j] + a[i,1]*b[1,j] + ... + a[i,k-1]*b[k-1,j] + bias[j])
 *
 * where relu(x) is 0 for x below 0 and x otherwise; relu(NaN) is NaN.
 *
 *     ./assay lesson fused_gemm    the formula, where to round, tiles, a worked example
 *     ./assay check fused_gemm     is it right? Shows the first thing that is not
 *     ./assay hint fused_gemm      when you are stuck
 *
 * The function is only called with valid arguments: you need not check pointers, shapes or types.
 */
#include "assay/workshop.h"

/* Makes the function visible to the judge, and lets the compiler check its signature. Leave it as it is. */
ASSAY_API assay_kernel fused_gemm;

assay_status fused_gemm(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                        assay_queue *queue) {
  /* The inputs: two matrices and a row. Read them, never write them. */
  const assay_tensor a = in[ASSAY_FUSED_GEMM_A];       /* [m,k] */
  const assay_tensor b = in[ASSAY_FUSED_GEMM_B];       /* [k,n] */
  const assay_tensor bias = in[ASSAY_FUSED_GEMM_BIAS]; /* [n], contiguous */
  const assay_dtype dtype = a.dtype; /* ASSAY_FP16 or ASSAY_BF16, of all operands, c as well */
  const int64_t m = a.shape[0];      /* all three sizes: 0 or more */
  const int64_t k = a.shape[1];
  const int64_t n = b.shape[1];
  const int64_t a_row = a.stride[0]; /* elements from a[i,p] to a[i+1,p]: k, more, less, or 0 */
  const int64_t b_row = b.stride[0]; /* elements from b[p,j] to b[p+1,j] */

  /* The output: contiguous, m * n elements. Write every one of them. */
  const assay_tensor c = out[ASSAY_FUSED_GEMM_C];

  /* The knobs; 0 means that the choice is yours. They decide in which order you work, never what comes out.
   */
  const int64_t group = opt[ASSAY_FUSED_GEMM_GROUP];   /* rows of tiles that are walked together: 1, 4, 8 */
  const int64_t tile_m = opt[ASSAY_FUSED_GEMM_TILE_M]; /* rows of a tile: 16, 32, 64 */

  /*
   * What you can call (all in include/assay/workshop.h):
   *   float v = assay_load(a.data, dtype, i);      element i, as a float
   *   assay_store(c.data, dtype, i, v);            rounds v once and writes element i of c
   *   float *sums = assay_queue_scratch(queue, bytes);    memory for this call, NULL if there is none
   *   queue->threads                               how many threads you may use (one is fine)
   */

  /* Step 1. Which index has a[i,p]? Which b[p,j]? Which c[i,j]? */

  /* Step 2. In which type do you keep a sum, and where, until its last product has been added? */

  /* Step 3. In which order come bias, relu and rounding? How often is anything rounded to 16 bits? */

  /* Step 4. What does your relu make of NaN? */

  /* Step 5. What do your loops do when k is 0? When m or n is? */

  /* Step 6. It is right: now cut c into tiles. Who owns the rows and columns behind the last whole tile? */

  /* Delete these lines as you use the names, and return ASSAY_OK when c is written. */
  (void)a, (void)b, (void)bias, (void)c, (void)dtype, (void)m, (void)n, (void)k, (void)a_row, (void)b_row;
  (void)group, (void)tile_m, (void)queue;
  return ASSAY_TODO;
}
