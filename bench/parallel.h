/* SPDX-License-Identifier: MIT */
/* parallel.h - the judge's own threads, which end with the work: OpenMP's would go on spinning beside what is
 * timed next. */
#ifndef ASSAY_PARALLEL_H
#define ASSAY_PARALLEL_H

#include <stdint.h>

/* Works on items [first, end) of `work`; `lane` counts the parts from 0. */
typedef void parallel_part(void *work, int lane, int64_t first, int64_t end);

enum { PARALLEL_MOST = 64 };

/* Splits 0 .. count - 1 into at most `threads` parts and returns when all are done. */
void parallel_run(int threads, int64_t count, parallel_part *part, void *work);

#endif
