/* SPDX-License-Identifier: MIT */
/* where.h - where a learner stands in the course, and the one command that comes next. */
#ifndef ASSAY_CLI_WHERE_H
#define ASSAY_CLI_WHERE_H

#include "progress.h"

typedef enum where_state {
  WHERE_NOT_STARTED = 0, /* there is no file of the learner's */
  WHERE_UNTOUCHED,       /* the file is the starter */
  WHERE_UNCHECKED,       /* it was changed since it was checked last */
  WHERE_UNFINISHED,      /* the last check of this very file said TODO */
  WHERE_FAILED,          /* or found a mistake */
  WHERE_PASSED           /* it has passed once, in this form or another */
} where_state;

typedef struct standing {
  const assay_exercise *exercise;
  assay_backend backend;      /* of the file */
  char file[ASSAY_PATH_SIZE]; /* the learner's, whether it exists or not */
  where_state state;
  char check[64]; /* WHERE_FAILED, WHERE_UNFINISHED: the first check that did not pass */
  bool lesson_read;
} standing;

/* One exercise, by the newest of the learner's files. */
standing where_is(const progress *state, const assay_exercise *exercise);

/* The exercise that the learner is at: the one edited last among those that are started and have not passed,
 * else the first of the course that has not passed. The exercise is NULL when all have. */
standing where_now(const progress *state);

/* The first exercise behind `exercise` in the course that has not passed, round to its beginning; NULL when
 * there is no other. */
const assay_exercise *where_next(const progress *state, const assay_exercise *exercise);

/* How many exercises have passed. */
int where_done(const progress *state);

/* "fails the check long_sums" and so on, and the command behind the program's name that comes next. */
void where_describe(const standing *at, char text[256]);
void where_command(const standing *at, char text[256]);

/* What a bare call of the program prints. */
void where_print(void);

#endif
