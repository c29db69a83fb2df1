/* SPDX-License-Identifier: MIT */
/* watch_faults.cu - kernels with one mistake each that a watched launch finds. A comment names the line that
 * the finding must begin with, and the other line where there is one. */
#include "assay/kernel.h"

typedef struct watch_args {
  uint32_t *out;
  const uint32_t *in;
  uint32_t *scratch;
  int64_t n;
} watch_args;

#ifdef ASSAY_DEVICE

#define ALL 0xffffffffu

/* ---- race ---------------------------------------------------------------------------------------------- */

KERNEL(race_shared, watch_args, 64) {
  __shared__ uint32_t part[64];
  part[threadIdx.x] = args.in[threadIdx.x];       /* there: race_shared */
  args.out[threadIdx.x] = part[63 - threadIdx.x]; /* here: race_shared */
}

KERNEL(race_global, watch_args, 64) {
  args.out[threadIdx.x] = args.in[threadIdx.x]; /* there: race_global */
  if (threadIdx.x == 0) {
    uint32_t sum = 0;
    for (int k = 0; k < 64; ++k) sum += args.out[k]; /* here: race_global */
    args.scratch[0] = sum;
  }
}

KERNEL(race_blocks, watch_args, 64) {
  if (threadIdx.x == 0) args.out[0] = blockIdx.x; /* here: race_blocks */
}

KERNEL(race_reuse, watch_args, 64) {
  __shared__ uint32_t part[64];
  uint32_t sum = 0;
  for (int k = 0; k < 3; ++k) {
    part[threadIdx.x] = args.in[threadIdx.x] + (uint32_t)k; /* there: race_reuse */
    __syncthreads();
    sum += part[63 - threadIdx.x]; /* here: race_reuse */
  }
  args.out[threadIdx.x] = sum;
}

KERNEL(race_warp, watch_args, 64) {
  __shared__ uint32_t part[64];
  const uint32_t other = threadIdx.x ^ 1;
  part[threadIdx.x] = args.in[threadIdx.x];              /* there: race_warp */
  const uint32_t sum = __shfl_sync(ALL, threadIdx.x, 0); /* orders nothing */
  args.out[threadIdx.x] = part[other] + sum;             /* here: race_warp */
}

KERNEL(race_part_of_warp, watch_args, 64) {
  __shared__ uint32_t part[64];
  const uint32_t lane = threadIdx.x % 32;
  part[threadIdx.x] = args.in[threadIdx.x]; /* there: race_part_of_warp */
  __syncwarp(lane < 16 ? 0x0000ffffu : 0xffff0000u);
  args.out[threadIdx.x] = part[threadIdx.x ^ 1] + part[threadIdx.x ^ 16]; /* here: race_part_of_warp */
}

KERNEL(race_copy, watch_args, 64) {
  __shared__ __align__(16) uint32_t tile[256];
  cp_async_16(tile + 4 * threadIdx.x, args.in + 4 * threadIdx.x); /* there: race_copy */
  cp_async_commit();
  args.out[threadIdx.x] = tile[4 * threadIdx.x]; /* here: race_copy */
  cp_async_wait(0);
}

KERNEL(race_copy_early, watch_args, 64) {
  __shared__ __align__(16) uint32_t tile[2][256];
  cp_async_16(tile[0] + 4 * threadIdx.x, args.in + 4 * threadIdx.x);
  cp_async_commit();
  cp_async_16(tile[1] + 4 * threadIdx.x, args.in + 4 * threadIdx.x); /* there: race_copy_early */
  cp_async_commit();
  cp_async_wait(1);
  __syncthreads();
  args.out[threadIdx.x] = tile[0][threadIdx.x];
  args.out[threadIdx.x] += tile[1][threadIdx.x]; /* here: race_copy_early */
  cp_async_wait(0);
}

KERNEL(race_copy_barrier, watch_args, 64) {
  __shared__ __align__(16) uint32_t tile[256];
  cp_async_16(tile + 4 * threadIdx.x, args.in + 4 * threadIdx.x); /* there: race_copy_barrier */
  cp_async_commit();
  cp_async_wait(0);
  args.out[threadIdx.x] = tile[255 - 4 * threadIdx.x]; /* here: race_copy_barrier */
}

KERNEL(race_matrix, watch_args, 64) {
  __shared__ __align__(16) uint32_t tile[2][128];
  uint32_t *mine = tile[threadIdx.x / 32];
  const uint32_t lane = threadIdx.x % 32;
  uint32_t to[4];
  for (int k = 0; k < 4; ++k) mine[32 * k + lane] = lane; /* there: race_matrix */
  ldmatrix_x4(to, mine + 4 * lane);                       /* here: race_matrix */
  args.out[threadIdx.x] = to[0] + to[1] + to[2] + to[3];
}

KERNEL(race_no_fence, watch_args, 64) {
  __shared__ uint32_t ticket;
  if (threadIdx.x == 0) {
    args.out[1 + blockIdx.x] = args.in[blockIdx.x]; /* there: race_no_fence */
    ticket = atomicAdd(&args.out[0], 1u);
  }
  __syncthreads();
  if (ticket == gridDim.x - 1 && threadIdx.x < gridDim.x)
    args.scratch[threadIdx.x] = args.out[1 + threadIdx.x]; /* here: race_no_fence */
}

KERNEL(race_cluster, watch_args, 64) {
  DYNAMIC_SHARED(memory);
  uint32_t *own = (uint32_t *)(void *)memory;
  own[threadIdx.x] = args.in[threadIdx.x]; /* there: race_cluster */
  __syncthreads();
  const uint32_t *peer = (const uint32_t *)cluster_shared(own, 1 - cluster_rank());
  args.out[blockIdx.x * 64 + threadIdx.x] = peer[threadIdx.x]; /* here: race_cluster */
  cluster_sync();
}

KERNEL(race_same_value, watch_args, 64) {
  __shared__ uint32_t found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (args.in[threadIdx.x] != 0) found = 1; /* here: race_same_value */
  __syncthreads();
  args.out[threadIdx.x] = found;
}

KERNEL(race_atomic, watch_args, 64) {
  __shared__ uint32_t sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, args.in[threadIdx.x]); /* there: race_atomic */
  args.out[threadIdx.x] = sum;           /* here: race_atomic */
}

/* ---- memory -------------------------------------------------------------------------------------------- */

KERNEL(past_operand, watch_args, 64) {
  for (int64_t k = threadIdx.x; k <= args.n; k += 64) args.out[k] = args.in[0]; /* here: past_operand */
}

KERNEL(before_operand, watch_args, 64) {
  const int64_t k = (int64_t)threadIdx.x - 1;
  args.out[threadIdx.x] = args.in[threadIdx.x] + args.in[k]; /* here: before_operand */
}

KERNEL(past_static, watch_args, 64) {
  __shared__ uint32_t one[64];
  __shared__ uint32_t two[64];
  one[threadIdx.x] = 1;
  two[threadIdx.x] = 2;
  __syncthreads();
  const uint32_t next = threadIdx.x + 1;
  args.out[threadIdx.x] = one[next] + two[63 - threadIdx.x]; /* here: past_static */
}

KERNEL(past_dynamic, watch_args, 64) {
  DYNAMIC_SHARED(memory);
  uint32_t *words = (uint32_t *)(void *)memory;
  words[threadIdx.x + 65] = args.in[threadIdx.x]; /* here: past_dynamic */
}

KERNEL(past_scratch, watch_args, 64) {
  args.scratch[threadIdx.x + 1] = args.in[threadIdx.x]; /* here: past_scratch */
}

KERNEL(null_pointer, watch_args, 64) {
  const uint32_t *none = args.n < 0 ? args.in : (const uint32_t *)0;
  args.out[threadIdx.x] = none[threadIdx.x]; /* here: null_pointer */
}

KERNEL(writes_input, watch_args, 64) {
  uint32_t *in = (uint32_t *)args.in;
  in[threadIdx.x] = 0; /* here: writes_input */
}

KERNEL(misaligned, watch_args, 64) {
  const unsigned char *bytes = (const unsigned char *)args.in;
  args.out[threadIdx.x] = *(const uint32_t *)(const void *)(bytes + 2); /* here: misaligned */
}

KERNEL(vector_past_end, watch_args, 64) {
  const vector16 four = vector16_load(args.in + 4 * (threadIdx.x + 1)); /* here: vector_past_end */
  args.out[threadIdx.x] = four.word[0];
}

KERNEL(others_local, watch_args, 64) {
  __shared__ uint32_t *place;
  uint32_t mine[4] = {1, 2, 3, 4};
  if (threadIdx.x == 0) place = mine;
  __syncthreads();
  args.out[threadIdx.x] = place[threadIdx.x % 4] + mine[0]; /* here: others_local */
  __syncthreads();
}

KERNEL(copy_past_end, watch_args, 64) {
  uint32_t four[4];
  memcpy(four, args.in + 253, sizeof four); /* here: copy_past_end */
  args.out[threadIdx.x] = four[0];
}

/* ---- init ---------------------------------------------------------------------------------------------- */

KERNEL(unwritten_shared, watch_args, 64) {
  __shared__ uint32_t part[65];
  part[threadIdx.x] = args.in[threadIdx.x];
  __syncthreads();
  args.out[threadIdx.x] = part[threadIdx.x + 1]; /* here: unwritten_shared */
}

KERNEL(unwritten_output, watch_args, 64) {
  args.out[threadIdx.x] += args.in[threadIdx.x]; /* here: unwritten_output */
}

KERNEL(unwritten_scratch, watch_args, 64) {
  if (threadIdx.x != 7) args.scratch[threadIdx.x] = args.in[threadIdx.x];
  args.out[threadIdx.x] = args.scratch[threadIdx.x]; /* here: unwritten_scratch */
}

KERNEL(unwritten_dynamic, watch_args, 64) {
  DYNAMIC_SHARED(memory);
  uint32_t *words = (uint32_t *)(void *)memory;
  if (blockIdx.x == 0) words[threadIdx.x] = 1;                  /* not in the other block */
  args.out[64 * blockIdx.x + threadIdx.x] = words[threadIdx.x]; /* here: unwritten_dynamic */
}

KERNEL(unwritten_counter, watch_args, 64) {
  __shared__ uint32_t sum;
  atomicAdd(&sum, args.in[threadIdx.x]); /* here: unwritten_counter */
  __syncthreads();
  args.out[threadIdx.x] = sum;
}

KERNEL(unwritten_copy, watch_args, 64) {
  __shared__ __align__(16) uint32_t tile[264];
  cp_async_16(tile + 4 * threadIdx.x, args.in + 4 * threadIdx.x);
  cp_async_commit();
  cp_async_wait(0);
  __syncthreads();
  args.out[threadIdx.x] = tile[200 + threadIdx.x]; /* here: unwritten_copy */
}

#endif
