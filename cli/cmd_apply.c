/* SPDX-License-Identifier: MIT */
/* cmd_apply.c - `assay apply`: an operator of the library on arrays of the user's own, from file to file. */
#include "apply.h"
#include "ops/ops.h"
#include "output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[APPLY_OPTIONS] = {
    [APPLY_IN] = {"in", OPTION_EACH, "FILE", NULL, 0, 0,
                  "an input, a .npy file; one for each operand, in order"},
    [APPLY_SLICE] = {"slice", OPTION_EACH, "SLICE", NULL, 0, 0,
                     "a part of the input before it, as NumPy writes it: 0:10:2,:,5"},
    [APPLY_TRANSPOSE] = {"transpose", OPTION_EACH_BARE, "AXES", NULL, 0, 0,
                         "the input before it with its axes reversed, or in this order: 1,0,2"},
    [APPLY_OUT] = {"out", OPTION_TEXT, "FILE", NULL, 0, 0,
                   "the result, a .npy file; replaced when it exists"},
    [APPLY_DTYPE] = {"dtype", OPTION_CHOICE, NULL, cli_dtype_names, 0, 0,
                     "round inputs of other types to this one; bf16 also says that uint16 files hold bf16"},
    [APPLY_SET] = {"set", OPTION_EACH, "NAME=VALUE", NULL, 0, 0, "a knob of the operator, a whole number"},
    [APPLY_FUNCTION] = {"function", OPTION_TEXT, "NAME", NULL, 0, 0,
                        "which function, where the operator has several; default: its first"},
    [APPLY_VARIANT] = {"variant", OPTION_TEXT, "NAME", NULL, 0, 0,
                       "this variant; default: the first that can run here"},
    [APPLY_THREADS] = {"threads", OPTION_WHOLE, "N", NULL, 1, 1024,
                       "threads to use; default: OMP_NUM_THREADS, else the CPUs of this process"},
    [APPLY_FINITE] = {"finite", OPTION_FLAG, NULL, NULL, 0, 0,
                      "promise that all inputs are finite: NaN and infinities are refused"},
    [APPLY_CHECK] = {"check", OPTION_FLAG, NULL, NULL, 0, 0,
                     "compare the result with the FP64 oracle; a wrong one is not written"},
    [APPLY_JSON] = CLI_OPTION_JSON,
};

static const apply_places places = {APPLY_IN, APPLY_SLICE, APPLY_TRANSPOSE, APPLY_DTYPE, APPLY_SET};

/* --finite, for all of them. */
static int demand_finite(const apply_job *job, const cli_args *args) {
  assay_message why = {""};
  for (int i = 0; i < job->input_count && args->values[APPLY_FINITE].given; i++) {
    if (apply_input_finite(&job->inputs[i], &why)) continue;
    output_error("%s %s", job->inputs[i].path, why.text);
    return CLI_FAILED;
  }
  return CLI_OK;
}

/* ---- the call ------------------------------------------------------------------------------------------ */

static int refuse_call(const apply_job *job, assay_status status, assay_message *why) {
  if (status == ASSAY_BAD_DTYPE) apply_advise_dtype(job, why);
  output_error("%s: %s", job->op->subject.name, why->text);
  if (status == ASSAY_UNAVAILABLE) return CLI_UNAVAILABLE;
  return status == ASSAY_NO_MEMORY ? CLI_FAILED : CLI_USAGE;
}

static int compute(apply_job *job, const cli_args *args) {
  const assay_subject *subject = &job->op->subject;
  const cli_value *threads = &args->values[APPLY_THREADS];
  assay_tensor in[ASSAY_MAX_OPERANDS] = {0};
  assay_message why = {""};
  apply_tensors(job, in);
  for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) job->out[i].device = ASSAY_DEVICE_CPU;
  job->out[0] = subject->shape_out(job->entry, in);
  if (!apply_allocate_output(job, &why) || !apply_pack_inputs(job, &why))
    return refuse_call(job, ASSAY_NO_MEMORY, &why);
  apply_tensors(job, in);
  assay_queue *queue = NULL;
  if (assay_queue_open_cpu(threads->given ? (int)threads->whole : 0, &queue) != ASSAY_OK) {
    output_error("%s", assay_last_error());
    return CLI_FAILED;
  }
  const assay_status status =
      assay_operator_call(job->op, job->variant, job->entry, in, job->out, job->opt, queue, &why);
  assay_queue_close(queue);
  if (status != ASSAY_OK) return refuse_call(job, status, &why);
  if (!args->values[APPLY_CHECK].given) return CLI_OK;
  if (!apply_compare(subject, job->entry, in, job->out, job->opt, &job->comparison, &why))
    return refuse_call(job, ASSAY_NO_MEMORY, &why);
  return CLI_OK;
}

static int finish(apply_job *job, bool json) {
  const bool wrong = job->comparison.wrong > 0;
  const int code = wrong ? CLI_FAILED : apply_write_output(job);
  if (!wrong && code != CLI_OK) return code;
  if (json) {
    apply_print_json(job);
  } else {
    apply_print(job);
  }
  if (wrong) output_error("%s is not written: the result failed the check", job->out_path);
  return code;
}

static int run_apply(const cli_args *args) {
  apply_job job = {.op = NULL};
  int code = apply_choose(&job, args, &places);
  if (code == CLI_OK) code = apply_open_inputs(&job, args, &places);
  if (code == CLI_OK) code = apply_examine_output(&job);
  if (code == CLI_OK) code = apply_convert_inputs(&job, args, &places);
  if (code == CLI_OK) code = demand_finite(&job, args);
  if (code == CLI_OK) code = compute(&job, args);
  if (code == CLI_OK) code = finish(&job, args->values[APPLY_JSON].given);
  for (int i = 0; i < job.input_count; i++) apply_input_close(&job.inputs[i]);
  free(job.file);
  return code;
}

static const char *const examples[] = {
    "apply OPERATOR --in x.npy --out y.npy --check",
    "apply OPERATOR --in x.npy --slice 0:64,::2 --transpose --dtype fp16 --out y.npy", NULL};

const cli_command command_apply = {
    .name = "apply",
    .summary = "run an operator on your own arrays (.npy)",
    .about =
        "Reads the operands from .npy files, runs a variant of the library and writes the result as a .npy "
        "file. An --in may be followed by any number of --slice and --transpose, which are applied in "
        "their order: --in x.npy --slice 0:10 --transpose is x[0:10].T in NumPy. NumPy has no bf16: its "
        "files hold uint16, which --dtype bf16 takes and writes as bf16.",
    .names = "OP",
    .names_min = 1,
    .names_max = 1,
    .examples = examples,
    .options = options,
    .option_count = APPLY_OPTIONS,
    .run = run_apply,
};
