/* SPDX-License-Identifier: MIT */
/*
 * b9_solution.cu - softmax of rows on a GPU, a block for each row: the reference solution, written to be read.
 *
 * Three walks over the row: for the maximum, for the sum, for the results. Between them the threads of the
 * block join what each has found.
 */
#include "assay/kernel.h"

enum { THREADS = 128, WARPS = THREADS / 32 };

typedef struct softmax_args {
  const float *x;
  float *y;
  int64_t rows, columns; /* contiguous */
} softmax_args;

#ifdef ASSAY_DEVICE

/* The largest value of the block, in every thread. The barrier stands between all writes and all reads. */
static __device__ float block_max(float value, float *part) {
  value = warp_max(value);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  for (int k = 0; k < WARPS; ++k) value = fmaxf(value, part[k]);
  return value;
}

/* The sum of the block, in every thread. */
static __device__ float block_sum(float value, float *part) {
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
  for (int k = 0; k < WARPS; ++k) sum += part[k];
  return sum;
}

/* builds: softmax_row */
KERNEL(softmax_row, softmax_args, THREADS) {
  /* An array for each reduction: a warp that is ahead may write into the second one while another still reads
   * the first. */
  __shared__ float part_max[WARPS];
  __shared__ float part_sum[WARPS];
  const float *x = args.x + blockIdx.x * args.columns;
  float *y = args.y + blockIdx.x * args.columns;

  /* A thread without a column keeps -infinity, which changes no maximum. fmaxf passes over a NaN; expf below
   * does not. */
  float m = -ASSAY_INFINITY;
  for (int64_t c = threadIdx.x; c < args.columns; c += THREADS) m = fmaxf(m, x[c]);
  m = block_max(m, part_max);

  float sum = 0.0f;
  for (int64_t c = threadIdx.x; c < args.columns; c += THREADS) sum += expf(x[c] - m);
  sum = block_sum(sum, part_sum);

  for (int64_t c = threadIdx.x; c < args.columns; c += THREADS) y[c] = expf(x[c] - m) / sum;
}

#else

ASSAY_API assay_kernel cuda_softmax;

assay_status cuda_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                          assay_queue *queue) {
  const softmax_args args = {in[0].data, out[0].data, in[0].shape[0], in[0].shape[1]};
  (void)opt;

  /* A block for each row, and a grid of no blocks is an error. */
  if (args.rows == 0) return ASSAY_OK;
  const assay_define defines[] = {{NULL, 0}};
  return LAUNCH(queue, "softmax_row", assay_dim(args.rows), assay_dim(THREADS), 0, 1, defines, args);
}

#endif
