/* SPDX-License-Identifier: MIT */
/*
 * softmax_simd.h - the algorithm that the AVX2 and AVX-512 variants share, written over the words of
 * vec_exp_avx2.h or vec_exp_avx512.h, which a variant includes before this file.
 *
 * Every input becomes a row of adjacent elements: a view with column stride 1 is one already, and others are
 * packed into scratch first, a strip of rows at a time where neighbouring rows share cache lines. A sum's
 * order depends on the number of columns and the strides only: every row of a call gets the same, on any
 * thread.
 */
#ifndef ASSAY_SOFTMAX_SIMD_H
#define ASSAY_SOFTMAX_SIMD_H

#include "softmax.h"
#include "softmax_view.h"

#define INLINE static inline __attribute__((always_inline))

enum {
  SUMS = 4,        /* vectors of partial sums: 32 sums or more */
  LINE_BYTES = 64, /* a cache line */
  STRIP_LINES = 2, /* lines of each column that a strip takes, when its scratch stays small */
  STRIP_ROWS_MOST = STRIP_LINES * LINE_BYTES / 2,
  AHEAD_COLUMNS = 32,           /* how far packing asks for columns in advance */
  STRIP_BYTES_MOST = 1 << 20,   /* about half of a second-level cache */
  WHOLE_COLUMNS_MOST = 1 << 17, /* rows up to here keep their exponentials in scratch, */
  STRIP_COLUMNS_MOST = 1 << 14, /* in strips of several packed rows up to here */
  CHUNK_COLUMNS = 1 << 13,      /* longer rows go by chunks of this */
  STREAM_BYTES_LEAST = 4 << 20, /* outputs from here on bypass the caches */
};

/* What every thread of a call shares. */
typedef struct simd_task {
  softmax_view view;
  bool adjacent; /* columns are adjacent: rows need no packing */
  bool whole;    /* rows fit into scratch */
  int64_t strip; /* rows a step */
  int64_t pitch; /* bytes between packed rows */
  bool stream;
  char *scratch; /* one slice a thread: exponentials, then packed rows */
  int64_t slice;
  int64_t packed_at;
} simd_task;

/* ---- a row, or a chunk of one, of adjacent elements ---------------------------------------------------- */

/* The maximum of 16-bit floats as integers of the same order, without widening. A NaN may win or be passed
 * over: the exponentials find it. */
INLINE float span_max_halves(const char *x, assay_dtype dtype, int64_t n) {
  const int64_t last = n - KEY_LANES; /* the vector there overlaps others, which a maximum does not mind */
  const key end = key_load(x, last);
  key best[SUMS] = {end, end, end, end};
  int64_t i = 0;
  for (; i + SUMS * KEY_LANES <= n; i += SUMS * KEY_LANES) {
#pragma GCC unroll 4
    for (int k = 0; k < SUMS; ++k) best[k] = key_max(best[k], key_load(x, i + k * KEY_LANES));
  }
  for (; i < last; i += KEY_LANES) best[0] = key_max(best[0], key_load(x, i));
  const int16_t top = key_hmax(key_max(key_max(best[0], best[1]), key_max(best[2], best[3])));
  const uint16_t half = (uint16_t)(top < 0 ? top ^ 0x7fff : top);
  return dtype == ASSAY_FP16 ? assay_fp16_to_float(half) : assay_bf16_to_float(half);
}

INLINE float span_max(const char *x, assay_dtype dtype, int64_t n) {
  if (dtype != ASSAY_FP32 && n >= KEY_LANES) return span_max_halves(x, dtype, n);
  vec best[SUMS];
#pragma GCC unroll 4
  for (int k = 0; k < SUMS; ++k) best[k] = vec_set1(-INFINITY);
  int64_t i = 0;
  for (; i + SUMS * VEC_LANES <= n; i += SUMS * VEC_LANES) {
#pragma GCC unroll 4
    for (int k = 0; k < SUMS; ++k) best[k] = vec_max(vec_load(x, dtype, i + k * VEC_LANES), best[k]);
  }
  for (; i + VEC_LANES <= n; i += VEC_LANES) best[0] = vec_max(vec_load(x, dtype, i), best[0]);
  if (i < n) best[0] = vec_max(vec_load_part(x, dtype, i, (int)(n - i), vec_set1(-INFINITY)), best[0]);
  return vec_hmax(vec_max(vec_max(best[0], best[1]), vec_max(best[2], best[3])));
}

/* One block of SUMS vectors of exp(x - m): added to the partial sums, and kept in e unless that is NULL. */
INLINE void exp_block(const char *x, assay_dtype dtype, int64_t i, vec top, vec sum[SUMS], bool keep,
                      float *e) {
#pragma GCC unroll 4
  for (int k = 0; k < SUMS; ++k) {
    const vec v = vec_exp(vec_sub(vec_load(x, dtype, i + k * VEC_LANES), top));
    if (keep) vec_store_scratch(e + i + k * VEC_LANES, v);
    sum[k] = vec_add(sum[k], v);
  }
}

/* The blocks from i on, the rest of the row after them (e is padded to whole vectors), and the total. */
INLINE float exp_rest(const char *x, assay_dtype dtype, int64_t i, int64_t n, vec top, vec sum[SUMS],
                      bool keep, float *e) {
  for (; i + SUMS * VEC_LANES <= n; i += SUMS * VEC_LANES) exp_block(x, dtype, i, top, sum, keep, e);
  for (; i < n; i += VEC_LANES) {
    vec v = i + VEC_LANES <= n ? vec_load(x, dtype, i)
                               : vec_load_part(x, dtype, i, (int)(n - i), vec_set1(-INFINITY));
    v = vec_exp(vec_sub(v, top));
    if (keep) vec_store_scratch(e + i, v);
    sum[0] = vec_add(sum[0], v);
  }
  return vec_hsum(vec_add(vec_add(sum[0], sum[1]), vec_add(sum[2], sum[3])));
}

/* The sum of exp(x - m), with the exponentials kept in e on demand. */
INLINE float span_exp_sum(const char *x, assay_dtype dtype, int64_t n, float m, bool keep, float *e) {
  const vec zero = vec_set1(0.0f);
  vec sum[SUMS] = {zero, zero, zero, zero};
  return exp_rest(x, dtype, 0, n, vec_set1(m), sum, keep, e);
}

/* Elements before the first whole vector at an aligned address. */
INLINE int64_t stream_head(const char *y, assay_dtype dtype, int64_t n) {
  const uintptr_t size = dtype == ASSAY_FP32 ? 4 : 2;
  const uintptr_t vector = VEC_LANES * size;
  const int64_t head = (int64_t)((vector - (uintptr_t)y % vector) % vector / size);
  return head < n ? head : n;
}

INLINE void store_whole(char *y, assay_dtype dtype, int64_t i, vec v, bool stream) {
  if (stream) {
    vec_stream(y, dtype, i, v);
  } else {
    vec_store(y, dtype, i, v);
  }
}

/* y = scale * e in elements [first, n); when streaming, element `first` is aligned or 0. */
INLINE void scale_rest(const float *e, char *y, assay_dtype dtype, int64_t first, int64_t n, vec factor,
                       bool stream) {
  int64_t i = first;
  for (; i + VEC_LANES <= n; i += VEC_LANES) {
    store_whole(y, dtype, i, vec_mul(vec_load_scratch(e + i), factor), stream);
  }
  if (i < n) vec_store_part(y, dtype, i, vec_mul(vec_load_scratch(e + i), factor), (int)(n - i));
}

INLINE int64_t scale_head(const float *e, char *y, assay_dtype dtype, int64_t n, vec factor, bool stream) {
  const int64_t head = stream ? stream_head(y, dtype, n) : 0;
  if (head > 0) vec_store_part(y, dtype, 0, vec_mul(vec_load_scratch(e), factor), (int)head);
  return head;
}

/*
 * Finishes one row and starts the next: y = scale * e, while e takes the exponentials of x, whose sum is
 * returned. Stores that leave the caches, prefetches of the row after x (`next`) and arithmetic overlap that
 * way. Blocks of y are aligned and so up to a vector ahead of those of x: no value is overwritten before it
 * has been used.
 */
INLINE float span_turn(float *e, char *y, float scale, const char *x, float m, const char *next,
                       assay_dtype dtype, int64_t n, bool stream) {
  const int64_t size = dtype == ASSAY_FP32 ? 4 : 2;
  const vec factor = vec_set1(scale);
  const vec top = vec_set1(m);
  const vec zero = vec_set1(0.0f);
  vec sum[SUMS] = {zero, zero, zero, zero};
  const int64_t head = scale_head(e, y, dtype, n, factor, stream);
  int64_t i = 0;
  for (; i + head + SUMS * VEC_LANES <= n; i += SUMS * VEC_LANES) {
#pragma GCC unroll 4
    for (int64_t byte = 0; byte < SUMS * VEC_LANES * size; byte += LINE_BYTES) {
      __builtin_prefetch(next + i * size + byte, 0, 2);
    }
#pragma GCC unroll 4
    for (int k = 0; k < SUMS; ++k) {
      const int64_t at = i + head + k * VEC_LANES;
      store_whole(y, dtype, at, vec_mul(vec_load_scratch(e + at), factor), stream);
    }
    exp_block(x, dtype, i, top, sum, true, e);
  }
  scale_rest(e, y, dtype, i + head, n, factor, stream);
  return exp_rest(x, dtype, i, n, top, sum, true, e);
}

/* y = scale * exp(x - m), for rows whose exponentials were not kept. */
INLINE void span_exp_scale(const char *x, char *y, assay_dtype dtype, int64_t n, float m, float scale,
                           bool stream) {
  const vec top = vec_set1(m);
  const vec factor = vec_set1(scale);
  int64_t i = 0;
  if (stream) {
    i = stream_head(y, dtype, n);
    if (i > 0) {
      const vec v = vec_load_part(x, dtype, 0, (int)i, vec_set1(-INFINITY));
      vec_store_part(y, dtype, 0, vec_mul(vec_exp(vec_sub(v, top)), factor), (int)i);
    }
  }
  for (; i + VEC_LANES <= n; i += VEC_LANES) {
    const vec e = vec_mul(vec_exp(vec_sub(vec_load(x, dtype, i), top)), factor);
    store_whole(y, dtype, i, e, stream);
  }
  if (i < n) {
    const vec v = vec_load_part(x, dtype, i, (int)(n - i), vec_set1(-INFINITY));
    vec_store_part(y, dtype, i, vec_mul(vec_exp(vec_sub(v, top)), factor), (int)(n - i));
  }
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

/* Copies rows [row, row + rows) and columns [column, column + columns) of x to `packed`, row after row. */
INLINE void pack(const simd_task *task, assay_dtype dtype, int64_t row, int64_t rows, int64_t column,
                 int64_t columns, char *packed) {
  const softmax_view *view = &task->view;
  const int64_t size = dtype == ASSAY_FP32 ? 4 : 2;
  const int64_t side = TILE_BYTES / size;
  const char *x = view->x + row * view->row_step + column * view->column_step;
  for (int64_t c = 0; c < columns; c += side) {
    const int64_t width = columns - c < side ? columns - c : side;
    if (view->row_step == size && c + AHEAD_COLUMNS + side <= columns) {
      prefetch_columns(x + (c + AHEAD_COLUMNS) * view->column_step, view->column_step, side, rows * size);
    }
    for (int64_t r = 0; r < rows; r += side) {
      const int64_t height = rows - r < side ? rows - r : side;
      const char *from = x + r * view->row_step + c * view->column_step;
      char *to = packed + r * task->pitch + c * size;
      if (view->row_step == size && width == side && height == side) {
        tile_transpose(from, view->column_step, to, task->pitch, dtype);
      } else {
        softmax_copy_block(from, view->row_step, view->column_step, to, task->pitch, size, height, width);
      }
    }
  }
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

/* The reciprocal of a sum, rounded once: equal entries then give exactly 1/n. */
INLINE float reciprocal(double sum) {
  return (float)(1.0 / sum);
}

/* A strip whose rows fit into scratch. */
INLINE void strip_whole(const simd_task *task, assay_dtype dtype, bool stream, int64_t row, int64_t rows,
                        char *slice) {
  const softmax_view *view = &task->view;
  const int64_t size = dtype == ASSAY_FP32 ? 4 : 2;
  const int64_t n = view->columns;
  float *e = (float *)(void *)slice;
  const char *x = view->x + row * view->row_step;
  int64_t step = view->row_step;
  if (!task->adjacent) {
    pack(task, dtype, row, rows, 0, n, slice + task->packed_at);
    x = slice + task->packed_at;
    step = task->pitch;
  }
  char *y = view->y + row * n * size;
  float sum = span_exp_sum(x, dtype, n, span_max(x, dtype, n), true, e);
  for (int64_t r = 1; r < rows; ++r, y += n * size) {
    x += step;
    const char *next = r + 1 < rows ? x + step : x;
    const float m = span_max(x, dtype, n);
    sum = span_turn(e, y, reciprocal((double)sum), x, m, next, dtype, n, stream);
  }
  const vec factor = vec_set1(reciprocal((double)sum));
  scale_rest(e, y, dtype, scale_head(e, y, dtype, n, factor, stream), n, factor, stream);
}

/*
 * A strip of long rows, in two sweeps over their chunks. The first keeps a running maximum m and the sum s of
 * exp(x - m), scaled down when the maximum grows; the second computes the exponentials again.
 */
INLINE void strip_chunked(const simd_task *task, assay_dtype dtype, bool stream, int64_t row, int64_t rows,
                          char *slice) {
  const softmax_view *view = &task->view;
  const int64_t size = dtype == ASSAY_FP32 ? 4 : 2;
  const int64_t step = task->adjacent ? view->row_step : task->pitch;
  float m[STRIP_ROWS_MOST];
  double s[STRIP_ROWS_MOST];
  for (int64_t r = 0; r < rows; ++r) {
    m[r] = -INFINITY;
    s[r] = 0.0;
  }
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (int64_t c = 0; c < view->columns; c += CHUNK_COLUMNS) {
      const int64_t n = view->columns - c < CHUNK_COLUMNS ? view->columns - c : CHUNK_COLUMNS;
      const char *x = view->x + row * view->row_step + c * view->column_step;
      if (!task->adjacent) {
        x = slice + task->packed_at;
        pack(task, dtype, row, rows, c, n, slice + task->packed_at);
      }
      for (int64_t r = 0; r < rows; ++r, x += step) {
        if (sweep == 0) {
          const float best = span_max(x, dtype, n);
          if (best > m[r]) {
            s[r] *= exp((double)m[r] - (double)best);
            m[r] = best;
          }
          /* Until a finite entry has come, 0 stands in for the maximum: -inf gives 0 and NaN gives NaN. */
          s[r] += (double)span_exp_sum(x, dtype, n, m[r] == -INFINITY ? 0.0f : m[r], false, NULL);
        } else {
          char *y = view->y + ((row + r) * view->columns + c) * size;
          span_exp_scale(x, y, dtype, n, m[r], reciprocal(s[r]), stream);
        }
      }
    }
  }
}

/* Rows [first, last) of the call, one strip after another. */
INLINE void run_rows(const simd_task *task, assay_dtype dtype, bool stream, int64_t first, int64_t last,
                     char *slice) {
  const int64_t most = task->whole && task->adjacent ? last - first : task->strip;
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
  const softmax_view *view = &task->view;
  const softmax_range part = softmax_part(view->rows, task->strip, index, count);
  char *slice = task->scratch + index * task->slice;
  if (view->dtype == ASSAY_FP32 && task->stream)
    run_rows(task, ASSAY_FP32, true, part.first, part.last, slice);
  if (view->dtype == ASSAY_FP32 && !task->stream)
    run_rows(task, ASSAY_FP32, false, part.first, part.last, slice);
  if (view->dtype == ASSAY_FP16 && task->stream)
    run_rows(task, ASSAY_FP16, true, part.first, part.last, slice);
  if (view->dtype == ASSAY_FP16 && !task->stream)
    run_rows(task, ASSAY_FP16, false, part.first, part.last, slice);
  if (view->dtype == ASSAY_BF16 && task->stream)
    run_rows(task, ASSAY_BF16, true, part.first, part.last, slice);
  if (view->dtype == ASSAY_BF16 && !task->stream)
    run_rows(task, ASSAY_BF16, false, part.first, part.last, slice);
}

/* How rows are grouped and how a thread's scratch is divided. */
INLINE void plan_scratch(simd_task *task) {
  const softmax_view *view = &task->view;
  const bool strips = !task->adjacent && view->row_step < view->column_step && view->rows > 1;
  task->whole = view->columns <= (strips ? STRIP_COLUMNS_MOST : WHOLE_COLUMNS_MOST);
  const int64_t span = task->whole ? view->columns : CHUNK_COLUMNS;
  /* An odd number of lines between packed rows spreads them over the sets of the cache. */
  const int64_t lines = (span * view->size + LINE_BYTES - 1) / LINE_BYTES;
  task->pitch = (lines | 1) * LINE_BYTES;
  task->strip = 1;
  if (strips) {
    task->strip = STRIP_LINES * LINE_BYTES / view->size;
    if (task->strip * task->pitch > STRIP_BYTES_MOST) task->strip = LINE_BYTES / view->size;
  }
  /* Exponentials are stored by whole vectors, and their last vectors read from anywhere in the row. */
  const int64_t exponentials = (span + SUMS * VEC_LANES) * (int64_t)sizeof(float);
  task->packed_at = (exponentials + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
  /* The line at the end keeps threads from writing to one line. */
  task->slice = task->packed_at + (task->adjacent ? 0 : task->strip * task->pitch) + LINE_BYTES;
}

/* The whole operator. */
INLINE assay_status simd_softmax(const assay_tensor *in, const assay_tensor *out, assay_queue *queue) {
  simd_task task = {.view = softmax_view_of(in, out)};
  softmax_view *view = &task.view;
  if (view->rows == 0) return ASSAY_OK;

  const int64_t output_rows = view->rows;
  if (view->row_step == 0) view->rows = 1; /* one row, repeated below */
  task.adjacent = view->column_step == view->size;
  task.stream = output_rows * view->columns * view->size >= STREAM_BYTES_LEAST;
  plan_scratch(&task);
  const int threads = softmax_threads(view, task.strip, queue->threads);
  task.scratch = assay_queue_scratch(queue, (size_t)threads * (size_t)task.slice);
  if (task.scratch == NULL) return ASSAY_NO_MEMORY;
  softmax_parallel(run_part, &task, threads);
  if (view->rows < output_rows) softmax_repeat_row(view, output_rows, queue->threads);
  return ASSAY_OK;
}

#endif
