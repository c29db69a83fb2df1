/* SPDX-License-Identifier: MIT */
/* gauge.h - how fast a GPU's multiprocessors run at a moment, and what a launch costs that does nothing. */
#ifndef ASSAY_GAUGE_H
#define ASSAY_GAUGE_H

#include "cuda_tools.h"

/* On one queue, for as long as that is open. */
typedef struct gauge {
  void *memory; /* on the device */
  int64_t answer[2];
} gauge;

/* The kernels are compiled and have run when it returns. Errors: as those of a launch. */
assay_status gauge_open(gauge *self, assay_queue *queue, assay_message *why);
void gauge_close(gauge *self, assay_queue *queue);

/* Puts a kernel of one warp on the queue, behind what is to be known about: it counts cycles of its
 * multiprocessor for a tenth of a millisecond of the GPU's timer. */
assay_status gauge_start(const gauge *self, assay_queue *queue, assay_message *why);

/* What it has counted, in whole MHz; waits for the queue. 0 when that is no clock. */
assay_status gauge_read(gauge *self, assay_queue *queue, int *mhz, assay_message *why);

/* Whether two pieces of device memory hold the same bytes; waits for the queue. */
assay_status gauge_same(gauge *self, assay_queue *queue, const void *left, const void *right, size_t bytes,
                        bool *same, assay_message *why);

/* One launch of a kernel that does nothing. */
assay_status gauge_nothing(const gauge *self, assay_queue *queue, assay_message *why);

#endif
