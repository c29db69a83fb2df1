/* SPDX-License-Identifier: MIT */
/*
 * w5_solution.c - split softmax, written to be read. The lesson beside it derives every step.
 *
 * A row is cut into chunks, and three stages follow one another: the state of every chunk, the merged state
 * of every row, the results. Inside a stage all pieces are independent, so that threads can share even one
 * row.
 */
#include "assay/workshop.h"

/* Partial sums of a chunk. A chunk of n terms is then n / 32 additions deep instead of n. */
enum { LANES = 32 };

enum { DEFAULT_CHUNK = 4096 };

/* Problems smaller than this are done before other threads have woken up. */
enum { PARALLEL_ELEMENTS = 65536 };

/* The compiler holds the definition below to the signature that is called. */
ASSAY_API assay_kernel split_softmax;

/* What a softmax must know of the elements that it has seen. That of no elements is (-infinity, 0). */
typedef struct state {
  float maximum;
  float sum; /* of exp(x - maximum) */
} state;

/* exp(maximum - common): what a sum relative to `maximum` counts relative to `common`, which is not smaller.
 * Equal ones are no subtraction, because -inf - -inf would be NaN. */
static float rescale(float maximum, float common) {
  return maximum == common ? 1.0f : expf(maximum - common);
}

/* The state of all elements behind both states. Merging with (-infinity, 0) changes nothing; NaN stays. */
static state merge(state a, state b) {
  const float common = a.maximum > b.maximum ? a.maximum : b.maximum;
  return (state){common, a.sum * rescale(a.maximum, common) + b.sum * rescale(b.maximum, common)};
}

/* Stage 1: the state of elements first..first+count-1 of x. */
static state state_of_chunk(const assay_tensor *x, int64_t first, int64_t count) {
  float maximum = -INFINITY;
  for (int64_t i = 0; i < count; i++) {
    const float value = assay_load(x->data, x->dtype, first + i);
    if (value > maximum) maximum = value; /* passes over a NaN, which the sum below then finds */
  }

  /* Nothing but -inf: subtracting that would make NaN, and 0 makes the sum of a masked chunk 0. */
  const float origin = maximum == -INFINITY ? 0.0f : maximum;
  float lane[LANES] = {0};
  for (int64_t i = 0; i < count; i++) {
    lane[i % LANES] += expf(assay_load(x->data, x->dtype, first + i) - origin);
  }
  for (int half = LANES / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; k++) lane[k] += lane[k + half];
  }
  return (state){maximum, lane[0]};
}

/* Stage 3: the results of elements first..first+count-1, whose row has the state `row`. */
static void normalise_chunk(const assay_tensor *x, const assay_tensor *y, int64_t first, int64_t count,
                            state row) {
  for (int64_t i = first; i < first + count; i++) {
    const float term = expf(assay_load(x->data, x->dtype, i) - row.maximum);
    assay_store(y->data, y->dtype, i, term / row.sum); /* the only rounding to a 16-bit type */
  }
}

assay_status split_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                           assay_queue *queue) {
  const assay_tensor *x = &in[ASSAY_SPLIT_SOFTMAX_X];
  const assay_tensor *y = &out[ASSAY_SPLIT_SOFTMAX_Y];
  const int64_t rows = x->shape[0];
  const int64_t columns = x->shape[1];
  if (rows == 0) return ASSAY_OK;

  /* The last chunk may be short, but never empty: one more chunk is counted only when elements are left. */
  const int64_t chunk = opt[ASSAY_SPLIT_SOFTMAX_CHUNK] != 0 ? opt[ASSAY_SPLIT_SOFTMAX_CHUNK] : DEFAULT_CHUNK;
  const int64_t chunks = (columns + chunk - 1) / chunk;
  const int64_t pieces = rows * chunks;

  /* The caller's workspace, or memory of this call alone: never memory that two calls could share. */
  state *partial = out[ASSAY_SPLIT_SOFTMAX_WORKSPACE].data;
  if (partial == NULL) partial = assay_queue_scratch(queue, (size_t)(pieces + rows) * sizeof(state));
  if (partial == NULL) return ASSAY_NO_MEMORY;
  state *merged = partial + pieces;
  const int threads = rows * columns >= PARALLEL_ELEMENTS ? queue->threads : 1;

  /* Stage 1: piece p writes partial[p] and nothing else. */
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t p = 0; p < pieces; p++) {
    const int64_t column = p % chunks * chunk;
    const int64_t count = columns - column < chunk ? columns - column : chunk;
    partial[p] = state_of_chunk(x, p / chunks * columns + column, count);
  }

  /* Stage 2: the loop above has ended, so every partial state is there. Row r writes merged[r] only, and
   * merges in the order of the chunks, whichever thread has computed them. */
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t r = 0; r < rows; r++) {
    merged[r] = partial[r * chunks];
    for (int64_t k = 1; k < chunks; k++) merged[r] = merge(merged[r], partial[r * chunks + k]);
  }

  /* Stage 3: every merged state is there; piece p writes its own elements of y. */
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t p = 0; p < pieces; p++) {
    const int64_t column = p % chunks * chunk;
    const int64_t count = columns - column < chunk ? columns - column : chunk;
    normalise_chunk(x, y, p / chunks * columns + column, count, merged[p / chunks]);
  }
  return ASSAY_OK;
}
