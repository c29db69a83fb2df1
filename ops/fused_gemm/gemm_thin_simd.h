/* SPDX-License-Identifier: MIT */
/*
 * gemm_thin_simd.h - products with few rows or few columns, over the words of vec_avx2.h or vec_avx512.h and
 * behind gemm_blocked_simd.h. Each element of the larger matrix is used a few times only: packing it would
 * take longer than multiplying it, so it is widened where it is used, once, in the order in which it lies in
 * memory.
 *
 * Few columns: each row of A is multiplied with columns of B that were widened before, in vectors along k.
 * Few rows: strips of columns take their rows of B a few at a time, and their sums stay in the nearest cache.
 * How sums are grouped depends on the sizes only.
 */
#ifndef ASSAY_GEMM_THIN_SIMD_H
#define ASSAY_GEMM_THIN_SIMD_H

#include "gemm.h"

enum {
  STRIP_COLUMNS = 1024, /* four rows of sums then take 16 KiB */
  STRIP_LEAST = 64,     /* where more threads than strips are there: still whole lines of B */
  STEPS_AT_ONCE = 8,    /* rows of B for which sums are loaded and stored once */
};

/* A matrix of up to THIN_MOST rows with this many looks to the loops as if it had 1, 2 or 4; the others are
 * 0.
 */
static inline int gemm_thin_width(int64_t few) {
  return few > 2 ? THIN_MOST : (int)few;
}

static inline int64_t gemm_vectors(int64_t count) {
  return gemm_parts(count, VEC_LANES) * VEC_LANES;
}

/* ---- few columns --------------------------------------------------------------------------------------- */

/* Column j of B at packed_b + j*packed_step, with zeros up to a whole vector. */
static void gemm_widen_columns(const gemm_task *task, int width, int64_t packed_step) {
  memset(task->packed_b, 0, (size_t)(width * packed_step) * sizeof *task->packed_b);
  for (int64_t p = 0; p < task->k; ++p) {
    float row[VEC_LANES];
    const char *from = (const char *)(task->b + p * task->b_step);
    vec_store_scratch(row, vec_load_part(from, task->dtype, 0, (int)task->n, vec_set1(0.0f)));
    for (int64_t j = 0; j < task->n; ++j) task->packed_b[j * packed_step + p] = row[j];
  }
}

/* `width` and `dtype` are constants wherever this is expanded. Eight sums are on their way at any time. */
VOCABULARY void gemm_dot_rows(const gemm_task *task, int64_t first, int64_t last, const int width,
                              const assay_dtype dtype) {
  const int chains = 8 / width;
  const int64_t packed_step = gemm_vectors(task->k);
  for (int64_t i = first; i < last; ++i) {
    const char *row = (const char *)(task->a + i * task->a_step);
    vec sum[8];
#pragma GCC unroll 8
    for (int s = 0; s < 8; ++s) sum[s] = vec_set1(0.0f);
    int64_t p = 0;
    for (; p + chains * VEC_LANES <= task->k; p += chains * VEC_LANES) {
#pragma GCC unroll 8
      for (int s = 0; s < 8; ++s) {
        const int64_t at = p + s / width * VEC_LANES;
        const vec column = vec_load_scratch(task->packed_b + s % width * packed_step + at);
        sum[s] = vec_fma(vec_load(row, dtype, at), column, sum[s]);
      }
    }
    for (; p < task->k; p += VEC_LANES) {
      const int left = (int)gemm_least(VEC_LANES, task->k - p);
      const vec part = vec_load_part(row, dtype, p, left, vec_set1(0.0f));
#pragma GCC unroll 4
      for (int j = 0; j < width; ++j) {
        sum[j] = vec_fma(part, vec_load_scratch(task->packed_b + j * packed_step + p), sum[j]);
      }
    }
    float total[VEC_LANES]; /* of which gemm_finish reads n */
#pragma GCC unroll 4
    for (int j = 0; j < width; ++j) {
      vec all = sum[j];
#pragma GCC unroll 8
      for (int s = 1; s < chains; ++s) all = vec_add(all, sum[s * width + j]);
      total[j] = vec_hsum(all);
    }
    gemm_finish(task->c + i * task->n, total, task->bias, task->n, dtype);
  }
}

VOCABULARY void gemm_dot_rows_of(const gemm_task *task, int64_t first, int64_t last, const int width) {
  if (task->dtype == ASSAY_FP16) {
    gemm_dot_rows(task, first, last, width, ASSAY_FP16);
  } else {
    gemm_dot_rows(task, first, last, width, ASSAY_BF16);
  }
}

/* Some neighbouring rows. */
static void gemm_run_dots(const gemm_task *task, int64_t index, int thread) {
  (void)thread;
  const int64_t first = index * task->tile_rows;
  const int64_t last = gemm_least(task->m, first + task->tile_rows);
  const int width = gemm_thin_width(task->n);
  if (width == 1) {
    gemm_dot_rows_of(task, first, last, 1);
  } else if (width == 2) {
    gemm_dot_rows_of(task, first, last, 2);
  } else {
    gemm_dot_rows_of(task, first, last, THIN_MOST);
  }
}

static assay_status gemm_few_columns(gemm_task *task, assay_queue *queue) {
  const int width = gemm_thin_width(task->n);
  const int64_t packed_step = gemm_vectors(task->k);
  task->packed_b = assay_queue_scratch(queue, (size_t)(width * packed_step) * sizeof(float));
  if (task->packed_b == NULL) return ASSAY_NO_MEMORY;
  gemm_widen_columns(task, width, packed_step);
  task->tile_rows = TILE_ROWS;
  gemm_parallel(gemm_run_dots, task, gemm_parts(task->m, task->tile_rows), task->m * task->k);
  return ASSAY_OK;
}

/* ---- few rows ------------------------------------------------------------------------------------------ */

/* Step p of A at packed_a + p*width; rows that are missing become 0. */
static void gemm_widen_rows(const gemm_task *task, int width) {
  memset(task->packed_a, 0, (size_t)(width * task->k) * sizeof *task->packed_a);
  for (int64_t r = 0; r < task->m; ++r) {
    const char *from = (const char *)(task->a + r * task->a_step);
    for (int64_t p = 0; p < task->k; p += VEC_LANES) {
      float some[VEC_LANES];
      const int count = (int)gemm_least(VEC_LANES, task->k - p);
      vec_store_scratch(some, vec_load_part(from, task->dtype, p, count, vec_set1(0.0f)));
      for (int i = 0; i < count; ++i) task->packed_a[(p + i) * width + r] = some[i];
    }
  }
}

/* Adds `steps` steps from p on to the sums of columns j..j+lanes-1. All but task, p and j are constants, but
 * for the lanes of the last vector. */
VOCABULARY void gemm_strip_vector(const gemm_task *task, int64_t p, int64_t j, const int lanes,
                                  const int steps, const int width, const assay_dtype dtype) {
  vec sum[THIN_MOST];
#pragma GCC unroll 4
  for (int r = 0; r < width; ++r) sum[r] = vec_load_scratch(task->sums + r * task->sums_step + j);
#pragma GCC unroll 8
  for (int s = 0; s < steps; ++s) {
    const char *from = (const char *)(task->b + (p + s) * task->b_step);
    const vec row =
        lanes == VEC_LANES ? vec_load(from, dtype, j) : vec_load_part(from, dtype, j, lanes, vec_set1(0.0f));
#pragma GCC unroll 4
    for (int r = 0; r < width; ++r) {
      sum[r] = vec_fma(vec_set1(task->packed_a[(p + s) * width + r]), row, sum[r]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < width; ++r) vec_store_scratch(task->sums + r * task->sums_step + j, sum[r]);
}

VOCABULARY void gemm_strip_steps(const gemm_task *task, int64_t p, int64_t first, int64_t last,
                                 const int steps, const int width, const assay_dtype dtype) {
  int64_t j = first;
  for (; j + VEC_LANES <= last; j += VEC_LANES) {
    gemm_strip_vector(task, p, j, VEC_LANES, steps, width, dtype);
  }
  if (j < last) gemm_strip_vector(task, p, j, (int)(last - j), steps, width, dtype);
}

VOCABULARY void gemm_strip(const gemm_task *task, int64_t first, int64_t last, const int width,
                           const assay_dtype dtype) {
  int64_t p = 0;
  for (; p + STEPS_AT_ONCE <= task->k; p += STEPS_AT_ONCE) {
    gemm_strip_steps(task, p, first, last, STEPS_AT_ONCE, width, dtype);
  }
  for (; p < task->k; ++p) gemm_strip_steps(task, p, first, last, 1, width, dtype);
}

VOCABULARY void gemm_strip_of(const gemm_task *task, int64_t first, int64_t last, const int width) {
  if (task->dtype == ASSAY_FP16) {
    gemm_strip(task, first, last, width, ASSAY_FP16);
  } else {
    gemm_strip(task, first, last, width, ASSAY_BF16);
  }
}

static void gemm_run_strip(const gemm_task *task, int64_t index, int thread) {
  (void)thread;
  const int64_t first = index * task->tile_columns;
  const int64_t last = gemm_least(task->n, first + task->tile_columns);
  const int width = gemm_thin_width(task->m);
  for (int r = 0; r < width; ++r) {
    memset(task->sums + r * task->sums_step + first, 0,
           (size_t)gemm_vectors(last - first) * sizeof *task->sums);
  }
  if (width == 1) {
    gemm_strip_of(task, first, last, 1);
  } else if (width == 2) {
    gemm_strip_of(task, first, last, 2);
  } else {
    gemm_strip_of(task, first, last, THIN_MOST);
  }
  for (int64_t r = 0; r < task->m; ++r) {
    gemm_finish(task->c + r * task->n + first, task->sums + r * task->sums_step + first, task->bias + first,
                last - first, task->dtype);
  }
}

static assay_status gemm_few_rows(gemm_task *task, assay_queue *queue) {
  const int width = gemm_thin_width(task->m);
  task->sums_step = gemm_vectors(task->n);
  const int64_t a_floats = gemm_parts(width * task->k, LINE_FLOATS) * LINE_FLOATS;
  float *scratch = assay_queue_scratch(queue, (size_t)(a_floats + width * task->sums_step) * sizeof(float));
  if (scratch == NULL) return ASSAY_NO_MEMORY;
  task->packed_a = scratch;
  task->sums = scratch + a_floats;
  gemm_widen_rows(task, width);
  const int64_t fair = gemm_parts(gemm_parts(task->n, task->threads), STRIP_LEAST) * STRIP_LEAST;
  task->tile_columns = gemm_least(STRIP_COLUMNS, fair);
  gemm_parallel(gemm_run_strip, task, gemm_parts(task->n, task->tile_columns), task->n * task->k);
  return ASSAY_OK;
}

/* ---- the choice ---------------------------------------------------------------------------------------- */

static assay_status gemm_thin(gemm_task *task, assay_queue *queue) {
  return task->n <= THIN_MOST ? gemm_few_columns(task, queue) : gemm_few_rows(task, queue);
}

#endif
