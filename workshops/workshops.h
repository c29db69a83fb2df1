/* SPDX-License-Identifier: MIT */
/* workshops.h - the list of exercises: what is judged, and where its files are. */
#ifndef ASSAY_WORKSHOPS_H
#define ASSAY_WORKSHOPS_H

#include "op.h"

typedef struct assay_exercise {
  const char *name;   /* "strided_softmax" */
  const char *alias;  /* "w1": also the stem of its files */
  const char *level;  /* "beginner", "intermediate" or "advanced" */
  const char *title;  /* "Strided softmax" */
  const char *folder; /* under workshops/, holds lesson.md, hint.md, broken.txt, ALIAS_starter.c and so on */
  uint32_t backends;  /* ASSAY_ON_...: which starters and solutions exist */
  const assay_subject *subject;
  const assay_operator *op; /* NULL for an exercise that is no operator */
} assay_exercise;

/* In the order of the course. */
extern const assay_exercise assay_exercises[];
extern const int assay_exercise_count;

/* By name or alias; NULL when there is none. */
const assay_exercise *assay_exercise_find(const char *name);

#endif
