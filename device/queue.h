/* SPDX-License-Identifier: MIT */
/* queue.h - what opened queues share; the CPU queue: a thread count and a thread-local arena for scratch. */
#ifndef ASSAY_QUEUE_H
#define ASSAY_QUEUE_H

#include <stdbool.h>

#include "assay/workshop.h"

#include "status.h"

/* What the public calls on an opened queue do, by kind. */
typedef struct assay_queue_kind {
  void (*close)(assay_queue *queue);
  assay_status (*wait)(assay_queue *queue);
  void (*release)(assay_queue *queue); /* takes back the scratch of the call that ends; NULL: nothing */
  const char *(*log)(const assay_queue *queue); /* what assay_queue_log gives; NULL: nothing */
} assay_queue_kind;

/* A queue that assay_queue_open_... made. Kinds with more state put this first in a struct of their own. */
typedef struct assay_queue_owned {
  assay_queue queue;
  const assay_queue_kind *kind;
} assay_queue_owned;

/* What every opening begins with: sets *queue to NULL and judges the arguments; 0 threads become the default.
 */
assay_status assay_queue_check_open(int *threads, assay_queue **queue, assay_message *why);

/* What a compiler printed when it refused the source of the last launch on an opened queue, whole; ""
 * otherwise. It belongs to the queue and stays until the queue launches something that is not loaded yet. */
const char *assay_queue_log(const assay_queue *queue);

/* Ends a call on any queue: scratch that a queue of the library handed out becomes invalid, on a CUDA queue
 * when its stream gets there. Dispatch calls this when a kernel has returned, and whoever calls a kernel
 * directly must. Queues with calls of their own manage what they hand out. */
void assay_queue_release(assay_queue *queue);

/* Fills in a queue that the caller owns (no allocation), for threads 1..1024. */
void assay_queue_init_cpu(assay_queue *queue, int threads);

/* `scratch` of the CPU and emulator queues: memory from the calling thread's arena. */
void *assay_arena_scratch(assay_queue *queue, size_t bytes);
void *assay_emulator_scratch(assay_queue *queue, size_t bytes);

/* Whether this queue's scratch comes from that arena, and so must be given back by assay_scratch_release. */
bool assay_queue_uses_arena(const assay_queue *queue);

/* Gives the calling thread's scratch back: everything that its queues handed out since the last release
 * becomes invalid; the memory stays with the thread for the next call. */
void assay_scratch_release(void);

#endif
