/* SPDX-License-Identifier: MIT */
/* worker_queue.c - judged queues: scratch between guards on the host, red zones on a device, real launches.
 */
#include "worker_queue.h"

#include <string.h>

#include "emulator.h"
#include "queue.h"
#include "worker_cuda.h"
#include "worker_nvrtc.h"
#include "worker_trace.h"
#include "worker_watch.h"

static void *judged_scratch(assay_queue *queue, size_t bytes) {
  judged_queue *judged = (judged_queue *)queue;
  const size_t page = 4096;
  if (bytes == 0 || bytes > SIZE_MAX / 4 || judged->block_count == JUDGED_SCRATCH) return NULL;
  const size_t aligned = (bytes + 63) / 64 * 64;
  const size_t page_bytes = (aligned + page - 1) / page * page;
  assay_mapping *block = &judged->blocks[judged->block_count];
  if (!assay_mapping_open(block, -1, page_bytes, true)) return NULL;
  judged->block_count++;
  assay_poison_fill(block->pages, ASSAY_FP32, (int64_t)(page_bytes / 4), judged->poison++);
  /* The end touches the guard, the start stays 64-byte aligned. */
  unsigned char *data = block->pages + (page_bytes - aligned);
  if (judged->watch != NULL && !worker_watch_scratch(judged->watch, data, bytes)) return NULL;
  return data;
}

static void *device_scratch(assay_queue *queue, size_t bytes) {
  judged_queue *judged = (judged_queue *)queue;
  return worker_cuda_scratch(judged->real, bytes, judged->poison++);
}

static assay_status judged_launch(assay_queue *queue, const assay_launch *launch) {
  judged_queue *judged = (judged_queue *)queue;
  if (judged->trace != NULL) worker_trace_launch(judged->trace, launch);
  assay_status status = judged->watch != NULL ? worker_watch_launch(judged->watch, launch)
                                              : judged->real->calls->launch(judged->real, launch);
  if (status == ASSAY_UNAVAILABLE) judged->unavailable = true;
  if (status == ASSAY_OK && judged->real->device == ASSAY_DEVICE_EMULATOR) {
    assay_message why;
    status = worker_nvrtc_check(launch, &why);
    if (status != ASSAY_OK) assay_set_last_error(why.text);
  }
  return status;
}

bool judged_queue_open(judged_queue *judged, assay_backend backend, int threads, uint64_t poison,
                       uint64_t schedule, assay_message *why) {
  *judged = (judged_queue){.poison = poison};
  judged->calls = (assay_queue_calls){.version = 2, .scratch = judged_scratch};
  if (backend == ASSAY_CPU) {
    assay_queue_init_cpu(&judged->queue, threads);
    judged->queue.calls = &judged->calls;
    return true;
  }
  const assay_status status = backend == ASSAY_SIMT ? assay_queue_open_emulator(threads, &judged->real)
                                                    : assay_queue_open_cuda(0, NULL, &judged->real);
  if (status != ASSAY_OK) {
    (void)assay_explain(why, status, "%s", assay_last_error());
    return false;
  }
  judged->calls.launch = judged_launch;
  if (backend == ASSAY_SIMT) assay_emulator_seed(judged->real, schedule);
  if (backend == ASSAY_CUDA) judged->calls.scratch = device_scratch;
  judged->queue = *judged->real;
  judged->queue.calls = &judged->calls;
  return true;
}

void judged_queue_close(judged_queue *judged) {
  judged_queue_release(judged);
  assay_queue_close(judged->real);
  judged->real = NULL;
}

void judged_queue_release(judged_queue *judged) {
  for (int i = 0; i < judged->block_count; i++) assay_mapping_close(&judged->blocks[i]);
  judged->block_count = 0;
  if (judged->real != NULL) assay_queue_release(judged->real);
}
