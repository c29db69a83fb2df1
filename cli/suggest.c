/* SPDX-License-Identifier: MIT */
/* suggest.c - edit distance with swaps (optimal string alignment), and when a candidate is near enough. */
#include "suggest.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

static unsigned char lower(char c) {
  return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

size_t suggest_distance(const char *left, const char *right) {
  const size_t rows = strlen(left);
  const size_t columns = strlen(right);
  if (rows > SUGGEST_MAX_LENGTH || columns > SUGGEST_MAX_LENGTH) return SIZE_MAX;

  size_t table[SUGGEST_MAX_LENGTH + 1][SUGGEST_MAX_LENGTH + 1];
  for (size_t i = 0; i <= rows; i++) table[i][0] = i;
  for (size_t j = 0; j <= columns; j++) table[0][j] = j;
  for (size_t i = 1; i <= rows; i++) {
    for (size_t j = 1; j <= columns; j++) {
      const size_t cost = lower(left[i - 1]) != lower(right[j - 1]);
      size_t best = least(table[i - 1][j] + 1, table[i][j - 1] + 1);
      best = least(best, table[i - 1][j - 1] + cost);
      if (i > 1 && j > 1 && lower(left[i - 1]) == lower(right[j - 2]) &&
          lower(left[i - 2]) == lower(right[j - 1])) {
        best = least(best, table[i - 2][j - 2] + 1);
      }
      table[i][j] = best;
    }
  }
  return table[rows][columns];
}

void suggest_begin(suggestion *near, const char *word) {
  *near = (suggestion){.word = word, .best = NULL, .distance = SIZE_MAX};
}

void suggest_try(suggestion *near, const char *candidate) {
  const size_t length = strlen(near->word);
  size_t distance = suggest_distance(near->word, candidate);
  /* A beginning or a part of a name ("atten") is meant even where many letters are missing. */
  if (length >= 3 && strcasestr(candidate, near->word) != NULL) distance = 1;
  /* A third of the letters may be wrong, but never all of them. */
  const size_t allowed = length < 3 ? 1 : (length + 1) / 3;
  if (length < 2 || distance > allowed || distance >= near->distance) return;
  near->best = candidate;
  near->distance = distance;
}

const char *suggest_best(const suggestion *near) {
  return near->best;
}
