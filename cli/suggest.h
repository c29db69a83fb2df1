/* SPDX-License-Identifier: MIT */
/* suggest.h - "did you mean ...?": the candidate nearest to a mistyped word. */
#ifndef ASSAY_SUGGEST_H
#define ASSAY_SUGGEST_H

#include <stddef.h>

enum { SUGGEST_MAX_LENGTH = 64 };

typedef struct suggestion {
  const char *word;
  const char *best;
  size_t distance; /* of best */
} suggestion;

/* Begin with the word, try each candidate, ask for the best: NULL when none is near enough to be meant. */
void suggest_begin(suggestion *near, const char *word);
void suggest_try(suggestion *near, const char *candidate);
const char *suggest_best(const suggestion *near);

/* Insertions, deletions, replacements and swaps of neighbours between two words, letter case ignored;
 * SIZE_MAX when either is longer than SUGGEST_MAX_LENGTH. */
size_t suggest_distance(const char *left, const char *right);

#endif
