/* SPDX-License-Identifier: MIT */
/* practice.h - the practice sessions and the capstones: what is changed, what is run, what is explained
 * afterwards. */
#ifndef ASSAY_PRACTICE_H
#define ASSAY_PRACTICE_H

#include "status.h"
#include "workshops.h"

/* What a step needs beside a CPU. */
typedef enum assay_practice_need {
  PRACTICE_NEEDS_CPU = 0,
  PRACTICE_NEEDS_GPU,
  PRACTICE_NEEDS_PYTORCH
} assay_practice_need;

enum { PRACTICE_WORDS = 16 };

/* Shows something on a backend, line by line; false, with the reason, when that was not to be seen. */
typedef bool practice_show(assay_backend backend, void (*say)(const char *line), assay_message *why);

/* One run of a command of Assay, or of a function that shows something. */
typedef struct assay_practice_step {
  const char *what; /* one clause: what this run shows */
  assay_practice_need need;
  const char *variant; /* of the library, that it cannot do without; NULL: none */
  practice_show *show; /* on a GPU when it needs one, else on the emulator; NULL: `command` */
  const char *command; /* "bench" or "check"; the exercise's name follows it. With PyTorch: assay.COMMAND */
  const char *arguments[PRACTICE_WORDS]; /* of the session; ends with NULL */
  const char *small[PRACTICE_WORDS];     /* the same in a few seconds, for an unattended run */
} assay_practice_step;

typedef struct assay_practice {
  const char *name; /* what `practice` is asked for: "1", "capstone_a" */
  const char *exercise;
  const char *title;
  const char *change;     /* the one thing that differs */
  const char *comparison; /* what is held against what */
  const char *prediction; /* of an unattended run, as predict.h reads it; NULL: nothing is timed */
  const char *question;   /* to be answered aloud at the end */
  const assay_practice_step *steps;
  int step_count;
  const char *const
      *by_hand; /* what takes more than this program, a line each; ends with NULL. NULL: nothing */
} assay_practice;

/* Session N is assay_practices[N - 1]. */
extern const assay_practice assay_practices[];
extern const int assay_practice_count;

/* The tasks at the end of the course (capstones.c). */
extern const assay_practice assay_capstones[];
extern const int assay_capstone_count;

/* Sessions first, then capstones, counted from 0; NULL behind the last. */
const assay_practice *assay_practice_at(int index);

/* NULL when there is none of that name. */
const assay_practice *assay_practice_find(const char *name);

#endif
