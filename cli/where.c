/* SPDX-License-Identifier: MIT */
/* where.c - from the learner's files and the progress that is kept to one line of state and one command. */
#include "where.h"

#include "cli.h"
#include "core/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The time of the last change; false when there is no such file. */
static bool changed_at(const char *path, struct timespec *when) {
  struct stat info;
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
  *when = info.st_mtim;
  return true;
}

static bool later(const struct timespec *left, const struct timespec *right) {
  return left->tv_sec != right->tv_sec ? left->tv_sec > right->tv_sec : left->tv_nsec > right->tv_nsec;
}

/* Fills in file and backend: the learner's newest file, else the one to begin with. */
static bool find_file(const assay_exercise *exercise, standing *at, struct timespec *when) {
  static const assay_backend kinds[] = {ASSAY_CPU, ASSAY_CUDA};
  bool found = false;
  for (int i = 0; i < 2; i++) {
    char path[ASSAY_PATH_SIZE];
    struct timespec changed;
    work_file(exercise, kinds[i], path);
    if (!exercise_has(exercise, kinds[i]) || !changed_at(path, &changed)) continue;
    if (found && !later(&changed, when)) continue;
    found = true;
    *when = changed;
    at->backend = kinds[i];
    memcpy(at->file, path, sizeof path);
  }
  if (found) return true;
  at->backend = exercise_first_backend(exercise);
  work_file(exercise, at->backend, at->file);
  return false;
}

/* Whether the learner's file is still the starter, byte by byte. */
static bool is_starter(const standing *at, const char *sha256) {
  char name[128];
  char path[ASSAY_PATH_SIZE];
  char starter[ASSAY_HASH_TEXT];
  const char *source = assay_source_folder();
  exercise_file_name(at->exercise, "starter", at->backend, name);
  return source != NULL &&
         assay_path_format(path, "%s/workshops/%s/%s", source, at->exercise->folder, name) &&
         assay_hash_file(path, starter) && strcmp(starter, sha256) == 0;
}

static where_state state_of_file(const progress *state, standing *at) {
  char sha256[ASSAY_HASH_TEXT];
  const char *check = "";
  if (!assay_hash_file(at->file, sha256)) return WHERE_UNCHECKED;
  const char *said = progress_verdict(state, at->exercise, sha256, &check);
  snprintf(at->check, sizeof at->check, "%s", check);
  if (is_starter(at, sha256)) return WHERE_UNTOUCHED;
  if (strcmp(said, "failed") == 0) return WHERE_FAILED;
  return strcmp(said, "unfinished") == 0 ? WHERE_UNFINISHED : WHERE_UNCHECKED;
}

/* `when` is set when there is a file: the time of its last change. */
static standing look(const progress *state, const assay_exercise *exercise, struct timespec *when) {
  standing at = {.exercise = exercise};
  const progress_view view = progress_of(state, exercise);
  at.lesson_read = view.lesson[0] != '\0';
  const bool started = find_file(exercise, &at, when);
  at.state = started ? state_of_file(state, &at) : WHERE_NOT_STARTED;
  if (view.passed[0] != '\0') at.state = WHERE_PASSED;
  return at;
}

standing where_is(const progress *state, const assay_exercise *exercise) {
  struct timespec when;
  return look(state, exercise, &when);
}

standing where_now(const progress *state) {
  standing now = {0};
  struct timespec newest = {0};
  for (int i = 0; i < assay_exercise_count; i++) {
    struct timespec when;
    const standing at = look(state, &assay_exercises[i], &when);
    if (at.state == WHERE_PASSED) continue;
    const bool started = at.state != WHERE_NOT_STARTED;
    const bool now_started = now.exercise != NULL && now.state != WHERE_NOT_STARTED;
    if (started ? now_started && !later(&when, &newest) : now.exercise != NULL) continue;
    now = at;
    if (started) newest = when;
  }
  return now;
}

const assay_exercise *where_next(const progress *state, const assay_exercise *exercise) {
  const int from = (int)(exercise - assay_exercises);
  for (int i = 1; i < assay_exercise_count; i++) {
    const assay_exercise *other = &assay_exercises[(from + i) % assay_exercise_count];
    if (progress_of(state, other).passed[0] == '\0') return other;
  }
  return NULL;
}

int where_done(const progress *state) {
  int done = 0;
  for (int i = 0; i < assay_exercise_count; i++) {
    if (progress_of(state, &assay_exercises[i]).passed[0] != '\0') done++;
  }
  return done;
}

/* ---- words --------------------------------------------------------------------------------------------- */

void where_describe(const standing *at, char text[256]) {
  switch (at->state) {
  case WHERE_NOT_STARTED:
    snprintf(text, 256, "not started");
    return;
  case WHERE_UNTOUCHED:
    snprintf(text, 256, "started, nothing written yet in %.160s", at->file);
    return;
  case WHERE_UNCHECKED:
    snprintf(text, 256, "%.160s is not checked as it is now", at->file);
    return;
  case WHERE_UNFINISHED:
    snprintf(text, 256, "%.160s is not finished", at->file);
    return;
  case WHERE_FAILED:
    snprintf(text, 256, "%.160s fails %s", at->file, at->check);
    return;
  case WHERE_PASSED:
    snprintf(text, 256, "passed");
    return;
  }
}

void where_command(const standing *at, char text[256]) {
  const char *name = at->exercise->name;
  switch (at->state) {
  case WHERE_NOT_STARTED:
    snprintf(text, 256, "start %s", name);
    return;
  case WHERE_UNTOUCHED:
    snprintf(text, 256, "%s %s", at->lesson_read ? "watch" : "lesson", name);
    return;
  case WHERE_UNCHECKED:
    snprintf(text, 256, "check %s", name);
    return;
  case WHERE_UNFINISHED:
  case WHERE_FAILED:
    snprintf(text, 256, "watch %s", name);
    return;
  case WHERE_PASSED:
    snprintf(text, 256, "lesson %s --solution", name);
    return;
  }
}

void where_print(void) {
  progress state;
  progress_read(&state);
  const standing now = where_now(&state);
  printf("Assay: write compute kernels, and know whether they are right.\n\n");
  printf("%d of %d exercises done\n", where_done(&state), assay_exercise_count);
  if (now.exercise == NULL) {
    printf("next: " PROGRAM " practice 1\n");
  } else {
    char text[256];
    where_describe(&now, text);
    printf("now:  %s (%s), %s: %s\n", now.exercise->name, now.exercise->alias, now.exercise->level, text);
    where_command(&now, text);
    printf("next: " PROGRAM " %s\n", text);
  }
  puts("\nAll commands: " PROGRAM " --help     All exercises: " PROGRAM " list");
  progress_free(&state);
}
