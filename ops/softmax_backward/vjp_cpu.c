/* SPDX-License-Identifier: MIT */
/*
 * vjp_cpu.c - the softmax's backward pass in portable C: any strides, any CPU.
 *
 * Both inputs are widened to floats in scratch, a strip of neighbouring rows at a time where these share
 * cache lines. Rows too long for the scratch go by chunks. Dot products have 32 partial sums a chunk, which
 * also lets compilers vectorise, and the chunks are added in FP64.
 */
#include "vjp.h"
#include "vjp_view.h"

enum {
  PARTIALS = 32,
  STRIP_ROWS = 16,      /* 32 or 64 bytes of each column of a transposed view */
  CHUNK_COLUMNS = 4096, /* a strip of chunks takes 256 KiB for each input */
};

typedef struct plain_task {
  vjp_view view;
  int64_t strip;  /* rows a step */
  int64_t pitch;  /* floats between rows of the scratch */
  float *scratch; /* for every thread strip * pitch floats of y, then as many of g */
} plain_task;

static float chunk_dot(const float *y, const float *g, int64_t n) {
  float sum[PARTIALS] = {0};
  int64_t i = 0;
  for (; i + PARTIALS <= n; i += PARTIALS) {
    for (int k = 0; k < PARTIALS; ++k) sum[k] += y[i + k] * g[i + k];
  }
  for (int k = 0; i + k < n; ++k) sum[k] += y[i + k] * g[i + k];
  for (int half = PARTIALS / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; ++k) sum[k] += sum[k + half];
  }
  return sum[0];
}

/* Rows [row, row + rows), columns [column, column + n) of an input as floats; memory order decides the order
 * of loops. */
static void widen(const plain_task *task, const vjp_input *input, int64_t row, int64_t rows, int64_t column,
                  int64_t n, float *to) {
  const assay_dtype dtype = task->view.dtype;
  const char *start = input->data + row * input->row_step + column * input->column_step;
  if (input->row_step >= input->column_step) {
    for (int64_t r = 0; r < rows; ++r, start += input->row_step, to += task->pitch) {
      for (int64_t c = 0; c < n; ++c) to[c] = assay_load(start + c * input->column_step, dtype, 0);
    }
    return;
  }
  for (int64_t c = 0; c < n; ++c) {
    const char *element = start + c * input->column_step;
    for (int64_t r = 0; r < rows; ++r, element += input->row_step) {
      to[r * task->pitch + c] = assay_load(element, dtype, 0);
    }
  }
}

static void store(const plain_task *task, int64_t row, int64_t column, const float *y, const float *g,
                  int64_t n, float dot) {
  const vjp_view *view = &task->view;
  char *dx = view->dx + (row * view->columns + column) * view->size;
  for (int64_t c = 0; c < n; ++c) assay_store(dx, view->dtype, c, y[c] * (g[c] - dot));
}

/*
 * A strip of rows. The first sweep over its chunks computes the dot products, the second one the results.
 * Rows of a single chunk are still in the scratch then.
 */
static void strip_of_rows(const plain_task *task, int64_t row, int64_t rows, float *scratch) {
  const vjp_view *view = &task->view;
  float *y = scratch;
  float *g = scratch + task->strip * task->pitch;
  double dot[STRIP_ROWS] = {0};
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (int64_t c = 0; c < view->columns; c += CHUNK_COLUMNS) {
      const int64_t n = view->columns - c < CHUNK_COLUMNS ? view->columns - c : CHUNK_COLUMNS;
      if (sweep == 0 || view->columns > CHUNK_COLUMNS) {
        widen(task, &view->y, row, rows, c, n, y);
        widen(task, &view->g, row, rows, c, n, g);
      }
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t at = r * task->pitch;
        if (sweep == 0) {
          dot[r] += (double)chunk_dot(y + at, g + at, n);
        } else {
          store(task, row + r, c, y + at, g + at, n, (float)dot[r]);
        }
      }
    }
  }
}

static void run_part(const void *context, int index, int count) {
  const plain_task *task = context;
  const vjp_range part = vjp_part(task->view.rows, task->strip, index, count);
  float *scratch = task->scratch + 2 * index * task->strip * task->pitch;
  for (int64_t row = part.first; row < part.last; row += task->strip) {
    const int64_t rows = part.last - row < task->strip ? part.last - row : task->strip;
    strip_of_rows(task, row, rows, scratch);
  }
}

assay_status assay_vjp_cpu(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                           assay_queue *queue) {
  (void)opt; /* no knobs */
  plain_task task = {.view = vjp_view_of(in, out)};
  const vjp_view *view = &task.view;
  if (view->rows == 0) return ASSAY_OK;

  task.strip = vjp_walks_columns(view, &view->y) || vjp_walks_columns(view, &view->g) ? STRIP_ROWS : 1;
  /* 16 more than a power of two: rows of a strip then fall into different sets of the cache. */
  task.pitch = (view->columns < CHUNK_COLUMNS ? view->columns : CHUNK_COLUMNS) + 16;
  const int threads = vjp_threads(view, task.strip, queue->threads);
  const int64_t floats = 2 * threads * task.strip * task.pitch;
  task.scratch = assay_queue_scratch(queue, (size_t)floats * sizeof(float));
  if (task.scratch == NULL) return ASSAY_NO_MEMORY;
  vjp_parallel(run_part, &task, threads);
  return ASSAY_OK;
}
