/* SPDX-License-Identifier: MIT */
/* gemm.h - the functions behind the operator's tables, and the order in which tiles are walked. */
#ifndef ASSAY_GEMM_H
#define ASSAY_GEMM_H

#include "bench_table.h"
#include "op.h"

assay_kernel assay_gemm_cpu;
assay_kernel assay_gemm_avx2;
assay_kernel assay_gemm_avx512;
assay_kernel assay_gemm_avx512bf16;

/* Whether this machine multiplies pairs of BF16 numbers faster than floats: timed once a process. Only where
 * assay_gemm_avx512bf16 runs. */
bool assay_gemm_prefers_pairs(void);

/* A tile of C by its row and column in the grid of tiles. */
typedef struct assay_gemm_tile {
  int64_t row;
  int64_t column;
} assay_gemm_tile;

/*
 * The tile that comes at position `pid` (0 or more, below rows*columns) when the grid of rows x columns tiles
 * is walked in groups of `group` rows of tiles: inside a group columns come one after another, each from its
 * top tile to its bottom tile. The last group has the rows that are left, which may be fewer than `group`.
 */
assay_gemm_tile assay_gemm_tile_at(int64_t pid, int64_t rows, int64_t columns, int64_t group);

/* The FP64 definition and its bound, see op.h. */
void assay_gemm_oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                       int64_t first, int64_t count, double *want, double *allowed);

/* Layouts of A and B in cases, in the order of the names. */
typedef enum assay_gemm_layout {
  ASSAY_GEMM_PACKED = 0, /* row strides K and N */
  ASSAY_GEMM_PADDED_A,   /* a gap behind each row of A */
  ASSAY_GEMM_PADDED_B,   /* a gap behind each row of B */
  ASSAY_GEMM_PADDED,     /* gaps of different widths behind the rows of both */
  ASSAY_GEMM_REPEATED_A, /* row stride 0: every row of A is the same row */
  ASSAY_GEMM_REPEATED_B, /* row stride 0: every row of B is the same row */
  ASSAY_GEMM_WINDOWS,    /* row strides 1: rows are overlapping windows */
  ASSAY_GEMM_LAYOUTS
} assay_gemm_layout;

extern const char *const assay_gemm_layout_names[];
extern const assay_check assay_gemm_checks[];
extern const assay_bench_table assay_gemm_bench;

/* Contents of operands (gemm_fills.c); what their two parameters mean stands there. */
assay_fill assay_gemm_fill_normal;
assay_fill assay_gemm_fill_positive;
assay_fill assay_gemm_fill_balanced;
assay_fill assay_gemm_fill_split;
assay_fill assay_gemm_fill_outer;
assay_fill assay_gemm_fill_ones;
assay_fill assay_gemm_fill_special_a;
assay_fill assay_gemm_fill_special_b;
assay_fill assay_gemm_fill_special_bias;
assay_fill assay_gemm_fill_cancelling;
assay_fill assay_gemm_fill_subnormal;
assay_fill assay_gemm_fill_subnormal_step;

/* Run functions of checks, named as their checks in gemm_checks.c: values and extremes (gemm_exact.c) ... */
void assay_gemm_worked_example(assay_probe *probe);
void assay_gemm_depth_zero(assay_probe *probe);
void assay_gemm_empty_output(assay_probe *probe);
void assay_gemm_sixteen_bit_sum(assay_probe *probe);
void assay_gemm_rounded_before_bias(assay_probe *probe);
void assay_gemm_bias_before_relu(assay_probe *probe);
void assay_gemm_ties_to_even(assay_probe *probe);
void assay_gemm_exact_rows(assay_probe *probe);
void assay_gemm_two_byte_rows(assay_probe *probe);
void assay_gemm_fp16_overflow(assay_probe *probe);
void assay_gemm_passing_overflow(assay_probe *probe);

/* ... the contract (gemm_probes.c) ... */
void assay_gemm_stale_output(assay_probe *probe);
void assay_gemm_repeatable(assay_probe *probe);
void assay_gemm_fresh_contents(assay_probe *probe);
void assay_gemm_two_threads(assay_probe *probe);
void assay_gemm_thread_count(assay_probe *probe);
void assay_gemm_knobs_same_bits(assay_probe *probe);
void assay_gemm_large_strides(assay_probe *probe);
void assay_gemm_full_size(assay_probe *probe);
void assay_gemm_random_shapes(assay_probe *probe);

/* ... and bad metadata (gemm_rejects.c). */
void assay_gemm_rejects_pointers(assay_probe *probe);
void assay_gemm_rejects_shapes(assay_probe *probe);
void assay_gemm_rejects_dtypes(assay_probe *probe);
void assay_gemm_rejects_strides(assay_probe *probe);
void assay_gemm_rejects_span_overflow(assay_probe *probe);
void assay_gemm_rejects_output_layout(assay_probe *probe);
void assay_gemm_rejects_overlap(assay_probe *probe);
void assay_gemm_rejects_device(assay_probe *probe);
void assay_gemm_rejects_options(assay_probe *probe);
void assay_gemm_unread_operands(assay_probe *probe);

#endif
