/* SPDX-License-Identifier: MIT */
/* surroundings.c - machine, compilers and revision, as the system tells them. */
#include "surroundings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "check/build.h"
#include "cpu.h"
#include "cuda_driver.h"
#include "file.h"
#include "nvrtc.h"
#include "process.h"

double surroundings_load(void) {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

/* The first line of a program's output, owned by the caller; a copy of `otherwise` when it cannot be run. */
static char *first_line(const char *const *argv, const char *folder, const char *otherwise) {
  assay_process_result result;
  assay_process_run(argv, folder, 10.0, &result);
  const bool good = result.started && result.exit_code == 0 && result.output != NULL;
  char *line = good ? strndup(result.output, strcspn(result.output, "\n")) : strdup(otherwise);
  free(result.output);
  return line;
}

static char *compiler_line(void) {
  enum { MOST_WORDS = 8 };
  char words[ASSAY_PATH_SIZE];
  const char *argv[MOST_WORDS + 2];
  size_t count = 0;
  char *rest = NULL;
  snprintf(words, sizeof words, "%s", kernel_compiler());
  for (char *word = strtok_r(words, " ", &rest); word != NULL && count < MOST_WORDS;
       word = strtok_r(NULL, " ", &rest)) {
    argv[count++] = word;
  }
  if (count == 0) return strdup("none");
  argv[count++] = "--version";
  argv[count] = NULL;
  return first_line(argv, NULL, "none");
}

static bool add_cache(report_environment *environment, int64_t level, const char *type, long bytes) {
  if (bytes <= 0) return true;
  report_cache_size *item = &environment->caches.items[environment->caches.count];
  *item = (report_cache_size){level, strdup(type), bytes};
  if (item->type == NULL) return false;
  environment->caches.count++;
  return true;
}

static bool take_caches(report_environment *environment) {
  environment->caches.items = calloc(4, sizeof *environment->caches.items);
  return environment->caches.items != NULL &&
         add_cache(environment, 1, "data", sysconf(_SC_LEVEL1_DCACHE_SIZE)) &&
         add_cache(environment, 2, "unified", sysconf(_SC_LEVEL2_CACHE_SIZE)) &&
         add_cache(environment, 3, "unified", sysconf(_SC_LEVEL3_CACHE_SIZE));
}

bool surroundings_take(report_environment *environment, int threads) {
  struct utsname host = {0};
  char system[sizeof host.sysname + sizeof host.release + sizeof host.machine + 2];
  uname(&host);
  snprintf(system, sizeof system, "%s %s %s", host.sysname, host.release, host.machine);
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  environment->cpu = strdup(assay_cpu_model());
  environment->features = strdup(assay_cpu_feature_names(assay_cpu_features()));
  environment->threads = threads;
  environment->memory_bytes = pages > 0 && page > 0 ? (int64_t)pages * page : 0;
  environment->system = strdup(system);
  environment->compiler = compiler_line();
#if defined(__clang__)
  environment->built_by = strdup(__VERSION__);
#else
  environment->built_by = strdup("GCC " __VERSION__);
#endif
  environment->flags = strdup(ASSAY_BUILD_FLAGS);
#if defined(_OPENMP)
  environment->openmp = _OPENMP;
#endif
  return environment->cpu != NULL && environment->features != NULL && environment->system != NULL &&
         environment->compiler != NULL && environment->built_by != NULL && environment->flags != NULL &&
         take_caches(environment);
}

/* "NVRTC 13.0": what compiles kernels here, when they are not in the cache. */
static char *gpu_compiler(int driver_major) {
  assay_message why;
  char text[64] = "none was found";
  int major = 0;
  int minor = 0;
  const assay_nvrtc *compiler = assay_nvrtc_find(driver_major, &why);
  if (compiler != NULL) {
    assay_nvrtc_version(compiler, &major, &minor);
    snprintf(text, sizeof text, "NVRTC %d.%d", major, minor);
  }
  return strdup(text);
}

bool surroundings_gpu(report_environment *environment) {
  cuda_device_info info;
  assay_message why;
  char text[64];
  const cuda_driver *driver = assay_cuda_driver(&why);
  if (driver == NULL || assay_cuda_device(0, &info, &why) != ASSAY_OK) return true;
  report_gpu *gpu = calloc(1, sizeof *gpu);
  if (gpu == NULL) return false;
  environment->gpu = gpu;
  gpu->name = strdup(info.name);
  snprintf(text, sizeof text, "%d.%d", info.architecture / 10, info.architecture % 10);
  gpu->architecture = strdup(text);
  snprintf(text, sizeof text, "CUDA %d.%d", driver->version / 1000, driver->version % 1000 / 10);
  gpu->driver = strdup(text);
  gpu->compiler = gpu_compiler(driver->version / 1000);
  gpu->clock_mhz_most = info.clock_khz / 1000;
  return gpu->name != NULL && gpu->architecture != NULL && gpu->driver != NULL && gpu->compiler != NULL;
}

bool surroundings_git(report_git *git) {
  static const char *const revision[] = {"git", "rev-parse", "HEAD", NULL};
  static const char *const status[] = {"git", "status", "--porcelain", NULL};
  const char *folder = assay_source_folder();
  *git = (report_git){NULL, false};
  if (folder == NULL) return true;
  char *line = first_line(revision, folder, "");
  if (line == NULL) return false;
  if (line[0] == '\0') {
    free(line);
    return true;
  }
  git->revision = line;
  char *changes = first_line(status, folder, "unknown");
  git->dirty = changes != NULL && changes[0] != '\0';
  free(changes);
  return changes != NULL;
}

char *surroundings_flags(bool object, bool on_gpu) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return NULL;
  if (!object) fputs(ASSAY_BUILD_FLAGS, out);
  for (int i = 0; object && build_flags[i] != NULL; i++)
    fprintf(out, "%s%s", i > 0 ? " " : "", build_flags[i]);
  if (on_gpu) fputs("; kernels:", out);
  for (int i = 0; on_gpu && assay_nvrtc_options[i] != NULL; i++) fprintf(out, " %s", assay_nvrtc_options[i]);
  const bool written = ferror(out) == 0;
  if (fclose(out) == 0 && written) return text;
  free(text);
  return NULL;
}
