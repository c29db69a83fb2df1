/* SPDX-License-Identifier: MIT */
/* fault_sync.cu - kernels that break a rule of barriers, masks or waits. A comment names the line with
 * "here"; what the missing thread does instead stands at "there". */
#include "assay/kernel.h"

typedef struct map_args {
  const float *x;
  float *y;
  int64_t n;
} map_args;

typedef struct wait_args {
  const float *x;
  float *y;
  unsigned *flag;
} wait_args;

#ifdef ASSAY_DEVICE

#define ALL 0xffffffffu

/* The barrier is inside the guard. */
KERNEL(barrier_in_the_guard, map_args, 128) {
  __shared__ float tile[128];
  const uint32_t t = threadIdx.x;
  if (t < args.n) {
    tile[t] = args.x[t];
    __syncthreads(); /* here: barrier_in_the_guard */
    args.y[t] = tile[(uint32_t)args.n - 1 - t];
  }
}

KERNEL(leaves_before_barrier, map_args, 128) {
  __shared__ float tile[128];
  const uint32_t t = threadIdx.x;
  if (t >= args.n) return;
  tile[t] = args.x[t];
  __syncthreads(); /* here: leaves_before_barrier */
  args.y[t] = tile[(uint32_t)args.n - 1 - t];
}

/* Two barriers in two branches are not one. */
KERNEL(barrier_in_each_branch, map_args, 64) {
  __shared__ float tile[64];
  const uint32_t t = threadIdx.x;
  if (t < 32) {
    tile[t] = args.x[t];
    __syncthreads(); /* there: barrier_in_each_branch */
  } else {
    tile[t] = -args.x[t];
    __syncthreads(); /* here: barrier_in_each_branch */
  }
  args.y[t] = tile[63 - t];
}

/* Rows of different lengths: some threads meet the barrier once more than others. */
KERNEL(barrier_in_uneven_loop, map_args, 64) {
  __shared__ float tile[64];
  const uint32_t t = threadIdx.x;
  const int64_t rounds = t < 32 ? 3 : 2;
  float sum = 0.0f;
  for (int64_t round = 0; round < rounds; ++round) {
    tile[t] = args.x[t] + (float)round;
    __syncthreads(); /* here: barrier_in_uneven_loop */
    sum += tile[t ^ 1u];
  }
  args.y[t] = sum;
}

/* The mask of a whole warp in a branch that half of it takes. */
KERNEL(mask_of_absent_lanes, map_args, 32) {
  float value = args.x[threadIdx.x];
  if (threadIdx.x < 16) value += __shfl_down_sync(ALL, value, 8); /* here: mask_of_absent_lanes */
  args.y[threadIdx.x] = value;
}

/* The last element's lane has left, and its neighbour asks it. */
KERNEL(shuffle_from_departed, map_args, 32) {
  if (threadIdx.x >= args.n) return;
  const float value = args.x[threadIdx.x];
  args.y[threadIdx.x] = value - __shfl_down_sync(ALL, value, 1); /* here: shuffle_from_departed */
}

/* The mask is right, and the lane that is read is not in it. */
KERNEL(shuffle_from_unnamed, map_args, 32) {
  const float value = args.x[threadIdx.x];
  float other = 0.0f;
  if (threadIdx.x < 16) other = __shfl_xor_sync(0x0000ffffu, value, 16); /* here: shuffle_from_unnamed */
  args.y[threadIdx.x] = value + other;
}

/* The caller is not in the mask that it names. */
KERNEL(mask_without_caller, map_args, 32) {
  float value = args.x[threadIdx.x];
  if (threadIdx.x < 16) value += __shfl_xor_sync(0xffff0000u, value, 1); /* here: mask_without_caller */
  args.y[threadIdx.x] = value;
}

/* 48 threads are a warp and a half. */
KERNEL(half_a_warp, map_args, 64) {
  args.y[threadIdx.x] = args.x[threadIdx.x] + __shfl_xor_sync(ALL, 1.0f, 1); /* here: half_a_warp */
}

/* The two halves of a warp name different masks for one meeting. */
KERNEL(masks_disagree, map_args, 32) {
  __shared__ float place[32];
  const uint32_t t = threadIdx.x;
  place[t] = args.x[t];
  if (t < 16) {
    __syncwarp(ALL); /* here: masks_disagree */
  } else {
    __syncwarp(0xffff0000u);
  }
  args.y[t] = place[t ^ 1u];
}

/* Nobody sets the flag. */
KERNEL(flag_never_set, wait_args, 32) {
  if (threadIdx.x == 0) {
    while (load_acquire(args.flag) == 0) spin_pause(); /* here: flag_never_set */
  }
  __syncwarp();
  args.y[threadIdx.x] = args.x[threadIdx.x];
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/* One block of the cluster has nothing to do and leaves. */
KERNEL(cluster_not_complete, map_args, 32) {
  if (cluster_rank() == 1) return;
  cluster_sync(); /* here: cluster_not_complete */
  args.y[threadIdx.x] = args.x[threadIdx.x];
}
#endif

#endif
