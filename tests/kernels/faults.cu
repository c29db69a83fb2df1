/* SPDX-License-Identifier: MIT */
/* faults.cu - kernels that break a rule each. A comment names the line that the sentence must begin with, and
 * the other line where there is one. */
#include "assay/kernel.h"

typedef struct fault_args {
  uint32_t *out;
  int64_t which;
} fault_args;

#ifdef ASSAY_DEVICE

#define ALL 0xffffffffu

KERNEL(left_before_barrier, fault_args, 64) {
  if (threadIdx.x < 40) __syncwarp(threadIdx.x < 32 ? ALL : 0xffu); /* there: left_before_barrier */
  if (threadIdx.x == 5) return;
  __syncthreads(); /* here: left_before_barrier */
}

KERNEL(divergent_barrier, fault_args, 64) {
  if (threadIdx.x < 32) {
    __syncthreads(); /* there: divergent_barrier */
  } else {
    __syncthreads(); /* here: divergent_barrier */
  }
}

KERNEL(absent_lanes, fault_args, 64) {
  uint32_t value = threadIdx.x;
  if (threadIdx.x % 32 < 16) value = __shfl_xor_sync(ALL, value, 1); /* here: absent_lanes */
  __syncthreads();                                                   /* there: absent_lanes */
  args.out[threadIdx.x] = value;
}

KERNEL(left_before_shuffle, fault_args, 32) {
  if (threadIdx.x == 9) return;
  args.out[threadIdx.x] = __shfl_sync(ALL, threadIdx.x, 0); /* here: left_before_shuffle */
}

KERNEL(two_operations, fault_args, 32) {
  uint32_t value = 0;
  if (threadIdx.x < 4) {
    value = __ballot_sync(ALL, value); /* here: two_operations */
  } else {
    value = (uint32_t)__any_sync(ALL, value != 0); /* there: two_operations */
  }
  args.out[threadIdx.x] = value;
}

KERNEL(two_lines, fault_args, 32) {
  uint32_t value = threadIdx.x;
  if (threadIdx.x < 31) {
    value = __shfl_sync(ALL, value, 3); /* here: two_lines */
  } else {
    value = __shfl_sync(ALL, value, 5); /* there: two_lines */
  }
  args.out[threadIdx.x] = value;
}

KERNEL(two_masks, fault_args, 32) {
  if (threadIdx.x < 16) {
    __syncwarp(ALL); /* here: two_masks */
  } else {
    __syncwarp(0xffff8000u); /* there: two_masks */
  }
}

KERNEL(not_in_mask, fault_args, 32) {
  args.out[threadIdx.x] = __shfl_sync(0xfffffff0u, threadIdx.x, 8); /* here: not_in_mask */
}

KERNEL(reads_unnamed, fault_args, 32) {
  if (threadIdx.x >= 16)
    args.out[threadIdx.x] = __shfl_xor_sync(0xffff0000u, threadIdx.x, 16); /* here: reads_unnamed */
}

KERNEL(bad_width, fault_args, 32) {
  args.out[threadIdx.x] = __shfl_down_sync(ALL, threadIdx.x, 1, 12); /* here: bad_width */
}

KERNEL(part_of_warp, fault_args, 32) {
  args.out[threadIdx.x] = __reduce_add_sync(ALL, threadIdx.x); /* here: part_of_warp */
}

KERNEL(waits_forever, fault_args, 32) {
  while (load_acquire(args.out) == 0) spin_pause(); /* here: waits_forever */
}

KERNEL(lock_never_given, fault_args, 32) {
  uint32_t held = 1;
  while (held != 0) held = atomicCAS(args.out, 0u, 1u); /* here: lock_never_given */
}

KERNEL(vector_askew, fault_args, 32) {
  const vector16 v = vector16_load((unsigned char *)args.out + 8); /* here: vector_askew */
  args.out[0] = v.word[0];
}

KERNEL(copy_askew, fault_args, 32) {
  DYNAMIC_SHARED(bytes);
  cp_async_16(bytes, args.out + 1); /* here: copy_askew */
}

KERNEL(copy_not_shared, fault_args, 32) {
  cp_async_16(args.out + 4, args.out); /* here: copy_not_shared */
}

KERNEL(copy_too_much, fault_args, 32) {
  DYNAMIC_SHARED(bytes);
  cp_async_16_part(bytes, args.out, 17); /* here: copy_too_much */
}

KERNEL(matrix_askew, fault_args, 32) {
  DYNAMIC_SHARED(bytes);
  uint32_t r[4];
  ldmatrix_x4(r, bytes + threadIdx.x * 8); /* here: matrix_askew */
  args.out[threadIdx.x] = r[0];
}

KERNEL(matrix_not_shared, fault_args, 32) {
  uint32_t r[4];
  ldmatrix_x4(r, args.out); /* here: matrix_not_shared */
  args.out[threadIdx.x] = r[0];
}

KERNEL(no_such_peer, fault_args, 32) {
  DYNAMIC_SHARED(bytes);
  args.out[0] = *(const unsigned char *)cluster_shared(bytes, 2); /* here: no_such_peer */
}

KERNEL(peer_has_left, fault_args, 32) {
  DYNAMIC_SHARED(bytes);
  if (cluster_rank() == 0) return;
  args.out[0] = *(const unsigned char *)cluster_shared(bytes, 0); /* here: peer_has_left */
}

KERNEL(peer_not_dynamic, fault_args, 32) {
  __shared__ uint32_t place;
  place = 0;
  args.out[0] = *(const uint32_t *)cluster_shared(&place, 1); /* here: peer_not_dynamic */
}

KERNEL(cluster_not_met, fault_args, 32) {
  if (blockIdx.x % 2 == 0) cluster_sync(); /* here: cluster_not_met */
}

/* From block 3 on; when blocks run side by side, block 3 or 4 is the last to come so far. */
KERNEL(later_blocks, fault_args, 32) {
  const int rounds = blockIdx.x < 3 ? 10 : blockIdx.x == 3 + args.which ? 8000 : 2000;
  for (int i = 0; i < rounds; ++i) __syncthreads();
  if (blockIdx.x >= 3 && threadIdx.x == 7) return;
  __syncthreads(); /* here: later_blocks */
}

/* ---- not faults of the emulator, but wrong or dangerous ---- */

/* The barrier between writing and reading is missing. */
KERNEL(missing_barrier, fault_args, 64) {
  __shared__ uint32_t place[64];
  place[threadIdx.x] = threadIdx.x;
  if (args.which == 1) __syncthreads();
  args.out[threadIdx.x] = place[63 - threadIdx.x];
}

KERNEL(missing_wait, fault_args, 32) {
  DYNAMIC_SHARED(bytes);
  uint32_t *place = (uint32_t *)bytes;
  cp_async_4(place + threadIdx.x, args.out + threadIdx.x);
  cp_async_commit();
  if (args.which == 1) cp_async_wait(0);
  if (args.which == 2) cp_async_commit(); /* an empty group, which may stay under way */
  if (args.which >= 2) cp_async_wait(1);
  __syncthreads();
  args.out[32 + threadIdx.x] = place[31 - threadIdx.x];
}

__device__ uint32_t __noinline__ deeper(uint32_t depth) {
  volatile uint32_t room[64];
  room[depth % 64] = depth;
  return depth == 0xffffffffu ? 0 : deeper(depth + 1) + room[depth % 64];
}

KERNEL(overflow, fault_args, 32) {
  __syncwarp(); /* here: overflow */
  if (threadIdx.x == 3) args.out[0] = deeper(1);
}

KERNEL(beyond_dynamic, fault_args, 32) {
  DYNAMIC_SHARED(bytes);
  __syncwarp(); /* here: beyond_dynamic */
  bytes[64 + threadIdx.x] = 1;
}

/* The order in which threads begin and blocks run. */
KERNEL(order, fault_args, 64) {
  const uint32_t ticket = atomicAdd(args.out, 1u);
  args.out[1 + ticket] = blockIdx.x * 64 + threadIdx.x;
}

/* One lane reaches __activemask twice, 15 others once. */
KERNEL(converged, fault_args, 32) {
  args.out[threadIdx.x] = 0;
  if (threadIdx.x % 2 == 0) {
    const int rounds = threadIdx.x == 4 ? 2 : 1;
    for (int i = 0; i < rounds; ++i) args.out[threadIdx.x] = __activemask();
  }
}

#endif
