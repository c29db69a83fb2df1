/* SPDX-License-Identifier: MIT */
/*
 * softmax.cu - strided softmax on a GPU: three kernels, chosen by how the rows lie in memory.
 *
 *   softmax_row_vectors    packed rows: 16-byte loads, the row stays in registers from the maximum to the
 * result softmax_columns        neighbouring rows side by side (a transposed view): a thread owns a row,
 * results leave through a tile in shared memory so that loads and stores are both coalesced
 *   softmax_row_elements   any strides and any alignment: three passes over the row, the last two from cache
 *
 * builds: softmax_row_vectors DTYPE=0,1,2 WARPS=4 GROUP_WARPS=1,4 VECTORS=1,8
 * builds: softmax_row_vectors DTYPE=0,1,2 WARPS=8 GROUP_WARPS=1,8 VECTORS=1,8
 * builds: softmax_columns DTYPE=0,1,2 WARPS=4,8
 * builds: softmax_row_elements DTYPE=0,1,2 WARPS=4 GROUP_WARPS=1,4
 * builds: softmax_row_elements DTYPE=0,1,2 WARPS=8 GROUP_WARPS=1,8
 */
#include "assay/kernel.h"

typedef struct softmax_args {
  const void *x;
  void *y;
  int64_t rows, columns;
  int64_t row_stride, column_stride; /* of x, in elements; y is packed */
} softmax_args;

#ifdef ASSAY_DEVICE

/* A row belongs to a group of GROUP_WARPS warps: one warp, or the whole block. */
#ifdef GROUP_WARPS
#define GROUP_THREADS (32 * GROUP_WARPS)
#define GROUPS        (WARPS / GROUP_WARPS)

/* The largest value, or the sum, over a group; in every thread of it. `part` is not written again before all
 * have passed the barrier of the next reduction, which uses another array. */
static __device__ float group_max(float value, float *part) {
  value = warp_max(value);
  if (GROUP_WARPS == 1) return value;
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  for (int k = 0; k < GROUP_WARPS; ++k) value = fmaxf(value, part[k]);
  return value;
}

static __device__ float group_sum(float value, float *part) {
  value = warp_sum(value);
  if (GROUP_WARPS == 1) return value;
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
  for (int k = 0; k < GROUP_WARPS; ++k) sum += part[k];
  return sum;
}
#endif

#ifdef VECTORS
/* Thread t of a group holds vectors t, t + GROUP_THREADS and so on of its row. e^(x-m) is computed twice:
 * keeping it would take four times the registers of the 16-bit row. */
KERNEL(softmax_row_vectors, softmax_args, 32 * WARPS) {
  __shared__ float part_max[WARPS];
  __shared__ float part_sum[WARPS];
  const int thread = (int)threadIdx.x % GROUP_THREADS;
  const int group = (int)threadIdx.x / GROUP_THREADS;
  const int64_t count = args.columns / ELEMENTS_PER_VECTOR;
  const int64_t step = (int64_t)gridDim.x * GROUPS;
  for (int64_t row = (int64_t)blockIdx.x * GROUPS + group; row < args.rows; row += step) {
    const element *x = (const element *)args.x + row * args.row_stride;
    element *y = (element *)args.y + row * args.columns;
    vector16 held[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
      const int64_t at = thread + k * GROUP_THREADS;
      if (at < count) held[k] = vector16_load(x + at * ELEMENTS_PER_VECTOR);
    }
    float m = -ASSAY_INFINITY;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
      if (thread + k * GROUP_THREADS >= count) continue;
#pragma unroll
      for (int e = 0; e < ELEMENTS_PER_VECTOR; ++e) m = fmaxf(m, vector16_get(held[k], e));
    }
    m = group_max(m, part_max);
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
      if (thread + k * GROUP_THREADS >= count) continue;
#pragma unroll
      for (int e = 0; e < ELEMENTS_PER_VECTOR; ++e) sum += expf(vector16_get(held[k], e) - m);
    }
    const float scale = 1.0f / group_sum(sum, part_sum);
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
      const int64_t at = thread + k * GROUP_THREADS;
      if (at >= count) continue;
      vector16 result;
#pragma unroll
      for (int e = 0; e < ELEMENTS_PER_VECTOR; ++e)
        vector16_set(&result, e, expf(vector16_get(held[k], e) - m) * scale);
      vector16_store(y + at * ELEMENTS_PER_VECTOR, result);
    }
  }
}
#elif defined(GROUP_WARPS)
KERNEL(softmax_row_elements, softmax_args, 32 * WARPS) {
  __shared__ float part_max[WARPS];
  __shared__ float part_sum[WARPS];
  const int thread = (int)threadIdx.x % GROUP_THREADS;
  const int group = (int)threadIdx.x / GROUP_THREADS;
  const int64_t step = (int64_t)gridDim.x * GROUPS;
  for (int64_t row = (int64_t)blockIdx.x * GROUPS + group; row < args.rows; row += step) {
    const element *x = (const element *)args.x + row * args.row_stride;
    element *y = (element *)args.y + row * args.columns;
    float m = -ASSAY_INFINITY;
    for (int64_t c = thread; c < args.columns; c += GROUP_THREADS)
      m = fmaxf(m, element_load(x, c * args.column_stride));
    m = group_max(m, part_max);
    float sum = 0.0f;
    for (int64_t c = thread; c < args.columns; c += GROUP_THREADS)
      sum += expf(element_load(x, c * args.column_stride) - m);
    const float scale = 1.0f / group_sum(sum, part_sum);
    for (int64_t c = thread; c < args.columns; c += GROUP_THREADS)
      element_store(y, c, expf(element_load(x, c * args.column_stride) - m) * scale);
  }
}
#else
enum { TILE = 64 }; /* columns of y that are written at a time */
enum { PARTS = 8 }; /* partial sums of a thread: with four warps, 32 of a row */

/* The maximum and the sum of what one warp sees of a row: PARTS columns, then those PARTS * WARPS further on.
 * Nothing is rescaled or added while everything so far is -infinity, whose difference with itself is NaN. */
static __device__ float take_columns(const element *x, const softmax_args args, int warp, float *sum) {
  float part[PARTS] = {0};
  float m = -ASSAY_INFINITY;
  for (int64_t c0 = warp * PARTS; c0 < args.columns; c0 += WARPS * PARTS) {
    float value[PARTS];
    float top = m;
#pragma unroll
    for (int k = 0; k < PARTS; ++k) {
      value[k] = c0 + k < args.columns ? element_load(x, (c0 + k) * args.column_stride) : -ASSAY_INFINITY;
      top = fmaxf(top, value[k]);
    }
    if (top > m) {
#pragma unroll
      for (int k = 0; k < PARTS; ++k) part[k] *= expf(m - top);
      m = top;
    }
#pragma unroll
    for (int k = 0; k < PARTS; ++k) {
      if (value[k] != -ASSAY_INFINITY) part[k] += expf(value[k] - m);
    }
  }
  *sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
  return m;
}

/* Lane l of every warp owns row `first + l`; the warps of the block share its columns. */
KERNEL(softmax_columns, softmax_args, 32 * WARPS) {
  __shared__ float part_max[WARPS][32];
  __shared__ float part_sum[WARPS][32];
  __shared__ float tile[TILE][33]; /* one column wider, so that a row of it touches every bank */
  const int lane = (int)threadIdx.x % 32;
  const int warp = (int)threadIdx.x / 32;
  for (int64_t first = (int64_t)blockIdx.x * 32; first < args.rows; first += (int64_t)gridDim.x * 32) {
    const bool mine = first + lane < args.rows;
    const element *x = (const element *)args.x + (first + (mine ? lane : 0)) * args.row_stride;
    float sum = 0.0f;
    part_max[warp][lane] = take_columns(x, args, warp, &sum);
    part_sum[warp][lane] = sum;
    __syncthreads();
    float all = part_max[0][lane];
    for (int k = 1; k < WARPS; ++k) all = fmaxf(all, part_max[k][lane]);
    sum = 0.0f;
    for (int k = 0; k < WARPS; ++k) {
      /* A part that saw nothing but -infinity holds 0, and 0 times e^NaN would not be 0. */
      if (part_max[k][lane] != -ASSAY_INFINITY || part_sum[k][lane] != 0.0f)
        sum += part_sum[k][lane] * expf(part_max[k][lane] - all);
    }
    const float scale = 1.0f / sum;
    for (int64_t c0 = 0; c0 < args.columns; c0 += TILE) {
      for (int c = warp; c < TILE && c0 + c < args.columns; c += WARPS)
        tile[c][lane] = expf(element_load(x, (c0 + c) * args.column_stride) - all) * scale;
      __syncthreads();
      for (int r = warp; r < 32 && first + r < args.rows; r += WARPS) {
        element *y = (element *)args.y + (first + r) * args.columns + c0;
        for (int c = lane; c < TILE && c0 + c < args.columns; c += 32) element_store(y, c, tile[c][r]);
      }
      __syncthreads();
    }
  }
}
#endif

#else
#include "softmax.h"

enum { ROWS_A_WARP = 1024, VECTORS_MOST = 8 }; /* wider rows take a block; longer ones are read again */

/* Whether every row of x and y consists of whole 16-byte vectors. */
static bool is_vectors(const assay_tensor *x, const assay_tensor *y) {
  const int64_t size = x->dtype == ASSAY_FP32 ? 4 : 2;
  const uintptr_t bits = (uintptr_t)x->data | (uintptr_t)y->data | (uintptr_t)(x->stride[0] * size) |
                         (uintptr_t)(x->shape[1] * size);
  return (x->stride[1] == 1 || x->shape[1] == 1) && bits % 16 == 0;
}

static assay_status launch_rows(const softmax_args *args, const assay_tensor *x, const assay_tensor *y,
                                int64_t warps, assay_queue *queue) {
  const int64_t elements = x->dtype == ASSAY_FP32 ? 4 : 8; /* of a vector */
  if (warps == 0) warps = args->columns <= 4 * 32 * elements * VECTORS_MOST ? 4 : 8;
  const int64_t group = args->columns <= ROWS_A_WARP ? 1 : warps;
  const int64_t blocks = (args->rows + warps / group - 1) / (warps / group);
  const int64_t most = INT64_C(1) << 20; /* a block goes on with further rows */
  int64_t vectors = 1;
  while (vectors * 32 * group * elements < args->columns) vectors *= 2;
  const bool held = is_vectors(x, y) && vectors <= VECTORS_MOST;
  const assay_define defines[] = {{"DTYPE", x->dtype},
                                  {"WARPS", warps},
                                  {"GROUP_WARPS", group},
                                  {held ? "VECTORS" : NULL, vectors},
                                  {NULL, 0}};
  return LAUNCH(queue, held ? "softmax_row_vectors" : "softmax_row_elements",
                assay_dim(blocks < most ? blocks : most), assay_dim(32 * warps), 0, 1, defines, *args);
}

assay_status assay_softmax_cuda(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                assay_queue *queue) {
  const assay_tensor *x = &in[ASSAY_STRIDED_SOFTMAX_X];
  const assay_tensor *y = &out[ASSAY_STRIDED_SOFTMAX_Y];
  const int64_t warps = opt[ASSAY_STRIDED_SOFTMAX_WARPS];
  const softmax_args args = {x->data, y->data, x->shape[0], x->shape[1], x->stride[0], x->stride[1]};
  if (args.rows == 0) return ASSAY_OK;
  if (x->stride[0] != 1 || x->stride[1] == 1 || args.rows == 1 || args.columns == 1)
    return launch_rows(&args, x, y, warps, queue);
  const int64_t shared_by = warps != 0 ? warps : 8; /* warps share the columns of 32 rows */
  const assay_define defines[] = {{"DTYPE", x->dtype}, {"WARPS", shared_by}, {NULL, 0}};
  const int64_t blocks = (args.rows + 31) / 32;
  return LAUNCH(queue, "softmax_columns", assay_dim(blocks < 1 << 20 ? blocks : 1 << 20),
                assay_dim(32 * shared_by), 0, 1, defines, args);
}

#endif
