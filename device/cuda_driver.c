/* SPDX-License-Identifier: MIT */
/* cuda_driver.c - finds libcuda, looks its functions up by name, and says in a sentence why there is none. */
#include "cuda_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { DEVICES_MOST = 64, OLDEST_VERSION = 11040 };

/* Filled in once, then only read. `driver` is NULL when `why` says so. */
static struct {
  const cuda_driver *driver;
  assay_message why;
  cuda_driver functions;
  cuda_device_info devices[DEVICES_MOST];
} found;

/* WSL keeps the driver outside the loader's usual folders. */
static void *open_library(void) {
  static const char *const places[] = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
  void *library = NULL;
  for (size_t i = 0; library == NULL && i < sizeof places / sizeof places[0]; i++) {
    library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
  }
  return library;
}

typedef struct entry {
  const char *symbol;
  size_t offset; /* of the pointer in cuda_driver */
  bool required;
} entry;

#define REQUIRED_ENTRY(field, symbol, parameters) {symbol, offsetof(cuda_driver, field), true},
#define OPTIONAL_ENTRY(field, symbol, parameters) {symbol, offsetof(cuda_driver, field), false},
static const entry entries[] = {ASSAY_CUDA_REQUIRED(REQUIRED_ENTRY) ASSAY_CUDA_OPTIONAL(OPTIONAL_ENTRY)};
#undef REQUIRED_ENTRY
#undef OPTIONAL_ENTRY

/* The first required function that the library lacks, NULL when it has all. */
static const char *look_up(void *library, cuda_driver *driver) {
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
    void *symbol = dlsym(library, entries[i].symbol);
    if (symbol == NULL && entries[i].required) return entries[i].symbol;
    /* Copied as bytes: ISO C has no cast between object and function pointers. */
    memcpy((char *)driver + entries[i].offset, &symbol, sizeof symbol);
  }
  return NULL;
}

static bool describe_device(const cuda_driver *driver, int ordinal, cuda_device_info *info) {
  cuda_device device = 0;
  int major = 0;
  int minor = 0;
  const bool known =
      driver->device_get(&device, ordinal) == CUDA_OK &&
      driver->device_name(info->name, sizeof info->name, device) == CUDA_OK &&
      driver->device_bytes(&info->memory_bytes, device) == CUDA_OK &&
      driver->device_attribute(&major, CUDA_DEVICE_MAJOR, device) == CUDA_OK &&
      driver->device_attribute(&minor, CUDA_DEVICE_MINOR, device) == CUDA_OK &&
      driver->device_attribute(&info->multiprocessors, CUDA_DEVICE_MULTIPROCESSORS, device) == CUDA_OK &&
      driver->device_attribute(&info->cache_bytes, CUDA_DEVICE_CACHE_BYTES, device) == CUDA_OK &&
      driver->device_attribute(&info->shared_bytes_most, CUDA_DEVICE_SHARED_BYTES_MOST, device) == CUDA_OK;
  info->architecture = 10 * major + minor;
  if (known && driver->device_attribute(&info->clock_khz, CUDA_DEVICE_CLOCK_KHZ, device) != CUDA_OK)
    info->clock_khz = 0;
  return known;
}

/* After the functions are there: the driver itself may still refuse. */
static bool initialise(cuda_driver *driver, assay_message *why) {
  char text[200];
  cuda_result result = driver->driver_version(&driver->version);
  const int major = driver->version / 1000;
  const int minor = driver->version % 1000 / 10;
  if (result == CUDA_OK && driver->version < OLDEST_VERSION) {
    (void)assay_explain(why, ASSAY_UNAVAILABLE,
                        "the CUDA driver supports CUDA %d.%d; update it to one for 11.4 or later", major,
                        minor);
    return false;
  }
  if (result == CUDA_OK) result = driver->init(0);
  if (result == CUDA_OK) result = driver->device_count(&driver->devices);
  if (result == CUDA_STUB_LIBRARY) {
    (void)assay_explain(
        why, ASSAY_UNAVAILABLE,
        "the libcuda.so.1 that was found is the toolkit's stub, not a driver; take its folder out of "
        "LD_LIBRARY_PATH and install the NVIDIA driver");
  } else if (result == CUDA_NO_DEVICE || (result == CUDA_OK && driver->devices == 0)) {
    (void)assay_explain(
        why, ASSAY_UNAVAILABLE,
        "the CUDA driver (%d.%d) sees no device; check nvidia-smi, CUDA_VISIBLE_DEVICES and, in a "
        "container, that it was started with access to the GPU",
        major, minor);
  } else if (result != CUDA_OK) {
    (void)assay_explain(why, ASSAY_UNAVAILABLE,
                        "the CUDA driver (%d.%d) does not start: %s; check nvidia-smi", major, minor,
                        assay_cuda_error(driver, result, text, sizeof text));
  } else {
    return true;
  }
  return false;
}

static void load(void) {
  void *library = open_library();
  if (library == NULL) {
    (void)assay_explain(
        &found.why, ASSAY_UNAVAILABLE,
        "there is no CUDA driver here: libcuda.so.1 was not found; install the NVIDIA driver (in WSL, "
        "the one for Windows; a container must be started with access to the GPU)");
    return;
  }
  const char *missing = look_up(library, &found.functions);
  if (missing != NULL) {
    (void)assay_explain(&found.why, ASSAY_UNAVAILABLE,
                        "the CUDA driver has no %s; update it to one for CUDA 11.4 or later", missing);
    return;
  }
  if (!initialise(&found.functions, &found.why)) return;
  if (found.functions.devices > DEVICES_MOST) found.functions.devices = DEVICES_MOST;
  for (int i = 0; i < found.functions.devices; i++) {
    if (describe_device(&found.functions, i, &found.devices[i])) continue;
    (void)assay_explain(&found.why, ASSAY_UNAVAILABLE,
                        "the CUDA driver does not describe device %d; check nvidia-smi", i);
    return;
  }
  found.driver = &found.functions;
}

const cuda_driver *assay_cuda_driver(assay_message *why) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  if (found.driver == NULL) *why = found.why;
  return found.driver;
}

assay_status assay_cuda_device(int ordinal, cuda_device_info *info, assay_message *why) {
  const cuda_driver *driver = assay_cuda_driver(why);
  if (driver == NULL) return ASSAY_UNAVAILABLE;
  if (ordinal < 0 || ordinal >= driver->devices) {
    return assay_explain(why, ASSAY_BAD_DEVICE,
                         "there is no CUDA device %d; this machine has %d, counted from 0", ordinal,
                         driver->devices);
  }
  *info = found.devices[ordinal];
  return ASSAY_OK;
}

bool assay_cuda_device_files(void) {
  return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0 ||
         access("/dev/nvhost-gpu", F_OK) == 0 || access("/dev/nvgpu", F_OK) == 0;
}

const char *assay_cuda_error(const cuda_driver *driver, cuda_result result, char *text, size_t size) {
  const char *name = NULL;
  const char *words = NULL;
  if (driver->error_name(result, &name) != CUDA_OK || name == NULL) {
    snprintf(text, size, "error %d of the CUDA driver", result);
  } else if (driver->error_text(result, &words) != CUDA_OK || words == NULL) {
    snprintf(text, size, "%s", name);
  } else {
    snprintf(text, size, "%s (%s)", name, words);
  }
  return text;
}
