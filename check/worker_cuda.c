/* SPDX-License-Identifier: MIT */
/*
 * worker_cuda.c - mirrors of operands on the GPU, and what is on the streams around a call.
 *
 * A mirror is [zone | pages | zone]. Its contents wait in a second buffer, the staging, and are copied from
 * there by the queue's own stream, behind a kernel that spins: whoever works on another stream is too early.
 *
 * With ASSAY_EXACT_MEMORY set a mirror is the operand and no more, and neither outputs nor scratch are
 * written before a call: NVIDIA's compute-sanitizer then sees every access outside and every read of what
 * nobody wrote, which the zones and the poison would hide from it.
 */
#include "worker_cuda.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_driver.h"
#include "cuda_queue.h"
#include "worker_extents.h"

enum { ZONE = 4096, ZONE_BYTE = 0xa5, SCRATCH_BYTE = 0x41, SCRATCH_MOST = 64 };

static const int64_t slow_nanoseconds = 200000;
static const int64_t busy_nanoseconds = 3000000000;
/* Above this an operand is mostly holes: its mirror is filled from the pages that exist, without staging. */
static const size_t staging_limit = (size_t)1 << 28;

typedef struct mirror {
  cuda_address memory;
  cuda_address staging; /* 0: none */
  size_t from, bytes;   /* which of the mapped pages' bytes it holds */
  size_t lead;          /* bytes in front of them: the zone, or what keeps the data aligned as on the host */
  size_t at;            /* where in them the operand's data begin */
  bool zones;
  atomic_bool filled; /* from the staging, by a call that was made: the calls behind one that fails are not */
} mirror;

typedef struct guarded_scratch {
  cuda_address memory;
  size_t bytes;
} guarded_scratch;

static bool exact_memory(void) {
  const char *asked = getenv("ASSAY_EXACT_MEMORY");
  return asked != NULL && asked[0] != '\0' && strcmp(asked, "0") != 0;
}

/* What this process has on the GPU. A worker judges one kernel and ends. */
static struct {
  const cuda_driver *driver;
  cuda_context context;
  assay_queue *busy; /* the other stream */
  int *stop;         /* in host memory that the GPU sees */
  cuda_address stop_address;
  cuda_graph_exec graph;
  mirror mirrors[PROTOCOL_SLOTS];
} gpu;

static _Thread_local guarded_scratch scratches[SCRATCH_MOST]; /* of this lane's call */
static _Thread_local int scratch_count;

static cuda_stream stream_of(assay_queue *queue) {
  return assay_cuda_queue_of(queue)->stream;
}

static bool succeeded(cuda_result result, const char *what, assay_message *why) {
  char text[256];
  if (result == CUDA_OK) return true;
  (void)assay_explain(why, ASSAY_UNAVAILABLE, "%s: %s", what,
                      assay_cuda_error(gpu.driver, result, text, sizeof text));
  return false;
}

bool worker_cuda_open(assay_message *why) {
  cuda_device device = 0;
  void *memory = NULL;
  if (gpu.busy != NULL) return true; /* for the kernel that was loaded before */
  gpu.driver = assay_cuda_driver(why);
  if (gpu.driver == NULL) return false;
  if (!succeeded(gpu.driver->device_get(&device, 0), "device 0", why)) return false;
  if (!succeeded(gpu.driver->primary_retain(&gpu.context, device), "device 0", why)) return false;
  if (!succeeded(gpu.driver->context_push(gpu.context), "device 0", why)) return false;
  if (!succeeded(gpu.driver->host_alloc(&memory, sizeof *gpu.stop, CUDA_HOST_MAPPED), "host memory", why))
    return false;
  gpu.stop = memory;
  if (!succeeded(gpu.driver->host_address(&gpu.stop_address, memory, 0), "host memory", why)) return false;
  if (assay_queue_open_cuda(0, NULL, &gpu.busy) == ASSAY_OK) return true;
  (void)assay_explain(why, ASSAY_UNAVAILABLE, "%s", assay_last_error());
  return false;
}

/* ---- mirrors ------------------------------------------------------------------------------------------- */

void worker_cuda_forget(int slot) {
  mirror *m = &gpu.mirrors[slot];
  if (m->memory != 0) gpu.driver->memory_free(m->memory);
  if (m->staging != 0) gpu.driver->memory_free(m->staging);
  *m = (mirror){.memory = 0};
}

static cuda_address data_of(const mirror *m) {
  return m->memory + m->lead;
}

void *worker_cuda_data(int slot, int64_t offset) {
  const mirror *m = &gpu.mirrors[slot];
  return (void *)(uintptr_t)(data_of(m) + m->at + (cuda_address)offset);
}

static bool open_mirror(const worker_operand *operand, bool exact, bool output, mirror *m,
                        assay_message *why) {
  const size_t at = (size_t)(operand->data - operand->mapping.pages);
  cuda_stream stream = stream_of(gpu.busy);
  *m = exact ? (mirror){.from = at, .bytes = operand->bytes, .lead = at % 16}
             : (mirror){.bytes = operand->mapping.page_bytes, .lead = ZONE, .at = at, .zones = true};
  const size_t all = m->lead + m->bytes + (exact ? 0 : ZONE);
  if (!succeeded(gpu.driver->memory_alloc(&m->memory, all > 0 ? all : 1), "device memory", why)) return false;
  if (m->bytes <= staging_limit && m->bytes > 0 && !(exact && output) &&
      !succeeded(gpu.driver->memory_alloc(&m->staging, m->bytes), "device memory", why))
    return false;
  if (exact) return true;
  return succeeded(gpu.driver->memory_set(m->memory, ZONE_BYTE, ZONE, stream), "device memory", why) &&
         succeeded(gpu.driver->memory_set(data_of(m) + m->bytes, ZONE_BYTE, ZONE, stream), "device memory",
                   why);
}

/* Of each stretch of pages what the mirror holds, to or from the device. */
typedef struct transfer {
  const worker_operand *operand;
  const mirror *m;
  cuda_address base;
  bool out;
  cuda_result result;
} transfer;

static void transfer_extent(void *user, size_t offset, size_t bytes) {
  transfer *self = user;
  cuda_stream stream = stream_of(gpu.busy);
  const size_t from = self->m->from;
  const size_t first = offset > from ? offset : from;
  const size_t end = offset + bytes < from + self->m->bytes ? offset + bytes : from + self->m->bytes;
  if (self->result != CUDA_OK || first >= end) return;
  unsigned char *host = self->operand->mapping.pages + first;
  const cuda_address device = self->base + (first - from);
  self->result = self->out ? gpu.driver->copy_out(host, device, end - first, stream)
                           : gpu.driver->copy_in(device, host, end - first, stream);
}

static bool transfer_pages(const worker_operand *operand, const mirror *m, cuda_address base, bool out,
                           assay_message *why) {
  transfer self = {operand, m, base, out, CUDA_OK};
  worker_extents(&operand->mapping, transfer_extent, &self);
  return succeeded(self.result, "copying an operand", why);
}

/* All-ones bytes are NaN in every element type: what a hole of the host's memory stands for. */
static bool upload_slot(const worker *self, int slot, bool output, assay_message *why) {
  const worker_operand *operand = &self->operands[slot];
  cuda_stream stream = stream_of(gpu.busy);
  mirror *m = &gpu.mirrors[slot];
  const bool exact = exact_memory();
  if (m->memory == 0 && !open_mirror(operand, exact, output, m, why)) return false;
  if (exact && output) return true;
  atomic_store(&m->filled, false);
  if (m->staging != 0) return transfer_pages(operand, m, m->staging, false, why);
  if (m->bytes > 0 &&
      !succeeded(gpu.driver->memory_set(data_of(m), 0xff, m->bytes, stream), "device memory", why))
    return false;
  return transfer_pages(operand, m, data_of(m), false, why);
}

/* Calls `visit` for the slot of every operand of a request; a slot may come more than once. */
typedef bool slot_visit(worker *self, const wire_call *call, bool output, int index, void *user);

static bool visit_slots(worker *self, const wire_call *call, slot_visit *visit, void *user) {
  for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) {
    if (call->in[i].slot >= 0 && !visit(self, call, false, i, user)) return false;
    if (call->out[i].slot >= 0 && !visit(self, call, true, i, user)) return false;
  }
  return true;
}

static bool upload_visit(worker *self, const wire_call *call, bool output, int index, void *user) {
  return upload_slot(self, output ? call->out[index].slot : call->in[index].slot, output, user);
}

bool worker_cuda_upload(worker *self, const run_request *request, assay_message *why) {
  for (int i = 0; i < request->call_count; i++) {
    if (!visit_slots(self, &request->calls[i], upload_visit, why)) return false;
  }
  return assay_queue_wait(gpu.busy) == ASSAY_OK;
}

/* ---- around a call ------------------------------------------------------------------------------------- */

static bool spin(assay_queue *queue, cuda_address stop, int64_t nanoseconds, assay_message *why) {
  const struct {
    cuda_address stop;
    int64_t nanoseconds;
  } args = {stop, nanoseconds};
  const assay_define none[] = {{NULL, 0}};
  const assay_launch launch = {.file = "check/spin.cu",
                               .kernel = "spin",
                               .grid = {1, 1, 1},
                               .block = {1, 1, 1},
                               .defines = none,
                               .args = &args,
                               .arg_bytes = sizeof args};
  if (queue->calls->launch(queue, &launch) == ASSAY_OK) return true;
  (void)assay_explain(why, ASSAY_UNAVAILABLE, "%s", assay_last_error());
  return false;
}

static bool fill_mirrors(assay_queue *real, const wire_call *wire, assay_message *why) {
  cuda_stream stream = stream_of(real);
  for (int i = 0; i < 2 * ASSAY_MAX_OPERANDS; i++) {
    const int slot = i % 2 == 0 ? wire->in[i / 2].slot : wire->out[i / 2].slot;
    mirror *m = slot >= 0 ? &gpu.mirrors[slot] : NULL;
    if (m == NULL || m->staging == 0) continue;
    if (!succeeded(gpu.driver->copy_within(data_of(m), m->staging, m->bytes, stream), "copying an operand",
                   why))
      return false;
    atomic_store(&m->filled, true);
  }
  return true;
}

bool worker_cuda_begin(assay_queue *real, const wire_call *wire, assay_streams streams, assay_message *why) {
  cuda_stream stream = stream_of(real);
  scratch_count = 0;
  if (!succeeded(gpu.driver->context_push(gpu.context), "device 0", why)) return false;
  if (!spin(real, 0, slow_nanoseconds, why) || !fill_mirrors(real, wire, why)) return false;
  if (streams == ASSAY_STREAMS_BUSY) {
    *(volatile int *)gpu.stop = 0;
    return spin(gpu.busy, gpu.stop_address, busy_nanoseconds, why);
  }
  if (streams == ASSAY_STREAMS_REPLAY) {
    if (gpu.graph == NULL) return false;
    return succeeded(gpu.driver->graph_launch(gpu.graph, stream), "launching the graph", why);
  }
  if (streams != ASSAY_STREAMS_CAPTURE) return true;
  if (assay_queue_wait(real) != ASSAY_OK) return false;
  /* Destroying a graph is one of the calls that invalidate a capture. */
  if (gpu.graph != NULL) gpu.driver->exec_destroy(gpu.graph);
  gpu.graph = NULL;
  return succeeded(gpu.driver->capture_begin(stream, CUDA_CAPTURE_THREAD_LOCAL), "capturing", why);
}

static bool end_capture(assay_queue *real, assay_message *why) {
  cuda_stream stream = stream_of(real);
  cuda_graph graph = NULL;
  if (!succeeded(gpu.driver->capture_end(stream, &graph), "the call cannot be captured into a graph", why))
    return false;
  const bool ready =
      succeeded(gpu.driver->graph_instantiate(&gpu.graph, graph, 0), "the graph of the call", why);
  gpu.driver->graph_destroy(graph);
  return ready && succeeded(gpu.driver->graph_launch(gpu.graph, stream), "launching the graph", why);
}

/* The other stream must still spin when the call returns, and when its own stream is through. */
static bool neighbour_untouched(assay_queue *real, assay_message *why) {
  cuda_stream other = stream_of(gpu.busy);
  const char *who = NULL;
  if (gpu.driver->stream_query(other) != CUDA_NOT_READY)
    who = "the call returned only after another stream was idle";
  if (assay_queue_wait(real) == ASSAY_OK && who == NULL && gpu.driver->stream_query(other) != CUDA_NOT_READY)
    who = "the call's kernels ran only after another stream was idle";
  *(volatile int *)gpu.stop = 1;
  (void)assay_queue_wait(gpu.busy);
  if (who != NULL) (void)assay_explain(why, ASSAY_UNAVAILABLE, "%s: it waits for the whole device", who);
  return who == NULL;
}

static bool zone_intact(cuda_address address, const char *where, assay_message *why) {
  unsigned char zone[ZONE];
  cuda_stream stream = stream_of(gpu.busy);
  if (!succeeded(gpu.driver->copy_out(zone, address, ZONE, stream), "copying a red zone", why)) return false;
  if (assay_queue_wait(gpu.busy) != ASSAY_OK) return false;
  for (int i = 0; i < ZONE; i++) {
    if (zone[i] == ZONE_BYTE) continue;
    (void)assay_explain(why, ASSAY_UNAVAILABLE, "the kernel wrote %s", where);
    return false;
  }
  return true;
}

assay_status worker_cuda_end(assay_queue *real, assay_streams streams, assay_status called,
                             assay_message *why) {
  bool good = true;
  cuda_context popped = NULL;
  /* Scratch that a graph takes and does not give back can be launched once only. */
  if (streams == ASSAY_STREAMS_CAPTURE) assay_queue_release(real);
  if (streams == ASSAY_STREAMS_CAPTURE) good = end_capture(real, why);
  if (streams == ASSAY_STREAMS_BUSY) good = neighbour_untouched(real, why);
  if (assay_queue_wait(real) != ASSAY_OK) {
    (void)assay_explain(why, ASSAY_KERNEL_FAULT, "%s", assay_last_error());
    good = false;
  }
  for (int i = 0; good && called == ASSAY_OK && streams != ASSAY_STREAMS_CAPTURE && i < scratch_count; i++) {
    good = zone_intact(scratches[i].memory, "before the start of its scratch", why) &&
           zone_intact(scratches[i].memory + ZONE + scratches[i].bytes, "past the end of its scratch", why);
  }
  gpu.driver->context_pop(&popped);
  return good ? ASSAY_OK : ASSAY_KERNEL_FAULT;
}

void *worker_cuda_scratch(assay_queue *real, size_t bytes, uint64_t poison) {
  cuda_stream stream = stream_of(real);
  if (bytes == 0 || bytes > SIZE_MAX / 4 || scratch_count == SCRATCH_MOST) return NULL;
  if (exact_memory()) return real->calls->scratch(real, bytes);
  const size_t rounded = (bytes + 63) / 64 * 64;
  void *memory = real->calls->scratch(real, rounded + 2 * ZONE);
  const cuda_address address = (cuda_address)(uintptr_t)memory;
  if (memory == NULL) return NULL;
  /* The same finite float everywhere, one of four. */
  const unsigned char filling = (unsigned char)(SCRATCH_BYTE - poison % 4);
  if (gpu.driver->memory_set(address, ZONE_BYTE, ZONE, stream) != CUDA_OK) return NULL;
  if (gpu.driver->memory_set(address + ZONE, filling, rounded, stream) != CUDA_OK) return NULL;
  if (gpu.driver->memory_set(address + ZONE + rounded, ZONE_BYTE, ZONE, stream) != CUDA_OK) return NULL;
  scratches[scratch_count++] = (guarded_scratch){address, rounded};
  return (void *)(uintptr_t)(address + ZONE);
}

/* ---- after the calls ----------------------------------------------------------------------------------- */

/* Whether an input still is what it was; only those that were filled from a staging are compared. */
static bool input_intact(const worker_operand *operand, mirror *m, const char *name, assay_message *why) {
  if (m->staging == 0 || !atomic_load(&m->filled)) return true;
  unsigned char *copy = malloc(m->bytes);
  cuda_stream stream = stream_of(gpu.busy);
  bool same = copy != NULL &&
              succeeded(gpu.driver->copy_out(copy, data_of(m), m->bytes, stream), "an input", why) &&
              assay_queue_wait(gpu.busy) == ASSAY_OK;
  if (same && memcmp(copy, operand->mapping.pages + m->from, m->bytes) != 0) {
    (void)assay_explain(why, ASSAY_OK, "the kernel wrote to %s; inputs are read-only", name);
    same = false;
  }
  free(copy);
  return same;
}

static bool download_visit(worker *self, const wire_call *call, bool output, int index, void *user) {
  assay_message *why = user;
  const int slot = output ? call->out[index].slot : call->in[index].slot;
  const worker_operand *operand = &self->operands[slot];
  mirror *m = &gpu.mirrors[slot];
  const assay_export *function = &self->subject->exports[call->entry];
  const char *name = output ? function->out_names[index] : function->in_names[index];
  char before[64];
  char behind[64];
  snprintf(before, sizeof before, "before the start of %s", name);
  snprintf(behind, sizeof behind, "past the end of %s", name);
  if (m->zones && !zone_intact(m->memory, before, why)) return false;
  if (m->zones && !zone_intact(data_of(m) + m->bytes, behind, why)) return false;
  /* A call that must be refused may name an input as its output. */
  if (!output || !operand->writable) return input_intact(operand, m, name, why);
  /* Of a workspace nobody looks at what is left, and much of it may never have been written. */
  if (!m->zones && index > 0) return true;
  return transfer_pages(operand, m, data_of(m), true, why) && assay_queue_wait(gpu.busy) == ASSAY_OK;
}

void worker_cuda_download(worker *self, const run_request *request, done_reply *reply) {
  assay_message why = {""};
  if (exact_memory() && reply->status != ASSAY_OK)
    return; /* nothing was written, and nothing is to be read */
  for (int i = 0; i < request->call_count; i++) {
    if (visit_slots(self, &request->calls[i], download_visit, &why)) continue;
    reply->failed = 1;
    snprintf(reply->text, sizeof reply->text, "%s", why.text[0] != '\0' ? why.text : assay_last_error());
    return;
  }
}
