/* SPDX-License-Identifier: MIT */
/*
 * beginner.h - the exercises that are no operators: their subjects and worked examples, and the words that
 * these share.
 *
 * All of it is linked into the program; the library knows nothing of it.
 */
#ifndef ASSAY_BEGINNER_H
#define ASSAY_BEGINNER_H

#include "workshops.h"

extern const assay_subject assay_offsets_subject;
extern const assay_walkthrough assay_offsets_walkthrough;
extern const assay_subject assay_strides_subject;
extern const assay_walkthrough assay_strides_walkthrough;
extern const assay_subject assay_reduction_subject;
extern const assay_walkthrough assay_reduction_walkthrough;
extern const assay_subject assay_softmax_subject;
extern const assay_walkthrough assay_softmax_walkthrough;
extern const assay_subject assay_rmsnorm_subject;
extern const assay_walkthrough assay_rmsnorm_walkthrough;
extern const assay_subject assay_matmul_subject;
extern const assay_walkthrough assay_matmul_walkthrough;
extern const assay_subject assay_measurement_subject;
extern const assay_walkthrough assay_measurement_walkthrough;

/* ---- validation: ASSAY_OK, or a status and a sentence that names the operand --------------------------- */

/* The type is one of `dtypes` (ASSAY_HAS_...), the rank is `rank`, and the elements lie without gaps in their
 * order; a tensor that has elements has memory for them, aligned to the type. */
assay_status assay_beginner_packed(const assay_tensor *tensor, const char *name, uint32_t dtypes, int rank,
                                   assay_message *why);

/* Type and memory alone, for a view. */
assay_status assay_beginner_memory(const assay_tensor *tensor, const char *name, uint32_t dtypes,
                                   assay_message *why);

/* Size `dim` of the operand is `wanted`, which `reason` explains: "one for each block". */
assay_status assay_beginner_size(const assay_tensor *tensor, const char *name, int dim, int64_t wanted,
                                 const char *reason, assay_message *why);

/* An output and an input share no byte. */
assay_status assay_beginner_apart(const assay_tensor *out, const char *out_name, const assay_tensor *in,
                                  const char *in_name, assay_message *why);

/* ---- cases and checks ---------------------------------------------------------------------------------- */

/* A packed operand of up to four sizes; `shape` has `rank` of them. */
assay_operand_plan assay_beginner_operand(assay_dtype dtype, int rank, const int64_t *shape, int64_t shift);

/* The row's case three times at the same addresses, each time with new contents. */
void assay_beginner_fresh_contents(assay_probe *probe);

/* "1 2 3" for an explanation: `%g`, and one blank between two. */
void assay_beginner_list(FILE *out, const double *values, int count);

/* Whether the number is whole and within [least, most]. */
bool assay_beginner_whole(double value, int64_t least, int64_t most);

#endif
