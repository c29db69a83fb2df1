/* SPDX-License-Identifier: MIT */
/* clean_order.cu - kernels without a fault that order threads by other means than a block's barrier: flags,
 * tickets, locks, clusters, masks. The rows that run them, and what they must give, are in parity_order.h. */
#include "assay/kernel.h"

typedef struct chain_args {
  const uint32_t *x;
  uint32_t *y;
  unsigned *ticket;
  unsigned *ready;  /* of each piece: 1 when its sum is there */
  uint32_t *totals; /* up to each piece */
  int64_t n;
} chain_args;

typedef struct handoff_args {
  const uint32_t *x;
  uint32_t *y, *room;
  unsigned *ticket, *flag;
} handoff_args;

typedef struct words_args {
  const uint32_t *x;
  uint32_t *y;
} words_args;

typedef struct lock_args {
  unsigned *lock;
  uint32_t *sum, *rounds;
} lock_args;

typedef struct flood_args {
  const uint8_t *open;
  uint32_t *label;
  int64_t width;
} flood_args;

#ifdef ASSAY_DEVICE

#define ALL 0xffffffffu

/* A block takes a ticket, adds its piece, waits for the sum of the piece before, and hands its own on. Who
 * took an earlier ticket runs already, so the wait ends. */
KERNEL(chained_scan, chain_args, 64) {
  __shared__ uint32_t sums[64];
  __shared__ uint32_t piece, before;
  const uint32_t t = threadIdx.x;
  if (t == 0) piece = atomicAdd(args.ticket, 1u);
  __syncthreads();
  const int64_t i = t + (int64_t)64 * piece;
  sums[t] = i < args.n ? args.x[i] : 0;
  __syncthreads();
  for (uint32_t distance = 1; distance < 64; distance *= 2) {
    const uint32_t value = t >= distance ? sums[t - distance] : 0;
    __syncthreads();
    sums[t] += value;
    __syncthreads();
  }
  if (t == 0) {
    before = 0;
    if (piece > 0) {
      while (load_acquire(&args.ready[piece - 1]) == 0) spin_pause();
      before = args.totals[piece - 1];
    }
    args.totals[piece] = before + sums[63];
    store_release(&args.ready[piece], 1);
  }
  __syncthreads();
  if (i < args.n) args.y[i] = before + sums[t];
}

/* The block with the first ticket fills the room, the other one waits and reads it backwards. */
KERNEL(handoff_between_blocks, handoff_args, 64) {
  __shared__ unsigned mine;
  const uint32_t t = threadIdx.x;
  if (t == 0) mine = atomicAdd(args.ticket, 1u);
  __syncthreads();
  if (mine == 0) {
    args.room[t] = args.x[t] * 3;
    __threadfence();
    __syncthreads();
    if (t == 0) store_release(args.flag, 1);
  } else {
    if (t == 0) {
      while (load_acquire(args.flag) == 0) spin_pause();
    }
    __syncthreads();
    args.y[t] = args.room[63 - t];
  }
}

/* The same with a flag that is volatile, and fences on both sides. */
KERNEL(volatile_flag, handoff_args, 64) {
  __shared__ unsigned mine;
  volatile unsigned *flag = args.flag;
  const uint32_t t = threadIdx.x;
  if (t == 0) mine = atomicAdd(args.ticket, 1u);
  __syncthreads();
  if (mine == 0) {
    args.room[t] = args.x[t] * 3;
    __syncthreads();
    __threadfence();
    if (t == 0) *flag = 1;
  } else {
    if (t == 0) {
      while (*flag == 0) spin_pause();
      __threadfence();
    }
    __syncthreads();
    args.y[t] = args.room[63 - t];
  }
}

/* One warp puts, the other takes, four times through the same place. */
KERNEL(mailbox, words_args, 64) {
  __shared__ uint32_t place[32];
  __shared__ unsigned full;
  const uint32_t lane = threadIdx.x % 32;
  if (threadIdx.x == 0) full = 0;
  __syncthreads();
  for (uint32_t round = 0; round < 4; ++round) {
    if (threadIdx.x < 32) {
      if (lane == 0) {
        while (load_acquire(&full) != 0) spin_pause();
      }
      __syncwarp();
      place[lane] = args.x[round * 32 + lane] + 1;
      __syncwarp();
      if (lane == 0) store_release(&full, 1);
    } else {
      if (lane == 0) {
        while (load_acquire(&full) == 0) spin_pause();
      }
      __syncwarp();
      args.y[round * 32 + lane] = place[31 - lane];
      __syncwarp();
      if (lane == 0) store_release(&full, 0);
    }
  }
}

/* A lock around a plain sum, taken by one thread a block. */
KERNEL(lock_around_sum, lock_args, 32) {
  if (threadIdx.x != 0) return;
  for (uint32_t round = 0; round < 3; ++round) {
    while (atomicCAS(args.lock, 0u, 1u) != 0) spin_pause();
    __threadfence();
    *args.sum += blockIdx.x + round;
    *args.rounds += 1;
    __threadfence();
    atomicExch(args.lock, 0u);
  }
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/* Every block reads the sums of the others where they lie. */
KERNEL(cluster_sum, words_args, 64) {
  DYNAMIC_SHARED(bytes);
  uint32_t *sum = (uint32_t *)bytes;
  const uint32_t t = threadIdx.x;
  if (t < 2) sum[t] = 0;
  __syncthreads();
  const uint32_t warp = __reduce_add_sync(ALL, args.x[t + 64 * blockIdx.x]);
  if (t % 32 == 0) atomicAdd(&sum[0], warp);
  cluster_sync();
  if (t == 0) {
    uint32_t total = 0;
    for (uint32_t rank = 0; rank < cluster_size(); ++rank)
      total += *(const uint32_t *)cluster_shared(&sum[0], rank);
    sum[1] = total;
  }
  __syncthreads();
  args.y[t + 64 * blockIdx.x] = sum[1] - args.x[t + 64 * blockIdx.x];
  cluster_sync(); /* nobody leaves while others read */
}

/* Every block writes into the next one's memory. */
KERNEL(cluster_ring, words_args, 32) {
  DYNAMIC_SHARED(bytes);
  uint32_t *place = (uint32_t *)bytes;
  const uint32_t next = (cluster_rank() + 1) % cluster_size();
  uint32_t value = args.x[threadIdx.x + 32 * blockIdx.x];
  for (uint32_t round = 0; round < 3; ++round) {
    cluster_sync();
    ((uint32_t *)cluster_shared(place, next))[threadIdx.x] = value * 2 + round;
    cluster_sync();
    value = place[31 - threadIdx.x];
  }
  args.y[threadIdx.x + 32 * blockIdx.x] = value;
}
#endif

/* The halves of a warp go their own ways, each with its own mask and its own part of the place. */
KERNEL(half_warps, words_args, 64) {
  __shared__ uint32_t place[64];
  const uint32_t t = threadIdx.x;
  const uint32_t lane = t % 32;
  if (lane < 16) {
    place[t] = args.x[t];
    __syncwarp(0x0000ffffu);
    args.y[t] = place[t ^ 15u] + __shfl_xor_sync(0x0000ffffu, lane, 1);
  } else {
    for (uint32_t i = 0; i < lane % 4; ++i) place[t] = i;
    place[t] = args.x[t] * 2;
    __syncwarp(0xffff0000u);
    args.y[t] = place[t ^ 15u] + (uint32_t)__popc(__ballot_sync(0xffff0000u, lane % 2 == 0));
  }
}

/* The smallest label of a cell and its open neighbours, until nothing changes: all read, then all write. */
KERNEL(flood_labels, flood_args, 256) {
  __shared__ uint32_t label[16][18]; /* a closed column on either side */
  const uint32_t x = threadIdx.x % 16 + 1;
  const uint32_t y = threadIdx.x / 16;
  const bool open = args.open[threadIdx.x] != 0;
  label[y][x] = open ? threadIdx.x : 1000;
  if (x == 1) label[y][0] = label[y][17] = 1000;
  int changed = 1;
  while (changed != 0) {
    __syncthreads();
    uint32_t least = label[y][x];
    if (open) {
      if (label[y][x - 1] < least) least = label[y][x - 1];
      if (label[y][x + 1] < least) least = label[y][x + 1];
      if (y > 0 && label[y - 1][x] < least) least = label[y - 1][x];
      if (y < 15 && label[y + 1][x] < least) least = label[y + 1][x];
    }
    changed = __syncthreads_or(least != label[y][x]);
    label[y][x] = least;
  }
  args.label[threadIdx.x] = label[y][x];
}

/* Threads of one block leave their counts in global memory for each other. */
KERNEL(room_in_global, handoff_args, 64) {
  const uint32_t t = threadIdx.x;
  uint32_t *room = args.room + 64 * blockIdx.x;
  room[t] = args.x[t] + blockIdx.x;
  __syncthreads();
  const uint32_t value = room[(t + 1) % 64];
  __syncthreads();
  room[t] = value * 2;
  __syncthreads();
  args.y[t + 64 * blockIdx.x] = room[(t + 63) % 64];
  if (t == 0) {
    atomicAdd(args.ticket, value);
    atomicExch(args.flag, 1u);
  }
}

/* Only a part of the threads writes, the count of them is what all agree on. */
KERNEL(counted_votes, words_args, 96) {
  __shared__ uint32_t found[96];
  const uint32_t t = threadIdx.x;
  const uint32_t value = args.x[t + 96 * blockIdx.x];
  const int even = __syncthreads_count(value % 2 == 0);
  if (t < (uint32_t)even) found[t] = (uint32_t)even - t;
  __syncthreads();
  args.y[t + 96 * blockIdx.x] = t < (uint32_t)even ? found[(uint32_t)even - 1 - t] : 0;
}

#endif
