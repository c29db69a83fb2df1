/* SPDX-License-Identifier: MIT */
/* mustfail.h - built-in wrong kernels: whatever the operator, the checks must not let one of them pass. */
#ifndef ASSAY_MUSTFAIL_H
#define ASSAY_MUSTFAIL_H

#include "op.h"

typedef struct must_fail_kernel {
  const char *name;
  const char *what; /* one clause */
  assay_kernel *kernel;
  bool slow; /* every failure makes the judge wait: a quick proof is content with one stage */
} must_fail_kernel;

extern const must_fail_kernel must_fail_kernels[];
extern const int must_fail_count;

/* The right kernel that some of them call before they cheat, by its entries, which are copied; and which of
 * these the calling thread means. */
void must_fail_wrap(assay_kernel *const entry[ASSAY_MAX_EXPORTS]);
void must_fail_select(int entry);

#endif
