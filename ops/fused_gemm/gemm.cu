/* SPDX-License-Identifier: MIT */
/*
 * gemm.cu - the fused GEMM on a GPU's tensor cores: one chain of sums along k for every element of C.
 *
 * Rows of A and B begin at multiples of 16 bytes; others are the business of gemm_loose.cu. Tiles arrive in
 * shared memory by cp.async, STAGES deep, and the first stages of a block's next tile arrive while this
 * tile's sums are still stored.
 *
 * Chunks of 16 bytes change places within a row of a shared tile, so that the eight rows of a matrix that
 * ldmatrix reads lie in different banks.
 *
 * builds: gemm_tiles DTYPE=1,2 TILE_M=128 TILE_N=256 TILE_K=64 STAGES=3 WARPS_M=2 WARPS_N=4 BLOCKS=1
 * builds: gemm_tiles DTYPE=1 TILE_M=64,128 TILE_N=128 TILE_K=64 STAGES=4 WARPS_M=2 WARPS_N=4 BLOCKS=1
 * builds: gemm_tiles DTYPE=2 TILE_M=64 TILE_N=64 TILE_K=64 STAGES=4 WARPS_M=2 WARPS_N=2 BLOCKS=2
 * builds: gemm_tiles DTYPE=1 TILE_M=32 TILE_N=64 TILE_K=128 STAGES=3 WARPS_M=2 WARPS_N=2 BLOCKS=1
 * builds: gemm_tiles DTYPE=1 TILE_M=16 TILE_N=128 TILE_K=64 STAGES=4 WARPS_M=1 WARPS_N=4 BLOCKS=1
 */
#include "assay/kernel.h"

typedef struct gemm_args {
  const void *a, *b, *bias;
  void *c;
  int64_t m, n, k;
  int64_t a_stride, b_stride, c_stride;         /* from row to row, in elements */
  uint32_t grid_rows, grid_columns, group_bits; /* in tiles; a group is 1 << group_bits rows of them */
  uint32_t whole_vectors; /* whether every row of C consists of aligned vectors of 16 bytes */
} gemm_args;

#ifdef ASSAY_DEVICE

enum {
  THREADS = 32 * WARPS_M * WARPS_N,
  WARP_M = TILE_M / WARPS_M, /* a warp's part of the tile */
  WARP_N = TILE_N / WARPS_N,
  A_SIZE = TILE_M * TILE_K, /* elements of a stage */
  STAGE_SIZE = A_SIZE + TILE_K * TILE_N
};
enum { HIGH = WARP_M / 16, WIDE = WARP_N / 8, DEEP = TILE_K / 16 }; /* fragments of a warp */

/* Where a chunk of 8 elements lies in a shared tile: a row covers all banks, and eight rows turn. */
static __device__ __forceinline__ unsigned place(unsigned row, unsigned chunk, unsigned columns) {
  return row * columns + (chunk ^ row % 8) * 8;
}

/* The tile at position `pid` of the grouped order (gemm_order.c). */
static __device__ __forceinline__ void tile_at(const gemm_args *args, unsigned pid, unsigned *row,
                                               unsigned *column) {
  const unsigned per_group = args->grid_columns << args->group_bits;
  const unsigned first = pid / per_group << args->group_bits, within = pid % per_group;
  const unsigned left = args->grid_rows - first;
  const bool whole = left >> args->group_bits != 0; /* then there is no second division */
  *column = whole ? within >> args->group_bits : within / left;
  *row = first + within - (whole ? *column << args->group_bits : *column * left);
}

/* ---- products ------------------------------------------------------------------------------------------ */

/* Where this lane's rows of the first fragments lie in a stage. */
typedef struct lane_places {
  unsigned a, b;
} lane_places;

static __device__ __forceinline__ lane_places find_lane(void) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned row = threadIdx.x / 32 / WARPS_N * WARP_M + lane % 16;
  const unsigned chunk = threadIdx.x / 32 % WARPS_N * (WARP_N / 8) + lane / 16;
  lane_places at;
  at.a = place(row, lane / 16, TILE_K);
  at.b = A_SIZE + place(lane % 16, chunk, TILE_N);
  return at;
}

/* The fragments of step `p`, 16 deep, of a stage. A lane names the address of one row of 8 elements. Chunks
 * are counted in powers of two from the lane's first one, so that to go on is to flip bits; further rows turn
 * like the first, as they are 16 apart. */
static __device__ __forceinline__ void load_fragments(uint32_t a[HIGH][4], uint32_t b[WIDE][2],
                                                      const element *stage, lane_places at, int p) {
#pragma unroll
  for (int i = 0; i < HIGH; ++i) ldmatrix_x4(a[i], stage + (at.a ^ p * 16) + i * 16 * TILE_K);
#pragma unroll
  for (int j = 0; j < WIDE; j += 2) ldmatrix_x4_trans(b[j], stage + (at.b ^ j * 8) + p * 16 * TILE_N);
}

/* Row `i` of fragments; back and forth, so that one operand stays. */
static __device__ __forceinline__ void multiply_row(float sums[HIGH][WIDE][4], uint32_t a[HIGH][4],
                                                    uint32_t b[WIDE][2], const int i) {
#pragma unroll
  for (int j = 0; j < WIDE; ++j) {
    const int at = i % 2 == 0 ? j : WIDE - 1 - j;
    mma_m16n8k16(sums[i][at], a[i], b[at]);
  }
}

/* ---- the end of a tile --------------------------------------------------------------------------------- */

/* The bias of this lane's columns. */
static __device__ __forceinline__ void load_bias(float bias[WIDE][2], const gemm_args *args, int64_t column) {
#pragma unroll
  for (int j = 0; j < WIDE * 2; ++j) {
    const int64_t at = column + j / 2 * 8 + threadIdx.x % 4 * 2 + j % 2;
    bias[j / 2][j % 2] = at < args->n ? element_load((const element *)args->bias, at) : 0.0f;
  }
}

/* NaN is not below 0, so it stays. */
static __device__ __forceinline__ float relu(float x) {
  return x < 0.0f ? 0.0f : x;
}

/* Four lanes hold a row of four fragments, each two columns of all. Now lane t gets those of fragment t. */
static __device__ __forceinline__ void transpose(vector16 *words) {
#pragma unroll
  for (int distance = 1; distance <= 2; distance *= 2) {
    const bool upper = (threadIdx.x & distance) != 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if ((k & distance) != 0) continue;
      const uint32_t sent = upper ? words->word[k] : words->word[k + distance];
      const uint32_t got = __shfl_xor_sync(0xffffffffu, sent, distance);
      if (upper) words->word[k] = got;
      if (!upper) words->word[k + distance] = got;
    }
  }
}

/* Bias, relu and the one rounding. row, column: of the warp's first element. */
static __device__ __forceinline__ void store(const gemm_args *args, float sums[HIGH][WIDE][4],
                                             float bias[WIDE][2], int64_t row, int64_t column) {
  element *c = (element *)args->c;
  const int lane = threadIdx.x % 4;
  row += threadIdx.x % 32 / 4;
#pragma unroll
  for (int i = 0; i < HIGH * 2; ++i) {
    const int64_t r = row + i * 8;
#pragma unroll
    for (int j = 0; j < WIDE; j += 4) {
      vector16 words;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const float low = relu(sums[i / 2][j + k][i % 2 * 2] + bias[j + k][0]);
        const float high = relu(sums[i / 2][j + k][i % 2 * 2 + 1] + bias[j + k][1]);
        words.word[k] = element_pack(low, high);
      }
      if (args->whole_vectors) {
        transpose(&words);
        const int64_t at = column + j * 8 + lane * 8;
        if (r < args->m && at < args->n) vector16_store(c + r * args->c_stride + at, words);
        continue;
      }
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        const int64_t at = column + (j + k / 2) * 8 + lane * 2 + k % 2;
        if (r < args->m && at < args->n)
          c[r * args->c_stride + at] = (element)(words.word[k / 2] >> k % 2 * 16);
      }
    }
  }
}

static __device__ __forceinline__ void clear(float sums[HIGH][WIDE][4]) {
#pragma unroll
  for (int i = 0; i < HIGH * WIDE * 4; ++i) sums[i / 4 / WIDE][i / 4 % WIDE][i % 4] = 0.0f;
}

/* ---- copies -------------------------------------------------------------------------------------------- */

/* A thread copies A_COPIES chunks of A and B_COPIES of B a step, all in one column, A_STEP and B_STEP rows
 * apart. In the main loop they are dealt out to the rows of fragments before the step's last 16. */
enum { A_ACROSS = TILE_K / 8, A_STEP = THREADS / A_ACROSS, A_COPIES = TILE_M / A_STEP };
enum { B_ACROSS = TILE_N / 8, B_STEP = THREADS / B_ACROSS, B_COPIES = TILE_K / B_STEP };
enum { SLOTS = (DEEP - 1) * HIGH };
static_assert(TILE_M % A_STEP == 0 && TILE_K % B_STEP == 0, "all threads must have as many chunks to copy");
static_assert(TILE_K >= 64 && TILE_N >= 64, "a row of a tile must cover all banks");

/* What is loaded next: a step along k of a tile. The host half has seen to it that 32 bits count k. */
typedef struct tile_cursor {
  unsigned pid, tiles, row, column; /* the tile */
  int k_left;                       /* columns of A and rows of B from this step on */
  bool inside;                      /* whether the tile is wholly in C */
  const element *a, *b;             /* this thread's first chunk */
} tile_cursor;

static __device__ __forceinline__ void aim(tile_cursor *at, const gemm_args *args) {
  tile_at(args, at->pid, &at->row, &at->column);
  const int64_t row = (int64_t)at->row * TILE_M;
  const int64_t column = (int64_t)at->column * TILE_N;
  at->k_left = (int)args->k;
  at->inside = args->m - row >= TILE_M && args->n - column >= TILE_N;
  at->a =
      (const element *)args->a + (row + threadIdx.x / A_ACROSS) * args->a_stride + threadIdx.x % A_ACROSS * 8;
  at->b = (const element *)args->b + threadIdx.x / B_ACROSS * args->b_stride + column +
          threadIdx.x % B_ACROSS * 8;
}

/* Copy `i` of a step that is wholly inside of A and B. */
static __device__ __forceinline__ void copy_chunk(const tile_cursor *next, element *stage,
                                                  const gemm_args *args, const int i) {
  if (i < A_COPIES) {
    cp_async_16(stage + place(threadIdx.x / A_ACROSS + i * A_STEP, threadIdx.x % A_ACROSS, TILE_K),
                next->a + i * A_STEP * args->a_stride);
  } else {
    const int k = i - A_COPIES;
    cp_async_16(stage + A_SIZE + place(threadIdx.x / B_ACROSS + k * B_STEP, threadIdx.x % B_ACROSS, TILE_N),
                next->b + k * B_STEP * args->b_stride);
  }
}

/* Bytes of a chunk at `column` that are there. */
static __device__ __forceinline__ int bytes_of(int64_t columns_left, int column) {
  const int64_t left = columns_left - column;
  return left <= 0 ? 0 : left < 8 ? (int)left * 2 : 16;
}

/* All copies of a step at an edge: what the matrices do not have becomes 0. */
static __device__ __forceinline__ void copy_edge(const tile_cursor *next, element *stage,
                                                 const gemm_args *args) {
  const unsigned a_row = threadIdx.x / A_ACROSS, a_chunk = threadIdx.x % A_ACROSS;
  const unsigned b_row = threadIdx.x / B_ACROSS, b_chunk = threadIdx.x % B_ACROSS;
  const int64_t rows_left = args->m - (int64_t)next->row * TILE_M;
  const int a_bytes = bytes_of(next->k_left, a_chunk * 8);
  const int b_bytes = bytes_of(args->n - (int64_t)next->column * TILE_N, b_chunk * 8);
#pragma unroll 1
  for (int i = 0; i < A_COPIES; ++i)
    cp_async_16_part(stage + place(a_row + i * A_STEP, a_chunk, TILE_K),
                     next->a + i * A_STEP * args->a_stride, a_row + i * A_STEP < rows_left ? a_bytes : 0);
#pragma unroll 1
  for (int i = 0; i < B_COPIES; ++i)
    cp_async_16_part(stage + A_SIZE + place(b_row + i * B_STEP, b_chunk, TILE_N),
                     next->b + i * B_STEP * args->b_stride,
                     (int)(b_row + i * B_STEP) < next->k_left ? b_bytes : 0);
}

static __device__ __forceinline__ void advance(tile_cursor *next, const gemm_args *args) {
  next->k_left -= TILE_K;
  next->a += TILE_K;
  next->b += TILE_K * args->b_stride;
  if (next->k_left > 0) return;
  next->pid += gridDim.x;
  if (next->pid < next->tiles) aim(next, args);
}

/*
 * A block walks over its tiles and, within a tile, over its steps along k; copies are STAGES - 1 steps ahead
 * of the products, across the end of a tile. Fragments are one step of 16 ahead. All have read a stage to its
 * end when they meet at the barrier of its last 16 steps, so the next step may fill it anew.
 */
KERNEL(gemm_tiles, gemm_args, THREADS, BLOCKS) {
  DYNAMIC_SHARED(memory);
  element *const stages = (element *)memory;
  const lane_places lane = find_lane();
  tile_cursor next;
  next.pid = blockIdx.x;
  next.tiles = args.grid_rows * args.grid_columns;
  aim(&next, &args);
  unsigned row = next.row, column = next.column;
#pragma unroll 1
  for (int s = 0; s < STAGES - 1; ++s) {
    if (next.pid < next.tiles) {
      if (next.inside && next.k_left >= TILE_K) {
#pragma unroll
        for (int i = 0; i < A_COPIES + B_COPIES; ++i) copy_chunk(&next, stages + s * STAGE_SIZE, &args, i);
      } else {
        copy_edge(&next, stages + s * STAGE_SIZE, &args);
      }
      advance(&next, &args);
    }
    cp_async_commit();
  }

  uint32_t a[2][HIGH][4], b[2][WIDE][2];
  float sums[HIGH][WIDE][4], bias[WIDE][2];
  int full = 0;                          /* the stage that is multiplied */
  int empty = (STAGES - 1) * STAGE_SIZE; /* the stage that is filled */
  const int warp_row = threadIdx.x / 32 / WARPS_N * WARP_M;
  const int warp_column = threadIdx.x / 32 % WARPS_N * WARP_N;
  if (HIGH * WIDE <= 16) load_bias(bias, &args, (int64_t)column * TILE_N + warp_column);
  clear(sums);
  cp_async_wait(STAGES - 2);
  __syncthreads();
  load_fragments(a[0], b[0], stages, lane, 0);
  int k_left = (int)args.k;
  for (unsigned pid = blockIdx.x; pid < next.tiles;) {
    const bool feeds = next.pid < next.tiles;
    const bool inside = feeds && next.inside && next.k_left >= TILE_K;
    const bool ends = k_left <= TILE_K; /* the tile */
    if (feeds && !inside) copy_edge(&next, stages + empty, &args);
#pragma unroll
    for (int p = 0; p < DEEP; ++p) {
      if (p == DEEP - 1) {
        if (feeds) advance(&next, &args);
        cp_async_commit();
        cp_async_wait(STAGES - 2);
        __syncthreads();
        empty = full;
        full = full == (STAGES - 1) * STAGE_SIZE ? 0 : full + STAGE_SIZE;
      }
      if (p < DEEP - 1 || !ends || pid + gridDim.x < next.tiles)
        load_fragments(a[(p + 1) % 2], b[(p + 1) % 2], stages + full, lane, (p + 1) % DEEP);
#pragma unroll
      for (int i = 0; i < HIGH; ++i) {
        multiply_row(sums, a[p % 2], b[p % 2], i);
#pragma unroll
        for (int copy = p * HIGH + i; copy < A_COPIES + B_COPIES && p < DEEP - 1; copy += SLOTS) {
          if (inside) copy_chunk(&next, stages + empty, &args, copy);
        }
      }
    }
    k_left -= TILE_K;
    if (!ends) continue;
    if (HIGH * WIDE > 16) load_bias(bias, &args, (int64_t)column * TILE_N + warp_column);
    store(&args, sums, bias, (int64_t)row * TILE_M + warp_row, (int64_t)column * TILE_N + warp_column);
    pid += gridDim.x;
    if (pid >= next.tiles) return;
    tile_at(&args, pid, &row, &column);
    if (HIGH * WIDE <= 16) load_bias(bias, &args, (int64_t)column * TILE_N + warp_column);
    clear(sums);
    k_left = (int)args.k;
  }
}

#else
#include "cuda_driver.h"

assay_kernel assay_gemm_tiles;

typedef struct gemm_tiling {
  int64_t tile_m, tile_n, tile_k, stages, warps_m, warps_n, blocks; /* the defines of the kernel */
  int64_t cost; /* of a wave of tiles, in the unit of the others: as an H200 took them */
} gemm_tiling;

static const gemm_tiling tilings[] = {
    {16, 128, 64, 4, 1, 4, 1, 85},  {32, 64, 128, 3, 2, 2, 1, 79},   {64, 64, 64, 4, 2, 2, 2, 170},
    {64, 128, 64, 4, 2, 4, 1, 165}, {128, 128, 64, 4, 2, 4, 1, 240}, {128, 256, 64, 3, 2, 4, 1, 420},
};

static int64_t tile_count(const gemm_tiling *tiling, int64_t m, int64_t n) {
  return (m + tiling->tile_m - 1) / tiling->tile_m * ((n + tiling->tile_n - 1) / tiling->tile_n);
}

static int64_t shared_bytes(const gemm_tiling *tiling) {
  return tiling->stages * tiling->tile_k * (tiling->tile_m + tiling->tile_n) * 2;
}

/* The tiles whose waves cost least, of the height that was asked for. Those of every height fit every GPU. */
static const gemm_tiling *choose(int64_t m, int64_t n, int64_t tile_m, const cuda_device_info *info) {
  const gemm_tiling *best = NULL;
  int64_t least = INT64_MAX;
  for (size_t i = 0; i < sizeof tilings / sizeof tilings[0]; i++) {
    const gemm_tiling *one = &tilings[i];
    const int64_t waves = (tile_count(one, m, n) - 1) / (one->blocks * info->multiprocessors) + 1;
    const bool fits = shared_bytes(one) <= info->shared_bytes_most;
    if (!fits || (tile_m != 0 && one->tile_m != tile_m) || waves * one->cost >= least) continue;
    best = one;
    least = waves * one->cost;
  }
  return best;
}

/* Rows of A and B begin at multiples of 16 bytes, and 32 bits count k and tiles. */
assay_status assay_gemm_tiles(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                              assay_queue *queue) {
  const assay_tensor *a = &in[ASSAY_FUSED_GEMM_A];
  const assay_tensor *b = &in[ASSAY_FUSED_GEMM_B];
  const assay_tensor *c = &out[ASSAY_FUSED_GEMM_C];
  const int64_t group = opt[ASSAY_FUSED_GEMM_GROUP] != 0 ? opt[ASSAY_FUSED_GEMM_GROUP] : 8;
  cuda_device_info info = {.multiprocessors = 8, .shared_bytes_most = 227 << 10}; /* the emulator has any */
  assay_message why;
  if (queue->device != ASSAY_DEVICE_EMULATOR) {
    const assay_status status = assay_cuda_device(queue->device, &info, &why);
    if (status != ASSAY_OK) return status;
  }
  const gemm_tiling *tiling = choose(c->shape[0], c->shape[1], opt[ASSAY_FUSED_GEMM_TILE_M], &info);
  const gemm_args args = {.a = a->data,
                          .b = b->data,
                          .bias = in[ASSAY_FUSED_GEMM_BIAS].data,
                          .c = c->data,
                          .m = c->shape[0],
                          .n = c->shape[1],
                          .k = a->shape[1],
                          .a_stride = a->stride[0],
                          .b_stride = b->stride[0],
                          .c_stride = c->stride[0],
                          .grid_rows = (uint32_t)((c->shape[0] + tiling->tile_m - 1) / tiling->tile_m),
                          .grid_columns = (uint32_t)((c->shape[1] + tiling->tile_n - 1) / tiling->tile_n),
                          .group_bits = group == 8   ? 3
                                        : group == 4 ? 2
                                                     : 0,
                          .whole_vectors =
                              (uintptr_t)c->data % 16 == 0 && c->stride[0] % 8 == 0 && c->shape[1] % 8 == 0};
  const assay_define defines[] = {
      {"DTYPE", a->dtype},          {"TILE_M", tiling->tile_m}, {"TILE_N", tiling->tile_n},
      {"TILE_K", tiling->tile_k},   {"STAGES", tiling->stages}, {"WARPS_M", tiling->warps_m},
      {"WARPS_N", tiling->warps_n}, {"BLOCKS", tiling->blocks}, {NULL, 0}};
  const int64_t tiles = tile_count(tiling, args.m, args.n);
  const int64_t most = tiling->blocks * info.multiprocessors; /* further tiles are the kernel's loop's */
  return LAUNCH(queue, "gemm_tiles", assay_dim(tiles < most ? tiles : most),
                assay_dim(32 * tiling->warps_m * tiling->warps_n), shared_bytes(tiling), 1, defines, args);
}

#endif
