/* SPDX-License-Identifier: MIT */
/* choose.c - a name out of a list, with a suggestion where it is misspelt, and knobs by name. */
#include "choose.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "suggest.h"

enum { DIMENSION_MOST = 1 << 20 };

void choose_join(const char *const *names, int count, const char *last, char *text, size_t size) {
  text[0] = '\0';
  for (int i = 0; i < count; i++) {
    const size_t used = strlen(text);
    if (i > 0 && i + 1 == count) {
      snprintf(text + used, size - used, " %s %s", last, names[i]);
    } else {
      snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ", ", names[i]);
    }
  }
}

int choose_name(const char *owner, const char *kind, const char *word, const char *const *names, int count) {
  suggestion near;
  suggest_begin(&near, word);
  for (int i = 0; i < count; i++) {
    if (strcmp(names[i], word) == 0) return i;
    suggest_try(&near, names[i]);
  }
  char all[256];
  choose_join(names, count, "and", all, sizeof all);
  const char *best = suggest_best(&near);
  if (count == 0) {
    output_error("%s has no %s at all, not even \"%.60s\"", owner, kind, word);
  } else if (best != NULL) {
    output_error("%s has no %s \"%.60s\": did you mean %s?", owner, kind, word, best);
  } else {
    output_error("%s has no %s \"%.60s\", but %s", owner, kind, word, all);
  }
  return -1;
}

static bool bad_shape(const assay_subject *subject, const char *text) {
  char names[128];
  choose_join(subject->dim_names, subject->dim_count, "and", names, sizeof names);
  output_error("--shape \"%.40s\" must be %d whole number%s joined by x: %s of %s, each at most %d", text,
               subject->dim_count, subject->dim_count == 1 ? "" : "s", names, subject->name, DIMENSION_MOST);
  return false;
}

bool choose_shape(const assay_subject *subject, const char *text, int64_t *dims) {
  const char *at = text;
  for (int i = 0; i < subject->dim_count; i++) {
    char *end = NULL;
    if (*at < '0' || *at > '9') return bad_shape(subject, text);
    errno = 0;
    const long long value = strtoll(at, &end, 10);
    if (errno != 0 || value > DIMENSION_MOST) return bad_shape(subject, text);
    if (*end != (i + 1 < subject->dim_count ? 'x' : '\0')) return bad_shape(subject, text);
    dims[i] = value;
    at = end + 1;
  }
  return true;
}

bool choose_knob(const assay_subject *subject, const char *text, int64_t *opt) {
  const size_t length = strcspn(text, "=");
  char name[SUGGEST_MAX_LENGTH + 1];
  snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
  char *end = NULL;
  const char *digits = text[length] == '=' ? text + length + 1 : "";
  errno = 0;
  const long long value = strtoll(digits, &end, 10);
  if (*digits < '0' || *digits > '9' || *end != '\0' || errno != 0) {
    output_error("--set takes NAME=VALUE with a whole number, not \"%.60s\"", text);
    return false;
  }
  const int index = choose_name(subject->name, "knob", name, subject->opt_names, subject->opt_count);
  if (index < 0) return false;
  opt[index] = value;
  return true;
}
