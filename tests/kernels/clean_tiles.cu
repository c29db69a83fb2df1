/* SPDX-License-Identifier: MIT */
/* clean_tiles.cu - kernels without a fault that work on tiles: products, asynchronous copies, matrix steps.
 * The rows that run them, and what they must give, are in parity_tiles.h. */
#include "assay/kernel.h"

typedef struct product_args {
  const float *a, *b;
  float *c;
  int64_t m, n, k;
} product_args;

typedef struct half_args {
  const uint16_t *a, *b; /* [16][64] and [8][64], B column by column */
  float *c;
} half_args;

typedef struct stream_args {
  const float *x;
  float *y;
  int64_t n;
} stream_args;

typedef struct relax_args {
  const float *x;
  float *y;
  int64_t rounds;
} relax_args;

#ifdef ASSAY_DEVICE

KERNEL(product_tiled, product_args, 256) {
  __shared__ float a[16][16];
  __shared__ float b[16][16];
  const int64_t row = threadIdx.y + (int64_t)16 * blockIdx.y;
  const int64_t column = threadIdx.x + (int64_t)16 * blockIdx.x;
  float sum = 0.0f;
  for (int64_t first = 0; first < args.k; first += 16) {
    const bool a_there = row < args.m && first + threadIdx.x < args.k;
    const bool b_there = column < args.n && first + threadIdx.y < args.k;
    a[threadIdx.y][threadIdx.x] = a_there ? args.a[row * args.k + first + threadIdx.x] : 0.0f;
    b[threadIdx.y][threadIdx.x] = b_there ? args.b[(first + threadIdx.y) * args.n + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < args.m && column < args.n) args.c[row * args.n + column] = sum;
}

/* Four rows a thread; both tiles lie in dynamic shared memory. Sizes are multiples of the tile. */
KERNEL(product_coarse, product_args, 64) {
  DYNAMIC_SHARED(bytes);
  float *a = (float *)bytes; /* [16][8] */
  float *b = a + 16 * 8;     /* [8][16] */
  const int64_t top = (int64_t)16 * blockIdx.y;
  const int64_t left = (int64_t)16 * blockIdx.x;
  float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int64_t first = 0; first < args.k; first += 8) {
    for (uint32_t i = threadIdx.x; i < 128; i += 64) {
      a[i] = args.a[(top + i / 8) * args.k + first + i % 8];
      b[i] = args.b[(first + i / 16) * args.n + left + i % 16];
    }
    __syncthreads();
    for (int i = 0; i < 8; ++i) {
      const float value = b[i * 16 + threadIdx.x % 16];
      for (int r = 0; r < 4; ++r) sum[r] += a[(threadIdx.x / 16 * 4 + r) * 8 + i] * value;
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r)
    args.c[(top + threadIdx.x / 16 * 4 + r) * args.n + left + threadIdx.x % 16] = sum[r];
}

/* The copy of the next tile is under way while this one is used. Each thread reads its neighbour's part. */
KERNEL(copies_two_stages, stream_args, 64) {
  __shared__ __align__(16) float stage[2][256];
  const uint32_t t = threadIdx.x;
  const int64_t tiles = args.n / 256;
  cp_async_16(&stage[0][t * 4], args.x + t * 4);
  cp_async_commit();
  for (int64_t tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) cp_async_16(&stage[(tile + 1) % 2][t * 4], args.x + (tile + 1) * 256 + t * 4);
    cp_async_commit(); /* an empty group at the end keeps the count */
    cp_async_wait(1);
    __syncthreads();
    for (uint32_t i = 0; i < 4; ++i) args.y[tile * 256 + i * 64 + t] = stage[tile % 2][255 - (i * 64 + t)];
    __syncthreads();
  }
}

/* The last tile is copied in part, with zeros behind. */
KERNEL(copies_of_a_part, stream_args, 64) {
  __shared__ __align__(16) float tile[256];
  const int64_t first = (int64_t)256 * blockIdx.x + 4 * threadIdx.x;
  const int64_t left = args.n - first;
  const int count = left >= 4 ? 4 : left > 0 ? (int)left : 0;
  cp_async_16_part(&tile[4 * threadIdx.x], count > 0 ? args.x + first : args.x, 4 * count);
  cp_async_commit();
  cp_async_wait(0);
  __syncthreads();
  float sum = 0.0f;
  for (uint32_t i = 0; i < 4; ++i) sum += tile[threadIdx.x + 64 * i];
  args.y[threadIdx.x + (int64_t)64 * blockIdx.x] = sum;
}

KERNEL(copies_by_words, stream_args, 128) {
  DYNAMIC_SHARED(bytes);
  float *tile = (float *)bytes;
  const int64_t i = threadIdx.x + (int64_t)128 * blockIdx.x;
  if (i < args.n) cp_async_4(&tile[threadIdx.x], args.x + i);
  cp_async_commit();
  if (i >= args.n) tile[threadIdx.x] = 0.0f;
  cp_async_wait(0);
  __syncthreads();
  if (i < args.n) args.y[i] = tile[threadIdx.x] - tile[127 - threadIdx.x];
}

/* Every warp copies and uses a tile of its own: what it waited for is there for its lanes after __syncwarp.
 */
KERNEL(copies_within_warp, stream_args, 128) {
  __shared__ __align__(16) float tile[4][128];
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t warp = threadIdx.x / 32;
  for (int64_t first = warp * 128; first < args.n; first += 512) {
    cp_async_16(&tile[warp][lane * 4], args.x + first + lane * 4);
    cp_async_commit();
    cp_async_wait(0);
    __syncwarp();
    for (uint32_t i = lane; i < 128; i += 32) args.y[first + i] = tile[warp][127 - i];
    __syncwarp();
  }
}

/* One warp: fragments through ldmatrix, C [16][8] in registers. Rows are padded against bank conflicts. */
KERNEL(matrix_step, half_args, 32) {
  __shared__ __align__(16) uint16_t a[16][72];
  __shared__ __align__(16) uint16_t b[8][72];
  const uint32_t t = threadIdx.x;
  for (uint32_t i = t; i < 16 * 8; i += 32)
    vector16_store(&a[i / 8][i % 8 * 8], vector16_load(args.a + i * 8));
  for (uint32_t i = t; i < 8 * 8; i += 32)
    vector16_store(&b[i / 8][i % 8 * 8], vector16_load(args.b + i * 8));
  __syncwarp();
  float d[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (uint32_t k = 0; k < 64; k += 16) {
    uint32_t left[4], right[2];
    ldmatrix_x4(left, &a[t % 16][k + t / 16 * 8]);
    ldmatrix_x2(right, &b[t % 8][k + t / 8 % 2 * 8]);
    mma_m16n8k16_fp16(d, left, right);
  }
  for (uint32_t i = 0; i < 4; ++i) args.c[(t / 4 + i / 2 * 8) * 8 + t % 4 * 2 + i % 2] = d[i];
}

/* A tile is transposed by reading it so: every warp its own 16 x 16. */
KERNEL(matrix_turned, half_args, 128) {
  __shared__ __align__(16) uint16_t tile[4][16][24];
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t warp = threadIdx.x / 32;
  uint32_t r[4];
  vector16_store(&tile[warp][lane / 2][lane % 2 * 8],
                 vector16_load(args.a + (lane / 2) * 64 + warp * 16 + lane % 2 * 8));
  __syncwarp();
  ldmatrix_x4_trans(r, &tile[warp][lane % 16][lane / 16 * 8]);
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t row = lane / 4 + i / 2 * 8;
    const uint32_t column = lane % 4 * 2 + i % 2 * 8;
    args.c[(warp * 16 + row) * 16 + column] = fp16_to_float((uint16_t)r[i]);
    args.c[(warp * 16 + row) * 16 + column + 1] = fp16_to_float((uint16_t)(r[i] >> 16));
  }
}

/* Rounds between two arrays in shared memory; the ends stay. */
KERNEL(relax_two_arrays, relax_args, 128) {
  __shared__ float value[2][128];
  const uint32_t t = threadIdx.x;
  value[0][t] = args.x[t];
  if (t == 0 || t == 127) value[1][t] = args.x[t];
  __syncthreads();
  for (int64_t round = 0; round < args.rounds; ++round) {
    const float *from = value[round % 2];
    if (t > 0 && t < 127) value[1 - round % 2][t] = 0.5f * (from[t - 1] + from[t + 1]);
    __syncthreads();
  }
  args.y[t] = value[args.rounds % 2][t];
}

/* One array: what was read stays in a register until all have read. */
KERNEL(relax_in_place, relax_args, 128) {
  __shared__ float value[128];
  const uint32_t t = threadIdx.x;
  value[t] = args.x[t];
  __syncthreads();
  for (int64_t round = 0; round < args.rounds; ++round) {
    const float fresh = t > 0 && t < 127 ? 0.5f * (value[t - 1] + value[t + 1]) : value[t];
    __syncthreads();
    value[t] = fresh;
    __syncthreads();
  }
  args.y[t] = value[t];
}

#endif
