/* SPDX-License-Identifier: MIT */
/*
 * gemm_blocked_simd.h - the algorithm that all CPU variants share, written over a small vocabulary that each
 * of them defines before it includes this file:
 *
 *   GEMM_STEPS                       steps along k in a word of a panel: 1 (a float) or 2 (a pair of BF16)
 *   GEMM_MR, GEMM_NR, gemm_micro     a block of C in registers over a panel, see gemm_micro_avx512.h
 *   gemm_pack_a(...)                 rows of A as a panel: groups of GEMM_MR words
 *   gemm_pack_b(...)                 up to GEMM_STEPS rows of B as one group of GEMM_NR words
 *   gemm_finish(...)                 a row of sums: plus bias, relu, one rounding, stored
 *
 * C is cut into blocks, and k into stretches. For each stretch the rows of A and the columns of B that a
 * block needs are widened and packed once, into panels that the micro-kernel reads from front to back; then
 * the block's tiles are walked in grouped order. Sums stay in FP32 from the first stretch to the last, when
 * bias, relu and the rounding follow while a tile is still in a near cache.
 *
 * An element's sum is one chain in each stretch, and one chain over the stretches: neither tiles nor threads
 * change a bit of it.
 */
#ifndef ASSAY_GEMM_BLOCKED_SIMD_H
#define ASSAY_GEMM_BLOCKED_SIMD_H

#include <stdatomic.h>
#include <stdbool.h>

#include "gemm.h"

enum {
  DEPTH = 384,             /* steps of a stretch along k: a panel of B then fits a first-level cache; even */
  BLOCK_ROWS = 1024,       /* of C; rounded to whole tiles */
  BLOCK_COLUMNS = 2048,    /* its packed columns of B take 3 MiB */
  TILE_ROWS = 4 * GEMM_MR, /* where the knob says nothing */
  TILE_PANELS = 8,         /* panels of B in a tile, fewer where threads would stay idle */
  GROUP = 8,               /* where the knob says nothing */
  PACK_PANELS = 4,         /* panels of B that are packed together, a stretch of memory for each row */
  TILES_FOR_A_THREAD = 4,  /* so that threads end at about the same time */
  LINE_FLOATS = 16,        /* of a cache line */
  PARALLEL_ELEMENTS_LEAST = 65536, /* below, threads cost more than they bring */
  PRODUCTS_AT_ONCE = 16,
  THIN_MOST = 4,           /* rows or columns that are too few to be packed for ... */
  LONG_LEAST = 64,         /* ... where the other side of the matrix is as long as this */
  GEMM_NO_EXPONENT = 1000, /* higher than any: of a panel without a number but 0 */
};

/* The least biased exponents of A and B, zeros left out, of all panels so far. */
typedef struct gemm_lowest {
  int (*find)(const float *panel, int64_t words); /* that of a panel */
  atomic_int a;
  atomic_int b;
} gemm_lowest;

/* What every thread of a call shares. */
typedef struct gemm_task {
  const uint16_t *a;
  const uint16_t *b;
  const uint16_t *bias;
  uint16_t *c;
  int64_t a_step; /* elements from row to row */
  int64_t b_step;
  assay_dtype dtype;
  int64_t m;
  int64_t n;
  int64_t k;
  int threads;

  int64_t group;
  int64_t tile_rows;
  int64_t tile_columns;  /* a multiple of GEMM_NR */
  int64_t tile_panels;   /* panels of A in a tile */
  int64_t block_rows;    /* a multiple of tile_rows */
  int64_t block_columns; /* a multiple of tile_columns */

  float *packed_a; /* [panel][group][GEMM_MR], of the current block and stretch; words, not always floats */
  float *packed_b; /* [panel][group][GEMM_NR] */
  float *sums;     /* of the block, or a tile for each thread where k is a single stretch */
  int64_t sums_step;

  int64_t row; /* the current block: C[row.., column..] of rows x columns elements */
  int64_t column;
  int64_t rows;
  int64_t columns;
  int64_t start; /* the current stretch: steps [start, start + depth) along k */
  int64_t depth;
  int64_t groups; /* its groups of words */

  gemm_lowest *lowest; /* NULL where all numbers suit gemm_micro */
} gemm_task;

static inline int64_t gemm_least(int64_t x, int64_t y) {
  return x < y ? x : y;
}

static inline int64_t gemm_parts(int64_t whole, int64_t part) {
  return (whole + part - 1) / part;
}

/* Calls run(task, index) for 0..count-1, in one run of neighbours on each thread. `elements` says how much
 * work that is in all: little work is done before other threads have woken up. */
static inline void gemm_parallel(void (*run)(const gemm_task *task, int64_t index, int thread),
                                 const gemm_task *task, int64_t count, int64_t elements) {
  const int threads = elements >= PARALLEL_ELEMENTS_LEAST ? (int)gemm_least(task->threads, count) : 1;
  if (threads <= 1) {
    for (int64_t index = 0; index < count; ++index) run(task, index, 0);
    return;
  }
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads) schedule(static, 1)
#endif
  for (int thread = 0; thread < threads; ++thread) {
    const int64_t last = count * (thread + 1) / threads;
    for (int64_t index = count * thread / threads; index < last; ++index) run(task, index, thread);
  }
}

/* ---- packing ------------------------------------------------------------------------------------------- */

/* Takes what a panel holds into account, for gemm_suits. */
static inline void gemm_note(const gemm_task *task, bool is_a, const float *panel, int64_t words) {
  if (task->lowest == NULL) return;
  atomic_int *least = is_a ? &task->lowest->a : &task->lowest->b;
  const int found = task->lowest->find(panel, words);
  int known = atomic_load_explicit(least, memory_order_relaxed);
  while (found < known && !atomic_compare_exchange_weak_explicit(least, &known, found, memory_order_relaxed,
                                                                 memory_order_relaxed)) {
  }
}

/*
 * Whether gemm_micro may multiply pairs of what has been packed so far. Its instruction takes subnormal
 * numbers for 0 and makes them 0. Numbers of exponents a and b are multiples of 2^(a-134) and 2^(b-134), and
 * so their products, and all sums of these however rounded, of 2^(a+b-268): none is subnormal from 2^-126 on.
 */
static inline bool gemm_suits(const gemm_task *task) {
  if (task->lowest == NULL) return true;
  const int a = atomic_load_explicit(&task->lowest->a, memory_order_relaxed);
  const int b = atomic_load_explicit(&task->lowest->b, memory_order_relaxed);
  return a > 0 && b > 0 && a + b >= 142;
}

/* Panel `index` of A. Panels begin anew with each tile, whose rows are no multiple of GEMM_MR when the knob
 * says so. */
static void gemm_run_pack_a(const gemm_task *task, int64_t index, int thread) {
  (void)thread;
  const int64_t tile = index / task->tile_panels;
  const int64_t within = index % task->tile_panels * GEMM_MR;
  const int64_t row = tile * task->tile_rows + within;
  const int64_t end = gemm_least(task->rows, (tile + 1) * task->tile_rows);
  if (row >= end) return;
  float *panel = task->packed_a + index * task->groups * GEMM_MR;
  gemm_pack_a(panel, task->a + (task->row + row) * task->a_step + task->start, task->a_step,
              (int)gemm_least(end - row, GEMM_MR), task->depth, task->dtype);
  gemm_note(task, true, panel, task->groups * GEMM_MR);
}

/* A few neighbouring panels of B, one group of rows after another. */
static void gemm_run_pack_b(const gemm_task *task, int64_t index, int thread) {
  (void)thread;
  const int64_t first = index * PACK_PANELS * GEMM_NR;
  const int64_t last = gemm_least(task->columns, first + PACK_PANELS * GEMM_NR);
  const uint16_t *from = task->b + task->start * task->b_step + task->column;
  for (int64_t p = 0; p < task->depth; p += GEMM_STEPS, from += GEMM_STEPS * task->b_step) {
    const int steps = (int)gemm_least(GEMM_STEPS, task->depth - p);
    for (int64_t j = first; j < last; j += GEMM_NR) {
      float *to = task->packed_b + j * task->groups + p / GEMM_STEPS * GEMM_NR;
      gemm_pack_b(to, from + j, task->b_step, steps, (int)gemm_least(last - j, GEMM_NR), task->dtype);
    }
  }
  const int64_t columns = gemm_parts(last - first, GEMM_NR) * GEMM_NR;
  gemm_note(task, false, task->packed_b + first * task->groups, columns * task->groups);
}

/* ---- tiles --------------------------------------------------------------------------------------------- */

/* The tile at position `pid` of the block: sums over this stretch, and the end of the work in the last one.
 */
static void gemm_run_tile(const gemm_task *task, int64_t pid, int thread) {
  const assay_gemm_tile tile = assay_gemm_tile_at(pid, gemm_parts(task->rows, task->tile_rows),
                                                  gemm_parts(task->columns, task->tile_columns), task->group);
  const int64_t row = tile.row * task->tile_rows;
  const int64_t column = tile.column * task->tile_columns;
  const int64_t rows = gemm_least(task->tile_rows, task->rows - row);
  const int64_t columns = gemm_least(task->tile_columns, task->columns - column);
  const bool single = task->depth == task->k;
  float *sums = single ? task->sums + thread * task->tile_rows * task->tile_columns
                       : task->sums + row * task->sums_step + column;
  const float *panel_a = task->packed_a + tile.row * task->tile_panels * task->groups * GEMM_MR;
  for (int64_t j = 0; j < columns; j += GEMM_NR) {
    const float *panel_b = task->packed_b + (column + j) * task->groups;
    for (int64_t i = 0; i < rows; i += GEMM_MR) {
      gemm_micro(task->groups, panel_a + i * task->groups, panel_b, sums + i * task->sums_step + j,
                 task->sums_step, (int)gemm_least(rows - i, GEMM_MR), (int)gemm_least(columns - j, GEMM_NR),
                 task->start > 0);
    }
  }
  if (task->start + task->depth < task->k) return;
  const int64_t at = task->column + column;
  for (int64_t i = 0; i < rows; ++i) {
    gemm_finish(task->c + (task->row + row + i) * task->n + at, sums + i * task->sums_step, task->bias + at,
                columns, task->dtype);
  }
}

/* False where the numbers do not suit: the block is then not finished. */
static bool gemm_run_block(gemm_task *task) {
  const int64_t tile_rows = gemm_parts(task->rows, task->tile_rows);
  const int64_t tile_columns = gemm_parts(task->columns, task->tile_columns);
  for (task->start = 0; task->start < task->k; task->start += task->depth) {
    task->depth = gemm_least(DEPTH, task->k - task->start);
    task->groups = gemm_parts(task->depth, GEMM_STEPS);
    gemm_parallel(gemm_run_pack_b, task, gemm_parts(task->columns, PACK_PANELS * GEMM_NR),
                  task->columns * task->depth);
    gemm_parallel(gemm_run_pack_a, task, tile_rows * task->tile_panels, task->rows * task->depth);
    if (!gemm_suits(task)) return false;
    /* A vector of products takes about as long as an element that is packed. */
    gemm_parallel(gemm_run_tile, task, tile_rows * tile_columns,
                  task->rows * task->columns * task->groups / PRODUCTS_AT_ONCE);
  }
  return true;
}

/* ---- the whole operator -------------------------------------------------------------------------------- */

/* Sizes of tiles and blocks. Only the order of work depends on the threads, never a sum. */
static void gemm_plan(gemm_task *task, const int64_t *opt) {
  task->group = opt[ASSAY_FUSED_GEMM_GROUP] != 0 ? opt[ASSAY_FUSED_GEMM_GROUP] : GROUP;
  task->tile_rows = opt[ASSAY_FUSED_GEMM_TILE_M] != 0 ? opt[ASSAY_FUSED_GEMM_TILE_M] : TILE_ROWS;
  task->tile_panels = gemm_parts(task->tile_rows, GEMM_MR);
  const int64_t tiles_down = gemm_parts(task->m, task->tile_rows);
  int64_t panels = gemm_least(TILE_PANELS, gemm_parts(task->n, GEMM_NR));
  while (panels > 1 &&
         tiles_down * gemm_parts(task->n, panels * GEMM_NR) < (int64_t)task->threads * TILES_FOR_A_THREAD) {
    panels = (panels + 1) / 2;
  }
  task->tile_columns = panels * GEMM_NR;
  task->block_rows = gemm_least(gemm_parts(BLOCK_ROWS, task->tile_rows), tiles_down) * task->tile_rows;
  task->block_columns =
      gemm_least(BLOCK_COLUMNS / task->tile_columns, gemm_parts(task->n, task->tile_columns)) *
      task->tile_columns;
}

/* One piece of scratch, cut in three. */
static bool gemm_take_scratch(gemm_task *task, assay_queue *queue) {
  const int64_t groups = gemm_parts(gemm_least(DEPTH, task->k), GEMM_STEPS);
  const int64_t panels = task->block_rows / task->tile_rows * task->tile_panels;
  const int64_t a_floats = gemm_parts(panels * GEMM_MR * groups, LINE_FLOATS) * LINE_FLOATS;
  const int64_t b_floats = task->block_columns * groups;
  const bool single = task->k <= DEPTH;
  const int64_t sums =
      single ? task->threads * task->tile_rows * task->tile_columns : task->block_rows * task->block_columns;
  float *scratch = assay_queue_scratch(queue, (size_t)(a_floats + b_floats + sums) * sizeof(float));
  if (scratch == NULL) return false;
  task->packed_b = scratch; /* rows of whole lines */
  task->packed_a = scratch + b_floats;
  task->sums = task->packed_a + a_floats;
  task->sums_step = single ? task->tile_columns : task->block_columns;
  return true;
}

/* No products: every row is relu(bias), and a and b may be no memory at all. */
static void gemm_bias_only(const gemm_task *task) {
  const float zeros[GEMM_NR] = {0};
  for (int64_t i = 0; i < task->m; ++i) {
    for (int64_t j = 0; j < task->n; j += GEMM_NR) {
      gemm_finish(task->c + i * task->n + j, zeros, task->bias + j, gemm_least(GEMM_NR, task->n - j),
                  task->dtype);
    }
  }
}

/* A call's operands, threads and nothing else. */
static inline gemm_task gemm_describe(const assay_tensor *in, const assay_tensor *out,
                                      const assay_queue *queue) {
  const assay_tensor *a = &in[ASSAY_FUSED_GEMM_A];
  const assay_tensor *b = &in[ASSAY_FUSED_GEMM_B];
  return (gemm_task){.a = a->data,
                     .b = b->data,
                     .bias = in[ASSAY_FUSED_GEMM_BIAS].data,
                     .c = out[ASSAY_FUSED_GEMM_C].data,
                     .a_step = a->shape[0] > 1 ? a->stride[0] : 0, /* of one row it may be anything */
                     .b_step = b->shape[0] > 1 ? b->stride[0] : 0,
                     .dtype = a->dtype,
                     .m = a->shape[0],
                     .n = b->shape[1],
                     .k = a->shape[1],
                     .threads = queue->threads};
}

/* Whether gemm_thin_simd.h is for this call. */
static inline bool gemm_is_thin(const gemm_task *task) {
  if (task->m == 0 || task->n == 0) return false;
  if (task->n <= THIN_MOST) return task->k >= LONG_LEAST;
  return task->m <= THIN_MOST && task->n >= LONG_LEAST && task->k > 0;
}

/* ASSAY_UNAVAILABLE where there are numbers that do not suit: what c then holds is to be written again.
 * Whether there are depends on the values alone, as all of them are looked at. */
static assay_status gemm_blocked(gemm_task *task, const int64_t *opt, assay_queue *queue) {
  if (task->m == 0 || task->n == 0) return ASSAY_OK;
  if (task->k == 0) {
    gemm_bias_only(task);
    return ASSAY_OK;
  }
  gemm_plan(task, opt);
  if (!gemm_take_scratch(task, queue)) return ASSAY_NO_MEMORY;
  for (task->column = 0; task->column < task->n; task->column += task->block_columns) {
    task->columns = gemm_least(task->block_columns, task->n - task->column);
    for (task->row = 0; task->row < task->m; task->row += task->block_rows) {
      task->rows = gemm_least(task->block_rows, task->m - task->row);
      if (!gemm_run_block(task)) return ASSAY_UNAVAILABLE;
    }
  }
  return ASSAY_OK;
}

#endif
