/* SPDX-License-Identifier: MIT */
/* cmd_trace.c - `assay trace`: a .cu file runs once on the emulator, and shows what each warp of a block did.
 */
#include "check/trace.h"
#include "choose.h"
#include "cli.h"
#include "core/hash.h"
#include "core/fill.h"
#include "exercise.h"
#include "interrupt.h"
#include "output.h"
#include "trace_report.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  TRACE_SOLUTION = 0,
  TRACE_BLOCK,
  TRACE_STEPS,
  TRACE_SHAPE,
  TRACE_DTYPE,
  TRACE_LAYOUT,
  TRACE_SET,
  TRACE_SEED,
  TRACE_JSON,
  TRACE_OPTIONS
};

enum { DEFAULT_STEPS = 40 };

static const cli_option options[TRACE_OPTIONS] = {
    [TRACE_SOLUTION] = {"solution", OPTION_FLAG, NULL, NULL, 0, 0,
                        "run the reference solution, not your file"},
    [TRACE_BLOCK] = {"block", OPTION_WHOLE, "N", NULL, 0, INT32_MAX,
                     "the block to show, counted x first, then y, then z; default: 0"},
    [TRACE_STEPS] = {"steps", OPTION_WHOLE, "N", NULL, 1, TRACE_STEPS_MOST,
                     "how many steps to show; default: 40"},
    [TRACE_SHAPE] = {"shape", OPTION_TEXT, "AxB", NULL, 0, 0,
                     "sizes of the case, such as 2x257; default: the first of the checks"},
    [TRACE_DTYPE] = {"dtype", OPTION_CHOICE, NULL, cli_dtype_names, 0, 0,
                     "element type; default: the first one that this check uses"},
    [TRACE_LAYOUT] =
        {"layout", OPTION_TEXT, "NAME", NULL, 0, 0,
         "how the inputs lie in memory, by the names that failures show; default: the check's first"},
    [TRACE_SET] = {"set", OPTION_EACH, "NAME=VALUE", NULL, 0, 0, "set a knob of the kernel"},
    [TRACE_SEED] = {"seed", OPTION_WHOLE, "N", NULL, 0, INT64_MAX, "seed of the random inputs; default: 1"},
    [TRACE_JSON] = CLI_OPTION_JSON,
};

/* ---- the case ------------------------------------------------------------------------------------------ */

/* False after an error message. */
static bool read_case(const cli_args *args, const assay_subject *subject, trace_job *job) {
  const cli_value *values = args->values;
  if (!trace_default(subject, &job->row, &job->dtype, &job->layout)) {
    output_error("%s has no check with a case that could be traced", subject->name);
    return false;
  }
  job->row.fill = assay_fill_normal;
  job->row.a = 0;
  job->row.b = 1;
  job->row.shift = 0;
  if (values[TRACE_SHAPE].given && !choose_shape(subject, values[TRACE_SHAPE].text, job->row.dims))
    return false;
  if (values[TRACE_DTYPE].given) job->dtype = (assay_dtype)values[TRACE_DTYPE].choice;
  if (values[TRACE_LAYOUT].given) {
    job->layout = choose_name(subject->name, "layout", values[TRACE_LAYOUT].text, subject->layout_names,
                              subject->layout_count);
    if (job->layout < 0) return false;
  }
  for (int i = 0; i < args->each_count; i++) {
    if (!choose_knob(subject, args->each[i].text, job->row.opt)) return false;
  }
  job->seed = values[TRACE_SEED].given ? (uint64_t)values[TRACE_SEED].whole : 1;
  job->block = (uint32_t)values[TRACE_BLOCK].whole;
  job->steps = values[TRACE_STEPS].given ? (uint32_t)values[TRACE_STEPS].whole : DEFAULT_STEPS;
  return true;
}

/* ---- the file ------------------------------------------------------------------------------------------ */

/* CLI_OK, or an exit code after an error message. */
static int find_file(const assay_exercise *exercise, bool solution, char shown[ASSAY_PATH_SIZE],
                     char file[PATH_MAX]) {
  char name[128];
  if (!exercise_has(exercise, ASSAY_CUDA)) {
    output_error("%s has no .cu file yet, and trace follows the warps of CUDA kernels", exercise->name);
    return CLI_UNAVAILABLE;
  }
  if (solution) {
    char path[ASSAY_PATH_SIZE];
    exercise_file_name(exercise, "solution", ASSAY_CUDA, name);
    exercise_shown_path(exercise, name, shown);
    if (!exercise_full_path(exercise, name, path)) return CLI_FAILED;
    snprintf(file, PATH_MAX, "%s", path);
    return CLI_OK;
  }
  work_file(exercise, ASSAY_CUDA, shown);
  if (!assay_file_exists(shown)) {
    output_error("%s is not there yet: " PROGRAM " start %s --backend cuda writes it", shown, exercise->name);
    return CLI_UNFINISHED;
  }
  if (realpath(shown, file) != NULL) return CLI_OK;
  output_error("cannot read %s: %s", shown, strerror(errno));
  return CLI_FAILED;
}

/* ---- the command --------------------------------------------------------------------------------------- */

static int exit_code(const trace_result *result) {
  switch (result->verdict) {
  case VERDICT_PASS:
    return CLI_OK;
  case VERDICT_TODO:
    return CLI_UNFINISHED;
  case VERDICT_UNAVAILABLE:
    return CLI_UNAVAILABLE;
  default:
    return CLI_FAILED;
  }
}

static int run_file(const trace_job *job, trace_report *report, bool json) {
  trace_result result;
  interrupt_watch();
  trace_run(job, &result);
  int code = exit_code(&result);
  uint64_t blocks = 0;
  if (check_interrupted()) {
    code = interrupt_code(code);
  } else if (result.refused) {
    output_error("%s", result.reason);
    code = CLI_USAGE;
  } else if (!trace_block_exists(&result, &blocks)) {
    output_error("--block %u: the largest grid has %llu block%s, 0 to %llu", job->block,
                 (unsigned long long)blocks, blocks == 1 ? "" : "s", (unsigned long long)(blocks - 1));
    code = CLI_USAGE;
  } else {
    trace_report_print(report, job, &result, json);
  }
  trace_free(&result);
  return code;
}

static int run_trace(const cli_args *args) {
  const assay_exercise *exercise = exercise_named(args->names[0]);
  if (exercise == NULL) return CLI_USAGE;
  const bool solution = args->values[TRACE_SOLUTION].given;
  char shown[ASSAY_PATH_SIZE], file[PATH_MAX], sha256[ASSAY_HASH_TEXT];
  trace_job job = {0};
  int code = find_file(exercise, solution, shown, file);
  if (code != CLI_OK) return code;
  if (!read_case(args, exercise->subject, &job)) return CLI_USAGE;
  trace_report report = {.shown = shown, .sha256 = sha256};
  if (!assay_hash_file(file, sha256) || !trace_report_open(&report, file)) {
    output_error("cannot read %s: %s", shown, strerror(errno));
    return CLI_FAILED;
  }
  const check_target target = {.kind = TARGET_OBJECT,
                               .subject = exercise->subject,
                               .op = exercise->op,
                               .source = file,
                               .label = solution ? "solution" : "yours",
                               .repeat_command = PROGRAM " trace",
                               .backend = ASSAY_SIMT};
  job.target = &target;
  code = run_file(&job, &report, args->values[TRACE_JSON].given);
  trace_report_close(&report);
  return code;
}

static const char *const examples[] = {"trace OPERATOR", "trace OPERATOR --solution --block 1 --steps 100",
                                       "trace OPERATOR --shape 2x257 --dtype bf16", NULL};

const cli_command command_trace = {
    .name = "trace",
    .summary = "show what each warp of your CUDA kernel does, step by step",
    .about =
        "Runs your work/NAME.cu once on the emulator, on a small case with random inputs, and prints the "
        "steps of one block: the warp, its lanes, the word of kernel.h, the line of the source. It ends "
        "with what was left out, or with the rule that the kernel broke. Whether the results are right "
        "is what check says.",
    .names = "NAME",
    .names_min = 1,
    .names_max = 1,
    .examples = examples,
    .options = options,
    .option_count = TRACE_OPTIONS,
    .run = run_trace,
};
