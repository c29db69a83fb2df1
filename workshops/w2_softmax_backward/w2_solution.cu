/* SPDX-License-Identifier: MIT */
/*
 * w2_solution.cu - softmax backward on a GPU, written to be read. The lesson's second half derives every
 * step.
 *
 * A block owns a row. Its threads walk over the columns twice: for the dot product of y and g, then for the
 * results. One reduction stands between: shuffles inside a warp, shared memory between warps.
 *
 * builds: backward_row DTYPE=0,1,2 WARPS=4,8
 */
#include "assay/kernel.h"

/* What the kernel needs to know. One struct, passed by value: host and device agree on it. */
typedef struct backward_args {
  const void *y, *g;
  void *dx;
  int64_t rows, columns;
  int64_t y_row_stride, y_column_stride;
  int64_t g_row_stride, g_column_stride;
} backward_args;

#ifdef ASSAY_DEVICE

/*
 * The sum of the values that the block's threads hold, in every thread. `part` is shared memory, one entry a
 * warp. The first barrier stands between what was read here for the row before and the writes, the second
 * between the writes of all warps and the reads of all threads.
 */
static __device__ float block_sum(float value, float *part) {
  value = warp_sum(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
  for (int k = 0; k < WARPS; ++k) sum += part[k];
  return sum;
}

KERNEL(backward_row, backward_args, 32 * WARPS) {
  __shared__ float part[WARPS];

  /* There may be more rows than blocks: a block goes on with the next row that is its own. All its threads
   * agree on how many rows these are, so each of them comes to every barrier. */
  for (int64_t row = blockIdx.x; row < args.rows; row += gridDim.x) {
    const element *y = (const element *)args.y + row * args.y_row_stride;
    const element *g = (const element *)args.g + row * args.g_row_stride;
    element *dx = (element *)args.dx + row * args.columns;

    /* Thread t takes columns t, t + 32 * WARPS and so on: every thread has a partial sum, and neighbours read
     * neighbouring columns. A thread without a column adds 0. A NaN of either input reaches the sum. */
    float dot = 0.0f;
    for (int64_t c = threadIdx.x; c < args.columns; c += 32 * WARPS)
      dot += element_load(y, c * args.y_column_stride) * element_load(g, c * args.g_column_stride);
    dot = block_sum(dot, part);

    /* Both rows are read again, from the cache as a rule. The difference comes before the product: where g
     * and dot are close, it is exact. The store is the only rounding to a 16-bit type. */
    for (int64_t c = threadIdx.x; c < args.columns; c += 32 * WARPS)
      element_store(dx, c,
                    element_load(y, c * args.y_column_stride) *
                        (element_load(g, c * args.g_column_stride) - dot));
  }
}

#else

ASSAY_API assay_kernel softmax_backward;

/* Warps that a large GPU holds at a time. More blocks than that would only wait for their turn. */
enum { WARPS_AT_A_TIME = 8192 };

assay_status softmax_backward(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                              assay_queue *queue) {
  const assay_tensor *y = &in[ASSAY_SOFTMAX_BACKWARD_Y];
  const assay_tensor *g = &in[ASSAY_SOFTMAX_BACKWARD_G];
  const assay_tensor *dx = &out[ASSAY_SOFTMAX_BACKWARD_DX];
  const int64_t knob = opt[ASSAY_SOFTMAX_BACKWARD_WARPS];
  const int64_t warps = knob != 0 ? knob : 4;
  const backward_args args = {.y = y->data,
                              .g = g->data,
                              .dx = dx->data,
                              .rows = dx->shape[0],
                              .columns = dx->shape[1],
                              .y_row_stride = y->stride[0],
                              .y_column_stride = y->stride[1],
                              .g_row_stride = g->stride[0],
                              .g_column_stride = g->stride[1]};

  /* A grid of no blocks is an error, and an empty matrix is not. */
  if (args.rows == 0) return ASSAY_OK;

  const int64_t most = WARPS_AT_A_TIME / warps; /* blocks; further rows are the loop's */
  const assay_define defines[] = {{"DTYPE", dx->dtype}, {"WARPS", warps}, {NULL, 0}};
  return LAUNCH(queue, "backward_row", assay_dim(args.rows < most ? args.rows : most), assay_dim(32 * warps),
                0, 1, defines, args);
}

#endif
