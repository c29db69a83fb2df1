/* SPDX-License-Identifier: MIT */
/*
 * gemm_loose.cu - the fused GEMM on a GPU: the way that a call takes, and what is needed where rows of A or B
 * begin at any element.
 *
 *   gemm_loose   small products: pairs of elements wait in registers while the step before them is multiplied
 *   gemm_align   large products: a copy with aligned rows, for the kernel in gemm.cu
 *
 * Sums grow as in gemm.cu, 16 steps along k after 16 steps, and so have the same bits.
 *
 * builds: gemm_loose DTYPE=1,2 TILE_M=32 TILE_N=64 TILE_K=32,64 WARPS_M=2 WARPS_N=4
 * builds: gemm_loose DTYPE=2 TILE_M=16,64 TILE_N=64 TILE_K=32,64 WARPS_M=1 WARPS_N=4
 * builds: gemm_align DTYPE=1
 */
#include "assay/kernel.h"

typedef struct loose_args {
  const void *a;
  const void *b;
  const void *bias;
  void *c;
  int64_t m, n, k;
  int64_t a_stride, b_stride, c_stride; /* from row to row, in elements */
  uint32_t grid_rows;                   /* of tiles */
  uint32_t a_pairs, b_pairs;            /* whether every row of A, of B begins at a multiple of 4 bytes */
} loose_args;

typedef struct align_args {
  const void *from;
  void *to;
  int64_t rows, columns;
  int64_t from_stride, to_stride; /* in elements; rows of `to` begin at multiples of 16 bytes */
} align_args;

#ifdef ASSAY_DEVICE

#ifdef TILE_M
/* PAD keeps the eight rows of a matrix that ldmatrix reads in different banks. */
enum {
  THREADS = 32 * WARPS_M * WARPS_N,
  PAD = 8,
  WARP_M = TILE_M / WARPS_M,
  WARP_N = TILE_N / WARPS_N,
  HIGH = WARP_M / 16,
  WIDE = WARP_N / 8,
  A_ACROSS = TILE_K / 2, /* pairs of a row */
  B_ACROSS = TILE_N / 2,
  A_PAIRS = TILE_M * A_ACROSS / THREADS, /* of a thread */
  B_PAIRS = TILE_K * B_ACROSS / THREADS
};
static_assert(THREADS % A_ACROSS == 0 && THREADS % B_ACROSS == 0, "a thread's pairs must be in one column");
static_assert(A_PAIRS > 0 && B_PAIRS > 0, "every thread must have pairs");

/* A word of two elements, or its halves where the row is not aligned to pairs. */
typedef struct loose_pair {
  uint32_t low, high;
} loose_pair;

/* A thread's pairs of a tile whose rows have `across` pairs; `from` is where the first of them is. What the
 * matrix does not have becomes 0. Each load has one condition, so that no thread branches around it. */
static __device__ __forceinline__ void fetch(loose_pair *pairs, const int count, const int across,
                                             const element *from, int64_t stride, int rows_left,
                                             int columns_left, bool aligned) {
  const int first = (int)threadIdx.x / across;
  const int left = columns_left - (int)threadIdx.x % across * 2;
  const int lows = left > 0 ? rows_left - first : 0, highs = left > 1 ? rows_left - first : 0;
  const element *at = from;
  if (aligned) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      pairs[i].low = i * (THREADS / across) < highs ? *(const uint32_t *)at : 0;
      pairs[i].high = 0;
      at += THREADS / across * stride;
    }
    if (left != 1) return;
  }
#pragma unroll
  for (int i = 0; i < count; ++i) {
    pairs[i].low = i * (THREADS / across) < lows ? from[0] : 0;
    pairs[i].high = i * (THREADS / across) < highs ? from[1] : 0;
    from += THREADS / across * stride;
  }
}

static __device__ __forceinline__ void put(const loose_pair *pairs, const int count, const int across,
                                           element *tile) {
  tile += (int)threadIdx.x / across * (across * 2 + PAD) + (int)threadIdx.x % across * 2;
#pragma unroll
  for (int i = 0; i < count; ++i) {
    *(uint32_t *)tile = pairs[i].low | pairs[i].high << 16;
    tile += THREADS / across * (across * 2 + PAD);
  }
}

/* The products of 16 steps. */
static __device__ __forceinline__ void multiply(float sums[HIGH][WIDE][4], const element *a_tile,
                                                const element *b_tile) {
  const int lane = (int)threadIdx.x % 32;
  uint32_t a[HIGH][4], b[WIDE][2];
#pragma unroll
  for (int i = 0; i < HIGH; ++i)
    ldmatrix_x4(a[i], a_tile + (i * 16 + lane % 16) * (TILE_K + PAD) + lane / 16 * 8);
#pragma unroll
  for (int j = 0; j < WIDE; j += 2)
    ldmatrix_x4_trans(b[j], b_tile + lane % 16 * (TILE_N + PAD) + j * 8 + lane / 16 * 8);
#pragma unroll
  for (int i = 0; i < HIGH * WIDE; ++i) mma_m16n8k16(sums[i / WIDE][i % WIDE], a[i / WIDE], b[i % WIDE]);
}

/* NaN is not below 0, so it stays. */
static __device__ __forceinline__ float relu(float x) {
  return x < 0.0f ? 0.0f : x;
}

/* Bias, relu and the one rounding. row, column: of this lane's first sum. */
static __device__ __forceinline__ void store(const loose_args *args, float sums[HIGH][WIDE][4],
                                             const float *bias, int64_t row, int64_t column) {
#pragma unroll
  for (int i = 0; i < HIGH * WIDE * 4; ++i) {
    const int j = i / 4 % WIDE;
    const int64_t r = row + i / 4 / WIDE * 16 + i % 4 / 2 * 8;
    const int64_t at = column + j * 8 + i % 2;
    if (r >= args->m || at >= args->n) continue;
    const float x = sums[i / 4 / WIDE][j][i % 4] + bias[j * 2 + i % 2];
    element_store((element *)args->c, r * args->c_stride + at, relu(x));
  }
}

static __device__ __forceinline__ int least(int64_t a, int b) {
  return a < b ? (int)a : b;
}

/* Two stages: while one is multiplied, the elements of the next step are on their way to registers. A block
 * has one tile. The grid is as high as a group of rows of tiles, as wide as C and as deep as there are
 * groups: the order in which its blocks begin is the grouped one (gemm_order.c), and no block divides. */
KERNEL(gemm_loose, loose_args, THREADS) {
  __shared__ __align__(16) element a_tile[2][TILE_M][TILE_K + PAD];
  __shared__ __align__(16) element b_tile[2][TILE_K][TILE_N + PAD];
  const int thread = (int)threadIdx.x;
  const int warp_row = thread / 32 / WARPS_N * WARP_M, warp_column = thread / 32 % WARPS_N * WARP_N;
  const unsigned tile_row = blockIdx.z * gridDim.x + blockIdx.x;
  if (tile_row >= args.grid_rows) return; /* the last group may be short */
  const int64_t top = (int64_t)tile_row * TILE_M, left = (int64_t)blockIdx.y * TILE_N;
  const int rows_left = least(args.m - top, TILE_M), columns_left = least(args.n - left, TILE_N);
  const element *a =
      (const element *)args.a + (top + thread / A_ACROSS) * args.a_stride + thread % A_ACROSS * 2;
  const element *b =
      (const element *)args.b + thread / B_ACROSS * args.b_stride + left + thread % B_ACROSS * 2;
  const int64_t row = top + warp_row + thread % 32 / 4, column = left + warp_column + thread % 4 * 2;
  loose_pair of_a[A_PAIRS], of_b[B_PAIRS];
  float sums[HIGH][WIDE][4] = {{{0.0f}}}, bias[WIDE * 2];
  int64_t k_left = args.k;
  int deep = least(k_left, TILE_K);
  fetch(of_a, A_PAIRS, A_ACROSS, a, args.a_stride, rows_left, deep, args.a_pairs != 0);
  fetch(of_b, B_PAIRS, B_ACROSS, b, args.b_stride, deep, columns_left, args.b_pairs != 0);
#pragma unroll
  for (int i = 0; i < WIDE * 2; ++i) {
    const int64_t at = column + i / 2 * 8 + i % 2;
    bias[i] = at < args.n ? element_load((const element *)args.bias, at) : 0.0f;
  }
  for (int stage = 0; k_left > 0; stage = 1 - stage) { /* filled again only behind the next barrier */
    const int multiplied = deep;
    put(of_a, A_PAIRS, A_ACROSS, &a_tile[stage][0][0]);
    put(of_b, B_PAIRS, B_ACROSS, &b_tile[stage][0][0]);
    __syncthreads();
    k_left -= TILE_K;
    a += TILE_K;
    b += TILE_K * args.b_stride;
    if (k_left > 0) {
      deep = least(k_left, TILE_K);
      fetch(of_a, A_PAIRS, A_ACROSS, a, args.a_stride, rows_left, deep, args.a_pairs != 0);
      fetch(of_b, B_PAIRS, B_ACROSS, b, args.b_stride, deep, columns_left, args.b_pairs != 0);
    }
#pragma unroll
    for (int p = 0; p < TILE_K; p += 16) {
      if (p < multiplied) multiply(sums, &a_tile[stage][warp_row][p], &b_tile[stage][p][warp_column]);
    }
  }
  store(&args, sums, bias, row, column);
}

#else

/* Eight elements from any address, in words; no byte beside them is read. */
static __device__ vector16 load_eight(const element *from) {
  vector16 words;
  if ((uintptr_t)from % 4 == 0) {
#pragma unroll
    for (int i = 0; i < 4; ++i) words.word[i] = *(const uint32_t *)(from + i * 2);
    return words;
  }
  uint32_t before = from[0];
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const uint32_t word = *(const uint32_t *)(from + 1 + i * 2);
    words.word[i] = before | word << 16;
    before = word >> 16;
  }
  words.word[3] = before | (uint32_t)from[7] << 16;
  return words;
}

/* A thread makes chunks of eight elements; what the last one of a row does not have becomes 0. */
KERNEL(gemm_align, align_args, 256) {
  const int64_t across = args.to_stride / 8;
  const int64_t step = (int64_t)gridDim.x * 256;
  for (int64_t at = (int64_t)blockIdx.x * 256 + threadIdx.x; at < args.rows * across; at += step) {
    const int64_t row = args.rows * across <= 0xffffffff ? (unsigned)at / (unsigned)across : at / across;
    const int64_t column = (at - row * across) * 8;
    const element *from = (const element *)args.from + row * args.from_stride + column;
    vector16 words = {{0, 0, 0, 0}};
    if (column + 8 <= args.columns) {
      words = load_eight(from);
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        if (column + i < args.columns) words.word[i / 2] |= (uint32_t)from[i] << i % 2 * 16;
      }
    }
    vector16_store((element *)args.to + at * 8, words);
  }
}
#endif

#else
#include <stdbool.h>

assay_kernel assay_gemm_tiles; /* gemm.cu */
assay_kernel assay_gemm_cuda;

/* PART_MOST: a launch takes so many rows and columns of C at most, so that 32 bits count its tiles.
 * SMALL: below so many products, copies with aligned rows would take longer than loose rows do.
 * DEEP: so much of k is a step, or half of it where that is all.
 * MANY_BLOCKS: a few for each multiprocessor of a large GPU. */
enum { TILE_N = 64, DEEP = 64, WARPS_N = 4, PART_MOST = 1 << 19, SMALL = 1 << 24, MANY_BLOCKS = 512 };

/* Of packed rows that begin at multiples of 16 bytes. */
static int64_t aligned_stride(int64_t columns) {
  return (columns + 7) / 8 * 8;
}

/* `to` becomes a copy of the matrix in scratch of the queue. */
static assay_status align_rows(const assay_tensor *from, assay_tensor *to, assay_queue *queue) {
  *to = *from;
  to->stride[0] = aligned_stride(from->shape[1]);
  to->data = assay_queue_scratch(queue, (size_t)(from->shape[0] * to->stride[0]) * 2);
  if (to->data == NULL) return ASSAY_NO_MEMORY;
  const align_args args = {.from = from->data,
                           .to = to->data,
                           .rows = from->shape[0],
                           .columns = from->shape[1],
                           .from_stride = from->stride[0],
                           .to_stride = to->stride[0]};
  const assay_define defines[] = {{"DTYPE", from->dtype}, {NULL, 0}};
  const int64_t blocks = (args.rows * (args.to_stride / 8) + 255) / 256;
  return LAUNCH(queue, "gemm_align", assay_dim(blocks < 1 << 20 ? blocks : 1 << 20), assay_dim(256), 0, 1,
                defines, args);
}

/* Rows of a tile where the caller has no wish: few, so that a thread has few loads to wait for, unless there
 * are blocks enough without that. */
static int64_t choose_height(int64_t m, int64_t n) {
  return (m + 15) / 16 * ((n + TILE_N - 1) / TILE_N) <= MANY_BLOCKS ? 16 : 32;
}

static assay_status multiply_loose(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                   assay_queue *queue) {
  const assay_tensor *a = &in[ASSAY_FUSED_GEMM_A];
  const assay_tensor *b = &in[ASSAY_FUSED_GEMM_B];
  const int64_t m = a->shape[0], n = b->shape[1], k = a->shape[1];
  const int64_t tile_m =
      opt[ASSAY_FUSED_GEMM_TILE_M] != 0 ? opt[ASSAY_FUSED_GEMM_TILE_M] : choose_height(m, n);
  const int64_t warps_m = tile_m == 32 ? 2 : 1;
  const int64_t grid_rows = (m + tile_m - 1) / tile_m;
  const int64_t asked = opt[ASSAY_FUSED_GEMM_GROUP] != 0 ? opt[ASSAY_FUSED_GEMM_GROUP] : 8;
  const int64_t group = asked < grid_rows ? asked : grid_rows;
  const loose_args args = {.a = a->data,
                           .b = b->data,
                           .bias = in[ASSAY_FUSED_GEMM_BIAS].data,
                           .c = out[ASSAY_FUSED_GEMM_C].data,
                           .m = m,
                           .n = n,
                           .k = k,
                           .a_stride = a->stride[0],
                           .b_stride = b->stride[0],
                           .c_stride = out[ASSAY_FUSED_GEMM_C].stride[0],
                           .grid_rows = (uint32_t)grid_rows,
                           .a_pairs = ((uintptr_t)a->data | (uintptr_t)(a->stride[0] * 2)) % 4 == 0,
                           .b_pairs = ((uintptr_t)b->data | (uintptr_t)(b->stride[0] * 2)) % 4 == 0};
  const assay_define defines[] = {{"DTYPE", a->dtype},
                                  {"TILE_M", tile_m},
                                  {"TILE_N", TILE_N},
                                  {"TILE_K", k > DEEP / 2 ? DEEP : DEEP / 2},
                                  {"WARPS_M", warps_m},
                                  {"WARPS_N", WARPS_N},
                                  {NULL, 0}};
  assay_dim3 grid = assay_dim2(group, (n + TILE_N - 1) / TILE_N);
  grid.z = assay_dim((grid_rows + group - 1) / group).x;
  return LAUNCH(queue, "gemm_loose", grid, assay_dim(32 * warps_m * WARPS_N), 0, 1, defines, args);
}

static bool has_aligned_rows(const assay_tensor *x) {
  return (uintptr_t)x->data % 16 == 0 && x->stride[0] % 8 == 0;
}

/* Calls the kernel for parts of C that are not too large, each with its rows of A and columns of B. */
static assay_status in_parts(assay_kernel *kernel, const assay_tensor *in, const assay_tensor *c,
                             const int64_t *opt, assay_queue *queue) {
  const int64_t m = c->shape[0], n = c->shape[1];
  assay_status status = ASSAY_OK;
  for (int64_t i = 0; i < m; i += PART_MOST) {
    for (int64_t j = 0; j < n && status == ASSAY_OK; j += PART_MOST) {
      assay_tensor part[] = {in[ASSAY_FUSED_GEMM_A], in[ASSAY_FUSED_GEMM_B], in[ASSAY_FUSED_GEMM_BIAS]};
      assay_tensor part_c = *c;
      part_c.data = (char *)c->data + (i * c->stride[0] + j) * 2;
      part[0].data = (char *)part[0].data + i * part[0].stride[0] * 2;
      part[1].data = (char *)part[1].data + j * 2;
      part[2].data = (char *)part[2].data + j * 2;
      part_c.shape[0] = part[0].shape[0] = m - i < PART_MOST ? m - i : PART_MOST;
      part_c.shape[1] = part[1].shape[1] = part[2].shape[0] = n - j < PART_MOST ? n - j : PART_MOST;
      status = kernel(part, &part_c, opt, queue);
    }
  }
  return status;
}

assay_status assay_gemm_cuda(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  assay_tensor all[] = {in[ASSAY_FUSED_GEMM_A], in[ASSAY_FUSED_GEMM_B], in[ASSAY_FUSED_GEMM_BIAS]};
  const assay_tensor *c = &out[ASSAY_FUSED_GEMM_C];
  const int64_t k = all[ASSAY_FUSED_GEMM_A].shape[1];
  const double products = (double)c->shape[0] * (double)c->shape[1] * (double)k;
  const bool aligned = has_aligned_rows(&all[0]) && has_aligned_rows(&all[1]);
  if (k >= INT32_MAX || (!aligned && products < SMALL)) return in_parts(multiply_loose, all, c, opt, queue);
  for (int i = 0; i < 2; i++) {
    if (has_aligned_rows(&all[i])) continue;
    const assay_status status = align_rows(&in[i], &all[i], queue);
    if (status != ASSAY_OK) return status;
  }
  return in_parts(assay_gemm_tiles, all, c, opt, queue);
}

#endif
