/* SPDX-License-Identifier: MIT */
/* worker_queue.h - the queues that a judged kernel gets: real ones, whose scratch is guarded and poisoned. */
#ifndef ASSAY_WORKER_QUEUE_H
#define ASSAY_WORKER_QUEUE_H

#include "buffer.h"
#include "op.h"

enum { JUDGED_SCRATCH = 64 }; /* pieces of scratch a call may ask for */

typedef struct judged_queue {
  assay_queue queue; /* first: kernels get a pointer to it */
  assay_queue_calls calls;
  assay_queue *real; /* launches go here; NULL on the CPU */
  assay_mapping
      blocks[JUDGED_SCRATCH]; /* host memory; scratch of a CUDA queue is device memory of the real one */
  int block_count;
  uint64_t poison;
  struct trace_page *trace;   /* where an emulator's launches are written down; NULL: nowhere */
  struct worker_watch *watch; /* what watches an emulator's launches; NULL: nothing */
  bool unavailable;           /* a launch found that this machine cannot compile or run kernels */
} judged_queue;

/* Opens a queue of the backend. `schedule` is the emulator's order of threads. False with a sentence. */
bool judged_queue_open(judged_queue *judged, assay_backend backend, int threads, uint64_t poison,
                       uint64_t schedule, assay_message *why);
void judged_queue_close(judged_queue *judged);

/* After each call: takes back its scratch. */
void judged_queue_release(judged_queue *judged);

#endif
