/* SPDX-License-Identifier: MIT */
/* report_write.c - a report to JSON, by the same tables that read it. */
#include "report.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "json.h"
#include "report_fields.h"

/* Every list of a report has this shape. */
typedef struct any_list {
  void *items;
  int64_t count;
} any_list;

static json_t *write_fields(const report_field *fields, const void *source);

/* NULL without memory, which json_array_append_new and json_object_set_new pass on. */
static json_t *write_list(const report_field *field, const void *at) {
  any_list list;
  memcpy(&list, at, sizeof list);
  json_t *array = json_array();
  for (int64_t i = 0; i < list.count; i++) {
    json_t *element = NULL;
    if (field->kind == FIELD_LIST) {
      element = write_fields(field->fields, (const char *)list.items + (size_t)i * field->size);
    } else if (field->kind == FIELD_TEXTS) {
      element = assay_json_text(((char *const *)list.items)[i]);
    } else {
      element = json_integer(((const int64_t *)list.items)[i]);
    }
    if (json_array_append_new(array, element) != 0) {
      json_decref(array);
      return NULL;
    }
  }
  return array;
}

static json_t *write_named(const report_named_list *list) {
  json_t *object = json_object();
  for (int64_t i = 0; i < list->count; i++) {
    if (json_object_set_new(object, list->items[i].name, json_integer(list->items[i].value)) != 0) {
      json_decref(object);
      return NULL;
    }
  }
  return object;
}

static json_t *write_pointer(const report_field *field, const void *at) {
  const void *inner;
  memcpy(&inner, at, sizeof inner);
  if (inner == NULL) return json_null();
  return field->kind == FIELD_OBJECT_OR_NULL ? write_fields(field->fields, inner) : assay_json_text(inner);
}

static json_t *write_field(const report_field *field, const void *at) {
  switch (field->kind) {
  case FIELD_TEXT:
  case FIELD_TEXT_OR_NULL:
  case FIELD_HASH:
  case FIELD_TIME:
  case FIELD_OBJECT_OR_NULL:
    return write_pointer(field, at);
  case FIELD_BOOLEAN:
    return json_boolean(*(const bool *)at);
  case FIELD_WHOLE:
    return json_integer(*(const int64_t *)at);
  case FIELD_NUMBER:
  case FIELD_NUMBER_OR_NULL:
    return assay_json_number(*(const double *)at);
  case FIELD_CHOICE:
    return json_string(field->words[*(const int64_t *)at]);
  case FIELD_NAMED:
    return write_named(at);
  case FIELD_TEXTS:
  case FIELD_WHOLES:
  case FIELD_LIST:
    return write_list(field, at);
  case FIELD_OBJECT:
    return write_fields(field->fields, at);
  }
  assert(false);
  return NULL;
}

static bool left_out(const report_field *field, const void *at) {
  any_list list;
  if (!field->optional) return false;
  if (field->kind == FIELD_WHOLE) return *(const int64_t *)at == 0;
  memcpy(&list, at, sizeof list);
  return list.count == 0;
}

static json_t *write_fields(const report_field *fields, const void *source) {
  json_t *object = json_object();
  if (fields == report_fields) json_object_set_new(object, "format", json_string(report_format));
  for (; fields->name != NULL; fields++) {
    if (left_out(fields, (const char *)source + fields->offset)) continue;
    json_t *value = write_field(fields, (const char *)source + fields->offset);
    if (json_object_set_new(object, fields->name, value) == 0) continue;
    json_decref(object);
    return NULL;
  }
  return object;
}

json_t *report_to_json(const report *self) {
  return write_fields(report_fields, self);
}

bool report_save(const report *self, const char *path) {
  json_t *value = report_to_json(self);
  if (value == NULL) {
    errno = ENOMEM;
    return false;
  }
  const bool saved = assay_json_save(value, path);
  const int reason = errno;
  json_decref(value);
  errno = reason;
  return saved;
}
