/* SPDX-License-Identifier: MIT */
/* worker_call.c - the calls of one request: judged queues with poisoned scratch, one thread a queue number.
 */
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "mustfail.h"
#include "queue.h"
#include "worker.h"

enum { SCRATCH_BLOCKS = 64 };

/* A queue whose scratch lies between guards and holds random finite values. */
typedef struct judged_queue {
  assay_queue queue; /* first: kernels get a pointer to it */
  assay_mapping blocks[SCRATCH_BLOCKS];
  int block_count;
  uint64_t poison;
} judged_queue;

static void *judged_scratch(assay_queue *queue, size_t bytes) {
  judged_queue *judged = (judged_queue *)queue;
  const size_t page = 4096;
  if (bytes == 0 || bytes > SIZE_MAX / 4 || judged->block_count == SCRATCH_BLOCKS) return NULL;
  const size_t aligned = (bytes + 63) / 64 * 64;
  const size_t page_bytes = (aligned + page - 1) / page * page;
  assay_mapping *block = &judged->blocks[judged->block_count];
  if (!assay_mapping_open(block, -1, page_bytes, true)) return NULL;
  judged->block_count++;
  assay_poison_fill(block->pages, ASSAY_FP32, (int64_t)(page_bytes / 4), judged->poison++);
  return block->pages +
         (page_bytes - aligned); /* the end touches the guard, the start stays 64-byte aligned */
}

static void release_scratch(judged_queue *judged) {
  for (int i = 0; i < judged->block_count; i++) assay_mapping_close(&judged->blocks[i]);
  judged->block_count = 0;
}

uint64_t worker_float_mode(void) {
#if defined(__x86_64__)
  const uint32_t sticky = 0x3f;
  uint16_t x87 = 0;
  __asm__ volatile("fnstcw %0" : "=m"(x87));
  return (uint64_t)(__builtin_ia32_stmxcsr() & ~sticky) | (uint64_t)x87 << 32;
#elif defined(__aarch64__)
  uint64_t control = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  return control;
#else
  return (uint64_t)fegetround();
#endif
}

static assay_tensor received(const worker *self, const wire_tensor *wire) {
  assay_tensor tensor = wire->tensor;
  tensor.data = NULL;
  if (wire->slot >= 0 && wire->slot < PROTOCOL_SLOTS)
    tensor.data = self->operands[wire->slot].data + wire->offset;
  return tensor;
}

/* What one thread does: the calls of its queue number, in order. */
typedef struct lane {
  worker *self;
  const run_request *request;
  int queue;
  assay_status status;
  assay_message why;
  int mode_changed;
  pthread_mutex_t *gate; /* NULL: alone. Held until all lanes exist, so that they start together */
} lane;

static assay_status call(worker *self, const wire_call *wire, assay_queue *queue, assay_message *why) {
  assay_tensor in[ASSAY_MAX_OPERANDS];
  assay_tensor out[ASSAY_MAX_OPERANDS];
  for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) {
    in[i] = received(self, &wire->in[i]);
    out[i] = received(self, &wire->out[i]);
  }
  if (self->op != NULL) {
    return assay_operator_call(self->op, self->variant, wire->entry, in, out, wire->opt, queue, why);
  }
  must_fail_select(wire->entry);
  return self->entry[wire->entry](in, out, wire->opt, queue);
}

static void run_lane(lane *work) {
  judged_queue judged = {.poison = work->request->poison + (uint64_t)work->queue};
  assay_queue_calls calls = {.version = 1, .scratch = judged_scratch};
  assay_queue_init_cpu(&judged.queue, work->request->threads);
  judged.queue.calls = &calls;
  for (int i = 0; i < work->request->call_count && work->status == ASSAY_OK; i++) {
    const wire_call *wire = &work->request->calls[i];
    if (wire->queue != work->queue) continue;
    const uint64_t mode = worker_float_mode();
    work->status = call(work->self, wire, &judged.queue, &work->why);
    if (worker_float_mode() != mode) work->mode_changed = 1;
    release_scratch(&judged);
  }
}

static void *lane_thread(void *argument) {
  lane *work = argument;
  worker_use_signal_stack();
  pthread_mutex_lock(work->gate);
  pthread_mutex_unlock(work->gate);
  run_lane(work);
  return NULL;
}

void worker_run(worker *self, const run_request *request, done_reply *reply) {
  lane lanes[PROTOCOL_CALLS];
  pthread_t threads[PROTOCOL_CALLS];
  int count = 0;
  for (int i = 0; i < request->call_count; i++) {
    int known = 0;
    while (known < count && lanes[known].queue != request->calls[i].queue) known++;
    if (known == count)
      lanes[count++] = (lane){.self = self, .request = request, .queue = request->calls[i].queue};
  }
  if (count == 1) {
    run_lane(&lanes[0]); /* on the main thread, whose OpenMP team exists already */
  } else {
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    int started = 0;
    for (int i = 0; i < count; i++) lanes[i].gate = &gate;
    pthread_mutex_lock(&gate);
    while (started < count && pthread_create(&threads[started], NULL, lane_thread, &lanes[started]) == 0)
      started++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    if (started < count) {
      reply->failed = 1;
      snprintf(reply->text, sizeof reply->text, "a thread of the worker could not be started");
    }
  }
  for (int i = 0; i < count; i++) {
    if (lanes[i].mode_changed != 0) reply->mode_changed = 1;
    if (reply->status == ASSAY_OK && lanes[i].status != ASSAY_OK) {
      reply->status = (int32_t)lanes[i].status;
      snprintf(reply->text, sizeof reply->text, "%s", lanes[i].why.text);
    }
  }
}
