/* SPDX-License-Identifier: MIT */
/* ops.h - the registry of operators and the dispatch over their variants. */
#ifndef ASSAY_OPS_H
#define ASSAY_OPS_H

#include "op.h"

/* All operators in the order of the workshops. */
extern const assay_operator *const assay_operators[];
extern const int assay_operator_count;

/* NULL when there is none of that name. */
const assay_operator *assay_operator_find(const char *name);
const assay_variant *assay_variant_find(const assay_operator *op, const char *name);

/* Whether a row of the table is for queues of the backend: rows made for CUDA serve the emulator as well. */
bool assay_variant_serves(const assay_variant *variant, assay_backend backend);

/* Whether the variant can run on this machine at all; `why` says what is missing when not. A quick answer for
 * lists: no driver is opened. A CUDA variant counts when the emulator can run it, or when there is an NVIDIA
 * device. */
bool assay_variant_runs_here(const assay_variant *variant, assay_message *why);

/* Whether it can run on queues of a backend; `device` counts for ASSAY_CUDA only, and that opens the driver.
 * A row of the table made for CUDA serves the emulator as well, unless it is marked cuda_only. */
bool assay_variant_runs_on(const assay_variant *variant, assay_backend backend, int device,
                           assay_message *why);

/* Whether dispatch takes the variant where it runs and no earlier one does. Only for one that runs here: its
 * answer may come from a short calibration. */
bool assay_variant_is_preferred(const assay_variant *variant);

/* The baselines that this build has for an operator, counted from 0; NULL behind the last. */
const struct assay_bench_baseline *assay_operator_baseline(const assay_operator *op, int index);

/* The shapes that are timed on this backend alone, behind those of the operator's table; NULL: none. */
const struct assay_bench_suite *assay_operator_suite(const assay_operator *op, assay_backend backend);

/* Validates, picks (variant NULL) or checks the variant, its knobs and the queue, calls entry `entry`,
 * releases scratch. `why` holds the sentence when the status is not ASSAY_OK. */
assay_status assay_operator_call(const assay_operator *op, const assay_variant *variant, int entry,
                                 const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                 assay_queue *queue, assay_message *why);

#endif
