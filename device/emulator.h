/* SPDX-License-Identifier: MIT */
/*
 * emulator.h - CUDA kernels on the CPU, thread by thread, with the rules of the GPU enforced.
 *
 * Each thread of a block is a coroutine; blocks run one after another on a thread of the operating system,
 * several of those side by side. Threads change only where the kernel calls one of kernel.h's words, so an
 * order of threads is a seed, and a run with one thread can be repeated exactly. What a GPU leaves undefined
 * or hangs on ends the launch with ASSAY_KERNEL_FAULT and one sentence that starts with the kernel's file and
 * line:
 *
 *   - a barrier that not all threads of the block or cluster reach, or that they reach on different lines
 *   - a warp operation whose mask names lanes that do not come, or not the caller, or a lane that is read
 *   - a wait for memory that nobody will change
 *   - vector access, cp.async and ldmatrix at addresses that are not aligned, or not shared where they must
 * be
 *   - a launch that exceeds what a GPU takes
 *
 * Shared memory holds poison before each block: huge finite numbers or NaN in turn. Dynamic shared memory
 * ends at a page that cannot be touched. cp.async copies when a wait retires it, so a missing wait reads what
 * was there before.
 */
#ifndef ASSAY_EMULATOR_H
#define ASSAY_EMULATOR_H

#include <stdbool.h>

#include "assay/kernel_calls.h"
#include "assay/workshop.h"

#include "status.h"

/* One step of a warp, or of single threads: `mask` has their lanes. */
typedef struct assay_trace_event {
  const char *what; /* "__syncthreads", "begin", "end"; static storage */
  assay_index3 block;
  uint32_t warp;
  uint32_t mask;
  int32_t line; /* 0 for begin and end */
} assay_trace_event;

typedef void assay_trace_call(void *context, const assay_trace_event *event);

/* Where the calling thread of the operating system is in a kernel. */
typedef struct assay_emulator_position {
  const char *file, *kernel;
  assay_index3 block, thread;
  int32_t line;        /* of the last word of kernel.h that this thread called, 0: none yet */
  bool stack_overflow; /* the address lies below this thread's stack */
} assay_emulator_position;

/* All of these take a queue that assay_queue_open_emulator made. */

/* The order of blocks and threads in the launches that follow; 0, the first, is their natural order. */
void assay_emulator_seed(assay_queue *queue, uint64_t seed);

/* Calls `call` at every step from now on, NULL ends it. Launches use one thread meanwhile. */
void assay_emulator_trace(assay_queue *queue, assay_trace_call *call, void *context);

/* Runs a kernel to its end: what assay_queue_calls.launch of the queue does. Also sets assay_last_error().
 * Errors: UNAVAILABLE (no compiler, no source), KERNEL_FAULT, NO_MEMORY. */
assay_status assay_emulator_launch(assay_queue *queue, const assay_launch *launch);

/* The sentence about the queue's last launch that failed, and the compiler's whole output when it did not
 * compile;
 * "" otherwise. Valid until the next launch. */
const char *assay_emulator_message(const assay_queue *queue);
const char *assay_emulator_log(const assay_queue *queue);

/* For a handler of SIGSEGV: false when this thread is in no kernel. `address` is what could not be accessed.
 */
bool assay_emulator_here(const void *address, assay_emulator_position *position);

#endif
