/* SPDX-License-Identifier: MIT */
/* cmd_check.c - `assay check`: which sources and variants are judged, and with what. */
#include "check_job.h"
#include "core/hash.h"
#include "interrupt.h"

#include <stdio.h>
#include <string.h>

static const cli_option options[CHECK_OPTIONS] = {
    [CHECK_SOLUTION] = {"solution", OPTION_FLAG, NULL, NULL, 0, 0,
                        "judge the reference solution, not your file"},
    [CHECK_LIBRARY] = {"library", OPTION_FLAG, NULL, NULL, 0, 0, "judge every variant in the library"},
    [CHECK_BACKEND] = {"backend", OPTION_CHOICE, NULL, cli_backend_names, 0, 0,
                       "only this backend; default: all that exist and can run here"},
    [CHECK_VARIANT] = {"variant", OPTION_TEXT, "NAME", NULL, 0, 0, "with --library: only this variant"},
    [CHECK_FILTER] = {"filter", OPTION_TEXT, "REGEX", NULL, 0, 0,
                      "only checks whose name matches the extended regular expression"},
    [CHECK_SEED] = CLI_OPTION_SEED,
    [CHECK_TIER] = {"tier", OPTION_CHOICE, NULL, cli_tier_names, 0, 0,
                    "largest checks to run: small, medium (the default) or large"},
    [CHECK_TIMEOUT] = {"timeout", OPTION_SECONDS, "SECONDS", NULL, 0, 86400,
                       "limit of one call; default: 10, or more where the reference is slow"},
    [CHECK_THREADS] = {"threads", OPTION_WHOLE, "N", NULL, 1, 1024,
                       "threads a call may use; default: OMP_NUM_THREADS, else the CPUs of this process"},
    [CHECK_LEVEL] = {"level", OPTION_CHOICE, NULL, cli_level_names, 0, 0, "only exercises of this level"},
    [CHECK_ALL] = {"all", OPTION_FLAG, NULL, NULL, 0, 0, "go on behind the first stage that fails"},
    [CHECK_FAILURES] = {"failures", OPTION_FLAG, NULL, NULL, 0, 0, "show only what does not pass"},
    [CHECK_JSON] = CLI_OPTION_JSON,
    [CHECK_COLOUR] = CLI_OPTION_COLOUR,
};

/* The start of a repeat command: what is judged, and the options that change how. The engine adds check, tier
 * and seed. */
void check_format_repeat(const check_job *job, const assay_exercise *exercise, const char *variant,
                         char text[512]) {
  static const int repeated[] = {CHECK_BACKEND, CHECK_TIMEOUT, CHECK_THREADS};
  const char *mode = check_given(job, CHECK_SOLUTION)  ? " --solution"
                     : check_given(job, CHECK_LIBRARY) ? " --library"
                                                       : "";
  snprintf(text, 512, PROGRAM " check %s%s", exercise->name, mode);
  if (variant != NULL) snprintf(text + strlen(text), 512 - strlen(text), " --variant %s", variant);
  for (size_t i = 0; i < sizeof repeated / sizeof repeated[0]; i++) {
    if (!check_given(job, repeated[i])) continue;
    snprintf(text + strlen(text), 512 - strlen(text), " --%s %.40s", options[repeated[i]].name,
             job->args->values[repeated[i]].text);
  }
}

/* CLI_OK, or CLI_USAGE after an error message: the options are unusable. */
void check_target_run(check_job *job, const check_target *target, const char *heading) {
  const assay_scope scope = target->kind == TARGET_LIBRARY ? ASSAY_SCOPE_LIBRARY : ASSAY_SCOPE_EXERCISE;
  assay_message why;
  check_options chosen = job->options;
  /* Emulated kernels take their time: larger checks run when they are asked for. */
  if (target->backend == ASSAY_SIMT && !check_given(job, CHECK_TIER)) chosen.tier = ASSAY_TIER_S;
  check_report_target(&job->report, target->subject, scope, target->backend, chosen.tier, heading);
  bool ran = check_run(target, &chosen, check_report_result, &job->report, &job->report.totals, &why);
  if (!ran && chosen.tier != job->options.tier) { /* a larger check is asked for by its name */
    chosen.tier = job->options.tier;
    ran = check_run(target, &chosen, check_report_result, &job->report, &job->report.totals, &why);
  }
  output_clear(&job->report.out);
  if (ran) {
    job->targets_run++;
  } else {
    job->unmatched = why; /* an error only when the filter matches nothing on any other target either */
  }
}

void check_add_missing(check_job *job, const assay_exercise *exercise, assay_backend backend,
                       const char *variant, const char *check, verdict value, const char *reason) {
  const check_result result = {.workshop = exercise->name,
                               .backend = cli_backend_names[backend],
                               .variant = variant,
                               .check = check,
                               .stage = "",
                               .catches = "",
                               .verdict = value,
                               .reason = reason,
                               .detail = "",
                               .repeat = ""};
  check_report_missing(&job->report, &result);
}

/* ---- the command --------------------------------------------------------------------------------------- */

/* Combinations of options that contradict each other; false after an error message. */
static bool options_agree(const check_job *job) {
  if (check_given(job, CHECK_SOLUTION) && check_given(job, CHECK_LIBRARY)) {
    output_error("--solution and --library exclude each other: run check twice");
    return false;
  }
  if (check_given(job, CHECK_VARIANT) && !check_given(job, CHECK_LIBRARY)) {
    output_error("--variant chooses a variant of the library: give --library too");
    return false;
  }
  if (job->args->name_count == 0 && !check_given(job, CHECK_LEVEL)) {
    output_error("check needs the name of an exercise, or all: " PROGRAM " list shows the names");
    return false;
  }
  return true;
}

static bool matches(const check_job *job, const assay_exercise *exercise) {
  if (!check_given(job, CHECK_FILTER)) return true;
  for (int i = 0; exercise->subject->checks[i].name != NULL; i++) {
    if (regexec(&job->filter, exercise->subject->checks[i].name, 0, NULL, 0) == 0) return true;
  }
  return false;
}

/* The exercises to check; false after an error message. */
static bool choose(const check_job *job, exercise_list *chosen) {
  const cli_value *level = &job->args->values[CHECK_LEVEL];
  const cli_value *variant = &job->args->values[CHECK_VARIANT];
  if (!exercise_choose(job->args->names, job->args->name_count, chosen)) return false;
  int kept = 0;
  for (int i = 0; i < chosen->count; i++) {
    const assay_exercise *exercise = chosen->items[i];
    if (level->given && strcmp(exercise->level, level->text) != 0) continue;
    if (variant->given && exercise->op != NULL && !check_variant_is_known(exercise->op, variant->text))
      return false;
    if (matches(job, exercise)) chosen->items[kept++] = exercise;
  }
  chosen->count = kept;
  if (kept > 0) return true;
  output_error(check_given(job, CHECK_FILTER)
                   ? "--filter matches no check of the exercises that are asked for"
                   : "no exercise that is asked for has the level of --level");
  return false;
}

/* For the backend of --backend, or for some. */
static bool is_written(const check_job *job, const assay_exercise *exercise) {
  const cli_value *backend = &job->args->values[CHECK_BACKEND];
  return !backend->given || exercise_has(exercise, (assay_backend)backend->choice);
}

static int run_chosen(check_job *job, const exercise_list *chosen) {
  interrupt_watch();
  int code = CLI_OK;
  for (int i = 0; i < chosen->count && code == CLI_OK && !check_interrupted(); i++) {
    const assay_exercise *exercise = chosen->items[i];
    const bool library = check_given(job, CHECK_LIBRARY);
    /* "all" takes the exercises that there are: by its name, one that is no operator, or that is not written
     * for the backend, is unavailable. */
    const bool there = library ? exercise->op != NULL : is_written(job, exercise);
    if (!there && !exercise_is_named(exercise, job->args->names, job->args->name_count)) continue;
    code = library ? check_library(job, exercise) : check_files(job, exercise);
  }
  if (code == CLI_OK && job->targets_run == 0 && job->unmatched.text[0] != '\0') {
    output_error("%s", job->unmatched.text);
    code = CLI_USAGE;
  }
  if (code != CLI_OK) return code;
  check_report_end(&job->report, job->options.seed, job->options.tier);
  return interrupt_code(check_exit_code(&job->report.totals, job->asked_unavailable));
}

/* Nothing but a learner's plain run stops early: who asks for something special wants to see it all. */
static void fill_options(check_job *job) {
  const cli_value *values = job->args->values;
  job->options = (check_options){
      /* 53 bits, so that every reader of the JSON gets the same number. */
      .seed = values[CHECK_SEED].given ? (uint64_t)values[CHECK_SEED].whole : assay_random_seed() >> 11,
      .tier = values[CHECK_TIER].given ? (assay_tier)values[CHECK_TIER].choice : ASSAY_TIER_M,
      .filter = values[CHECK_FILTER].text,
      .stop_early = !check_given(job, CHECK_ALL) && !check_given(job, CHECK_JSON) &&
                    !check_given(job, CHECK_FILTER) && !check_given(job, CHECK_SOLUTION) &&
                    !check_given(job, CHECK_LIBRARY),
      .seconds = values[CHECK_TIMEOUT].seconds,
      .threads = (int)values[CHECK_THREADS].whole,
  };
}

static int run_check(const cli_args *args) {
  check_job job = {.args = args};
  if (!options_agree(&job)) return CLI_USAGE;
  fill_options(&job);
  if (check_given(&job, CHECK_FILTER)) {
    const int error = regcomp(&job.filter, job.options.filter, REG_EXTENDED | REG_NOSUB);
    if (error != 0) {
      char reason[128];
      regerror(error, &job.filter, reason, sizeof reason);
      output_error("--filter \"%.60s\" is no extended regular expression: %s", job.options.filter, reason);
      return CLI_USAGE;
    }
  }
  check_report_begin(&job.report, (output_colour)args->values[CHECK_COLOUR].choice,
                     check_given(&job, CHECK_JSON));
  job.report.failures_only = check_given(&job, CHECK_FAILURES);
  exercise_list chosen;
  const int code = choose(&job, &chosen) ? run_chosen(&job, &chosen) : CLI_USAGE;
  check_report_free(&job.report);
  if (check_given(&job, CHECK_FILTER)) regfree(&job.filter);
  return code;
}

static const char *const examples[] = {"check NAME", "check NAME --solution --json",
                                       "check OPERATOR --library --tier L", "check all", NULL};

const cli_command command_check = {
    .name = "check",
    .summary = "judge your kernel, the solution or the library",
    .about =
        "Runs the checks of exercises on your file, work/NAME.c. The first line says which file is judged "
        "and "
        "its hash. Your run stops behind the first stage that fails; all checks run with --all, --json, "
        "--filter, --solution and --library. The exit code is 0 when all passed, 1 when something failed, 2 "
        "when something is not written yet, 3 when nothing could run.",
    .names = "NAME...|all",
    .names_min = 0,
    .names_max = CLI_MAX_NAMES,
    .examples = examples,
    .options = options,
    .option_count = CHECK_OPTIONS,
    .run = run_check,
};
