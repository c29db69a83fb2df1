/* SPDX-License-Identifier: MIT */
/* attention.h - the functions behind the operator's tables. */
#ifndef ASSAY_ATTENTION_H
#define ASSAY_ATTENTION_H

#include "bench_table.h"
#include "op.h"

assay_kernel assay_attention_cpu;
assay_kernel assay_attention_avx2;
assay_kernel assay_attention_avx512;

/* The FP64 definition and its bound, see op.h. */
void assay_attention_oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                            int64_t first, int64_t count, double *want, double *allowed);

/* Sizes of a case: dims[2] and dims[3] both 0 make tensors of rank 2. */
enum { ASSAY_ATTENTION_N = 0, ASSAY_ATTENTION_D, ASSAY_ATTENTION_HEADS, ASSAY_ATTENTION_BATCH };

/* Layouts of q, k and v in cases, in the order of the names. o is always packed. */
typedef enum assay_attention_layout {
  ASSAY_ATTENTION_PACKED = 0,  /* row stride d, nothing between heads and batches */
  ASSAY_ATTENTION_PITCHED,     /* gaps behind rows, heads and batches, of different sizes in q, k and v */
  ASSAY_ATTENTION_INTERLEAVED, /* rows of all heads beside each other; with one head: of q, k and v */
  ASSAY_ATTENTION_SHARED,  /* one k and v for all heads and batches; with one head: one row of k for all */
  ASSAY_ATTENTION_WINDOWS, /* rows of k and v overlap: row strides 1 and 2 */
  ASSAY_ATTENTION_LAYOUTS
} assay_attention_layout;

extern const char *const assay_attention_layout_names[];
extern const assay_check assay_attention_checks[];
extern const assay_bench_table assay_attention_bench;

/* Contents of operands (attention_fills.c); a and b are the row's parameters. */
assay_fill assay_attention_fill_ramp;      /* scores rise (a > 0) or fall along the keys by a a key */
assay_fill assay_attention_fill_dominant;  /* query i finds one key with a score near a, another for each i */
assay_fill assay_attention_fill_diagonal;  /* query i finds key i, with a score near a */
assay_fill assay_attention_fill_loud;      /* q and k normal, v normal times a */
assay_fill assay_attention_fill_sharp;     /* q and k normal times a: scores of about a * a, v normal */
assay_fill assay_attention_fill_subnormal; /* half of all entries subnormal, below a */
assay_fill assay_attention_fill_nan_query; /* one row of q in three holds a in one column */
assay_fill assay_attention_fill_nan_key;   /* two rows of k hold a in one column, in the second half */
assay_fill assay_attention_fill_nan_value; /* two elements of v hold a, in the second half */
assay_fill assay_attention_fill_masked_key; /* the first 40 of k and every third one score -infinity */
assay_fill assay_attention_fill_negative;   /* all scores lie near -a */
assay_fill
    assay_attention_fill_small_late; /* the largest weights meet small values, tiny ones large values */

/* Run functions of checks (attention_probes.c, attention_calls.c), named as their checks. */
void assay_attention_worked_example(assay_probe *probe);
void assay_attention_single_key(assay_probe *probe);
void assay_attention_prefix_averages(assay_probe *probe);
void assay_attention_output_rounding(assay_probe *probe);
void assay_attention_scale(assay_probe *probe);
void assay_attention_any_head_size(assay_probe *probe);
void assay_attention_padded_nan(assay_probe *probe);
void assay_attention_large_values(assay_probe *probe);
void assay_attention_rescaled_ones(assay_probe *probe);
void assay_attention_head_tags(assay_probe *probe);
void assay_attention_dominant_tiles(assay_probe *probe);
void assay_attention_future_changes(assay_probe *probe);
void assay_attention_future_nan_keys(assay_probe *probe);
void assay_attention_future_nan_values(assay_probe *probe);
void assay_attention_repeatable(assay_probe *probe);
void assay_attention_fresh_contents(assay_probe *probe);
void assay_attention_two_threads(assay_probe *probe);
void assay_attention_thread_count(assay_probe *probe);
void assay_attention_large_strides(assay_probe *probe);
void assay_attention_full_size(assay_probe *probe);
void assay_attention_random_shapes(assay_probe *probe);

/* The same for bad metadata (attention_rejects.c). */
void assay_attention_rejects_pointers(assay_probe *probe);
void assay_attention_rejects_shapes(assay_probe *probe);
void assay_attention_rejects_dtypes(assay_probe *probe);
void assay_attention_rejects_strides(assay_probe *probe);
void assay_attention_rejects_span_overflow(assay_probe *probe);
void assay_attention_rejects_output_layout(assay_probe *probe);
void assay_attention_rejects_overlap(assay_probe *probe);
void assay_attention_rejects_device(assay_probe *probe);
void assay_attention_rejects_options(assay_probe *probe);
void assay_attention_workshop_limits(assay_probe *probe);

#endif
