/* SPDX-License-Identifier: MIT */
/* worker_bench.h - what timed calls on the CPU and on a GPU share. */
#ifndef ASSAY_WORKER_BENCH_H
#define ASSAY_WORKER_BENCH_H

#include "worker.h"

/* The calls of one request. */
typedef struct timed_call {
  const worker_target *target;
  const bench_request *request;
  assay_tensor in[ASSAY_MAX_OPERANDS];
  assay_tensor out[ASSAY_MAX_OPERANDS];
  assay_status status;
  assay_message why;
} timed_call;

/* The operand of the wire's slot, when it is mapped apart; otherwise NULL. */
worker_operand *worker_operand_of(worker *self, const wire_tensor *wire);

/* The judge's clock starts when it lets us go, and ends with TIMED. False: the judge has gone. */
bool worker_wait_for_go(const worker *self);
bool worker_say_timed(const worker *self);

/* worker_bench_cuda.c: refills device memory, calls, times them by events; afterwards the judge's memory of
 * the outputs holds what is on the device, and the reply says whether an input was changed. */
void worker_bench_cuda(worker *self, timed_call *work, done_reply *reply);

/* Gives the device memory of a slot back. */
void worker_bench_cuda_forget(int slot);

#endif
