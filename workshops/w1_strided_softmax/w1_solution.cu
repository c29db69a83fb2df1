/* SPDX-License-Identifier: MIT */
/*
 * w1_solution.cu - strided softmax on a GPU, written to be read. The lesson's second half derives every step.
 *
 * A block owns a row. Its threads walk over the columns three times: for the maximum, for the sum, for the
 * results. Two reductions join what the threads have found: shuffles inside a warp, shared memory between
 * warps.
 */
#include "assay/kernel.h"

/* What the kernel needs to know. One struct, passed by value: host and device agree on it. */
typedef struct softmax_args {
  const void *x;
  void *y;
  int64_t rows, columns;
  int64_t row_stride, column_stride;
} softmax_args;

#ifdef ASSAY_DEVICE

/*
 * The largest of the values that the block's threads hold, in every thread. `part` is shared memory, one
 * entry a warp. The barrier stands between the writes of all warps and the reads of all threads.
 */
static __device__ float block_max(float value, float *part) {
  value = warp_max(value);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  for (int k = 0; k < WARPS; ++k) value = fmaxf(value, part[k]);
  return value;
}

/* The same for a sum. */
static __device__ float block_sum(float value, float *part) {
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
  for (int k = 0; k < WARPS; ++k) sum += part[k];
  return sum;
}

KERNEL(softmax_row, softmax_args, 32 * WARPS) {
  /* Two arrays, not one: a warp that is ahead may write the sum's while another still reads the maximum's. */
  __shared__ float part_max[WARPS];
  __shared__ float part_sum[WARPS];

  /* There may be more rows than a grid has blocks: a block goes on with the next row that is its own. 64
   * bits, because a view may span more than 2^31 elements. */
  for (int64_t row = blockIdx.x; row < args.rows; row += gridDim.x) {
    const element *x = (const element *)args.x + row * args.row_stride;
    element *y = (element *)args.y + row * args.columns;

    /* Neighbouring threads read neighbouring columns: one wide access where the column stride is 1. fmaxf
     * passes over a NaN, but expf below does not. A thread without a column keeps -infinity, which changes no
     * maximum. */
    float m = -ASSAY_INFINITY;
    for (int64_t c = threadIdx.x; c < args.columns; c += 32 * WARPS)
      m = fmaxf(m, element_load(x, c * args.column_stride));
    m = block_max(m, part_max);

    /* Every thread has a partial sum of its own: at least 128 of them for a row. */
    float sum = 0.0f;
    for (int64_t c = threadIdx.x; c < args.columns; c += 32 * WARPS)
      sum += expf(element_load(x, c * args.column_stride) - m);
    sum = block_sum(sum, part_sum);

    /* The exponentials are computed anew: keeping a row of 8192 would take more registers than a thread has.
     * The store is the only rounding to a 16-bit type. */
    for (int64_t c = threadIdx.x; c < args.columns; c += 32 * WARPS)
      element_store(y, c, expf(element_load(x, c * args.column_stride) - m) / sum);
  }
}

#else

ASSAY_API assay_kernel strided_softmax;

assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  const assay_tensor *x = &in[ASSAY_STRIDED_SOFTMAX_X];
  const assay_tensor *y = &out[ASSAY_STRIDED_SOFTMAX_Y];
  const int64_t knob = opt[ASSAY_STRIDED_SOFTMAX_WARPS];
  const int64_t warps = knob != 0 ? knob : 4;
  const softmax_args args = {x->data, y->data, x->shape[0], x->shape[1], x->stride[0], x->stride[1]};

  /* A grid of no blocks is an error, and an empty matrix is not. */
  if (args.rows == 0) return ASSAY_OK;

  const int64_t most = 65536; /* blocks; further rows are the loop's */
  const assay_define defines[] = {{"DTYPE", x->dtype}, {"WARPS", warps}, {NULL, 0}};
  return LAUNCH(queue, "softmax_row", assay_dim(args.rows < most ? args.rows : most), assay_dim(32 * warps),
                0, 1, defines, args);
}

#endif
