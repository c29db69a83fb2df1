/* SPDX-License-Identifier: MIT */
/*
 * Blocks, offsets and masks: your file.
 *
 * The array x is handled in blocks of `block` elements, and every block has a factor of its own. Write, for
 * every i,
 *
 *     y[i] = x[i] * scale[i / block]
 *
 * and do it as a GPU would: one block at a time, each finding out which elements are its own.
 *
 *     ./assay lesson offsets    what a block, an offset and a mask are, with a worked example
 *     ./assay check offsets     is it right? Shows the first thing that is not
 *     ./assay hint offsets      when you are stuck
 *
 * The function is only called with valid arguments: you need not check pointers, sizes or types.
 */
#include "assay/workshop.h"

/* Makes the function visible to the judge, and lets the compiler check its signature. Leave it as it is. */
ASSAY_API assay_kernel offsets;

assay_status offsets(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                     assay_queue *queue) {
  /* The inputs. Read them, never write them. */
  const float *x = in[0].data;
  const float *scale = in[1].data;      /* as many factors as there are blocks, and no more */
  const int64_t count = in[0].shape[0]; /* elements of x and of y; 0 or more, often no multiple of block */
  const int64_t block = opt[0];         /* elements a block; 1 or more */

  /* The output. Write every one of its `count` elements, and nothing behind them. */
  float *y = out[0].data;

  /* Step 1. How many blocks are there? The last one may be incomplete, and with no element there is none. */

  /* Step 2. Block b has lanes 0 to block - 1. Which element, counted from the start of x, is lane l of block
   * b? */

  /* Step 3. Which lanes of the last block must not read and not write? */

  /* Delete these lines as you use the names, and return ASSAY_OK when y is written. */
  (void)x, (void)scale, (void)count, (void)block, (void)y;
  (void)queue;
  return ASSAY_TODO;
}
