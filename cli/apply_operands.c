/* SPDX-License-Identifier: MIT */
/* apply_operands.c - arrays of the user's own as a call's operands: which files, which views of them, which
 * types. */
#include "apply.h"
#include "apply_view.h"
#include "choose.h"
#include "core/tensor.h"
#include "output.h"

#include <string.h>

int apply_count_inputs(const apply_job *job, const cli_args *args, const apply_places *places) {
  const assay_export *function = &job->op->subject.exports[job->entry];
  const cli_option *options = args->command->options;
  int given = 0;
  for (int i = 0; i < args->each_count; i++) {
    if (args->each[i].option == places->in) given++;
    if (args->each[i].option == places->set || given > 0) continue;
    output_error("--%s stands behind the --%s that it is for", options[args->each[i].option].name,
                 options[places->in].name);
    return CLI_USAGE;
  }
  if (given == function->in_count) return CLI_OK;
  char names[128];
  choose_join(function->in_names, function->in_count, "and", names, sizeof names);
  output_error("%s takes %d input%s, %s: give --%s FILE for each, in this order, not %d", function->name,
               function->in_count, function->in_count == 1 ? "" : "s", names, options[places->in].name,
               given);
  return CLI_USAGE;
}

int apply_open_inputs(apply_job *job, const cli_args *args, const apply_places *places) {
  const assay_export *function = &job->op->subject.exports[job->entry];
  assay_message why = {""};
  for (int i = 0; i < args->each_count; i++) {
    const cli_occurrence *one = &args->each[i];
    if (one->option == places->set) continue;
    if (one->option == places->in) {
      apply_input *next = &job->inputs[job->input_count];
      job->input_count++;
      if (apply_input_open(next, function->in_names[job->input_count - 1], one->text, &why)) continue;
      output_error("%s %s", one->text, why.text);
      return CLI_FAILED;
    }
    apply_input *input = &job->inputs[job->input_count - 1];
    const bool changed = one->option == places->slice ? view_slice(one->text, &input->view, &why)
                                                      : view_transpose(one->text, &input->view, &why);
    if (!changed) {
      output_error("%s: --%s %s", input->path, args->command->options[one->option].name, why.text);
      return CLI_USAGE;
    }
    input->viewed = true;
  }
  return CLI_OK;
}

int apply_convert_inputs(apply_job *job, const cli_args *args, const apply_places *places) {
  const assay_export *function = &job->op->subject.exports[job->entry];
  const cli_value *dtype = &args->values[places->dtype];
  const int asked = dtype->given ? dtype->choice : -1;
  assay_message why = {""};
  for (int i = 0; i < job->input_count; i++) {
    apply_input *input = &job->inputs[i];
    assay_dtype wanted = asked >= 0 ? (assay_dtype)asked : input->view.dtype;
    if ((function->in_fp64 & 1u << i) != 0) wanted = ASSAY_FP64;
    if (apply_input_convert(input, wanted, asked, &why)) continue;
    output_error("%s %s", input->path, why.text);
    return input->file.header.patterns && asked != ASSAY_BF16 ? CLI_USAGE : CLI_FAILED;
  }
  return CLI_OK;
}

void apply_tensors(const apply_job *job, assay_tensor *in) {
  for (int i = 0; i < job->input_count; i++) in[i] = job->inputs[i].tensor;
}

static assay_status validate(const apply_job *job, const assay_tensor *in, assay_message *why) {
  return job->op->subject.validate(job->entry, in, job->out, job->opt, ASSAY_LIMITS_LIBRARY, why);
}

bool apply_pack_inputs(apply_job *job, assay_message *why) {
  assay_tensor in[ASSAY_MAX_OPERANDS] = {0};
  for (int i = 0; i < job->input_count; i++) {
    const assay_tensor *own = &job->inputs[i].tensor;
    in[i] = assay_tensor_make(own->data, own->dtype, own->rank, own->shape);
  }
  for (int i = 0; i < job->input_count; i++) {
    apply_input *input = &job->inputs[i];
    const assay_tensor contiguous = in[i];
    assay_message ignored;
    in[i] = input->tensor;
    const bool misaligned = (uintptr_t)input->tensor.data % assay_dtype_size(input->tensor.dtype) != 0;
    const bool refused = validate(job, in, &ignored) == ASSAY_BAD_STRIDE;
    in[i] = contiguous;
    if ((misaligned || refused) && !apply_input_pack(input, why)) return false;
    in[i].data = input->tensor.data;
  }
  return true;
}

void apply_advise_dtype(const apply_job *job, assay_message *why) {
  assay_tensor in[ASSAY_MAX_OPERANDS] = {0};
  assay_message ignored;
  const char *names[ASSAY_DTYPE_COUNT];
  int taken = 0;
  for (int d = 0; cli_dtype_names[d] != NULL; d++) {
    apply_job other = *job;
    apply_tensors(job, in);
    for (int i = 0; i < job->input_count; i++) {
      if ((job->op->subject.exports[job->entry].in_fp64 & 1u << i) == 0) in[i].dtype = (assay_dtype)d;
    }
    other.out[0].dtype = job->op->subject.shape_out(job->entry, in).dtype;
    if (validate(&other, in, &ignored) != ASSAY_BAD_DTYPE) names[taken++] = cli_dtype_names[d];
  }
  if (taken == 0) return;
  char all[64];
  choose_join(names, taken, "or", all, sizeof all);
  assay_explain(why, ASSAY_BAD_DTYPE, "%s (--dtype %s converts the files)", why->text, all);
}
