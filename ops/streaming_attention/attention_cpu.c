/* SPDX-License-Identifier: MIT */
/*
 * attention_cpu.c - attention in portable C with libm's expf, for any CPU.
 *
 * A block of queries walks over the key tiles together: a tile is widened once for all of them. Keys lie
 * transposed and both tiles are padded with zeros, so that inner loops have a constant length, which
 * compilers turn into vectors.
 */
#include "attention.h"
#include "attention_view.h"
#include "ops/online_normalizer/normalizer_merge.h"

enum {
  ROWS = 32,      /* queries of a block */
  KEYS_MOST = 64, /* of a tile, and the pitch of the transposed keys */
  COLUMNS = 16,   /* of v that are summed together */
};

/* A thread's memory: key tile [d][KEYS_MOST], then value tile, queries and sums with a pitch of whole
 * COLUMNS. */
typedef struct block {
  float *keys;
  float *values;
  float *queries;
  float *sums;
  float top[ROWS];   /* the largest score of each row so far */
  float total[ROWS]; /* the sum of exp(score - top) */
} block;

typedef struct plain_task {
  attention_view view;
  int64_t blocks; /* of queries a head */
  int64_t pitch;
  float *scratch;
  int64_t slice; /* floats of scratch a thread */
} plain_task;

static void widen_row(const uint16_t *from, assay_dtype dtype, int64_t count, float factor, float *to,
                      int64_t step) {
  for (int64_t c = 0; c < count; ++c) to[c * step] = assay_load(from, dtype, c) * factor;
}

static void widen_tile(const plain_task *task, int64_t head, int64_t first, int64_t keys, const block *b) {
  const attention_view *view = &task->view;
  for (int64_t j = 0; j < keys; ++j) {
    const uint16_t *key = attention_row(view, ASSAY_STREAMING_ATTENTION_K, head, first + j);
    const uint16_t *value = attention_row(view, ASSAY_STREAMING_ATTENTION_V, head, first + j);
    widen_row(key, view->dtype, view->d, 1.0f, b->keys + j, KEYS_MOST);
    widen_row(value, view->dtype, view->d, 1.0f, b->values + j * task->pitch, 1);
  }
}

/* Scores of one query with the whole tile; those of keys that are not there are never looked at. */
static void score(const float *query, const float *keys, int64_t d, float *restrict scores) {
  for (int j = 0; j < KEYS_MOST; ++j) scores[j] = 0.0f;
  for (int64_t c = 0; c < d; ++c) {
    for (int j = 0; j < KEYS_MOST; ++j) scores[j] += query[c] * keys[c * KEYS_MOST + j];
  }
}

/* sums = sums * factor + weights * values, a tile's products being added up first. */
static void accumulate(const float *weights, int64_t keys, const float *values, int64_t pitch, float factor,
                       float *sums) {
  for (int64_t c = 0; c < pitch; c += COLUMNS) {
    float part[COLUMNS] = {0};
    for (int64_t j = 0; j < keys; ++j) {
      for (int k = 0; k < COLUMNS; ++k) part[k] += weights[j] * values[j * pitch + c + k];
    }
    for (int k = 0; k < COLUMNS; ++k) sums[c + k] = sums[c + k] * factor + part[k];
  }
}

/* One row meets the first `keys` keys of a tile, which are all that it sees. */
static void meet(const plain_task *task, block *b, int64_t row, int64_t keys) {
  float weights[KEYS_MOST];
  score(b->queries + row * task->pitch, b->keys, task->view.d, weights);
  float top = b->top[row]; /* passes over NaN: the exponentials find it */
  for (int64_t j = 0; j < keys; ++j) top = weights[j] > top ? weights[j] : top;
  /* Until a finite score has come, 0 stands in for the maximum: -inf gives weight 0. */
  const float origin = top == -INFINITY ? 0.0f : top;
  float total = 0.0f;
  for (int64_t j = 0; j < keys; ++j) {
    weights[j] = expf(weights[j] - origin);
    total += weights[j];
  }
  const float factor = b->top[row] == top ? 1.0f : expf(b->top[row] - top);
  accumulate(weights, keys, b->values, task->pitch, factor, b->sums + row * task->pitch);
  normalizer_merge32(b->top[row], b->total[row], top, total, &b->top[row], &b->total[row]);
}

static void run_unit(const void *context, int64_t unit, int thread) {
  const plain_task *task = context;
  const attention_view *view = &task->view;
  const int64_t head = unit / task->blocks;
  const int64_t first = (task->blocks - 1 - unit % task->blocks) * ROWS; /* causal: the longest comes first */
  const int64_t rows = view->n - first < ROWS ? view->n - first : ROWS;
  block b = {.keys = task->scratch + thread * task->slice};
  b.values = b.keys + view->d * KEYS_MOST;
  b.queries = b.values + KEYS_MOST * task->pitch;
  b.sums = b.queries + ROWS * task->pitch;
  memset(b.keys, 0, (size_t)task->slice * sizeof(float));
  for (int64_t r = 0; r < rows; ++r) {
    b.top[r] = -INFINITY;
    b.total[r] = 0.0f;
    widen_row(attention_row(view, ASSAY_STREAMING_ATTENTION_Q, head, first + r), view->dtype, view->d,
              view->scale, b.queries + r * task->pitch, 1);
  }
  for (int64_t key = 0; key < view->n; key += view->block) {
    if (view->causal && key >= first + rows) break; /* this tile and all others are in the future */
    const int64_t keys = view->n - key < view->block ? view->n - key : view->block;
    widen_tile(task, head, key, keys, &b);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t seen = first + r - key + 1; /* when causal */
      if (view->causal && seen <= 0) continue;
      meet(task, &b, r, view->causal && seen < keys ? seen : keys);
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    uint16_t *o = attention_output(view, head, first + r);
    const float *sums = b.sums + r * task->pitch;
    for (int64_t c = 0; c < view->d; ++c) assay_store(o, view->dtype, c, sums[c] / b.total[r]);
  }
}

assay_status assay_attention_cpu(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                 assay_queue *queue) {
  plain_task task = {.view = attention_view_of(in, out, opt)};
  const attention_view *view = &task.view;
  if (attention_empty(view)) return ASSAY_OK;
  task.blocks = (view->n + ROWS - 1) / ROWS;
  task.pitch = (view->d + COLUMNS - 1) / COLUMNS * COLUMNS;
  task.slice = view->d * KEYS_MOST + (KEYS_MOST + 2 * ROWS) * task.pitch;
  const int64_t units = view->batch * view->heads * task.blocks;
  const int threads = attention_threads(view, units, queue->threads);
  task.scratch = assay_queue_scratch(queue, (size_t)(threads * task.slice) * sizeof(float));
  if (task.scratch == NULL) return ASSAY_NO_MEMORY;
  attention_parallel(run_unit, &task, units, threads);
  return ASSAY_OK;
}
