/* SPDX-License-Identifier: MIT */
/*
 * split_softmax.cu - softmax of wide rows on a GPU in three launches, in the order of the stream: the
 * state of every chunk, of every row, then the results. Any GPU, any width; split_cluster.cu has one.
 *
 * A state is a maximum m and the sum of e^(x-m). Where a part holds nothing but -infinity, 0 stands in for m
 * in those differences: -infinity then gives 0, and NaN still gives NaN.
 *
 * builds: split_partials DTYPE=0,1,2 VECTORS=0,1
 * builds: split_merge DTYPE=1 VECTORS=0
 * builds: split_normalise DTYPE=0,1,2 VECTORS=0,1
 */
#include "assay/kernel.h"

typedef struct split_args {
  const void *x;
  void *y;
  float *states; /* chunks + 1 of each row, the last one its own */
  int64_t rows, columns, chunk, chunks;
} split_args;

enum { THREADS = 256, WARPS = THREADS / 32 };

#ifdef ASSAY_DEVICE

static __device__ float origin_of(float m) {
  return m == -ASSAY_INFINITY ? 0.0f : m;
}

/* The largest value of the block, in every thread. The barrier in front lets all have read the last parts. */
static __device__ float block_max(float value, float *part) {
  value = warp_max(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  value = part[0];
  for (int k = 1; k < WARPS; ++k) value = fmaxf(value, part[k]);
  return value;
}

static __device__ float block_sum(float value, float *part) {
  value = warp_sum(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  value = 0.0f;
  for (int k = 0; k < WARPS; ++k) value += part[k];
  return value;
}

/* Elements first .. end of x: thread t takes vector or element t, then every 256th further on. */
#if VECTORS
#define STEP ELEMENTS_PER_VECTOR
#else
#define STEP 1
#endif

static __device__ float largest_of(const element *x, int64_t count) {
  float m = -ASSAY_INFINITY;
  for (int64_t c = (int64_t)threadIdx.x * STEP; c < count; c += (int64_t)THREADS * STEP) {
#if VECTORS
    const vector16 v = vector16_load(x + c);
#pragma unroll
    for (int e = 0; e < STEP; ++e) m = fmaxf(m, vector16_get(v, e));
#else
    m = fmaxf(m, element_load(x, c));
#endif
  }
  return m;
}

static __device__ float sum_of(const element *x, int64_t count, float origin) {
  float sum = 0.0f;
  for (int64_t c = (int64_t)threadIdx.x * STEP; c < count; c += (int64_t)THREADS * STEP) {
#if VECTORS
    const vector16 v = vector16_load(x + c);
#pragma unroll
    for (int e = 0; e < STEP; ++e) sum += expf(vector16_get(v, e) - origin);
#else
    sum += expf(element_load(x, c) - origin);
#endif
  }
  return sum;
}

KERNEL(split_partials, split_args, THREADS) {
  __shared__ float part[WARPS];
  const int64_t pieces = args.rows * args.chunks;
  for (int64_t piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    const int64_t row = piece / args.chunks;
    const int64_t k = piece % args.chunks;
    const int64_t left = args.columns - k * args.chunk;
    const int64_t count = left < args.chunk ? left : args.chunk;
    const element *x = (const element *)args.x + row * args.columns + k * args.chunk;
    const float m = block_max(largest_of(x, count), part);
    const float sum = block_sum(sum_of(x, count, origin_of(m)), part);
    float *state = args.states + 2 * (row * (args.chunks + 1) + k);
    if (threadIdx.x == 0) {
      state[0] = m;
      state[1] = sum;
    }
  }
}

KERNEL(split_merge, split_args, THREADS) {
  __shared__ float part[WARPS];
  for (int64_t row = blockIdx.x; row < args.rows; row += gridDim.x) {
    float *states = args.states + 2 * row * (args.chunks + 1);
    float m = -ASSAY_INFINITY;
    for (int64_t k = threadIdx.x; k < args.chunks; k += THREADS) m = fmaxf(m, states[2 * k]);
    m = block_max(m, part);
    float sum = 0.0f;
    for (int64_t k = threadIdx.x; k < args.chunks; k += THREADS)
      sum += states[2 * k + 1] * expf(states[2 * k] - origin_of(m));
    sum = block_sum(sum, part);
    if (threadIdx.x == 0) {
      states[2 * args.chunks] = m;
      states[2 * args.chunks + 1] = sum;
    }
  }
}

KERNEL(split_normalise, split_args, THREADS) {
  const int64_t pieces = args.rows * args.chunks;
  for (int64_t piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    const int64_t row = piece / args.chunks;
    const int64_t k = piece % args.chunks;
    const int64_t left = args.columns - k * args.chunk;
    const int64_t count = left < args.chunk ? left : args.chunk;
    const int64_t first = row * args.columns + k * args.chunk;
    const element *x = (const element *)args.x + first;
    element *y = (element *)args.y + first;
    const float *state = args.states + 2 * (row * (args.chunks + 1) + args.chunks);
    const float m = state[0];
    const float scale = 1.0f / state[1];
    for (int64_t c = (int64_t)threadIdx.x * STEP; c < count; c += (int64_t)THREADS * STEP) {
#if VECTORS
      const vector16 v = vector16_load(x + c);
      vector16 result;
#pragma unroll
      for (int e = 0; e < STEP; ++e) vector16_set(&result, e, expf(vector16_get(v, e) - m) * scale);
      vector16_store(y + c, result);
#else
      element_store(y, c, expf(element_load(x, c) - m) * scale);
#endif
    }
  }
}

#else
#include "split_softmax.h"

static split_args args_of(const assay_tensor *x, const assay_tensor *out, const int64_t *opt) {
  const int64_t knob = opt[ASSAY_SPLIT_SOFTMAX_CHUNK];
  const int64_t chunk = knob != 0 ? knob : ASSAY_SPLIT_SOFTMAX_DEFAULT_CHUNK;
  const split_args args = {.x = x->data,
                           .y = out[ASSAY_SPLIT_SOFTMAX_Y].data,
                           .states = out[ASSAY_SPLIT_SOFTMAX_WORKSPACE].data,
                           .rows = x->shape[0],
                           .columns = x->shape[1],
                           .chunk = chunk,
                           .chunks = (x->shape[1] - 1) / chunk + 1};
  return args;
}

/* Whether every row of x and y consists of whole 16-byte vectors. */
static bool is_vectors(const split_args *args, int64_t size) {
  return (((uintptr_t)args->x | (uintptr_t)args->y | (uintptr_t)(args->columns * size)) & 15) == 0;
}

static assay_dim3 grid_of(int64_t blocks) {
  const int64_t most = INT64_C(1) << 20; /* a block goes on with further pieces */
  return assay_dim(blocks < most ? blocks : most);
}

assay_status assay_split_softmax_cuda(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                      assay_queue *queue) {
  const assay_tensor *x = &in[ASSAY_SPLIT_SOFTMAX_X];
  split_args args = args_of(x, out, opt);
  if (args.rows == 0) return ASSAY_OK;
  if (args.states == NULL) {
    const size_t floats = 2 * (size_t)args.rows * (size_t)(args.chunks + 1);
    args.states = assay_queue_scratch(queue, floats * sizeof(float));
    if (args.states == NULL) return ASSAY_NO_MEMORY;
  }
  const bool vectors = is_vectors(&args, x->dtype == ASSAY_FP32 ? 4 : 2);
  const assay_define defines[] = {{"DTYPE", x->dtype}, {"VECTORS", vectors}, {NULL, 0}};
  const assay_dim3 pieces = grid_of(args.rows * args.chunks);
  const assay_dim3 block = assay_dim(THREADS);
  assay_status status = LAUNCH(queue, "split_partials", pieces, block, 0, 1, defines, args);
  if (status == ASSAY_OK) {
    const assay_define merge[] = {{"DTYPE", ASSAY_FP16}, {"VECTORS", 0}, {NULL, 0}};
    status = LAUNCH(queue, "split_merge", grid_of(args.rows), block, 0, 1, merge, args);
  }
  if (status != ASSAY_OK) return status;
  return LAUNCH(queue, "split_normalise", pieces, block, 0, 1, defines, args);
}

#endif
