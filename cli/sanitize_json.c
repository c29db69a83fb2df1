/* SPDX-License-Identifier: MIT */
/* sanitize_json.c - findings, counts and speed of one target as JSON. */
#include "sanitize_json.h"

#include <string.h>

#include "core/json.h"

static void set_number(json_t *object, const char *name, int64_t value) {
  json_object_set_new(object, name, json_integer((json_int_t)value));
}

json_t *sanitize_json_missing(const sanitize_subject *subject, verdict value, const char *reason) {
  json_t *target = json_object();
  json_object_set_new(target, "workshop", json_string(subject->workshop));
  json_object_set_new(target, "backend", json_string("simt"));
  json_object_set_new(target, "variant", json_string(subject->variant));
  json_object_set_new(target, "path", subject->path != NULL ? assay_json_text(subject->path) : json_null());
  json_object_set_new(target, "sha256", subject->sha256 != NULL ? json_string(subject->sha256) : json_null());
  json_object_set_new(target, "verdict", json_string(verdict_name(value)));
  json_object_set_new(target, "reason", assay_json_text(reason));
  return target;
}

static json_t *findings_json(const sanitize_result *result) {
  json_t *list = json_array();
  for (int i = 0; i < result->finding_count; i++) {
    const sanitize_finding *finding = &result->findings[i];
    json_t *one = json_object();
    json_object_set_new(one, "tool", json_string(assay_tool_name(finding->found.tool)));
    json_object_set_new(one, "file", assay_json_text(finding->found.file));
    json_object_set_new(one, "kernel", assay_json_text(finding->found.kernel));
    set_number(one, "line", finding->found.line);
    json_object_set_new(one, "other_line",
                        finding->found.other_line > 0 ? json_integer(finding->found.other_line)
                                                      : json_null());
    json_object_set_new(one, "text", assay_json_text(finding->found.text));
    set_number(one, "times", finding->found.times);
    set_number(one, "cases", finding->cases);
    json_object_set_new(one, "first_case", assay_json_text(finding->where));
    json_array_append_new(list, one);
  }
  return list;
}

static json_t *failures_json(const sanitize_result *result) {
  json_t *list = json_array();
  for (int i = 0; i < result->failure_count; i++) {
    const sanitize_failure *failure = &result->failures[i];
    json_t *one = json_object();
    json_object_set_new(one, "verdict", json_string(verdict_name(failure->verdict)));
    json_object_set_new(one, "reason", assay_json_text(failure->reason));
    set_number(one, "cases", failure->cases);
    json_object_set_new(one, "first_case", assay_json_text(failure->where));
    json_array_append_new(list, one);
  }
  return list;
}

static void set_memory(json_t *object, const assay_counts *counts, int64_t least_read,
                       int64_t least_written) {
  set_number(object, "bytes_read", counts->bytes_read);
  set_number(object, "least_bytes_read", least_read);
  set_number(object, "sectors_read", counts->sectors_read);
  set_number(object, "bytes_written", counts->bytes_written);
  set_number(object, "least_bytes_written", least_written);
  set_number(object, "sectors_written", counts->sectors_written);
}

static json_t *operand_json(const char *name, const assay_counts *counts, int64_t least_read,
                            int64_t least_written) {
  json_t *one = json_object();
  json_object_set_new(one, "name", json_string(name));
  set_memory(one, counts, least_read, least_written);
  return one;
}

static json_t *counts_json(const sanitize_result *result, const assay_export *function) {
  const assay_counts *all = &result->all;
  json_t *counts = json_object();
  json_t *operands = json_array();
  int64_t read = 0;
  int64_t written = 0;
  for (int i = 0; i < function->in_count; i++) {
    json_array_append_new(operands,
                          operand_json(function->in_names[i], &result->in[i], result->in_bytes[i], 0));
    read += result->in_bytes[i];
  }
  for (int i = 0; i < function->out_count; i++) {
    json_array_append_new(operands,
                          operand_json(function->out_names[i], &result->out[i], 0, result->out_bytes[i]));
    written += result->out_bytes[i];
  }
  set_number(counts, "launches", all->launches);
  set_number(counts, "blocks", all->blocks);
  set_number(counts, "threads", all->threads);
  set_number(counts, "thread_steps", all->steps);
  set_number(counts, "barriers", all->barriers);
  set_number(counts, "warp_operations", all->warp_operations);
  set_number(counts, "atomics", all->atomics);
  set_number(counts, "matrix_flops", all->matrix_flops);
  set_number(counts, "shared_accesses", all->shared_accesses);
  set_number(counts, "shared_passes", all->shared_passes);
  set_memory(counts, all, read, written);
  json_object_set_new(counts, "operands", operands);
  return counts;
}

static json_t *rate_json(const char *tools, const sanitize_speed *speed, double seconds) {
  json_t *one = json_object();
  json_object_set_new(one, "tools", json_string(tools));
  json_object_set_new(one, "steps_per_second",
                      assay_json_number(seconds > 0 ? (double)speed->steps / seconds : 0));
  json_object_set_new(one, "slowdown", assay_json_number(speed->plain > 0 ? seconds / speed->plain : 0));
  return one;
}

static json_t *speed_json(const sanitize_speed *speed) {
  json_t *rates = json_array();
  json_array_append_new(rates, rate_json("none", speed, speed->plain));
  for (int i = 0; i < SANITIZE_TOOLS; i++)
    json_array_append_new(rates, rate_json(assay_tool_name((assay_tool)(1 << i)), speed, speed->with[i]));
  json_array_append_new(rates, rate_json("all", speed, speed->with_all));
  return json_pack("{s:o, s:I, s:o}", "case", assay_json_text(speed->where), "thread_steps",
                   (json_int_t)speed->steps, "rates", rates);
}

json_t *sanitize_json(const sanitize_subject *subject, const sanitize_job *job, const sanitize_result *result,
                      verdict value) {
  json_t *target = sanitize_json_missing(subject, value, result->reason);
  set_number(target, "cases", result->cases);
  set_number(target, "not_run", result->not_run);
  json_object_set_new(target, "findings", findings_json(result));
  json_object_set_new(target, "failures", failures_json(result));
  json_object_set_new(target, "counts", counts_json(result, &job->target->subject->exports[0]));
  json_object_set_new(target, "speed", result->speed.steps > 0 ? speed_json(&result->speed) : json_null());
  return target;
}
