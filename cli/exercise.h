/* SPDX-License-Identifier: MIT */
/* exercise.h - from a name on the command line to an exercise, its files and the learner's copy. */
#ifndef ASSAY_CLI_EXERCISE_H
#define ASSAY_CLI_EXERCISE_H

#include "core/file.h"
#include "workshops/workshops.h"

/* By name or alias; NULL after an error message with a suggestion. */
const assay_exercise *exercise_named(const char *word);

enum { EXERCISE_MOST = 64 };

typedef struct exercise_list {
  const assay_exercise *items[EXERCISE_MOST];
  int count;
} exercise_list;

/* The exercises that `names` ask for, each once, in the order of the names; "all", or no name, is the whole
 * course. False after an error message. */
bool exercise_choose(const char *const *names, int name_count, exercise_list *list);

/* Whether the exercise is among them by its name or alias, and not only as part of "all". */
bool exercise_is_named(const assay_exercise *exercise, const char *const *names, int name_count);

/* The path of a file of the exercise: workshops/FOLDER/FILE, for display and below the source folder. The
 * second is false, after an error message, when the source folder is not found or the path is too long. */
void exercise_shown_path(const assay_exercise *exercise, const char *file, char path[ASSAY_PATH_SIZE]);
bool exercise_full_path(const assay_exercise *exercise, const char *file, char path[ASSAY_PATH_SIZE]);

/* "w1_starter.c" for ("starter", ASSAY_CPU). */
void exercise_file_name(const assay_exercise *exercise, const char *role, assay_backend backend,
                        char name[128]);

/* The whole text of a file of the exercise, to be freed; NULL after an error message. */
char *exercise_read(const assay_exercise *exercise, const char *file, size_t *size);

/* Where the learner's files are, relative to the current folder: the nearest `work` folder, upward. The
 * current folder's own `work` always counts, one further up only when it holds a file of an exercise, since
 * many people have a folder of that name. "work" when there is none yet. */
void work_folder(char path[ASSAY_PATH_SIZE]);

/* The learner's copy, whether it exists or not. */
void work_file(const assay_exercise *exercise, assay_backend backend, char path[ASSAY_PATH_SIZE]);

/* Whether the exercise has a starter and a solution for the backend; the emulator runs those of CUDA. */
bool exercise_has(const assay_exercise *exercise, assay_backend backend);

/* Where a learner begins: the CPU, or CUDA for an exercise that has no C starter. */
assay_backend exercise_first_backend(const assay_exercise *exercise);

/* NULL when the backend may be able to run kernels on this machine, else why it cannot. Opens no GPU. */
const char *backend_missing(assay_backend backend);

/* Where a .cu file runs by default: ASSAY_CUDA where there is a GPU, else ASSAY_SIMT. */
assay_backend default_gpu(void);

#endif
