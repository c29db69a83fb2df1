/* SPDX-License-Identifier: MIT */
/* emulator_build.c - emulated kernels: what was loaded, found again at every launch. */
#include "emulator_build.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator_compile.h"
#include "launch_table.h"

typedef struct loaded_object {
  void *handle; /* what dlopen gave */
  const watch_object *watch;
} loaded_object;

/* Each plain and watched. */
static assay_launch_table kernels[2];
static assay_launch_table objects[2]; /* under the empty kernel name */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static assay_status no_memory(assay_message *why) {
  return assay_explain(why, ASSAY_NO_MEMORY, "there is no memory to remember the kernel");
}

/* The object of this file and these defines, which other kernels of the file may have needed before. */
static assay_status object_of(const assay_launch *launch, bool watched, const assay_emulator_calls *calls,
                              const loaded_object **object, char **log, assay_message *why) {
  char kept[ASSAY_PATH_SIZE];
  assay_launch whole = *launch;
  whole.kernel = "";
  *object = assay_launch_find(&objects[watched], &whole);
  if (*object != NULL) return ASSAY_OK;
  loaded_object *loaded = calloc(1, sizeof *loaded);
  if (loaded == NULL) return no_memory(why);
  assay_status status = assay_emulator_object(launch, watched, calls, &loaded->handle, kept, log, why);
  if (status == ASSAY_OK && watched) {
    loaded->watch = assay_watch_object(loaded->handle, kept);
    if (loaded->watch == NULL) status = no_memory(why);
  }
  if (status == ASSAY_OK && !assay_launch_add(&objects[watched], &whole, loaded)) status = no_memory(why);
  if (status != ASSAY_OK) {
    free(loaded);
    return status;
  }
  *object = loaded;
  return ASSAY_OK;
}

static void *symbol_of(void *handle, const char *prefix, const char *kernel) {
  char name[256];
  if (snprintf(name, sizeof name, "%s%s", prefix, kernel) >= (int)sizeof name) return NULL;
  return dlsym(handle, name);
}

static assay_status make_kernel(const assay_launch *launch, bool watched, const assay_emulator_calls *calls,
                                const emulated_kernel **made, char **log, assay_message *why) {
  const loaded_object *object = NULL;
  const assay_status status = object_of(launch, watched, calls, &object, log, why);
  if (status != ASSAY_OK) return status;
  void *handle = object->handle;
  void *entry = symbol_of(handle, "assay_entry_", launch->kernel);
  const uint32_t *threads = symbol_of(handle, "assay_threads_", launch->kernel);
  const uint32_t *bytes = symbol_of(handle, "assay_bytes_", launch->kernel);
  void *self = dlsym(handle, "assay_emulator_self");
  if (entry == NULL || threads == NULL || bytes == NULL || self == NULL) {
    return assay_explain(why, ASSAY_KERNEL_FAULT, "%.200s has no KERNEL named %.60s", launch->file,
                         launch->kernel);
  }
  emulated_kernel *kernel = malloc(sizeof *kernel);
  if (kernel == NULL) return no_memory(why);
  memcpy(&kernel->entry, &entry, sizeof entry);
  memcpy(&kernel->self, &self, sizeof self);
  kernel->threads_most = *threads;
  kernel->arg_bytes = *bytes;
  kernel->object = object->watch;
  if (!assay_launch_add(&kernels[watched], launch, kernel)) {
    free(kernel);
    return no_memory(why);
  }
  *made = kernel;
  return ASSAY_OK;
}

assay_status assay_emulator_find(const assay_launch *launch, const assay_emulator_calls *calls, bool watched,
                                 const emulated_kernel **kernel, char **log, assay_message *why) {
  assay_status status = ASSAY_OK;
  *log = NULL;
  *kernel = assay_launch_find(&kernels[watched], launch);
  if (*kernel != NULL) return ASSAY_OK;
  pthread_mutex_lock(&gate);
  *kernel = assay_launch_find(&kernels[watched], launch); /* another thread may have been faster */
  if (*kernel == NULL) status = make_kernel(launch, watched, calls, kernel, log, why);
  pthread_mutex_unlock(&gate);
  return status;
}
