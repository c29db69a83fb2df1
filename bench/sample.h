/* SPDX-License-Identifier: MIT */
/* sample.h - one timed sample: the raw datum from which everything else in a report follows. */
#ifndef ASSAY_SAMPLE_H
#define ASSAY_SAMPLE_H

#include <stdint.h>

/* Samples of the same case, process and round had the same inputs: they are a pair. */
typedef struct bench_sample {
  int64_t process;     /* from 0 */
  int64_t round;       /* from 0 */
  int64_t position;    /* place of the variant in the order of its round, from 0 */
  int64_t calls;       /* at least 1 */
  int64_t nanoseconds; /* of all calls together */
  int64_t sm_mhz;      /* of the GPU, right behind the calls; 0: not known, or no GPU */
} bench_sample;

#endif
