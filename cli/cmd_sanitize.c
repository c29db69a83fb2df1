/* SPDX-License-Identifier: MIT */
/* cmd_sanitize.c - `assay sanitize`: CUDA kernels on the emulator under its four tools, over all small cases,
 * and the counts that stand for times. */
#include "check_job.h"
#include "choose.h"
#include "core/fill.h"
#include "core/hash.h"
#include "check/trace.h"
#include "interrupt.h"
#include "sanitize_report.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  SANITIZE_SOLUTION = 0,
  SANITIZE_LIBRARY,
  SANITIZE_VARIANT,
  SANITIZE_TOOL,
  SANITIZE_SHAPE,
  SANITIZE_DTYPE,
  SANITIZE_LAYOUT,
  SANITIZE_SET,
  SANITIZE_SEED,
  SANITIZE_TIMEOUT,
  SANITIZE_SPEED,
  SANITIZE_JSON,
  SANITIZE_COLOUR,
  SANITIZE_OPTIONS
};

static const cli_option options[SANITIZE_OPTIONS] = {
    [SANITIZE_SOLUTION] = {"solution", OPTION_FLAG, NULL, NULL, 0, 0,
                           "watch the reference solution, not your file"},
    [SANITIZE_LIBRARY] = {"library", OPTION_FLAG, NULL, NULL, 0, 0,
                          "watch every variant of the library that the emulator can run"},
    [SANITIZE_VARIANT] = {"variant", OPTION_TEXT, "NAME", NULL, 0, 0, "with --library: only this variant"},
    [SANITIZE_TOOL] = {"tool", OPTION_EACH, "NAME", NULL, 0, 0,
                       "memory, race, init or sync, several joined by commas; default: all four"},
    [SANITIZE_SHAPE] = {"shape", OPTION_TEXT, "AxB", NULL, 0, 0,
                        "one case of these sizes, such as 2x257; default: all small cases of the checks"},
    [SANITIZE_DTYPE] = {"dtype", OPTION_CHOICE, NULL, cli_dtype_names, 0, 0, "one case of this element type"},
    [SANITIZE_LAYOUT] = {"layout", OPTION_TEXT, "NAME", NULL, 0, 0,
                         "one case whose inputs lie like this in memory, by the names that failures show"},
    [SANITIZE_SET] = {"set", OPTION_EACH, "NAME=VALUE", NULL, 0, 0, "one case with a knob set"},
    [SANITIZE_SEED] = CLI_OPTION_SEED,
    [SANITIZE_TIMEOUT] = {"timeout", OPTION_SECONDS, "SECONDS", NULL, 0, 86400,
                          "limit of one call; default: 60, because watched kernels are slow"},
    [SANITIZE_SPEED] = {"speed", OPTION_FLAG, NULL, NULL, 0, 0,
                        "also measure the emulator's steps a second without and with each tool"},
    [SANITIZE_JSON] = CLI_OPTION_JSON,
    [SANITIZE_COLOUR] = CLI_OPTION_COLOUR,
};

static const double call_seconds = 60;

/* One run of the command. */
typedef struct sanitize_command {
  const cli_args *args;
  sanitize_report report;
  sanitize_job job; /* what all targets share */
  assay_row row;    /* of the one case, when there is one */
  bool one_case;
  bool asked_unavailable;
} sanitize_command;

static bool given(const sanitize_command *self, int option) {
  return self->args->values[option].given;
}

/* ---- options ------------------------------------------------------------------------------------------- */

/* One word of --tool; false after an error message. */
static bool add_tool(const char *word, size_t length, uint32_t *tools) {
  for (int i = 0; i < SANITIZE_TOOLS; i++) {
    const char *name = assay_tool_name((assay_tool)(1 << i));
    if (strlen(name) != length || strncmp(name, word, length) != 0) continue;
    *tools |= UINT32_C(1) << i;
    return true;
  }
  output_error("--tool takes memory, race, init or sync, joined by commas where there are several, not "
               "\"%.*s\"",
               length < 60 ? (int)length : 60, word);
  return false;
}

static bool read_tools(const cli_args *args, uint32_t *tools) {
  *tools = 0;
  for (int i = 0; i < args->each_count; i++) {
    if (args->each[i].option != SANITIZE_TOOL) continue;
    for (const char *at = args->each[i].text;;) {
      const size_t length = strcspn(at, ",");
      if (!add_tool(at, length, tools)) return false;
      if (at[length] == '\0') break;
      at += length + 1;
    }
  }
  if (*tools == 0) *tools = ASSAY_TOOLS_ALL;
  return true;
}

/* The one case that the options describe, for this subject; false after an error message. */
static bool read_case(sanitize_command *self, const assay_subject *subject) {
  const cli_args *args = self->args;
  const cli_value *values = args->values;
  if (!self->one_case) return true;
  if (!trace_default(subject, &self->row, &self->job.dtype, &self->job.layout)) {
    output_error("%s has no check with a case that could be watched", subject->name);
    return false;
  }
  self->row.fill = assay_fill_normal;
  self->row.a = 0;
  self->row.b = 1;
  self->row.shift = 0;
  self->job.row = &self->row;
  if (given(self, SANITIZE_SHAPE) && !choose_shape(subject, values[SANITIZE_SHAPE].text, self->row.dims))
    return false;
  if (given(self, SANITIZE_DTYPE)) self->job.dtype = (assay_dtype)values[SANITIZE_DTYPE].choice;
  if (given(self, SANITIZE_LAYOUT)) {
    self->job.layout = choose_name(subject->name, "layout", values[SANITIZE_LAYOUT].text,
                                   subject->layout_names, subject->layout_count);
    if (self->job.layout < 0) return false;
  }
  for (int i = 0; i < args->each_count; i++) {
    if (args->each[i].option == SANITIZE_SET && !choose_knob(subject, args->each[i].text, self->row.opt))
      return false;
  }
  return true;
}

/* ---- one target ---------------------------------------------------------------------------------------- */

static void show_progress(void *user, int done, int all) {
  sanitize_command *self = user;
  output_progress(&self->report.out, "%s: case %d of %d", self->job.target->subject->name, done + 1, all);
}

/* CLI_OK, or CLI_USAGE after an error message. */
static int run_target(sanitize_command *self, const check_target *target, const sanitize_subject *subject) {
  int code = CLI_OK;
  self->job.target = target;
  if (!read_case(self, target->subject)) return CLI_USAGE;
  sanitize_result *result = malloc(sizeof *result);
  if (result == NULL) {
    output_error("there is no memory for what the tools find");
    return CLI_FAILED;
  }
  sanitize_report_start(&self->report, subject);
  sanitize_run(&self->job, show_progress, self, result);
  output_clear(&self->report.out);
  if (result->refused) {
    output_error("%s", result->reason);
    code = CLI_USAGE;
  } else {
    if (result->verdict == VERDICT_UNAVAILABLE) self->asked_unavailable = true;
    sanitize_report_result(&self->report, subject, &self->job, result);
  }
  free(result);
  return code;
}

static void add_missing(sanitize_command *self, const assay_exercise *exercise, const char *variant,
                        verdict value, const char *reason) {
  const sanitize_subject subject = {.workshop = exercise->name, .variant = variant};
  if (value == VERDICT_UNAVAILABLE) self->asked_unavailable = true;
  sanitize_report_missing(&self->report, &subject, value, reason);
}

/* `file`, which messages call `shown`. */
static int run_file(sanitize_command *self, const assay_exercise *exercise, const char *file,
                    const char *shown) {
  char sha256[ASSAY_HASH_TEXT];
  const char *label = given(self, SANITIZE_SOLUTION) ? "solution" : "yours";
  if (!assay_hash_file(file, sha256)) {
    output_error("cannot read %s: %s", shown, strerror(errno));
    return CLI_FAILED;
  }
  const check_target target = {.kind = TARGET_OBJECT,
                               .subject = exercise->subject,
                               .op = exercise->op,
                               .source = file,
                               .label = label,
                               .repeat_command = PROGRAM " sanitize",
                               .backend = ASSAY_SIMT};
  const sanitize_subject subject = {
      .workshop = exercise->name, .variant = label, .path = shown, .sha256 = sha256};
  return run_target(self, &target, &subject);
}

static int run_solution(sanitize_command *self, const assay_exercise *exercise) {
  char name[128], shown[ASSAY_PATH_SIZE], file[ASSAY_PATH_SIZE];
  exercise_file_name(exercise, "solution", ASSAY_SIMT, name);
  exercise_shown_path(exercise, name, shown);
  if (!exercise_full_path(exercise, name, file)) return CLI_FAILED;
  return run_file(self, exercise, file, shown);
}

static int run_own(sanitize_command *self, const assay_exercise *exercise) {
  char shown[ASSAY_PATH_SIZE], file[PATH_MAX], reason[128];
  work_file(exercise, ASSAY_SIMT, shown);
  if (!assay_file_exists(shown)) {
    snprintf(reason, sizeof reason, "not started: " PROGRAM " start %s --backend cuda", exercise->name);
    add_missing(self, exercise, "yours", VERDICT_TODO, reason);
    return CLI_OK;
  }
  if (realpath(shown, file) == NULL) {
    output_error("cannot read %s: %s", shown, strerror(errno));
    return CLI_FAILED;
  }
  return run_file(self, exercise, file, shown);
}

static int run_library(sanitize_command *self, const assay_exercise *exercise) {
  const char *wanted = self->args->values[SANITIZE_VARIANT].text;
  const int count = exercise->op == NULL ? 0 : exercise->op->variant_count;
  int found = 0;
  int code = CLI_OK;
  for (int i = 0; i < count && code == CLI_OK && !check_interrupted(); i++) {
    const assay_variant *variant = &exercise->op->variants[i];
    if (!assay_variant_serves(variant, ASSAY_SIMT)) continue;
    if (wanted != NULL && strcmp(variant->name, wanted) != 0) continue;
    const check_target target = {.kind = TARGET_LIBRARY,
                                 .subject = exercise->subject,
                                 .op = exercise->op,
                                 .index = i,
                                 .label = variant->name,
                                 .repeat_command = PROGRAM " sanitize",
                                 .backend = ASSAY_SIMT};
    const sanitize_subject subject = {.workshop = exercise->name, .variant = variant->name};
    found++;
    code = run_target(self, &target, &subject);
  }
  if (found == 0 && code == CLI_OK && !check_interrupted()) {
    add_missing(self, exercise, wanted != NULL ? wanted : "library", VERDICT_UNAVAILABLE,
                "the library has no such variant that the emulator can run");
  }
  return code;
}

/* ---- the command --------------------------------------------------------------------------------------- */

/* Combinations of options that contradict each other; false after an error message. */
static bool options_agree(const sanitize_command *self, const exercise_list *chosen) {
  if (given(self, SANITIZE_SOLUTION) && given(self, SANITIZE_LIBRARY)) {
    output_error("--solution and --library exclude each other: run sanitize twice");
    return false;
  }
  if (given(self, SANITIZE_VARIANT) && !given(self, SANITIZE_LIBRARY)) {
    output_error("--variant chooses a variant of the library: give --library too");
    return false;
  }
  if (self->one_case && chosen->count > 1) {
    output_error("--shape, --dtype, --layout and --set describe a case of one exercise, and %d are asked for",
                 chosen->count);
    return false;
  }
  for (int i = 0; given(self, SANITIZE_VARIANT) && i < chosen->count; i++) {
    const assay_operator *op = chosen->items[i]->op;
    if (op != NULL && !check_variant_is_known(op, self->args->values[SANITIZE_VARIANT].text)) return false;
  }
  return true;
}

/* "all" takes the exercises that have CUDA kernels; by its name, one without is unavailable. */
static int run_exercise(sanitize_command *self, const assay_exercise *exercise, bool named) {
  if (given(self, SANITIZE_LIBRARY)) {
    for (int i = 0; !named && exercise->op != NULL && i < exercise->op->variant_count; i++)
      named = assay_variant_serves(&exercise->op->variants[i], ASSAY_SIMT);
    return named ? run_library(self, exercise) : CLI_OK;
  }
  if (!exercise_has(exercise, ASSAY_SIMT)) {
    if (named)
      add_missing(self, exercise, given(self, SANITIZE_SOLUTION) ? "solution" : "yours", VERDICT_UNAVAILABLE,
                  "the exercise has no .cu file yet, and sanitize watches CUDA kernels");
    return CLI_OK;
  }
  return given(self, SANITIZE_SOLUTION) ? run_solution(self, exercise) : run_own(self, exercise);
}

static int run_chosen(sanitize_command *self, const exercise_list *chosen) {
  int code = CLI_OK;
  interrupt_watch();
  for (int i = 0; i < chosen->count && code == CLI_OK && !check_interrupted(); i++)
    code = run_exercise(self, chosen->items[i],
                        exercise_is_named(chosen->items[i], self->args->names, self->args->name_count));
  if (code != CLI_OK) return code;
  sanitize_report_end(&self->report, self->job.seed);
  return interrupt_code(check_exit_code(&self->report.totals, self->asked_unavailable));
}

static int run_sanitize(const cli_args *args) {
  const cli_value *values = args->values;
  sanitize_command self = {.args = args};
  exercise_list chosen;
  self.one_case = given(&self, SANITIZE_SHAPE) || given(&self, SANITIZE_DTYPE) ||
                  given(&self, SANITIZE_LAYOUT) || given(&self, SANITIZE_SET);
  if (!exercise_choose(args->names, args->name_count, &chosen) || !options_agree(&self, &chosen) ||
      !read_tools(args, &self.job.tools))
    return CLI_USAGE;
  /* 53 bits, so that every reader of the JSON gets the same number. */
  self.job.seed =
      values[SANITIZE_SEED].given ? (uint64_t)values[SANITIZE_SEED].whole : assay_random_seed() >> 11;
  self.job.seconds = values[SANITIZE_TIMEOUT].given ? values[SANITIZE_TIMEOUT].seconds : call_seconds;
  self.job.speed = given(&self, SANITIZE_SPEED);
  sanitize_report_begin(&self.report, (output_colour)values[SANITIZE_COLOUR].choice,
                        given(&self, SANITIZE_JSON), self.job.tools);
  const int code = run_chosen(&self, &chosen);
  sanitize_report_free(&self.report);
  return code;
}

static const char *const examples[] = {"sanitize OPERATOR", "sanitize OPERATOR --solution --tool race,sync",
                                       "sanitize OPERATOR --shape 64x1000 --dtype fp16",
                                       "sanitize all --library --json", NULL};

const cli_command command_sanitize = {
    .name = "sanitize",
    .summary = "watch every access of your CUDA kernel: races, bounds, unwritten memory",
    .about =
        "Runs your work/NAME.cu on the emulator over all small cases of its checks and watches every access. "
        "memory finds accesses outside every operand and array, race two accesses that nothing orders, init "
        "reads of what nobody wrote, sync barriers and warp operations that not all reach. A line a finding "
        "names your line and how often it was seen; whether results are right is what check says. Then come "
        "counts, no times: bytes against what the algorithm has to move, sectors of 32 bytes, passes over "
        "the banks of shared memory, barriers, warp operations, and the FLOPs of matrix steps (of mma only, "
        "no other arithmetic is counted). --speed is about the emulator, not about a GPU. The exit code is 0 "
        "without a finding, 1 with one, 2 for a kernel that is not written yet, 3 when nothing could run.",
    .names = "NAME...|all",
    .names_min = 1,
    .names_max = CLI_MAX_NAMES,
    .examples = examples,
    .options = options,
    .option_count = SANITIZE_OPTIONS,
    .run = run_sanitize,
};
