/* SPDX-License-Identifier: MIT */
/* cuda_tools.c - single calls of the driver in a queue's context, with their errors told. */
#include "cuda_tools.h"

#include "cuda_queue.h"

/* What a call needs and leaves behind; `result` is its answer. */
typedef struct tool {
  cuda_queue *cuda;
  const cuda_driver *driver;
  cuda_visit visit;
  cuda_result result;
} tool;

/* True when the context is current; finish is to be called in any case. */
static bool begin(tool *work, assay_queue *queue) {
  work->cuda = assay_cuda_queue_of(queue);
  work->driver = work->cuda->space->driver;
  work->result = assay_cuda_enter(work->cuda, &work->visit);
  return work->result == CUDA_OK;
}

static assay_status finish(const tool *work, const char *action, assay_message *why) {
  assay_cuda_leave(&work->visit);
  return work->result == CUDA_OK ? ASSAY_OK : assay_cuda_explain(work->cuda, work->result, action, why);
}

static cuda_address address_of(const void *memory) {
  return (cuda_address)(uintptr_t)memory;
}

/* ---- memory -------------------------------------------------------------------------------------------- */

assay_status assay_cuda_memory_open(assay_queue *queue, size_t bytes, void **memory, assay_message *why) {
  tool work;
  cuda_address address = 0;
  if (begin(&work, queue)) work.result = work.driver->memory_alloc(&address, bytes > 0 ? bytes : 1);
  *memory = (void *)(uintptr_t)address;
  return finish(&work, "taking device memory", why);
}

void assay_cuda_memory_close(assay_queue *queue, void *memory) {
  tool work;
  assay_message why;
  if (memory == NULL) return;
  if (begin(&work, queue)) work.result = work.driver->memory_free(address_of(memory));
  (void)finish(&work, "giving device memory back", &why);
}

assay_status assay_cuda_copy_in(assay_queue *queue, void *device, const void *host, size_t bytes,
                                assay_message *why) {
  tool work;
  if (begin(&work, queue))
    work.result = work.driver->copy_in(address_of(device), host, bytes, work.cuda->stream);
  return finish(&work, "copying to the device", why);
}

assay_status assay_cuda_copy_out(assay_queue *queue, void *host, const void *device, size_t bytes,
                                 assay_message *why) {
  tool work;
  if (begin(&work, queue))
    work.result = work.driver->copy_out(host, address_of(device), bytes, work.cuda->stream);
  return finish(&work, "copying from the device", why);
}

assay_status assay_cuda_copy_within(assay_queue *queue, void *to, const void *from, size_t bytes,
                                    assay_message *why) {
  tool work;
  if (begin(&work, queue))
    work.result = work.driver->copy_within(address_of(to), address_of(from), bytes, work.cuda->stream);
  return finish(&work, "copying within the device", why);
}

assay_status assay_cuda_fill(assay_queue *queue, void *device, unsigned char value, size_t bytes,
                             assay_message *why) {
  tool work;
  if (begin(&work, queue))
    work.result = work.driver->memory_set(address_of(device), value, bytes, work.cuda->stream);
  return finish(&work, "filling device memory", why);
}

void assay_cuda_share_cache(assay_queue *queue) {
  tool work;
  assay_message why;
  if (begin(&work, queue)) {
    if (work.driver->limit_set != NULL) (void)work.driver->limit_set(CUDA_LIMIT_PERSISTING_CACHE_BYTES, 0);
    if (work.driver->persisting_reset != NULL) (void)work.driver->persisting_reset();
  }
  (void)finish(&work, "sharing the cache", &why);
}

/* ---- events -------------------------------------------------------------------------------------------- */

assay_status assay_cuda_event_open(assay_queue *queue, cuda_event *event, assay_message *why) {
  tool work;
  *event = NULL;
  if (begin(&work, queue)) work.result = work.driver->event_create(event, 0);
  return finish(&work, "making an event", why);
}

assay_status assay_cuda_event_record(assay_queue *queue, cuda_event event, assay_message *why) {
  tool work;
  if (begin(&work, queue)) work.result = work.driver->event_record(event, work.cuda->stream);
  return finish(&work, "recording an event", why);
}

assay_status assay_cuda_event_follow(assay_queue *queue, cuda_event event, assay_message *why) {
  tool work;
  if (begin(&work, queue)) work.result = work.driver->stream_wait_event(work.cuda->stream, event, 0);
  return finish(&work, "following an event", why);
}

assay_status assay_cuda_event_elapsed(assay_queue *queue, cuda_event start, cuda_event end, double *time_ms,
                                      assay_message *why) {
  tool work;
  float elapsed = 0.0f;
  if (begin(&work, queue)) work.result = work.driver->event_wait(end);
  if (work.result == CUDA_OK) work.result = work.driver->event_elapsed(&elapsed, start, end);
  *time_ms = (double)elapsed;
  return finish(&work, "reading the time between two events", why);
}

void assay_cuda_event_close(assay_queue *queue, cuda_event event) {
  tool work;
  assay_message why;
  if (event == NULL) return;
  if (begin(&work, queue)) work.result = work.driver->event_destroy(event);
  (void)finish(&work, "closing an event", &why);
}

/* ---- graphs -------------------------------------------------------------------------------------------- */

assay_status assay_cuda_capture_begin(assay_queue *queue, assay_message *why) {
  tool work;
  if (begin(&work, queue))
    work.result = work.driver->capture_begin(work.cuda->stream, CUDA_CAPTURE_THREAD_LOCAL);
  return finish(&work, "beginning a capture", why);
}

assay_status assay_cuda_capture_end(assay_queue *queue, cuda_captured *captured, assay_message *why) {
  tool work;
  cuda_graph graph = NULL;
  *captured = (cuda_captured){0};
  if (begin(&work, queue)) work.result = work.driver->capture_end(work.cuda->stream, &graph);
  if (work.result == CUDA_OK) work.result = work.driver->graph_nodes(graph, NULL, &captured->nodes);
  if (work.result == CUDA_OK) work.result = work.driver->graph_instantiate(&captured->exec, graph, 0);
  if (work.result == CUDA_OK) work.result = work.driver->graph_upload(captured->exec, work.cuda->stream);
  if (graph != NULL) (void)work.driver->graph_destroy(graph);
  return finish(&work, "ending a capture", why);
}

assay_status assay_cuda_captured_launch(assay_queue *queue, const cuda_captured *captured,
                                        assay_message *why) {
  tool work;
  if (begin(&work, queue)) work.result = work.driver->graph_launch(captured->exec, work.cuda->stream);
  return finish(&work, "launching a graph", why);
}

void assay_cuda_captured_close(assay_queue *queue, cuda_captured *captured) {
  tool work;
  assay_message why;
  if (captured->exec == NULL) return;
  if (begin(&work, queue)) work.result = work.driver->exec_destroy(captured->exec);
  (void)finish(&work, "closing a graph", &why);
  *captured = (cuda_captured){0};
}
