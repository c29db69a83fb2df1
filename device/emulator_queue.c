/* SPDX-License-Identifier: MIT */
/* emulator_queue.c - the emulator's queue, and what a launch must satisfy before any thread runs. */
#include "emulator_machine.h"
#include "emulator_watched.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "queue.h"

typedef struct emulator_queue {
  assay_queue_owned owned; /* first: callers hold a pointer to its queue */
  uint64_t seed;
  assay_trace_call *trace;
  void *trace_context;
  emulator_watch *watch; /* NULL: launches are not watched */
  assay_message message;
  char *log;
} emulator_queue;

static void close_emulator(assay_queue *queue) {
  emulator_queue *self = (emulator_queue *)queue;
  assay_watch_free(self->watch);
  free(self->log);
  free(self);
}

/* A launch has ended when it returns. */
static assay_status wait_emulator(assay_queue *queue) {
  (void)queue;
  return ASSAY_OK;
}

static const assay_queue_kind emulator_kind = {.close = close_emulator, .wait = wait_emulator};
static const assay_queue_calls queue_calls = {
    .version = 2, .scratch = assay_emulator_scratch, .launch = assay_emulator_launch};

/* Watched scratch has a gap behind it, so that what goes too far does not end in the next. */
void *assay_emulator_scratch(assay_queue *queue, size_t bytes) {
  const emulator_queue *self = (const emulator_queue *)queue;
  const size_t gap = 256;
  if (self->watch == NULL || bytes > PTRDIFF_MAX - gap) return assay_arena_scratch(queue, bytes);
  void *memory = assay_arena_scratch(queue, bytes + gap);
  if (memory != NULL && !assay_watch_add_scratch(self->watch, memory, bytes)) return NULL;
  return memory;
}

assay_status assay_queue_open_emulator(int threads, assay_queue **queue) {
  assay_message why;
  emulator_queue *opened = NULL;
  assay_status status = assay_queue_check_open(&threads, queue, &why);
  if (status == ASSAY_OK && (opened = calloc(1, sizeof *opened)) == NULL) {
    status =
        assay_explain(&why, ASSAY_NO_MEMORY, "a queue of %zu bytes could not be allocated", sizeof *opened);
  }
  if (status != ASSAY_OK) {
    assay_set_last_error(why.text);
    return status;
  }
  assert(queue != NULL && opened != NULL);
  opened->owned.queue =
      (assay_queue){.calls = &queue_calls, .device = ASSAY_DEVICE_EMULATOR, .threads = threads};
  opened->owned.kind = &emulator_kind;
  *queue = &opened->owned.queue;
  return ASSAY_OK;
}

void assay_emulator_seed(assay_queue *queue, uint64_t seed) {
  ((emulator_queue *)queue)->seed = seed;
}

void assay_emulator_trace(assay_queue *queue, assay_trace_call *call, void *context) {
  emulator_queue *self = (emulator_queue *)queue;
  self->trace = call;
  self->trace_context = context;
}

assay_status assay_emulator_watch(assay_queue *queue, uint32_t tools, const assay_region *regions,
                                  int count) {
  emulator_queue *self = (emulator_queue *)queue;
  emulator_watch *watch = NULL;
  if (tools != 0) {
    assay_message why;
    const assay_status status = assay_emulator_can_watch(&why);
    if (status != ASSAY_OK) {
      assay_set_last_error(why.text);
      return status;
    }
    watch = assay_watch_make(tools, regions, count);
    if (watch == NULL) {
      assay_set_last_error("there is no memory to watch kernels");
      return ASSAY_NO_MEMORY;
    }
  }
  assay_watch_free(self->watch);
  self->watch = watch;
  return ASSAY_OK;
}

assay_status assay_emulator_watch_scratch(assay_queue *queue, void *start, size_t bytes) {
  const emulator_queue *self = (const emulator_queue *)queue;
  if (self->watch == NULL || assay_watch_add_scratch(self->watch, start, bytes)) return ASSAY_OK;
  assay_set_last_error("there is no memory to watch scratch");
  return ASSAY_NO_MEMORY;
}

int assay_emulator_findings(const assay_queue *queue, const assay_finding **findings) {
  const emulator_watch *watch = ((const emulator_queue *)queue)->watch;
  *findings = watch != NULL ? watch->findings : NULL;
  return watch != NULL ? watch->finding_count : 0;
}

assay_counts assay_emulator_counts(const assay_queue *queue, int region) {
  const emulator_watch *watch = ((const emulator_queue *)queue)->watch;
  if (watch == NULL || watch->counts == NULL) return (assay_counts){0};
  return assay_counts_sum(watch->counts, region);
}

const char *assay_emulator_message(const assay_queue *queue) {
  return ((const emulator_queue *)queue)->message.text;
}

const char *assay_emulator_log(const assay_queue *queue) {
  const char *log = ((const emulator_queue *)queue)->log;
  return log != NULL ? log : "";
}

/* ---- launching ----------------------------------------------------------------------------------------- */

static assay_status check_sizes(const assay_launch *launch, assay_message *why) {
  const assay_dim3 grid = launch->grid;
  const assay_dim3 block = launch->block;
  const uint64_t threads = (uint64_t)block.x * block.y * block.z;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > INT32_MAX || grid.y > GRID_HEIGHT_MOST ||
      grid.z > GRID_HEIGHT_MOST) {
    return assay_explain(why, ASSAY_KERNEL_FAULT,
                         "launch of %.40s: the grid is %" PRIu32 " x %" PRIu32 " x %" PRIu32
                         " blocks; it must be 1 to %d x 1 to %d x 1 to %d",
                         launch->kernel, grid.x, grid.y, grid.z, INT32_MAX, GRID_HEIGHT_MOST,
                         GRID_HEIGHT_MOST);
  }
  if (block.x > BLOCK_THREADS_MOST || block.y > BLOCK_THREADS_MOST || block.z > BLOCK_DEPTH_MOST ||
      threads == 0 || threads > BLOCK_THREADS_MOST) {
    return assay_explain(why, ASSAY_KERNEL_FAULT,
                         "launch of %.40s: the block is %" PRIu32 " x %" PRIu32 " x %" PRIu32
                         " threads; it must have 1 to %d, and z at most %d",
                         launch->kernel, block.x, block.y, block.z, BLOCK_THREADS_MOST, BLOCK_DEPTH_MOST);
  }
  if (launch->shared_bytes > SHARED_BYTES_MOST) {
    return assay_explain(why, ASSAY_KERNEL_FAULT,
                         "launch of %.40s: %" PRIu32 " bytes of dynamic shared memory; it must be 0 to %d",
                         launch->kernel, launch->shared_bytes, SHARED_BYTES_MOST);
  }
  if (launch->cluster > CLUSTER_MOST || (launch->cluster > 1 && grid.x % launch->cluster != 0)) {
    return assay_explain(why, ASSAY_KERNEL_FAULT,
                         "launch of %.40s: clusters of %" PRIu32 " blocks in a grid of %" PRIu32
                         "; it must be 1 to %d and divide the grid",
                         launch->kernel, launch->cluster, grid.x, CLUSTER_MOST);
  }
  return ASSAY_OK;
}

static assay_status check_kernel(const assay_launch *launch, const emulated_kernel *kernel,
                                 assay_message *why) {
  const uint32_t threads = launch->block.x * launch->block.y * launch->block.z;
  if (threads > kernel->threads_most) {
    return assay_explain(why, ASSAY_KERNEL_FAULT,
                         "launch of %.40s: a block of %" PRIu32 " threads; KERNEL allows %" PRIu32,
                         launch->kernel, threads, kernel->threads_most);
  }
  if (launch->arg_bytes != kernel->arg_bytes) {
    return assay_explain(why, ASSAY_KERNEL_FAULT,
                         "launch of %.40s: its struct of arguments has %zu bytes; KERNEL takes %" PRIu32,
                         launch->kernel, launch->arg_bytes, kernel->arg_bytes);
  }
  return ASSAY_OK;
}

/* The first finding of the launch stands before the fault that it may have led to. */
static assay_status judge_watched(const emulator_watch *watch, assay_status status, assay_message *why) {
  if (watch->launch_finding >= 0)
    return assay_explain(why, ASSAY_KERNEL_FAULT, "%s", watch->findings[watch->launch_finding].text);
  if (status == ASSAY_OK && watch->no_memory)
    return assay_explain(why, ASSAY_NO_MEMORY, "there is no memory to watch the order of accesses");
  return status;
}

static assay_status launch_checked(emulator_queue *self, const assay_launch *request) {
  assay_message *why = &self->message;
  const emulated_kernel *kernel = NULL;
  assay_status status = check_sizes(request, why);
  if (status == ASSAY_OK)
    status =
        assay_emulator_find(request, &assay_emulator_table, self->watch != NULL, &kernel, &self->log, why);
  if (status == ASSAY_OK) status = check_kernel(request, kernel, why);
  if (status != ASSAY_OK) return status;
  const uint32_t threads = request->block.x * request->block.y * request->block.z;
  const uint32_t cluster = request->cluster > 1 ? request->cluster : 1;
  emulated_launch launch = {
      .request = request,
      .kernel = kernel,
      .seed = self->seed,
      .trace = self->trace,
      .trace_context = self->trace_context,
      .watch = self->watch,
      .block_threads = threads,
      .cluster = cluster,
      .cluster_count = (int64_t)(request->grid.x / cluster) * request->grid.y * request->grid.z,
  };
  const bool alone = self->trace != NULL || self->watch != NULL;
  status = assay_emulator_run(&launch, alone ? 1 : self->owned.queue.threads, why);
  return self->watch != NULL ? judge_watched(self->watch, status, why) : status;
}

assay_status assay_emulator_launch(assay_queue *queue, const assay_launch *launch) {
  emulator_queue *self = (emulator_queue *)queue;
  self->message.text[0] = '\0';
  free(self->log);
  self->log = NULL;
  const assay_status status = launch_checked(self, launch);
  if (status != ASSAY_OK) assay_set_last_error(self->message.text);
  return status;
}
