/* SPDX-License-Identifier: MIT */
/* env_cuda.c - looks for the CUDA driver and NVRTC, and says what was found or what helps. */
#include "env_cuda.h"

#include <limits.h>
#include <stdlib.h>

#include "core/json.h"
#include "cuda_driver.h"
#include "kernel_cache.h"
#include "nvrtc.h"

static json_t *version_json(int major, int minor) {
  char text[32];
  snprintf(text, sizeof text, "%d.%d", major, minor);
  return json_string(text);
}

static json_t *devices_json(const cuda_driver *driver) {
  json_t *list = json_array();
  for (int i = 0; driver != NULL && i < driver->devices; i++) {
    cuda_device_info info;
    assay_message why;
    if (assay_cuda_device(i, &info, &why) != ASSAY_OK) continue;
    json_t *device = json_object();
    json_object_set_new(device, "device", json_integer(i));
    json_object_set_new(device, "name", assay_json_text(info.name));
    json_object_set_new(device, "architecture", version_json(info.architecture / 10, info.architecture % 10));
    json_object_set_new(device, "memory_mib", json_integer((json_int_t)(info.memory_bytes >> 20)));
    json_array_append_new(list, device);
  }
  return list;
}

static json_t *nvrtc_json(const assay_nvrtc *nvrtc) {
  int major = 0;
  int minor = 0;
  if (nvrtc == NULL) return json_null();
  assay_nvrtc_version(nvrtc, &major, &minor);
  json_t *answer = json_object();
  json_object_set_new(answer, "version", version_json(major, minor));
  json_object_set_new(answer, "path", assay_json_text(assay_nvrtc_path(nvrtc)));
  return answer;
}

static json_t *places_json(void) {
  json_t *list = json_array();
  assay_nvrtc_place *places = calloc(ASSAY_NVRTC_MOST, sizeof *places);
  const int count = places != NULL ? assay_nvrtc_places(places) : 0;
  for (int i = 0; i < count; i++) json_array_append_new(list, assay_json_text(places[i].path));
  free(places);
  return list;
}

json_t *env_cuda(void) {
  assay_message no_driver = {""};
  assay_message no_nvrtc = {""};
  char cache[ASSAY_PATH_SIZE];
  const cuda_driver *driver = assay_cuda_driver(&no_driver);
  const assay_nvrtc *nvrtc = assay_nvrtc_find(driver != NULL ? driver->version / 1000 : INT_MAX, &no_nvrtc);

  json_t *answer = json_object();
  json_object_set_new(answer, "driver",
                      driver != NULL ? version_json(driver->version / 1000, driver->version % 1000 / 10)
                                     : json_null());
  json_object_set_new(answer, "driver_reason",
                      driver != NULL ? json_null() : assay_json_text(no_driver.text));
  json_object_set_new(answer, "devices", devices_json(driver));
  json_object_set_new(answer, "nvrtc", nvrtc_json(nvrtc));
  json_object_set_new(answer, "nvrtc_reason", nvrtc != NULL ? json_null() : assay_json_text(no_nvrtc.text));
  json_object_set_new(answer, "nvrtc_found", places_json());
  json_object_set_new(answer, "cache", assay_cache_folder(cache) ? assay_json_text(cache) : json_null());
  return answer;
}

static const char *text_of(const json_t *object, const char *key) {
  return json_string_value(json_object_get(object, key));
}

void env_cuda_print(const json_t *cuda) {
  const char *driver = text_of(cuda, "driver");
  const char *cache = text_of(cuda, "cache");
  if (driver != NULL) {
    printf("%-15sfor CUDA %s\n", "CUDA driver", driver);
  } else {
    printf("%-15s%s\n", "CUDA driver", text_of(cuda, "driver_reason"));
  }
  size_t index = 0;
  const json_t *device = NULL;
  json_array_foreach(json_object_get(cuda, "devices"), index, device) {
    char title[48];
    snprintf(title, sizeof title, "CUDA device %zu", index);
    printf("%-15s%s, architecture %s, %" JSON_INTEGER_FORMAT " MiB\n", title, text_of(device, "name"),
           text_of(device, "architecture"), json_integer_value(json_object_get(device, "memory_mib")));
  }
  const json_t *nvrtc = json_object_get(cuda, "nvrtc");
  if (json_is_object(nvrtc)) {
    printf("%-15s%s, %s\n", "NVRTC", text_of(nvrtc, "version"), text_of(nvrtc, "path"));
  } else {
    printf("%-15s%s\n", "NVRTC", text_of(cuda, "nvrtc_reason"));
  }
  printf("%-15s%s\n", "kernel cache", cache != NULL ? cache : "none: no folder can be written");
}
