/* SPDX-License-Identifier: MIT */
/* split_softmax.h - the functions behind the operator's tables, and the size of a workspace. */
#ifndef ASSAY_SPLIT_SOFTMAX_H
#define ASSAY_SPLIT_SOFTMAX_H

#include "bench_table.h"
#include "op.h"

enum {
  ASSAY_SPLIT_SOFTMAX_DEFAULT_CHUNK = 4096, /* what `chunk` 0 stands for */
  ASSAY_SPLIT_SOFTMAX_ALIGNMENT = 64,       /* of a workspace, in bytes */
};

assay_kernel assay_split_softmax_cpu;
assay_kernel assay_split_softmax_avx2;
assay_kernel assay_split_softmax_avx512;
assay_kernel assay_split_softmax_cluster; /* split_softmax.cu */
assay_kernel assay_split_softmax_cuda;

/* The FP64 definition and its bound, see op.h. */
void assay_split_softmax_oracle(int entry, const assay_tensor *in, const assay_tensor *out,
                                const int64_t *opt, int64_t first, int64_t count, double *want,
                                double *allowed);

/* Floats of a workspace: two for every chunk of every row and two for every row, in whole lines of memory.
 * False when the bytes do not fit an int64_t. */
bool assay_split_softmax_floats(int64_t rows, int64_t columns, int64_t chunk, int64_t *floats);

/* Layouts of cases: x and y are always packed, what differs is the workspace. */
typedef enum assay_split_softmax_layout {
  ASSAY_SPLIT_SOFTMAX_OWN = 0, /* a workspace of exactly the size that is needed */
  ASSAY_SPLIT_SOFTMAX_ROOMY,   /* one that is larger */
  ASSAY_SPLIT_SOFTMAX_NONE,    /* none: the kernel takes private scratch */
  ASSAY_SPLIT_SOFTMAX_LAYOUTS
} assay_split_softmax_layout;

extern const char *const assay_split_softmax_layout_names[];
extern const assay_check assay_split_softmax_checks[];
extern const assay_bench_table assay_split_softmax_bench;

/* Run functions of checks (split_softmax_probes.c), named as their checks in split_softmax_checks.c. */
void assay_split_softmax_worked_example(assay_probe *probe);
void assay_split_softmax_uniform_rows(assay_probe *probe);
void assay_split_softmax_alternating_rows(assay_probe *probe);
void assay_split_softmax_block_limits(assay_probe *probe);
void assay_split_softmax_every_chunk_size(assay_probe *probe);
void assay_split_softmax_repeatable(assay_probe *probe);
void assay_split_softmax_fresh_contents(assay_probe *probe);
void assay_split_softmax_own_workspaces(assay_probe *probe);
void assay_split_softmax_private_scratch(assay_probe *probe);
void assay_split_softmax_thread_count(assay_probe *probe);
void assay_split_softmax_workspace_or_not(assay_probe *probe);
void assay_split_softmax_workspace_contents(assay_probe *probe);
void assay_split_softmax_beyond_limits(assay_probe *probe);
void assay_split_softmax_random_shapes(assay_probe *probe);
void assay_split_softmax_full_size(assay_probe *probe);

/* The same for bad metadata (split_softmax_rejects.c). */
void assay_split_softmax_rejects_pointers(assay_probe *probe);
void assay_split_softmax_rejects_shapes(assay_probe *probe);
void assay_split_softmax_rejects_dtypes(assay_probe *probe);
void assay_split_softmax_rejects_strides(assay_probe *probe);
void assay_split_softmax_rejects_gaps(assay_probe *probe);
void assay_split_softmax_rejects_span_overflow(assay_probe *probe);
void assay_split_softmax_rejects_overlap(assay_probe *probe);
void assay_split_softmax_rejects_device(assay_probe *probe);
void assay_split_softmax_rejects_options(assay_probe *probe);
void assay_split_softmax_rejects_workspace_size(assay_probe *probe);
void assay_split_softmax_rejects_workspace_type(assay_probe *probe);
void assay_split_softmax_rejects_workspace_place(assay_probe *probe);
void assay_split_softmax_workshop_limits(assay_probe *probe);

#endif
