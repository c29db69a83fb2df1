/* SPDX-License-Identifier: MIT */
/* warps.cu - a kernel for every primitive of kernel.h at which the lanes of a warp or the threads of a block
 * meet.
 *
 * Each reads `in` and writes `out`, so that the emulator, a GPU and a model in C can be compared word by
 * word. */
#include "assay/kernel.h"

typedef struct words_args {
  const uint32_t *in;
  uint32_t *out;
  int64_t count; /* of `in` */
} words_args;

#ifdef ASSAY_DEVICE

#define ALL 0xffffffffu

KERNEL(coordinates, words_args, 64) {
  const uint32_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const uint32_t threads = blockDim.x * blockDim.y * blockDim.z;
  args.out[block * threads + thread] = threadIdx.x | threadIdx.y << 4 | threadIdx.z << 8 | blockIdx.x << 12 |
                                       blockIdx.y << 16 | blockIdx.z << 20 | (uint32_t)warpSize << 24;
}

KERNEL(shuffle, words_args, 64) {
  const uint32_t t = threadIdx.x;
  const uint32_t value = args.in[t];
  uint32_t *out = args.out + t * 8;
  out[0] = __shfl_sync(ALL, value, (int)(args.in[t + 64] % 32));
  out[1] = __shfl_sync(ALL, value, (int)(args.in[t + 64] % 64), 8);
  out[2] = __shfl_up_sync(ALL, value, 3);
  out[3] = __shfl_up_sync(ALL, value, 5, 16);
  out[4] = __shfl_down_sync(ALL, value, 7);
  out[5] = __shfl_down_sync(ALL, value, 1, 4);
  out[6] = __shfl_xor_sync(ALL, value, 16);
  out[7] = __shfl_xor_sync(ALL, value, 9, 8);
}

KERNEL(shuffle_types, words_args, 64) {
  const uint32_t t = threadIdx.x;
  const int64_t wide = (int64_t)((uint64_t)args.in[t] << 32 | args.in[t + 64]);
  const int64_t turned = __shfl_xor_sync(ALL, wide, 1);
  const float single = __shfl_down_sync(ALL, (float)args.in[t], 2);
  const double twice = __shfl_up_sync(ALL, (double)args.in[t] * 0.5, 1);
  const int narrow = __shfl_sync(ALL, (int)args.in[t], 31);
  const uint64_t unsigned_wide = __shfl_sync(ALL, (uint64_t)wide, 0);
  args.out[t * 6 + 0] = (uint32_t)turned;
  args.out[t * 6 + 1] = (uint32_t)(turned >> 32);
  args.out[t * 6 + 2] = __float_as_uint(single);
  args.out[t * 6 + 3] = __float_as_uint((float)twice);
  args.out[t * 6 + 4] = (uint32_t)narrow;
  args.out[t * 6 + 5] = (uint32_t)(unsigned_wide >> 32);
}

/* Half of each warp at a time, each half with a mask of its own. */
KERNEL(masks, words_args, 64) {
  const uint32_t t = threadIdx.x;
  uint32_t value = args.in[t];
  if (t % 32 < 16) {
    value = __shfl_xor_sync(0x0000ffffu, value, 1);
    value += __reduce_add_sync(0x0000ffffu, value);
  } else {
    value = __shfl_sync(0xffff0000u, value, 31);
    value ^= __ballot_sync(0xffff0000u, value % 2 == t % 2);
  }
  __syncwarp();
  args.out[t] = value + __shfl_xor_sync(ALL, value, 16);
}

KERNEL(votes, words_args, 64) {
  const uint32_t t = threadIdx.x;
  const uint32_t value = args.in[t];
  uint32_t *out = args.out + t * 8;
  out[0] = __ballot_sync(ALL, value % 3 == 0);
  out[1] = (uint32_t)__any_sync(ALL, value == args.in[0]);
  out[2] = (uint32_t)__any_sync(ALL, value == 0xfefefefeu);
  out[3] = (uint32_t)__all_sync(ALL, value != 0xfefefefeu);
  out[4] = (uint32_t)__all_sync(ALL, value == args.in[0]);
  out[5] = __match_any_sync(ALL, value % 4);
  out[6] = __match_any_sync(ALL, (float)(value % 3) - 1.0f);
  out[7] = 0;
  if (value % 2 == 0) {
    /* Only that the caller is among them is certain on every GPU. */
    out[7] = __activemask() >> t % 32 & 1u;
  }
}

KERNEL(reductions, words_args, 64) {
  const uint32_t t = threadIdx.x;
  const uint32_t value = args.in[t];
  uint32_t *out = args.out + t * 10;
  out[0] = __reduce_add_sync(ALL, value);
  out[1] = (uint32_t)__reduce_add_sync(ALL, (int)value);
  out[2] = __reduce_min_sync(ALL, value);
  out[3] = (uint32_t)__reduce_min_sync(ALL, (int)value);
  out[4] = __reduce_max_sync(ALL, value);
  out[5] = (uint32_t)__reduce_max_sync(ALL, (int)value);
  out[6] = __reduce_and_sync(ALL, value | 0xffffu);
  out[7] = __reduce_or_sync(ALL, value & 0xf0f0u);
  out[8] = __reduce_xor_sync(ALL, value);
  out[9] = 0;
}

KERNEL(warp_helpers, words_args, 64) {
  const uint32_t t = threadIdx.x;
  const float value = (float)(int)(args.in[t] % 4096) - 2048.0f; /* sums are exact in any order */
  args.out[t * 2 + 0] = __float_as_uint(warp_sum(value));
  args.out[t * 2 + 1] = __float_as_uint(warp_max(value));
}

KERNEL(warp_memory, words_args, 64) {
  __shared__ uint32_t place[64];
  const uint32_t t = threadIdx.x;
  place[t] = args.in[t];
  __syncwarp();
  const uint32_t value = place[t ^ 31u];
  __syncwarp(ALL);
  place[t] = value + 1;
  __syncwarp();
  args.out[t] = place[t ^ 1u];
}

KERNEL(barriers, words_args, 64) {
  __shared__ uint32_t place[64];
  const uint32_t t = threadIdx.x;
  const uint32_t value = args.in[t];
  uint32_t *out = args.out + t * 6;
  place[t] = value;
  __syncthreads();
  out[0] = place[63 - t];
  out[1] = (uint32_t)__syncthreads_or(value == args.in[63]) != 0;
  out[2] = (uint32_t)__syncthreads_or(value == 0xfefefefeu) != 0;
  out[3] = (uint32_t)__syncthreads_and(value != 0xfefefefeu) != 0;
  out[4] = (uint32_t)__syncthreads_and(value == args.in[63]) != 0;
  out[5] = (uint32_t)__syncthreads_count(value % 2 == 0);
}

KERNEL(dynamic_memory, words_args, 64) {
  DYNAMIC_SHARED(bytes);
  uint32_t *place = (uint32_t *)bytes;
  const uint32_t t = threadIdx.x;
  place[t] = args.in[t + 64 * blockIdx.x];
  __syncthreads();
  args.out[t + 64 * blockIdx.x] = place[(t + 33) % 64];
}

/* Every block adds to the same words; the old values are checked where their order does not matter. */
KERNEL(atomics, words_args, 64) {
  const uint32_t value = args.in[threadIdx.x + 64 * blockIdx.x];
  uint32_t *out = args.out;
  atomicAdd(out + 0, value);
  atomicAdd((int *)out + 1, (int)value);
  atomicAdd((float *)out + 2, (float)(value % 1024));
  atomicAdd((unsigned long long *)(out + 4), (unsigned long long)value << 16);
  atomicMax(out + 6, value);
  atomicMax((int *)out + 7, (int)value);
  atomicMin(out + 8, value ^ 0x80000000u); /* `out` begins with zeros: the least is 0 */
  atomicMin((int *)out + 9, (int)value);
  atomicOr(out + 10, value & 0x00ff00ffu);
  atomicXor(out + 11, value);
  atomicAnd(out + 12, value);
  atomicAdd(out + 13, atomicExch(out + 14, 5u) == 5u ? 1u : 0u);
  atomicAdd(out + 15, atomicCAS(out + 16, 0u, 7u) == 0u ? 1u : 0u);
  atomicOr(out + 17 + atomicAdd(out + 21, 1u) / 64, 1u);
}

/* The second warp waits for what the first writes, then answers. */
KERNEL(waiting, words_args, 64) {
  __shared__ unsigned flag[2];
  const uint32_t t = threadIdx.x;
  if (t < 2) flag[t] = 0;
  __syncthreads();
  if (t == 32) {
    while (load_acquire(&flag[0]) == 0) spin_pause();
    args.out[0] = flag[0] + 1;
    __threadfence_block();
    store_release(&flag[1], 11);
  }
  if (t == 0) {
    __threadfence();
    store_release(&flag[0], args.in[0] | 1u);
    while (load_acquire(&flag[1]) != 11) spin_pause();
    args.out[1] = flag[1];
  }
}

KERNEL(clusters, words_args, 64) {
  DYNAMIC_SHARED(bytes);
  __shared__ uint32_t own;
  uint32_t *place = (uint32_t *)bytes;
  const uint32_t t = threadIdx.x;
  if (t == 0) own = 100 + blockIdx.x;
  place[t] = args.in[t] + blockIdx.x;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  cluster_sync();
  const uint32_t *peer = (const uint32_t *)cluster_shared(place, (cluster_rank() + 1) % cluster_size());
  args.out[(blockIdx.x * 64 + t) * 2] = peer[63 - t];
  args.out[(blockIdx.x * 64 + t) * 2 + 1] = own | cluster_rank() << 8 | cluster_size() << 16;
  cluster_sync();
#endif
}

#endif
