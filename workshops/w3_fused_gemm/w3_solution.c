/* SPDX-License-Identifier: MIT */
/*
 * w3_solution.c - the fused GEMM, written to be read. The lesson beside it derives every step.
 *
 * C is cut into tiles. The sums of a tile stay in FP32, in scratch, until the last step along k; then each of
 * them gets its bias, goes through relu and is rounded, once, into C.
 */
#include "assay/workshop.h"

/* A row of a tile: long enough for vectors, and short enough that a whole tile of sums stays in a near cache.
 */
enum { TILE_COLUMNS = 64, TILE_ROWS_DEFAULT = 32, GROUP_DEFAULT = 8 };

/* Problems smaller than this are done before other threads have woken up. */
enum { PARALLEL_ELEMENTS = 65536 };

/* The compiler holds the definition below to the signature that is called. */
ASSAY_API assay_kernel fused_gemm;

/* What every tile needs to know. */
typedef struct problem {
  const assay_tensor *a;
  const assay_tensor *b;
  const assay_tensor *bias;
  const assay_tensor *c;
  int64_t tile_rows;
  int64_t grid_rows; /* tiles from top to bottom */
  int64_t grid_columns;
  int64_t group; /* rows of tiles that are walked together */
} problem;

static int64_t least(int64_t x, int64_t y) {
  return x < y ? x : y;
}

/*
 * The tile that is walked at position `pid`: group after group of rows of tiles; inside a group column after
 * column. The last group may have fewer rows than the others, and its columns are as high as it is.
 */
static void tile_at(const problem *of, int64_t pid, int64_t *row, int64_t *column) {
  const int64_t per_group = of->group * of->grid_columns;
  const int64_t first = pid / per_group * of->group;
  const int64_t size = least(of->group, of->grid_rows - first);
  *row = first + pid % per_group % size;
  *column = pid % per_group / size;
}

/* sums[i][j] = sum over p of A[top + i, p] * B[p, left + j], for rows x columns elements. */
static void add_products(const problem *of, int64_t top, int64_t left, int64_t rows, int64_t columns,
                         float *sums) {
  const assay_dtype dtype = of->a->dtype;
  const int64_t depth = of->a->shape[1];
  float b_row[TILE_COLUMNS];
  for (int64_t i = 0; i < rows * TILE_COLUMNS; i++) sums[i] = 0;
  for (int64_t p = 0; p < depth; p++) {
    /* One step along k: a row of B, widened once, goes into every row of the tile. */
    for (int64_t j = 0; j < columns; j++) {
      b_row[j] = assay_load(of->b->data, dtype, p * of->b->stride[0] + left + j);
    }
    for (int64_t i = 0; i < rows; i++) {
      const float factor = assay_load(of->a->data, dtype, (top + i) * of->a->stride[0] + p);
      float *row = sums + i * TILE_COLUMNS;
      for (int64_t j = 0; j < columns; j++) row[j] += factor * b_row[j];
    }
  }
}

/* NaN is not below 0, so it stays; `sum > 0 ? sum : 0` would turn it into 0. */
static float relu(float sum) {
  return sum < 0 ? 0 : sum;
}

static void compute_tile(const problem *of, int64_t pid, float *sums) {
  int64_t row, column;
  tile_at(of, pid, &row, &column);
  const int64_t top = row * of->tile_rows;
  const int64_t left = column * TILE_COLUMNS;
  /* Tiles at the edges own what is left of C, and touch nothing beyond it. */
  const int64_t rows = least(of->tile_rows, of->c->shape[0] - top);
  const int64_t columns = least(TILE_COLUMNS, of->c->shape[1] - left);

  add_products(of, top, left, rows, columns, sums);
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) {
      const float sum = sums[i * TILE_COLUMNS + j] + assay_load(of->bias->data, of->bias->dtype, left + j);
      /* C is contiguous. This store is the only rounding to 16 bits. */
      assay_store(of->c->data, of->c->dtype, (top + i) * of->c->shape[1] + left + j, relu(sum));
    }
  }
}

assay_status fused_gemm(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                        assay_queue *queue) {
  problem of = {.a = &in[ASSAY_FUSED_GEMM_A],
                .b = &in[ASSAY_FUSED_GEMM_B],
                .bias = &in[ASSAY_FUSED_GEMM_BIAS],
                .c = &out[ASSAY_FUSED_GEMM_C],
                .tile_rows = opt[ASSAY_FUSED_GEMM_TILE_M],
                .group = opt[ASSAY_FUSED_GEMM_GROUP]};
  if (of.tile_rows == 0) of.tile_rows = TILE_ROWS_DEFAULT;
  if (of.group == 0) of.group = GROUP_DEFAULT;
  const int64_t m = of.c->shape[0];
  const int64_t n = of.c->shape[1];
  of.grid_rows = (m + of.tile_rows - 1) / of.tile_rows;
  of.grid_columns = (n + TILE_COLUMNS - 1) / TILE_COLUMNS;
  const int64_t tiles = of.grid_rows * of.grid_columns; /* none when m or n is 0 */

  /* Every thread gets the sums of one tile. */
  const int64_t k = of.a->shape[1];
  const int threads = m * n + (m + n) * k >= PARALLEL_ELEMENTS ? queue->threads : 1;
  const int64_t tile_size = of.tile_rows * TILE_COLUMNS;
  float *scratch = assay_queue_scratch(queue, (size_t)(threads * tile_size) * sizeof(float));
  if (scratch == NULL) return ASSAY_NO_MEMORY;

#pragma omp parallel for num_threads(threads) schedule(static, 1) if (threads > 1)
  for (int t = 0; t < threads; t++) {
    /* One iteration is one thread's share: neighbours in the walk, and no tile twice. */
    const int64_t last = tiles * (t + 1) / threads;
    for (int64_t pid = tiles * t / threads; pid < last; pid++) {
      compute_tile(&of, pid, scratch + t * tile_size);
    }
  }
  return ASSAY_OK;
}
