/* SPDX-License-Identifier: MIT */
/* report_fields.h - the fields of a report as tables: reading, writing, freeing and the test of the schema
 * walk them. */
#ifndef ASSAY_REPORT_FIELDS_H
#define ASSAY_REPORT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum field_kind {
  FIELD_TEXT = 0,     /* char * */
  FIELD_TEXT_OR_NULL, /* char *, NULL allowed */
  FIELD_HASH,         /* char *, 64 hex digits */
  FIELD_TIME,         /* char *, "YYYY-MM-DDTHH:MM:SSZ" */
  FIELD_BOOLEAN,      /* bool */
  FIELD_WHOLE,        /* int64_t from `low` up */
  FIELD_NUMBER,       /* double from `low` up, finite */
  FIELD_NUMBER_OR_NULL,
  FIELD_CHOICE,         /* int64_t, index into `words` */
  FIELD_TEXTS,          /* report_texts */
  FIELD_WHOLES,         /* report_numbers, each from `low` up */
  FIELD_NAMED,          /* report_named_list: an object of whole numbers */
  FIELD_OBJECT,         /* a struct in place, described by `fields` */
  FIELD_OBJECT_OR_NULL, /* a pointer to one */
  FIELD_LIST            /* pointer and count; elements of `size` bytes described by `fields` */
} field_kind;

typedef struct report_field {
  const char *name; /* NULL ends a table */
  field_kind kind;
  bool optional; /* a list that is left out when it is empty, a whole number when it is 0: older reports do
                  * not have it */
  size_t offset;
  int64_t low;
  const char *const *words;
  const struct report_field *fields;
  size_t size;
} report_field;

/* "assay-report-1". */
extern const char report_format[];

/* Of the whole report, without "format". */
extern const report_field report_fields[];

#endif
