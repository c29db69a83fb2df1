/* SPDX-License-Identifier: MIT */
/*
 * emulator_watch.h - watching every access of an emulated kernel: four tools that find what a comparison of
 * values can miss, and counts of what a GPU would have moved.
 *
 *   memory  accesses outside every operand, scratch and shared array; misaligned ones
 *   race    two accesses to a byte, one of them a write, that nothing orders: threads of a block, blocks of a
 *           grid; copies (cp.async) that nobody waited for
 *   init    reads of memory that nobody wrote
 *   sync    barriers that not all threads reach, warp operations with wrong masks, waits that never end
 *
 * A watched launch compiles the kernel with the compiler's thread-sanitizer pass over callbacks of our own
 * and runs on one thread of the operating system, so that it repeats exactly.
 */
#ifndef ASSAY_EMULATOR_WATCH_H
#define ASSAY_EMULATOR_WATCH_H

#include <stdbool.h>

#include "assay/workshop.h"

#include "status.h"

typedef enum assay_tool {
  ASSAY_TOOL_MEMORY = 1 << 0,
  ASSAY_TOOL_RACE = 1 << 1,
  ASSAY_TOOL_INIT = 1 << 2,
  ASSAY_TOOL_SYNC = 1 << 3,
  ASSAY_TOOLS_ALL = (1 << 4) - 1,
  ASSAY_TOOL_COUNTS = 1 << 4, /* no findings: fills assay_emulator_counts */
} assay_tool;

/* "memory", "race", "init", "sync"; static storage. */
const char *assay_tool_name(assay_tool tool);

/* What kernels may access in global memory beside the queue's own scratch. */
typedef struct assay_region {
  char name[32]; /* of the operand, for findings: "x" */
  void *start;
  int64_t bytes;         /* from the first to behind the last element; 0 is allowed */
  int32_t element_bytes; /* findings name elements */
  bool written;          /* it holds values before the call; otherwise nobody wrote it yet */
  bool constant;         /* kernels must not write it */
} assay_region;

/* Launches on this queue (one of assay_queue_open_emulator) that follow are watched with these tools; 0 ends
 * that. Regions are copied and replace those of before, and what a launch writes from now on is written for
 * the launches behind it. Forgets findings, counts and scratch. Scratch that the queue hands out from now on
 * belongs to it. Errors: NO_MEMORY; UNAVAILABLE where the compiler cannot instrument. */
assay_status assay_emulator_watch(assay_queue *queue, uint32_t tools, const assay_region *regions, int count);

/* Tells of scratch that a queue in front of this one handed out; nobody has written it yet, and what was
 * registered where it lies is gone. Nothing on a queue that is not watched. */
assay_status assay_emulator_watch_scratch(assay_queue *queue, void *start, size_t bytes);

/* The same kind of mistake at the same two lines is one finding, however often it was seen. */
typedef struct assay_finding {
  assay_tool tool;
  char text[448]; /* one sentence that begins with FILE:LINE, as the emulator's other messages */
  char file[64], kernel[64];
  int32_t line, other_line; /* other_line: of the other thread's access, 0: there is none */
  int64_t times;
} assay_finding;

enum { ASSAY_FINDINGS_MOST = 16 };

/* Of all watched launches since the last assay_emulator_watch. A launch with a finding fails with
 * ASSAY_KERNEL_FAULT and the first one's sentence; it runs to its end first where that is possible. */
int assay_emulator_findings(const assay_queue *queue, const assay_finding **findings);

typedef struct assay_counts {
  int64_t launches, blocks, threads;
  int64_t steps; /* accesses and words of kernel.h, of all threads */
  int64_t barriers, warp_operations, atomics;
  /* Global memory: what the threads asked for, and 32-byte sectors that their warps' accesses touched. */
  int64_t bytes_read, bytes_written, sectors_read, sectors_written;
  /* Shared memory: accesses of a warp, and the passes that they take because of bank conflicts. */
  int64_t shared_accesses, shared_passes;
  int64_t matrix_flops; /* multiplications and additions in mma steps */
} assay_counts;

/* With ASSAY_TOOL_COUNTS, since the last assay_emulator_watch; `region` -1: of everything, otherwise only the
 * fields of global memory, of that region (in the order given). */
assay_counts assay_emulator_counts(const assay_queue *queue, int region);

#endif
