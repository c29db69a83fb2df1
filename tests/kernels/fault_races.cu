/* SPDX-License-Identifier: MIT */
/*
 * fault_races.cu - kernels with one planted race each: two accesses to the same place that nothing orders.
 *
 * A comment names the line of one access with "here", that of the other with "there" where it is another
 * line.
 */
#include "assay/kernel.h"

typedef struct map_args {
  const float *x;
  float *y;
  int64_t n;
} map_args;

typedef struct total_args {
  const float *x;
  float *total;
  int64_t n;
} total_args;

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

typedef struct square_args {
  float *matrix;
  int64_t n;
} square_args;

typedef struct words_args {
  const uint32_t *x;
  uint32_t *y;
} words_args;

#ifdef ASSAY_DEVICE

#define ALL 0xffffffffu

/* No barrier between filling the tile and reading what others filled. */
KERNEL(load_without_barrier, map_args, 128) {
  __shared__ float tile[128];
  const uint32_t t = threadIdx.x;
  tile[t] = args.x[t];       /* here: load_without_barrier */
  args.y[t] = tile[127 - t]; /* there: load_without_barrier */
}

/* The barrier behind the use of the tile is missing: a fast warp loads the next piece too early. */
KERNEL(reuse_without_barrier, map_args, 128) {
  __shared__ float tile[128];
  const uint32_t t = threadIdx.x;
  float sum = 0.0f;
  for (int64_t first = 0; first < args.n; first += 128) {
    tile[t] = args.x[first + t]; /* here: reuse_without_barrier */
    __syncthreads();
    sum += tile[(t + 64) % 128]; /* there: reuse_without_barrier */
  }
  args.y[t] = sum;
}

/* The last warp of a reduction as it was written before warps could diverge. */
KERNEL(last_warp_without_sync, map_args, 64) {
  __shared__ float part[64];
  const uint32_t t = threadIdx.x;
  part[t] = args.x[t];
  __syncthreads();
  for (uint32_t distance = 32; distance > 0 && t < 32; distance /= 2)
    part[t] += part[t + distance]; /* here: last_warp_without_sync */
  if (t == 0) args.y[0] = part[0];
}

/* Two threads a place: which value stays? */
KERNEL(same_element_shared, map_args, 128) {
  __shared__ float place[64];
  const uint32_t t = threadIdx.x;
  place[t % 64] = args.x[t]; /* here: same_element_shared */
  __syncthreads();
  args.y[t] = place[t % 64];
}

KERNEL(same_element_global, map_args, 64) {
  const int64_t i = threadIdx.x + (int64_t)64 * blockIdx.x;
  if (i < args.n) args.y[i / 2] = args.x[i]; /* here: same_element_global */
}

/* The total of all blocks without an atomic addition. */
KERNEL(plain_total, total_args, 32) {
  const int64_t i = threadIdx.x + (int64_t)32 * blockIdx.x;
  const float sum = warp_sum(i < args.n ? args.x[i] : 0.0f);
  if (threadIdx.x == 0) *args.total += sum; /* here: plain_total */
}

KERNEL(plain_histogram, bins_args, 128) {
  __shared__ unsigned mine[32];
  if (threadIdx.x < 32) mine[threadIdx.x] = 0;
  __syncthreads();
  mine[args.x[threadIdx.x + 128 * blockIdx.x] % 32] += 1; /* here: plain_histogram */
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(&args.bins[threadIdx.x], mine[threadIdx.x]);
}

/* One bin is counted by atomics and also cleared by whoever comes late. */
KERNEL(clear_while_counting, bins_args, 128) {
  __shared__ unsigned mine[32];
  if (threadIdx.x < 32) mine[threadIdx.x] = 0;                       /* here: clear_while_counting */
  atomicAdd(&mine[args.x[threadIdx.x + 128 * blockIdx.x] % 32], 1u); /* there: clear_while_counting */
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(&args.bins[threadIdx.x], mine[threadIdx.x]);
}

/* The counter of finished blocks is a plain number. */
KERNEL(plain_block_counter, done_args, 32) {
  const int64_t i = threadIdx.x + (int64_t)32 * blockIdx.x;
  const float sum = warp_sum(i < args.n ? args.x[i] : 0.0f);
  if (threadIdx.x != 0) return;
  atomicAdd(args.total, sum);
  args.partial[blockIdx.x] = sum;
  __threadfence();
  *args.count += 1; /* here: plain_block_counter */
}

/* All threads write their part, one thread counts for them, and nothing makes it wait for the others. */
KERNEL(count_before_all_wrote, done_args, 64) {
  __shared__ unsigned last;
  const int64_t i = threadIdx.x + (int64_t)64 * blockIdx.x;
  args.partial[i] = args.x[i]; /* here: count_before_all_wrote */
  __threadfence();
  if (threadIdx.x == 0) last = atomicAdd(args.count, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last == 0 || threadIdx.x != 0) return;
  float sum = 0.0f;
  for (int64_t k = 0; k < args.n; ++k) sum += args.partial[k]; /* there: count_before_all_wrote */
  *args.total = sum;
}

/* The fence between the partial sum and the count is missing: an atomic alone orders nothing else. */
KERNEL(count_without_fence, done_args, 32) {
  const int64_t i = threadIdx.x + (int64_t)32 * blockIdx.x;
  const float sum = warp_sum(i < args.n ? args.x[i] : 0.0f);
  if (threadIdx.x != 0) return;
  args.partial[blockIdx.x] = sum; /* here: count_without_fence */
  if (atomicAdd(args.count, 1u) != gridDim.x - 1) return;
  float total = 0.0f;
  for (uint32_t b = 0; b < gridDim.x; ++b) total += args.partial[b]; /* there: count_without_fence */
  *args.total = total;
}

/* The wait for the copies is missing. */
KERNEL(copies_without_wait, map_args, 64) {
  __shared__ __align__(16) float tile[256];
  const uint32_t t = threadIdx.x;
  cp_async_16(&tile[t * 4], args.x + t * 4);
  cp_async_commit();
  __syncthreads();
  for (uint32_t i = t; i < 256; i += 64) args.y[i] = tile[255 - i]; /* here: copies_without_wait */
}

/* One group may still be under way, and it is the one that is read. */
KERNEL(wait_for_one_too_few, map_args, 64) {
  __shared__ __align__(16) float stage[2][256];
  const uint32_t t = threadIdx.x;
  const int64_t tiles = args.n / 256;
  cp_async_16(&stage[0][t * 4], args.x + t * 4);
  cp_async_commit();
  for (int64_t tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) {
      cp_async_16(&stage[(tile + 1) % 2][t * 4], args.x + (tile + 1) * 256 + t * 4);
      cp_async_commit();
    }
    cp_async_wait(1); /* the last tile has no group behind it */
    __syncthreads();
    for (uint32_t i = t; i < 256; i += 64)
      args.y[tile * 256 + i] = stage[tile % 2][255 - i]; /* here: wait_for_one_too_few */
    __syncthreads();
  }
}

/* The next tile is copied over the one that is being read. */
KERNEL(one_buffer_for_two, map_args, 64) {
  __shared__ __align__(16) float stage[256];
  const uint32_t t = threadIdx.x;
  const int64_t tiles = args.n / 256;
  cp_async_16(&stage[t * 4], args.x + t * 4);
  cp_async_commit();
  for (int64_t tile = 0; tile < tiles; ++tile) {
    cp_async_wait(0);
    __syncthreads();
    if (tile + 1 < tiles)
      cp_async_16(&stage[t * 4], args.x + (tile + 1) * 256 + t * 4); /* here: one_buffer_for_two */
    cp_async_commit();
    for (uint32_t i = t; i < 256; i += 64)
      args.y[tile * 256 + i] = stage[255 - i]; /* there: one_buffer_for_two */
    __syncthreads();
  }
}

/* Neighbours are averaged in the array that they are read from. */
KERNEL(stencil_in_place, square_args, 64) {
  const int64_t i = threadIdx.x + (int64_t)64 * blockIdx.x;
  if (i == 0 || i + 1 >= args.n) return;
  const float sum = args.matrix[i - 1] + args.matrix[i + 1]; /* here: stencil_in_place */
  args.matrix[i] = 0.5f * sum;                               /* there: stencil_in_place */
}

/* Both threads of a pair exchange the elements on either side of the diagonal. */
KERNEL(transpose_in_place, square_args, 256) {
  const int64_t r = threadIdx.y + (int64_t)16 * blockIdx.y;
  const int64_t c = threadIdx.x + (int64_t)16 * blockIdx.x;
  if (r >= args.n || c >= args.n) return;
  const float value = args.matrix[r * args.n + c]; /* here: transpose_in_place */
  args.matrix[c * args.n + r] = value;             /* there: transpose_in_place */
}

/* The step of a scan that reads and writes one array has a barrier only at its end. */
KERNEL(scan_in_one_buffer, map_args, 128) {
  __shared__ float sums[128];
  const uint32_t t = threadIdx.x;
  sums[t] = args.x[t];
  __syncthreads();
  for (uint32_t distance = 1; distance < 128; distance *= 2) {
    if (t >= distance) sums[t] += sums[t - distance]; /* here: scan_in_one_buffer */
    __syncthreads();
  }
  args.y[t] = sums[t];
}

/* A warp's partial sums are read by the first warp without a barrier. */
KERNEL(partials_without_barrier, map_args, 128) {
  __shared__ float part[4];
  const uint32_t t = threadIdx.x;
  const float sum = warp_sum(args.x[t]);
  if (t % 32 == 0) part[t / 32] = sum;                           /* here: partials_without_barrier */
  if (t == 0) args.y[0] = part[0] + part[1] + part[2] + part[3]; /* there: partials_without_barrier */
}

/* The result of the first sum is read after the place was given to the second one. */
KERNEL(result_overwritten, map_args, 64) {
  __shared__ float place;
  const float first = warp_sum(args.x[threadIdx.x]);
  if (threadIdx.x == 0) place = first;
  __syncthreads();
  const float mean = place / 32.0f; /* here: result_overwritten */
  const float rest = warp_sum(args.x[threadIdx.x] - mean);
  if (threadIdx.x == 0) place = rest; /* there: result_overwritten */
  __syncthreads();
  args.y[threadIdx.x] = place;
}

/* The first warp waits for its own lanes only, and the other one may not have read yet. */
KERNEL(warp_overwrites_broadcast, map_args, 64) {
  __shared__ float place;
  const uint32_t t = threadIdx.x;
  if (t == 0) place = args.x[0];
  __syncthreads();
  const float first = place; /* here: warp_overwrites_broadcast */
  __syncwarp();
  if (t == 0) place = first + 1.0f; /* there: warp_overwrites_broadcast */
  __syncthreads();
  args.y[t] = first + place;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/* The neighbour's memory is read without waiting until it is filled. */
KERNEL(peer_without_sync, words_args, 32) {
  DYNAMIC_SHARED(bytes);
  uint32_t *place = (uint32_t *)bytes;
  const uint32_t t = threadIdx.x;
  place[t] = 0;
  cluster_sync();
  place[t] = args.x[t] + blockIdx.x; /* here: peer_without_sync */
  __syncthreads();
  const uint32_t *peer = (const uint32_t *)cluster_shared(place, 1 - cluster_rank());
  args.y[t + 32 * blockIdx.x] = peer[t]; /* there: peer_without_sync */
  cluster_sync();
}
#endif

#endif
