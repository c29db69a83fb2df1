/* SPDX-License-Identifier: MIT */
/*
 * w5_solution.cu - split softmax on a GPU, written to be read. The lesson's second half derives every step.
 *
 * Three kernels, one a stage. A piece is a chunk of a row: a block owns a piece in the first and in the last
 * stage, and a row in between. The kernels follow one another on the queue's stream, and nothing else orders
 * them: each begins when the one before has ended, and sees all that it wrote.
 *
 * builds: split_partials DTYPE=0,1,2 CHUNK=256,1024,4096
 * builds: split_merge DTYPE=0 CHUNK=256
 * builds: split_normalise DTYPE=0,1,2 CHUNK=256,1024,4096
 */
#include "assay/kernel.h"

/* Threads of a block, and its warps: no more threads than the smallest chunk has elements. */
enum { THREADS = 256, WARPS = THREADS / 32 };

/* What a softmax must know of the elements that it has seen. That of no elements is (-infinity, 0). */
typedef struct state {
  float maximum;
  float sum; /* of exp(x - maximum) */
} state;

/* What the kernels need to know. One struct, passed by value: host and device agree on it. */
typedef struct split_args {
  const void *x;
  void *y;
  state *partial; /* one a piece: chunk k of row r is piece r * chunks + k */
  state *merged;  /* one a row */
  int64_t rows, columns, chunks;
} split_args;

#ifdef ASSAY_DEVICE

/*
 * The state of all elements behind `count` states, in every lane of the warp that asks. The lanes take the
 * states in turn, so the order of the sum depends on `count` alone. exp(maximum - m) is what a sum relative
 * to `maximum` counts relative to m. Equal ones are no subtraction, because -inf - -inf would be NaN.
 */
static __device__ state merge(const state *states, int64_t count) {
  float m = -ASSAY_INFINITY;
  for (int64_t k = threadIdx.x % 32; k < count; k += 32) m = fmaxf(m, states[k].maximum);
  m = warp_max(m);
  float sum = 0.0f;
  for (int64_t k = threadIdx.x % 32; k < count; k += 32)
    sum += states[k].sum * (states[k].maximum == m ? 1.0f : expf(states[k].maximum - m));
  const state all = {m, warp_sum(sum)};
  return all;
}

/* Stage 1: the state of every piece. */
KERNEL(split_partials, split_args, THREADS) {
  __shared__ state part[WARPS];
  for (int64_t piece = blockIdx.x; piece < args.rows * args.chunks; piece += gridDim.x) {
    const int64_t column = piece % args.chunks * CHUNK;
    const element *x = (const element *)args.x + piece / args.chunks * args.columns + column;

    /* The chunk stays in registers: its size is fixed when the kernel is compiled. Behind the row's end
     * stands -infinity, which changes no maximum, and whose exponential is 0. */
    float value[CHUNK / THREADS];
    float m = -ASSAY_INFINITY;
#pragma unroll
    for (int k = 0; k < CHUNK / THREADS; ++k) {
      const int at = (int)threadIdx.x + k * THREADS;
      value[k] = column + at < args.columns ? element_load(x, at) : -ASSAY_INFINITY;
      m = fmaxf(m, value[k]); /* passes over a NaN, which the sum below then finds */
    }
    m = warp_max(m);

    /* Nothing but -inf: subtracting that would make NaN, and 0 makes the sum of masked elements 0. */
    const float origin = m == -ASSAY_INFINITY ? 0.0f : m;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < CHUNK / THREADS; ++k) sum += expf(value[k] - origin);
    sum = warp_sum(sum);

    /* Every lane holds its warp's state, and one writes it. All of them are there behind the barrier. */
    if (threadIdx.x % 32 == 0) {
      part[threadIdx.x / 32].maximum = m;
      part[threadIdx.x / 32].sum = sum;
    }
    __syncthreads();
    if (threadIdx.x < 32) { /* a whole warp or none, so its lanes meet in the shuffles */
      const state all = merge(part, WARPS);
      if (threadIdx.x == 0) args.partial[piece] = all;
    }
    __syncthreads(); /* `part` has been read, and the next piece may write to it */
  }
}

/* Stage 2: the state of every row, by a block of one warp. */
KERNEL(split_merge, split_args, 32) {
  for (int64_t row = blockIdx.x; row < args.rows; row += gridDim.x) {
    const state all = merge(args.partial + row * args.chunks, args.chunks);
    if (threadIdx.x == 0) args.merged[row] = all;
  }
}

/* Stage 3: the results of every piece. The store is the only rounding to a 16-bit type. */
KERNEL(split_normalise, split_args, THREADS) {
  for (int64_t piece = blockIdx.x; piece < args.rows * args.chunks; piece += gridDim.x) {
    const int64_t column = piece % args.chunks * CHUNK;
    const int64_t first = piece / args.chunks * args.columns + column;
    const state all = args.merged[piece / args.chunks];
    for (int at = (int)threadIdx.x; at < CHUNK && column + at < args.columns; at += THREADS) {
      const float value = element_load((const element *)args.x, first + at);
      element_store((element *)args.y, first + at, expf(value - all.maximum) / all.sum);
    }
  }
}

#else

ASSAY_API assay_kernel split_softmax;

assay_status split_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                           assay_queue *queue) {
  const assay_tensor *x = &in[ASSAY_SPLIT_SOFTMAX_X];
  const int64_t rows = x->shape[0];
  const int64_t columns = x->shape[1];
  const int64_t chunk = opt[ASSAY_SPLIT_SOFTMAX_CHUNK] != 0 ? opt[ASSAY_SPLIT_SOFTMAX_CHUNK] : 4096;
  const int64_t chunks = (columns + chunk - 1) / chunk; /* the last one may be short, but never empty */
  const int64_t pieces = rows * chunks;
  if (rows == 0) return ASSAY_OK; /* an empty matrix is no error, and a grid of no blocks is one */

  /* The caller's workspace, or memory of this call alone; the GPU's, either way. */
  state *partial = (state *)out[ASSAY_SPLIT_SOFTMAX_WORKSPACE].data;
  if (partial == NULL) partial = (state *)assay_queue_scratch(queue, (size_t)(pieces + rows) * sizeof(state));
  if (partial == NULL) return ASSAY_NO_MEMORY;
  const split_args args = {.x = x->data,
                           .y = out[ASSAY_SPLIT_SOFTMAX_Y].data,
                           .partial = partial,
                           .merged = partial + pieces,
                           .rows = rows,
                           .columns = columns,
                           .chunks = chunks};

  /* As many blocks as a large GPU holds at a time; what is left is the loops'. */
  const assay_dim3 for_pieces = assay_dim(pieces < 1024 ? pieces : 1024);
  const assay_dim3 for_rows = assay_dim(rows < 1024 ? rows : 1024);
  const assay_define defines[] = {{"DTYPE", x->dtype}, {"CHUNK", chunk}, {NULL, 0}};
  assay_status status = LAUNCH(queue, "split_partials", for_pieces, assay_dim(THREADS), 0, 1, defines, args);
  if (status == ASSAY_OK) status = LAUNCH(queue, "split_merge", for_rows, assay_dim(32), 0, 1, defines, args);
  if (status == ASSAY_OK)
    status = LAUNCH(queue, "split_normalise", for_pieces, assay_dim(THREADS), 0, 1, defines, args);
  return status;
}

#endif
