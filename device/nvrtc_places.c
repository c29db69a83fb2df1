/* SPDX-License-Identifier: MIT */
/* nvrtc_places.c - where libnvrtc may lie: the loader's folders, CUDA toolkits, and Python's packages. */
#include "nvrtc.h"

#include <assert.h>
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct place_list {
  assay_nvrtc_place *places;
  char (*resolved)[PATH_MAX]; /* of each place: the same file may have many names */
  int count;
} place_list;

static void add_file(place_list *list, const char *path) {
  if (list->count == ASSAY_NVRTC_MOST) return;
  char *resolved = list->resolved[list->count];
  if (realpath(path, resolved) == NULL) return;
  for (int i = 0; i < list->count; i++) {
    if (strcmp(list->resolved[i], resolved) == 0) return;
  }
  assay_nvrtc_place *place = &list->places[list->count];
  if (!assay_path_format(place->path, "%s", path)) return;
  const char *number = strstr(path, "libnvrtc.so.");
  place->major = number != NULL ? atoi(number + strlen("libnvrtc.so.")) : 0;
  list->count++;
}

static void add_pattern(place_list *list, const char *pattern) {
  glob_t matches;
  if (glob(pattern, 0, NULL, &matches) != 0) return;
  for (size_t i = 0; i < matches.gl_pathc; i++) add_file(list, matches.gl_pathv[i]);
  globfree(&matches);
}

/* PREFIX/TAIL/libnvrtc.so.* for every tail; PREFIX NULL or empty: nothing. */
static void add_under(place_list *list, const char *prefix, const char *const *tails) {
  if (prefix == NULL || prefix[0] == '\0') return;
  for (; *tails != NULL; tails++) {
    char pattern[ASSAY_PATH_SIZE];
    if (assay_path_format(pattern, "%s/%s/libnvrtc.so.*", prefix, *tails)) add_pattern(list, pattern);
  }
}

/* What a plain program would get, LD_LIBRARY_PATH included. Asked by name, since only the loader knows its
 * folders. They stay mapped: most likely one is used, and NVRTC does not give back all that it takes when it
 * is loaded. */
static void add_from_loader(place_list *list) {
  static const char *const names[] = {"libnvrtc.so.16", "libnvrtc.so.15", "libnvrtc.so.14",
                                      "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    void *library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL) continue;
    struct link_map *map = NULL;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != NULL) add_file(list, map->l_name);
    dlclose(library);
  }
}

static void add_from_toolkits(place_list *list) {
  static const char *const tails[] = {
      "lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "targets/aarch64-linux/lib",
      NULL};
  add_under(list, getenv("CUDA_HOME"), tails);
  add_under(list, getenv("CUDA_PATH"), tails);
  add_under(list, "/usr/local/cuda", tails);
  add_under(list, "/usr/local/cuda-*", tails);
  add_under(list, "/opt/cuda", tails);
}

/* The wheels nvidia-cuda-nvrtc (nvidia/cu13/lib) and nvidia-cuda-nvrtc-cu12 (nvidia/cuda_nvrtc/lib). */
static void add_from_pythons(place_list *list) {
  static const char *const environment[] = {"lib/python3*/site-packages/nvidia/*/lib", "lib", NULL};
  static const char *const user[] = {".local/lib/python3*/site-packages/nvidia/*/lib", NULL};
  static const char *const system[] = {"lib/python3*/site-packages/nvidia/*/lib",
                                       "lib/python3*/dist-packages/nvidia/*/lib", NULL};
  char venv[ASSAY_PATH_SIZE];
  const char *source = assay_source_folder();
  if (source != NULL && assay_path_format(venv, "%s/build/venv", source)) add_under(list, venv, environment);
  add_under(list, getenv("VIRTUAL_ENV"), environment);
  add_under(list, getenv("CONDA_PREFIX"), environment);
  add_under(list, getenv("HOME"), user);
  add_under(list, "/usr/local", system);
  add_under(list, "/usr", system);
}

int assay_nvrtc_places(assay_nvrtc_place places[ASSAY_NVRTC_MOST]) {
  place_list list = {.places = places, .resolved = calloc(ASSAY_NVRTC_MOST, sizeof *list.resolved)};
  if (list.resolved == NULL) return 0;
  add_from_loader(&list);
  add_from_toolkits(&list);
  add_from_pythons(&list);
  free(list.resolved);
  assert(list.count >= 0 && list.count <= ASSAY_NVRTC_MOST);
  return list.count;
}
