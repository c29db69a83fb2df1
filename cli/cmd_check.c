/* SPDX-License-Identifier: MIT */
/* cmd_check.c - `assay check`: which sources and variants are judged, and with what. */
#include "check_report.h"
#include "cli.h"
#include "core/hash.h"
#include "interrupt.h"
#include "suggest.h"

#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

enum {
  CHECK_SOLUTION = 0,
  CHECK_LIBRARY,
  CHECK_BACKEND,
  CHECK_VARIANT,
  CHECK_FILTER,
  CHECK_SEED,
  CHECK_TIER,
  CHECK_TIMEOUT,
  CHECK_THREADS,
  CHECK_LEVEL,
  CHECK_ALL,
  CHECK_JSON,
  CHECK_COLOUR,
  CHECK_OPTIONS
};

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
    [CHECK_JSON] = CLI_OPTION_JSON,
    [CHECK_COLOUR] = CLI_OPTION_COLOUR,
};

/* One run of the command. */
typedef struct check_job {
  const cli_args *args;
  check_options options;
  check_report report;
  regex_t filter; /* compiled when --filter is given */
  bool asked_unavailable;
} check_job;

static bool given(const check_job *job, int option) {
  return job->args->values[option].given;
}

/* The start of a repeat command: what is judged, and the options that change how. The engine adds check, tier
 * and seed. */
static void format_repeat(const check_job *job, const assay_exercise *exercise, const char *variant,
                          char text[512]) {
  static const int repeated[] = {CHECK_BACKEND, CHECK_TIMEOUT, CHECK_THREADS};
  const char *mode = given(job, CHECK_SOLUTION)  ? " --solution"
                     : given(job, CHECK_LIBRARY) ? " --library"
                                                 : "";
  snprintf(text, 512, PROGRAM " check %s%s", exercise->name, mode);
  if (variant != NULL) snprintf(text + strlen(text), 512 - strlen(text), " --variant %s", variant);
  for (size_t i = 0; i < sizeof repeated / sizeof repeated[0]; i++) {
    if (!given(job, repeated[i])) continue;
    snprintf(text + strlen(text), 512 - strlen(text), " --%s %.40s", options[repeated[i]].name,
             job->args->values[repeated[i]].text);
  }
}

/* CLI_OK, or CLI_USAGE after an error message: the options are unusable. */
static int run_target(check_job *job, const check_target *target, const char *heading) {
  const assay_scope scope = target->kind == TARGET_LIBRARY ? ASSAY_SCOPE_LIBRARY : ASSAY_SCOPE_EXERCISE;
  check_report_target(&job->report, target->subject, scope, job->options.tier, heading);
  assay_message why;
  const bool usable =
      check_run(target, &job->options, check_report_result, &job->report, &job->report.totals, &why);
  output_clear(&job->report.out);
  if (usable) return CLI_OK;
  output_error("%s", why.text);
  return CLI_USAGE;
}

static void add_missing(check_job *job, const assay_exercise *exercise, assay_backend backend,
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

/* ---- source files -------------------------------------------------------------------------------------- */

/* The first advice stays: it belongs to the first exercise that needs work. */
static void advise(check_job *job, const assay_exercise *exercise, assay_backend backend, const char *file,
                   const check_totals *before) {
  char *next = job->report.next;
  const size_t size = sizeof job->report.next;
  const check_totals *now = &job->report.totals;
  if (next[0] != '\0') return;
  if (now->failed > before->failed) {
    snprintf(next, size, "mend %s (" PROGRAM " hint %s helps), then " PROGRAM " check %s", file,
             exercise->name, exercise->name);
  } else if (now->unfinished > before->unfinished) {
    snprintf(next, size, "edit %s, then " PROGRAM " check %s", file, exercise->name);
  } else if (now->passed > before->passed && job->args->name_count == 1 && !given(job, CHECK_FILTER)) {
    char name[128], path[ASSAY_PATH_SIZE];
    exercise_file_name(exercise, "solution", backend, name);
    exercise_shown_path(exercise, name, path);
    snprintf(next, size, "compare your kernel with a solution written to be read: %s", path);
  }
}

static void add_not_started(check_job *job, const assay_exercise *exercise, assay_backend backend) {
  char reason[128];
  snprintf(reason, sizeof reason, "not started: " PROGRAM " start %s", exercise->name);
  add_missing(job, exercise, backend, "yours", "start", VERDICT_TODO, reason);
  if (job->report.next[0] != '\0') return;
  snprintf(job->report.next, sizeof job->report.next, PROGRAM " start %s", exercise->name);
}

/* Judges `file`, which messages call `shown`. CLI_OK, or an exit code after an error message. */
static int check_source(check_job *job, const assay_exercise *exercise, assay_backend backend,
                        const char *file, const char *shown) {
  const bool solution = given(job, CHECK_SOLUTION);
  const char *label = solution ? "solution" : "yours";
  char sha256[ASSAY_HASH_TEXT];
  if (!assay_hash_file(file, sha256)) {
    output_error("cannot read %s: %s", shown, strerror(errno));
    return CLI_FAILED;
  }
  check_report_file(&job->report, exercise, cli_backend_names[backend], label, shown, sha256,
                    solution ? "  (reference solution, not your work)" : "");
  char repeat[512];
  format_repeat(job, exercise, NULL, repeat);
  const check_target target = {.kind = TARGET_OBJECT,
                               .subject = exercise->subject,
                               .op = exercise->op,
                               .source = file,
                               .label = label,
                               .repeat_command = repeat,
                               .backend = backend};
  const check_totals before = job->report.totals;
  const int code = run_target(job, &target, NULL);
  if (code == CLI_OK && !solution) advise(job, exercise, backend, shown, &before);
  return code;
}

static int check_solution(check_job *job, const assay_exercise *exercise, assay_backend backend) {
  char name[128], shown[ASSAY_PATH_SIZE], file[ASSAY_PATH_SIZE];
  exercise_file_name(exercise, "solution", backend, name);
  exercise_shown_path(exercise, name, shown);
  if (!exercise_full_path(exercise, name, file)) return CLI_FAILED;
  return check_source(job, exercise, backend, file, shown);
}

static int check_own(check_job *job, const assay_exercise *exercise, assay_backend backend) {
  char shown[ASSAY_PATH_SIZE], file[PATH_MAX];
  work_file(exercise, backend, shown);
  if (!assay_file_exists(shown)) {
    add_not_started(job, exercise, backend);
    return CLI_OK;
  }
  if (realpath(shown, file) == NULL) {
    output_error("cannot read %s: %s", shown, strerror(errno));
    return CLI_FAILED;
  }
  return check_source(job, exercise, backend, file, shown);
}

static int check_files(check_job *job, const assay_exercise *exercise) {
  const cli_value *chosen = &job->args->values[CHECK_BACKEND];
  const bool solution = given(job, CHECK_SOLUTION);
  int code = CLI_OK;
  for (int i = 0; cli_backend_names[i] != NULL && code == CLI_OK && !check_interrupted(); i++) {
    const assay_backend backend = (assay_backend)i;
    if (chosen->given && chosen->choice != i) continue;
    const bool exists = (exercise->backends & (1u << i)) != 0;
    const char *missing =
        exists ? backend_missing(backend) : "the exercise does not exist for this backend yet";
    if (missing == NULL) {
      code = solution ? check_solution(job, exercise, backend) : check_own(job, exercise, backend);
    } else if (chosen->given) {
      add_missing(job, exercise, backend, solution ? "solution" : "yours", "backend", VERDICT_UNAVAILABLE,
                  missing);
      job->asked_unavailable = true;
    }
  }
  return code;
}

/* ---- variants of the library --------------------------------------------------------------------------- */

static int check_variant(check_job *job, const assay_exercise *exercise, int index) {
  const assay_variant *variant = &exercise->op->variants[index];
  assay_message why = {""};
  if (!assay_variant_runs_here(variant, &why)) {
    add_missing(job, exercise, variant->backend, variant->name, "variant", VERDICT_UNAVAILABLE, why.text);
    if (given(job, CHECK_VARIANT)) job->asked_unavailable = true;
    return CLI_OK;
  }
  char repeat[512], heading[128];
  format_repeat(job, exercise, variant->name, repeat);
  snprintf(heading, sizeof heading, "checking libassay, variant %s", variant->name);
  const check_target target = {.kind = TARGET_LIBRARY,
                               .subject = &exercise->op->subject,
                               .op = exercise->op,
                               .index = index,
                               .label = variant->name,
                               .repeat_command = repeat,
                               .backend = variant->backend};
  return run_target(job, &target, heading);
}

/* Whether the operator has the variant that --variant names; an error message when not. */
static bool variant_is_known(const assay_operator *op, const char *name) {
  if (assay_variant_find(op, name) != NULL) return true;
  suggestion near;
  suggest_begin(&near, name);
  for (int i = 0; i < op->variant_count; i++) suggest_try(&near, op->variants[i].name);
  const char *best = suggest_best(&near);
  if (best != NULL) {
    output_error("%s has no variant \"%.60s\": did you mean %s?", op->subject.name, name, best);
  } else {
    output_error("%s has no variant \"%.60s\": " PROGRAM " list shows them", op->subject.name, name);
  }
  return false;
}

static int check_library(check_job *job, const assay_exercise *exercise) {
  const cli_value *backend = &job->args->values[CHECK_BACKEND];
  const char *name = job->args->values[CHECK_VARIANT].text;
  const int count = exercise->op == NULL ? 0 : exercise->op->variant_count;
  int found = 0;
  int code = CLI_OK;
  for (int i = 0; i < count && code == CLI_OK && !check_interrupted(); i++) {
    const assay_variant *variant = &exercise->op->variants[i];
    if (backend->given && (int)variant->backend != backend->choice) continue;
    if (name != NULL && strcmp(variant->name, name) != 0) continue;
    found++;
    code = check_variant(job, exercise, i);
  }
  if (found == 0 && !check_interrupted()) {
    const char *reason = exercise->op == NULL ? "the exercise is no operator of the library"
                                              : "the library has no such variant for this backend";
    add_missing(job, exercise, backend->given ? (assay_backend)backend->choice : ASSAY_CPU,
                name == NULL ? "library" : name, "backend", VERDICT_UNAVAILABLE, reason);
    job->asked_unavailable = true;
  }
  return code;
}

/* ---- the command --------------------------------------------------------------------------------------- */

/* Combinations of options that contradict each other; false after an error message. */
static bool options_agree(const check_job *job) {
  if (given(job, CHECK_SOLUTION) && given(job, CHECK_LIBRARY)) {
    output_error("--solution and --library exclude each other: run check twice");
    return false;
  }
  if (given(job, CHECK_VARIANT) && !given(job, CHECK_LIBRARY)) {
    output_error("--variant chooses a variant of the library: give --library too");
    return false;
  }
  if (job->args->name_count == 0 && !given(job, CHECK_LEVEL)) {
    output_error("check needs the name of an exercise, or all: " PROGRAM " list shows the names");
    return false;
  }
  return true;
}

static bool matches(const check_job *job, const assay_exercise *exercise) {
  if (!given(job, CHECK_FILTER)) return true;
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
    if (variant->given && exercise->op != NULL && !variant_is_known(exercise->op, variant->text))
      return false;
    if (matches(job, exercise)) chosen->items[kept++] = exercise;
  }
  chosen->count = kept;
  if (kept > 0) return true;
  output_error(given(job, CHECK_FILTER) ? "--filter matches no check of the exercises that are asked for"
                                        : "no exercise that is asked for has the level of --level");
  return false;
}

static int run_chosen(check_job *job, const exercise_list *chosen) {
  interrupt_watch();
  int code = CLI_OK;
  for (int i = 0; i < chosen->count && code == CLI_OK && !check_interrupted(); i++) {
    const assay_exercise *exercise = chosen->items[i];
    code = given(job, CHECK_LIBRARY) ? check_library(job, exercise) : check_files(job, exercise);
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
      .stop_early = !given(job, CHECK_ALL) && !given(job, CHECK_JSON) && !given(job, CHECK_FILTER) &&
                    !given(job, CHECK_SOLUTION) && !given(job, CHECK_LIBRARY),
      .seconds = values[CHECK_TIMEOUT].seconds,
      .threads = (int)values[CHECK_THREADS].whole,
  };
}

static int run_check(const cli_args *args) {
  check_job job = {.args = args};
  if (!options_agree(&job)) return CLI_USAGE;
  fill_options(&job);
  if (given(&job, CHECK_FILTER)) {
    const int error = regcomp(&job.filter, job.options.filter, REG_EXTENDED | REG_NOSUB);
    if (error != 0) {
      char reason[128];
      regerror(error, &job.filter, reason, sizeof reason);
      output_error("--filter \"%.60s\" is no extended regular expression: %s", job.options.filter, reason);
      return CLI_USAGE;
    }
  }
  check_report_begin(&job.report, (output_colour)args->values[CHECK_COLOUR].choice, given(&job, CHECK_JSON));
  exercise_list chosen;
  const int code = choose(&job, &chosen) ? run_chosen(&job, &chosen) : CLI_USAGE;
  check_report_free(&job.report);
  if (given(&job, CHECK_FILTER)) regfree(&job.filter);
  return code;
}

static const char *const examples[] = {"check NAME", "check NAME --solution --json",
                                       "check NAME --library --tier L", "check all", NULL};

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
