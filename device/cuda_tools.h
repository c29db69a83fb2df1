/* SPDX-License-Identifier: MIT */
/*
 * cuda_tools.h - what checks and measurements need beside a queue: device memory, copies, events, captured
 * graphs.
 *
 * Every function takes an opened CUDA queue. Errors: NO_MEMORY, KERNEL_FAULT (a kernel failed before),
 * UNAVAILABLE (the driver refuses), each with the driver's words.
 */
#ifndef ASSAY_CUDA_TOOLS_H
#define ASSAY_CUDA_TOOLS_H

#include "cuda_driver.h"
#include "queue.h"

/* Device memory of at least one byte, 256-byte aligned; contents undefined. Freeing NULL does nothing; it
 * waits for the device. */
assay_status assay_cuda_memory_open(assay_queue *queue, size_t bytes, void **memory, assay_message *why);
void assay_cuda_memory_close(assay_queue *queue, void *memory);

/* In stream order. Host memory that is not pinned is free for other use when copy_in returns; what copy_out
 * writes is there after assay_queue_wait. */
assay_status assay_cuda_copy_in(assay_queue *queue, void *device, const void *host, size_t bytes,
                                assay_message *why);
assay_status assay_cuda_copy_out(assay_queue *queue, void *host, const void *device, size_t bytes,
                                 assay_message *why);
assay_status assay_cuda_copy_within(assay_queue *queue, void *to, const void *from, size_t bytes,
                                    assay_message *why);
assay_status assay_cuda_fill(assay_queue *queue, void *device, unsigned char value, size_t bytes,
                             assay_message *why);

/* Takes away what kernels may have set aside in the second-level cache for data of their own, and lets none
 * set anything aside from now on. A driver or device without such a share has nothing to take away. */
void assay_cuda_share_cache(assay_queue *queue);

/* Points in a stream. Elapsed waits for `end`. */
assay_status assay_cuda_event_open(assay_queue *queue, cuda_event *event, assay_message *why);
assay_status assay_cuda_event_record(assay_queue *queue, cuda_event event, assay_message *why);
assay_status assay_cuda_event_follow(assay_queue *queue, cuda_event event,
                                     assay_message *why); /* the stream waits */
assay_status assay_cuda_event_elapsed(assay_queue *queue, cuda_event start, cuda_event end, double *time_ms,
                                      assay_message *why);
void assay_cuda_event_close(assay_queue *queue, cuda_event event);

/* Everything that this thread gives the queue between begin and end is recorded and does not run. Launch once
 * before, so that nothing has to be compiled meanwhile. A failure in between ends the capture, and end tells
 * of it. */
typedef struct cuda_captured {
  cuda_graph_exec exec;
  size_t nodes;
} cuda_captured;

assay_status assay_cuda_capture_begin(assay_queue *queue, assay_message *why);
assay_status assay_cuda_capture_end(assay_queue *queue, cuda_captured *captured, assay_message *why);
assay_status assay_cuda_captured_launch(assay_queue *queue, const cuda_captured *captured,
                                        assay_message *why);
void assay_cuda_captured_close(assay_queue *queue, cuda_captured *captured);

#endif
