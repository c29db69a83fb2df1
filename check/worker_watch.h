/* SPDX-License-Identifier: MIT */
/*
 * worker_watch.h - what the emulator's tools see during the calls of a request, where judge and worker both
 * find it. For the judge it is a claim: a kernel can write there.
 */
#ifndef ASSAY_WORKER_WATCH_H
#define ASSAY_WORKER_WATCH_H

#include "emulator_watch.h"
#include "worker.h"
#include "worker_queue.h"

typedef struct watch_page {
  int32_t finding_count;
  assay_finding findings[ASSAY_FINDINGS_MOST];
  assay_counts all, in[ASSAY_MAX_OPERANDS], out[ASSAY_MAX_OPERANDS];
  int64_t launch_ns; /* that launches took, watched or not */
} watch_page;

/* One call that is watched, or whose launches are timed. */
typedef struct worker_watch {
  judged_queue *judged;
  watch_page *page; /* NULL: nobody wants to know more than whether there was a finding */
  uint32_t tools;
  int in_count, out_count; /* the regions are the inputs, then the outputs */
  int64_t launch_ns;
} worker_watch;

/* From now on the queue's launches are watched, until worker_watch_end. Errors as assay_emulator_watch. */
assay_status worker_watch_begin(worker_watch *watch, const worker *self, judged_queue *judged,
                                const wire_call *wire, uint32_t tools, assay_message *why);

/* Adds what was seen to the page. A finding turns ASSAY_OK into ASSAY_KERNEL_FAULT: a host function may have
 * passed over its launch's status. */
assay_status worker_watch_end(worker_watch *watch, assay_status status, assay_message *why);

/* A piece of scratch, and a launch, of such a queue. */
bool worker_watch_scratch(worker_watch *watch, void *start, size_t bytes);
assay_status worker_watch_launch(worker_watch *watch, const assay_launch *launch);

/* Adds a finding to a list of `count` with room for `most`: one at the same lines is the same. False where
 * there is no room. */
bool watch_add_finding(assay_finding *list, int32_t *count, int most, const assay_finding *finding);
void watch_add_counts(assay_counts *sum, const assay_counts *more);

#endif
