/* SPDX-License-Identifier: MIT */
/* broken.h - broken.txt: defects as small text replacements, each with the check that must catch it. */
#ifndef ASSAY_BROKEN_H
#define ASSAY_BROKEN_H

#include "status.h"

#include <stdbool.h>

/*
 * [defect_name]
 * file: w1_solution.c
 * caught-by: large_logits
 * why: without the subtraction exp overflows
 * - the old line, with its own indentation after "- "
 * + the new line
 *
 * All '-' lines of a block form one old text, all '+' lines one new text (none: the old text is deleted).
 * A defect of a .cu file that only the emulator is sure to show has a line "seen-on: simt": hardware may give
 * the right values all the same. One that only a GPU is large or fast enough for has "seen-on: cuda". Lines
 * that start with '#' and empty lines between blocks are ignored. `file` is relative to the exercise's
 * folder, or to the source folder when it holds a slash.
 */
typedef struct broken_defect {
  char *name;
  char *file;
  char *caught_by;
  char *why;
  char *seen_on;  /* NULL: wherever it runs */
  char *old_text; /* lines joined with \n, without a final one */
  char *new_text;
  int line; /* of the [name] */
} broken_defect;

typedef struct broken_list {
  broken_defect *defects;
  int count;
} broken_list;

/* Parses `text` (NUL-terminated). False with "line N: ..." in `why`; the list is then empty. */
bool broken_parse(const char *text, broken_list *list, assay_message *why);
void broken_free(broken_list *list);

/* `source` with the one occurrence of old_text replaced; NULL with the reason when it is not exactly one. The
 * old text must begin at a line's beginning and end at a line's end. To be freed. */
char *broken_apply(const broken_defect *defect, const char *source, assay_message *why);

#endif
