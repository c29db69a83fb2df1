/* SPDX-License-Identifier: MIT */
/* queue.h - the CPU queue: a thread count and a thread-local arena for scratch. */
#ifndef ASSAY_QUEUE_H
#define ASSAY_QUEUE_H

#include "assay/workshop.h"

/* Fills in a queue that the caller owns (no allocation), for threads 1..1024. */
void assay_queue_init_cpu(assay_queue *queue, int threads);

/* Gives the calling thread's scratch back: everything that its queues handed out since the last release
 * becomes invalid. Dispatch calls it when a kernel has returned; the memory stays with the thread for the
 * next call. */
void assay_scratch_release(void);

#endif
