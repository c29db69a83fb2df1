/* SPDX-License-Identifier: MIT */
/*
 * watch_files.h - which of the learner's files has changed, whatever way an editor saves it.
 *
 * The answer always comes from looking at the files; inotify only says early when looking is worth it. So
 * files behind links, on shared folders, and a folder that is deleted and made again are seen too, a moment
 * later.
 */
#ifndef ASSAY_CLI_WATCH_FILES_H
#define ASSAY_CLI_WATCH_FILES_H

#include <sys/stat.h>

#include "exercise.h"

/* What a save changes, also one that puts another file in the old one's place. */
typedef struct watch_stamp {
  bool exists;
  dev_t device;
  ino_t inode;
  off_t size;
  struct timespec changed;
} watch_stamp;

typedef struct watch_files {
  watch_stamp seen[EXERCISE_MOST][2]; /* of each exercise: the .c and the .cu file */
  int notify;                         /* inotify's descriptor; -1: there is none, so look often */
  int watched;                        /* what inotify watches, -1: no folder yet */
} watch_files;

/* `poll`: do without inotify. Every file counts as seen as it is now. */
void watch_files_open(watch_files *files, bool poll);
void watch_files_close(watch_files *files);

/* How long to wait at most before looking again, in milliseconds. */
int watch_files_pause(const watch_files *files);

/* Takes what inotify has to say, and watches the folder again when it is another one than before. */
void watch_files_drain(watch_files *files);

/* Whether a file of `only` (NULL: of any exercise) differs from what was seen. Changes nothing. */
bool watch_files_differ(const watch_files *files, const assay_exercise *only);

/* The file of `only` that differs from what was seen and was changed last: its exercise, NULL when there is
 * none; `backend` is ASSAY_CPU or ASSAY_CUDA, `exists` false when it was deleted. All files count as seen
 * then. */
const assay_exercise *watch_files_changed(watch_files *files, const assay_exercise *only,
                                          assay_backend *backend, bool *exists);

#endif
