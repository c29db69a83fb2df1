/* SPDX-License-Identifier: MIT */
/*
 * Matrix product by tiles: your file.
 *
 * a is M x K, b is K x N, c is M x N, all packed. b is stored in tiles of `tile` x `tile` elements, each with
 * a scale of its own. Write, for every row m and column n,
 *
 *     c[m,n] = the sum over k of a[m,k] * b[k,n] * scale[k / tile, n / tile]
 *
 * tile by tile: each tile of c is computed by one owner, in steps of `tile` along K.
 *
 *     ./assay lesson matmul    tiles, owners, the loop along K, with a worked example
 *     ./assay check matmul     is it right? Shows the first thing that is not
 *     ./assay hint matmul      when you are stuck
 *
 * The function is only called with valid arguments: you need not check pointers, sizes or types.
 */
#include "assay/workshop.h"

/* Makes the function visible to the judge, and lets the compiler check its signature. Leave it as it is. */
ASSAY_API assay_kernel matmul;

assay_status matmul(const assay_tensor *in, const assay_tensor *out, const int64_t *opt, assay_queue *queue) {
  /* The inputs. Read them, never write them. */
  const float *a = in[0].data;
  const float *b = in[1].data;
  const float *scale = in[2].data;              /* one for each tile of b, packed like a matrix */
  const int64_t scale_columns = in[2].shape[1]; /* tiles of b beside each other */
  const int64_t rows = in[0].shape[0];          /* M, 0 or more */
  const int64_t depth = in[0].shape[1];         /* K, 0 or more: the sum of nothing is 0 */
  const int64_t columns = in[1].shape[1];       /* N, 0 or more */
  const int64_t tile = opt[0];                  /* 1 or more; often it divides none of the sizes */

  /* The output. Write every element, once. */
  float *c = out[0].data;

  /* Step 1. Which rows and which columns of c belong to the tile that begins at row m0 and column n0? */

  /* Step 2. Which k belong to the step that begins at k0, and which scale belongs to this step of this tile?
   */

  /* Step 3. What is added up within a step, and what from step to step? What is it at the beginning? */

  /* Delete these lines as you use the names, and return ASSAY_OK when c is written. */
  (void)a, (void)b, (void)scale, (void)scale_columns, (void)rows, (void)depth, (void)columns, (void)tile,
      (void)c;
  (void)queue;
  return ASSAY_TODO;
}
