/* SPDX-License-Identifier: MIT */
/* watch_files.c - stamps of the learner's files, compared; and inotify on their folder. */
#include "watch_files.h"

#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* How long a change may stay unseen without inotify, and when inotify does not tell of it. */
enum { POLL_MS = 250, LOOK_MS = 1000 };

static const assay_backend kinds[2] = {ASSAY_CPU, ASSAY_CUDA};

static watch_stamp stamp_of(const assay_exercise *exercise, assay_backend backend) {
  char path[ASSAY_PATH_SIZE];
  struct stat info;
  work_file(exercise, backend, path);
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return (watch_stamp){0};
  return (watch_stamp){.exists = true,
                       .device = info.st_dev,
                       .inode = info.st_ino,
                       .size = info.st_size,
                       .changed = info.st_mtim};
}

static bool same(const watch_stamp *left, const watch_stamp *right) {
  if (!left->exists || !right->exists) return left->exists == right->exists;
  return left->device == right->device && left->inode == right->inode && left->size == right->size &&
         left->changed.tv_sec == right->changed.tv_sec && left->changed.tv_nsec == right->changed.tv_nsec;
}

static bool later(const struct timespec *left, const struct timespec *right) {
  return left->tv_sec != right->tv_sec ? left->tv_sec > right->tv_sec : left->tv_nsec > right->tv_nsec;
}

/* The folder, and not a file: an editor that renames leaves a watched file behind under another name. */
static void watch_folder(watch_files *files) {
  char folder[ASSAY_PATH_SIZE];
  if (files->notify < 0) return;
  work_folder(folder);
  files->watched = inotify_add_watch(files->notify, folder,
                                     IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
                                         IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR);
}

void watch_files_open(watch_files *files, bool poll) {
  *files = (watch_files){.notify = poll ? -1 : inotify_init1(IN_NONBLOCK | IN_CLOEXEC), .watched = -1};
  watch_folder(files);
  for (int i = 0; i < assay_exercise_count; i++) {
    for (int k = 0; k < 2; k++) files->seen[i][k] = stamp_of(&assay_exercises[i], kinds[k]);
  }
}

void watch_files_close(watch_files *files) {
  if (files->notify >= 0) close(files->notify);
  files->notify = -1;
}

int watch_files_pause(const watch_files *files) {
  return files->watched < 0 ? POLL_MS : LOOK_MS;
}

void watch_files_drain(watch_files *files) {
  char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
  while (files->notify >= 0 && read(files->notify, events, sizeof events) > 0) {
  }
  /* Adding a folder that is watched already changes nothing; a new folder of the name is another one. */
  watch_folder(files);
}

bool watch_files_differ(const watch_files *files, const assay_exercise *only) {
  for (int i = 0; i < assay_exercise_count; i++) {
    if (only != NULL && only != &assay_exercises[i]) continue;
    for (int k = 0; k < 2; k++) {
      const watch_stamp now = stamp_of(&assay_exercises[i], kinds[k]);
      if (!same(&now, &files->seen[i][k])) return true;
    }
  }
  return false;
}

const assay_exercise *watch_files_changed(watch_files *files, const assay_exercise *only,
                                          assay_backend *backend, bool *exists) {
  const assay_exercise *found = NULL;
  struct timespec newest = {0};
  *exists = false;
  for (int i = 0; i < assay_exercise_count; i++) {
    for (int k = 0; k < 2; k++) {
      const watch_stamp now = stamp_of(&assay_exercises[i], kinds[k]);
      const bool differs = !same(&now, &files->seen[i][k]);
      files->seen[i][k] = now;
      if (!differs || (only != NULL && only != &assay_exercises[i])) continue;
      /* A file that is there comes before one that is gone, a newer one before an older one. */
      if (found != NULL && (!now.exists || (*exists && !later(&now.changed, &newest)))) continue;
      found = &assay_exercises[i];
      *backend = kinds[k];
      *exists = now.exists;
      newest = now.changed;
    }
  }
  return found;
}
