/* SPDX-License-Identifier: MIT */
/* counts.cu - small kernels whose sectors and passes over banks can be told by hand; tests/test_counts.c has
 * the numbers. */
#include "assay/kernel.h"

typedef struct count_args {
  const float *in;
  float *out;
  int64_t count;
} count_args;

#ifdef ASSAY_DEVICE

#define ALL 0xffffffffu

KERNEL(neighbours, count_args, 64) {
  args.out[threadIdx.x] = args.in[threadIdx.x];
}

KERNEL(every_second, count_args, 32) {
  args.out[threadIdx.x] = args.in[2 * threadIdx.x];
}

KERNEL(a_row_apart, count_args, 32) {
  args.out[threadIdx.x] = args.in[32 * threadIdx.x];
}

KERNEL(one_for_all, count_args, 32) {
  args.out[threadIdx.x] = args.in[0];
}

KERNEL(one_off, count_args, 32) {
  args.out[threadIdx.x] = args.in[threadIdx.x + 1];
}

KERNEL(wide, count_args, 32) {
  vector16_store(args.out + 4 * threadIdx.x, vector16_load(args.in + 4 * threadIdx.x));
}

KERNEL(half_the_size, count_args, 32) {
  ((uint16_t *)args.out)[threadIdx.x] = ((const uint16_t *)args.in)[threadIdx.x];
}

/* 32 lanes walk over `count` elements. */
KERNEL(walk, count_args, 32) {
  float sum = 0.0f;
  for (int64_t i = threadIdx.x; i < args.count; i += 32) sum += args.in[i];
  args.out[threadIdx.x] = sum;
}

/* Half of the lanes read twice as often before each barrier, and 8 lanes share a sector. */
KERNEL(uneven, count_args, 32) {
  float sum = 0.0f;
  for (int64_t round = 0; round < args.count; round++) {
    const int64_t times = threadIdx.x < 16 ? 2 : 1;
    for (int64_t k = 0; k < times; k++) sum += args.in[16 * round + 8 * k + threadIdx.x % 8];
    __syncthreads();
  }
  args.out[threadIdx.x] = sum;
}

KERNEL(alone, count_args, 32) {
  float sum = 0.0f;
  for (int64_t i = 0; i < args.count; i++) sum += args.in[i % 8];
  args.out[0] = sum;
}

/* A column of a tile is written, then read. */
KERNEL(tile_column, count_args, 32) {
  __shared__ float tile[32][32];
  tile[threadIdx.x][0] = args.in[threadIdx.x];
  __syncthreads();
  args.out[threadIdx.x] = tile[31 - threadIdx.x][0];
}

KERNEL(padded_column, count_args, 32) {
  __shared__ float tile[32][33];
  tile[threadIdx.x][0] = args.in[threadIdx.x];
  __syncthreads();
  args.out[threadIdx.x] = tile[31 - threadIdx.x][0];
}

KERNEL(tile_broadcast, count_args, 32) {
  __shared__ float tile[32];
  tile[threadIdx.x] = args.in[threadIdx.x];
  __syncthreads();
  args.out[threadIdx.x] = tile[5];
}

KERNEL(tile_wide, count_args, 32) {
  __shared__ vector16 tile[32];
  vector16_store(&tile[threadIdx.x], vector16_load(args.in + 4 * threadIdx.x));
  __syncthreads();
  vector16_store(args.out + 4 * threadIdx.x, vector16_load(&tile[31 - threadIdx.x]));
}

KERNEL(tile_double, count_args, 32) {
  __shared__ double tile[32];
  tile[threadIdx.x] = (double)args.in[threadIdx.x];
  __syncthreads();
  args.out[threadIdx.x] = (float)tile[31 - threadIdx.x];
}

/* 16 bytes a lane arrive by cp.async, and leave as the rows of four matrices. */
KERNEL(copies, count_args, 32) {
  __shared__ vector16 tile[32];
  uint32_t part[4];
  cp_async_16(&tile[threadIdx.x], args.in + 4 * threadIdx.x);
  cp_async_commit();
  cp_async_wait(0);
  __syncthreads();
  ldmatrix_x4(part, &tile[threadIdx.x]);
  args.out[threadIdx.x] = __uint_as_float(part[0] ^ part[1] ^ part[2] ^ part[3]);
}

KERNEL(words, count_args, 64) {
  float value = __shfl_xor_sync(ALL, args.in[threadIdx.x], 1);
  __syncthreads();
  __syncwarp();
  atomicAdd(args.out, value);
}

KERNEL(matrix, count_args, 32) {
  uint32_t a[4] = {0, 0, 0, 0};
  uint32_t b[2] = {0, 0};
  float d[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  mma_m16n8k16_fp16(d, a, b);
  mma_m16n8k16_bf16(d, a, b);
  args.out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

#else

#endif
