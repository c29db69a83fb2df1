/* SPDX-License-Identifier: MIT */
/* overhead.h - what a call to a GPU costs that does nothing: the floor under short times. It is shown beside
 * them and never taken off. */
#ifndef ASSAY_OVERHEAD_H
#define ASSAY_OVERHEAD_H

#include <stdint.h>

#include "status.h"

enum { OVERHEAD_GRAPH = 0, OVERHEAD_EVENTS, OVERHEADS, OVERHEAD_SAMPLES = 7 };

/* An empty kernel, called as the timer of that name calls kernels. */
typedef struct gpu_overhead {
  const char *name;
  int64_t calls;                     /* of a sample */
  int64_t samples[OVERHEAD_SAMPLES]; /* nanoseconds */
  int count;
  double call_ns; /* by the median; 0 without samples */
} gpu_overhead;

/* On GPU 0. Errors: as those of a launch. */
assay_status overheads_measure(gpu_overhead overheads[OVERHEADS], assay_message *why);

#endif
