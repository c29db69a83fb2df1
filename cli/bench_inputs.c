/* SPDX-License-Identifier: MIT */
/* bench_inputs.c - --input: the case that is timed has the shape, type, strides and values of the user's
 * files. */
#include "bench_job.h"
#include "bench/rotate.h"
#include "choose.h"

#include <stdlib.h>
#include <string.h>

static const apply_places places = {BENCH_OPT_INPUT, BENCH_OPT_SLICE, BENCH_OPT_TRANSPOSE, BENCH_OPT_DTYPE,
                                    BENCH_OPT_SET};

/* Sizes that no plan has by itself, so that one of them in a plan shows whose it is. */
enum { MARK = 1009 };

static bool planned_so(const assay_subject *subject, const assay_row *row, const apply_job *given) {
  assay_plan plan = {.entry = 0};
  subject->plan(row, given->inputs[0].tensor.dtype, 0, &plan);
  for (int i = 0; i < given->input_count; i++) {
    const assay_tensor *tensor = &given->inputs[i].tensor;
    const size_t bytes = (size_t)tensor->rank * sizeof tensor->shape[0];
    if (plan.in[i].rank != tensor->rank || memcmp(plan.in[i].shape, tensor->shape, bytes) != 0) return false;
  }
  return true;
}

/* The sizes with which the operator plans operands of these shapes: it is asked for marked sizes, and where a
 * mark comes out the files' size belongs. Sizes at the end may be left out, as in --shape. */
static bool find_sizes(const assay_subject *subject, const apply_job *given, assay_row *row) {
  for (int count = subject->dim_count; count > 0; count--) {
    assay_row marked = *row;
    assay_plan plan = {.entry = 0};
    memset(marked.dims, 0, sizeof marked.dims);
    memset(row->dims, 0, sizeof row->dims);
    for (int d = 0; d < count; d++) marked.dims[d] = MARK + d;
    subject->plan(&marked, given->inputs[0].tensor.dtype, 0, &plan);
    for (int i = 0; i < given->input_count; i++) {
      for (int k = 0; k < plan.in[i].rank && k < given->inputs[i].tensor.rank; k++) {
        const int64_t mark = plan.in[i].shape[k] - MARK;
        if (mark >= 0 && mark < count) row->dims[mark] = given->inputs[i].tensor.shape[k];
      }
    }
    if (planned_so(subject, row, given)) return true;
  }
  return false;
}

/* The files as the operands of a call: views, types, and what validation says about all of them together. */
static int prepare(bench_job *job, assay_message *why) {
  apply_job *given = &job->given;
  const cli_args *args = job->args;
  const assay_subject *subject = &given->op->subject;
  assay_tensor in[ASSAY_MAX_OPERANDS] = {{.data = NULL}};
  for (int i = 0; i < args->each_count; i++) {
    const cli_occurrence *one = &args->each[i];
    if (one->option == BENCH_OPT_SET && !choose_knob(subject, one->text, given->opt)) return CLI_USAGE;
  }
  if (apply_count_inputs(given, args, &places) != CLI_OK ||
      apply_open_inputs(given, args, &places) != CLI_OK ||
      apply_convert_inputs(given, args, &places) != CLI_OK) {
    return CLI_USAGE; /* a message has been given */
  }
  apply_tensors(given, in);
  given->out[0] = subject->shape_out(0, in);
  given->out[0].data = (void *)((uintptr_t)1 << 46); /* nobody writes there; validation wants an address */
  if (!apply_pack_inputs(given, why)) {
    output_error("--input: %s", why->text);
    return CLI_USAGE;
  }
  apply_tensors(given, in);
  const assay_status status = subject->validate(0, in, given->out, given->opt, ASSAY_LIMITS_LIBRARY, why);
  if (status == ASSAY_OK) return CLI_OK;
  if (status == ASSAY_BAD_DTYPE) apply_advise_dtype(given, why);
  output_error("--input: %s: %s", subject->name, why->text);
  return CLI_USAGE;
}

/* False after an error message when every element of every file is the same: no round would differ from the
 * one before it. */
static bool can_change(const apply_job *given) {
  for (int i = 0; i < given->input_count; i++) {
    if (!rotate_constant(&given->inputs[i].tensor)) return true;
  }
  output_error("--input %.200s%s: all elements are equal, so that inputs could not change between samples: "
               "bench needs at least two different values",
               given->inputs[0].path, given->input_count > 1 ? " and the others" : "");
  return false;
}

int bench_add_inputs(bench_job *job, const assay_operator *op) {
  apply_job *given = &job->given;
  assay_message why = {""};
  given->op = op;
  const int code = prepare(job, &why);
  if (code != CLI_OK) return code;
  if (!can_change(given)) return CLI_USAGE;
  bench_case one = {.op = op, .row = op->bench->rows[0], .inputs = job->inputs};
  memcpy(one.row.opt, given->opt, sizeof one.row.opt);
  if (!find_sizes(&op->subject, given, &one.row)) {
    output_error("--input: the shapes of the files are none that %s can be timed with", op->subject.name);
    return CLI_USAGE;
  }
  one.dtype = given->inputs[0].tensor.dtype;
  for (int i = 0; i < given->input_count; i++) {
    const apply_input *from = &given->inputs[i];
    bench_input *to = &job->inputs[i];
    *to = (bench_input){.operand = from->name, .path = from->path, .tensor = from->tensor};
    assay_hash_bytes(from->file.memory, from->file.memory_bytes, to->sha256);
  }
  return bench_add_case(job, &one) != NULL ? CLI_OK : CLI_USAGE;
}

void bench_close_inputs(bench_job *job) {
  for (int i = 0; i < job->given.input_count; i++) apply_input_close(&job->given.inputs[i]);
}
