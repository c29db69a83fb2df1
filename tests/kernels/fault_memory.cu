/* SPDX-License-Identifier: MIT */
/* fault_memory.cu - kernels with one access each that leaves its array, or lies askew. A comment names its
 * line with "here". */
#include "assay/kernel.h"

typedef struct map_args {
  const float *x;
  float *y;
  int64_t n;
} map_args;

typedef struct matrix_args {
  const float *in;
  float *out;
  int64_t rows, columns;
} matrix_args;

typedef struct bins_args {
  const uint32_t *x;
  unsigned *bins;
  int64_t n;
} bins_args;

#ifdef ASSAY_DEVICE

KERNEL(guard_lets_one_more, map_args, 128) {
  const int64_t i = threadIdx.x + (int64_t)128 * blockIdx.x;
  if (i <= args.n) args.y[i] = 1.0f; /* here: guard_lets_one_more */
}

KERNEL(next_of_the_last, map_args, 128) {
  const int64_t i = threadIdx.x + (int64_t)128 * blockIdx.x;
  if (i < args.n) args.y[i] = args.x[i + 1] - args.x[i]; /* here: next_of_the_last */
}

KERNEL(before_the_first, map_args, 128) {
  const int64_t i = threadIdx.x + (int64_t)128 * blockIdx.x;
  if (i < args.n) args.y[i] = args.x[i - 1]; /* here: before_the_first */
}

/* 0 - 1 is 4294967295 in 32 bits without a sign, and not the element before. */
KERNEL(index_of_32_bits, map_args, 128) {
  const uint32_t i = threadIdx.x + 128 * blockIdx.x;
  const uint32_t before = i - 1;
  if (i < args.n) args.y[i] = args.x[before]; /* here: index_of_32_bits */
}

/* The halo has one place less than is filled: the last one is the neighbour's first. */
KERNEL(into_the_next_array, map_args, 64) {
  __shared__ float tile[64];
  __shared__ float other[64];
  const uint32_t t = threadIdx.x;
  other[t] = args.x[t];
  tile[t] = args.x[t];
  __syncthreads();
  if (t < 63) args.y[t] = tile[t + 1] + other[t];
  if (t == 63) args.y[t] = tile[t + (uint32_t)args.n] + other[t]; /* here: into_the_next_array */
}

KERNEL(write_past_static, map_args, 64) {
  __shared__ float tile[64 + 2];
  const uint32_t t = threadIdx.x;
  tile[t + 2] = args.x[t];
  if (t < 2) tile[t] = 0.0f;
  if (t < 2) tile[64 + (uint32_t)args.n + t] = 0.0f; /* here: write_past_static */
  __syncthreads();
  args.y[t] = tile[t];
}

/* The launch asks for 64 elements of dynamic shared memory, the kernel needs two more. */
KERNEL(past_dynamic, map_args, 64) {
  DYNAMIC_SHARED(bytes);
  float *tile = (float *)bytes;
  const uint32_t t = threadIdx.x;
  tile[t + 2] = args.x[t]; /* here: past_dynamic */
  if (t < 2) tile[t] = 0.0f;
  __syncthreads();
  args.y[t] = tile[t];
}

KERNEL(vector_askew, map_args, 64) {
  const int64_t i = threadIdx.x;
  vector16_store(args.y + 4 * i, vector16_load(args.x + 1 + 4 * i)); /* here: vector_askew */
}

/* The row ends inside the last vector. */
KERNEL(vector_past_end, map_args, 64) {
  const int64_t i = 4 * (int64_t)threadIdx.x;
  if (i >= args.n) return;
  const vector16 v = vector16_load(args.x + i); /* here: vector_past_end */
  for (int k = 0; k < 4 && i + k < args.n; ++k) args.y[i + k] = __uint_as_float(v.word[k]);
}

/* The rows of the output are as long as those of the input. */
KERNEL(rows_for_columns, matrix_args, 256) {
  const int64_t r = threadIdx.y + (int64_t)16 * blockIdx.y;
  const int64_t c = threadIdx.x + (int64_t)16 * blockIdx.x;
  if (r < args.rows && c < args.columns)
    args.out[c * args.columns + r] = args.in[r * args.columns + c]; /* here: rows_for_columns */
}

/* Values of 0 to 64 inclusive, and 64 bins. */
KERNEL(one_bin_too_many, bins_args, 128) {
  const int64_t i = threadIdx.x + (int64_t)128 * blockIdx.x;
  if (i < args.n) atomicAdd(&args.bins[args.x[i] % 65], 1u); /* here: one_bin_too_many */
}

/* The halo on the right is loaded without asking whether it exists. */
KERNEL(halo_past_end, map_args, 64) {
  __shared__ float tile[66];
  const int64_t i = threadIdx.x + (int64_t)64 * blockIdx.x;
  tile[threadIdx.x + 1] = args.x[i];
  if (threadIdx.x == 0) tile[0] = i > 0 ? args.x[i - 1] : 0.0f;
  if (threadIdx.x == 63) tile[65] = args.x[i + 1]; /* here: halo_past_end */
  __syncthreads();
  args.y[i] = tile[threadIdx.x] + tile[threadIdx.x + 2];
}

/* An asynchronous copy of 16 bytes where 4 are left. */
KERNEL(copy_past_end, map_args, 64) {
  __shared__ __align__(16) float tile[256];
  const int64_t i = 4 * (int64_t)threadIdx.x;
  if (i < args.n) cp_async_16(&tile[i], args.x + i); /* here: copy_past_end */
  cp_async_commit();
  cp_async_wait(0);
  __syncthreads();
  if (threadIdx.x < args.n) args.y[threadIdx.x] = tile[threadIdx.x];
}

/* The input is used as a place for the result. */
KERNEL(input_overwritten, map_args, 64) {
  float *x = (float *)args.x;
  const float value = x[threadIdx.x] * 2.0f;
  x[threadIdx.x] = value; /* here: input_overwritten */
  args.y[threadIdx.x] = value;
}

#endif
