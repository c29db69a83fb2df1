/* SPDX-License-Identifier: MIT */
/* worker.h - what the parts of the worker process share. */
#ifndef ASSAY_WORKER_H
#define ASSAY_WORKER_H

#include <stdbool.h>

#include "buffer.h"
#include "ops/ops.h"
#include "protocol.h"

typedef struct worker_operand {
  assay_mapping mapping; /* what kernels see; pages NULL: the slot is free */
  assay_mapping shared;  /* BENCH: the judge's memory, pages NULL when kernels see that themselves */
  size_t offset;         /* of the data in the judge's pages */
  int fd;                /* of the judge's memory, when it is apart; writable for outputs */
  unsigned char *data;
  size_t bytes;
  bool writable;
} worker_operand;

typedef struct worker_target {
  assay_kernel *entry[ASSAY_MAX_EXPORTS]; /* of an object, baseline or must-fail kernel */
  const assay_operator *op;               /* of a library variant, else NULL */
  const assay_variant *variant;
} worker_target;

typedef struct worker {
  int socket;
  assay_backend backend;
  const assay_subject *subject;
  worker_target target; /* loaded last */
  worker_target kept[PROTOCOL_TARGETS];
  worker_operand operands[PROTOCOL_SLOTS];
  struct trace_page *trace; /* shared with the judge; NULL: steps are not written down */
  struct watch_page *watch; /* shared with the judge; NULL: nobody asks what tools see */
} worker;

/* Installs the handlers that report a signal on the worker's socket before the process ends by it. */
void worker_report_faults(worker *self);

/* An alternative signal stack for the calling thread, so that a stack overflow can be reported. */
void worker_use_signal_stack(void);

/* Carries out the calls of a request; fills in the reply. */
void worker_run(worker *self, const run_request *request, done_reply *reply);

/* One call on a queue that is ready. */
assay_status worker_call(const worker_target *target, int entry, const assay_tensor *in,
                         const assay_tensor *out, const int64_t *opt, assay_queue *queue, assay_message *why);

/* The tensor that the wire means, in this process. */
assay_tensor worker_tensor(const worker *self, const wire_tensor *wire);

/* Maps an operand with memory of its own; the same slot may have been mapped before. False with a sentence.
 */
bool worker_map_apart(worker_operand *operand, const map_request *request, int fd, done_reply *reply);
void worker_unmap(worker_operand *operand);

/* Carries out a timed request. */
void worker_bench(worker *self, const bench_request *request, done_reply *reply);

/* Starts the OpenMP team of a queue. */
void worker_warm_threads(int threads);

/* Control bits of the floating-point unit: rounding, flushing, exception masks; no sticky flags. */
uint64_t worker_float_mode(void);

#endif
