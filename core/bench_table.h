/* SPDX-License-Identifier: MIT */
/*
 * bench_table.h - what an operator contributes to measurements: the shapes to time, the work of a call, and
 * baselines to compare with. One table an operator, in its *_bench.c; machinery only walks it.
 */
#ifndef ASSAY_BENCH_TABLE_H
#define ASSAY_BENCH_TABLE_H

#include "op.h"

/* The least that a call has to do: every operand byte moved once; an exponential counts as one operation. */
typedef struct assay_bench_work {
  double bytes;
  double flops;
} assay_bench_work;

/* Another way to compute the same, with the cost of everything that it needs inside the call. */
typedef struct assay_bench_baseline {
  const char *name;       /* snake_case */
  const char *expression; /* what is computed, pass by pass */
  const char *rounding;   /* where values are rounded to the element type */
  assay_backend backend;  /* ASSAY_CPU, which is 0, or ASSAY_CUDA */
  /* Prepares what it needs once a process, on a queue of `threads`. False, with the reason, when it cannot
   * run here. NULL: always ready. */
  bool (*prepare)(int threads, assay_message *why);
  assay_kernel *entry[ASSAY_MAX_EXPORTS]; /* NULL where it does not cover a function */
  /* What was compiled for it, for reports; ends with NULL. NULL: the operator's kernels and its *_bench.c. */
  const char *const *sources;
} assay_bench_baseline;

/* Shapes of one backend alone, behind those of the table: large ones, for which a CPU would need minutes.
 * Their fills are given an operand in bands of its rows, side by side: no element may depend on another row.
 */
typedef struct assay_bench_suite {
  assay_backend backend;
  const assay_row *rows;
  int row_count;
} assay_bench_suite;

typedef struct assay_bench_table {
  const assay_row *rows; /* each expands to dtypes x layouts cases, as in a check */
  int row_count;
  void (*work)(const assay_row *row, assay_dtype dtype, int layout, assay_bench_work *work);
  const char *tolerance; /* the bound of the gate, in words */
  uint32_t knobs;        /* bit set over the options that change how a result is made, not which */
  /* Leading dimensions of rank-4 operands that hold independent problems: the sampled gate takes some rows of
   * each in turn. */
  int batch_dims;
  /* Contents on which every right kernel is exact, for gates that look at some rows only; NULL: none. */
  assay_fill *exact;
  const assay_bench_baseline *baselines; /* the one to print ratios to first */
  int baseline_count;
} assay_bench_table;

#endif
