/* SPDX-License-Identifier: MIT */
/*
 * attention_dense.cu - attention as three launches with all scores in memory: the baseline on a GPU.
 *
 *   dense_scores    S = Q K' / sqrt(d) in FP32, every score of every head
 *   dense_softmax   a row of S becomes weights e^(x-m) of the input type, masked ones 0, and their FP32 sum
 *   dense_values    O = P V / sum, rounded once
 *
 * builds: dense_scores DTYPE=1,2
 * builds: dense_softmax DTYPE=1,2
 * builds: dense_values DTYPE=1,2
 */
#include "assay/kernel.h"

typedef struct dense_args {
  const void *q, *k, *v;
  void *o, *weights;                 /* of the input type, [head][n][pitch] */
  float *scores;                     /* [head][n][pitch] */
  float *sums;                       /* [head][n] */
  int64_t n, d, pitch, heads, first; /* first: the head of block row 0, counted through all batches */
  int64_t stride[3][3];    /* of q, k and v: from batch to batch, head to head, row to row, in elements */
  int32_t causal, vectors; /* vectors: rows of q, k and v begin at 16 bytes */
  float scale;
} dense_args;

enum {
  THREADS = 128,
  SIDE = 64,
  STEP = 32
}; /* a block makes SIDE x SIDE results, STEP products each a round */
enum { SOFTMAX_THREADS = 256 };

#ifdef ASSAY_DEVICE

#define LANE ((int)threadIdx.x % 32)
/* A warp makes 32 x 32 results; of 16 x 8 of them a lane holds two neighbours in each of two rows. */
#define ROW    ((int)threadIdx.x / 64 * 32)
#define COLUMN ((int)threadIdx.x / 32 % 2 * 32)

static __device__ const element *head_of(const void *from, const int64_t *stride, const dense_args args) {
  const int64_t head = args.first + blockIdx.y;
  return (const element *)from + head / args.heads * stride[0] + head % args.heads * stride[1];
}

/* A part of a matrix becomes a tile of `rows` by `columns`, with 0 beyond its last row and column. */
static __device__ void fetch(element *tile, int rows, int columns, const element *from, int64_t stride,
                             int64_t rows_left, int64_t columns_left, int vectors) {
  for (int i = (int)threadIdx.x; i < rows * columns / 8; i += THREADS) {
    const int row = i / (columns / 8);
    const int column = i % (columns / 8) * 8;
    const int64_t there = row < rows_left ? columns_left - column : 0;
    const element *source = from + row * stride + column;
    vector16 piece = {{0, 0, 0, 0}};
    if (vectors && there >= 8)
      piece = vector16_load(source);
    else
#pragma unroll
      for (int e = 0; e < 8; ++e)
        if (e < there) piece.word[e / 2] |= (uint32_t)source[e] << (e % 2 * 16);
    vector16_store(tile + row * (columns + 8) + column, piece);
  }
}

/* sum += a * b for a tile of STEP columns and one of STEP rows, which is stored with `b_rows` by its columns.
 */
static __device__ void multiply(float (*sum)[4][4], const element *a_tile, const element *b_tile,
                                int b_rows) {
#pragma unroll
  for (int k = 0; k < STEP; k += 16) {
    uint32_t a[2][4];
#pragma unroll
    for (int i = 0; i < 2; ++i)
      ldmatrix_x4(a[i], a_tile + (ROW + 16 * i + LANE % 16) * (STEP + 8) + k + LANE / 16 * 8);
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      uint32_t b[4];
      if (b_rows)
        ldmatrix_x4_trans(b, b_tile + (k + LANE % 16) * (SIDE + 8) + COLUMN + 16 * j + LANE / 16 * 8);
      else
        ldmatrix_x4(b, b_tile + (COLUMN + 16 * j + LANE / 16 * 8 + LANE % 8) * (STEP + 8) + k +
                           LANE / 8 % 2 * 8);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        mma_m16n8k16(sum[i][2 * j], a[i], b);
        mma_m16n8k16(sum[i][2 * j + 1], a[i], b + 2);
      }
    }
  }
}

KERNEL(dense_scores, dense_args, THREADS) {
  __shared__ __align__(16) element q_tile[SIDE * (STEP + 8)];
  __shared__ __align__(16) element k_tile[SIDE * (STEP + 8)];
  const int64_t across = (args.n + SIDE - 1) / SIDE;
  const int64_t row0 = blockIdx.x / across * SIDE;
  const int64_t key0 = blockIdx.x % across * SIDE;
  const element *q = head_of(args.q, args.stride[0], args) + row0 * args.stride[0][2];
  const element *k = head_of(args.k, args.stride[1], args) + key0 * args.stride[1][2];
  float sum[2][4][4] = {{{0.0f}}};
  for (int64_t c = 0; c < args.d; c += STEP) {
    __syncthreads();
    fetch(q_tile, SIDE, STEP, q + c, args.stride[0][2], args.n - row0, args.d - c, args.vectors);
    fetch(k_tile, SIDE, STEP, k + c, args.stride[1][2], args.n - key0, args.d - c, args.vectors);
    __syncthreads();
    multiply(sum, q_tile, k_tile, 0);
  }
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const int64_t row = row0 + ROW + i / 16 * 16 + i / 2 % 2 * 8 + LANE / 4;
    const int64_t key = key0 + COLUMN + i / 4 % 4 * 8 + LANE % 4 * 2 + i % 2;
    if (row < args.n && key < args.n)
      args.scores[(blockIdx.y * args.n + row) * args.pitch + key] =
          sum[i / 16][i / 4 % 4][i % 4] * args.scale;
  }
}

/* The result of `value` combined over all threads of a block of SOFTMAX_THREADS. */
static __device__ float over_block(float value, float *part, int maximum) {
  value = maximum ? warp_max(value) : warp_sum(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  value = part[0];
  for (int k = 1; k < SOFTMAX_THREADS / 32; ++k) value = maximum ? fmaxf(value, part[k]) : value + part[k];
  return value;
}

KERNEL(dense_softmax, dense_args, SOFTMAX_THREADS) {
  __shared__ float part[SOFTMAX_THREADS / 32];
  const int64_t row = blockIdx.x;
  const int64_t at = blockIdx.y * args.n + row;
  const int64_t visible = args.causal ? row + 1 : args.n;
  const float *x = args.scores + at * args.pitch;
  float m = -ASSAY_INFINITY;
  float sum = 0.0f;
  for (int64_t j = threadIdx.x; j < visible; j += SOFTMAX_THREADS) m = fmaxf(m, x[j]);
  m = over_block(m, part, 1);
  for (int64_t j = threadIdx.x; j < args.pitch; j += SOFTMAX_THREADS) {
    const float p = j < visible ? expf(x[j] - m) : 0.0f;
    element_store((element *)args.weights, at * args.pitch + j, p);
    sum += p;
  }
  sum = over_block(sum, part, 0);
  if (threadIdx.x == 0) args.sums[at] = sum;
}

KERNEL(dense_values, dense_args, THREADS) {
  __shared__ __align__(16) element p_tile[SIDE * (STEP + 8)];
  __shared__ __align__(16) element v_tile[STEP * (SIDE + 8)];
  const int64_t across = (args.d + SIDE - 1) / SIDE;
  const int64_t row0 = blockIdx.x / across * SIDE;
  const int64_t column0 = blockIdx.x % across * SIDE;
  const element *p = (const element *)args.weights + (blockIdx.y * args.n + row0) * args.pitch;
  const element *v = head_of(args.v, args.stride[2], args) + column0;
  float sum[2][4][4] = {{{0.0f}}};
  for (int64_t j = 0; j < args.n; j += STEP) {
    __syncthreads();
    fetch(p_tile, SIDE, STEP, p + j, args.pitch, args.n - row0, args.pitch - j, 1);
    fetch(v_tile, STEP, SIDE, v + j * args.stride[2][2], args.stride[2][2], args.n - j, args.d - column0,
          args.vectors);
    __syncthreads();
    multiply(sum, p_tile, v_tile, 1);
  }
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const int64_t row = row0 + ROW + i / 16 * 16 + i / 2 % 2 * 8 + LANE / 4;
    const int64_t column = column0 + COLUMN + i / 4 % 4 * 8 + LANE % 4 * 2 + i % 2;
    if (row >= args.n || column >= args.d) continue;
    const float result = sum[i / 16][i / 4 % 4][i % 4] / args.sums[blockIdx.y * args.n + row];
    element_store((element *)args.o, ((args.first + blockIdx.y) * args.n + row) * args.d + column, result);
  }
}

#else
#include "attention_gpu.h"

enum { HEADS_MOST = 65535 }; /* of a launch: its y size */

/* Three launches for as many heads as share the scratch memory. */
static assay_status attend_heads(const dense_args *args, int64_t heads, assay_dtype dtype,
                                 assay_queue *queue) {
  const assay_define defines[] = {{"DTYPE", dtype}, {NULL, 0}};
  const int64_t down = (args->n + SIDE - 1) / SIDE;
  const int64_t across = (args->d + SIDE - 1) / SIDE;
  const assay_dim3 block = assay_dim(THREADS);
  assay_status status =
      LAUNCH(queue, "dense_scores", assay_dim2(down * down, heads), block, 0, 1, defines, *args);
  if (status == ASSAY_OK) {
    status = LAUNCH(queue, "dense_softmax", assay_dim2(args->n, heads), assay_dim(SOFTMAX_THREADS), 0, 1,
                    defines, *args);
  }
  if (status != ASSAY_OK) return status;
  return LAUNCH(queue, "dense_values", assay_dim2(down * across, heads), block, 0, 1, defines, *args);
}

assay_status assay_attention_dense(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                   assay_queue *queue) {
  const assay_tensor *q = &in[ASSAY_STREAMING_ATTENTION_Q];
  const int inner = q->rank - 1;
  const bool four = q->rank == 4;
  const int64_t count = four ? q->shape[0] * q->shape[1] : 1;
  const int64_t n = q->shape[inner - 1];
  dense_args args = {.q = q->data,
                     .k = in[ASSAY_STREAMING_ATTENTION_K].data,
                     .v = in[ASSAY_STREAMING_ATTENTION_V].data,
                     .o = out[ASSAY_STREAMING_ATTENTION_O].data,
                     .n = n,
                     .d = q->shape[inner],
                     .pitch = (n + 7) / 8 * 8,
                     .heads = four ? q->shape[1] : 1,
                     .causal = opt[ASSAY_STREAMING_ATTENTION_CAUSAL] != 0,
                     .scale = (float)(1 / sqrt((double)q->shape[inner]))};
  if (n == 0 || count == 0) return ASSAY_OK;
  uint64_t bits = (uint64_t)(uintptr_t)args.q | (uintptr_t)args.k | (uintptr_t)args.v;
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    args.stride[i][0] = four ? in[i].stride[0] : 0;
    args.stride[i][1] = four ? in[i].stride[1] : 0;
    args.stride[i][2] = in[i].stride[inner - 1];
    for (int k = 0; k < 3; k++) bits |= 2 * (uint64_t)args.stride[i][k];
  }
  args.vectors = bits % 16 == 0;
  const size_t scores = (size_t)n * (size_t)args.pitch; /* of a head */
  const size_t most = (size_t)1 << 28; /* scores in memory at a time, if a head has no more */
  int64_t together = scores < most ? (int64_t)(most / scores) : 1;
  if (together > count) together = count;
  if (together > HEADS_MOST) together = HEADS_MOST;
  args.scores = assay_queue_scratch(queue, (size_t)together * scores * sizeof(float));
  args.weights = assay_queue_scratch(queue, (size_t)together * scores * sizeof(uint16_t));
  args.sums = assay_queue_scratch(queue, (size_t)(together * n) * sizeof(float));
  if (args.scores == NULL || args.weights == NULL || args.sums == NULL) return ASSAY_NO_MEMORY;
  assay_status status = ASSAY_OK;
  for (; args.first < count && status == ASSAY_OK; args.first += together) {
    const int64_t left = count - args.first;
    status = attend_heads(&args, left < together ? left : together, in[0].dtype, queue);
  }
  return status;
}

#endif
