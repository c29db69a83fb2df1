/* SPDX-License-Identifier: MIT */
/*
 * softmax_cpu.c - the softmax in portable C: any strides, any CPU, libm's expf.
 *
 * Rows are widened to floats in scratch, a strip of neighbouring rows at a time where these share cache
 * lines. Rows too long for the scratch go by chunks. Sums have 32 partial sums, which also lets compilers
 * vectorise.
 */
#include <stdbool.h>

#include "softmax.h"
#include "softmax_view.h"

enum {
  PARTIALS = 32,
  STRIP_ROWS = 16,      /* 32 or 64 bytes of each column of a transposed view */
  CHUNK_COLUMNS = 4096, /* a strip of chunks takes 256 KiB */
};

typedef struct plain_task {
  softmax_view view;
  int64_t strip;  /* rows a step */
  int64_t pitch;  /* floats between rows of the scratch */
  float *scratch; /* strip * pitch floats for every thread */
} plain_task;

/* The maximum of a chunk; NaN entries are passed over, the sum finds them. */
static float chunk_max(const float *x, int64_t n) {
  float best[PARTIALS];
  for (int k = 0; k < PARTIALS; ++k) best[k] = -INFINITY;
  int64_t i = 0;
  for (; i + PARTIALS <= n; i += PARTIALS) {
    for (int k = 0; k < PARTIALS; ++k) best[k] = x[i + k] > best[k] ? x[i + k] : best[k];
  }
  for (int k = 0; i + k < n; ++k) best[k] = x[i + k] > best[k] ? x[i + k] : best[k];
  for (int k = 1; k < PARTIALS; ++k) best[0] = best[k] > best[0] ? best[k] : best[0];
  return best[0];
}

static float chunk_sum(const float *e, int64_t n) {
  float sum[PARTIALS] = {0};
  int64_t i = 0;
  for (; i + PARTIALS <= n; i += PARTIALS) {
    for (int k = 0; k < PARTIALS; ++k) sum[k] += e[i + k];
  }
  for (int k = 0; i + k < n; ++k) sum[k] += e[i + k];
  for (int half = PARTIALS / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; ++k) sum[k] += sum[k + half];
  }
  return sum[0];
}

static void chunk_exp(float *x, int64_t n, float m) {
  for (int64_t i = 0; i < n; ++i) x[i] = expf(x[i] - m);
}

/* Rows [row, row + rows), columns [column, column + n) of x as floats; memory order decides the order of
 * loops. */
static void widen(const plain_task *task, int64_t row, int64_t rows, int64_t column, int64_t n, float *to) {
  const softmax_view *view = &task->view;
  const char *x = view->x + row * view->row_step + column * view->column_step;
  if (rows == 1) {
    for (int64_t c = 0; c < n; ++c) to[c] = assay_load(x + c * view->column_step, view->dtype, 0);
    return;
  }
  for (int64_t c = 0; c < n; ++c) {
    const char *element = x + c * view->column_step;
    for (int64_t r = 0; r < rows; ++r, element += view->row_step) {
      to[r * task->pitch + c] = assay_load(element, view->dtype, 0);
    }
  }
}

static void store(const plain_task *task, int64_t row, int64_t column, const float *e, int64_t n,
                  float scale) {
  const softmax_view *view = &task->view;
  char *y = view->y + (row * view->columns + column) * view->size;
  for (int64_t c = 0; c < n; ++c) assay_store(y, view->dtype, c, e[c] * scale);
}

/* A strip whose rows fit into the scratch. */
static void strip_whole(const plain_task *task, int64_t row, int64_t rows, float *e) {
  const int64_t n = task->view.columns;
  widen(task, row, rows, 0, n, e);
  for (int64_t r = 0; r < rows; ++r, e += task->pitch) {
    chunk_exp(e, n, chunk_max(e, n));
    store(task, row + r, 0, e, n, (float)(1.0 / (double)chunk_sum(e, n)));
  }
}

/*
 * A strip of long rows, in two sweeps over their chunks. The first keeps a running maximum m and the sum s of
 * exp(x - m), scaled down when the maximum grows; the second computes the exponentials again.
 */
static void strip_chunked(const plain_task *task, int64_t row, int64_t rows, float *scratch) {
  const int64_t columns = task->view.columns;
  float m[STRIP_ROWS];
  double s[STRIP_ROWS];
  for (int64_t r = 0; r < rows; ++r) {
    m[r] = -INFINITY;
    s[r] = 0.0;
  }
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (int64_t c = 0; c < columns; c += CHUNK_COLUMNS) {
      const int64_t n = columns - c < CHUNK_COLUMNS ? columns - c : CHUNK_COLUMNS;
      widen(task, row, rows, c, n, scratch);
      for (int64_t r = 0; r < rows; ++r) {
        float *e = scratch + r * task->pitch;
        if (sweep == 1) {
          chunk_exp(e, n, m[r]);
          store(task, row + r, c, e, n, (float)(1.0 / s[r]));
          continue;
        }
        const float best = chunk_max(e, n);
        if (best > m[r]) {
          s[r] *= exp((double)m[r] - (double)best);
          m[r] = best;
        }
        /* Until a finite entry has come, 0 stands in for the maximum: -inf gives 0 and NaN gives NaN. */
        chunk_exp(e, n, m[r] == -INFINITY ? 0.0f : m[r]);
        s[r] += (double)chunk_sum(e, n);
      }
    }
  }
}

static void run_part(const void *context, int index, int count) {
  const plain_task *task = context;
  const softmax_range part = softmax_part(task->view.rows, task->strip, index, count);
  float *scratch = task->scratch + index * task->strip * task->pitch;
  for (int64_t row = part.first; row < part.last; row += task->strip) {
    const int64_t rows = part.last - row < task->strip ? part.last - row : task->strip;
    if (task->view.columns <= CHUNK_COLUMNS) {
      strip_whole(task, row, rows, scratch);
    } else {
      strip_chunked(task, row, rows, scratch);
    }
  }
}

assay_status assay_softmax_cpu(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                               assay_queue *queue) {
  (void)opt; /* no knobs */
  plain_task task = {.view = softmax_view_of(in, out)};
  softmax_view *view = &task.view;
  if (view->rows == 0) return ASSAY_OK;

  const int64_t output_rows = view->rows;
  if (view->row_step == 0) view->rows = 1; /* one row, repeated below */
  task.strip = view->row_step < view->column_step && view->rows > 1 ? STRIP_ROWS : 1;
  /* 16 more than a power of two: rows of a strip then fall into different sets of the cache. */
  task.pitch = (view->columns < CHUNK_COLUMNS ? view->columns : CHUNK_COLUMNS) + 16;
  const int threads = softmax_threads(view, task.strip, queue->threads);
  const int64_t floats = threads * task.strip * task.pitch;
  task.scratch = assay_queue_scratch(queue, (size_t)floats * sizeof(float));
  if (task.scratch == NULL) return ASSAY_NO_MEMORY;
  softmax_parallel(run_part, &task, threads);
  if (view->rows < output_rows) softmax_repeat_row(view, output_rows, queue->threads);
  return ASSAY_OK;
}
