/* SPDX-License-Identifier: MIT */
/*
 * worker_cuda.h - operands on a GPU: each mapped operand has a mirror in device memory between red zones.
 *
 * A call finds its inputs copied on the queue's own stream, behind a kernel that takes its time: work that
 * somebody puts on another stream runs too early, and reads what is not there yet. Afterwards the mirrors
 * come back: red zones and inputs must be as they were.
 */
#ifndef ASSAY_WORKER_CUDA_H
#define ASSAY_WORKER_CUDA_H

#include "probe.h"
#include "worker.h"

/* Driver, device 0 and NVRTC; false with the reason. Only the worker ever opens the GPU. */
bool worker_cuda_open(assay_message *why);

/* Gives the mirror of a slot back. */
void worker_cuda_forget(int slot);

/* The device address `offset` bytes behind the start of a slot's data. */
void *worker_cuda_data(int slot, int64_t offset);

/* Device scratch between red zones, poisoned; NULL when there is none. */
void *worker_cuda_scratch(assay_queue *real, size_t bytes, uint64_t poison);

/* Before the lanes start: contents of all operands to staging memory on the device. */
bool worker_cuda_upload(worker *self, const run_request *request, assay_message *why);

/* Around one call on a lane's queue: what is on the stream before it, and how it must end. */
bool worker_cuda_begin(assay_queue *real, const wire_call *wire, assay_streams streams, assay_message *why);
assay_status worker_cuda_end(assay_queue *real, assay_streams streams, assay_status called,
                             assay_message *why);

/* After the lanes: outputs to their mappings, red zones and inputs examined; a finding fails the reply. */
void worker_cuda_download(worker *self, const run_request *request, done_reply *reply);

#endif
