/* SPDX-License-Identifier: MIT */
/*
 * vjp_simd.h - the algorithm that the AVX2 and AVX-512 variants share, over the vocabulary of vec_avx2.h or
 * vec_avx512.h, which each of them includes before this file.
 *
 * A row is read twice, once for its dot product and once for its results, and the second time comes from a
 * cache. Every input becomes rows of adjacent elements: a view with column stride 1 is one already, and
 * others are packed into scratch first, a strip of rows at a time where neighbouring rows share cache lines.
 * The order of a dot product's sums depends on the number of columns only.
 */
#ifndef ASSAY_VJP_SIMD_H
#define ASSAY_VJP_SIMD_H

#include "vjp.h"
#include "vjp_view.h"

#define INLINE static inline __attribute__((always_inline))

enum {
  SUMS = 4,        /* vectors of partial sums: 32 sums or more */
  LINE_BYTES = 64, /* a cache line */
  STRIP_LINES = 2, /* lines of each column that a strip takes, when its scratch stays small */
  STRIP_ROWS_MOST = STRIP_LINES * LINE_BYTES / 2,
  AHEAD_COLUMNS = 32,           /* how far packing asks for columns in advance */
  STRIP_BYTES_MOST = 1 << 20,   /* about half of a second-level cache, for both inputs together */
  PACKED_BYTES_MOST = 3 << 19,  /* rows of more scratch than this go by chunks */
  CHUNK_COLUMNS = 1 << 13,      /* what one set of partial sums covers */
  STREAM_BYTES_LEAST = 4 << 20, /* outputs from here on bypass the caches */
};

/* What every thread of a call shares. */
typedef struct simd_task {
  vjp_view view;
  bool pack_y; /* the columns of y are not adjacent */
  bool pack_g;
  bool whole;    /* packed rows fit into scratch, or none is packed */
  int64_t strip; /* rows a step */
  int64_t pitch; /* bytes between packed rows */
  bool stream;
  char *scratch; /* one slice a thread: packed rows of y, then of g */
  int64_t slice;
} simd_task;

/* Rows of adjacent elements: where the first is, and how far apart they are in bytes. */
typedef struct simd_rows {
  const char *y;
  const char *g;
  int64_t y_step;
  int64_t g_step;
} simd_rows;

/* ---- a row, or a chunk of one, of adjacent elements ---------------------------------------------------- */

INLINE vec load_some(const char *x, assay_dtype dtype, int64_t i, int64_t count) {
  return vec_load_part(x, dtype, i, (int)count, vec_set1(0.0f)); /* adds 0 * 0 to a dot product */
}

INLINE void dot_block(const char *y, const char *g, assay_dtype dtype, int64_t i, vec sum[SUMS]) {
#pragma GCC unroll 4
  for (int k = 0; k < SUMS; ++k) {
    const int64_t at = i + k * VEC_LANES;
    sum[k] = vec_fma(vec_load(y, dtype, at), vec_load(g, dtype, at), sum[k]);
  }
}

/* The elements from i on, and the total. */
INLINE float dot_rest(const char *y, const char *g, assay_dtype dtype, int64_t i, int64_t n, vec sum[SUMS]) {
  for (; i + SUMS * VEC_LANES <= n; i += SUMS * VEC_LANES) dot_block(y, g, dtype, i, sum);
  for (; i + VEC_LANES <= n; i += VEC_LANES) {
    sum[0] = vec_fma(vec_load(y, dtype, i), vec_load(g, dtype, i), sum[0]);
  }
  if (i < n) sum[1] = vec_fma(load_some(y, dtype, i, n - i), load_some(g, dtype, i, n - i), sum[1]);
  return vec_hsum(vec_add(vec_add(sum[0], sum[1]), vec_add(sum[2], sum[3])));
}

INLINE float span_dot(const char *y, const char *g, assay_dtype dtype, int64_t n) {
  const vec zero = vec_set1(0.0f);
  vec sum[SUMS] = {zero, zero, zero, zero};
  return dot_rest(y, g, dtype, 0, n, sum);
}

/* Elements before the first whole vector at an aligned address. */
INLINE int64_t stream_head(const char *dx, assay_dtype dtype, int64_t n) {
  const uintptr_t size = dtype == ASSAY_FP32 ? 4 : 2;
  const uintptr_t vector = VEC_LANES * size;
  const int64_t head = (int64_t)((vector - (uintptr_t)dx % vector) % vector / size);
  return head < n ? head : n;
}

INLINE void write_some(const char *y, const char *g, char *dx, assay_dtype dtype, int64_t i, int64_t count,
                       vec dot) {
  const vec v = vec_mul(load_some(y, dtype, i, count), vec_sub(load_some(g, dtype, i, count), dot));
  vec_store_part(dx, dtype, i, v, (int)count);
}

INLINE void write_whole(const char *y, const char *g, char *dx, assay_dtype dtype, int64_t i, vec dot,
                        bool stream) {
  const vec v = vec_mul(vec_load(y, dtype, i), vec_sub(vec_load(g, dtype, i), dot));
  if (stream) {
    vec_stream(dx, dtype, i, v);
  } else {
    vec_store(dx, dtype, i, v);
  }
}

/* Writes what lies before the first aligned vector, and returns where that begins. */
INLINE int64_t write_head(const char *y, const char *g, char *dx, assay_dtype dtype, int64_t n, vec dot,
                          bool stream) {
  const int64_t head = stream ? stream_head(dx, dtype, n) : 0;
  if (head > 0) write_some(y, g, dx, dtype, 0, head, dot);
  return head;
}

INLINE void write_rest(const char *y, const char *g, char *dx, assay_dtype dtype, int64_t i, int64_t n,
                       vec dot, bool stream) {
  for (; i + VEC_LANES <= n; i += VEC_LANES) write_whole(y, g, dx, dtype, i, dot, stream);
  if (i < n) write_some(y, g, dx, dtype, i, n - i, dot);
}

INLINE void span_write(const char *y, const char *g, char *dx, assay_dtype dtype, int64_t n, float dot,
                       bool stream) {
  const vec d = vec_set1(dot);
  write_rest(y, g, dx, dtype, write_head(y, g, dx, dtype, n, d, stream), n, d, stream);
}

/*
 * Writes one row and returns the dot product of the next, y2 and g2. Stores that leave the caches, reads of a
 * row that is new to them and arithmetic overlap that way; y3 and g3, the row after, are asked for meanwhile.
 */
INLINE float span_turn(const char *y, const char *g, char *dx, float dot, const char *y2, const char *g2,
                       const char *y3, const char *g3, assay_dtype dtype, int64_t n, bool stream) {
  const int64_t size = dtype == ASSAY_FP32 ? 4 : 2;
  const vec d = vec_set1(dot);
  const vec zero = vec_set1(0.0f);
  vec sum[SUMS] = {zero, zero, zero, zero};
  const int64_t head = write_head(y, g, dx, dtype, n, d, stream);
  int64_t i = 0;
  for (; i + head + SUMS * VEC_LANES <= n; i += SUMS * VEC_LANES) {
#pragma GCC unroll 4
    for (int64_t byte = 0; byte < SUMS * VEC_LANES * size; byte += LINE_BYTES) {
      __builtin_prefetch(y3 + i * size + byte, 0, 2);
      __builtin_prefetch(g3 + i * size + byte, 0, 2);
    }
#pragma GCC unroll 4
    for (int k = 0; k < SUMS; ++k) write_whole(y, g, dx, dtype, i + head + k * VEC_LANES, d, stream);
    dot_block(y2, g2, dtype, i, sum);
  }
  write_rest(y, g, dx, dtype, i + head, n, d, stream);
  return dot_rest(y2, g2, dtype, i, n, sum);
}

/* ---- packing ------------------------------------------------------------------------------------------- */

/* Asks for `bytes` of each column of a transposed view: hardware does not foresee steps of a page and more.
 */
INLINE void prefetch_columns(const char *x, int64_t column_step, int64_t columns, int64_t bytes) {
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t byte = 0; byte < bytes; byte += LINE_BYTES) {
      __builtin_prefetch(x + c * column_step + byte, 0, 2);
    }
  }
}

/* Copies a block of elements to rows of adjacent ones, and touches nothing between them. */
INLINE void copy_block(const char *from, int64_t row_step, int64_t column_step, char *to, int64_t pitch,
                       int64_t size, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    const char *element = from + r * row_step;
    char *place = to + r * pitch;
    for (int64_t c = 0; c < columns; ++c, element += column_step, place += size) {
      if (size == 4) {
        memcpy(place, element, 4);
      } else {
        memcpy(place, element, 2);
      }
    }
  }
}

/* Copies rows [row, row + rows) and columns [column, column + columns) of an input, row after row. */
INLINE void pack(const vjp_input *input, assay_dtype dtype, int64_t row, int64_t rows, int64_t column,
                 int64_t columns, char *packed, int64_t pitch) {
  const int64_t size = dtype == ASSAY_FP32 ? 4 : 2;
  const int64_t side = TILE_BYTES / size;
  const char *start = input->data + row * input->row_step + column * input->column_step;
  for (int64_t c = 0; c < columns; c += side) {
    const int64_t width = columns - c < side ? columns - c : side;
    if (input->row_step == size && c + AHEAD_COLUMNS + side <= columns) {
      prefetch_columns(start + (c + AHEAD_COLUMNS) * input->column_step, input->column_step, side,
                       rows * size);
    }
    for (int64_t r = 0; r < rows; r += side) {
      const int64_t height = rows - r < side ? rows - r : side;
      const char *from = start + r * input->row_step + c * input->column_step;
      char *to = packed + r * pitch + c * size;
      if (input->row_step == size && width == side && height == side) {
        tile_transpose(from, input->column_step, to, pitch, dtype);
      } else {
        copy_block(from, input->row_step, input->column_step, to, pitch, size, height, width);
      }
    }
  }
}

/* Rows [row, row + rows), columns [column, column + n): where they lie, or where they have been packed. */
INLINE simd_rows rows_of(const simd_task *task, assay_dtype dtype, int64_t row, int64_t rows, int64_t column,
                         int64_t n, char *slice) {
  const vjp_input *y = &task->view.y;
  const vjp_input *g = &task->view.g;
  simd_rows found = {.y = y->data + row * y->row_step + column * y->column_step,
                     .g = g->data + row * g->row_step + column * g->column_step,
                     .y_step = y->row_step,
                     .g_step = g->row_step};
  if (task->pack_y) {
    pack(y, dtype, row, rows, column, n, slice, task->pitch);
    found.y = slice;
    found.y_step = task->pitch;
    slice += task->strip * task->pitch;
  }
  if (task->pack_g) {
    pack(g, dtype, row, rows, column, n, slice, task->pitch);
    found.g = slice;
    found.g_step = task->pitch;
  }
  return found;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

/* Elements of the chunk that begins at column c. */
INLINE int64_t chunk_at(int64_t columns, int64_t c) {
  return columns - c < CHUNK_COLUMNS ? columns - c : CHUNK_COLUMNS;
}

/* A strip whose rows need no packing or have been packed whole. */
INLINE void strip_whole(const simd_task *task, assay_dtype dtype, bool stream, int64_t row, int64_t rows,
                        char *slice) {
  const int64_t size = dtype == ASSAY_FP32 ? 4 : 2;
  const int64_t n = task->view.columns;
  const simd_rows at = rows_of(task, dtype, row, rows, 0, n, slice);
  const char *y = at.y;
  const char *g = at.g;
  char *dx = task->view.dx + row * n * size;
  double dot = 0;
  for (int64_t c = 0; c < n; c += CHUNK_COLUMNS) {
    dot += (double)span_dot(y + c * size, g + c * size, dtype, chunk_at(n, c));
  }
  for (int64_t r = 1; r < rows; ++r, y += at.y_step, g += at.g_step, dx += n * size) {
    const int64_t y_ahead = r + 1 < rows ? 2 * at.y_step : at.y_step;
    const int64_t g_ahead = r + 1 < rows ? 2 * at.g_step : at.g_step;
    double next = 0;
    for (int64_t c = 0; c < n; c += CHUNK_COLUMNS) {
      const char *yc = y + c * size;
      const char *gc = g + c * size;
      next += (double)span_turn(yc, gc, dx + c * size, (float)dot, yc + at.y_step, gc + at.g_step,
                                yc + y_ahead, gc + g_ahead, dtype, chunk_at(n, c), stream);
    }
    dot = next;
  }
  span_write(y, g, dx, dtype, n, (float)dot, stream);
}

/* A strip of rows too long to be packed whole: one sweep over their chunks for the dot products, another for
 * the results. */
INLINE void strip_chunked(const simd_task *task, assay_dtype dtype, bool stream, int64_t row, int64_t rows,
                          char *slice) {
  const int64_t size = dtype == ASSAY_FP32 ? 4 : 2;
  const int64_t columns = task->view.columns;
  double dot[STRIP_ROWS_MOST] = {0};
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (int64_t c = 0; c < columns; c += CHUNK_COLUMNS) {
      const int64_t n = chunk_at(columns, c);
      const simd_rows at = rows_of(task, dtype, row, rows, c, n, slice);
      for (int64_t r = 0; r < rows; ++r) {
        const char *y = at.y + r * at.y_step;
        const char *g = at.g + r * at.g_step;
        if (sweep == 0) {
          dot[r] += (double)span_dot(y, g, dtype, n);
        } else {
          char *dx = task->view.dx + ((row + r) * columns + c) * size;
          span_write(y, g, dx, dtype, n, (float)dot[r], stream);
        }
      }
    }
  }
}

/* Rows [first, last) of the call, one strip after another. */
INLINE void run_rows(const simd_task *task, assay_dtype dtype, bool stream, int64_t first, int64_t last,
                     char *slice) {
  const int64_t most = task->pack_y || task->pack_g ? task->strip : last - first;
  for (int64_t row = first; row < last; row += most) {
    const int64_t rows = last - row < most ? last - row : most;
    if (task->whole) {
      strip_whole(task, dtype, stream, row, rows, slice);
    } else {
      strip_chunked(task, dtype, stream, row, rows, slice);
    }
  }
  if (stream) vec_fence();
}

/* The part of thread `index` of `count`, with the element type and the kind of store as constants. */
static void run_part(const void *context, int index, int count) {
  const simd_task *task = context;
  const assay_dtype dtype = task->view.dtype;
  const vjp_range part = vjp_part(task->view.rows, task->strip, index, count);
  char *slice = task->slice > 0 ? task->scratch + index * task->slice : NULL;
  if (dtype == ASSAY_FP32 && task->stream) run_rows(task, ASSAY_FP32, true, part.first, part.last, slice);
  if (dtype == ASSAY_FP32 && !task->stream) run_rows(task, ASSAY_FP32, false, part.first, part.last, slice);
  if (dtype == ASSAY_FP16 && task->stream) run_rows(task, ASSAY_FP16, true, part.first, part.last, slice);
  if (dtype == ASSAY_FP16 && !task->stream) run_rows(task, ASSAY_FP16, false, part.first, part.last, slice);
  if (dtype == ASSAY_BF16 && task->stream) run_rows(task, ASSAY_BF16, true, part.first, part.last, slice);
  if (dtype == ASSAY_BF16 && !task->stream) run_rows(task, ASSAY_BF16, false, part.first, part.last, slice);
}

/* How rows are grouped and how a thread's scratch is divided. */
INLINE void plan_scratch(simd_task *task) {
  const vjp_view *view = &task->view;
  const int64_t inputs = (task->pack_y ? 1 : 0) + (task->pack_g ? 1 : 0);
  const bool strips = vjp_walks_columns(view, &view->y) || vjp_walks_columns(view, &view->g);
  const int64_t least = strips ? LINE_BYTES / view->size : 1;
  /* An odd number of lines between packed rows spreads them over the sets of the cache. */
  int64_t lines = view->columns / (LINE_BYTES / view->size) + 1;
  task->whole = inputs == 0 || lines <= PACKED_BYTES_MOST / LINE_BYTES / least / inputs;
  if (!task->whole) lines = CHUNK_COLUMNS * view->size / LINE_BYTES;
  task->pitch = (lines | 1) * LINE_BYTES;
  task->strip = least;
  if (strips && inputs * STRIP_LINES * least * task->pitch <= STRIP_BYTES_MOST) {
    task->strip = STRIP_LINES * least;
  }
  /* The line at the end keeps threads from writing to one line. */
  task->slice = inputs == 0 ? 0 : inputs * task->strip * task->pitch + LINE_BYTES;
}

/* The whole operator. */
INLINE assay_status simd_backward(const assay_tensor *in, const assay_tensor *out, assay_queue *queue) {
  simd_task task = {.view = vjp_view_of(in, out)};
  const vjp_view *view = &task.view;
  if (view->rows == 0) return ASSAY_OK;

  task.pack_y = view->y.column_step != view->size;
  task.pack_g = view->g.column_step != view->size;
  task.stream = view->rows * view->columns * view->size >= STREAM_BYTES_LEAST;
  plan_scratch(&task);
  const int threads = vjp_threads(view, task.strip, queue->threads);
  if (task.slice > 0) {
    task.scratch = assay_queue_scratch(queue, (size_t)threads * (size_t)task.slice);
    if (task.scratch == NULL) return ASSAY_NO_MEMORY;
  }
  vjp_parallel(run_part, &task, threads);
  return ASSAY_OK;
}

#endif
