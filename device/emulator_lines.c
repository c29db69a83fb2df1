/* SPDX-License-Identifier: MIT */
/*
 * emulator_lines.c - from an instruction of a watched kernel to the learner's line.
 *
 * addr2line comes with the linker of every compiler here and reads what -g left in the object. A helper of
 * kernel.h is inlined, so among the functions that meet at an instruction the innermost one that stands in
 * the kernel's own file is the one to name.
 */
#include "emulator_watched.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"

static const double seconds = 20;

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

/* Two lines a frame: a function, and FILE:LINE; the first frame is the innermost. 0: not in this file. */
static int32_t line_in(char *output, const char *file) {
  char *rest = NULL;
  bool is_function = true;
  for (char *text = strtok_r(output, "\n", &rest); text != NULL; text = strtok_r(NULL, "\n", &rest)) {
    is_function = !is_function;
    char *colon = strrchr(text, ':');
    if (!is_function || colon == NULL) continue;
    const long line = strtol(colon + 1, NULL, 10);
    *colon = '\0';
    if (line > 0 && line < INT32_MAX && strcmp(base_name(text), file) == 0) return (int32_t)line;
  }
  return 0;
}

/* Reading what a program prints takes more stack than a coroutine has. */
typedef struct question {
  const char *const *words;
  assay_process_result result;
} question;

static void *ask(void *context) {
  question *asked = context;
  assay_process_run(asked->words, NULL, seconds, &asked->result);
  return NULL;
}

static int32_t look_up(const watch_object *object, uint32_t site, const char *file) {
  char address[24];
  pthread_t thread;
  int32_t line = 0;
  if (object->path[0] == '\0') return 0;
  /* The address is the one behind the call. */
  snprintf(address, sizeof address, "0x%" PRIx32, site - 1);
  const char *const words[] = {"addr2line", "-i", "-f", "-e", object->path, address, NULL};
  question asked = {.words = words};
  if (pthread_create(&thread, NULL, ask, &asked) != 0) return 0;
  pthread_join(thread, NULL);
  const assay_process_result *result = &asked.result;
  if (result->started && result->exit_code == 0 && result->output != NULL)
    line = line_in(result->output, file);
  free(result->output);
  return line;
}

static const watch_site *keep(emulator_watch *watch, const watch_site *site) {
  if (watch->site_count == watch->site_capacity) {
    const int capacity = watch->site_capacity == 0 ? 32 : watch->site_capacity * 2;
    watch_site *sites = realloc(watch->sites, (size_t)capacity * sizeof *sites);
    if (sites == NULL) return site;
    watch->sites = sites;
    watch->site_capacity = capacity;
  }
  watch->sites[watch->site_count] = *site;
  return &watch->sites[watch->site_count++];
}

/* Without a line the last word of kernel.h that the lane has called must do. */
static int32_t line_or_word(int32_t line, const emulated_lane *lane, bool *behind) {
  *behind = line == 0;
  return line == 0 && lane != NULL ? lane->line : line;
}

int32_t assay_watch_line(emulated_machine *machine, const emulated_lane *lane, uint32_t site, bool *behind) {
  emulator_watch *watch = machine->launch->watch;
  const watch_object *object = machine->launch->kernel->object;
  *behind = false;
  if ((site & SITE_LINE) != 0) return (int32_t)(site & ~SITE_LINE);
  for (int i = 0; i < watch->site_count; i++) {
    const watch_site *known = &watch->sites[i];
    if (known->object == object && known->site == site) return line_or_word(known->line, lane, behind);
  }
  watch_site found = {.object = object, .site = site};
  found.line = look_up(object, site, base_name(machine->launch->request->file));
  return line_or_word(keep(watch, &found)->line, lane, behind);
}
