/* SPDX-License-Identifier: MIT */
/* apply_answer.c - what `assay apply` says it did, as lines or as one JSON object. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apply.h"
#include "core/half.h"
#include "core/json.h"

static const assay_export *function_of(const apply_job *job) {
  return &job->op->subject.exports[job->entry];
}

/* ---- lines --------------------------------------------------------------------------------------------- */

/* Everything that happened to an input between its file and the call. */
static void print_notes(const apply_input *input) {
  const assay_npy_header *header = &input->file.header;
  const char *stored = assay_dtype_name(header->dtype);
  if (input->viewed) {
    char shape[ASSAY_NPY_SHAPE_TEXT];
    assay_npy_shape(header->rank, header->shape, shape);
    printf(", a view of %s", shape);
  }
  if (header->patterns) printf(", stored as %s", header->descr);
  if (input->tensor.dtype != header->dtype) {
    const bool wider = assay_dtype_size(input->tensor.dtype) > assay_dtype_size(header->dtype);
    printf(wider ? ", widened from %s" : ", rounded once from %s", stored);
  }
  if (input->overflowed > 0) printf(" (%lld became infinite)", (long long)input->overflowed);
  if (input->packed) printf(", copied because it has to be contiguous");
}

static void print_operand(const char *name, int name_width, const char *path, int path_width,
                          const assay_tensor *tensor) {
  char shape[ASSAY_NPY_SHAPE_TEXT];
  assay_npy_shape(tensor->rank, tensor->shape, shape);
  printf("%-*s  %-*s  %s %s", name_width, name, path_width, path, assay_dtype_name(tensor->dtype), shape);
}

static void print_comparison(const apply_job *job, const char *name) {
  const apply_comparison *seen = &job->comparison;
  if (seen->wrong == 0) {
    printf("check: %lld of %lld elements are within the derived bound", (long long)seen->count,
           (long long)seen->count);
    printf("; the largest error is %.3g ulp, %.3g %% of what is allowed\n", seen->ulps, 100 * seen->share);
    return;
  }
  char place[APPLY_PLACE_TEXT];
  const assay_dtype dtype = job->out[0].dtype;
  apply_place(&job->out[0], seen->first, place);
  printf("check: FAIL, %lld of %lld elements are wrong; first %s%s: expected %.9g, got %.9g",
         (long long)seen->wrong, (long long)seen->count, name, place, assay_round_to(dtype, seen->want),
         seen->got);
  const double error = fabs(seen->got - seen->want);
  if (isfinite(error)) {
    const double ulp = assay_ulp(dtype, seen->want);
    printf(", off by %.3g ulp where %.3g is allowed", error / ulp, seen->allowed / ulp);
  }
  putchar('\n');
}

void apply_print(const apply_job *job) {
  const assay_export *function = function_of(job);
  const char *out_name = function->out_names[0];
  size_t name_width = strlen(out_name);
  size_t path_width = strlen(job->out_path);
  for (int i = 0; i < job->input_count; i++) {
    const apply_input *input = &job->inputs[i];
    if (strlen(input->name) > name_width) name_width = strlen(input->name);
    if (strlen(input->path) > path_width) path_width = strlen(input->path);
  }
  printf("%s", job->op->subject.name);
  if (job->op->subject.export_count > 1) printf(", function %s", function->name);
  printf(", variant %s", job->variant->name);
  for (int i = 0; i < job->op->subject.opt_count; i++) {
    if (job->opt[i] != 0) printf(", %s %lld", job->op->subject.opt_names[i], (long long)job->opt[i]);
  }
  putchar('\n');
  for (int i = 0; i < job->input_count; i++) {
    const apply_input *input = &job->inputs[i];
    print_operand(input->name, (int)name_width, input->path, (int)path_width, &input->tensor);
    print_notes(input);
    putchar('\n');
  }
  print_operand(out_name, (int)name_width, job->out_path, (int)path_width, &job->out[0]);
  if (!job->written) printf(", not written");
  if (job->written && job->out[0].dtype == ASSAY_BF16) printf(", stored as uint16: NumPy has no bf16");
  putchar('\n');
  if (job->comparison.done) print_comparison(job, out_name);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static json_t *shape_json(int rank, const int64_t *shape) {
  json_t *list = json_array();
  for (int k = 0; k < rank; k++) json_array_append_new(list, json_integer(shape[k]));
  return list;
}

static json_t *operand_json(const char *name, const char *path, const assay_tensor *tensor) {
  return json_pack("{s:s, s:o, s:s, s:o}", "name", name, "file", assay_json_text(path), "dtype",
                   assay_dtype_name(tensor->dtype), "shape", shape_json(tensor->rank, tensor->shape));
}

static json_t *input_json(const apply_input *input) {
  const assay_npy_header *header = &input->file.header;
  json_t *answer = operand_json(input->name, input->path, &input->tensor);
  json_object_set_new(answer, "stored_dtype", json_string(header->descr));
  json_object_set_new(answer, "stored_shape", shape_json(header->rank, header->shape));
  json_object_set_new(answer, "fortran_order", json_boolean(header->fortran));
  json_object_set_new(answer, "converted", json_boolean(input->tensor.dtype != header->dtype));
  json_object_set_new(answer, "became_infinite", json_integer(input->overflowed));
  json_object_set_new(answer, "copied_to_be_contiguous", json_boolean(input->packed));
  return answer;
}

static json_t *comparison_json(const apply_job *job) {
  const apply_comparison *seen = &job->comparison;
  if (!seen->done) return json_null();
  json_t *answer =
      json_pack("{s:b, s:I, s:I, s:o, s:o}", "passed", seen->wrong == 0, "elements", (json_int_t)seen->count,
                "wrong", (json_int_t)seen->wrong, "largest_error_ulps", assay_json_number(seen->ulps),
                "largest_share_of_allowed", assay_json_number(seen->share));
  json_t *first = json_null();
  if (seen->wrong > 0) {
    char place[APPLY_PLACE_TEXT];
    apply_place(&job->out[0], seen->first, place);
    first = json_pack("{s:s, s:o, s:o, s:o}", "index", place, "expected", assay_json_number(seen->want),
                      "got", assay_json_number(seen->got), "allowed", assay_json_number(seen->allowed));
  }
  json_object_set_new(answer, "first_wrong", first);
  return answer;
}

void apply_print_json(const apply_job *job) {
  const assay_subject *subject = &job->op->subject;
  json_t *inputs = json_array();
  for (int i = 0; i < job->input_count; i++) json_array_append_new(inputs, input_json(&job->inputs[i]));
  json_t *set = json_object();
  for (int i = 0; i < subject->opt_count; i++)
    json_object_set_new(set, subject->opt_names[i], json_integer(job->opt[i]));
  json_t *output = operand_json(function_of(job)->out_names[0], job->out_path, &job->out[0]);
  json_object_set_new(output, "stored_dtype", json_string(assay_npy_descr(job->out[0].dtype)));
  json_object_set_new(output, "written", json_boolean(job->written));
  json_t *answer = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "operator", subject->name,
                             "function", function_of(job)->name, "variant", job->variant->name, "backend",
                             cli_backend_names[job->variant->backend], "set", set, "inputs", inputs, "output",
                             output, "check", comparison_json(job));
  assay_json_print(answer, stdout);
  json_decref(answer);
}
