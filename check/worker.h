/* SPDX-License-Identifier: MIT */
/* worker.h - what the parts of the worker process share. */
#ifndef ASSAY_WORKER_H
#define ASSAY_WORKER_H

#include "buffer.h"
#include "ops/ops.h"
#include "protocol.h"

typedef struct worker_operand {
  assay_mapping mapping; /* pages NULL: the slot is free */
  unsigned char *data;
  size_t bytes;
  bool writable;
} worker_operand;

typedef struct worker {
  int socket;
  assay_backend backend;
  const assay_subject *subject;
  assay_kernel *entry[ASSAY_MAX_EXPORTS]; /* of an object or must-fail kernel */
  const assay_operator *op;               /* of a library variant, else NULL */
  const assay_variant *variant;
  worker_operand operands[PROTOCOL_SLOTS];
} worker;

/* Installs the handlers that report a signal on the worker's socket before the process ends by it. */
void worker_report_faults(worker *self);

/* An alternative signal stack for the calling thread, so that a stack overflow can be reported. */
void worker_use_signal_stack(void);

/* Carries out the calls of a request; fills in the reply. */
void worker_run(worker *self, const run_request *request, done_reply *reply);

/* Control bits of the floating-point unit: rounding, flushing, exception masks; no sticky flags. */
uint64_t worker_float_mode(void);

#endif
