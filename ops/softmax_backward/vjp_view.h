/* SPDX-License-Identifier: MIT */
/*
 * vjp_view.h - what all CPU variants of softmax_backward share: steps in bytes, the division of rows among
 * threads.
 */
#ifndef ASSAY_VJP_VIEW_H
#define ASSAY_VJP_VIEW_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "assay/workshop.h"

/* Where an input is and how far apart its elements are, in bytes. */
typedef struct vjp_input {
  const char *data;
  int64_t row_step;
  int64_t column_step;
} vjp_input;

/* One call; dx is contiguous. */
typedef struct vjp_view {
  vjp_input y;
  vjp_input g;
  char *dx;
  assay_dtype dtype;
  int64_t size; /* of an element */
  int64_t rows;
  int64_t columns;
} vjp_view;

typedef struct vjp_range {
  int64_t first;
  int64_t last;
} vjp_range;

/* Arguments are valid here. A size of 1 may come with any stride, which no address uses: it is replaced. */
static inline vjp_input vjp_input_of(const assay_tensor *tensor, int64_t size) {
  const vjp_input input = {
      .data = tensor->data,
      .row_step = tensor->shape[0] > 1 ? tensor->stride[0] * size : 0,
      .column_step = tensor->shape[1] > 1 ? tensor->stride[1] * size : size,
  };
  assert(input.row_step >= 0 && input.column_step >= 0);
  return input;
}

static inline vjp_view vjp_view_of(const assay_tensor *in, const assay_tensor *out) {
  const assay_tensor *dx = &out[ASSAY_SOFTMAX_BACKWARD_DX];
  const int64_t size = dx->dtype == ASSAY_FP32 ? 4 : 2;
  assert(dx->shape[0] >= 0 && dx->shape[1] >= 1);
  return (vjp_view){
      .y = vjp_input_of(&in[ASSAY_SOFTMAX_BACKWARD_Y], size),
      .g = vjp_input_of(&in[ASSAY_SOFTMAX_BACKWARD_G], size),
      .dx = dx->data,
      .dtype = dx->dtype,
      .size = size,
      .rows = dx->shape[0],
      .columns = dx->shape[1],
  };
}

/* Whether neighbouring rows of an input share cache lines that neighbouring columns do not. */
static inline bool vjp_walks_columns(const vjp_view *view, const vjp_input *input) {
  return view->rows > 1 && input->column_step != view->size && input->row_step < input->column_step;
}

/* Threads worth starting: one for small calls, and never more than there are strips. */
static inline int vjp_threads(const vjp_view *view, int64_t strip, int most) {
  const int64_t strips = (view->rows + strip - 1) / strip;
  if (most <= 1 || view->rows * view->columns < 65536) return 1;
  return strips < most ? (int)strips : most;
}

/* The rows of part `index` of `count`: whole strips, as even as they can be. */
static inline vjp_range vjp_part(int64_t rows, int64_t strip, int index, int count) {
  const int64_t strips = (rows + strip - 1) / strip;
  const int64_t each = strips / count;
  const int64_t extra = strips % count; /* the first `extra` parts have one more */
  const int64_t before = index * each + (index < extra ? index : extra);
  const int64_t after = before + each + (index < extra ? 1 : 0);
  return (vjp_range){before * strip, after * strip < rows ? after * strip : rows};
}

/* Calls run(context, 0..parts-1, parts), each on a thread of its own where OpenMP is there. */
static inline void vjp_parallel(void (*run)(const void *context, int index, int count), const void *context,
                                int parts) {
  if (parts == 1) {
    run(context, 0, 1);
    return;
  }
#if defined(_OPENMP)
#pragma omp parallel for num_threads(parts) schedule(static)
#endif
  for (int index = 0; index < parts; ++index) run(context, index, parts);
}

#endif
