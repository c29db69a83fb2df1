/* SPDX-License-Identifier: MIT */
/*
 * vjp.cu - the gradient of softmax on a GPU: three kernels, chosen by how the rows lie in memory.
 *
 *   vjp_row_vectors    packed rows: 16-byte loads, y and g stay in registers from the sum to the result
 *   vjp_columns        neighbouring rows side by side (transposed views): a lane owns a row, results leave
 *                      through a tile in shared memory so that loads and stores are both coalesced
 *   vjp_row_elements   any strides and any alignment: two passes over the row, the second from cache
 *
 * builds: vjp_row_vectors DTYPE=0,1,2 WARPS=4 GROUP_WARPS=1,4 VECTORS=1,8
 * builds: vjp_row_vectors DTYPE=0,1,2 WARPS=8 GROUP_WARPS=1,8 VECTORS=1,8
 * builds: vjp_columns DTYPE=0,1,2 WARPS=4,8
 * builds: vjp_row_elements DTYPE=0,1,2 WARPS=4 GROUP_WARPS=1,4
 * builds: vjp_row_elements DTYPE=0,1,2 WARPS=8 GROUP_WARPS=1,8
 */
#include "assay/kernel.h"

typedef struct vjp_args {
  const void *y;
  const void *g;
  void *dx;
  int64_t rows, columns;
  int64_t y_row_stride, y_column_stride; /* in elements; dx is packed */
  int64_t g_row_stride, g_column_stride;
} vjp_args;

#ifdef ASSAY_DEVICE

/* A row belongs to a group of GROUP_WARPS warps: one warp, or the whole block. */
#ifdef GROUP_WARPS
#define GROUP_THREADS (32 * GROUP_WARPS)
#define GROUPS        (WARPS / GROUP_WARPS)

/* The sum over a group, in every thread of it. The barrier in front lets all have read the last row's parts. */
static __device__ float group_sum(float value, float *part) {
  value = warp_sum(value);
  if (GROUP_WARPS == 1) return value;
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
  for (int k = 0; k < GROUP_WARPS; ++k) sum += part[k];
  return sum;
}
#endif

#ifdef VECTORS
/* Thread t of a group holds vectors t, t + GROUP_THREADS and so on of its row. */
KERNEL(vjp_row_vectors, vjp_args, 32 * WARPS) {
  __shared__ float part[WARPS];
  const int thread = (int)threadIdx.x % GROUP_THREADS;
  const int group = (int)threadIdx.x / GROUP_THREADS;
  const int64_t count = args.columns / ELEMENTS_PER_VECTOR;
  const int64_t step = (int64_t)gridDim.x * GROUPS;
  for (int64_t row = (int64_t)blockIdx.x * GROUPS + group; row < args.rows; row += step) {
    const element *y = (const element *)args.y + row * args.y_row_stride;
    const element *g = (const element *)args.g + row * args.g_row_stride;
    element *dx = (element *)args.dx + row * args.columns;
    vector16 held_y[VECTORS];
    vector16 held_g[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
      const int64_t at = thread + k * GROUP_THREADS;
      if (at >= count) continue;
      held_y[k] = vector16_load(y + at * ELEMENTS_PER_VECTOR);
      held_g[k] = vector16_load(g + at * ELEMENTS_PER_VECTOR);
    }
    float dot = 0.0f;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
      if (thread + k * GROUP_THREADS >= count) continue;
#pragma unroll
      for (int e = 0; e < ELEMENTS_PER_VECTOR; ++e)
        dot += vector16_get(held_y[k], e) * vector16_get(held_g[k], e);
    }
    dot = group_sum(dot, part);
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
      const int64_t at = thread + k * GROUP_THREADS;
      if (at >= count) continue;
      vector16 result;
#pragma unroll
      for (int e = 0; e < ELEMENTS_PER_VECTOR; ++e)
        vector16_set(&result, e, vector16_get(held_y[k], e) * (vector16_get(held_g[k], e) - dot));
      vector16_store(dx + at * ELEMENTS_PER_VECTOR, result);
    }
  }
}
#elif defined(GROUP_WARPS)
KERNEL(vjp_row_elements, vjp_args, 32 * WARPS) {
  __shared__ float part[WARPS];
  const int thread = (int)threadIdx.x % GROUP_THREADS;
  const int group = (int)threadIdx.x / GROUP_THREADS;
  const int64_t step = (int64_t)gridDim.x * GROUPS;
  for (int64_t row = (int64_t)blockIdx.x * GROUPS + group; row < args.rows; row += step) {
    const element *y = (const element *)args.y + row * args.y_row_stride;
    const element *g = (const element *)args.g + row * args.g_row_stride;
    element *dx = (element *)args.dx + row * args.columns;
    float dot = 0.0f;
    for (int64_t c = thread; c < args.columns; c += GROUP_THREADS)
      dot += element_load(y, c * args.y_column_stride) * element_load(g, c * args.g_column_stride);
    dot = group_sum(dot, part);
    for (int64_t c = thread; c < args.columns; c += GROUP_THREADS) {
      const float p = element_load(y, c * args.y_column_stride);
      element_store(dx, c, p * (element_load(g, c * args.g_column_stride) - dot));
    }
  }
}
#else
enum { TILE = 64 }; /* columns of dx that are written at a time */
enum { PARTS = 8 }; /* partial sums of a thread: with four warps, 32 of a row */

/* What one warp sees of the sum of a row: PARTS columns, then those PARTS * WARPS further on. */
static __device__ float take_columns(const element *y, const element *g, const vjp_args args, int warp) {
  float part[PARTS] = {0};
  for (int64_t c0 = warp * PARTS; c0 < args.columns; c0 += WARPS * PARTS) {
#pragma unroll
    for (int k = 0; k < PARTS; ++k) {
      if (c0 + k < args.columns)
        part[k] += element_load(y, (c0 + k) * args.y_column_stride) *
                   element_load(g, (c0 + k) * args.g_column_stride);
    }
  }
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

/* Lane l of every warp owns row `first + l`; the warps of the block share its columns. */
KERNEL(vjp_columns, vjp_args, 32 * WARPS) {
  __shared__ float part[WARPS][32];
  __shared__ float tile[TILE][33]; /* one column wider, so that a row of it touches every bank */
  const int lane = (int)threadIdx.x % 32;
  const int warp = (int)threadIdx.x / 32;
  for (int64_t first = (int64_t)blockIdx.x * 32; first < args.rows; first += (int64_t)gridDim.x * 32) {
    const int64_t mine = first + lane < args.rows ? first + lane : first;
    const element *y = (const element *)args.y + mine * args.y_row_stride;
    const element *g = (const element *)args.g + mine * args.g_row_stride;
    part[warp][lane] = take_columns(y, g, args, warp);
    __syncthreads();
    float dot = 0.0f;
    for (int k = 0; k < WARPS; ++k) dot += part[k][lane];
    for (int64_t c0 = 0; c0 < args.columns; c0 += TILE) {
      for (int c = warp; c < TILE && c0 + c < args.columns; c += WARPS) {
        const float p = element_load(y, (c0 + c) * args.y_column_stride);
        tile[c][lane] = p * (element_load(g, (c0 + c) * args.g_column_stride) - dot);
      }
      __syncthreads();
      for (int r = warp; r < 32 && first + r < args.rows; r += WARPS) {
        element *dx = (element *)args.dx + (first + r) * args.columns + c0;
        for (int c = lane; c < TILE && c0 + c < args.columns; c += 32) element_store(dx, c, tile[c][r]);
      }
      __syncthreads();
    }
  }
}
#endif

#else
#include "vjp.h"

enum { ROWS_A_WARP = 1024, VECTORS_MOST = 8 }; /* wider rows take a block; longer ones are read again */

/* Whether every row of y, g and dx consists of whole 16-byte vectors. */
static bool is_vectors(const vjp_args *args, int64_t size) {
  const uintptr_t bits = (uintptr_t)args->y | (uintptr_t)args->g | (uintptr_t)args->dx |
                         (uintptr_t)(args->y_row_stride * size) | (uintptr_t)(args->g_row_stride * size) |
                         (uintptr_t)(args->columns * size);
  const bool packed = args->y_column_stride == 1 && args->g_column_stride == 1;
  return (packed || args->columns == 1) && bits % 16 == 0;
}

static assay_status launch_rows(const vjp_args *args, assay_dtype dtype, int64_t warps, assay_queue *queue) {
  const int64_t size = dtype == ASSAY_FP32 ? 4 : 2;
  const int64_t elements = 16 / size; /* of a vector */
  if (warps == 0) warps = args->columns <= 4 * 32 * elements * VECTORS_MOST ? 4 : 8;
  const int64_t group = args->columns <= ROWS_A_WARP ? 1 : warps;
  const int64_t blocks = (args->rows + warps / group - 1) / (warps / group);
  const int64_t most = INT64_C(1) << 20; /* a block goes on with further rows */
  int64_t vectors = 1;
  while (vectors * 32 * group * elements < args->columns) vectors *= 2;
  const bool held = is_vectors(args, size) && vectors <= VECTORS_MOST;
  const assay_define defines[] = {{"DTYPE", dtype},
                                  {"WARPS", warps},
                                  {"GROUP_WARPS", group},
                                  {held ? "VECTORS" : NULL, vectors},
                                  {NULL, 0}};
  return LAUNCH(queue, held ? "vjp_row_vectors" : "vjp_row_elements",
                assay_dim(blocks < most ? blocks : most), assay_dim(32 * warps), 0, 1, defines, *args);
}

assay_status assay_vjp_cuda(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                            assay_queue *queue) {
  const assay_tensor *y = &in[ASSAY_SOFTMAX_BACKWARD_Y];
  const assay_tensor *g = &in[ASSAY_SOFTMAX_BACKWARD_G];
  const assay_tensor *dx = &out[ASSAY_SOFTMAX_BACKWARD_DX];
  const int64_t warps = opt[ASSAY_SOFTMAX_BACKWARD_WARPS];
  const vjp_args args = {y->data,      g->data,      dx->data,     dx->shape[0], dx->shape[1],
                         y->stride[0], y->stride[1], g->stride[0], g->stride[1]};
  if (args.rows == 0) return ASSAY_OK;
  const bool columns = y->stride[0] == 1 && g->stride[0] == 1 && y->stride[1] != 1 && g->stride[1] != 1;
  if (!columns || args.rows == 1 || args.columns == 1) return launch_rows(&args, y->dtype, warps, queue);
  const int64_t shared_by = warps != 0 ? warps : 8; /* warps share the columns of 32 rows */
  const assay_define defines[] = {{"DTYPE", y->dtype}, {"WARPS", shared_by}, {NULL, 0}};
  const int64_t blocks = (args.rows + 31) / 32;
  return LAUNCH(queue, "vjp_columns", assay_dim(blocks < 1 << 20 ? blocks : 1 << 20),
                assay_dim(32 * shared_by), 0, 1, defines, args);
}

#endif
