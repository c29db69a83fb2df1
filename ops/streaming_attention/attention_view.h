/* SPDX-License-Identifier: MIT */
/*
 * attention_view.h - what all CPU variants of attention share: the call as batches of heads, where a row is,
 * and the division of units of work among threads.
 */
#ifndef ASSAY_ATTENTION_VIEW_H
#define ASSAY_ATTENTION_VIEW_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "assay/workshop.h"

enum { DEFAULT_BLOCK = 64 };

/* One call. Steps count elements between batches, heads and rows of q, k and v; o is packed. */
typedef struct attention_view {
  const uint16_t *in[ASSAY_STREAMING_ATTENTION_INPUTS];
  int64_t step[ASSAY_STREAMING_ATTENTION_INPUTS][3];
  uint16_t *o;
  assay_dtype dtype;
  int64_t batch, heads, n, d;
  bool causal;
  int64_t block; /* keys of a tile */
  float scale;   /* 1 / sqrt(d) */
} attention_view;

/* Arguments are valid here. Tensors of rank 2 are one head of one batch. */
static inline attention_view attention_view_of(const assay_tensor *in, const assay_tensor *out,
                                               const int64_t *opt) {
  const assay_tensor *q = &in[ASSAY_STREAMING_ATTENTION_Q];
  const bool four = q->rank == 4;
  const int64_t block = opt[ASSAY_STREAMING_ATTENTION_BLOCK_N];
  attention_view view = {
      .o = out[ASSAY_STREAMING_ATTENTION_O].data,
      .dtype = q->dtype,
      .batch = four ? q->shape[0] : 1,
      .heads = four ? q->shape[1] : 1,
      .n = q->shape[q->rank - 2],
      .d = q->shape[q->rank - 1],
      .causal = opt[ASSAY_STREAMING_ATTENTION_CAUSAL] == 1,
      .block = block > 0 ? block : DEFAULT_BLOCK,
  };
  assert(view.n >= 0 && view.d >= 1 && view.d <= 256);
  view.scale = (float)(1.0 / sqrt((double)view.d));
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; ++i) {
    view.in[i] = in[i].data;
    view.step[i][0] = four ? in[i].stride[0] : 0;
    view.step[i][1] = four ? in[i].stride[1] : 0;
    view.step[i][2] = in[i].stride[q->rank - 2];
  }
  return view;
}

static inline bool attention_empty(const attention_view *view) {
  return view->batch == 0 || view->heads == 0 || view->n == 0;
}

/* The first element of row `row` of an input, in head `head` of all heads of all batches. */
static inline const uint16_t *attention_row(const attention_view *view, int input, int64_t head,
                                            int64_t row) {
  const int64_t *step = view->step[input];
  return view->in[input] + head / view->heads * step[0] + head % view->heads * step[1] + row * step[2];
}

static inline uint16_t *attention_output(const attention_view *view, int64_t head, int64_t row) {
  return view->o + (head * view->n + row) * view->d;
}

/* Threads worth starting: one for few scores, and never more than there are units of work. */
static inline int attention_threads(const attention_view *view, int64_t units, int most) {
  const double scores = (double)(view->batch * view->heads) * (double)view->n * (double)view->n;
  if (most <= 1 || scores < 65536) return 1;
  return units < most ? (int)units : most;
}

/*
 * Calls run(context, unit, thread) once for every unit. Whoever is free takes the next one: units differ in
 * length, and what a unit computes does not depend on its thread.
 */
static inline void attention_parallel(void (*run)(const void *context, int64_t unit, int thread),
                                      const void *context, int64_t units, int threads) {
  if (threads == 1) {
    for (int64_t unit = 0; unit < units; ++unit) run(context, unit, 0);
    return;
  }
  int64_t next = 0;
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads) schedule(static, 1)
#endif
  for (int thread = 0; thread < threads; ++thread) {
    for (;;) {
      int64_t unit;
#if defined(_OPENMP)
#pragma omp atomic capture
#endif
      unit = next++;
      if (unit >= units) break;
      run(context, unit, thread);
    }
  }
}

#endif
