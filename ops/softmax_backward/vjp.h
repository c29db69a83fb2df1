/* SPDX-License-Identifier: MIT */
/* vjp.h - the functions behind the tables of softmax_backward, the vector-Jacobian product of the softmax. */
#ifndef ASSAY_VJP_H
#define ASSAY_VJP_H

#include "bench_table.h"
#include "op.h"

assay_kernel assay_vjp_cpu;
assay_kernel assay_vjp_avx2;
assay_kernel assay_vjp_avx512;
assay_kernel assay_vjp_cuda; /* vjp.cu */

/* The FP64 definition and its bound, see op.h. */
void assay_vjp_oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                      int64_t first, int64_t count, double *want, double *allowed);

/* Layouts of y and g in cases, in the order of the names. Where only one is named the other is packed. */
typedef enum assay_vjp_layout {
  ASSAY_VJP_PACKED = 0,
  ASSAY_VJP_TRANSPOSED,         /* both: row stride 1, column stride = rows */
  ASSAY_VJP_Y_SLICED,           /* rows with a gap behind each */
  ASSAY_VJP_G_SLICED,           /* the same for g */
  ASSAY_VJP_SLICED,             /* both, with gaps of different sizes */
  ASSAY_VJP_Y_TRANSPOSED,       /* y by columns, g by rows */
  ASSAY_VJP_G_TRANSPOSED,       /* g by columns, y by rows */
  ASSAY_VJP_SLICED_T,           /* both transposed, with gaps of different sizes behind each column */
  ASSAY_VJP_STEPPED,            /* every third element of y, every second one of g */
  ASSAY_VJP_GENERAL,            /* four different strides above 1 */
  ASSAY_VJP_WINDOWS,            /* both strides 1 in y and in g: overlapping windows */
  ASSAY_VJP_Y_ROW_BROADCAST,    /* row stride 0 */
  ASSAY_VJP_G_ROW_BROADCAST,    /* the same for g */
  ASSAY_VJP_Y_COLUMN_BROADCAST, /* column stride 0 */
  ASSAY_VJP_G_COLUMN_BROADCAST, /* the same for g */
  ASSAY_VJP_LAYOUTS
} assay_vjp_layout;

extern const char *const assay_vjp_layout_names[];
extern const assay_check assay_vjp_checks[];
extern const assay_bench_table assay_vjp_bench;

/* Contents of y and g (vjp_fills.c); the first: y like a softmax of logits with deviation a, g normal with b.
 */
assay_fill assay_vjp_fill_pair;
assay_fill assay_vjp_fill_shifted;
assay_fill assay_vjp_fill_flat;
assay_fill assay_vjp_fill_one_hot;
assay_fill assay_vjp_fill_dominant;
assay_fill assay_vjp_fill_lost_terms;
assay_fill assay_vjp_fill_signed;
assay_fill assay_vjp_fill_with_zeros;
assay_fill assay_vjp_fill_peaked;
assay_fill assay_vjp_fill_large;
assay_fill assay_vjp_fill_subnormal;
assay_fill assay_vjp_fill_special;
assay_fill assay_vjp_fill_opposite;

/* Run functions of checks (vjp_probes.c), named as their checks in vjp_checks.c. */
void assay_vjp_worked_example(assay_probe *probe);
void assay_vjp_known_strides(assay_probe *probe);
void assay_vjp_odd_widths(assay_probe *probe);
void assay_vjp_repeatable(assay_probe *probe);
void assay_vjp_fresh_contents(assay_probe *probe);
void assay_vjp_two_threads(assay_probe *probe);
void assay_vjp_thread_count(assay_probe *probe);
void assay_vjp_large_strides(assay_probe *probe);
void assay_vjp_block_partials(assay_probe *probe);
void assay_vjp_full_size(assay_probe *probe);
void assay_vjp_random_shapes(assay_probe *probe);

/* Results held to something else than the formula (vjp_identities.c). */
void assay_vjp_dense_jacobian(assay_probe *probe);
void assay_vjp_central_difference(assay_probe *probe);
void assay_vjp_dual_numbers(assay_probe *probe);
void assay_vjp_adjoint(assay_probe *probe);
void assay_vjp_row_sums(assay_probe *probe);

/* Bad metadata (vjp_rejects.c). */
void assay_vjp_rejects_pointers(assay_probe *probe);
void assay_vjp_rejects_shapes(assay_probe *probe);
void assay_vjp_rejects_dtypes(assay_probe *probe);
void assay_vjp_rejects_strides(assay_probe *probe);
void assay_vjp_rejects_span_overflow(assay_probe *probe);
void assay_vjp_rejects_output_layout(assay_probe *probe);
void assay_vjp_rejects_overlap(assay_probe *probe);
void assay_vjp_rejects_device(assay_probe *probe);
void assay_vjp_rejects_options(assay_probe *probe);
void assay_vjp_workshop_limits(assay_probe *probe);

#endif
