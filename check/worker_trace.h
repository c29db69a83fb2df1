/* SPDX-License-Identifier: MIT */
/*
 * worker_trace.h - what one block of an emulated kernel did, written down where judge and worker both see it.
 *
 * The page is shared memory and filled step by step, so that it tells how far a kernel came that took its
 * process down. For the judge it is a claim: a kernel can write there.
 */
#ifndef ASSAY_WORKER_TRACE_H
#define ASSAY_WORKER_TRACE_H

#include "worker_queue.h"

enum { TRACE_LAUNCHES = 16, TRACE_STEPS_MOST = 100000 };

/* One step of a warp, or of single threads one after another that did the same. */
typedef struct trace_step {
  uint32_t launch; /* index into launches */
  uint32_t warp;
  uint32_t mask; /* the lanes */
  int32_t line;  /* 0: none */
  char what[24];
} trace_step;

typedef struct trace_launch {
  char kernel[64];
  assay_dim3 grid, block;
  uint32_t shared_bytes, cluster;
} trace_launch;

typedef struct trace_page {
  uint32_t block;      /* which one: the number that counts x first, then y, then z */
  uint32_t steps_most; /* how many steps are kept */
  uint32_t launches_made;
  uint32_t kept;
  uint64_t steps;     /* of the block, kept or not */
  uint64_t elsewhere; /* of other blocks */
  trace_launch launches[TRACE_LAUNCHES];
  trace_step last; /* of the block, whether it was kept or not */
  trace_step step[];
} trace_page;

size_t trace_page_bytes(uint32_t steps_most);

/* From now on the launches of an emulator's queue are written to the page. */
void worker_trace_attach(judged_queue *judged, trace_page *page);

/* Before each launch of such a queue. */
void worker_trace_launch(trace_page *page, const assay_launch *launch);

#endif
