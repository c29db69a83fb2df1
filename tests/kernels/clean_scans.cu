/* SPDX-License-Identifier: MIT */
/* clean_scans.cu - kernels without a fault whose threads need each other's places: scans, sorting, searching.
 * The rows that run them, and what they must give, are in parity_scans.h. */
#include "assay/kernel.h"

typedef struct scan_args {
  const uint32_t *x;
  uint32_t *y;
  int64_t n;
} scan_args;

typedef struct compact_args {
  const uint32_t *x;
  uint32_t *kept, *count;
  int64_t n;
} compact_args;

typedef struct merge_args {
  const uint32_t *a, *b;
  uint32_t *merged;
  int64_t a_count, b_count;
} merge_args;

typedef struct search_args {
  const uint8_t *text, *wanted;
  uint32_t *places;
  int64_t text_bytes, wanted_bytes;
} search_args;

typedef struct find_args {
  const uint32_t *sorted, *keys;
  uint32_t *places;
  int64_t n, key_count;
} find_args;

#ifdef ASSAY_DEVICE

#define ALL 0xffffffffu

/* Every step reads one half of the buffer and writes the other: one barrier a step is enough. */
KERNEL(scan_two_buffers, scan_args, 256) {
  __shared__ uint32_t sums[2][256];
  const uint32_t t = threadIdx.x;
  const int64_t i = t + (int64_t)256 * blockIdx.x;
  uint32_t from = 0;
  sums[0][t] = i < args.n ? args.x[i] : 0;
  __syncthreads();
  for (uint32_t distance = 1; distance < 256; distance *= 2) {
    const uint32_t before = t >= distance ? sums[from][t - distance] : 0;
    sums[1 - from][t] = sums[from][t] + before;
    from = 1 - from;
    __syncthreads();
  }
  if (i < args.n) args.y[i] = sums[from][t];
}

/* Up the tree, then down it: 512 elements a block, each sum without the element itself. */
KERNEL(scan_up_and_down, scan_args, 256) {
  __shared__ uint32_t tree[512];
  const uint32_t t = threadIdx.x;
  const int64_t first = (int64_t)512 * blockIdx.x;
  tree[t] = first + t < args.n ? args.x[first + t] : 0;
  tree[t + 256] = first + t + 256 < args.n ? args.x[first + t + 256] : 0;
  uint32_t distance = 1;
  for (uint32_t pairs = 256; pairs > 0; pairs /= 2) {
    __syncthreads();
    if (t < pairs) tree[distance * (2 * t + 2) - 1] += tree[distance * (2 * t + 1) - 1];
    distance *= 2;
  }
  if (t == 0) tree[511] = 0;
  for (uint32_t pairs = 1; pairs < 512; pairs *= 2) {
    distance /= 2;
    __syncthreads();
    if (t < pairs) {
      const uint32_t left = distance * (2 * t + 1) - 1;
      const uint32_t right = distance * (2 * t + 2) - 1;
      const uint32_t value = tree[left];
      tree[left] = tree[right];
      tree[right] += value;
    }
  }
  __syncthreads();
  if (first + t < args.n) args.y[first + t] = tree[t];
  if (first + t + 256 < args.n) args.y[first + t + 256] = tree[t + 256];
}

/* The sum of the values of all threads up to this one; `part` has a place for each of 8 warps. */
__device__ uint32_t scan_block(uint32_t value, uint32_t *part) {
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t warp = threadIdx.x / 32;
  for (uint32_t distance = 1; distance < 32; distance *= 2) {
    const uint32_t before = __shfl_up_sync(ALL, value, distance);
    if (lane >= distance) value += before;
  }
  if (lane == 31) part[warp] = value;
  __syncthreads();
  if (warp == 0) {
    uint32_t total = lane < 8 ? part[lane] : 0;
    for (uint32_t distance = 1; distance < 8; distance *= 2) {
      const uint32_t before = __shfl_up_sync(ALL, total, distance);
      if (lane >= distance) total += before;
    }
    if (lane < 8) part[lane] = total;
  }
  __syncthreads();
  return warp > 0 ? value + part[warp - 1] : value;
}

/* One block, piece by piece, with the sum of the pieces before. */
KERNEL(scan_with_carry, scan_args, 256) {
  __shared__ uint32_t part[8];
  uint32_t carry = 0;
  for (int64_t first = 0; first < args.n; first += 256) {
    const int64_t i = first + threadIdx.x;
    const uint32_t sum = scan_block(i < args.n ? args.x[i] : 0, part);
    if (i < args.n) args.y[i] = carry + sum;
    carry += part[7];
    __syncthreads(); /* all have read part[7] before the next piece writes it */
  }
}

/* Multiples of 3 in their order; ballots count within a warp, shared memory over warps. */
KERNEL(compact_ballots, compact_args, 256) {
  __shared__ uint32_t before_warp[8];
  __shared__ uint32_t base;
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t warp = threadIdx.x / 32;
  if (threadIdx.x == 0) base = 0;
  for (int64_t first = 0; first < args.n; first += 256) {
    const int64_t i = first + threadIdx.x;
    const uint32_t value = i < args.n ? args.x[i] : 1;
    const unsigned kept = __ballot_sync(ALL, value % 3 == 0);
    if (lane == 0) before_warp[warp] = (uint32_t)__popc(kept);
    __syncthreads();
    uint32_t place = base + (uint32_t)__popc(kept & ((1u << lane) - 1u));
    for (uint32_t w = 0; w < warp; ++w) place += before_warp[w];
    if (value % 3 == 0) args.kept[place] = value;
    __syncthreads();
    if (threadIdx.x == 255) base = place + (value % 3 == 0);
    __syncthreads();
  }
  if (threadIdx.x == 0) *args.count = base;
}

/* Eight passes, each of which moves keys with bit 0 to the front and keeps their order. */
KERNEL(radix_splits, scan_args, 256) {
  __shared__ uint32_t keys[256];
  __shared__ uint32_t part[8];
  const uint32_t t = threadIdx.x;
  uint32_t key = args.x[t] % 256;
  for (uint32_t bit = 0; bit < 8; ++bit) {
    const uint32_t zero = (key >> bit & 1u) ^ 1u;
    const uint32_t zeros_here = scan_block(zero, part);
    const uint32_t zeros = part[7];
    keys[zero != 0 ? zeros_here - 1 : zeros + t - zeros_here] = key;
    __syncthreads();
    key = keys[t];
  }
  args.y[t] = key;
}

KERNEL(bitonic_sort, scan_args, 256) {
  __shared__ uint32_t keys[512];
  const uint32_t t = threadIdx.x;
  keys[t] = args.x[t];
  keys[t + 256] = args.x[t + 256];
  for (uint32_t size = 2; size <= 512; size *= 2) {
    for (uint32_t distance = size / 2; distance > 0; distance /= 2) {
      __syncthreads();
      const uint32_t low = 2 * t - (t & (distance - 1));
      const uint32_t a = keys[low];
      const uint32_t b = keys[low + distance];
      const bool rising = (low & size) == 0;
      if ((a > b) == rising) {
        keys[low] = b;
        keys[low + distance] = a;
      }
    }
  }
  __syncthreads();
  args.y[t] = keys[t];
  args.y[t + 256] = keys[t + 256];
}

/* Neighbours change places until a whole round changes nothing. */
KERNEL(sort_until_quiet, scan_args, 64) {
  __shared__ uint32_t keys[128];
  const uint32_t t = threadIdx.x;
  keys[t] = args.x[t];
  keys[t + 64] = args.x[t + 64];
  int changed = 1;
  while (changed != 0) {
    changed = 0;
    for (uint32_t odd = 0; odd < 2; ++odd) {
      __syncthreads();
      const uint32_t at = 2 * t + odd;
      if (at + 1 < 128 && keys[at] > keys[at + 1]) {
        const uint32_t value = keys[at];
        keys[at] = keys[at + 1];
        keys[at + 1] = value;
        changed = 1;
      }
    }
    changed = __syncthreads_or(changed);
  }
  args.y[t] = keys[t];
  args.y[t + 64] = keys[t + 64];
}

/* How many are smaller, or equal and before: each thread looks at all, a tile at a time. */
KERNEL(rank_by_tiles, scan_args, 64) {
  __shared__ uint32_t tile[64];
  const int64_t i = threadIdx.x + (int64_t)64 * blockIdx.x;
  const uint32_t mine = i < args.n ? args.x[i] : 0;
  uint32_t rank = 0;
  for (int64_t first = 0; first < args.n; first += 64) {
    if (first + threadIdx.x < args.n) tile[threadIdx.x] = args.x[first + threadIdx.x];
    __syncthreads();
    for (int64_t k = 0; k < 64 && first + k < args.n; ++k)
      rank += tile[k] < mine || (tile[k] == mine && first + k < i);
    __syncthreads();
  }
  if (i < args.n) args.y[i] = rank;
}

/* Each thread finds where its four elements of the result begin in both inputs, then merges those. */
KERNEL(merge_paths, merge_args, 64) {
  const int64_t total = args.a_count + args.b_count;
  const int64_t first = 4 * (threadIdx.x + (int64_t)blockDim.x * blockIdx.x);
  if (first >= total) return;
  int64_t low = first > args.b_count ? first - args.b_count : 0;
  int64_t high = first < args.a_count ? first : args.a_count;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (args.a[middle] <= args.b[first - 1 - middle]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  int64_t i = low;
  int64_t j = first - low;
  for (int64_t k = first; k < first + 4 && k < total; ++k) {
    const bool from_a = j >= args.b_count || (i < args.a_count && args.a[i] <= args.b[j]);
    args.merged[k] = from_a ? args.a[i] : args.b[j];
    if (from_a) {
      ++i;
    } else {
      ++j;
    }
  }
}

/* A tile of text and as much behind it as a match can need; places begin with 0. */
KERNEL(find_text, search_args, 64) {
  __shared__ uint8_t tile[64 + 16];
  const int64_t first = (int64_t)64 * blockIdx.x;
  for (uint32_t k = threadIdx.x; k < 64 + args.wanted_bytes - 1; k += 64)
    tile[k] = first + k < args.text_bytes ? args.text[first + k] : 0;
  __syncthreads();
  if (first + threadIdx.x + args.wanted_bytes > args.text_bytes) return;
  for (int64_t k = 0; k < args.wanted_bytes; ++k) {
    if (tile[threadIdx.x + k] != args.wanted[k]) return;
  }
  args.places[first + threadIdx.x] = 1;
}

KERNEL(lower_bounds, find_args, 64) {
  const int64_t i = threadIdx.x + (int64_t)blockDim.x * blockIdx.x;
  if (i >= args.key_count) return;
  int64_t low = 0;
  int64_t high = args.n;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (args.sorted[middle] < args.keys[i]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  args.places[i] = (uint32_t)low;
}

#endif
