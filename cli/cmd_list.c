/* SPDX-License-Identifier: MIT */
/* cmd_list.c - `assay list`: the exercises with the learner's state, and the operators with their variants.
 */
#include "check/engine.h"
#include "cli.h"
#include "core/json.h"
#include "exercise.h"
#include "list_suite.h"
#include "output.h"
#include "where.h"

#include <string.h>

enum { LIST_LEVEL = 0, LIST_BACKEND, LIST_SUITE, LIST_JSON, LIST_OPTIONS };

static const cli_option options[LIST_OPTIONS] = {
    [LIST_LEVEL] = {"level", OPTION_CHOICE, NULL, cli_level_names, 0, 0, "only exercises of this level"},
    [LIST_BACKEND] = {"backend", OPTION_CHOICE, NULL, cli_backend_names, 0, 0,
                      "only exercises and variants of this backend"},
    [LIST_SUITE] = {"suite", OPTION_FLAG, NULL, NULL, 0, 0,
                    "print what bench times instead, as JSON: the same on every machine"},
    [LIST_JSON] = CLI_OPTION_JSON,
};

/* The options as conditions. */
static bool shows_exercise(const cli_args *args, const assay_exercise *exercise) {
  const cli_value *level = &args->values[LIST_LEVEL];
  const cli_value *backend = &args->values[LIST_BACKEND];
  if (level->given && strcmp(exercise->level, level->text) != 0) return false;
  return !backend->given || (exercise->backends & (1u << backend->choice)) != 0;
}

static bool shows_variant(const cli_args *args, const assay_variant *variant) {
  const cli_value *backend = &args->values[LIST_BACKEND];
  return !backend->given || (int)variant->backend == backend->choice;
}

/* The learner's first existing file of the exercise. */
static bool find_started(const cli_args *args, const assay_exercise *exercise, char path[ASSAY_PATH_SIZE]) {
  const cli_value *backend = &args->values[LIST_BACKEND];
  for (int i = 0; cli_backend_names[i] != NULL; i++) {
    if (backend->given && i != backend->choice) continue;
    work_file(exercise, (assay_backend)i, path);
    if (assay_file_exists(path)) return true;
  }
  return false;
}

/* Those of a plain run; on the emulator that stops at the small ones. */
static int default_checks(const assay_exercise *exercise) {
  const bool cpu = exercise_first_backend(exercise) == ASSAY_CPU;
  return check_count(exercise->subject, ASSAY_SCOPE_EXERCISE, cpu ? ASSAY_CPU : ASSAY_SIMT,
                     cpu ? ASSAY_TIER_M : ASSAY_TIER_S);
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static void print_exercises(const cli_args *args) {
  progress state;
  progress_read(&state);
  puts("exercises:");
  int shown = 0;
  for (int i = 0; i < assay_exercise_count; i++) {
    const assay_exercise *exercise = &assay_exercises[i];
    if (!shows_exercise(args, exercise)) continue;
    char path[ASSAY_PATH_SIZE];
    const bool started = find_started(args, exercise, path);
    const char *passed = progress_of(&state, exercise).passed;
    printf("  %-4s %-20s %-13s %-26s %3d checks  %s%.10s%s%s%s\n", exercise->alias, exercise->name,
           exercise->level, exercise->title, default_checks(exercise),
           passed[0] != '\0' ? "passed "
           : started         ? "started"
                             : "not started",
           passed, started ? " (" : "", started ? path : "", started ? ")" : "");
    shown++;
  }
  if (shown == 0) puts("  none");
  progress_free(&state);
}

static void print_operators(const cli_args *args) {
  puts("\noperators of the library and their variants, the best first:");
  for (int i = 0; i < assay_operator_count; i++) {
    const assay_operator *op = assay_operators[i];
    printf("  %s: %s\n", op->subject.name, op->subject.summary);
    for (int k = 0; k < op->variant_count; k++) {
      const assay_variant *variant = &op->variants[k];
      if (!shows_variant(args, variant)) continue;
      assay_message why = {""};
      const bool runs = assay_variant_runs_here(variant, &why);
      const bool slow = runs && !assay_variant_is_preferred(variant);
      printf("    %-12s %-5s %s%s%s; %s\n", variant->name, cli_backend_names[variant->backend],
             runs ? "runs here" : "cannot run here: ", runs ? "" : why.text,
             slow ? ", slower than the next" : "", variant->note);
    }
  }
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static json_t *operators_json(const cli_args *args) {
  json_t *list = json_array();
  for (int i = 0; i < assay_operator_count; i++) {
    const assay_operator *op = assay_operators[i];
    json_t *variants = json_array();
    for (int k = 0; k < op->variant_count; k++) {
      const assay_variant *variant = &op->variants[k];
      if (!shows_variant(args, variant)) continue;
      assay_message why = {""};
      const bool runs = assay_variant_runs_here(variant, &why);
      const bool preferred = runs && assay_variant_is_preferred(variant);
      json_array_append_new(variants, json_pack("{s:s, s:s, s:b, s:b, s:s}", "name", variant->name, "backend",
                                                cli_backend_names[variant->backend], "available", runs,
                                                "preferred", preferred, "reason", runs ? "" : why.text));
    }
    json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", op->subject.name, "summary",
                                          op->subject.summary, "variants", variants));
  }
  return list;
}

static json_t *exercises_json(const cli_args *args) {
  json_t *list = json_array();
  progress state;
  progress_read(&state);
  for (int i = 0; i < assay_exercise_count; i++) {
    const assay_exercise *exercise = &assay_exercises[i];
    if (!shows_exercise(args, exercise)) continue;
    char path[ASSAY_PATH_SIZE];
    const bool started = find_started(args, exercise, path);
    const progress_view view = progress_of(&state, exercise);
    json_t *entry =
        json_pack("{s:s, s:s, s:s, s:s, s:i, s:b, s:o}", "name", exercise->name, "alias", exercise->alias,
                  "level", exercise->level, "title", exercise->title, "checks", default_checks(exercise),
                  "started", started, "file", started ? assay_json_text(path) : json_null());
    json_object_set_new(entry, "passed", view.passed[0] != '\0' ? json_string(view.passed) : json_null());
    json_object_set_new(entry, "hints", json_integer(view.hints));
    json_object_set_new(entry, "solution_shown", json_boolean(view.shown[0] != '\0'));
    json_array_append_new(list, entry);
  }
  progress_free(&state);
  return list;
}

/* What a bare call says: how many exercises have passed, the current one, the command that comes next. */
static json_t *place_json(void) {
  progress state;
  progress_read(&state);
  const standing now = where_now(&state);
  char text[256] = "";
  char next[256] = "practice 1";
  if (now.exercise != NULL) {
    where_describe(&now, text);
    where_command(&now, next);
  }
  json_t *place =
      json_pack("{s:i, s:i, s:o, s:o, s:o}", "done", where_done(&state), "of", assay_exercise_count,
                "current", now.exercise != NULL ? json_string(now.exercise->name) : json_null(), "state",
                assay_json_text(text), "next", assay_json_text(next));
  progress_free(&state);
  return place;
}

/* The suites are whole: what else picks from a list does not go with them. */
static int run_suite(const cli_args *args) {
  if (args->values[LIST_LEVEL].given || args->values[LIST_BACKEND].given) {
    output_error("--suite shows all that is timed: leave out --level and --backend");
    return CLI_USAGE;
  }
  list_suite();
  return CLI_OK;
}

static int run_list(const cli_args *args) {
  if (args->values[LIST_SUITE].given) return run_suite(args);
  if (args->values[LIST_JSON].given) {
    json_t *answer = json_pack("{s:o, s:o, s:o}", "operators", operators_json(args), "exercises",
                               exercises_json(args), "progress", place_json());
    assay_json_print(answer, stdout);
    json_decref(answer);
    return CLI_OK;
  }
  print_exercises(args);
  print_operators(args);
  return CLI_OK;
}

static const char *const examples[] = {"list", "list --json", "list --suite", NULL};

const cli_command command_list = {
    .name = "list",
    .summary = "show the exercises, and the library's operators",
    .about =
        "Shows the exercises in the order of the course, what is started, how many checks each has, and "
        "which variants of the library's operators can run on this machine. --suite prints the shapes that "
        "bench times and the files behind each variant, with the words of reports.",
    .examples = examples,
    .options = options,
    .option_count = LIST_OPTIONS,
    .run = run_list,
};
