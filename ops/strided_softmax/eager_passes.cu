/* SPDX-License-Identifier: MIT */
/*
 * eager_passes.cu - what a program without a fused kernel launches on a GPU: a whole matrix a kernel, FP32 in
 * between. Baselines of the softmax operators are made of these.
 *
 *   eager_copy     a view without gaps, tile by tile; WIDE: as FP32
 *   eager_reduce   the maximum or the sum of each row
 *   eager_each     one operation on every element
 *
 * builds: eager_copy DTYPE=0,1,2 WIDE=0,1
 * builds: eager_reduce OP=0,1
 * builds: eager_each DTYPE=1 OP=2,3,4,5,6
 */
#include "assay/kernel.h"

typedef struct eager_args {
  const void *from;
  const float *other; /* a value for each row, or for each element */
  void *to;
  int64_t rows, columns;
  int64_t row_stride, column_stride; /* of what is copied, in elements */
} eager_args;

/* The defines of a launch: element type, operation, whether a copy widens. */
enum { MAXIMUM = 0, SUM = 1, SUBTRACT = 2, EXPONENTIAL = 3, DIVIDE = 4, MULTIPLY = 5, ROUND = 6 };
enum { THREADS = 256, SQUARE = 32, PIECE = 4 * THREADS };

#ifdef ASSAY_DEVICE

#if defined(WIDE)
/* Reads go along the smaller stride, writes along columns. */
KERNEL(eager_copy, eager_args, THREADS) {
  __shared__ element tile[SQUARE][SQUARE + 1];
  const int64_t across = (args.columns + SQUARE - 1) / SQUARE;
  const int64_t r0 = blockIdx.x / across * SQUARE;
  const int64_t c0 = blockIdx.x % across * SQUARE;
  const bool turned = args.row_stride < args.column_stride;
  for (int k = (int)threadIdx.x; k < SQUARE * SQUARE; k += THREADS) {
    const int r = turned ? k % SQUARE : k / SQUARE;
    const int c = turned ? k / SQUARE : k % SQUARE;
    if (r0 + r < args.rows && c0 + c < args.columns)
      tile[r][c] = ((const element *)args.from)[(r0 + r) * args.row_stride + (c0 + c) * args.column_stride];
  }
  __syncthreads();
  for (int k = (int)threadIdx.x; k < SQUARE * SQUARE; k += THREADS) {
    const int r = k / SQUARE;
    const int c = k % SQUARE;
    const int64_t at = (r0 + r) * args.columns + c0 + c;
    if (r0 + r >= args.rows || c0 + c >= args.columns) continue;
#if WIDE
    ((float *)args.to)[at] = element_to_float(tile[r][c]);
#else
    ((element *)args.to)[at] = tile[r][c];
#endif
  }
}
#elif OP < 2
KERNEL(eager_reduce, eager_args, THREADS) {
  __shared__ float part[THREADS / 32];
  const float *from = (const float *)args.from + blockIdx.x * args.columns;
  float value = OP == MAXIMUM ? -ASSAY_INFINITY : 0.0f;
#pragma unroll 4
  for (int64_t c = threadIdx.x; c < args.columns; c += THREADS)
    value = OP == MAXIMUM ? fmaxf(value, from[c]) : value + from[c];
  value = OP == MAXIMUM ? warp_max(value) : warp_sum(value);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int k = 1; k < THREADS / 32; ++k) value = OP == MAXIMUM ? fmaxf(value, part[k]) : value + part[k];
  ((float *)args.to)[blockIdx.x] = value;
}
#else
KERNEL(eager_each, eager_args, THREADS) {
  const int64_t across = (args.columns + PIECE - 1) / PIECE;
  const int64_t row = blockIdx.x / across;
#pragma unroll
  for (int k = 0; k < PIECE / THREADS; ++k) {
    const int64_t c = blockIdx.x % across * PIECE + k * THREADS + threadIdx.x;
    const int64_t at = row * args.columns + c;
    if (c >= args.columns) continue;
    const float value = ((const float *)args.from)[at];
#if OP == 2
    ((float *)args.to)[at] = value - args.other[row];
#elif OP == 3
    ((float *)args.to)[at] = expf(value);
#elif OP == 4
    ((float *)args.to)[at] = value / args.other[row];
#elif OP == 5
    ((float *)args.to)[at] = value * args.other[at];
#else
    element_store((element *)args.to, at, value);
#endif
  }
}
#endif

#else
#include "ops/eager_passes.h"

assay_status assay_eager_copy(const assay_tensor *x, bool wide, void *to, assay_queue *queue) {
  const eager_args args = {x->data, NULL, to, x->shape[0], x->shape[1], x->stride[0], x->stride[1]};
  const assay_define defines[] = {{"DTYPE", x->dtype}, {"WIDE", wide}, {NULL, 0}};
  const int64_t down = (args.rows + SQUARE - 1) / SQUARE;
  const int64_t across = (args.columns + SQUARE - 1) / SQUARE;
  return LAUNCH(queue, "eager_copy", assay_dim(down * across), assay_dim(THREADS), 0, 1, defines, args);
}

/* Does nothing behind an error, so that passes can be written one below the other. */
static void pass(assay_status *status, int64_t operation, const float *from, const float *other,
                 const assay_tensor *shape, void *to, assay_queue *queue) {
  if (*status != ASSAY_OK) return;
  const eager_args args = {from, other, to, shape->shape[0], shape->shape[1], 0, 0};
  const assay_define defines[] = {{"OP", operation}, {"DTYPE", shape->dtype}, {NULL, 0}};
  const bool reduce = operation <= SUM;
  const int64_t across = (args.columns + PIECE - 1) / PIECE;
  *status = LAUNCH(queue, reduce ? "eager_reduce" : "eager_each",
                   assay_dim(args.rows * (reduce ? 1 : across)), assay_dim(THREADS), 0, 1, defines, args);
}

static float *scratch(int64_t count, assay_queue *queue) {
  return assay_queue_scratch(queue, (size_t)count * sizeof(float));
}

assay_status assay_eager_softmax(const assay_tensor *x, const assay_tensor *y, assay_queue *queue) {
  const int64_t count = y->shape[0] * y->shape[1];
  float *w = scratch(count, queue);
  float *row = scratch(y->shape[0], queue);
  if (w == NULL || row == NULL) return ASSAY_NO_MEMORY;
  assay_status status = assay_eager_copy(x, true, w, queue);
  pass(&status, MAXIMUM, w, NULL, y, row, queue);
  pass(&status, SUBTRACT, w, row, y, w, queue);
  pass(&status, EXPONENTIAL, w, NULL, y, w, queue);
  pass(&status, SUM, w, NULL, y, row, queue);
  pass(&status, DIVIDE, w, row, y, w, queue);
  pass(&status, ROUND, w, NULL, y, y->data, queue);
  return status;
}

assay_status assay_eager_vjp(const assay_tensor *y, const assay_tensor *g, const assay_tensor *dx,
                             assay_queue *queue) {
  const int64_t count = dx->shape[0] * dx->shape[1];
  float *wide_y = scratch(count, queue);
  float *wide_g = scratch(count, queue);
  float *product = scratch(count, queue);
  float *row = scratch(dx->shape[0], queue);
  if (wide_y == NULL || wide_g == NULL || product == NULL || row == NULL) return ASSAY_NO_MEMORY;
  assay_status status = assay_eager_copy(y, true, wide_y, queue);
  if (status == ASSAY_OK) status = assay_eager_copy(g, true, wide_g, queue);
  pass(&status, MULTIPLY, wide_y, wide_g, dx, product, queue);
  pass(&status, SUM, product, NULL, dx, row, queue);
  pass(&status, SUBTRACT, wide_g, row, dx, wide_g, queue);
  pass(&status, MULTIPLY, wide_y, wide_g, dx, product, queue);
  pass(&status, ROUND, product, NULL, dx, dx->data, queue);
  return status;
}

#endif
