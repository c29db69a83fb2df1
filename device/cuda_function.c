/* SPDX-License-Identifier: MIT */
/* cuda_function.c - from the text of a launch to a function on the device, once for each context. */
#include "cuda_function.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_cache.h"
#include "kernel_source.h"

/* ---- spaces -------------------------------------------------------------------------------------------- */

static pthread_mutex_t spaces_lock = PTHREAD_MUTEX_INITIALIZER;
static cuda_space *spaces;

/* Our own pool keeps what was freed: the device's default pool would give it back at every wait. */
static void make_pool(cuda_space *space) {
  const cuda_pool_properties properties = {.kind = 1, .location = {.kind = 1, .id = space->device}};
  uint64_t keep = UINT64_MAX;
  if (space->driver->pool_create(&space->pool, &properties) != CUDA_OK) {
    space->pool = NULL;
    return;
  }
  (void)space->driver->pool_set(space->pool, CUDA_POOL_RELEASE_THRESHOLD, &keep);
}

static assay_status make_space(const cuda_driver *driver, int device, cuda_context context,
                               unsigned long long id, cuda_space **made, assay_message *why) {
  cuda_device_info info;
  const assay_status status = assay_cuda_device(device, &info, why);
  if (status != ASSAY_OK) return status;
  const assay_nvrtc *nvrtc = assay_nvrtc_find(driver->version / 1000, why);
  if (nvrtc == NULL) return ASSAY_UNAVAILABLE;
  cuda_space *space = calloc(1, sizeof *space);
  if (space == NULL)
    return assay_explain(why, ASSAY_NO_MEMORY, "there is no memory for the table of kernels");
  space->driver = driver;
  space->nvrtc = nvrtc;
  space->context = context;
  space->id = id;
  space->device = device;
  space->info = info;
  pthread_mutex_init(&space->lock, NULL);
  make_pool(space);
  *made = space;
  return ASSAY_OK;
}

assay_status assay_cuda_space(int device, cuda_context context, cuda_space **space, assay_message *why) {
  const cuda_driver *driver = assay_cuda_driver(why);
  if (driver == NULL) return ASSAY_UNAVAILABLE;
  unsigned long long id = 0;
  if (driver->context_id != NULL && driver->context_id(context, &id) != CUDA_OK) id = 0;
  assay_status status = ASSAY_OK;
  pthread_mutex_lock(&spaces_lock);
  cuda_space *one = spaces;
  while (one != NULL && (one->context != context || one->id != id || one->device != device)) one = one->next;
  if (one == NULL) {
    cuda_space *fresh = NULL;
    status = make_space(driver, device, context, id, &fresh, why);
    if (fresh != NULL) {
      fresh->next = spaces;
      spaces = fresh;
    }
    one = fresh;
  }
  pthread_mutex_unlock(&spaces_lock);
  *space = one;
  return status;
}

/* ---- finding ------------------------------------------------------------------------------------------- */

/* Over what differs between launches: names of defines and the file are left to the comparison. */
static uint64_t launch_hash(const assay_launch *launch) {
  const uint64_t prime = UINT64_C(0x100000001b3);
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (const char *c = launch->kernel; *c != '\0'; c++) hash = (hash ^ (unsigned char)*c) * prime;
  for (const assay_define *define = launch->defines; define != NULL && define->name != NULL; define++) {
    hash = (hash ^ (uint64_t)define->value) * prime;
    hash ^= hash >> 29;
  }
  return hash;
}

static bool same_defines(const assay_define *left, const assay_define *right) {
  for (; left->name != NULL && right->name != NULL; left++, right++) {
    if (left->value != right->value || strcmp(left->name, right->name) != 0) return false;
  }
  return left->name == NULL && right->name == NULL;
}

static const assay_define no_defines[] = {{NULL, 0}};

static const assay_define *defines_of(const assay_launch *launch) {
  return launch->defines != NULL ? launch->defines : no_defines;
}

static cuda_kernel *find(cuda_space *space, const assay_launch *launch, uint64_t hash) {
  cuda_kernel *kernel =
      atomic_load_explicit(&space->buckets[hash % ASSAY_CUDA_BUCKETS], memory_order_acquire);
  for (; kernel != NULL; kernel = kernel->next) {
    if (kernel->hash == hash && strcmp(kernel->name, launch->kernel) == 0 &&
        strcmp(kernel->file, launch->file) == 0 && same_defines(kernel->defines, defines_of(launch))) {
      return kernel;
    }
  }
  return NULL;
}

cuda_kernel *assay_cuda_kernel_find(cuda_space *space, const assay_launch *launch) {
  return find(space, launch, launch_hash(launch));
}

/* ---- compiling ----------------------------------------------------------------------------------------- */

/* Everything that decides what the compiler makes, in one text; NULL without memory. */
static char *cache_key(const assay_nvrtc *nvrtc, const assay_nvrtc_request *request) {
  char *key = NULL;
  size_t bytes = 0;
  int major = 0;
  int minor = 0;
  assay_nvrtc_version(nvrtc, &major, &minor);
  FILE *text = open_memstream(&key, &bytes);
  if (text == NULL) return NULL;
  fprintf(text, "nvrtc %d.%d %s", major, minor, request->target);
  for (int i = 0; assay_nvrtc_options[i] != NULL; i++) fprintf(text, " %s", assay_nvrtc_options[i]);
  for (const assay_define *define = request->defines; define->name != NULL; define++) {
    fprintf(text, " -D%s=%" PRId64, define->name, define->value);
  }
  fprintf(text, "\n%s\n%s", request->file, request->text);
  for (int i = 0; i < request->header_count; i++) {
    fprintf(text, "\n%s\n%s", request->headers[i].name, request->headers[i].text);
  }
  if (fclose(text) == 0) return key;
  free(key);
  return NULL;
}

static assay_status compile(const assay_nvrtc *nvrtc, const assay_nvrtc_request *request, const char *key,
                            void **image, char **log, assay_message *why) {
  assay_nvrtc_result result;
  const assay_status status = assay_nvrtc_compile(nvrtc, request, &result, why);
  if (status == ASSAY_OK) {
    /* A cache that cannot be written costs time at the next start, nothing now. */
    (void)assay_cache_put(key, result.image, result.image_bytes, NULL);
    *image = result.image;
    result.image = NULL;
  } else {
    *log = result.log;
    result.log = NULL;
  }
  assay_nvrtc_free(&result);
  return status;
}

/* ---- loading ------------------------------------------------------------------------------------------- */

static assay_status load_module(const cuda_space *space, const void *image, const assay_launch *launch,
                                cuda_module *module, assay_message *why) {
  char log[512] = "";
  char text[200];
  int options[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_BYTES};
  void *values[] = {log, (void *)(uintptr_t)sizeof log};
  const cuda_result result = space->driver->module_load(module, image, 2, options, values);
  if (result == CUDA_OK) return ASSAY_OK;
  return assay_explain(why, result == CUDA_OUT_OF_MEMORY ? ASSAY_NO_MEMORY : ASSAY_UNAVAILABLE,
                       "the driver does not load %s: %s%s%.*s", launch->file,
                       assay_cuda_error(space->driver, result, text, sizeof text), log[0] != '\0' ? ": " : "",
                       (int)strcspn(log, "\n"), log);
}

/* Attributes are set once, here: more than 48 KiB of dynamic shared memory must be allowed function by
 * function. */
static assay_status describe(const cuda_space *space, cuda_kernel *kernel, assay_message *why) {
  const cuda_driver *driver = space->driver;
  char text[200];
  int fixed = 0;
  cuda_result result = driver->module_function(&kernel->function, kernel->module, kernel->name);
  if (result == CUDA_NOT_FOUND) {
    return assay_explain(why, ASSAY_KERNEL_FAULT,
                         "%s has no kernel %s; KERNEL(%s, ...) must stand in its device half", kernel->file,
                         kernel->name, kernel->name);
  }
  if (result == CUDA_OK) {
    result = driver->function_attribute(&kernel->threads_most, CUDA_FUNCTION_THREADS_MOST, kernel->function);
  }
  if (result == CUDA_OK)
    result = driver->function_attribute(&fixed, CUDA_FUNCTION_SHARED_BYTES, kernel->function);
  kernel->dynamic_shared_most = space->info.shared_bytes_most - fixed;
  if (result == CUDA_OK && kernel->dynamic_shared_most > 0) {
    result = driver->function_set(kernel->function, CUDA_FUNCTION_DYNAMIC_SHARED_BYTES_MOST,
                                  kernel->dynamic_shared_most);
  }
  size_t offset = 0;
  if (driver->parameter_info != NULL &&
      driver->parameter_info(kernel->function, 0, &offset, &kernel->arg_bytes) != CUDA_OK) {
    kernel->arg_bytes = 0;
  }
  if (result == CUDA_OK) return ASSAY_OK;
  return assay_explain(why, ASSAY_UNAVAILABLE, "the driver does not describe kernel %s of %s: %s",
                       kernel->name, kernel->file, assay_cuda_error(driver, result, text, sizeof text));
}

static void free_kernel(cuda_kernel *kernel) {
  if (kernel == NULL) return;
  for (assay_define *define = kernel->defines; define != NULL && define->name != NULL; define++) {
    free((void *)(uintptr_t)define->name);
  }
  free(kernel->defines);
  free(kernel->file);
  free(kernel->name);
  free(kernel);
}

/* A copy of the launch's words: those of a learner's object go when that is closed. */
static cuda_kernel *new_kernel(const assay_launch *launch) {
  size_t count = 0;
  const assay_define *defines = defines_of(launch);
  while (defines[count].name != NULL) count++;
  cuda_kernel *kernel = calloc(1, sizeof *kernel);
  if (kernel == NULL) return NULL;
  kernel->hash = launch_hash(launch);
  kernel->file = strdup(launch->file);
  kernel->name = strdup(launch->kernel);
  kernel->defines = calloc(count + 1, sizeof *kernel->defines);
  bool whole = kernel->file != NULL && kernel->name != NULL && kernel->defines != NULL;
  for (size_t i = 0; i < count && whole; i++) {
    kernel->defines[i] = (assay_define){strdup(defines[i].name), defines[i].value};
    whole = kernel->defines[i].name != NULL;
  }
  if (whole) return kernel;
  free_kernel(kernel);
  return NULL;
}

/* Publishes a kernel, unless another thread was faster: then that one's is taken and ours goes. */
static cuda_kernel *publish(cuda_space *space, const assay_launch *launch, cuda_kernel *kernel) {
  pthread_mutex_lock(&space->lock);
  cuda_kernel *winner = find(space, launch, kernel->hash);
  if (winner == NULL) {
    _Atomic(cuda_kernel *) *bucket = &space->buckets[kernel->hash % ASSAY_CUDA_BUCKETS];
    kernel->next = atomic_load_explicit(bucket, memory_order_relaxed);
    atomic_store_explicit(bucket, kernel, memory_order_release);
    winner = kernel;
  }
  pthread_mutex_unlock(&space->lock);
  if (winner != kernel) {
    (void)space->driver->module_unload(kernel->module);
    free_kernel(kernel);
  }
  return winner;
}

/* An object from the disk that does not load (a damaged file, say) is made again. */
static assay_status make_module(cuda_space *space, const assay_nvrtc_request *request,
                                const assay_launch *launch, cuda_module *module, char **log,
                                assay_message *why) {
  char *key = cache_key(space->nvrtc, request);
  if (key == NULL)
    return assay_explain(why, ASSAY_NO_MEMORY, "there is no memory to compile %s", launch->file);
  size_t bytes = 0;
  void *image = assay_cache_read(key, &bytes);
  assay_status status = ASSAY_UNAVAILABLE;
  if (image != NULL) status = load_module(space, image, launch, module, why);
  if (status != ASSAY_OK) {
    free(image);
    image = NULL;
    status = compile(space->nvrtc, request, key, &image, log, why);
    if (status == ASSAY_OK) status = load_module(space, image, launch, module, why);
  }
  free(image);
  free(key);
  return status;
}

static assay_status load(cuda_space *space, const assay_launch *launch, cuda_kernel *kernel, char **log,
                         assay_message *why) {
  assay_kernel_source source;
  assay_status status = assay_kernel_source_load(launch->file, &source, why);
  if (status != ASSAY_OK) return status;
  char target[32];
  const assay_nvrtc_request request = {.file = launch->file,
                                       .text = source.text,
                                       .headers = source.headers,
                                       .header_count = source.header_count,
                                       .defines = kernel->defines,
                                       .target = target};
  if (!assay_nvrtc_target(space->nvrtc, space->info.architecture, target)) {
    int major = 0;
    int minor = 0;
    assay_nvrtc_version(space->nvrtc, &major, &minor);
    status = assay_explain(
        why, ASSAY_UNAVAILABLE, "%s has architecture %d.%d, too old for NVRTC %d.%d: install an older NVRTC",
        space->info.name, space->info.architecture / 10, space->info.architecture % 10, major, minor);
  } else {
    status = make_module(space, &request, launch, &kernel->module, log, why);
  }
  assay_kernel_source_free(&source);
  if (status != ASSAY_OK) return status;
  status = describe(space, kernel, why);
  if (status != ASSAY_OK) (void)space->driver->module_unload(kernel->module);
  return status;
}

assay_status assay_cuda_kernel_load(cuda_space *space, const assay_launch *launch, cuda_kernel **kernel,
                                    char **log, assay_message *why) {
  *log = NULL;
  cuda_kernel *fresh = new_kernel(launch);
  if (fresh == NULL)
    return assay_explain(why, ASSAY_NO_MEMORY, "there is no memory for kernel %s", launch->kernel);
  /* While this thread captures a graph, loading a module would otherwise be refused and end the capture. */
  int mode = CUDA_CAPTURE_RELAXED;
  const bool relaxed = space->driver->capture_mode(&mode) == CUDA_OK;
  const assay_status status = load(space, launch, fresh, log, why);
  if (relaxed) (void)space->driver->capture_mode(&mode);
  if (status != ASSAY_OK) {
    free_kernel(fresh);
    return status;
  }
  *kernel = publish(space, launch, fresh);
  return ASSAY_OK;
}
