/* SPDX-License-Identifier: MIT */
/* list_suite.c - `assay list --suite`: what bench times, for programs that time the same elsewhere. Nothing
 * here depends on the machine. */
#include "list_suite.h"

#include <stdlib.h>

#include "cli.h"
#include "core/json.h"
#include "core/tensor.h"
#include "evidence/surroundings.h"
#include "ops/ops.h"

static json_t *words(const char *const *names, int count) {
  json_t *list = json_array();
  for (int i = 0; i < count; i++) json_array_append_new(list, json_string(names[i]));
  return list;
}

static json_t *named(const char *const *names, const int64_t *values, int count) {
  json_t *object = json_object();
  for (int i = 0; i < count; i++) json_object_set_new(object, names[i], json_integer(values[i]));
  return object;
}

/* The files behind a variant, in the order of reports. NULL without memory. */
static json_t *sources(const assay_operator *op, const assay_variant *variant) {
  report_variant made = {.name = NULL};
  json_t *list = surroundings_library_sources(op, variant, &made) ? json_array() : NULL;
  for (int64_t i = 0; i < made.sources.count; i++) {
    if (list != NULL) json_array_append_new(list, assay_json_text(made.sources.items[i].path));
    free(made.sources.items[i].path);
    free(made.sources.items[i].sha256);
  }
  free(made.sources.items);
  return list;
}

/* Whether they can run here is not said. */
static json_t *variants(const assay_operator *op) {
  json_t *list = json_array();
  for (int i = 0; i < op->variant_count; i++) {
    const assay_variant *variant = &op->variants[i];
    if (variant->backend != ASSAY_CPU && variant->backend != ASSAY_CUDA) continue;
    json_array_append_new(list,
                          json_pack("{s:s, s:s, s:o}", "name", variant->name, "backend",
                                    cli_backend_names[variant->backend], "sources", sources(op, variant)));
  }
  return list;
}

/* The suite of a GPU begins with that of the CPU. */
static json_t *cases(const assay_operator *op) {
  static const char *const backends[] = {"cpu", "cuda"};
  const assay_subject *subject = &op->subject;
  json_t *list = json_array();
  bench_case one;
  for (int i = 0; bench_suite_case(op, ASSAY_CUDA, i, &one); i++) {
    bench_case_describe(&one);
    const int first = one.banded ? 1 : 0;
    json_t *entry = json_object();
    json_object_set_new(entry, "backends", words(backends + first, 2 - first));
    json_object_set_new(entry, "name", json_string(one.name));
    json_object_set_new(entry, "dtype", json_string(assay_dtype_name(one.dtype)));
    json_object_set_new(entry, "dims", named(subject->dim_names, one.row.dims, subject->dim_count));
    json_object_set_new(entry, "layout", json_string(bench_case_layout(&one)));
    json_object_set_new(entry, "opt", named(subject->opt_names, one.row.opt, subject->opt_count));
    json_object_set_new(entry, "work",
                        json_pack("{s:f, s:f}", "bytes", one.work.bytes, "flops", one.work.flops));
    json_object_set_new(entry, "sampled", json_boolean(one.sampled));
    json_object_set_new(entry, "sampled_rounds", json_boolean(one.sampled_rounds));
    json_array_append_new(list, entry);
  }
  return list;
}

void list_suite(void) {
  json_t *operators = json_array();
  for (int i = 0; i < assay_operator_count; i++) {
    const assay_operator *op = assay_operators[i];
    const assay_subject *subject = &op->subject;
    if (op->bench == NULL) continue;
    json_t *entry = json_pack("{s:s, s:s, s:s}", "name", subject->name, "formula", subject->formula,
                              "tolerance", op->bench->tolerance);
    json_object_set_new(entry, "dims", words(subject->dim_names, subject->dim_count));
    json_object_set_new(entry, "options", words(subject->opt_names, subject->opt_count));
    json_object_set_new(entry, "layouts", words(subject->layout_names, subject->layout_count));
    json_object_set_new(entry, "variants", variants(op));
    json_object_set_new(entry, "cases", cases(op));
    json_array_append_new(operators, entry);
  }
  json_t *answer = json_pack("{s:o}", "operators", operators);
  assay_json_print(answer, stdout);
  json_decref(answer);
}
