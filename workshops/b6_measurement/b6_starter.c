/* SPDX-License-Identifier: MIT */
/*
 * Measurement: your file.
 *
 * A part of a program was timed before and after a change, and so was the whole program before it. Each
 * sample is the time of one call in nanoseconds. Write five results:
 *
 *     result[0] = the median of `before`
 *     result[1] = the speedup: median of before / median of after
 *     result[2] = the rate after the change in GB/s: bytes of a call / median of after
 *     result[3] = the part's share of the program: median of before / median of whole
 *     result[4] = the speedup of the whole program: 1 / (1 - share + share / speedup)
 *
 * The checks ask for one after the other: begin with the first.
 *
 *     ./assay lesson measurement    why medians, which unit, what a share limits
 *     ./assay check measurement     is it right? Shows the first thing that is not
 *     ./assay hint measurement      when you are stuck
 *
 * The function is only called with valid arguments: you need not check pointers, sizes or types.
 */
#include "assay/workshop.h"

/* Makes the function visible to the judge, and lets the compiler check its signature. Leave it as it is. */
ASSAY_API assay_kernel measurement;

assay_status measurement(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                         assay_queue *queue) {
  /* The inputs: doubles, all above 0, in the order in which they were taken. Read them, never write them. */
  const double *before = in[0].data;
  const double *after = in[1].data;
  const double *whole = in[2].data;
  const int64_t before_count = in[0].shape[0]; /* 1 to 1000, and each its own */
  const int64_t after_count = in[1].shape[0];
  const int64_t whole_count = in[2].shape[0];
  const int64_t bytes = opt[0]; /* that one call of the part reads and writes */

  /* The output: five doubles. */
  double *result = out[0].data;

  /*
   * What you can call:
   *   double *copy = assay_queue_scratch(queue, bytes);    memory for this call, NULL if there is none
   *   qsort of <stdlib.h>, or a sort of your own: with 1000 samples the simplest will do
   */

  /* Step 1. What is the median of an odd number of samples, and of an even one? */

  /* Step 2. Which time stands above the line in a speedup? What is it when the change made things slower? */

  /* Step 3. How many bytes a second is one byte a nanosecond? */

  /* Step 4. How long does the program take after the change, when it took 1 before? */

  /* Delete these lines as you use the names, and return ASSAY_OK when the results are written. */
  (void)before, (void)after, (void)whole, (void)before_count, (void)after_count, (void)whole_count,
      (void)bytes;
  (void)result, (void)queue;
  return ASSAY_TODO;
}
