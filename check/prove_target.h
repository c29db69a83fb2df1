/* SPDX-License-Identifier: MIT */
/* prove_target.h - runs all checks against one wrong thing and remembers which did not pass. */
#ifndef ASSAY_PROVE_TARGET_H
#define ASSAY_PROVE_TARGET_H

#include "broken.h"
#include "engine.h"
#include "file.h"
#include "prove.h"

enum { PROVE_CHECKS = 256, PROVE_REASON = 400 };

/* What became of each check of a subject, by its place in the table. */
typedef struct prove_outcome {
  bool ran[PROVE_CHECKS];
  verdict verdicts[PROVE_CHECKS];
  char reasons[PROVE_CHECKS][PROVE_REASON];
  bool built; /* false: nothing ran, `trouble` says why */
  char trouble[PROVE_REASON];
} prove_outcome;

/* A copy of the source folder in which library defects are built. */
typedef struct prove_tree {
  char folder[ASSAY_PATH_SIZE]; /* empty: not made yet */
} prove_tree;

/* The place of a check in the subject's table, -1 when there is none. */
int prove_check_index(const assay_subject *subject, const char *name);

/* Where a defect of the file is judged. */
assay_backend prove_backend(const char *file, const prove_options *options);

/* The checks on a source file, a must-fail kernel or a variant of this program; `only` NULL: all of them. */
void prove_run(const check_target *target, const prove_options *options, const char *only,
               prove_outcome *outcome);

/* A defect of an exercise's own file: the changed source is built alone. */
void prove_exercise_file(const assay_exercise *exercise, const broken_defect *defect,
                         const prove_options *options, prove_outcome *outcome);

/* Whether the source folder is a whole tree: an installed one cannot be built. */
bool prove_tree_exists(void);

/* A defect of a file of the tree: the program is built in the copy, and its library variants are checked. */
void prove_tree_file(const assay_exercise *exercise, const broken_defect *defect, prove_tree *tree,
                     const prove_options *options, prove_outcome *outcome);
void prove_tree_close(prove_tree *tree);

#endif
