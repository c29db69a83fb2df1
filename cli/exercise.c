/* SPDX-License-Identifier: MIT */
/* exercise.c - names, files and the learner's folder. */
#include "exercise.h"

#include "cli.h"
#include "output.h"
#include "suggest.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_TEXT = 1 << 20 };

/* A file in the learner's folder for an exercise that this version does not have; "" when there is none. */
static void find_orphan(const char *word, char path[ASSAY_PATH_SIZE]) {
  static const char *const endings[] = {"c", "cu"};
  char folder[ASSAY_PATH_SIZE];
  work_folder(folder);
  for (int i = 0; i < 2 && strchr(word, '/') == NULL; i++) {
    if (assay_path_format(path, "%s/%s.%s", folder, word, endings[i]) && assay_file_exists(path)) return;
  }
  path[0] = '\0';
}

const assay_exercise *exercise_named(const char *word) {
  const assay_exercise *exercise = assay_exercise_find(word);
  if (exercise != NULL) return exercise;
  char orphan[ASSAY_PATH_SIZE];
  find_orphan(word, orphan);
  if (orphan[0] != '\0') {
    output_error("no exercise \"%.60s\" in this version, %s is kept as it is: " PROGRAM " list shows all",
                 word, orphan);
    return NULL;
  }
  suggestion near;
  suggest_begin(&near, word);
  for (int i = 0; i < assay_exercise_count; i++) {
    suggest_try(&near, assay_exercises[i].name);
    suggest_try(&near, assay_exercises[i].alias);
  }
  const char *best = suggest_best(&near);
  if (best != NULL) {
    output_error("no exercise \"%.60s\": did you mean %s? (" PROGRAM " list shows all)", word, best);
  } else {
    output_error("no exercise \"%.60s\": " PROGRAM " list shows all", word);
  }
  return NULL;
}

static void add_once(const assay_exercise *exercise, exercise_list *list) {
  for (int i = 0; i < list->count; i++) {
    if (list->items[i] == exercise) return;
  }
  list->items[list->count++] = exercise;
}

static void add_all(exercise_list *list) {
  for (int i = 0; i < assay_exercise_count; i++) add_once(&assay_exercises[i], list);
}

bool exercise_choose(const char *const *names, int name_count, exercise_list *list) {
  assert(assay_exercise_count <= EXERCISE_MOST);
  list->count = 0;
  if (name_count == 0) add_all(list);
  for (int i = 0; i < name_count; i++) {
    if (strcmp(names[i], "all") == 0) {
      add_all(list);
      continue;
    }
    const assay_exercise *exercise = exercise_named(names[i]);
    if (exercise == NULL) return false;
    add_once(exercise, list);
  }
  return true;
}

bool exercise_is_named(const assay_exercise *exercise, const char *const *names, int name_count) {
  for (int i = 0; i < name_count; i++) {
    if (strcmp(names[i], exercise->name) == 0 || strcmp(names[i], exercise->alias) == 0) return true;
  }
  return false;
}

void exercise_shown_path(const assay_exercise *exercise, const char *file, char path[ASSAY_PATH_SIZE]) {
  assay_path_format(path, "workshops/%s/%s", exercise->folder, file);
}

bool exercise_full_path(const assay_exercise *exercise, const char *file, char path[ASSAY_PATH_SIZE]) {
  const char *source = assay_source_folder();
  if (source == NULL) {
    output_error("the folder with the workshops is not found: set ASSAY_SOURCE_DIR to Assay's source folder");
    return false;
  }
  if (!assay_path_format(path, "%s/workshops/%s/%s", source, exercise->folder, file)) {
    output_error("the path of Assay's source folder is too long: %.80s...", source);
    return false;
  }
  return true;
}

void exercise_file_name(const assay_exercise *exercise, const char *role, assay_backend backend,
                        char name[128]) {
  snprintf(name, 128, "%s_%s.%s", exercise->alias, role, backend == ASSAY_CPU ? "c" : "cu");
}

char *exercise_read(const assay_exercise *exercise, const char *file, size_t *size) {
  char path[ASSAY_PATH_SIZE];
  if (!exercise_full_path(exercise, file, path)) return NULL;
  char *text = assay_read_file(path, LARGEST_TEXT, size);
  if (text == NULL) output_error("cannot read %s: %s", path, strerror(errno));
  return text;
}

/* ---- the learner's folder ------------------------------------------------------------------------------ */

static bool is_folder(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool holds_an_exercise(const char *folder) {
  for (int i = 0; i < assay_exercise_count; i++) {
    char path[ASSAY_PATH_SIZE];
    if (assay_path_format(path, "%s/%s.c", folder, assay_exercises[i].name) && assay_file_exists(path))
      return true;
    if (assay_path_format(path, "%s/%s.cu", folder, assay_exercises[i].name) && assay_file_exists(path))
      return true;
  }
  return false;
}

static bool same_folder(const char *left, const char *right) {
  struct stat a, b;
  return stat(left, &a) != 0 || stat(right, &b) != 0 || (a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

void work_folder(char path[ASSAY_PATH_SIZE]) {
  static const char up[] = "../";
  char above[ASSAY_PATH_SIZE] = "";
  char here[ASSAY_PATH_SIZE];
  char parent[ASSAY_PATH_SIZE];
  if (is_folder("work")) {
    strcpy(path, "work");
    return;
  }
  do {
    if (!assay_path_format(here, "%s.", above) || strlen(above) + sizeof up > sizeof above) break;
    strcat(above, up);
    if (!assay_path_format(parent, "%s.", above) || same_folder(here, parent)) break; /* the root */
    if (!assay_path_format(path, "%swork", above)) break;
    if (is_folder(path) && holds_an_exercise(path)) return;
  } while (true);
  strcpy(path, "work");
}

void work_file(const assay_exercise *exercise, assay_backend backend, char path[ASSAY_PATH_SIZE]) {
  char folder[ASSAY_PATH_SIZE];
  work_folder(folder);
  assay_path_format(path, "%s/%s.%s", folder, exercise->name, backend == ASSAY_CPU ? "c" : "cu");
}

bool exercise_has(const assay_exercise *exercise, assay_backend backend) {
  const assay_backend written_for = backend == ASSAY_SIMT ? ASSAY_CUDA : backend;
  return (exercise->backends & (1u << written_for)) != 0;
}

assay_backend exercise_first_backend(const assay_exercise *exercise) {
  return exercise_has(exercise, ASSAY_CPU) ? ASSAY_CPU : ASSAY_CUDA;
}

/* The device nodes of NVIDIA's driver and of WSL 2: a look at them opens nothing. */
const char *backend_missing(assay_backend backend) {
  if (backend != ASSAY_CUDA) return NULL;
  if (access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0) return NULL;
  return "no NVIDIA GPU: neither /dev/nvidiactl nor (WSL 2) /dev/dxg exists; --backend simt emulates one";
}

assay_backend default_gpu(void) {
  return backend_missing(ASSAY_CUDA) == NULL ? ASSAY_CUDA : ASSAY_SIMT;
}
