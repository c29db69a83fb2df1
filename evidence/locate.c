/* SPDX-License-Identifier: MIT */
/* locate.c - jansson keeps no lines of what it has read: the text is walked once more, for one path. */
#include "locate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *at) {
  return at + strspn(at, " \t\r\n");
}

/* Behind the string whose quotation mark stands at `at`. */
static const char *skip_string(const char *at) {
  at++;
  while (*at != '\0' && *at != '"') at += at[0] == '\\' && at[1] != '\0' ? 2 : 1;
  return *at == '"' ? at + 1 : at;
}

/* Behind a whole value. Depth is counted, not recursed into: a file may be nested as deeply as it likes. */
static const char *skip_value(const char *at) {
  int depth = 0;
  do {
    at = skip_space(at);
    if (*at == '"') {
      at = skip_string(at);
    } else if (*at == '{' || *at == '[') {
      depth++;
      at++;
    } else if (*at == '}' || *at == ']') {
      depth--;
      at++;
    } else if (*at == ',' || *at == ':') {
      at++;
    } else {
      at += strcspn(at, ",:]} \t\r\n");
    }
  } while (depth > 0 && *at != '\0');
  return at;
}

/* The value of `key` (of `length` bytes, compared as it is written) in the object at `at`; NULL when it has
 * none. */
static const char *member(const char *at, const char *key, size_t length) {
  if (*at != '{') return NULL;
  at = skip_space(at + 1);
  while (*at == '"') {
    const char *name = at + 1;
    at = skip_string(at);
    const bool found = (size_t)(at - 1 - name) == length && memcmp(name, key, length) == 0;
    at = skip_space(at);
    at = skip_space(*at == ':' ? at + 1 : at);
    if (found) return at;
    at = skip_space(skip_value(at));
    if (*at == ',') at = skip_space(at + 1);
  }
  return NULL;
}

static const char *element(const char *at, long index) {
  if (*at != '[') return NULL;
  at = skip_space(at + 1);
  for (long i = 0; *at != ']' && *at != '\0'; i++) {
    if (i == index) return at;
    at = skip_space(skip_value(at));
    if (*at == ',') at = skip_space(at + 1);
  }
  return NULL;
}

int json_line_of(const char *text, const char *path) {
  const char *at = skip_space(text);
  while (*path != '\0') {
    const char *next;
    if (*path == '[') {
      char *end;
      next = element(at, strtol(path + 1, &end, 10));
      path = *end == ']' ? end + 1 : end;
    } else {
      if (*path == '.') path++;
      const size_t length = strcspn(path, ".[");
      next = member(at, path, length);
      path += length;
    }
    if (next == NULL) break;
    at = next;
  }
  int line = 1;
  for (const char *c = text; c < at; c++) line += *c == '\n';
  return line;
}
