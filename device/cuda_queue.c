/* SPDX-License-Identifier: MIT */
/* cuda_queue.c - opening CUDA queues, launching on them, and their scratch. */
#include "cuda_queue.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* The last error's sentence for what a caller sees only the status of. */
static assay_status refuse(assay_status status, const assay_message *why) {
  assay_set_last_error(why->text);
  return status;
}

/* ---- contexts and errors ------------------------------------------------------------------------------- */

cuda_queue *assay_cuda_queue_of(assay_queue *queue) {
  assert(queue->calls == &assay_cuda_calls);
  return (cuda_queue *)queue;
}

static cuda_result visit_context(const cuda_driver *driver, cuda_context context, cuda_visit *visit) {
  cuda_context current = NULL;
  *visit = (cuda_visit){.driver = driver};
  cuda_result result = driver->context_current(&current);
  if (result != CUDA_OK || current == context) return result;
  result = driver->context_push(context);
  visit->pushed = result == CUDA_OK;
  return result;
}

cuda_result assay_cuda_enter(const cuda_queue *cuda, cuda_visit *visit) {
  return visit_context(cuda->space->driver, cuda->space->context, visit);
}

void assay_cuda_leave(const cuda_visit *visit) {
  cuda_context popped = NULL;
  if (visit->pushed) (void)visit->driver->context_pop(&popped);
}

/* Errors after which every call in the same process fails: a fault of a kernel, or of the device. */
static bool is_sticky(cuda_result result) {
  static const cuda_result lost[] = {214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719};
  for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
    if (lost[i] == result) return true;
  }
  return false;
}

assay_status assay_cuda_explain(const cuda_queue *cuda, cuda_result result, const char *action,
                                assay_message *why) {
  char text[160];
  assay_cuda_error(cuda->space->driver, result, text, sizeof text);
  if (result == CUDA_OUT_OF_MEMORY) return assay_explain(why, ASSAY_NO_MEMORY, "%s failed: %s", action, text);
  if (!is_sticky(result)) return assay_explain(why, ASSAY_UNAVAILABLE, "%s failed: %s", action, text);
  const cuda_kernel *last = cuda->last;
  return assay_explain(
      why, ASSAY_KERNEL_FAULT,
      "a kernel failed on device %d: %s; launched last: %s of %s. This process can no longer use the "
      "device",
      cuda->space->device, text, last != NULL ? last->name : "nothing",
      last != NULL ? last->file : "this queue");
}

/* ---- launching ----------------------------------------------------------------------------------------- */

static bool usable(assay_dim3 size) {
  return size.x > 0 && size.y > 0 && size.z > 0;
}

/* What the driver would answer with "invalid value" and no more. */
static assay_status check_launch(const cuda_queue *cuda, const cuda_kernel *kernel,
                                 const assay_launch *launch, assay_message *why) {
  const char *name = launch->kernel;
  const assay_dim3 grid = launch->grid;
  const assay_dim3 block = launch->block;
  if (!usable(grid) || !usable(block)) {
    return assay_explain(
        why, ASSAY_KERNEL_FAULT,
        "kernel %s: the grid is %u x %u x %u and the block %u x %u x %u; every size must be 1 to "
        "2^31-1, and an empty problem needs no launch",
        name, grid.x, grid.y, grid.z, block.x, block.y, block.z);
  }
  const uint64_t threads = (uint64_t)block.x * block.y * block.z;
  if (block.x > 1024 || block.y > 1024 || block.z > 64 || threads > (uint64_t)kernel->threads_most) {
    return assay_explain(why, ASSAY_KERNEL_FAULT,
                         "kernel %s: a block of %u x %u x %u threads; it takes %d at most", name, block.x,
                         block.y, block.z, kernel->threads_most);
  }
  if (grid.x > INT32_MAX || grid.y > UINT16_MAX || grid.z > UINT16_MAX) {
    return assay_explain(why, ASSAY_KERNEL_FAULT,
                         "kernel %s: a grid of %u x %u x %u blocks; 2147483647 x 65535 x 65535 are the most",
                         name, grid.x, grid.y, grid.z);
  }
  if ((int64_t)launch->shared_bytes > kernel->dynamic_shared_most) {
    return assay_explain(
        why, ASSAY_KERNEL_FAULT,
        "kernel %s: %u bytes of dynamic shared memory; device %d has %d beside its static ones", name,
        launch->shared_bytes, cuda->space->device, kernel->dynamic_shared_most);
  }
  if (kernel->arg_bytes != 0 && kernel->arg_bytes != launch->arg_bytes) {
    return assay_explain(
        why, ASSAY_KERNEL_FAULT,
        "kernel %s takes an argument of %zu bytes, and the launch gives one of %zu: the two halves "
        "must use the same struct",
        name, kernel->arg_bytes, launch->arg_bytes);
  }
  return ASSAY_OK;
}

static assay_status check_cluster(const cuda_queue *cuda, cuda_kernel *kernel, const assay_launch *launch,
                                  assay_message *why) {
  const cuda_space *space = cuda->space;
  if (space->driver->launch_with == NULL) {
    return assay_explain(
        why, ASSAY_UNAVAILABLE,
        "kernel %s uses clusters, which the CUDA driver does not know: update it to 11.8 or later",
        launch->kernel);
  }
  if (space->info.architecture < 90) {
    return assay_explain(
        why, ASSAY_UNAVAILABLE, "kernel %s uses clusters; they need architecture 9.0, and %s has %d.%d",
        launch->kernel, space->info.name, space->info.architecture / 10, space->info.architecture % 10);
  }
  if (launch->cluster > 16 || launch->grid.x % launch->cluster != 0) {
    return assay_explain(
        why, ASSAY_KERNEL_FAULT,
        "kernel %s: clusters of %u blocks in a grid of %u; 16 are the most, and the grid must be a "
        "multiple",
        launch->kernel, launch->cluster, launch->grid.x);
  }
  /* More than 8 blocks run on some devices only, and must be asked for. */
  if (launch->cluster > 8 && !atomic_load_explicit(&kernel->large_clusters, memory_order_acquire)) {
    const cuda_result result = space->driver->function_set(kernel->function, CUDA_FUNCTION_LARGE_CLUSTERS, 1);
    if (result != CUDA_OK)
      return assay_cuda_explain(cuda, result, "allowing clusters of more than 8 blocks", why);
    atomic_store_explicit(&kernel->large_clusters, true, memory_order_release);
  }
  return ASSAY_OK;
}

static cuda_result start(const cuda_queue *cuda, const cuda_kernel *kernel, const assay_launch *launch) {
  const cuda_driver *driver = cuda->space->driver;
  const assay_dim3 grid = launch->grid;
  const assay_dim3 block = launch->block;
  void *arguments[] = {(void *)(uintptr_t)launch->args}; /* the driver copies it */
  if (launch->cluster <= 1) {
    return driver->launch(kernel->function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                          launch->shared_bytes, cuda->stream, arguments, NULL);
  }
  cuda_launch_attribute cluster = {.id = CUDA_LAUNCH_CLUSTER, .value = {.cluster = {launch->cluster, 1, 1}}};
  const cuda_launch_config config = {.grid = {grid.x, grid.y, grid.z},
                                     .block = {block.x, block.y, block.z},
                                     .shared_bytes = launch->shared_bytes,
                                     .stream = cuda->stream,
                                     .attributes = &cluster,
                                     .attribute_count = 1};
  return driver->launch_with(&config, kernel->function, arguments, NULL);
}

static assay_status launch_here(cuda_queue *cuda, const assay_launch *launch, assay_message *why) {
  cuda_kernel *kernel = assay_cuda_kernel_find(cuda->space, launch);
  if (kernel == NULL) {
    free(cuda->log);
    cuda->log = NULL;
    const assay_status status = assay_cuda_kernel_load(cuda->space, launch, &kernel, &cuda->log, why);
    if (status != ASSAY_OK) return status;
  }
  assay_status status = check_launch(cuda, kernel, launch, why);
  if (status == ASSAY_OK && launch->cluster > 1) status = check_cluster(cuda, kernel, launch, why);
  if (status != ASSAY_OK) return status;
  const cuda_result result = start(cuda, kernel, launch);
  if (result == CUDA_OK) {
    cuda->last = kernel;
    return ASSAY_OK;
  }
  char action[200];
  snprintf(action, sizeof action, "launching %s (grid %u x %u x %u, block %u x %u x %u, %u bytes)",
           launch->kernel, launch->grid.x, launch->grid.y, launch->grid.z, launch->block.x, launch->block.y,
           launch->block.z, launch->shared_bytes);
  return assay_cuda_explain(cuda, result, action, why);
}

static assay_status cuda_launch(assay_queue *queue, const assay_launch *launch) {
  cuda_queue *cuda = assay_cuda_queue_of(queue);
  cuda_visit visit;
  assay_message why;
  const cuda_result result = assay_cuda_enter(cuda, &visit);
  if (result != CUDA_OK) return refuse(assay_cuda_explain(cuda, result, "using the context", &why), &why);
  const assay_status status = launch_here(cuda, launch, &why);
  assay_cuda_leave(&visit);
  return status == ASSAY_OK ? status : refuse(status, &why);
}

/* ---- scratch ------------------------------------------------------------------------------------------- */

static bool has_room(cuda_queue *cuda) {
  if (cuda->scratch_count < cuda->scratch_room) return true;
  const int room = cuda->scratch_room == 0 ? 8 : 2 * cuda->scratch_room;
  cuda_address *larger = realloc(cuda->scratch, (size_t)room * sizeof *larger);
  if (larger == NULL) return false;
  cuda->scratch = larger;
  cuda->scratch_room = room;
  return true;
}

static void *cuda_scratch(assay_queue *queue, size_t bytes) {
  cuda_queue *cuda = assay_cuda_queue_of(queue);
  const cuda_space *space = cuda->space;
  cuda_visit visit;
  assay_message why;
  char action[80];
  cuda_address address = 0;
  if (!has_room(cuda)) return NULL;
  if (space->pool == NULL) {
    (void)refuse(
        assay_explain(&why, ASSAY_NO_MEMORY, "%s has no memory pools, which scratch needs", space->info.name),
        &why);
    return NULL;
  }
  cuda_result result = assay_cuda_enter(cuda, &visit);
  if (result == CUDA_OK) {
    result = space->driver->scratch_alloc(&address, bytes > 0 ? bytes : 1, space->pool, cuda->stream);
    assay_cuda_leave(&visit);
  }
  if (result != CUDA_OK) {
    snprintf(action, sizeof action, "taking %zu bytes of scratch", bytes);
    (void)refuse(assay_cuda_explain(cuda, result, action, &why), &why);
    return NULL;
  }
  cuda->scratch[cuda->scratch_count++] = address;
  return (void *)(uintptr_t)address;
}

/* In the order of the stream: the memory is free once the kernels before this point have run. */
static void cuda_release(assay_queue *queue) {
  cuda_queue *cuda = assay_cuda_queue_of(queue);
  cuda_visit visit;
  if (cuda->scratch_count == 0 || assay_cuda_enter(cuda, &visit) != CUDA_OK) return;
  for (int i = 0; i < cuda->scratch_count; i++) {
    (void)cuda->space->driver->scratch_free(cuda->scratch[i], cuda->stream);
  }
  cuda->scratch_count = 0;
  assay_cuda_leave(&visit);
}

/* ---- opening and closing ------------------------------------------------------------------------------- */

const assay_queue_calls assay_cuda_calls = {.version = 2, .scratch = cuda_scratch, .launch = cuda_launch};

static void cuda_close(assay_queue *queue) {
  cuda_queue *cuda = assay_cuda_queue_of(queue);
  cuda_visit visit;
  cuda_release(queue);
  if (cuda->own_stream && assay_cuda_enter(cuda, &visit) == CUDA_OK) {
    (void)cuda->space->driver->stream_destroy(cuda->stream); /* what it was given still runs */
    assay_cuda_leave(&visit);
  }
  free(cuda->scratch);
  free(cuda->log);
  free(cuda);
}

static assay_status cuda_wait(assay_queue *queue) {
  cuda_queue *cuda = assay_cuda_queue_of(queue);
  cuda_visit visit;
  assay_message why;
  cuda_result result = assay_cuda_enter(cuda, &visit);
  if (result == CUDA_OK) {
    result = cuda->space->driver->stream_wait(cuda->stream);
    assay_cuda_leave(&visit);
  }
  if (result == CUDA_OK) return ASSAY_OK;
  return refuse(assay_cuda_explain(cuda, result, "waiting for the stream", &why), &why);
}

static const char *cuda_log(const assay_queue *queue) {
  const cuda_queue *cuda = (const cuda_queue *)queue;
  return cuda->log != NULL ? cuda->log : "";
}

static const assay_queue_kind cuda_kind = {
    .close = cuda_close, .wait = cuda_wait, .release = cuda_release, .log = cuda_log};

/* The context that the queue works in: the stream's own, or the primary one of the device. That stays
 * retained until the process ends, since kernels loaded in it are kept as long. */
static assay_status choose_context(const cuda_driver *driver, int device, cuda_stream stream,
                                   cuda_context *context, assay_message *why) {
  char text[200];
  cuda_device handle = 0;
  cuda_device own = 0;
  cuda_visit visit;
  cuda_result result = driver->device_get(&handle, device);
  if (result == CUDA_OK && stream == NULL) result = driver->primary_retain(context, handle);
  if (result == CUDA_OK && stream != NULL) {
    result = driver->stream_context(stream, context);
    if (result == CUDA_OK) result = visit_context(driver, *context, &visit);
    if (result == CUDA_OK) {
      result = driver->context_device(&own);
      assay_cuda_leave(&visit);
    }
    if (result == CUDA_OK && own != handle) {
      return assay_explain(why, ASSAY_BAD_DEVICE, "device is %d, but the stream belongs to another device",
                           device);
    }
  }
  if (result == CUDA_OK) return ASSAY_OK;
  return assay_explain(why, result == CUDA_OUT_OF_MEMORY ? ASSAY_NO_MEMORY : ASSAY_UNAVAILABLE,
                       "device %d gives no context: %s", device,
                       assay_cuda_error(driver, result, text, sizeof text));
}

static assay_status prepare(cuda_queue *cuda, const cuda_driver *driver, int device, cuda_context context,
                            assay_message *why) {
  cuda_visit visit;
  char text[200];
  cuda_result result = visit_context(driver, context, &visit);
  if (result != CUDA_OK) {
    return assay_explain(why, ASSAY_UNAVAILABLE, "the context of device %d cannot be used: %s", device,
                         assay_cuda_error(driver, result, text, sizeof text));
  }
  assay_status status = assay_cuda_space(device, context, &cuda->space, why);
  if (status == ASSAY_OK && cuda->own_stream) {
    result = driver->stream_create(&cuda->stream, CUDA_STREAM_NON_BLOCKING);
    if (result != CUDA_OK) status = assay_cuda_explain(cuda, result, "making a stream", why);
  }
  assay_cuda_leave(&visit);
  return status;
}

assay_status assay_queue_open_cuda(int device, void *stream, assay_queue **queue) {
  assay_message why;
  if (queue == NULL) {
    return refuse(
        assay_explain(&why, ASSAY_BAD_POINTER, "queue is NULL; pass the address of a queue pointer"), &why);
  }
  *queue = NULL;
  cuda_device_info info;
  cuda_context context = NULL;
  const cuda_driver *driver = assay_cuda_driver(&why);
  if (driver == NULL) return refuse(ASSAY_UNAVAILABLE, &why);
  assay_status status = assay_cuda_device(device, &info, &why);
  if (status == ASSAY_OK) status = choose_context(driver, device, stream, &context, &why);
  if (status != ASSAY_OK) return refuse(status, &why);

  cuda_queue *cuda = calloc(1, sizeof *cuda);
  if (cuda == NULL) {
    return refuse(
        assay_explain(&why, ASSAY_NO_MEMORY, "a queue of %zu bytes could not be allocated", sizeof *cuda),
        &why);
  }
  cuda->owned.queue = (assay_queue){.calls = &assay_cuda_calls, .device = device, .threads = 1};
  cuda->owned.kind = &cuda_kind;
  cuda->stream = stream;
  cuda->own_stream = stream == NULL;
  status = prepare(cuda, driver, device, context, &why);
  if (status != ASSAY_OK) {
    free(cuda);
    return refuse(status, &why);
  }
  *queue = &cuda->owned.queue;
  return ASSAY_OK;
}
