/* SPDX-License-Identifier: MIT */
/* ceiling_cuda.c - what a GPU can do at most: bytes copied within its memory, and products of its matrix
 * units fed from registers by warps (wgmma can be faster; it needs shared memory). */
#include <stdio.h>

#include "ceiling.h"
#include "cuda_tools.h"
#include "stats.h"

enum { COPY_BYTES = 1 << 30, WARPS = 8, THREADS = 32 * WARPS, BLOCKS_A_MULTIPROCESSOR = 8, STEPS = 20000 };
static const double step_flops = 8 * 2.0 * 16 * 8 * 16; /* of a warp: see burst.cu */

/* What is measured: one thing put on the stream. */
typedef struct gpu_work {
  assay_queue *queue;
  unsigned char *memory; /* twice COPY_BYTES */
  int64_t blocks;
  cuda_event start, end;
} gpu_work;

typedef assay_status gpu_part(const gpu_work *work, assay_message *why);

static assay_status copy_part(const gpu_work *work, assay_message *why) {
  return assay_cuda_copy_within(work->queue, work->memory + COPY_BYTES, work->memory, COPY_BYTES, why);
}

static assay_status multiply_part(const gpu_work *work, assay_message *why) {
  const struct {
    void *sink;
    int64_t steps;
  } args = {work->memory, STEPS};
  const assay_define none[] = {{NULL, 0}};
  const assay_launch launch = {.file = "check/burst.cu",
                               .kernel = "burst",
                               .grid = {(uint32_t)work->blocks, 1, 1},
                               .block = {THREADS, 1, 1},
                               .defines = none,
                               .args = &args,
                               .arg_bytes = sizeof args};
  const assay_status status = work->queue->calls->launch(work->queue, &launch);
  return status == ASSAY_OK ? status : assay_explain(why, status, "%s", assay_last_error());
}

static assay_status measure(ceiling *one, gpu_part *part, const gpu_work *work, assay_message *why) {
  double seconds[CEILING_SAMPLES];
  assay_status status = part(work, why); /* loading, clocks */
  for (one->count = 0; one->count < CEILING_SAMPLES && status == ASSAY_OK; one->count++) {
    double milliseconds = 0;
    status = assay_cuda_event_record(work->queue, work->start, why);
    if (status == ASSAY_OK) status = part(work, why);
    if (status == ASSAY_OK) status = assay_cuda_event_record(work->queue, work->end, why);
    if (status == ASSAY_OK)
      status = assay_cuda_event_elapsed(work->queue, work->start, work->end, &milliseconds, why);
    one->samples[one->count] = milliseconds > 0 ? (int64_t)(milliseconds * 1e6) : 1;
    seconds[one->count] = (double)one->samples[one->count] * 1e-9;
  }
  if (status == ASSAY_OK) one->rate = one->work / assay_median(seconds, CEILING_SAMPLES);
  return status;
}

static assay_status measure_all(gpu_work *work, ceiling ceilings[CEILINGS], assay_message *why) {
  void *memory = NULL;
  assay_status status = assay_cuda_event_open(work->queue, &work->start, why);
  if (status == ASSAY_OK) status = assay_cuda_event_open(work->queue, &work->end, why);
  if (status == ASSAY_OK) status = assay_cuda_memory_open(work->queue, 2 * (size_t)COPY_BYTES, &memory, why);
  work->memory = memory;
  if (status == ASSAY_OK) status = assay_cuda_fill(work->queue, memory, 0x3c, 2 * (size_t)COPY_BYTES, why);
  /* The burst warms the GPU up, so it comes first. */
  if (status == ASSAY_OK) status = measure(&ceilings[CEILING_FMA], multiply_part, work, why);
  if (status == ASSAY_OK) status = measure(&ceilings[CEILING_COPY], copy_part, work, why);
  assay_cuda_memory_close(work->queue, memory);
  assay_cuda_event_close(work->queue, work->start);
  assay_cuda_event_close(work->queue, work->end);
  return status;
}

assay_status ceilings_measure_cuda(ceiling ceilings[CEILINGS], int64_t *cache_bytes, assay_message *why) {
  static const char *const names[CEILINGS] = {"device copy", "", "fp16 mma"};
  cuda_device_info info;
  gpu_work work = {0};
  for (int i = 0; i < CEILINGS; i++) ceilings[i] = (ceiling){.name = names[i], .flops = i == CEILING_FMA};
  assay_status status = assay_cuda_device(0, &info, why);
  if (status != ASSAY_OK) return status;
  *cache_bytes = info.cache_bytes;
  work.blocks = (int64_t)info.multiprocessors * BLOCKS_A_MULTIPROCESSOR;
  ceilings[CEILING_COPY].work = 2.0 * COPY_BYTES;
  ceilings[CEILING_FMA].work = step_flops * STEPS * WARPS * (double)work.blocks;
  status = assay_queue_open_cuda(0, NULL, &work.queue);
  if (status != ASSAY_OK) return assay_explain(why, status, "%s", assay_last_error());
  status = measure_all(&work, ceilings, why);
  assay_queue_close(work.queue);
  return status;
}
