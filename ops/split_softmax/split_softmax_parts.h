/* SPDX-License-Identifier: MIT */
/*
 * split_softmax_parts.h - what all CPU variants share: who works on which rows and chunks, in which order,
 * and where states are. A variant supplies the two stages that touch elements.
 *
 * With R rows and T threads, the first R - R % T rows go whole, R / T to a thread: such a row passes through
 * the three stages while it is in that thread's cache. The rows that are left, fewer than T, are split: all
 * threads take chunks of them, stage after stage. Either way a chunk is summed in one order and the chunks of
 * a row are merged from left to right, so that a result does not show which way its row has gone.
 */
#ifndef ASSAY_SPLIT_SOFTMAX_PARTS_H
#define ASSAY_SPLIT_SOFTMAX_PARTS_H

#include <assert.h>
#include <stdint.h>

#include "ops/online_normalizer/normalizer_merge.h"
#include "split_softmax.h"

typedef struct split_task split_task;

/* Writes the states of chunks [first, last) of a row, each a maximum and a sum of exp(x - maximum); a chunk
 * of nothing but -inf has (-inf, 0), one with a NaN or +inf a sum that is NaN. `kept` takes the exponentials,
 * chunk after chunk, unless it is NULL. */
typedef void split_partials(const split_task *task, int64_t row, int64_t first, int64_t last, float *states,
                            float *kept);

/* Writes chunks [first, last) of a row of y, from the states of the row's slot and the exponentials in
 * `kept`; where that is NULL they are computed again, to the same bits. `next` is what the thread reads
 * afterwards, at the same distances, NULL when that is unknown or not worth asking for. */
typedef void split_normalise(const split_task *task, int64_t row, int64_t first, int64_t last,
                             const float *states, const float *kept, const char *next);

/* Both for whole rows: normalises row `row` from `states` and `kept`, and meanwhile writes the states of the
 * chunks of row + 1 to `after` and its exponentials to `kept`. `ahead` where the row after that is worth
 * asking for. */
typedef void split_turn(const split_task *task, int64_t row, const float *states, float *after, float *kept,
                        bool ahead);

struct split_task {
  const char *x;
  char *y;
  assay_dtype dtype;
  int64_t size; /* of an element */
  int64_t rows;
  int64_t columns;
  int64_t chunk;
  int64_t chunks; /* of a row */
  float *states;  /* slots of chunks + 1 states: those of a row's chunks, then the row's own */
  float *kept;    /* `keep` floats a thread, or NULL */
  int64_t keep;
  split_partials *partials;
  split_normalise *normalise;
  split_turn *turn; /* NULL: one after the other */
};

enum {
  SPLIT_PARALLEL_LEAST = 65536, /* elements of a call that is worth a second thread */
  SPLIT_AHEAD_BYTES = 1 << 20,  /* rows up to here are asked for one ahead: two of them fit a cache */
  SPLIT_KEEP_MOST = 1 << 17,    /* exponentials that a thread keeps from stage 1 to stage 3 */
  SPLIT_KEEP_MARGIN = 16,       /* behind them: a last vector is read whole, from anywhere in a chunk */
};

static inline float *split_slot(const split_task *task, int64_t slot) {
  return task->states + slot * 2 * (task->chunks + 1);
}

static inline float *split_kept(const split_task *task, int thread) {
  return task->kept == NULL ? NULL : task->kept + thread * task->keep;
}

/* What a chunk's exponentials are multiplied by to become results, rounded once: equal entries give exactly
 * 1/n. In FP64 the difference of two maxima is exact and the quotient no subnormal number. */
static inline float split_factor(const split_task *task, const float *states, int64_t k) {
  const double m = (double)states[2 * task->chunks];
  const double s = (double)states[2 * task->chunks + 1];
  const double own = (double)states[2 * k];
  return (float)((own == m ? 1.0 : exp(own - m)) / s);
}

/* Elements of chunk k. */
static inline int64_t split_length(const split_task *task, int64_t k) {
  const int64_t left = task->columns - k * task->chunk;
  return left < task->chunk ? left : task->chunk;
}

/* Stage 2: the row's state from those of its chunks. */
static inline void split_merge(const split_task *task, float *states) {
  float m = states[0];
  float s = states[1];
  for (int64_t k = 1; k < task->chunks; ++k) {
    normalizer_merge32(m, s, states[2 * k], states[2 * k + 1], &m, &s);
  }
  states[2 * task->chunks] = m;
  states[2 * task->chunks + 1] = s;
}

/* Rows [first, last), each through all stages before the next one; where exponentials are kept and the
 * variant can, the last stage of a row together with the first of the next. `slots` are 1 or 2 a thread. */
static inline void split_whole_rows(const split_task *task, int64_t first, int64_t last, int thread) {
  const int64_t row_bytes = task->columns * task->size;
  const int64_t slots = last - first > 1 ? 2 : 1;
  float *states = split_slot(task, slots * thread);
  float *after = split_slot(task, slots * thread + slots - 1);
  float *kept = task->chunks * task->chunk <= task->keep ? split_kept(task, thread) : NULL;
  const bool turns = task->turn != NULL && kept != NULL;
  const bool near = row_bytes <= SPLIT_AHEAD_BYTES;
  for (int64_t row = first; row < last; ++row) {
    if (row == first || !turns) task->partials(task, row, 0, task->chunks, states, kept);
    split_merge(task, states);
    if (turns && row + 1 < last) {
      task->turn(task, row, states, after, kept, near && row + 2 < last);
      float *other = states;
      states = after;
      after = other;
    } else {
      const char *next = task->x + (row + 1) * row_bytes;
      task->normalise(task, row, 0, task->chunks, states, kept, near && row + 1 < last ? next : NULL);
    }
  }
}

/* The share of thread `index` of `count` in the chunks of all rows from `from` on; stage 1 or 3 of them. */
static inline void split_share(const split_task *task, int64_t from, int index, int count, int stage) {
  const int64_t pieces = (task->rows - from) * task->chunks;
  const int64_t begin = pieces * index / count;
  const int64_t end = pieces * (index + 1) / count;
  float *kept = (end - begin) * task->chunk <= task->keep ? split_kept(task, index) : NULL;
  for (int64_t piece = begin; piece < end;) {
    const int64_t slot = piece / task->chunks;
    const int64_t first = piece % task->chunks;
    const int64_t last = end - piece < task->chunks - first ? first + end - piece : task->chunks;
    float *place = kept == NULL ? NULL : kept + (piece - begin) * task->chunk;
    if (stage == 1) {
      task->partials(task, from + slot, first, last, split_slot(task, slot), place);
    } else {
      task->normalise(task, from + slot, first, last, split_slot(task, slot), place, NULL);
    }
    piece += last - first;
  }
}

/* All rows. The end of a parallel loop is what orders the stages: every thread waits there for the others. */
static inline void split_run(const split_task *task, int threads) {
  const int64_t whole = task->rows - task->rows % threads;
  if (threads == 1) {
    split_whole_rows(task, 0, whole, 0);
    return;
  }
  if (whole > 0) {
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads) schedule(static)
#endif
    for (int t = 0; t < threads; ++t) {
      const int64_t each = whole / threads;
      split_whole_rows(task, t * each, (t + 1) * each, t);
    }
  }
  if (whole == task->rows) return;
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads) schedule(static)
#endif
  for (int t = 0; t < threads; ++t) split_share(task, whole, t, threads, 1);
  for (int64_t slot = 0; slot < task->rows - whole; ++slot) split_merge(task, split_slot(task, slot));
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads) schedule(static)
#endif
  for (int t = 0; t < threads; ++t) split_share(task, whole, t, threads, 3);
}

/* Memory for exponentials, as far as it pays and there is some: without it they are computed twice. */
static inline void split_plan_keep(split_task *task, int threads, assay_queue *queue) {
  const int64_t whole = task->rows >= threads ? task->chunks * task->chunk : 0;
  const int64_t split = (task->rows % threads * task->chunks + threads - 1) / threads * task->chunk;
  if (whole <= SPLIT_KEEP_MOST) task->keep = whole;
  if (split <= SPLIT_KEEP_MOST && split > task->keep) task->keep = split;
  if (task->keep > 0) task->keep += SPLIT_KEEP_MARGIN;
  const size_t floats = (size_t)threads * (size_t)task->keep;
  if (floats > 0) task->kept = assay_queue_scratch(queue, floats * sizeof(float));
}

/* The whole operator. Arguments are valid here. */
static inline assay_status split_softmax_with(split_partials *partials, split_normalise *normalise,
                                              split_turn *turn, const assay_tensor *in,
                                              const assay_tensor *out, const int64_t *opt,
                                              assay_queue *queue) {
  const assay_tensor *x = &in[ASSAY_SPLIT_SOFTMAX_X];
  const int64_t knob = opt[ASSAY_SPLIT_SOFTMAX_CHUNK];
  split_task task = {.x = x->data,
                     .y = out[ASSAY_SPLIT_SOFTMAX_Y].data,
                     .dtype = x->dtype,
                     .size = x->dtype == ASSAY_FP32 ? 4 : 2,
                     .rows = x->shape[0],
                     .columns = x->shape[1],
                     .chunk = knob != 0 ? knob : ASSAY_SPLIT_SOFTMAX_DEFAULT_CHUNK,
                     .states = out[ASSAY_SPLIT_SOFTMAX_WORKSPACE].data,
                     .partials = partials,
                     .normalise = normalise,
                     .turn = turn};
  if (task.rows == 0) return ASSAY_OK;
  task.chunks = (task.columns - 1) / task.chunk + 1;
  const int64_t pieces = task.rows * task.chunks;
  const int most = task.rows * task.columns < SPLIT_PARALLEL_LEAST ? 1 : queue->threads;
  const int threads = pieces < most ? (int)pieces : most;
  /* Two slots a thread for whole rows, a slot a row for split ones, never more than rows: a workspace has one
   * for every row. */
  const int64_t slots = task.rows < 2 * threads ? task.rows : 2 * threads;
  if (task.states == NULL) {
    const size_t floats = (size_t)slots * 2 * (size_t)(task.chunks + 1);
    task.states = assay_queue_scratch(queue, floats * sizeof(float));
    if (task.states == NULL) return ASSAY_NO_MEMORY;
  }
  assert(task.chunks >= 1 && (task.chunks - 1) * task.chunk < task.columns);
  split_plan_keep(&task, threads, queue);
  split_run(&task, threads);
  return ASSAY_OK;
}

#endif
