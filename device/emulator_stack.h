/* SPDX-License-Identifier: MIT */
/* emulator_stack.h - memory that a thread of the operating system keeps for the blocks that it emulates. */
#ifndef ASSAY_EMULATOR_STACK_H
#define ASSAY_EMULATOR_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ASSAY_LANE_STACK_BYTES = 64 << 10, ASSAY_STACKS_MOST = 16384 };

/* Memory between two pages that nobody may touch. */
typedef struct assay_guarded {
  char *mapping;
  size_t mapped_bytes;
  char *end; /* where the second guard begins */
} assay_guarded;

bool assay_guarded_make(assay_guarded *memory, size_t bytes);
void assay_guarded_free(assay_guarded *memory);

/* The stacks of one thread's coroutines, each above a guard page. They stay from launch to launch and go with
 * the thread. */
typedef struct assay_stacks assay_stacks;

/* The calling thread's stacks, at least `count` of them (at most ASSAY_STACKS_MOST); NULL without memory.
 * Also sees to it that this thread has a stack for signal handlers, so that an overflow can be reported. */
assay_stacks *assay_stacks_take(uint32_t count);

/* Stack k; its size is *bytes. */
void *assay_stack(const assay_stacks *stacks, uint32_t k, size_t *bytes);

/* Whether an address is in the guard page below a stack, and below which. Safe in a signal handler. */
bool assay_stack_guards(const assay_stacks *stacks, const void *address, uint32_t *k);

#endif
