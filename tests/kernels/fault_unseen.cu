/* SPDX-License-Identifier: MIT */
/* fault_unseen.cu - kernels with a mistake that no watching of accesses shows: the limits of the tools, kept
 * here so that what the documentation says about them stays true. */
#include "assay/kernel.h"

typedef struct count_args {
  const uint32_t *x;
  unsigned *count;
} count_args;

typedef struct done_args {
  const float *x;
  float *partial;
  unsigned *count;
  float *total;
  int64_t n;
} done_args;

typedef struct matrix_args {
  const float *in;
  float *out;
  int64_t rows, columns;
} matrix_args;

#ifdef ASSAY_DEVICE

/* Two atomics where one is needed: what others count in between is lost. */
KERNEL(read_then_exchange, count_args, 64) {
  if (args.x[threadIdx.x] % 2 == 0) {
    const unsigned before = atomicAdd(args.count, 0u);
    atomicExch(args.count, before + 1); /* here: read_then_exchange */
  }
}

/* The fence stands before what it should hand on: the tool knows that there is one, and not where. */
KERNEL(fence_too_early, done_args, 32) {
  const int64_t i = threadIdx.x + (int64_t)32 * blockIdx.x;
  const float sum = warp_sum(i < args.n ? args.x[i] : 0.0f);
  if (threadIdx.x != 0) return;
  __threadfence();
  args.partial[blockIdx.x] = sum; /* here: fence_too_early */
  if (atomicAdd(args.count, 1u) != gridDim.x - 1) return;
  float total = 0.0f;
  for (uint32_t b = 0; b < gridDim.x; ++b) total += args.partial[b];
  *args.total = total;
}

/* Past the end of the row, and in the next one: inside the operand all the same. */
KERNEL(into_the_next_row, matrix_args, 64) {
  const int64_t c = threadIdx.x;
  const int64_t r = blockIdx.x;
  if (r + 1 >= args.rows || c >= args.columns) return;
  args.out[r * args.columns + c] = args.in[r * args.columns + c + 1]; /* here: into_the_next_row */
}

#endif
