/* SPDX-License-Identifier: MIT */
/* worker_call.c - the calls of one request: judged queues, one thread a queue number. */
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mustfail.h"
#include "worker.h"
#include "worker_cuda.h"
#include "worker_queue.h"
#include "worker_trace.h"
#include "worker_watch.h"

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

assay_tensor worker_tensor(const worker *self, const wire_tensor *wire) {
  assay_tensor tensor = wire->tensor;
  tensor.data = NULL;
  if (wire->slot < 0 || wire->slot >= PROTOCOL_SLOTS) return tensor;
  if (self->backend == ASSAY_CUDA) {
    tensor.data = worker_cuda_data(wire->slot, wire->offset);
  } else {
    tensor.data = self->operands[wire->slot].data + wire->offset;
  }
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
  int unavailable;       /* the status says so because of this machine */
  pthread_mutex_t *gate; /* NULL: alone. Held until all lanes exist, so that they start together */
} lane;

assay_status worker_call(const worker_target *target, int entry, const assay_tensor *in,
                         const assay_tensor *out, const int64_t *opt, assay_queue *queue,
                         assay_message *why) {
  if (target->op != NULL) {
    return assay_operator_call(target->op, target->variant, entry, in, out, opt, queue, why);
  }
  must_fail_select(entry);
  assay_set_last_error("");
  const assay_status status = target->entry[entry](in, out, opt, queue);
  if (status != ASSAY_OK) (void)assay_explain(why, status, "%s", assay_last_error()); /* of a launch */
  return status;
}

static assay_status call(worker *self, const wire_call *wire, assay_queue *queue, assay_message *why) {
  assay_tensor in[ASSAY_MAX_OPERANDS];
  assay_tensor out[ASSAY_MAX_OPERANDS];
  for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) {
    in[i] = worker_tensor(self, &wire->in[i]);
    out[i] = worker_tensor(self, &wire->out[i]);
  }
  return worker_call(&self->target, wire->entry, in, out, wire->opt, queue, why);
}

/* One call on the GPU, with what its stream and the other one do around it. */
static assay_status call_between(lane *work, const wire_call *wire, judged_queue *judged,
                                 assay_streams streams) {
  if (!worker_cuda_begin(judged->real, wire, streams, &work->why)) return ASSAY_UNAVAILABLE;
  const bool replay = streams == ASSAY_STREAMS_REPLAY;
  const assay_status status = replay ? ASSAY_OK : call(work->self, wire, &judged->queue, &work->why);
  const assay_status ended = worker_cuda_end(judged->real, streams, status, &work->why);
  return status != ASSAY_OK ? status : ended;
}

/* One call on the emulator, whose tools watch it or whose launches are timed. */
static assay_status call_watched(lane *work, const wire_call *wire, judged_queue *judged) {
  worker_watch watch;
  assay_status status =
      worker_watch_begin(&watch, work->self, judged, wire, work->request->watch, &work->why);
  if (status == ASSAY_UNAVAILABLE || status == ASSAY_NO_MEMORY) work->unavailable = 1;
  if (status == ASSAY_OK) status = call(work->self, wire, &judged->queue, &work->why);
  return worker_watch_end(&watch, status, &work->why);
}

static assay_status call_and_wait(lane *work, const wire_call *wire, judged_queue *judged) {
  if (work->self->backend == ASSAY_SIMT && (work->request->watch != 0 || work->self->watch != NULL))
    return call_watched(work, wire, judged);
  if (work->self->backend != ASSAY_CUDA) return call(work->self, wire, &judged->queue, &work->why);
  const assay_streams streams = (assay_streams)work->request->streams;
  assay_status status = ASSAY_OK;
  /* Loading a kernel waits for the device and cannot be captured: a first call gets that over with. */
  if (streams == ASSAY_STREAMS_BUSY || streams == ASSAY_STREAMS_CAPTURE) {
    status = call_between(work, wire, judged, ASSAY_STREAMS_QUIET);
    judged_queue_release(judged);
  }
  return status != ASSAY_OK ? status : call_between(work, wire, judged, streams);
}

static void run_lane(lane *work) {
  judged_queue judged;
  const run_request *request = work->request;
  if (!judged_queue_open(&judged, work->self->backend, request->threads,
                         request->poison + (uint64_t)work->queue, request->schedule, &work->why)) {
    work->status = ASSAY_UNAVAILABLE;
    work->unavailable = 1;
    return;
  }
  if (work->self->trace != NULL) worker_trace_attach(&judged, work->self->trace);
  for (int i = 0; i < request->call_count && work->status == ASSAY_OK; i++) {
    const wire_call *wire = &request->calls[i];
    if (wire->queue != work->queue) continue;
    const uint64_t mode = worker_float_mode();
    work->status = call_and_wait(work, wire, &judged);
    if (worker_float_mode() != mode) work->mode_changed = 1;
    judged_queue_release(&judged);
  }
  if (judged.unavailable || (work->self->target.op != NULL && work->status == ASSAY_UNAVAILABLE))
    work->unavailable = 1;
  judged_queue_close(&judged);
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
  assay_message why = {""};
  int count = 0;
  if (self->backend == ASSAY_CUDA && !worker_cuda_upload(self, request, &why)) {
    reply->failed = reply->unavailable = 1; /* not enough memory on the GPU, most likely */
    snprintf(reply->text, sizeof reply->text, "%s", why.text);
    return;
  }
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
      reply->unavailable = lanes[i].unavailable;
      snprintf(reply->text, sizeof reply->text, "%s", lanes[i].why.text);
    }
  }
  if (self->backend == ASSAY_CUDA && reply->failed == 0) worker_cuda_download(self, request, reply);
}
