/* SPDX-License-Identifier: MIT */
/*
 * Online normaliser: your file.
 *
 * Write three functions on the state of a softmax, the pair {m, s}:
 *
 *     summarise(x) -> state             m = the largest element, s = the sum of exp(x[i] - m)
 *     merge(left, right) -> state       the state of both parts together, from their states alone
 *     finish(state, x) -> y             y[i] = exp(x[i] - m) / s
 *
 *     ./assay lesson online_normalizer    the formulas, the empty state, worked examples
 *     ./assay check online_normalizer     is it right? Shows the first thing that is not
 *     ./assay hint online_normalizer      when you are stuck
 *
 * The functions are only called with valid arguments: you need not check pointers, shapes or types.
 */
#include "assay/workshop.h"

/* Makes the functions visible to the judge, and lets the compiler check their signatures. */
ASSAY_API assay_kernel summarise;
ASSAY_API assay_kernel merge;
ASSAY_API assay_kernel finish;

assay_status summarise(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                       assay_queue *queue) {
  /* The elements lie side by side. They are FP32 or FP64: one of the two pointers below is the right one. */
  const assay_tensor x = in[0];
  const int64_t count = x.shape[0]; /* 0 or more */
  const float *single = x.data;     /* use this when x.dtype is ASSAY_FP32, */
  const double *precise = x.data;   /* and this when it is ASSAY_FP64 */
  double *state = out[0].data;      /* state[0] = m, state[1] = s */

  /* Step 1. What is the state of no elements at all? With which m and s must the search begin? */

  /* Step 2. What happens to s when an element is larger than the m so far? And when it is not? */

  /* Step 3. What do your steps give for -inf as the first element, for +inf, for NaN? */

  /* Step 4. In which type is the sum held, and over how many terms? */

  /* Delete these lines as you use the names, and return ASSAY_OK when the state is written. */
  (void)count, (void)single, (void)precise, (void)state;
  (void)opt, (void)queue; /* no options; queue->threads says how many threads you may use (one is fine) */
  return ASSAY_TODO;
}

assay_status merge(const assay_tensor *in, const assay_tensor *out, const int64_t *opt, assay_queue *queue) {
  /* Three states of two FP64 numbers each, whatever the elements were. */
  const double *left = in[0].data;
  const double *right = in[1].data;
  double *state = out[0].data;

  /* Step 5. Both sums are relative to their own maximum. What makes them relative to the larger one? */

  /* Step 6. What comes out for two empty states? For an empty one and another, to the last bit? */

  (void)left, (void)right, (void)state;
  (void)opt, (void)queue;
  return ASSAY_TODO;
}

assay_status finish(const assay_tensor *in, const assay_tensor *out, const int64_t *opt, assay_queue *queue) {
  /* The state may be that of more elements than x holds. y has the type and the size of x. */
  const double *state = in[0].data;
  const assay_tensor x = in[1];
  const assay_tensor y = out[0];
  const int64_t count = x.shape[0]; /* 0 or more; when it is 0 do not even look at the state */

  /* Step 7. Which m and which s belong into the formula? And how often is a result rounded? */

  (void)state, (void)x, (void)y, (void)count;
  (void)opt, (void)queue;
  return ASSAY_TODO;
}
