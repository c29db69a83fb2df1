/* SPDX-License-Identifier: MIT */
/*
 * vjp.cu - the gradient of softmax on a GPU: two kernels for rows, chosen by how these lie in memory.
 * Transposed views, whose rows lie side by side, are for vjp_strip.cu.
 *
 *   vjp_rows            column strides 1: 16-byte loads, y and g stay in registers from the sum to
 *                       the result; with SHIFTED rows may begin anywhere
 *   vjp_rows_elements   any strides, any width: two passes over the row, the second from cache
 *
 * builds: vjp_rows DTYPE=0,1,2 WARPS=4 GROUP_WARPS=1 VECTORS=4 SHIFTED=0,1
 * builds: vjp_rows DTYPE=0,1,2 WARPS=8 GROUP_WARPS=8 VECTORS=8 SHIFTED=0,1
 * builds: vjp_rows DTYPE=0,1,2 WARPS=9 GROUP_WARPS=9 VECTORS=2 SHIFTED=0,1
 * builds: vjp_rows DTYPE=1 WARPS=16 GROUP_WARPS=16 VECTORS=2,4 SHIFTED=0,1
 * builds: vjp_rows_elements DTYPE=0,1,2 WARPS=8 GROUP_WARPS=1,8
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
#define GROUP_THREADS (32 * GROUP_WARPS)
#define GROUPS        (WARPS / GROUP_WARPS)

/* The sum over a group, in every thread of it. `part` is not written again before all have passed the barrier
 * of the next row, which uses another. */
static __device__ float group_sum(float value, float *part) {
  value = warp_sum(value);
  if (GROUP_WARPS == 1) return value;
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
  for (int k = 0; k < GROUP_WARPS; ++k) sum += part[k];
  return sum;
}

#ifdef VECTORS
/* Blocks that an SM should have room for: 36 warps, where a thread holds little. */
#define LEAST (VECTORS > 2 || 36 / WARPS < 1 ? 1 : 36 / WARPS)

/* Thread t of a group holds vectors t, t + GROUP_THREADS and so on of its row, counted from the vector of dx
 * that the row begins in. */
KERNEL(vjp_rows, vjp_args, 32 * WARPS, LEAST) {
  __shared__ float part[2][WARPS];
  const int64_t step = (int64_t)gridDim.x * GROUPS;
  const int columns = (int)args.columns;
  int turn = 0;
  for (int64_t row = (int64_t)blockIdx.x * GROUPS + threadIdx.x / GROUP_THREADS; row < args.rows;
       row += step) {
    const element *y = (const element *)args.y + row * args.y_row_stride;
    const element *g = (const element *)args.g + row * args.g_row_stride;
    element *dx = (element *)args.dx + row * args.columns;
    const int shift = SHIFTED ? vector16_shift(dx) : 0;
    const bool same = !SHIFTED || (vector16_shift(y) == shift && vector16_shift(g) == shift);
    const int first = (int)threadIdx.x % GROUP_THREADS * ELEMENTS_PER_VECTOR - shift;
    vector16 held_y[VECTORS];
    vector16 held_g[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
      const int c = first + k * GROUP_THREADS * ELEMENTS_PER_VECTOR;
      held_y[k] = vector16_fill(0.0f);
      held_g[k] = vector16_fill(0.0f);
      if (!same || !vector16_inside(c, columns)) continue;
      held_y[k] = vector16_load_once(y + c);
      held_g[k] = vector16_load_once(g + c);
    }
#if SHIFTED
    /* In a loop of its own: what is loaded piece by piece is waited for, and the others are under way by now.
     */
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
      const int c = first + k * GROUP_THREADS * ELEMENTS_PER_VECTOR;
      if (c >= columns || (same && vector16_inside(c, columns))) continue;
      held_y[k] = vector16_load_part(y, c, columns, 0.0f);
      held_g[k] = vector16_load_part(g, c, columns, 0.0f);
    }
#endif
    float dot = 0.0f;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
#pragma unroll
      for (int e = 0; e < ELEMENTS_PER_VECTOR; ++e)
        dot += vector16_get(held_y[k], e) * vector16_get(held_g[k], e);
    }
    dot = group_sum(dot, part[turn]);
    turn ^= 1;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
      const int c = first + k * GROUP_THREADS * ELEMENTS_PER_VECTOR;
      if (c >= columns) continue;
      float value[ELEMENTS_PER_VECTOR];
#pragma unroll
      for (int e = 0; e < ELEMENTS_PER_VECTOR; ++e)
        value[e] = vector16_get(held_y[k], e) * (vector16_get(held_g[k], e) - dot);
      if (!SHIFTED || vector16_inside(c, columns))
        vector16_store_once(dx + c, vector16_pack(value));
      else
        vector16_store_part(dx, c, columns, vector16_pack(value));
    }
  }
}
#else
KERNEL(vjp_rows_elements, vjp_args, 32 * WARPS) {
  __shared__ float part[2][WARPS];
  const int thread = (int)threadIdx.x % GROUP_THREADS;
  const int64_t step = (int64_t)gridDim.x * GROUPS;
  int turn = 0;
  for (int64_t row = (int64_t)blockIdx.x * GROUPS + threadIdx.x / GROUP_THREADS; row < args.rows;
       row += step) {
    const element *y = (const element *)args.y + row * args.y_row_stride;
    const element *g = (const element *)args.g + row * args.g_row_stride;
    element *dx = (element *)args.dx + row * args.columns;
    float dot = 0.0f;
    for (int64_t c = thread; c < args.columns; c += GROUP_THREADS)
      dot += element_load(y, c * args.y_column_stride) * element_load(g, c * args.g_column_stride);
    dot = group_sum(dot, part[turn]);
    turn ^= 1;
    for (int64_t c = thread; c < args.columns; c += GROUP_THREADS) {
      const float p = element_load(y, c * args.y_column_stride);
      element_store(dx, c, p * (element_load(g, c * args.g_column_stride) - dot));
    }
  }
}
#endif

#else
#include "vjp.h"
#include "vjp_gpu.h"

/* Of 16 bytes: what a warp's row has at most, and a thread. Longer rows are read twice. */
enum { WARP_VECTORS = 32, VECTORS_MOST = 8 };

static assay_status launch(const char *kernel, const vjp_args *args, int64_t warps, int64_t group,
                           const assay_define *defines, assay_queue *queue) {
  const int64_t blocks = (args->rows - 1) / (warps / group) + 1;
  const int64_t most = INT64_C(1) << 20; /* a block goes on with further rows */
  return LAUNCH(queue, kernel, assay_dim(blocks < most ? blocks : most), assay_dim(32 * warps), 0, 1, defines,
                *args);
}

/* Warps for a row of `count` vectors: few enough that a thread has work, many enough that it has little. */
static int64_t choose_group(int64_t count, int64_t warps) {
  if (count <= WARP_VECTORS) return 1;
  if (warps != 0) return warps;
  const int64_t each = count <= 192 ? 1 : count <= 1024 ? 2 : 4; /* vectors a thread */
  const int64_t group = (count - 1) / (32 * each) + 1;
  return group < 16 ? group : 16;
}

/* Rows whose columns lie side by side. The kernel takes up to VECTORS_MOST vectors a thread. */
static bool launch_vectors(const vjp_args *args, assay_dtype dtype, int64_t warps, assay_queue *queue,
                           assay_status *status) {
  const int64_t size = dtype == ASSAY_FP32 ? 4 : 2;
  const int64_t elements = 16 / size; /* of a vector */
  const uintptr_t bits = (uintptr_t)args->y | (uintptr_t)args->g | (uintptr_t)args->dx |
                         (uintptr_t)(args->y_row_stride * size) | (uintptr_t)(args->g_row_stride * size) |
                         (uintptr_t)(args->columns * size);
  const bool shifted = bits % 16 != 0;
  const int64_t count =
      (args->columns + (shifted ? elements - 1 : 0) - 1) / elements + 1; /* of a row, at most */
  const int64_t group = choose_group(count, warps);
  const int64_t vectors = (count - 1) / (32 * group) + 1;
  if (vectors > (group > 8 ? VECTORS_MOST / 2 : VECTORS_MOST)) return false; /* there are 65536 registers */
  const int64_t block = group > 1 ? group : warps != 0 ? warps : 4;
  const assay_define defines[] = {{"DTYPE", dtype},     {"WARPS", block},     {"GROUP_WARPS", group},
                                  {"VECTORS", vectors}, {"SHIFTED", shifted}, {NULL, 0}};
  *status = launch("vjp_rows", args, block, group, defines, queue);
  return true;
}

static assay_status launch_elements(const vjp_args *args, assay_dtype dtype, int64_t warps,
                                    assay_queue *queue) {
  if (warps == 0) warps = 8;
  const int64_t group = args->columns <= 1024 ? 1 : warps;
  const assay_define defines[] = {{"DTYPE", dtype}, {"WARPS", warps}, {"GROUP_WARPS", group}, {NULL, 0}};
  return launch("vjp_rows_elements", args, warps, group, defines, queue);
}

static assay_status call(const assay_tensor *in, const assay_tensor *out, const int64_t *opt, bool clusters,
                         assay_queue *queue) {
  const assay_tensor *y = &in[ASSAY_SOFTMAX_BACKWARD_Y];
  const assay_tensor *g = &in[ASSAY_SOFTMAX_BACKWARD_G];
  const assay_tensor *dx = &out[ASSAY_SOFTMAX_BACKWARD_DX];
  const int64_t warps = opt[ASSAY_SOFTMAX_BACKWARD_WARPS];
  const vjp_args args = {y->data,      g->data,      dx->data,     dx->shape[0], dx->shape[1],
                         y->stride[0], y->stride[1], g->stride[0], g->stride[1]};
  if (args.rows == 0) return ASSAY_OK;
  assay_status status = ASSAY_OK;
  const bool adjacent = y->stride[1] == 1 && g->stride[1] == 1;
  if ((adjacent || args.columns == 1) && launch_vectors(&args, y->dtype, warps, queue, &status))
    return status;
  const bool side_by_side = y->stride[0] == 1 && g->stride[0] == 1 && y->stride[1] != 1 && g->stride[1] != 1;
  if (!side_by_side || args.rows == 1) return launch_elements(&args, y->dtype, warps, queue);
  return assay_vjp_strips(y, g, dx, warps, clusters, queue);
}

assay_status assay_vjp_cuda(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                            assay_queue *queue) {
  return call(in, out, opt, false, queue);
}

assay_status assay_vjp_cluster(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                               assay_queue *queue) {
  return call(in, out, opt, true, queue);
}

#endif
