/* SPDX-License-Identifier: MIT */
/* practice.h - the six practice sessions: what is changed, what is run, what is explained afterwards. */
#ifndef ASSAY_PRACTICE_H
#define ASSAY_PRACTICE_H

#include "workshops.h"

/* What a step needs beside a CPU. */
typedef enum assay_practice_need {
  PRACTICE_NEEDS_CPU = 0,
  PRACTICE_NEEDS_GPU,
  PRACTICE_NEEDS_PYTORCH
} assay_practice_need;

enum { PRACTICE_WORDS = 12 };

/* One run of a command of Assay. */
typedef struct assay_practice_step {
  const char *what; /* one clause: what this run shows */
  assay_practice_need need;
  const char *command;                   /* "bench" or "check"; the exercise's name follows it */
  const char *arguments[PRACTICE_WORDS]; /* of the session; ends with NULL */
  const char *small[PRACTICE_WORDS];     /* the same in a few seconds, for an unattended run */
} assay_practice_step;

typedef struct assay_practice {
  const char *exercise;
  const char *title;
  const char *change;     /* the one thing that differs */
  const char *comparison; /* what is held against what */
  const char *prediction; /* of an unattended run, as predict.h reads it; NULL: nothing is timed */
  const char *question;   /* to be answered aloud at the end */
  const assay_practice_step *steps;
  int step_count;
} assay_practice;

/* Session N is assay_practices[N - 1]. */
extern const assay_practice assay_practices[];
extern const int assay_practice_count;

#endif
