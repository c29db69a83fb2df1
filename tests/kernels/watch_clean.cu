/* SPDX-License-Identifier: MIT */
/* watch_clean.cu - kernels without a mistake, in which a watch must find none. */
#include "assay/kernel.h"

typedef struct watch_args {
  uint32_t *out;
  const uint32_t *in;
  uint32_t *scratch;
  int64_t n;
} watch_args;

#ifdef ASSAY_DEVICE

#define ALL 0xffffffffu

KERNEL(barrier_reduction, watch_args, 64) {
  __shared__ uint32_t part[64];
  part[threadIdx.x] = args.in[64 * blockIdx.x + threadIdx.x];
  __syncthreads();
  for (uint32_t half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) args.out[blockIdx.x] = part[0];
}

KERNEL(warp_reduction, watch_args, 64) {
  __shared__ uint32_t part[64];
  const uint32_t lane = threadIdx.x % 32;
  uint32_t *mine = part + (threadIdx.x - lane);
  mine[lane] = args.in[64 * blockIdx.x + threadIdx.x];
  __syncwarp();
  for (uint32_t half = 16; half > 0; half /= 2) {
    const uint32_t sum = lane < half ? mine[lane] + mine[lane + half] : 0;
    __syncwarp();
    if (lane < half) mine[lane] = sum;
    __syncwarp();
  }
  __syncthreads();
  if (threadIdx.x == 0) args.out[blockIdx.x] = part[0] + part[32];
}

/* The block that comes last adds what all have left. */
KERNEL(last_block, watch_args, 64) {
  __shared__ uint32_t ticket;
  args.scratch[64 * blockIdx.x + threadIdx.x] = args.in[64 * blockIdx.x + threadIdx.x];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) ticket = atomicAdd(&args.out[1], 1u);
  __syncthreads();
  if (ticket != gridDim.x - 1) return;
  uint32_t sum = 0;
  for (uint32_t k = threadIdx.x; k < 64 * gridDim.x; k += 64) sum += args.scratch[k];
  atomicAdd(&args.out[0], sum);
}

KERNEL(double_buffer, watch_args, 64) {
  __shared__ __align__(16) uint32_t tile[2][256];
  uint32_t sum = 0;
  cp_async_16(tile[0] + 4 * threadIdx.x, args.in + 4 * threadIdx.x);
  cp_async_commit();
  for (int k = 0; k < 4; ++k) {
    if (k < 3) cp_async_16(tile[(k + 1) % 2] + 4 * threadIdx.x, args.in + 4 * threadIdx.x);
    cp_async_commit();
    cp_async_wait(1);
    __syncthreads();
    for (int j = 0; j < 256; j += 64) sum += tile[k % 2][255 - threadIdx.x - j] * (uint32_t)(k + 1);
    __syncthreads();
  }
  args.out[64 * blockIdx.x + threadIdx.x] = sum;
}

KERNEL(cluster_exchange, watch_args, 64) {
  DYNAMIC_SHARED(memory);
  __shared__ uint32_t twice[64];
  uint32_t *own = (uint32_t *)(void *)memory;
  own[threadIdx.x] = args.in[64 * blockIdx.x + threadIdx.x];
  twice[threadIdx.x] = 2 * own[threadIdx.x];
  cluster_sync();
  const uint32_t *peer = (const uint32_t *)cluster_shared(own, 1 - cluster_rank());
  args.out[64 * blockIdx.x + threadIdx.x] = peer[63 - threadIdx.x] + twice[63 - threadIdx.x];
  cluster_sync();
}

KERNEL(histogram, watch_args, 64) {
  __shared__ uint32_t bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int64_t k = 64 * blockIdx.x + threadIdx.x; k < args.n; k += 64 * (int64_t)gridDim.x)
    atomicAdd(&bins[args.in[k] % 16], 1u);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&args.out[threadIdx.x], bins[threadIdx.x]);
}

/* Each block waits for the one before it. */
KERNEL(chain, watch_args, 64) {
  if (threadIdx.x == 0) {
    const uint32_t turn = blockIdx.x;
    while (load_acquire(&args.out[0]) != turn) spin_pause();
  }
  __syncthreads();
  args.out[1 + threadIdx.x] += args.in[64 * blockIdx.x + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    store_release(&args.out[0], blockIdx.x + 1);
  }
}

/* A volatile flag in shared memory between two warps. */
KERNEL(volatile_flag, watch_args, 64) {
  __shared__ uint32_t box[32];
  __shared__ uint32_t full;
  volatile uint32_t *flag = &full;
  if (threadIdx.x == 0) *flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    box[threadIdx.x] = args.in[64 * blockIdx.x + threadIdx.x];
    __threadfence_block();
    __syncwarp();
    if (threadIdx.x == 0) *flag = 1;
  } else {
    while (*flag == 0) spin_pause();
    __threadfence_block();
    args.out[32 * blockIdx.x + threadIdx.x - 32] = box[63 - threadIdx.x];
  }
}

KERNEL(lock, watch_args, 64) {
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&args.out[0], 0u, 1u) != 0u) spin_pause();
    __threadfence();
    args.out[1] += args.in[64 * blockIdx.x + threadIdx.x];
    __threadfence();
    atomicExch(&args.out[0], 0u);
  }
}

/* Bytes and halves of one word belong to different threads. */
KERNEL(small_elements, watch_args, 64) {
  __shared__ uint8_t bytes[64];
  __shared__ uint16_t halves[64];
  uint8_t *out = (uint8_t *)args.out;
  bytes[threadIdx.x] = (uint8_t)args.in[threadIdx.x];
  halves[threadIdx.x] = (uint16_t)args.in[threadIdx.x];
  out[64 * blockIdx.x + threadIdx.x] = bytes[threadIdx.x];
  __syncthreads();
  out[64 * gridDim.x + 64 * blockIdx.x + threadIdx.x] = (uint8_t)halves[63 - threadIdx.x];
}

KERNEL(transpose, watch_args, 64) {
  __shared__ uint32_t tile[8][9];
  const uint32_t row = threadIdx.x / 8;
  const uint32_t column = threadIdx.x % 8;
  tile[row][column] = args.in[64 * blockIdx.x + threadIdx.x];
  __syncthreads();
  args.out[64 * blockIdx.x + threadIdx.x] = tile[column][row];
}

typedef struct large {
  uint32_t word[9];
} large;

/* Copies of structs, and of bytes whose number only the launch knows. */
KERNEL(copies_of_structs, watch_args, 64) {
  __shared__ large box[64];
  __shared__ uint32_t flat[64];
  large mine;
  for (int k = 0; k < 9; ++k) mine.word[k] = args.in[threadIdx.x] + (uint32_t)k;
  box[threadIdx.x] = mine;
  if (threadIdx.x == 0) memcpy(flat, args.in + 64 * blockIdx.x, (uint32_t)args.n / 4);
  __syncthreads();
  mine = box[63 - threadIdx.x];
  memset(&args.out[64 * blockIdx.x + threadIdx.x], 0, 4);
  for (int k = 0; k < 9; ++k)
    args.out[64 * blockIdx.x + threadIdx.x] += mine.word[k] + flat[threadIdx.x % 16];
}

/* Two launches: the second reads what the first left. */
KERNEL(first_half, watch_args, 64) {
  args.scratch[64 * blockIdx.x + threadIdx.x] = args.in[64 * blockIdx.x + threadIdx.x];
}

KERNEL(second_half, watch_args, 64) {
  args.out[64 * blockIdx.x + threadIdx.x] =
      args.scratch[64 * (gridDim.x - 1 - blockIdx.x) + 63 - threadIdx.x];
}

#endif
