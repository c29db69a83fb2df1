/* SPDX-License-Identifier: MIT */
/*
 * softmax.cu - strided softmax on a GPU: three kernels for rows, chosen by how these lie in memory.
 * Transposed views, whose rows lie side by side, are for softmax_strip.cu, unless they are small.
 *
 *   softmax_rows            column stride 1: 16-byte loads, the row stays in registers from the
 *                           maximum to the result; with SHIFTED it may begin anywhere
 *   softmax_rows_narrow     any strides, few columns: a warp holds the row, element by element
 *   softmax_rows_elements   any strides, any width: three passes, the last two from cache
 *
 * builds: softmax_rows DTYPE=0 FAST=0 WARPS=4 GROUP_WARPS=1,4 VECTORS=8 SHIFTED=0,1
 * builds: softmax_rows DTYPE=1,2 FAST=1 WARPS=4 GROUP_WARPS=1 VECTORS=4 SHIFTED=0,1
 * builds: softmax_rows DTYPE=1,2 FAST=1 WARPS=8 GROUP_WARPS=8 VECTORS=8 SHIFTED=0,1
 * builds: softmax_rows DTYPE=1 FAST=1 WARPS=16 GROUP_WARPS=16 VECTORS=8 SHIFTED=0,1
 * builds: softmax_rows_narrow DTYPE=0,1,2 FAST=0 WARPS=8 GROUP_WARPS=1 VALUES=1,12
 * builds: softmax_rows_elements DTYPE=0,1,2 FAST=0 WARPS=8 GROUP_WARPS=1,8
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
#define GROUP_THREADS (32 * GROUP_WARPS)
#define GROUPS        (WARPS / GROUP_WARPS)

/* From references and sums of threads to those of their group, in every thread of it. `part` is not written
 * again before all have passed the barrier of the next row, which uses another. */
typedef struct group_part {
  float r[WARPS], sum[WARPS];
} group_part;

static __device__ float group_state(float r, float *sum, group_part *part) {
  float top = warp_max(r);
  *sum = warp_sum(*sum * softmax_ratio(r, softmax_origin(top)));
  if (GROUP_WARPS == 1) return top;
  if (threadIdx.x % 32 == 0) {
    part->r[threadIdx.x / 32] = top;
    part->sum[threadIdx.x / 32] = *sum;
  }
  __syncthreads();
  for (int k = 0; k < GROUP_WARPS; ++k) top = fmaxf(top, part->r[k]);
  *sum = 0.0f;
  for (int k = 0; k < GROUP_WARPS; ++k) *sum += part->sum[k] * softmax_ratio(part->r[k], softmax_origin(top));
  return top;
}

#if defined(VECTORS)
/* Thread t of a group holds vectors t, t + GROUP_THREADS and so on of its row, counted from the vector of y
 * that the row begins in. The powers are computed twice: keeping them would take more registers than the row.
 */
KERNEL(softmax_rows, softmax_args, 32 * WARPS) {
  __shared__ group_part part[2];
  const int64_t step = (int64_t)gridDim.x * GROUPS;
  const int columns = (int)args.columns;
  int turn = 0;
  for (int64_t row = (int64_t)blockIdx.x * GROUPS + threadIdx.x / GROUP_THREADS; row < args.rows;
       row += step) {
    const element *x = (const element *)args.x + row * args.row_stride;
    element *y = (element *)args.y + row * args.columns;
    const int shift = SHIFTED ? vector16_shift(y) : 0;
    const bool same = !SHIFTED || vector16_shift(x) == shift;
    const int first = (int)threadIdx.x % GROUP_THREADS * ELEMENTS_PER_VECTOR - shift;
    vector16 held[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
      const int c = first + k * GROUP_THREADS * ELEMENTS_PER_VECTOR;
      held[k] = vector16_fill(-ASSAY_INFINITY);
      if (same && vector16_inside(c, columns)) held[k] = vector16_load_once(x + c);
    }
#if SHIFTED
    /* In a loop of its own: what is loaded piece by piece is waited for, and the others are under way by now.
     */
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
      const int c = first + k * GROUP_THREADS * ELEMENTS_PER_VECTOR;
      if (c < columns && !(same && vector16_inside(c, columns)))
        held[k] = vector16_load_part(x, c, columns, -ASSAY_INFINITY);
    }
#endif
    vector16 most = held[0];
#pragma unroll
    for (int k = 1; k < VECTORS; ++k) most = vector16_max(most, held[k]);
    float m = vector16_top(most);
    if (GROUP_WARPS == 1) m = warp_max(m);
    const float r = softmax_reference(m);
    float origin = softmax_origin(r);
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
#pragma unroll
      for (int e = 0; e < ELEMENTS_PER_VECTOR; ++e) sum += softmax_power(vector16_get(held[k], e), origin);
    }
    if (GROUP_WARPS == 1)
      sum = warp_sum(sum);
    else
      origin = softmax_origin(group_state(r, &sum, &part[turn]));
    turn ^= 1;
    const float scale = 1.0f / sum;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
      const int c = first + k * GROUP_THREADS * ELEMENTS_PER_VECTOR;
      if (c >= columns) continue;
      const vector16 result = softmax_vector(held[k], origin, scale);
      if (!SHIFTED || vector16_inside(c, columns))
        vector16_store_once(y + c, result);
      else
        vector16_store_part(y, c, columns, result);
    }
  }
}
#elif defined(VALUES)
KERNEL(softmax_rows_narrow, softmax_args, 32 * WARPS) {
  const int lane = (int)threadIdx.x % 32;
  const int64_t step = (int64_t)gridDim.x * WARPS;
  const int columns = (int)args.columns;
  for (int64_t row = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32; row < args.rows; row += step) {
    const element *x = (const element *)args.x + row * args.row_stride;
    element *y = (element *)args.y + row * args.columns;
    float held[VALUES];
    float m = -ASSAY_INFINITY;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < VALUES; ++k) {
      const int c = lane + 32 * k;
      held[k] = c < columns ? element_load(x, c * args.column_stride) : -ASSAY_INFINITY;
    }
#pragma unroll
    for (int k = 0; k < VALUES; ++k) m = fmaxf(m, held[k]);
    const float origin = softmax_origin(softmax_reference(warp_max(m)));
#pragma unroll
    for (int k = 0; k < VALUES; ++k) {
      held[k] = softmax_power(held[k], origin);
      sum += held[k];
    }
    const float scale = 1.0f / warp_sum(sum);
#pragma unroll
    for (int k = 0; k < VALUES; ++k) {
      if (lane + 32 * k < columns) element_store(y, lane + 32 * k, held[k] * scale);
    }
  }
}
#else
KERNEL(softmax_rows_elements, softmax_args, 32 * WARPS) {
  __shared__ group_part part[2];
  const int thread = (int)threadIdx.x % GROUP_THREADS;
  const int64_t step = (int64_t)gridDim.x * GROUPS;
  int turn = 0;
  for (int64_t row = (int64_t)blockIdx.x * GROUPS + threadIdx.x / GROUP_THREADS; row < args.rows;
       row += step) {
    const element *x = (const element *)args.x + row * args.row_stride;
    element *y = (element *)args.y + row * args.columns;
    float m = -ASSAY_INFINITY;
    float sum = 0.0f;
    for (int64_t c = thread; c < args.columns; c += GROUP_THREADS)
      m = fmaxf(m, element_load(x, c * args.column_stride));
    const float r = softmax_reference(m);
    for (int64_t c = thread; c < args.columns; c += GROUP_THREADS)
      sum += softmax_power(element_load(x, c * args.column_stride), softmax_origin(r));
    const float origin = softmax_origin(group_state(r, &sum, &part[turn]));
    const float scale = 1.0f / sum;
    turn ^= 1;
    for (int64_t c = thread; c < args.columns; c += GROUP_THREADS)
      element_store(y, c, softmax_power(element_load(x, c * args.column_stride), origin) * scale);
  }
}
#endif

#else
#include "softmax.h"
#include "softmax_gpu.h"

enum {
  VECTORS_MOST = 8, /* of a thread */
  VALUES_MOST = 12, /* of a lane, element by element */
  SMALL = 1 << 17,  /* elements that are not worth more than a load each */
};

static assay_status launch(const char *kernel, const softmax_args *args, int64_t warps, int64_t group,
                           const assay_define *defines, assay_queue *queue) {
  const int64_t blocks = (args->rows - 1) / (warps / group) + 1;
  const int64_t most = INT64_C(1) << 20; /* a block goes on with further rows */
  return LAUNCH(queue, kernel, assay_dim(blocks < most ? blocks : most), assay_dim(32 * warps), 0, 1, defines,
                *args);
}

/* Rows whose columns lie side by side. The kernel takes up to VECTORS_MOST vectors a thread. */
static bool launch_vectors(const softmax_args *args, assay_dtype dtype, int64_t warps, assay_queue *queue,
                           assay_status *status) {
  const int64_t size = dtype == ASSAY_FP32 ? 4 : 2;
  const int64_t elements = 16 / size; /* of a vector */
  const uintptr_t bits = (uintptr_t)args->x | (uintptr_t)args->y | (uintptr_t)(args->row_stride * size) |
                         (uintptr_t)(args->columns * size);
  const bool shifted = bits % 16 != 0;
  if (shifted && args->columns <= 32 * VALUES_MOST && args->rows <= SMALL / args->columns) return false;
  const int64_t count =
      (args->columns + (shifted ? elements - 1 : 0) - 1) / elements + 1; /* of a row, at most */
  int64_t group = count <= 128 ? 1 : 4;
  if (warps != 0 && group > 1) group = warps;
  while (warps == 0 && group > 1 && group < 16 && count > 32 * group * VECTORS_MOST) group *= 2;
  const int64_t vectors = (count - 1) / (32 * group) + 1;
  if (vectors > VECTORS_MOST) return false;
  const int64_t block = group > 1 ? group : warps != 0 ? warps : 4;
  const assay_define defines[] = {{"DTYPE", dtype},
                                  {"FAST", assay_softmax_fast(dtype, args->columns)},
                                  {"WARPS", block},
                                  {"GROUP_WARPS", group},
                                  {"VECTORS", vectors},
                                  {"SHIFTED", shifted},
                                  {NULL, 0}};
  *status = launch("softmax_rows", args, block, group, defines, queue);
  return true;
}

static assay_status launch_elements(const softmax_args *args, assay_dtype dtype, int64_t warps,
                                    assay_queue *queue) {
  const int64_t values = (args->columns - 1) / 32 + 1;
  const bool narrow = values <= VALUES_MOST;
  if (warps == 0) warps = narrow ? 4 : 8;
  const int64_t group = narrow ? 1 : warps;
  const assay_define defines[] = {{"DTYPE", dtype},
                                  {"FAST", assay_softmax_fast(dtype, args->columns)},
                                  {"WARPS", warps},
                                  {"GROUP_WARPS", group},
                                  {narrow ? "VALUES" : NULL, values},
                                  {NULL, 0}};
  return launch(narrow ? "softmax_rows_narrow" : "softmax_rows_elements", args, warps, group, defines, queue);
}

static assay_status call(const assay_tensor *in, const assay_tensor *out, const int64_t *opt, bool clusters,
                         assay_queue *queue) {
  const assay_tensor *x = &in[ASSAY_STRIDED_SOFTMAX_X];
  const assay_tensor *y = &out[ASSAY_STRIDED_SOFTMAX_Y];
  const int64_t warps = opt[ASSAY_STRIDED_SOFTMAX_WARPS];
  const softmax_args args = {x->data, y->data, x->shape[0], x->shape[1], x->stride[0], x->stride[1]};
  assay_status status = ASSAY_OK;
  if (args.rows == 0) return ASSAY_OK;
  if ((args.column_stride == 1 || args.columns == 1) &&
      launch_vectors(&args, x->dtype, warps, queue, &status))
    return status;
  const bool small = args.columns <= 32 * VALUES_MOST && args.rows <= SMALL / args.columns;
  const bool side_by_side = args.row_stride == 1 && args.column_stride != 1 && args.rows > 1;
  if (!side_by_side || small) return launch_elements(&args, x->dtype, warps, queue);
  return assay_softmax_strips(x, y, warps, clusters, queue);
}

assay_status assay_softmax_cuda(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                assay_queue *queue) {
  return call(in, out, opt, false, queue);
}

assay_status assay_softmax_cluster(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                   assay_queue *queue) {
  return call(in, out, opt, true, queue);
}

#endif
