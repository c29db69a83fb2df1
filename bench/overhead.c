/* SPDX-License-Identifier: MIT */
/* overhead.c - times an empty kernel between two events, in a graph and launched one by one. */
#include "overhead.h"

#include "check/gauge.h"
#include "stats.h"

enum { CALLS = 20 }; /* as in a usual sample */

typedef struct empty_work {
  assay_queue *queue;
  gauge gauge;
  cuda_event start, end;
  cuda_captured graph;
} empty_work;

static assay_status call_all(const empty_work *work, assay_message *why) {
  assay_status status = ASSAY_OK;
  for (int i = 0; i < CALLS && status == ASSAY_OK; i++)
    status = gauge_nothing(&work->gauge, work->queue, why);
  return status;
}

static assay_status run(const empty_work *work, int which, assay_message *why) {
  if (which == OVERHEAD_GRAPH) return assay_cuda_captured_launch(work->queue, &work->graph, why);
  return call_all(work, why);
}

/* One more sample, as the worker takes it: a graph is handed over while the GPU is busy. A first run that is
 * not kept comes before all of them. */
static assay_status sample(const empty_work *work, int which, int64_t *nanoseconds, assay_message *why) {
  double milliseconds = 0;
  assay_status status = which == OVERHEAD_GRAPH ? gauge_start(&work->gauge, work->queue, why) : ASSAY_OK;
  if (status == ASSAY_OK) status = assay_cuda_event_record(work->queue, work->start, why);
  if (status == ASSAY_OK) status = run(work, which, why);
  if (status == ASSAY_OK) status = assay_cuda_event_record(work->queue, work->end, why);
  if (status == ASSAY_OK)
    status = assay_cuda_event_elapsed(work->queue, work->start, work->end, &milliseconds, why);
  *nanoseconds = milliseconds > 0 ? (int64_t)(milliseconds * 1e6) : 1;
  return status;
}

static assay_status measure(const empty_work *work, int which, gpu_overhead *one, assay_message *why) {
  double values[OVERHEAD_SAMPLES];
  int64_t first = 0;
  assay_status status = sample(work, which, &first, why);
  for (; one->count < OVERHEAD_SAMPLES && status == ASSAY_OK; one->count++) {
    status = sample(work, which, &one->samples[one->count], why);
    values[one->count] = (double)one->samples[one->count];
  }
  if (status == ASSAY_OK) one->call_ns = assay_median(values, OVERHEAD_SAMPLES) / (double)one->calls;
  return status;
}

static assay_status capture(empty_work *work, assay_message *why) {
  assay_message ended = {""};
  assay_status status = assay_cuda_capture_begin(work->queue, why);
  if (status != ASSAY_OK) return status;
  status = call_all(work, why);
  const assay_status end = assay_cuda_capture_end(work->queue, &work->graph, &ended);
  return status != ASSAY_OK || end == ASSAY_OK ? status : assay_explain(why, end, "%s", ended.text);
}

assay_status overheads_measure(gpu_overhead overheads[OVERHEADS], assay_message *why) {
  static const char *const names[OVERHEADS] = {"empty graph node", "empty launch"};
  empty_work work = {.queue = NULL};
  for (int i = 0; i < OVERHEADS; i++) overheads[i] = (gpu_overhead){.name = names[i], .calls = CALLS};
  assay_status status = assay_queue_open_cuda(0, NULL, &work.queue);
  if (status != ASSAY_OK) return assay_explain(why, status, "%s", assay_last_error());
  status = assay_cuda_event_open(work.queue, &work.start, why);
  if (status == ASSAY_OK) status = assay_cuda_event_open(work.queue, &work.end, why);
  if (status == ASSAY_OK) status = gauge_open(&work.gauge, work.queue, why);
  if (status == ASSAY_OK) status = capture(&work, why);
  for (int i = 0; i < OVERHEADS && status == ASSAY_OK; i++) status = measure(&work, i, &overheads[i], why);
  assay_cuda_captured_close(work.queue, &work.graph);
  gauge_close(&work.gauge, work.queue);
  assay_cuda_event_close(work.queue, work.start);
  assay_cuda_event_close(work.queue, work.end);
  assay_queue_close(work.queue);
  return status;
}
