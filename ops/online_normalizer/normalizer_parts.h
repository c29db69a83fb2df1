/* SPDX-License-Identifier: MIT */
/*
 * normalizer_parts.h - what all CPU variants of the normaliser share: the merge in FP64, and the division of
 * the elements into segments and blocks.
 *
 * Segments and blocks lie at fixed places and are merged from left to right, so that a result does not depend
 * on the number of threads.
 */
#ifndef ASSAY_NORMALIZER_PARTS_H
#define ASSAY_NORMALIZER_PARTS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "assay/workshop.h"

enum {
  NORMALIZER_BLOCK = 4096,    /* elements summed before the first merge: 16 or 32 KiB, which stay near */
  NORMALIZER_SEGMENT = 65536, /* elements that one thread takes at a time: whole blocks */
  NORMALIZER_STREAM_LEAST = 1 << 22, /* bytes of output from which on stores bypass the caches */
};

typedef struct normalizer_state {
  double m; /* the maximum */
  double s; /* the sum of exp(x - m) */
} normalizer_state;

/* Only the sum of the smaller maximum is scaled. The empty state has the smaller maximum beside any other,
 * and its sum 0 adds nothing: it is the identity, bit for bit. */
static inline normalizer_state normalizer_merge64(normalizer_state a, normalizer_state b) {
  /* No factor is needed, and the difference of two infinities would be NaN. */
  if (a.m == b.m) return (normalizer_state){a.m, a.s + b.s};
  const normalizer_state high = a.m > b.m ? a : b;
  const normalizer_state low = a.m > b.m ? b : a;
  return (normalizer_state){high.m, high.s + low.s * exp(low.m - high.m)};
}

/* The state of `count` elements, at most a block; `ahead` lies in x and is needed soon. */
typedef normalizer_state normalizer_summary(const void *x, int64_t count, const void *ahead);

/* y = exp(x - m) / s for `count` elements; `stream` asks for stores that bypass the caches. */
typedef void normalizer_ending(normalizer_state state, const void *x, void *y, int64_t count, bool stream);

static inline normalizer_state normalizer_segment(const char *x, int64_t size, int64_t first, int64_t last,
                                                  normalizer_summary *summary) {
  normalizer_state total = {-INFINITY, 0};
  for (int64_t i = first; i < last; i += NORMALIZER_BLOCK) {
    const int64_t count = last - i < NORMALIZER_BLOCK ? last - i : NORMALIZER_BLOCK;
    const int64_t next = last - i < 2 * NORMALIZER_BLOCK ? i : i + NORMALIZER_BLOCK;
    total = normalizer_merge64(total, summary(x + i * size, count, x + next * size));
  }
  return total;
}

static inline int normalizer_threads(int64_t segments, int most) {
  return segments < most ? (segments > 0 ? (int)segments : 1) : most;
}

static inline assay_status normalizer_summarise(const assay_tensor *in, const assay_tensor *out,
                                                assay_queue *queue, normalizer_summary *summary) {
  const char *x = in[0].data;
  double *state = out[0].data;
  const int64_t count = in[0].shape[0];
  const int64_t size = in[0].dtype == ASSAY_FP64 ? 8 : 4;
  const int64_t segments = (count + NORMALIZER_SEGMENT - 1) / NORMALIZER_SEGMENT;
  normalizer_state total = {-INFINITY, 0};
  if (segments <= 1) {
    total = normalizer_segment(x, size, 0, count, summary);
  } else {
    normalizer_state *part = assay_queue_scratch(queue, (size_t)segments * sizeof *part);
    if (part == NULL) return ASSAY_NO_MEMORY;
    const int threads = normalizer_threads(segments, queue->threads);
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
#endif
    for (int64_t k = 0; k < segments; k++) {
      const int64_t first = k * NORMALIZER_SEGMENT;
      const int64_t last = count - first < NORMALIZER_SEGMENT ? count : first + NORMALIZER_SEGMENT;
      part[k] = normalizer_segment(x, size, first, last, summary);
    }
    (void)threads;
    for (int64_t k = 0; k < segments; k++) total = normalizer_merge64(total, part[k]);
  }
  state[0] = total.m;
  state[1] = total.s;
  return ASSAY_OK;
}

static inline void normalizer_finish(const assay_tensor *in, const assay_tensor *out, assay_queue *queue,
                                     normalizer_ending *ending) {
  const int64_t count = in[1].shape[0];
  if (count == 0) return; /* and then any pointer is allowed, that of the state too */
  const double *given = in[0].data;
  const normalizer_state state = {given[0], given[1]};
  const char *x = in[1].data;
  char *y = out[0].data;
  const int64_t size = in[1].dtype == ASSAY_FP64 ? 8 : 4;
  const int64_t segments = (count + NORMALIZER_SEGMENT - 1) / NORMALIZER_SEGMENT;
  const int threads = normalizer_threads(segments, queue->threads);
  const bool stream = count * size >= NORMALIZER_STREAM_LEAST;
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
#endif
  for (int64_t k = 0; k < segments; k++) {
    const int64_t first = k * NORMALIZER_SEGMENT;
    const int64_t some = count - first < NORMALIZER_SEGMENT ? count - first : NORMALIZER_SEGMENT;
    ending(state, x + first * size, y + first * size, some, stream);
  }
  (void)threads;
}

#endif
