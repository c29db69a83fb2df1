/* SPDX-License-Identifier: MIT */
/* prove_target.c - building a wrong kernel, or a wrong program, and running the checks on it. */
#include "prove_target.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "process.h"

enum { PROVE_FILTER = 160 };

static const size_t source_limit = (size_t)4 << 20;

assay_backend prove_backend(const char *file, const prove_options *options) {
  const size_t length = strlen(file);
  if (length < 3 || strcmp(file + length - 3, ".cu") != 0) return ASSAY_CPU;
  return options->on_gpu ? ASSAY_CUDA : ASSAY_SIMT;
}

int prove_check_index(const assay_subject *subject, const char *name) {
  for (int i = 0; subject->checks[i].name != NULL && i < PROVE_CHECKS; i++) {
    if (strcmp(subject->checks[i].name, name) == 0) return i;
  }
  return -1;
}

static void trouble(prove_outcome *outcome, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void trouble(prove_outcome *outcome, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  outcome->built = false;
  vsnprintf(outcome->trouble, sizeof outcome->trouble, format, arguments);
  va_end(arguments);
}

/* Keeps the first verdict that is not PASS: a library defect is seen by several variants. */
static void keep(prove_outcome *outcome, const assay_subject *subject, const char *check, verdict value,
                 const char *reason) {
  const int i = prove_check_index(subject, check);
  if (i < 0) {
    if (value != VERDICT_PASS) trouble(outcome, "%s", reason);
    return;
  }
  if (outcome->ran[i] && outcome->verdicts[i] != VERDICT_PASS) return;
  outcome->ran[i] = true;
  outcome->verdicts[i] = value;
  snprintf(outcome->reasons[i], sizeof outcome->reasons[i], "%s", reason);
}

typedef struct collector {
  prove_outcome *outcome;
  const assay_subject *subject;
} collector;

static void collect(void *user, const check_result *result) {
  const collector *self = user;
  keep(self->outcome, self->subject, result->check, result->verdict, result->reason);
}

/* "^name$", or NULL for all checks. */
static const char *only_this(const char *check, char filter[PROVE_FILTER]) {
  if (check == NULL) return NULL;
  snprintf(filter, PROVE_FILTER, "^%s$", check);
  return filter;
}

void prove_run(const check_target *target, const prove_options *options, const char *only,
               prove_outcome *outcome) {
  char filter[PROVE_FILTER];
  const assay_tier most = target->backend == ASSAY_SIMT ? ASSAY_TIER_S : ASSAY_TIER_M;
  const int named = only != NULL ? prove_check_index(target->subject, only) : -1;
  const bool large = named >= 0 && target->subject->checks[named].tier == ASSAY_TIER_L;
  /* The first launch of a kernel compiles it; the operands of a large check take long to get to a GPU. */
  const double seconds = large ? 0 : target->backend == ASSAY_CPU ? 2 : 30;
  const check_options checks = {.seed = options->seed,
                                .tier = large ? ASSAY_TIER_L : most,
                                .filter = only_this(only, filter),
                                .stop_early = options->one_stage,
                                .seconds = options->seconds > 0 ? options->seconds : seconds};
  collector self = {outcome, target->subject};
  check_totals totals = {0};
  assay_message why = {""};
  *outcome = (prove_outcome){.built = true};
  if (!check_run(target, &checks, collect, &self, &totals, &why)) trouble(outcome, "%s", why.text);
}

/* The text of `path` with the defect in it; NULL with the trouble noted. */
static char *broken_source(const broken_defect *defect, const char *path, prove_outcome *outcome) {
  assay_message why = {""};
  size_t size = 0;
  char *source = assay_read_file(path, source_limit, &size);
  if (source == NULL) {
    trouble(outcome, "%s cannot be read", path);
    return NULL;
  }
  char *changed = broken_apply(defect, source, &why);
  free(source);
  if (changed == NULL) trouble(outcome, "%s", why.text);
  return changed;
}

void prove_exercise_file(const assay_exercise *exercise, const broken_defect *defect,
                         const prove_options *options, prove_outcome *outcome) {
  char path[ASSAY_PATH_SIZE];
  char folder[ASSAY_PATH_SIZE];
  *outcome = (prove_outcome){.built = false};
  if (!assay_path_format(path, "%s/workshops/%s/%s", assay_source_folder(), exercise->folder, defect->file)) {
    trouble(outcome, "%s: the path is too long", defect->file);
    return;
  }
  char *changed = broken_source(defect, path, outcome);
  if (changed == NULL) return;
  if (assay_make_temp_folder(folder)) {
    if (assay_path_format(path, "%s/%s", folder, defect->file) &&
        assay_write_file(path, changed, strlen(changed), 0600)) {
      const check_target target = {.kind = TARGET_OBJECT,
                                   .subject = exercise->subject,
                                   .op = exercise->op,
                                   .source = path,
                                   .label = defect->name,
                                   .repeat_command = "./assay prove",
                                   .backend = prove_backend(defect->file, options)};
      prove_run(&target, options, options->named_only ? defect->caught_by : NULL, outcome);
    } else {
      trouble(outcome, "%s cannot be written", path);
    }
    assay_remove_tree(folder);
  } else {
    trouble(outcome, "no temporary folder could be made");
  }
  free(changed);
}

/* ---- defects of the program itself --------------------------------------------------------------------- */

/* Runs a command to its end; true when it exited with `expected` or less than 4 for a check. */
static bool run_command(const char *const *argv, const char *folder, int highest, char **output) {
  assay_process_result result;
  assay_process_run(argv, folder, 300, &result);
  const bool good =
      result.started && !result.timed_out && result.exit_code >= 0 && result.exit_code <= highest;
  if (output != NULL) {
    *output = result.output;
  } else {
    free(result.output);
  }
  return good;
}

bool prove_tree_exists(void) {
  char path[ASSAY_PATH_SIZE];
  const char *folder = assay_source_folder();
  return folder != NULL && assay_path_format(path, "%s/Makefile", folder) && assay_file_exists(path);
}

static bool open_tree(prove_tree *tree) {
  if (tree->folder[0] != '\0') return true;
  if (!assay_make_temp_folder(tree->folder)) return false;
  /* Objects come along, so that a defect costs one compilation and one link; what else lies in a build folder
   * (test programs, packages) would only take time. The lists of dependencies name the objects where they
   * were built: they get the copy's names, so that a changed header rebuilds what includes it. */
  const char *const copy[] = {
      "sh",
      "-c",
      "cp -a Makefile assay include core device ops workshops check bench evidence cli scripts \"$1\" && "
      "mkdir -p \"$1/build\" && "
      "(cd \"$2\" && cp -a $(ls -d core device ops workshops check bench evidence cli assay embedded.* flags "
      "objects requirements revision 2>/dev/null) \"$1/build\") && "
      "find \"$1/build\" -name '*.d' -exec sed -i "
      "'s#^[^ :]*/\\(core\\|device\\|ops\\|workshops\\|check\\|bench\\|evidence\\|cli\\)/\\([^ "
      ":]*[.]o:\\)#build/\\1/\\2#' {} +",
      "sh",
      tree->folder,
      NULL,
      NULL};
  const char *build = getenv("ASSAY_BUILD_DIR");
  const char *command[7];
  memcpy(command, copy, sizeof command);
  command[5] = build != NULL ? build : "build";
  return run_command(command, assay_source_folder(), 0, NULL);
}

void prove_tree_close(prove_tree *tree) {
  if (tree->folder[0] != '\0') assay_remove_tree(tree->folder);
  tree->folder[0] = '\0';
}

/* Reads the results out of what `check --json` printed. */
static void read_results(const assay_subject *subject, const char *text, prove_outcome *outcome) {
  json_error_t error;
  json_t *root = json_loads(text, 0, &error);
  const json_t *checks = json_object_get(root, "checks");
  size_t i = 0;
  const json_t *entry = NULL;
  if (!json_is_array(checks)) trouble(outcome, "the changed program printed no results: %.200s", text);
  json_array_foreach(checks, i, entry) {
    const char *name = json_string_value(json_object_get(entry, "check"));
    const char *word = json_string_value(json_object_get(entry, "verdict"));
    const char *reason = json_string_value(json_object_get(entry, "reason"));
    if (name == NULL || word == NULL) continue;
    verdict value = VERDICT_FAIL;
    for (int v = 0; v < VERDICT_COUNT; v++) {
      if (strcmp(word, verdict_name((verdict)v)) == 0) value = (verdict)v;
    }
    keep(outcome, subject, name, value, reason != NULL ? reason : "");
  }
  json_decref(root);
}

/* `file`: what was changed; kernels for a GPU are judged on the emulator. */
static void check_tree(const assay_exercise *exercise, const char *file, const prove_tree *tree,
                       const prove_options *options, const char *only, prove_outcome *outcome) {
  char filter[PROVE_FILTER];
  char program[ASSAY_PATH_SIZE];
  char seed[32];
  char *output = NULL;
  const char *const make[] = {"make", "-s", "BUILD=build", "build/assay", NULL};
  if (!run_command(make, tree->folder, 0, &output)) {
    trouble(outcome, "the changed program does not build: %.300s", output != NULL ? output : "");
    free(output);
    return;
  }
  free(output);
  output = NULL;
  snprintf(seed, sizeof seed, "%llu", (unsigned long long)options->seed);
  if (!assay_path_format(program, "%s/build/assay", tree->folder)) return;
  const bool cuda = prove_backend(file, options) != ASSAY_CPU;
  /* Kernels print to stderr, and assertions do: only stdout is the answer. */
  const char *const check[] = {"sh",
                               "-c",
                               "exec \"$0\" \"$@\" 2>/dev/null",
                               program,
                               "check",
                               exercise->name,
                               "--library",
                               "--backend",
                               cuda ? "simt" : "cpu",
                               "--json",
                               "--seed",
                               seed,
                               "--timeout",
                               "5",
                               "--filter",
                               only != NULL ? only_this(only, filter) : ".",
                               NULL};
  outcome->built = true;
  if (run_command(check, tree->folder, 3, &output)) {
    read_results(exercise->subject, output, outcome);
  } else {
    trouble(outcome, "the changed program did not run: %.300s", output != NULL ? output : "");
  }
  free(output);
}

void prove_tree_file(const assay_exercise *exercise, const broken_defect *defect, prove_tree *tree,
                     const prove_options *options, prove_outcome *outcome) {
  char path[ASSAY_PATH_SIZE];
  *outcome = (prove_outcome){.built = false};
  if (!open_tree(tree) || !assay_path_format(path, "%s/%s", tree->folder, defect->file)) {
    trouble(outcome, "the source folder cannot be copied");
    return;
  }
  size_t size = 0;
  char *original = assay_read_file(path, source_limit, &size);
  char *changed = original != NULL ? broken_source(defect, path, outcome) : NULL;
  if (original == NULL) trouble(outcome, "%s cannot be read", defect->file);
  if (changed != NULL && assay_write_file(path, changed, strlen(changed), 0644)) {
    check_tree(exercise, defect->file, tree, options, options->named_only ? defect->caught_by : NULL,
               outcome);
    if (!assay_write_file(path, original, size, 0644))
      trouble(outcome, "%s cannot be restored", defect->file);
  }
  free(changed);
  free(original);
}
