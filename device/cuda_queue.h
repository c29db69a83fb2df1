/* SPDX-License-Identifier: MIT */
/*
 * cuda_queue.h - a CUDA queue: a stream, the kernels of its context, and scratch in stream order.
 *
 * Nothing here waits for the device but assay_queue_wait; a call leaves the thread's current context as it
 * was.
 */
#ifndef ASSAY_CUDA_QUEUE_H
#define ASSAY_CUDA_QUEUE_H

#include "cuda_function.h"
#include "queue.h"

typedef struct cuda_queue {
  assay_queue_owned owned;
  cuda_space *space;
  cuda_stream stream;
  bool own_stream;
  cuda_address *scratch; /* handed out since the last release */
  int scratch_count;
  int scratch_room;
  const cuda_kernel *last; /* launched: a fault is reported later, and most likely that one's */
  char *log;
} cuda_queue;

/* The table of calls of every CUDA queue, which also tells one from other queues. */
extern const assay_queue_calls assay_cuda_calls;

/* The parts of an opened queue; `queue` must be a CUDA queue. */
cuda_queue *assay_cuda_queue_of(assay_queue *queue);

/* Makes the queue's context current where it is not, and restores what was. */
typedef struct cuda_visit {
  const cuda_driver *driver;
  bool pushed;
} cuda_visit;

cuda_result assay_cuda_enter(const cuda_queue *cuda, cuda_visit *visit);
void assay_cuda_leave(const cuda_visit *visit);

/* The status and the sentence of a failed driver call: what was done, the driver's own words, and, when the
 * device can no longer be used by this process, that too. */
assay_status assay_cuda_explain(const cuda_queue *cuda, cuda_result result, const char *action,
                                assay_message *why);

#endif
