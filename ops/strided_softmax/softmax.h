/* SPDX-License-Identifier: MIT */
/* softmax.h - the functions behind the operator's tables. */
#ifndef ASSAY_SOFTMAX_H
#define ASSAY_SOFTMAX_H

#include "bench_table.h"
#include "op.h"

assay_kernel assay_softmax_cpu;
assay_kernel assay_softmax_avx2;
assay_kernel assay_softmax_avx512;
assay_kernel assay_softmax_cuda; /* softmax.cu */

/* The FP64 definition and its bound, see op.h. */
void assay_softmax_oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                          int64_t first, int64_t count, double *want, double *allowed);

/* Layouts of x in cases, in the order of the names. */
typedef enum assay_softmax_layout {
  ASSAY_SOFTMAX_PACKED = 0,       /* row stride = columns, column stride 1 */
  ASSAY_SOFTMAX_TRANSPOSED,       /* row stride 1, column stride = rows */
  ASSAY_SOFTMAX_SLICED,           /* rows with a gap behind each */
  ASSAY_SOFTMAX_STEPPED,          /* every third element of a packed buffer */
  ASSAY_SOFTMAX_SLICED_T,         /* transposed, with a gap behind each column */
  ASSAY_SOFTMAX_GENERAL,          /* both strides larger than 1, not multiples of each other */
  ASSAY_SOFTMAX_ROW_BROADCAST,    /* row stride 0: every row is the same row */
  ASSAY_SOFTMAX_COLUMN_BROADCAST, /* column stride 0: every column is the same element */
  ASSAY_SOFTMAX_WINDOWS,          /* both strides 1: overlapping windows */
  ASSAY_SOFTMAX_LAYOUTS
} assay_softmax_layout;

extern const char *const assay_softmax_layout_names[];
extern const assay_check assay_softmax_checks[];
extern const assay_bench_table assay_softmax_bench;

/* Run functions of checks (softmax_probes.c), named as their checks in softmax_checks.c. */
void assay_softmax_worked_example(assay_probe *probe);
void assay_softmax_transposed_known(assay_probe *probe);
void assay_softmax_uniform_rows(assay_probe *probe);
void assay_softmax_odd_widths(assay_probe *probe);
void assay_softmax_repeatable(assay_probe *probe);
void assay_softmax_fresh_contents(assay_probe *probe);
void assay_softmax_two_threads(assay_probe *probe);
void assay_softmax_thread_count(assay_probe *probe);
void assay_softmax_large_strides(assay_probe *probe);
void assay_softmax_full_size(assay_probe *probe);
void assay_softmax_random_shapes(assay_probe *probe);

/* The same for bad metadata (softmax_rejects.c). */
void assay_softmax_rejects_pointers(assay_probe *probe);
void assay_softmax_rejects_shapes(assay_probe *probe);
void assay_softmax_rejects_dtypes(assay_probe *probe);
void assay_softmax_rejects_strides(assay_probe *probe);
void assay_softmax_rejects_span_overflow(assay_probe *probe);
void assay_softmax_rejects_output_layout(assay_probe *probe);
void assay_softmax_rejects_overlap(assay_probe *probe);
void assay_softmax_rejects_device(assay_probe *probe);
void assay_softmax_rejects_options(assay_probe *probe);
void assay_softmax_workshop_limits(assay_probe *probe);

#endif
