/* SPDX-License-Identifier: MIT */
/*
 * w3_solution.cu - the fused GEMM on a GPU, written to be read. The lesson's second half derives every step.
 *
 * A block owns a tile of C, and each of its warps 16 rows of that tile. Tiles of A and B pass through shared
 * memory, TILE_K steps along k at a time; the tensor cores add their products to sums that stay in registers
 * until bias, relu and the one rounding.
 *
 * builds: gemm_tiles DTYPE=1,2 TILE_M=16,32,64
 */
#include "assay/kernel.h"

/* PAD: elements that nobody uses behind each row of a shared tile, so that the eight rows that a warp fetches
 * in one step lie in different banks. Every row still begins at a multiple of 16 bytes. */
enum { TILE_N = 64, TILE_K = 32, PAD = 8 };

typedef struct gemm_args {
  const void *a;
  const void *b;
  const void *bias;
  void *c;
  int64_t m, n, k;
  int64_t a_stride, b_stride; /* from row to row, in elements; c is contiguous */
  int64_t grid_rows, grid_columns, group;
} gemm_args;

#ifdef ASSAY_DEVICE

/* TILE_M is the knob's value. 16 rows a warp. */
enum { THREADS = TILE_M / 16 * 32 };

/* The tile that is walked at position `pid`: group after group of rows of tiles; inside a group column after
 * column. The last group has the rows that are left, and its columns are as high as it is. */
static __device__ void tile_at(const gemm_args *args, int64_t pid, int64_t *row, int64_t *column) {
  const int64_t per_group = args->group * args->grid_columns;
  const int64_t first = pid / per_group * args->group;
  const int64_t left = args->grid_rows - first;
  const int64_t size = left < args->group ? left : args->group;
  *row = first + pid % per_group % size;
  *column = pid % per_group / size;
}

/*
 * All threads fill a shared tile of rows x columns. Of the matrix at `from`, only rows_left x columns_left
 * elements are there; the rest of the tile becomes 0. Neighbouring threads read neighbouring columns, one
 * element each: a row may begin at any even address, so nothing wider would be aligned.
 */
static __device__ void load_tile(element *tile, int rows, int columns, const element *from, int64_t stride,
                                 int64_t rows_left, int64_t columns_left) {
  for (int i = threadIdx.x; i < rows * columns; i += THREADS) {
    const int r = i / columns;
    const int c = i % columns;
    element value = 0; /* of either type */
    if (r < rows_left && c < columns_left) value = from[r * stride + c];
    tile[r * (columns + PAD) + c] = value;
  }
}

/* NaN is not below 0, so it stays. */
static __device__ float relu(float x) {
  return x < 0.0f ? 0.0f : x;
}

KERNEL(gemm_tiles, gemm_args, THREADS) {
  __shared__ __align__(16) element a_tile[TILE_M][TILE_K + PAD];
  __shared__ __align__(16) element b_tile[TILE_K][TILE_N + PAD];
  const element *bias = (const element *)args.bias;
  const int warp_row = threadIdx.x / 32 * 16; /* the warp's first row in the tile */
  const int lane = threadIdx.x % 32;

  /* There may be more tiles than a grid has blocks: a block goes on with the next tile that is its own. */
  const int64_t tiles = args.grid_rows * args.grid_columns;
  for (int64_t pid = blockIdx.x; pid < tiles; pid += gridDim.x) {
    int64_t tile_row, tile_column;
    tile_at(&args, pid, &tile_row, &tile_column);
    const int64_t top = tile_row * TILE_M;
    const int64_t left = tile_column * TILE_N;

    /* This lane's part of the warp's 16 x 64 sums: 8 fragments of 16 x 8, four sums of each. */
    float sums[TILE_N / 8][4] = {{0.0f}};
    for (int64_t step = 0; step < args.k; step += TILE_K) {
      load_tile(&a_tile[0][0], TILE_M, TILE_K, (const element *)args.a + top * args.a_stride + step,
                args.a_stride, args.m - top, args.k - step);
      load_tile(&b_tile[0][0], TILE_K, TILE_N, (const element *)args.b + step * args.b_stride + left,
                args.b_stride, args.k - step, args.n - left);
      __syncthreads(); /* everybody's part of the tiles is there */
      for (int p = 0; p < TILE_K; p += 16) {
        /* Each lane names the address of one row of 8 elements, and gets the pairs that mma wants of it. */
        uint32_t a[4], b[4];
        ldmatrix_x4(a, &a_tile[warp_row + lane % 16][p + lane / 16 * 8]);
        for (int j = 0; j < TILE_N; j += 16) {
          ldmatrix_x4_trans(b, &b_tile[p + lane % 16][j + lane / 16 * 8]);
          mma_m16n8k16(sums[j / 8], a, b);
          mma_m16n8k16(sums[j / 8 + 1], a, b + 2);
        }
      }
      __syncthreads(); /* nobody reads the tiles any more: they may be overwritten */
    }

    /* With k = 0 the sums are still 0, and C is relu(bias). */
    for (int i = 0; i < TILE_N / 8 * 4; ++i) {
      const int64_t row = top + warp_row + lane / 4 + i % 4 / 2 * 8;
      const int64_t column = left + i / 4 * 8 + lane % 4 * 2 + i % 2;
      if (row >= args.m || column >= args.n) continue;
      /* The store is the only rounding to 16 bits. */
      const float x = sums[i / 4][i % 4] + element_load(bias, column);
      element_store((element *)args.c, row * args.n + column, relu(x));
    }
  }
}

#else

ASSAY_API assay_kernel fused_gemm;

assay_status fused_gemm(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                        assay_queue *queue) {
  const assay_tensor *a = &in[ASSAY_FUSED_GEMM_A];
  const assay_tensor *b = &in[ASSAY_FUSED_GEMM_B];
  const int64_t tile_m = opt[ASSAY_FUSED_GEMM_TILE_M] != 0 ? opt[ASSAY_FUSED_GEMM_TILE_M] : 32;
  const int64_t group = opt[ASSAY_FUSED_GEMM_GROUP] != 0 ? opt[ASSAY_FUSED_GEMM_GROUP] : 8;
  const gemm_args args = {.a = a->data,
                          .b = b->data,
                          .bias = in[ASSAY_FUSED_GEMM_BIAS].data,
                          .c = out[ASSAY_FUSED_GEMM_C].data,
                          .m = a->shape[0],
                          .n = b->shape[1],
                          .k = a->shape[1],
                          .a_stride = a->stride[0],
                          .b_stride = b->stride[0],
                          .grid_rows = (a->shape[0] + tile_m - 1) / tile_m,
                          .grid_columns = (b->shape[1] + TILE_N - 1) / TILE_N,
                          .group = group};

  /* A grid of no blocks is an error, and an empty C is not. */
  const int64_t tiles = args.grid_rows * args.grid_columns;
  if (tiles == 0) return ASSAY_OK;

  const int64_t most = 65536; /* blocks; further tiles are the loop's */
  const assay_define defines[] = {{"DTYPE", a->dtype}, {"TILE_M", tile_m}, {NULL, 0}};
  return LAUNCH(queue, "gemm_tiles", assay_dim(tiles < most ? tiles : most), assay_dim(2 * tile_m), 0, 1,
                defines, args);
}

#endif
