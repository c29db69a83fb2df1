/* SPDX-License-Identifier: MIT */
/*
 * softmax_view.h - what all CPU variants of the softmax share: steps in bytes, division among threads,
 * copying.
 */
#ifndef ASSAY_SOFTMAX_VIEW_H
#define ASSAY_SOFTMAX_VIEW_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "assay/workshop.h"

/* One call: where x is and how far apart its elements are, in bytes; y is contiguous. */
typedef struct softmax_view {
  const char *x;
  char *y;
  assay_dtype dtype;
  int64_t size; /* of an element */
  int64_t rows;
  int64_t columns;
  int64_t row_step;
  int64_t column_step;
} softmax_view;

typedef struct softmax_range {
  int64_t first;
  int64_t last;
} softmax_range;

/* Arguments are valid here. A size of 1 may come with any stride, which no address uses: it is replaced. */
static inline softmax_view softmax_view_of(const assay_tensor *in, const assay_tensor *out) {
  const int64_t size = in[0].dtype == ASSAY_FP32 ? 4 : 2;
  softmax_view view = {
      .x = in[0].data,
      .y = out[0].data,
      .dtype = in[0].dtype,
      .size = size,
      .rows = in[0].shape[0],
      .columns = in[0].shape[1],
      .row_step = in[0].shape[0] > 1 ? in[0].stride[0] * size : 0,
      .column_step = in[0].shape[1] > 1 ? in[0].stride[1] * size : size,
  };
  assert(view.rows >= 0 && view.columns >= 1 && view.row_step >= 0 && view.column_step >= 0);
  return view;
}

/* Threads worth starting: one for small calls, and never more than there are strips. */
static inline int softmax_threads(const softmax_view *view, int64_t strip, int most) {
  const int64_t strips = (view->rows + strip - 1) / strip;
  if (most <= 1 || view->rows * view->columns < 65536) return 1;
  return strips < most ? (int)strips : most;
}

/* The rows of part `index` of `count`: whole strips, as even as they can be. */
static inline softmax_range softmax_part(int64_t rows, int64_t strip, int index, int count) {
  const int64_t strips = (rows + strip - 1) / strip;
  const int64_t each = strips / count;
  const int64_t extra = strips % count; /* the first `extra` parts have one more */
  const int64_t before = index * each + (index < extra ? index : extra);
  const int64_t after = before + each + (index < extra ? 1 : 0);
  return (softmax_range){before * strip, after * strip < rows ? after * strip : rows};
}

/* Calls run(context, 0..parts-1, parts), each on a thread of its own where OpenMP is there. */
static inline void softmax_parallel(void (*run)(const void *context, int index, int count),
                                    const void *context, int parts) {
  if (parts == 1) {
    run(context, 0, 1);
    return;
  }
#if defined(_OPENMP)
#pragma omp parallel for num_threads(parts) schedule(static)
#endif
  for (int index = 0; index < parts; ++index) run(context, index, parts);
}

/* Copies a block of `rows` x `columns` elements to rows of adjacent elements, and touches nothing between
 * them. */
static inline __attribute__((always_inline)) void softmax_copy_block(const char *from, int64_t row_step,
                                                                     int64_t column_step, char *to,
                                                                     int64_t pitch, int64_t size,
                                                                     int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    const char *x = from + r * row_step;
    char *y = to + r * pitch;
    for (int64_t c = 0; c < columns; ++c, x += column_step, y += size) {
      if (size == 4) {
        memcpy(y, x, 4);
      } else {
        memcpy(y, x, 2);
      }
    }
  }
}

/* Rows 1..rows-1 of y become copies of row 0. */
static inline void softmax_repeat_row(const softmax_view *view, int64_t rows, int threads) {
  const int64_t bytes = view->columns * view->size;
  const bool wide = threads > 1 && rows * view->columns >= 65536;
#if defined(_OPENMP)
#pragma omp parallel for num_threads(wide ? threads : 1) schedule(static)
#endif
  for (int64_t r = 1; r < rows; ++r) memcpy(view->y + r * bytes, view->y, (size_t)bytes);
  (void)wide;
}

#endif
