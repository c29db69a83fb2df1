/* SPDX-License-Identifier: MIT */
/* workshops.h - the list of exercises: what is judged, and where its files are. */
#ifndef ASSAY_WORKSHOPS_H
#define ASSAY_WORKSHOPS_H

#include <stdio.h>

#include "op.h"

/* The worked example of an exercise with numbers of the learner's own. */
typedef struct assay_walkthrough {
  const char *values; /* what the numbers are, as a clause: "the block size, then the elements of x" */
  int least;          /* how many of them there may be */
  int most;
  const double *example; /* the lesson's own numbers, for a learner who gives none */
  int example_count;
  /* Writes the steps to `steps`, line by line. `count` is within the limits, the values may be any number.
   * False, with a sentence about the value that does not fit and what would, before anything is written. */
  bool (*write)(const double *values, int count, FILE *steps, assay_message *why);
} assay_walkthrough;

typedef struct assay_exercise {
  const char *name;   /* "strided_softmax" */
  const char *alias;  /* "w1": also the stem of its files */
  const char *level;  /* "beginner", "intermediate" or "advanced" */
  const char *title;  /* "Strided softmax" */
  const char *folder; /* under workshops/, holds lesson.md, hint.md, broken.txt, ALIAS_starter.c and so on */
  uint32_t backends;  /* ASSAY_ON_...: which starters and solutions exist */
  const assay_subject *subject;
  const assay_operator *op;         /* NULL for an exercise that is no operator */
  const assay_walkthrough *explain; /* NULL: there is none */
} assay_exercise;

/* In the order of the course. */
extern const assay_exercise assay_exercises[];
extern const int assay_exercise_count;

/* By name or alias; NULL when there is none. */
const assay_exercise *assay_exercise_find(const char *name);

#endif
