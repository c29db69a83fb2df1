/* SPDX-License-Identifier: MIT */
/* fault_init.cu - kernels that read a place which nobody has written. A comment names the line of the read
 * with "here". */
#include "assay/kernel.h"

typedef struct map_args {
  const float *x;
  float *y;
  int64_t n;
} map_args;

typedef struct bins_args {
  const uint32_t *x;
  unsigned *bins;
  int64_t n;
} bins_args;

typedef struct done_args {
  const float *x;
  float *partial;
  unsigned *count;
  float *total;
  int64_t n;
} done_args;

#ifdef ASSAY_DEVICE

/* The tail of the tile stays as it was, and the tree adds it. */
KERNEL(tail_of_the_tile, map_args, 128) {
  __shared__ float part[128];
  const uint32_t t = threadIdx.x;
  if (t < args.n) part[t] = args.x[t];
  __syncthreads();
  for (uint32_t distance = 64; distance > 0; distance /= 2) {
    if (t < distance) part[t] += part[t + distance]; /* here: tail_of_the_tile */
    __syncthreads();
  }
  if (t == 0) args.y[0] = part[0];
}

KERNEL(adds_to_the_output, map_args, 128) {
  const int64_t i = threadIdx.x + (int64_t)128 * blockIdx.x;
  if (i < args.n) args.y[i] += args.x[i]; /* here: adds_to_the_output */
}

/* Nobody has cleared the bins. */
KERNEL(bins_not_cleared, bins_args, 128) {
  const int64_t i = threadIdx.x + (int64_t)128 * blockIdx.x;
  if (i < args.n) atomicAdd(&args.bins[args.x[i] % 32], 1u); /* here: bins_not_cleared */
}

KERNEL(shared_bins_not_cleared, bins_args, 128) {
  __shared__ unsigned mine[32];
  atomicAdd(&mine[args.x[threadIdx.x] % 32], 1u); /* here: shared_bins_not_cleared */
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(&args.bins[threadIdx.x], mine[threadIdx.x]);
}

/* 32 partial sums are read where 4 warps have left 4. */
KERNEL(absent_partials, map_args, 128) {
  __shared__ float part[32];
  const uint32_t t = threadIdx.x;
  const float sum = warp_sum(args.x[t]);
  if (t % 32 == 0) part[t / 32] = sum;
  __syncthreads();
  if (t >= 32) return;
  const float total = warp_sum(part[t]); /* here: absent_partials */
  if (t == 0) args.y[0] = total;
}

/* A block without work leaves before it has written its partial sum. */
KERNEL(block_without_work, done_args, 32) {
  const int64_t i = threadIdx.x + (int64_t)32 * blockIdx.x;
  const float sum = warp_sum(i < args.n ? args.x[i] : 0.0f);
  if (threadIdx.x != 0) return;
  if (i < args.n) args.partial[blockIdx.x] = sum;
  __threadfence();
  if (atomicAdd(args.count, 1u) != gridDim.x - 1) return;
  float total = 0.0f;
  for (uint32_t b = 0; b < gridDim.x; ++b) total += args.partial[b]; /* here: block_without_work */
  *args.total = total;
}

/* The edges of the halo are only filled where there is a neighbour. */
KERNEL(edge_of_the_halo, map_args, 64) {
  __shared__ float tile[66];
  const int64_t i = threadIdx.x + (int64_t)64 * blockIdx.x;
  tile[threadIdx.x + 1] = i < args.n ? args.x[i] : 0.0f;
  if (threadIdx.x == 0 && i > 0) tile[0] = args.x[i - 1];
  if (threadIdx.x == 63) tile[65] = i + 1 < args.n ? args.x[i + 1] : 0.0f;
  __syncthreads();
  const float sum = tile[threadIdx.x] + tile[threadIdx.x + 2]; /* here: edge_of_the_halo */
  if (i < args.n) args.y[i] = sum;
}

/* The column that pads the rows against bank conflicts is read as if it were data. */
KERNEL(padding_as_data, map_args, 64) {
  __shared__ float tile[8][9];
  const uint32_t row = threadIdx.x / 8;
  const uint32_t column = threadIdx.x % 8;
  tile[row][column] = args.x[threadIdx.x];
  __syncthreads();
  args.y[threadIdx.x] = tile[column][row + (uint32_t)args.n]; /* here: padding_as_data */
}

/* The last tile is copied in part, and the rest is not set. */
KERNEL(copies_leave_a_rest, map_args, 64) {
  __shared__ float tile[64];
  const int64_t i = threadIdx.x;
  if (i < args.n) cp_async_4(&tile[i], args.x + i);
  cp_async_commit();
  cp_async_wait(0);
  __syncthreads();
  args.y[i] = tile[63 - i]; /* here: copies_leave_a_rest */
}

#endif
