/* SPDX-License-Identifier: MIT */
/*
 * Log-softmax: your file.
 *
 *     y[r,c] = x[r,c] - m[r] - ln(s[r])       m[r] = the maximum of row r of x
 *                                             s[r] = the sum of exp(x[r,c] - m[r]) over c
 *
 *     ./assay lesson log_softmax    the formula and why it is written like this
 *     ./assay check log_softmax     is it right? Shows the first thing that is not
 */
#include "assay/workshop.h"

/* Makes the function visible to the judge. Leave it as it is. */
ASSAY_API assay_kernel log_softmax;

assay_status log_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                         assay_queue *queue) {
  const assay_tensor x = in[0];  /* element (r, c) is number r * x.stride[0] + c * x.stride[1] */
  const assay_tensor y = out[0]; /* contiguous, of the type of x */

  /* Step 1. The maximum of a row. */

  /* Step 2. The sum of the exponentials, in 32 partial sums. */

  /* Step 3. One difference an element, rounded once. */

  (void)x, (void)y, (void)opt, (void)queue;
  return ASSAY_TODO;
}
