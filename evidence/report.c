/* SPDX-License-Identifier: MIT */
/* report.c - a report from JSON and to JSON, by the tables of its fields; nothing is accepted unseen. */
#include "report.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "report_fields.h"

enum { PATH_ROOM = 256, MOST_ITEMS = 10000000 };

/* Where the reader is, for messages. */
typedef struct reader {
  const char *file;
  char path[PATH_ROOM]; /* "cases[2].variants[0].name" */
  char *message;
  size_t message_size;
} reader;

/* Every list of a report has this shape. */
typedef struct any_list {
  void *items;
  int64_t count;
} any_list;

/* ---- reading ------------------------------------------------------------------------------------------- */

static bool complain(reader *self, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool complain(reader *self, const char *format, ...) {
  va_list arguments;
  const int used = snprintf(self->message, self->message_size, "%s: %s%s", self->file,
                            self->path[0] != '\0' ? self->path : "", self->path[0] != '\0' ? ": " : "");
  va_start(arguments, format);
  if (used >= 0 && (size_t)used < self->message_size) {
    vsnprintf(self->message + used, self->message_size - (size_t)used, format, arguments);
  }
  va_end(arguments);
  return false;
}

/* Appends to the path; the result is the length to go back to. A path that is full stays cut. */
static size_t enter(reader *self, const char *name, int64_t index) {
  const size_t before = strlen(self->path);
  char *end = self->path + before;
  if (name == NULL) {
    snprintf(end, PATH_ROOM - before, "[%lld]", (long long)index);
  } else {
    snprintf(end, PATH_ROOM - before, "%s%.60s", before > 0 ? "." : "", name);
    /* A name from the file goes into a message: one line, harmless to a terminal. */
    for (char *c = end; *c != '\0'; c++) {
      if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
    }
  }
  return before;
}

static void leave(reader *self, size_t before) {
  self->path[before] = '\0';
}

static bool read_fields(reader *self, const json_t *value, const report_field *fields, void *target);

static bool is_hash(const char *text) {
  return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

static int two_digits(const char *text) {
  return (text[0] - '0') * 10 + (text[1] - '0');
}

static bool is_time(const char *text) {
  static const char shape[] = "dddd-dd-ddTdd:dd:ddZ";
  if (strlen(text) != sizeof shape - 1) return false;
  for (size_t i = 0; shape[i] != '\0'; i++) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (shape[i] == 'd' ? !digit : text[i] != shape[i]) return false;
  }
  const int month = two_digits(text + 5);
  const int day = two_digits(text + 8);
  return month >= 1 && month <= 12 && day >= 1 && day <= 31 && two_digits(text + 11) < 24 &&
         two_digits(text + 14) < 60 && two_digits(text + 17) <= 60;
}

/* "one of fast, slow" for a message. */
static void list_words(const char *const *words, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; words[i] != NULL && used < size; i++) {
    used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", words[i]);
  }
}

static int64_t find_word(const char *const *words, const char *text) {
  for (int64_t i = 0; words[i] != NULL; i++) {
    if (strcmp(words[i], text) == 0) return i;
  }
  return -1;
}

static bool read_text(reader *self, const json_t *value, const report_field *field, char **target) {
  if (field->kind == FIELD_TEXT_OR_NULL && json_is_null(value)) return true;
  if (!json_is_string(value)) return complain(self, "must be a string");
  const char *text = json_string_value(value);
  if (strlen(text) != json_string_length(value)) return complain(self, "must not hold a NUL character");
  if (field->kind == FIELD_HASH && !is_hash(text)) {
    return complain(self, "must be a SHA-256 of 64 lower-case hex digits");
  }
  if (field->kind == FIELD_TIME && !is_time(text)) {
    return complain(self, "must be a time in UTC such as 2025-01-31T12:00:00Z");
  }
  if (field->words != NULL && find_word(field->words, text) < 0) {
    char words[160];
    list_words(field->words, words, sizeof words);
    return complain(self, "must be one of %s", words);
  }
  *target = strdup(text);
  return *target != NULL || complain(self, "not enough memory");
}

static bool read_whole(reader *self, const json_t *value, int64_t low, int64_t *target) {
  if (!json_is_integer(value) || json_integer_value(value) < low) {
    if (low == INT64_MIN) return complain(self, "must be a whole number");
    return complain(self, "must be a whole number from %lld up", (long long)low);
  }
  *target = json_integer_value(value);
  return true;
}

static bool read_number(reader *self, const json_t *value, const report_field *field, double *target) {
  if (field->kind == FIELD_NUMBER_OR_NULL && json_is_null(value)) {
    *target = (double)NAN;
    return true;
  }
  const double number = json_is_number(value) ? json_number_value(value) : (double)NAN;
  if (!(isfinite(number) && number >= (double)field->low)) {
    return complain(self, "must be a number from %lld up%s", (long long)field->low,
                    field->kind == FIELD_NUMBER_OR_NULL ? ", or null" : "");
  }
  *target = number;
  return true;
}

static bool read_choice(reader *self, const json_t *value, const report_field *field, int64_t *target) {
  const int64_t index = json_is_string(value) ? find_word(field->words, json_string_value(value)) : -1;
  if (index < 0) {
    char words[160];
    list_words(field->words, words, sizeof words);
    return complain(self, "must be one of %s", words);
  }
  *target = index;
  return true;
}

/* Zeroed room for the elements of an array. */
static bool open_list(reader *self, size_t count, size_t size, any_list *list) {
  if (count > MOST_ITEMS) return complain(self, "must have at most %d elements", MOST_ITEMS);
  list->items = calloc(count > 0 ? count : 1, size);
  if (list->items == NULL) return complain(self, "not enough memory");
  list->count = (int64_t)count;
  return true;
}

/* Texts, whole numbers or structs; the count is complete before the first element, so that whatever was read
 * is freed. */
static bool read_list(reader *self, const json_t *value, const report_field *field, any_list *list) {
  const size_t size = field->kind == FIELD_LIST    ? field->size
                      : field->kind == FIELD_TEXTS ? sizeof(char *)
                                                   : sizeof(int64_t);
  if (!json_is_array(value)) return complain(self, "must be an array");
  if (!open_list(self, json_array_size(value), size, list)) return false;
  for (int64_t i = 0; i < list->count; i++) {
    const json_t *element = json_array_get(value, (size_t)i);
    void *target = (char *)list->items + (size_t)i * size;
    const size_t before = enter(self, NULL, i);
    bool good = false;
    if (field->kind == FIELD_LIST) {
      good = read_fields(self, element, field->fields, target);
    } else if (field->kind == FIELD_TEXTS) {
      good = read_text(self, element, &(report_field){.kind = FIELD_TEXT}, target);
    } else {
      good = read_whole(self, element, field->low, target);
    }
    if (!good) return false;
    leave(self, before);
  }
  return true;
}

static bool read_named(reader *self, const json_t *value, const report_field *field,
                       report_named_list *list) {
  any_list room = {0};
  if (!json_is_object(value)) return complain(self, "must be an object of whole numbers");
  if (!open_list(self, json_object_size(value), sizeof(report_named), &room)) return false;
  *list = (report_named_list){room.items, room.count};
  int64_t i = 0;
  const char *name;
  json_t *element;
  json_object_foreach((json_t *)(uintptr_t)value, name, element) {
    const size_t before = enter(self, name, 0);
    list->items[i].name = strdup(name);
    if (list->items[i].name == NULL) return complain(self, "not enough memory");
    if (!read_whole(self, element, field->low, &list->items[i].value)) return false;
    leave(self, before);
    i++;
  }
  return true;
}

static bool read_object(reader *self, const json_t *value, const report_field *field, void *at) {
  if (field->kind == FIELD_OBJECT) return read_fields(self, value, field->fields, at);
  if (json_is_null(value)) return true;
  void *inner = calloc(1, field->size);
  if (inner == NULL) return complain(self, "not enough memory");
  memcpy(at, &inner, sizeof inner);
  return read_fields(self, value, field->fields, inner);
}

static bool read_field(reader *self, const json_t *value, const report_field *field, void *at) {
  switch (field->kind) {
  case FIELD_TEXT:
  case FIELD_TEXT_OR_NULL:
  case FIELD_HASH:
  case FIELD_TIME:
    return read_text(self, value, field, at);
  case FIELD_BOOLEAN:
    if (!json_is_boolean(value)) return complain(self, "must be true or false");
    *(bool *)at = json_is_true(value);
    return true;
  case FIELD_WHOLE:
    return read_whole(self, value, field->low, at);
  case FIELD_NUMBER:
  case FIELD_NUMBER_OR_NULL:
    return read_number(self, value, field, at);
  case FIELD_CHOICE:
    return read_choice(self, value, field, at);
  case FIELD_NAMED:
    return read_named(self, value, field, at);
  case FIELD_TEXTS:
  case FIELD_WHOLES:
  case FIELD_LIST:
    return read_list(self, value, field, at);
  case FIELD_OBJECT:
  case FIELD_OBJECT_OR_NULL:
    return read_object(self, value, field, at);
  }
  assert(false);
  return false;
}

static const report_field *find_field(const report_field *fields, const char *name) {
  while (fields->name != NULL && strcmp(fields->name, name) != 0) fields++;
  return fields->name != NULL ? fields : NULL;
}

static bool read_fields(reader *self, const json_t *value, const report_field *fields, void *target) {
  if (!json_is_object(value)) return complain(self, "must be an object");
  const bool outermost = fields == report_fields;
  const char *name;
  json_t *unused;
  json_object_foreach((json_t *)(uintptr_t)value, name, unused) {
    if (find_field(fields, name) != NULL || (outermost && strcmp(name, "format") == 0)) continue;
    (void)enter(self, name, 0);
    return complain(self, "is no field of %s", report_format);
  }
  for (const report_field *field = fields; field->name != NULL; field++) {
    const json_t *element = json_object_get(value, field->name);
    const size_t before = enter(self, field->name, 0);
    if (element == NULL && !field->optional) return complain(self, "is missing");
    if (element == NULL) {
      leave(self, before);
      continue;
    }
    if (!read_field(self, element, field, (char *)target + field->offset)) return false;
    leave(self, before);
  }
  return true;
}

report *report_from_json(const json_t *value, const char *name, char *message, size_t message_size) {
  reader self = {.file = name, .message_size = message_size};
  self.message = message;
  const char *format = json_string_value(json_object_get(value, "format"));
  if (format == NULL || strcmp(format, report_format) != 0) {
    (void)complain(&self, "is no report: \"format\" must be \"%s\"", report_format);
    return NULL;
  }
  report *read = calloc(1, sizeof *read);
  if (read == NULL) {
    (void)complain(&self, "not enough memory");
    return NULL;
  }
  if (read_fields(&self, value, report_fields, read)) return read;
  report_free(read);
  return NULL;
}

report *report_load(const char *path, char *message, size_t message_size) {
  json_t *value = assay_json_load(path, message, message_size);
  if (value == NULL) return NULL;
  report *read = report_from_json(value, path, message, message_size);
  json_decref(value);
  return read;
}
