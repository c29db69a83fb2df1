/* SPDX-License-Identifier: MIT */
/* log_softmax.h - the functions behind the operator's tables. */
#ifndef ASSAY_LOG_SOFTMAX_H
#define ASSAY_LOG_SOFTMAX_H

#include "bench_table.h"
#include "op.h"

assay_kernel assay_log_softmax_cpu;

/* The FP64 definition and its bound, see op.h. */
void assay_log_softmax_oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                              int64_t first, int64_t count, double *want, double *allowed);

extern const assay_check assay_log_softmax_checks[];
extern const assay_bench_table assay_log_softmax_bench;

#endif
