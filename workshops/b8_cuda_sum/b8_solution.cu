/* SPDX-License-Identifier: MIT */
/*
 * b8_solution.cu - the sum of an array on a GPU: the reference solution, written to be read.
 *
 * Two launches of one kernel. In the first every block adds up its share and writes one number; in the second
 * a single block adds up these. The second begins when the first is through: that is the only way in which all
 * blocks can wait for all others.
 */
#include "assay/kernel.h"

/* Threads a block, and the most blocks of the first launch. */
enum { THREADS = 256, MOST_BLOCKS = 64 };

typedef struct sum_args {
  const float *x;
  int64_t count;
  float *sums; /* one for each block */
} sum_args;

#ifdef ASSAY_DEVICE

/* builds: sum */
KERNEL(sum, sum_args, THREADS) {
  __shared__ float part[THREADS / 32]; /* one for each warp */

  /* All threads of the grid share the elements, and each has a partial sum of its own. A thread without an
   * element keeps 0, which changes no sum, and stays: it has to take part in what follows. */
  const int64_t step = (int64_t)gridDim.x * THREADS;
  float value = 0.0f;
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < args.count; i += step) value += args.x[i];

  /* Inside a warp by shuffles, between warps through shared memory: the barrier stands between the writes of
   * all warps and the reads of the first thread. */
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0.0f;
    for (int k = 0; k < THREADS / 32; ++k) total += part[k];
    args.sums[blockIdx.x] = total;
  }
}

#else

ASSAY_API assay_kernel cuda_sum;

static assay_status add_up(assay_queue *queue, const float *x, int64_t count, float *sums, int64_t blocks) {
  const sum_args args = {x, count, sums};
  const assay_define defines[] = {{NULL, 0}};
  return LAUNCH(queue, "sum", assay_dim(blocks), assay_dim(THREADS), 0, 1, defines, args);
}

assay_status cuda_sum(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                      assay_queue *queue) {
  const float *x = in[0].data;
  float *y = out[0].data;
  const int64_t count = in[0].shape[0];
  (void)opt;

  /* At least one block, also for no element at all: y must be written, and an empty sum is 0. */
  int64_t blocks = (count + THREADS - 1) / THREADS;
  if (blocks < 1) blocks = 1;
  if (blocks > MOST_BLOCKS) blocks = MOST_BLOCKS;
  if (blocks == 1) return add_up(queue, x, count, y, 1);

  /* Memory of the GPU that belongs to this call. */
  float *sums = assay_queue_scratch(queue, (size_t)blocks * sizeof *sums);
  if (sums == NULL) return ASSAY_NO_MEMORY;
  const assay_status status = add_up(queue, x, count, sums, blocks);
  if (status != ASSAY_OK) return status;
  return add_up(queue, sums, blocks, y, 1);
}

#endif
