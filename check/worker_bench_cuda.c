/* SPDX-License-Identifier: MIT */
/*
 * worker_bench_cuda.c - timed calls on a GPU: operands in plain device memory, two events around the calls.
 *
 * With the timer `graph` the calls are captured and the graph is launched once, so that nothing of the host
 * is in the time. With `events` they are launched one by one, as a program does. A burst of matrix products
 * comes before either: a GPU that has waited runs at a fraction of its clock. Which clock it was is measured
 * right behind the calls (gauge.cu).
 */
#include "worker_bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cuda_tools.h"
#include "gauge.h"
#include "timer.h"

enum { BURST_BLOCKS_A_MULTIPROCESSOR = 4, BURST_THREADS = 256, BURST_STEPS = 40000 };

/* What this process has on the GPU for timed calls. */
static struct {
  assay_queue *queue;
  cuda_event start, end;
  gauge gauge;
  void *memory[PROTOCOL_SLOTS];
  void *pristine[PROTOCOL_SLOTS]; /* of inputs: what the judge has put there */
  void *sink;
  int64_t burst_blocks;
  void *flush; /* memory whose filling empties the second-level cache */
  size_t flush_bytes;
} gpu;

static bool failed(assay_status status, const assay_message *why, done_reply *reply) {
  if (status == ASSAY_OK) return false;
  reply->failed = 1;
  reply->unavailable = status != ASSAY_KERNEL_FAULT;
  snprintf(reply->text, sizeof reply->text, "%s", why->text);
  return true;
}

static assay_status open_gpu(assay_message *why) {
  cuda_device_info info;
  if (gpu.sink != NULL) return ASSAY_OK;
  assay_status status = assay_cuda_device(0, &info, why);
  if (status == ASSAY_OK && gpu.queue == NULL) {
    status = assay_queue_open_cuda(0, NULL, &gpu.queue);
    if (status != ASSAY_OK) (void)assay_explain(why, status, "%s", assay_last_error());
  }
  if (status == ASSAY_OK) status = assay_cuda_event_open(gpu.queue, &gpu.start, why);
  if (status == ASSAY_OK) status = assay_cuda_event_open(gpu.queue, &gpu.end, why);
  if (status == ASSAY_OK) status = gauge_open(&gpu.gauge, gpu.queue, why);
  if (status != ASSAY_OK) return status;
  gpu.burst_blocks = (int64_t)info.multiprocessors * BURST_BLOCKS_A_MULTIPROCESSOR;
  return assay_cuda_memory_open(gpu.queue, (size_t)gpu.burst_blocks * sizeof(float), &gpu.sink, why);
}

/* ---- operands ------------------------------------------------------------------------------------------ */

void worker_bench_cuda_forget(int slot) {
  if (gpu.memory[slot] != NULL) assay_cuda_memory_close(gpu.queue, gpu.memory[slot]);
  if (gpu.pristine[slot] != NULL) assay_cuda_memory_close(gpu.queue, gpu.pristine[slot]);
  gpu.memory[slot] = NULL;
  gpu.pristine[slot] = NULL;
}

static assay_status upload(const worker_operand *operand, void *memory, assay_message *why) {
  return assay_cuda_copy_in(gpu.queue, memory, operand->shared.pages + operand->offset, operand->bytes, why);
}

/* Inputs come from a copy on the device, which is made when the judge has new ones: theirs are hundreds of
 * megabytes at times, and the way from the host is slow. */
static assay_status refill_inputs(worker *self, const bench_request *request, assay_message *why) {
  assay_status status = ASSAY_OK;
  for (int i = 0; i < ASSAY_MAX_OPERANDS && status == ASSAY_OK; i++) {
    const wire_tensor *wire = &request->call.in[i];
    const worker_operand *operand = worker_operand_of(self, wire);
    if (operand == NULL) continue;
    void **memory = &gpu.memory[wire->slot];
    void **pristine = &gpu.pristine[wire->slot];
    const bool fresh = request->fresh != 0 || *pristine == NULL;
    if (*memory == NULL) status = assay_cuda_memory_open(gpu.queue, operand->bytes, memory, why);
    if (status == ASSAY_OK && *pristine == NULL)
      status = assay_cuda_memory_open(gpu.queue, operand->bytes, pristine, why);
    if (status == ASSAY_OK && fresh) status = upload(operand, *pristine, why);
    if (status == ASSAY_OK)
      status = assay_cuda_copy_within(gpu.queue, *memory, *pristine, operand->bytes, why);
  }
  return status;
}

/* Memory for the outputs, and with `poisoned` what the judge has put there. */
static assay_status refill_outputs(worker *self, const wire_tensor *wires, bool poisoned,
                                   assay_message *why) {
  assay_status status = ASSAY_OK;
  for (int i = 0; i < ASSAY_MAX_OPERANDS && status == ASSAY_OK; i++) {
    const worker_operand *operand = worker_operand_of(self, &wires[i]);
    if (operand == NULL) continue;
    void **memory = &gpu.memory[wires[i].slot];
    if (*memory == NULL) status = assay_cuda_memory_open(gpu.queue, operand->bytes, memory, why);
    if (status == ASSAY_OK && poisoned) status = upload(operand, *memory, why);
  }
  return status;
}

/* The driver copies into the judge's own memory. */
static assay_status bring_back(worker *self, const wire_tensor *wires, assay_message *why) {
  assay_status status = ASSAY_OK;
  for (int i = 0; i < ASSAY_MAX_OPERANDS && status == ASSAY_OK; i++) {
    const worker_operand *operand = worker_operand_of(self, &wires[i]);
    if (operand == NULL) continue;
    status = assay_cuda_copy_out(gpu.queue, operand->shared.pages + operand->offset,
                                 gpu.memory[wires[i].slot], operand->bytes, why);
  }
  return status;
}

/* 1 + the first input that is not as it was; 0: all are. */
static assay_status find_changed(worker *self, const wire_tensor *wires, int32_t *changed,
                                 assay_message *why) {
  assay_status status = ASSAY_OK;
  for (int i = 0; i < ASSAY_MAX_OPERANDS && status == ASSAY_OK && *changed == 0; i++) {
    const worker_operand *operand = worker_operand_of(self, &wires[i]);
    const int slot = wires[i].slot;
    bool same = true;
    if (operand == NULL) continue;
    status =
        gauge_same(&gpu.gauge, gpu.queue, gpu.memory[slot], gpu.pristine[slot], operand->bytes, &same, why);
    if (status == ASSAY_OK && !same) *changed = 1 + i;
  }
  return status;
}

static void point_at(assay_tensor *tensors, const wire_tensor *wires) {
  for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) {
    tensors[i] = wires[i].tensor;
    tensors[i].data = NULL;
    if (wires[i].slot >= 0 && gpu.memory[wires[i].slot] != NULL)
      tensors[i].data = (char *)gpu.memory[wires[i].slot] + wires[i].offset;
  }
}

/* ---- before the calls ---------------------------------------------------------------------------------- */

static assay_status wait(assay_message *why) {
  const assay_status status = assay_queue_wait(gpu.queue);
  return status == ASSAY_OK ? status : assay_explain(why, status, "%s", assay_last_error());
}

static assay_status burst(assay_message *why) {
  const struct {
    void *sink;
    int64_t steps;
  } args = {gpu.sink, BURST_STEPS};
  const assay_define none[] = {{NULL, 0}};
  const assay_launch launch = {.file = "check/burst.cu",
                               .kernel = "burst",
                               .grid = {(uint32_t)gpu.burst_blocks, 1, 1},
                               .block = {BURST_THREADS, 1, 1},
                               .defines = none,
                               .args = &args,
                               .arg_bytes = sizeof args};
  const assay_status status = gpu.queue->calls->launch(gpu.queue, &launch);
  return status == ASSAY_OK ? status : assay_explain(why, status, "%s", assay_last_error());
}

static assay_status flush(size_t bytes, assay_message *why) {
  if (bytes > gpu.flush_bytes) {
    assay_cuda_memory_close(gpu.queue, gpu.flush);
    gpu.flush = NULL;
    gpu.flush_bytes = 0;
    const assay_status status = assay_cuda_memory_open(gpu.queue, bytes, &gpu.flush, why);
    if (status != ASSAY_OK) return status;
    gpu.flush_bytes = bytes;
  }
  return assay_cuda_fill(gpu.queue, gpu.flush, 0x5a, bytes, why);
}

/* ---- the calls ----------------------------------------------------------------------------------------- */

static void repeat(timed_call *work, int64_t calls) {
  const wire_call *wire = &work->request->call;
  for (int64_t i = 0; i < calls && work->status == ASSAY_OK; i++) {
    work->status =
        worker_call(work->target, wire->entry, work->in, work->out, wire->opt, gpu.queue, &work->why);
    if (work->target->op == NULL) assay_queue_release(gpu.queue);
  }
}

/* Captures the calls; every call must have left the same number of nodes, and at least one. */
static assay_status capture(timed_call *work, cuda_captured *graph, assay_message *why) {
  const int64_t calls = work->request->calls;
  assay_status status = assay_cuda_capture_begin(gpu.queue, why);
  if (status != ASSAY_OK) return status;
  repeat(work, calls);
  status = assay_cuda_capture_end(gpu.queue, graph, why);
  if (work->status != ASSAY_OK || status != ASSAY_OK) return status;
  if (graph->nodes >= (size_t)calls && graph->nodes % (size_t)calls == 0) return ASSAY_OK;
  return assay_explain(why, ASSAY_KERNEL_FAULT,
                       "the graph of %" PRId64 " calls has %zu nodes: a call puts its work elsewhere", calls,
                       graph->nodes);
}

/* A graph reaches an idle GPU later than the event before it: the host would be in the time. The kernel that
 * counts cycles keeps the GPU busy until all of it is there; its answer is overwritten behind the calls. */
static assay_status lead(const timed_call *work, assay_message *why) {
  return work->request->timer == TIMER_GRAPH ? gauge_start(&gpu.gauge, gpu.queue, why) : ASSAY_OK;
}

static assay_status start_calls(timed_call *work, const cuda_captured *graph, assay_message *why) {
  if (work->request->timer == TIMER_GRAPH) return assay_cuda_captured_launch(gpu.queue, graph, why);
  repeat(work, work->request->calls);
  return ASSAY_OK;
}

static assay_status time_calls(worker *self, timed_call *work, const cuda_captured *graph, done_reply *reply,
                               assay_message *why) {
  double milliseconds = 0;
  assay_cuda_share_cache(gpu.queue);
  assay_status status = burst(why);
  if (status == ASSAY_OK && work->request->evict_bytes > 0)
    status = flush((size_t)work->request->evict_bytes, why);
  if (status == ASSAY_OK) status = wait(why);
  if (status != ASSAY_OK) return status;
  if (!worker_wait_for_go(self)) _exit(1);
  status = lead(work, why);
  if (status == ASSAY_OK) status = assay_cuda_event_record(gpu.queue, gpu.start, why);
  if (status == ASSAY_OK) status = start_calls(work, graph, why);
  if (status == ASSAY_OK) status = assay_cuda_event_record(gpu.queue, gpu.end, why);
  if (status == ASSAY_OK) status = gauge_start(&gpu.gauge, gpu.queue, why);
  if (status == ASSAY_OK)
    status = assay_cuda_event_elapsed(gpu.queue, gpu.start, gpu.end, &milliseconds, why);
  reply->nanoseconds = milliseconds > 0 ? (int64_t)(milliseconds * 1e6) : 1;
  if (!worker_say_timed(self)) _exit(1);
  int mhz = 0;
  if (status == ASSAY_OK) status = gauge_read(&gpu.gauge, gpu.queue, &mhz, why);
  reply->sm_mhz = mhz;
  return status;
}

void worker_bench_cuda(worker *self, timed_call *work, done_reply *reply) {
  const wire_call *wire = &work->request->call;
  assay_message why = {""};
  cuda_captured graph = {0};
  assay_status status = open_gpu(&why);
  if (status == ASSAY_OK) status = refill_inputs(self, work->request, &why);
  if (status == ASSAY_OK) status = refill_outputs(self, wire->out, false, &why);
  point_at(work->in, wire->in);
  point_at(work->out, wire->out);
  /* What loads or compiles cannot be captured, and does not belong in the time. */
  if (status == ASSAY_OK) repeat(work, work->request->warmup > 0 ? work->request->warmup : 1);
  if (status == ASSAY_OK && work->status == ASSAY_OK && work->request->timer == TIMER_GRAPH)
    status = capture(work, &graph, &why);
  if (status == ASSAY_OK && work->status == ASSAY_OK) {
    status = refill_outputs(self, wire->out, true, &why);
    if (status == ASSAY_OK) status = time_calls(self, work, &graph, reply, &why);
    reply->graph_nodes = (int32_t)(graph.nodes / (size_t)work->request->calls);
  }
  if (graph.exec != NULL) assay_cuda_captured_close(gpu.queue, &graph);
  if (status == ASSAY_OK && work->status == ASSAY_OK) status = bring_back(self, wire->out, &why);
  if (status == ASSAY_OK && work->status == ASSAY_OK)
    status = find_changed(self, wire->in, &reply->input_changed, &why);
  if (status == ASSAY_OK && gpu.queue != NULL) status = wait(&why);
  (void)failed(status, &why, reply);
}
