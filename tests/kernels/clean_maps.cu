/* SPDX-License-Identifier: MIT */
/* clean_maps.cu - kernels without a fault that write one element a thread: what tools must not complain
 * about. The rows that run them, and what they must give, are in parity_maps.h. */
#include "assay/kernel.h"

typedef struct add_args {
  const float *x, *y;
  float *z;
  int64_t n;
} add_args;

typedef struct map_args {
  const float *x;
  float *y;
  int64_t n;
} map_args;

typedef struct image_args {
  const uint8_t *in;
  uint8_t *out;
  int64_t width, height;
} image_args;

typedef struct matrix_args {
  const float *in;
  float *out;
  int64_t rows, columns;
} matrix_args;

typedef struct scatter_args {
  const float *x;
  const uint32_t *to;
  float *y;
  int64_t n;
} scatter_args;

typedef struct particle {
  float place[3];
  float speed[3];
  int64_t steps;
} particle;

typedef struct particles_args {
  const particle *before;
  particle *after;
  int64_t n;
} particles_args;

typedef struct volume_args {
  const float *in;
  float *out;
  int64_t x, y, z;
} volume_args;

typedef struct darts_args {
  uint32_t *hits;
  int64_t draws;
} darts_args;

#ifdef ASSAY_DEVICE

#define ALL 0xffffffffu

KERNEL(vector_add, add_args, 128) {
  const int64_t i = threadIdx.x + (int64_t)blockDim.x * blockIdx.x;
  if (i < args.n) args.z[i] = args.x[i] + args.y[i];
}

KERNEL(grid_stride, map_args, 64) {
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = threadIdx.x + (int64_t)blockDim.x * blockIdx.x; i < args.n; i += step)
    args.y[i] += 3.0f * args.x[i];
}

/* Whole vectors first, the rest of the row one by one. */
KERNEL(vectors_and_tail, map_args, 64) {
  const int64_t vectors = args.n / 4;
  const int64_t i = threadIdx.x + (int64_t)blockDim.x * blockIdx.x;
  if (i < vectors) {
    vector16 v = vector16_load(args.x + i * 4);
    for (int k = 0; k < 4; ++k) v.word[k] = __float_as_uint(2.0f * __uint_as_float(v.word[k]));
    vector16_store(args.y + i * 4, v);
  }
  if (i < args.n - vectors * 4) args.y[vectors * 4 + i] = 2.0f * args.x[vectors * 4 + i];
}

KERNEL(transpose_tile, matrix_args, 256) {
  __shared__ float tile[32][33]; /* the column more keeps a column of the tile out of one bank */
  const int64_t left = (int64_t)blockIdx.x * 32;
  const int64_t top = (int64_t)blockIdx.y * 32;
  for (uint32_t j = threadIdx.y; j < 32; j += 8) {
    if (top + j < args.rows && left + threadIdx.x < args.columns)
      tile[j][threadIdx.x] = args.in[(top + j) * args.columns + left + threadIdx.x];
  }
  __syncthreads();
  for (uint32_t j = threadIdx.y; j < 32; j += 8) {
    if (left + j < args.columns && top + threadIdx.x < args.rows)
      args.out[(left + j) * args.rows + top + threadIdx.x] = tile[threadIdx.x][j];
  }
}

#define RADIUS 3

KERNEL(stencil_halo, map_args, 128) {
  __shared__ float tile[128 + 2 * RADIUS];
  const int64_t i = threadIdx.x + (int64_t)128 * blockIdx.x;
  const int t = (int)threadIdx.x;
  tile[t + RADIUS] = i < args.n ? args.x[i] : 0.0f;
  if (t < RADIUS) {
    tile[t] = i >= RADIUS && i - RADIUS < args.n ? args.x[i - RADIUS] : 0.0f;
    tile[t + 128 + RADIUS] = i + 128 < args.n ? args.x[i + 128] : 0.0f;
  }
  __syncthreads();
  float sum = 0.0f;
  for (int k = -RADIUS; k <= RADIUS; ++k) sum += tile[t + RADIUS + k];
  if (i < args.n) args.y[i] = sum;
}

__constant__ float taps[5] = {1.0f, -2.0f, 4.0f, -2.0f, 1.0f};

KERNEL(constant_taps, map_args, 128) {
  const int64_t i = threadIdx.x + (int64_t)blockDim.x * blockIdx.x;
  if (i >= args.n) return;
  float sum = 0.0f;
  for (int k = 0; k < 5; ++k) {
    const int64_t at = i + k - 2;
    if (at >= 0 && at < args.n) sum += taps[k] * args.x[at];
  }
  args.y[i] = sum;
}

/* Neighbouring threads write neighbouring bytes. */
KERNEL(life_step, image_args, 256) {
  const int64_t x = threadIdx.x + 16 * (int64_t)blockIdx.x;
  const int64_t y = threadIdx.y + 16 * (int64_t)blockIdx.y;
  if (x >= args.width || y >= args.height) return;
  int alive = 0;
  for (int64_t down = args.height - 1; down <= args.height + 1; ++down) {
    for (int64_t right = args.width - 1; right <= args.width + 1; ++right)
      alive += args.in[(y + down) % args.height * args.width + (x + right) % args.width];
  }
  const int self = args.in[y * args.width + x];
  args.out[y * args.width + x] = (uint8_t)(alive == 3 || (alive == 4 && self == 1));
}

KERNEL(grey_pixels, image_args, 64) {
  const int64_t i = threadIdx.x + (int64_t)blockDim.x * blockIdx.x;
  if (i >= args.width * args.height) return;
  const uint8_t *pixel = args.in + i * 3;
  args.out[i] = (uint8_t)((pixel[0] * 77u + pixel[1] * 150u + pixel[2] * 29u) / 256u);
}

/* The 256 threads load a tile of 18 x 18 in a loop; outside the image is 0. */
KERNEL(box_blur, matrix_args, 256) {
  __shared__ float tile[18][18];
  const int64_t left = 16 * (int64_t)blockIdx.x - 1;
  const int64_t top = 16 * (int64_t)blockIdx.y - 1;
  for (uint32_t i = threadIdx.x + 16 * threadIdx.y; i < 18 * 18; i += 256) {
    const int64_t x = left + i % 18;
    const int64_t y = top + i / 18;
    const bool inside = x >= 0 && y >= 0 && x < args.columns && y < args.rows;
    tile[i / 18][i % 18] = inside ? args.in[y * args.columns + x] : 0.0f;
  }
  __syncthreads();
  const int64_t x = left + 1 + threadIdx.x;
  const int64_t y = top + 1 + threadIdx.y;
  if (x >= args.columns || y >= args.rows) return;
  float sum = 0.0f;
  for (uint32_t j = 0; j < 3; ++j) {
    for (uint32_t i = 0; i < 3; ++i) sum += tile[threadIdx.y + j][threadIdx.x + i];
  }
  args.out[y * args.columns + x] = sum;
}

KERNEL(scatter_permuted, scatter_args, 128) {
  const int64_t i = threadIdx.x + (int64_t)blockDim.x * blockIdx.x;
  if (i < args.n) args.y[args.to[i]] = args.x[i];
}

__device__ __noinline__ void move(particle *one, const float *by) {
  for (int k = 0; k < 3; ++k) one->place[k] += by[k];
  one->steps += 1;
}

/* Whole structs are read and written, a copy lies on the thread's own stack meanwhile. */
KERNEL(particles, particles_args, 64) {
  const int64_t i = threadIdx.x + (int64_t)blockDim.x * blockIdx.x;
  if (i >= args.n) return;
  particle mine = args.before[i];
  move(&mine, mine.speed);
  move(&mine, args.before[args.n - 1 - i].speed);
  args.after[i] = mine;
}

/* The mirror of a place, in shared memory that belongs to the function. */
__device__ float mirrored(float value, uint32_t place, uint32_t count) {
  __shared__ float all[192];
  all[place] = value;
  __syncthreads();
  const float other = all[count - 1 - place];
  __syncthreads();
  return other;
}

/* Blocks and grid of three dimensions; outside the volume is 0. */
KERNEL(volume_mirror, volume_args, 192) {
  const int64_t x = threadIdx.x + 8 * (int64_t)blockIdx.x;
  const int64_t y = threadIdx.y + 6 * (int64_t)blockIdx.y;
  const int64_t z = threadIdx.z + 4 * (int64_t)blockIdx.z;
  const uint32_t place = threadIdx.x + 8 * (threadIdx.y + 6 * threadIdx.z);
  const bool inside = x < args.x && y < args.y && z < args.z;
  const int64_t at = (z * args.y + y) * args.x + x;
  float value = inside ? args.in[at] : 0.0f;
  value += mirrored(value, place, 192);
  value += mirrored(value * 0.5f, place ^ 1u, 192);
  if (inside) args.out[at] = value;
}

/* A generator of its own a thread; a warp adds its hits before one lane tells the total. */
KERNEL(monte_carlo, darts_args, 128) {
  uint32_t state = 12345u + threadIdx.x + blockDim.x * blockIdx.x;
  uint32_t inside = 0;
  for (int64_t i = 0; i < args.draws; ++i) {
    state = state * 1664525u + 1013904223u;
    const uint32_t x = state >> 17;
    state = state * 1664525u + 1013904223u;
    const uint32_t y = state >> 17;
    inside += x * x + y * y <= 32767u * 32767u;
  }
  const uint32_t total = __reduce_add_sync(ALL, inside);
  if (threadIdx.x % 32 == 0) atomicAdd(args.hits, total);
}

/* Warp by warp through shared memory, each lane its mirror's element: only the warp has to meet. */
KERNEL(mirror_warps, map_args, 128) {
  __shared__ float place[128];
  const uint32_t t = threadIdx.x;
  const int64_t i = t + (int64_t)128 * blockIdx.x;
  place[t] = args.x[i];
  __syncwarp();
  const float value = place[t ^ 31u];
  __syncwarp();
  place[t] = value + 1.0f;
  __syncwarp();
  args.y[i] = place[t ^ 1u];
}

/* Warps that have nothing to do leave; those that stay need no barrier of the block. */
KERNEL(whole_warps_leave, map_args, 128) {
  const int64_t first = threadIdx.x / 32 * 32 + (int64_t)blockDim.x * blockIdx.x;
  if (first >= args.n) return;
  const int64_t i = first + threadIdx.x % 32;
  const float value = i < args.n ? args.x[i] : -1024.0f;
  const float most = warp_max(value);
  if (i < args.n) args.y[i] = value - most;
}

#endif
