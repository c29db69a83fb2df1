/* SPDX-License-Identifier: MIT */
/* report_model.c - giving a report's memory back, and looking things up in it. */
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "report_fields.h"

static void free_fields(const report_field *fields, void *target);

static void free_list(const report_field *field, void *at) {
  struct {
    void *items;
    int64_t count;
  } list;
  memcpy(&list, at, sizeof list);
  for (int64_t i = 0; list.items != NULL && i < list.count; i++) {
    if (field->kind == FIELD_LIST) free_fields(field->fields, (char *)list.items + (size_t)i * field->size);
    if (field->kind == FIELD_TEXTS) free(((char **)list.items)[i]);
    if (field->kind == FIELD_NAMED) free(((report_named *)list.items)[i].name);
  }
  free(list.items);
}

static void free_field(const report_field *field, void *at) {
  void *inner;
  switch (field->kind) {
  case FIELD_TEXT:
  case FIELD_TEXT_OR_NULL:
  case FIELD_HASH:
  case FIELD_TIME:
    memcpy(&inner, at, sizeof inner);
    free(inner);
    break;
  case FIELD_OBJECT_OR_NULL:
    memcpy(&inner, at, sizeof inner);
    if (inner != NULL) free_fields(field->fields, inner);
    free(inner);
    break;
  case FIELD_OBJECT:
    free_fields(field->fields, at);
    break;
  case FIELD_NAMED:
  case FIELD_TEXTS:
  case FIELD_WHOLES:
  case FIELD_LIST:
    free_list(field, at);
    break;
  case FIELD_BOOLEAN:
  case FIELD_WHOLE:
  case FIELD_NUMBER:
  case FIELD_NUMBER_OR_NULL:
  case FIELD_CHOICE:
    break;
  }
}

static void free_fields(const report_field *fields, void *target) {
  for (; fields->name != NULL; fields++) free_field(fields, (char *)target + fields->offset);
}

void report_free(report *self) {
  if (self == NULL) return;
  free_fields(report_fields, self);
  free(self);
}

double report_call_ns(const bench_sample *sample) {
  return (double)sample->nanoseconds / (double)sample->calls;
}

static void widen(report_clocks *clocks, int64_t mhz) {
  if (mhz == 0) return;
  if (clocks->least == 0 || mhz < clocks->least) clocks->least = mhz;
  if (mhz > clocks->most) clocks->most = mhz;
}

bool report_variant_clocks(const report_variant *variant, report_clocks *clocks) {
  *clocks = (report_clocks){0, 0};
  for (int64_t s = 0; s < variant->samples.count; s++) widen(clocks, variant->samples.items[s].sm_mhz);
  return clocks->most > 0;
}

bool report_all_clocks(const report *self, report_clocks *clocks) {
  *clocks = (report_clocks){0, 0};
  for (int64_t c = 0; c < self->cases.count; c++) {
    const report_case *one = &self->cases.items[c];
    for (int64_t v = 0; v < one->variants.count; v++) {
      report_clocks own;
      if (!report_variant_clocks(&one->variants.items[v], &own)) continue;
      widen(clocks, own.least);
      widen(clocks, own.most);
    }
  }
  return clocks->most > 0;
}

bool report_overhead_is_empty(const report_overhead *overhead) {
  static const char empty[] = "empty ";
  return strncmp(overhead->name, empty, sizeof empty - 1) == 0;
}

const report_variant *report_find_variant(const report_case *one, const char *name) {
  for (int64_t i = 0; i < one->variants.count; i++) {
    if (strcmp(one->variants.items[i].name, name) == 0) return &one->variants.items[i];
  }
  return NULL;
}
