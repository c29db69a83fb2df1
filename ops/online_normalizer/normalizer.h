/* SPDX-License-Identifier: MIT */
/* normalizer.h - the functions behind the operator's tables. */
#ifndef ASSAY_NORMALIZER_H
#define ASSAY_NORMALIZER_H

#include "bench_table.h"
#include "op.h"

/* A merge is two numbers: every variant has the same one. */
assay_kernel assay_normalizer_cpu_summarise;
assay_kernel assay_normalizer_cpu_merge;
assay_kernel assay_normalizer_cpu_finish;
assay_kernel assay_normalizer_avx2_summarise;
assay_kernel assay_normalizer_avx2_finish;
assay_kernel assay_normalizer_avx512_summarise;
assay_kernel assay_normalizer_avx512_finish;

/* The definition and its bound, see op.h. */
void assay_normalizer_oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             int64_t first, int64_t count, double *want, double *allowed);

extern const assay_operator assay_online_normalizer_op;
extern const assay_check assay_normalizer_checks[];
extern const assay_bench_table assay_normalizer_bench;

/* Operands of one of the three functions for `count` elements of a type, packed; see assay_operand_plan for
 * `shift`, which moves x and y. */
void assay_normalizer_plan(int entry, assay_dtype dtype, int64_t count, int64_t shift, assay_plan *plan);

/* Run functions of checks, named as their checks in normalizer_checks.c. The first one serves all that have
 * rows: the row's contents are summarised, or cut into two states that are merged, or finished with their
 * state. */
void assay_normalizer_on_row(assay_probe *probe);
void assay_normalizer_worked_example(assay_probe *probe);
void assay_normalizer_sums_to_one(assay_probe *probe);
void assay_normalizer_larger_set(assay_probe *probe);
void assay_normalizer_finite_stand_in(assay_probe *probe);
void assay_normalizer_all_masked(assay_probe *probe);
void assay_normalizer_repeatable(assay_probe *probe);
void assay_normalizer_fresh_contents(assay_probe *probe);
void assay_normalizer_two_threads(assay_probe *probe);
void assay_normalizer_thread_count(assay_probe *probe);
void assay_normalizer_random_shapes(assay_probe *probe);
void assay_normalizer_full_size(assay_probe *probe);

/* The same for states and their merges (normalizer_merges.c). */
void assay_normalizer_known_merges(assay_probe *probe);
void assay_normalizer_random_states(assay_probe *probe);
void assay_normalizer_wide_sums(assay_probe *probe);
void assay_normalizer_distant_states(assay_probe *probe);
void assay_normalizer_empty_identity(assay_probe *probe);
void assay_normalizer_empty_leaves(assay_probe *probe);
void assay_normalizer_commutes(assay_probe *probe);
void assay_normalizer_nan_states(assay_probe *probe);
void assay_normalizer_empty_state_finish(assay_probe *probe);

/* And for partitions: the parts of a set summarised and merged by the kernel itself (normalizer_trees.c). */
void assay_normalizer_every_cut(assay_probe *probe);
void assay_normalizer_single_elements(assay_probe *probe);
void assay_normalizer_left_fold(assay_probe *probe);
void assay_normalizer_right_fold(assay_probe *probe);
void assay_normalizer_balanced_tree(assay_probe *probe);
void assay_normalizer_random_tree(assay_probe *probe);
void assay_normalizer_masked_part(assay_probe *probe);
void assay_normalizer_rising_parts(assay_probe *probe);
void assay_normalizer_huge_in_each_part(assay_probe *probe);
void assay_normalizer_tree_then_finish(assay_probe *probe);

/* And for bad metadata (normalizer_rejects.c). */
void assay_normalizer_rejects_pointers(assay_probe *probe);
void assay_normalizer_rejects_shapes(assay_probe *probe);
void assay_normalizer_rejects_dtypes(assay_probe *probe);
void assay_normalizer_rejects_strides(assay_probe *probe);
void assay_normalizer_rejects_span_overflow(assay_probe *probe);
void assay_normalizer_rejects_overlap(assay_probe *probe);
void assay_normalizer_rejects_device(assay_probe *probe);

#endif
