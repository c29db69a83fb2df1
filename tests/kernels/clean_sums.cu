/* SPDX-License-Identifier: MIT */
/* clean_sums.cu - kernels without a fault that reduce many elements to few: trees, shuffles, atomics, rows.
 * The rows that run them, and what they must give, are in parity_sums.h. */
#include "assay/kernel.h"

typedef struct sum_args {
  const float *x;
  float *sums;
  int64_t n;
} sum_args;

typedef struct dot_args {
  const float *x, *y;
  float *total;
  int64_t n;
} dot_args;

typedef struct done_args {
  const float *x;
  float *partial;
  unsigned *count;
  float *total;
  int64_t n;
} done_args;

typedef struct most_args {
  const uint32_t *x;
  unsigned long long *most;
  int64_t n;
} most_args;

typedef struct bits_args {
  const float *x;
  unsigned *bits;
  int64_t n;
} bits_args;

typedef struct rows_args {
  const float *x;
  float *y;
  int64_t rows, columns;
} rows_args;

typedef struct matvec_args {
  const float *matrix, *x;
  float *y;
  int64_t rows, columns;
} matvec_args;

typedef struct csr_args {
  const uint32_t *offsets, *columns;
  const float *values, *x;
  float *y;
  int64_t rows;
} csr_args;

typedef struct bins_args {
  const uint32_t *x;
  unsigned *bins;
  int64_t n;
} bins_args;

typedef struct segments_args {
  const uint32_t *offsets;
  const float *x;
  float *sums;
} segments_args;

#ifdef ASSAY_DEVICE

#define ALL 0xffffffffu

KERNEL(tree_interleaved, sum_args, 256) {
  __shared__ float part[256];
  const uint32_t t = threadIdx.x;
  const int64_t i = t + (int64_t)256 * blockIdx.x;
  part[t] = i < args.n ? args.x[i] : 0.0f;
  __syncthreads();
  for (uint32_t distance = 1; distance < 256; distance *= 2) {
    if (t % (2 * distance) == 0) part[t] += part[t + distance];
    __syncthreads();
  }
  if (t == 0) args.sums[blockIdx.x] = part[0];
}

KERNEL(tree_sequential, sum_args, 256) {
  __shared__ float part[256];
  const uint32_t t = threadIdx.x;
  const int64_t i = t + (int64_t)512 * blockIdx.x;
  part[t] = (i < args.n ? args.x[i] : 0.0f) + (i + 256 < args.n ? args.x[i + 256] : 0.0f);
  __syncthreads();
  for (uint32_t distance = 128; distance > 0; distance /= 2) {
    if (t < distance) part[t] += part[t + distance];
    __syncthreads();
  }
  if (t == 0) args.sums[blockIdx.x] = part[0];
}

KERNEL(tree_last_warp, sum_args, 256) {
  __shared__ float part[256];
  const uint32_t t = threadIdx.x;
  const int64_t i = t + (int64_t)256 * blockIdx.x;
  part[t] = i < args.n ? args.x[i] : 0.0f;
  __syncthreads();
  for (uint32_t distance = 128; distance > 32; distance /= 2) {
    if (t < distance) part[t] += part[t + distance];
    __syncthreads();
  }
  if (t < 32) {
    float value = part[t];
#pragma unroll
    for (uint32_t distance = 32; distance > 0; distance /= 2) {
      value += part[t + distance];
      __syncwarp();
      part[t] = value;
      __syncwarp();
    }
    if (t == 0) args.sums[blockIdx.x] = value;
  }
}

/* The sum of the block's values, for its first thread; all 256 threads call it. */
__device__ float block_sum(float value, float *part) {
  const uint32_t lane = threadIdx.x % 32;
  value = warp_sum(value);
  if (lane == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) value = warp_sum(lane < 8 ? part[lane] : 0.0f);
  return value;
}

KERNEL(sum_shuffles, sum_args, 256) {
  __shared__ float part[8];
  float value = 0.0f;
  for (int64_t i = threadIdx.x + (int64_t)256 * blockIdx.x; i < args.n; i += (int64_t)256 * gridDim.x)
    value += args.x[i];
  value = block_sum(value, part);
  if (threadIdx.x == 0) args.sums[blockIdx.x] = value;
}

KERNEL(dot_atomic, dot_args, 256) {
  __shared__ float part[8];
  float value = 0.0f;
  for (int64_t i = threadIdx.x + (int64_t)256 * blockIdx.x; i < args.n; i += (int64_t)256 * gridDim.x)
    value += args.x[i] * args.y[i];
  value = block_sum(value, part);
  if (threadIdx.x == 0) atomicAdd(args.total, value);
}

/* The block that counts last adds what all of them have left. */
KERNEL(last_block_done, done_args, 256) {
  __shared__ float part[8];
  __shared__ unsigned last;
  const int64_t i = threadIdx.x + (int64_t)256 * blockIdx.x;
  float value = block_sum(i < args.n ? args.x[i] : 0.0f, part);
  if (threadIdx.x == 0) {
    args.partial[blockIdx.x] = value;
    __threadfence();
    last = atomicAdd(args.count, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last == 0) return;
  value = 0.0f;
  for (uint32_t k = threadIdx.x; k < gridDim.x; k += 256) value += args.partial[k];
  value = block_sum(value, part);
  if (threadIdx.x == 0) {
    *args.total = value;
    *args.count = 0; /* ready for the next launch */
  }
}

/* Value and place in one number: the greatest value, of equal ones the first. */
KERNEL(argmax_packed, most_args, 128) {
  __shared__ unsigned long long best;
  if (threadIdx.x == 0) best = 0;
  __syncthreads();
  const int64_t i = threadIdx.x + (int64_t)blockDim.x * blockIdx.x;
  if (i < args.n) atomicMax(&best, (unsigned long long)args.x[i] << 32 | (0xffffffffu - (uint32_t)i));
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(args.most, best);
}

KERNEL(maximum_by_cas, bits_args, 64) {
  const int64_t i = threadIdx.x + (int64_t)blockDim.x * blockIdx.x;
  if (i >= args.n) return;
  const float mine = args.x[i];
  unsigned seen = atomicCAS(args.bits, 0u, 0u);
  while (__uint_as_float(seen) < mine) {
    const unsigned before = atomicCAS(args.bits, seen, __float_as_uint(mine));
    if (before == seen) return;
    seen = before;
  }
}

KERNEL(softmax_tree, rows_args, 128) {
  __shared__ float part[128];
  const uint32_t t = threadIdx.x;
  const float *row = args.x + blockIdx.x * args.columns;
  float most = -ASSAY_INFINITY;
  for (int64_t c = t; c < args.columns; c += 128) most = fmaxf(most, row[c]);
  part[t] = most;
  __syncthreads();
  for (uint32_t distance = 64; distance > 0; distance /= 2) {
    if (t < distance) part[t] = fmaxf(part[t], part[t + distance]);
    __syncthreads();
  }
  most = part[0];
  __syncthreads(); /* part is used again */
  float sum = 0.0f;
  for (int64_t c = t; c < args.columns; c += 128) sum += expf(row[c] - most);
  part[t] = sum;
  __syncthreads();
  for (uint32_t distance = 64; distance > 0; distance /= 2) {
    if (t < distance) part[t] += part[t + distance];
    __syncthreads();
  }
  for (int64_t c = t; c < args.columns; c += 128)
    args.y[blockIdx.x * args.columns + c] = expf(row[c] - most) / part[0];
}

/* A warp a row, two passes over it. */
KERNEL(layernorm_warps, rows_args, 128) {
  const int64_t r = threadIdx.x / 32 + (int64_t)4 * blockIdx.x;
  if (r >= args.rows) return;
  const float *row = args.x + r * args.columns;
  float sum = 0.0f;
  for (int64_t c = threadIdx.x % 32; c < args.columns; c += 32) sum += row[c];
  const float mean = warp_sum(sum) / (float)args.columns;
  float squares = 0.0f;
  for (int64_t c = threadIdx.x % 32; c < args.columns; c += 32) squares += (row[c] - mean) * (row[c] - mean);
  const float scale = rsqrtf(warp_sum(squares) / (float)args.columns + 0.00001f);
  for (int64_t c = threadIdx.x % 32; c < args.columns; c += 32)
    args.y[r * args.columns + c] = (row[c] - mean) * scale;
}

/* The vector passes through shared memory in pieces that all rows of the block use. */
KERNEL(matvec_pieces, matvec_args, 64) {
  __shared__ float piece[64];
  const int64_t r = threadIdx.x + (int64_t)64 * blockIdx.x;
  float sum = 0.0f;
  for (int64_t first = 0; first < args.columns; first += 64) {
    const int64_t count = args.columns - first < 64 ? args.columns - first : 64;
    if (threadIdx.x < count) piece[threadIdx.x] = args.x[first + threadIdx.x];
    __syncthreads();
    for (int64_t c = 0; r < args.rows && c < count; ++c)
      sum += args.matrix[r * args.columns + first + c] * piece[c];
    __syncthreads();
  }
  if (r < args.rows) args.y[r] = sum;
}

/* Eight lanes a row of a sparse matrix; some rows are empty. */
KERNEL(csr_matvec, csr_args, 128) {
  const int64_t r = threadIdx.x / 8 + (int64_t)16 * blockIdx.x;
  float sum = 0.0f;
  if (r < args.rows) {
    for (uint32_t k = args.offsets[r] + threadIdx.x % 8; k < args.offsets[r + 1]; k += 8)
      sum += args.values[k] * args.x[args.columns[k]];
  }
  for (int distance = 4; distance > 0; distance /= 2) sum += __shfl_down_sync(ALL, sum, distance, 8);
  if (r < args.rows && threadIdx.x % 8 == 0) args.y[r] = sum;
}

KERNEL(histogram_shared, bins_args, 128) {
  __shared__ unsigned mine[64];
  if (threadIdx.x < 64) mine[threadIdx.x] = 0;
  __syncthreads();
  for (int64_t i = threadIdx.x + (int64_t)128 * blockIdx.x; i < args.n; i += (int64_t)128 * gridDim.x)
    atomicAdd(&mine[args.x[i] % 64], 1u);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&args.bins[threadIdx.x], mine[threadIdx.x]);
}

/* Lanes with the same bin send one of them. */
KERNEL(histogram_matched, bins_args, 64) {
  const int64_t i = threadIdx.x + (int64_t)blockDim.x * blockIdx.x; /* n is a multiple of the block */
  const uint32_t bin = args.x[i] % 16;
  const unsigned same = __match_any_sync(ALL, bin);
  if (threadIdx.x % 32 == (uint32_t)__ffs((int)same) - 1) atomicAdd(&args.bins[bin], (unsigned)__popc(same));
}

/* A block a segment. */
KERNEL(segment_sums, segments_args, 256) {
  __shared__ float part[8];
  float value = 0.0f;
  for (uint32_t i = args.offsets[blockIdx.x] + threadIdx.x; i < args.offsets[blockIdx.x + 1]; i += 256)
    value += args.x[i];
  value = block_sum(value, part);
  if (threadIdx.x == 0) args.sums[blockIdx.x] = value;
}

/* Blocks of the grid's second dimension add their rows to the same column. */
KERNEL(column_sums, rows_args, 64) {
  const int64_t c = threadIdx.x + (int64_t)64 * blockIdx.x;
  if (c >= args.columns) return;
  float sum = 0.0f;
  for (int64_t r = blockIdx.y; r < args.rows; r += gridDim.y) sum += args.x[r * args.columns + c];
  atomicAdd(&args.y[c], sum);
}

#endif
