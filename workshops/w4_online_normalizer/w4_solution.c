/* SPDX-License-Identifier: MIT */
/*
 * w4_solution.c - the online normaliser, written to be read. The lesson beside it derives every step.
 *
 * Everything is built from one small function, merge_states. summarise cuts the elements into chunks, takes
 * the state of each and merges them; so any chunks, in any order and on any thread, give the same answer up
 * to rounding.
 */
#include "assay/workshop.h"

/* Elements of a chunk. Chunks lie at fixed places, so that any number of threads gives the same bits. */
enum { CHUNK = 16384 };

typedef struct state {
  double m; /* the maximum of the elements seen so far */
  double s; /* the sum of exp(x - m) over them */
} state;

/* Nothing is above -inf, and a sum without terms is 0: the state of no elements. */
static const state empty = {-INFINITY, 0.0};

/* The compiler holds the definitions below to the signature that is called. */
ASSAY_API assay_kernel summarise;
ASSAY_API assay_kernel merge;
ASSAY_API assay_kernel finish;

/* Element i of an FP32 or FP64 array, exactly. */
static double element(const assay_tensor *x, int64_t i) {
  return x->dtype == ASSAY_FP64 ? ((const double *)x->data)[i] : (double)((const float *)x->data)[i];
}

/*
 * Two sums, each relative to its own maximum, are brought to the larger one. Its own sum needs no factor, the
 * other one's factor is exp(smaller - larger): never above 1, and 0 beside the empty state.
 */
static state merge_states(state a, state b) {
  /* Equal maxima need no factor at all; for two empty states the difference would be NaN. */
  if (a.m == b.m) return (state){a.m, a.s + b.s};
  const state high = a.m > b.m ? a : b;
  const state low = a.m > b.m ? b : a;
  return (state){high.m, high.s + low.s * exp(low.m - high.m)};
}

/* Elements first..last-1 in one pass: the maximum is corrected, and the sum with it, as they come. */
static state state_of(const assay_tensor *x, int64_t first, int64_t last) {
  state seen = empty;
  for (int64_t i = first; i < last; i++) {
    const double value = element(x, i);
    if (value == -INFINITY) continue; /* exp(-inf) adds nothing, and -inf - -inf would be NaN */
    if (value > seen.m) {
      seen.s *= exp(seen.m - value); /* the first time: 0 * exp(-inf) = 0 */
      seen.m = value;
    }
    /* Not "+ 1" for a new maximum: +inf - +inf is NaN, as it must be. A NaN arrives here as well. */
    seen.s += exp(value - seen.m);
  }
  return seen;
}

static void write_state(const assay_tensor *out, state result) {
  double *numbers = out->data;
  numbers[0] = result.m;
  numbers[1] = result.s;
}

static state read_state(const assay_tensor *in) {
  const double *numbers = in->data;
  return (state){numbers[0], numbers[1]};
}

assay_status summarise(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                       assay_queue *queue) {
  const assay_tensor *x = &in[0];
  const int64_t count = x->shape[0];
  const int64_t chunks = (count + CHUNK - 1) / CHUNK;
  (void)opt; /* there are none */
  if (chunks <= 1) {
    write_state(&out[0], state_of(x, 0, count));
    return ASSAY_OK;
  }

  state *part = assay_queue_scratch(queue, (size_t)chunks * sizeof *part);
  if (part == NULL) return ASSAY_NO_MEMORY;
#pragma omp parallel for num_threads(queue->threads) schedule(static) if (chunks > 4)
  for (int64_t k = 0; k < chunks; k++) {
    const int64_t first = k * CHUNK;
    const int64_t last = first + CHUNK < count ? first + CHUNK : count;
    part[k] = state_of(x, first, last);
  }
  state total = empty;
  for (int64_t k = 0; k < chunks; k++) total = merge_states(total, part[k]);
  write_state(&out[0], total);
  return ASSAY_OK;
}

assay_status merge(const assay_tensor *in, const assay_tensor *out, const int64_t *opt, assay_queue *queue) {
  (void)opt, (void)queue;
  write_state(&out[0], merge_states(read_state(&in[0]), read_state(&in[1])));
  return ASSAY_OK;
}

assay_status finish(const assay_tensor *in, const assay_tensor *out, const int64_t *opt, assay_queue *queue) {
  const assay_tensor *x = &in[1];
  const assay_tensor *y = &out[0];
  const int64_t count = x->shape[0];
  (void)opt;
  if (count == 0) return ASSAY_OK;
  const state all = read_state(&in[0]);

#pragma omp parallel for num_threads(queue->threads) schedule(static) if (count >= 65536)
  for (int64_t i = 0; i < count; i++) {
    const double result = exp(element(x, i) - all.m) / all.s;
    if (y->dtype == ASSAY_FP64) {
      ((double *)y->data)[i] = result;
    } else {
      ((float *)y->data)[i] = (float)result; /* the only rounding to FP32 */
    }
  }
  return ASSAY_OK;
}
