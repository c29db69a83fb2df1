/* SPDX-License-Identifier: MIT */
/*
 * prove.c - every defect against the check that must catch it, and every check against all defects.
 *
 * The matrix has a row a defect or built-in kernel and, in it, the checks that did not pass.
 */
#include "prove.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "clock.h"
#include "json.h"
#include "mustfail.h"
#include "prove_target.h"

typedef struct proof {
  const assay_exercise *exercise;
  const prove_options *options;
  prove_sink *sink;
  void *user;
  json_t *matrix; /* of the whole report */
  bool failed_by_something[PROVE_CHECKS];
  int defects;
  int caught;
  int unavailable; /* defects of the program where its source tree is not */
  bool complete;   /* false when anything was not as it must be */
} proof;

/* Adds the row to the matrix, counts, tells the sink. `named` is the check that must not pass, -1 for any. */
static void decide(proof *self, const char *defect, const char *file, const char *caught_by, int named,
                   const prove_outcome *outcome, int64_t start) {
  const assay_check *checks = self->exercise->subject->checks;
  json_t *killers = json_array();
  int count = 0;
  int first = -1;
  for (int i = 0; checks[i].name != NULL && i < PROVE_CHECKS; i++) {
    if (!outcome->built || !outcome->ran[i]) continue;
    if (outcome->verdicts[i] == VERDICT_PASS || outcome->verdicts[i] == VERDICT_UNAVAILABLE) continue;
    self->failed_by_something[i] = true;
    json_array_append_new(killers, json_string(checks[i].name));
    if (first < 0) first = i;
    count++;
  }
  const int judged = named >= 0 ? named : first;
  const bool caught = outcome->built && judged >= 0 && outcome->ran[judged] &&
                      outcome->verdicts[judged] != VERDICT_PASS &&
                      outcome->verdicts[judged] != VERDICT_UNAVAILABLE;
  char reason[PROVE_REASON + 64];
  if (!outcome->built) {
    snprintf(reason, sizeof reason, "not judged: %s", outcome->trouble);
  } else if (caught) {
    snprintf(reason, sizeof reason, "%s: %s", verdict_name(outcome->verdicts[judged]),
             outcome->reasons[judged]);
  } else {
    snprintf(reason, sizeof reason, "%s passed", caught_by);
  }
  self->defects++;
  if (caught) self->caught++;
  json_array_append_new(self->matrix,
                        json_pack("{s:s, s:s, s:s, s:s, s:b, s:o, s:o}", "exercise", self->exercise->name,
                                  "defect", defect, "file", file, "caught_by", caught_by, "caught", caught,
                                  "failed_by", killers, "reason", assay_json_text(reason)));
  const prove_step step = {.exercise = self->exercise->name,
                           .defect = defect,
                           .file = file,
                           .caught_by = caught_by,
                           .caught = caught,
                           .reason = reason,
                           .killers = count,
                           .seconds = (double)(assay_now_ns() - start) * 1e-9};
  self->sink(self->user, &step);
}

/* Builds the defect and runs the checks on it. A race shows when it likes: a check that passed is asked
 * again, with other seeds, before the defect counts as a survivor. */
static void try_defect(const proof *self, const broken_defect *defect, int named, prove_tree *tree,
                       prove_outcome *outcome) {
  enum { ATTEMPTS = 5 };
  prove_options options = *self->options;
  /* Of the large checks only the one that is named: all of them would take minutes. */
  if (self->exercise->subject->checks[named].tier == ASSAY_TIER_L) options.named_only = true;
  *outcome = (prove_outcome){.built = false};
  for (int attempt = 0; attempt < ATTEMPTS && !check_interrupted(); attempt++) {
    if (strchr(defect->file, '/') == NULL) {
      prove_exercise_file(self->exercise, defect, &options, outcome);
    } else {
      prove_tree_file(self->exercise, defect, tree, &options, outcome);
    }
    if (!outcome->built || !outcome->ran[named] || outcome->verdicts[named] != VERDICT_PASS) return;
    options.seed++;
  }
}

static bool is_judged_here(const broken_defect *defect, const prove_options *options) {
  const char *place = defect->seen_on;
  if (!options->on_gpu) return place == NULL || strcmp(place, "cuda") != 0;
  return prove_backend(defect->file, options) == ASSAY_CUDA && (place == NULL || strcmp(place, "cuda") == 0);
}

static void prove_defects(proof *self, const broken_list *list, const regex_t *filter) {
  prove_tree tree = {""};
  const bool can_build = prove_tree_exists();
  prove_outcome *outcome = malloc(sizeof *outcome);
  for (int i = 0; outcome != NULL && i < list->count && !check_interrupted(); i++) {
    const broken_defect *defect = &list->defects[i];
    if (filter != NULL && regexec(filter, defect->name, 0, NULL, 0) != 0) continue;
    if (!is_judged_here(defect, self->options)) continue;
    if (!can_build && strchr(defect->file, '/') != NULL) {
      self->unavailable++;
      continue;
    }
    const int64_t start = assay_now_ns();
    const int named = prove_check_index(self->exercise->subject, defect->caught_by);
    if (named < 0) {
      *outcome = (prove_outcome){.built = false};
      snprintf(outcome->trouble, sizeof outcome->trouble, "there is no check named %s", defect->caught_by);
    } else {
      try_defect(self, defect, named, &tree, outcome);
    }
    decide(self, defect->name, defect->file, defect->caught_by, named, outcome, start);
  }
  free(outcome);
  prove_tree_close(&tree);
}

/* The built-in kernels, with the object of a right kernel behind them where the exercise is no operator. */
static void prove_must_fail_with(proof *self, const regex_t *filter, const char *object) {
  prove_outcome *outcome = malloc(sizeof *outcome);
  for (int i = 0; outcome != NULL && i < must_fail_count && !check_interrupted(); i++) {
    const must_fail_kernel *kernel = &must_fail_kernels[i];
    if (filter != NULL && regexec(filter, kernel->name, 0, NULL, 0) != 0) continue;
    const int64_t start = assay_now_ns();
    const check_target target = {.kind = TARGET_MUST_FAIL,
                                 .subject = self->exercise->subject,
                                 .op = self->exercise->op,
                                 .object = object,
                                 .index = i,
                                 .label = kernel->name,
                                 .repeat_command = "./assay prove"};
    prove_options options = *self->options;
    options.one_stage = kernel->slow && options.named_only;
    prove_run(&target, &options, NULL, outcome);
    decide(self, kernel->name, "(built in)", "any", -1, outcome, start);
  }
  free(outcome);
}

/* They are C: an exercise in CUDA C alone has no right kernel for them. */
static void prove_must_fail(proof *self, const regex_t *filter) {
  char path[ASSAY_PATH_SIZE];
  char folder[ASSAY_PATH_SIZE] = "";
  char object[ASSAY_PATH_SIZE] = "";
  assay_message why = {""};
  char *log = NULL;
  if ((self->exercise->backends & ASSAY_ON_CPU) == 0) return;
  if (self->exercise->op != NULL) {
    prove_must_fail_with(self, filter, NULL);
    return;
  }
  const bool built = assay_path_format(path, "%s/workshops/%s/%s_solution.c", assay_source_folder(),
                                       self->exercise->folder, self->exercise->alias) &&
                     build_in_folder(path, false, folder, object, &why, &log) == VERDICT_PASS;
  /* A solution that does not build has been reported already. */
  if (built) prove_must_fail_with(self, filter, object);
  if (!built) self->complete = false;
  if (folder[0] != '\0') assay_remove_tree(folder);
  free(log);
}

/* The starter has to say TODO everywhere, the solution to pass everywhere. */
static void prove_file(proof *self, const char *suffix, const char *extension, verdict wanted) {
  char path[ASSAY_PATH_SIZE];
  prove_outcome *outcome = malloc(sizeof *outcome);
  const int64_t start = assay_now_ns();
  if (outcome == NULL ||
      !assay_path_format(path, "%s/workshops/%s/%s_%s%s", assay_source_folder(), self->exercise->folder,
                         self->exercise->alias, suffix, extension)) {
    self->complete = false;
    free(outcome);
    return;
  }
  const check_target target = {.kind = TARGET_OBJECT,
                               .subject = self->exercise->subject,
                               .op = self->exercise->op,
                               .source = path,
                               .label = suffix,
                               .repeat_command = "./assay prove",
                               .backend = prove_backend(extension, self->options)};
  /* An honest kernel gets the honest limit. */
  const prove_options patient = {.seed = self->options->seed, .seconds = 60};
  prove_run(&target, &patient, NULL, outcome);
  char reason[PROVE_REASON + 64] = "";
  bool good = outcome->built;
  if (!good) snprintf(reason, sizeof reason, "%s", outcome->trouble);
  for (int i = 0; good && self->exercise->subject->checks[i].name != NULL && i < PROVE_CHECKS; i++) {
    if (!outcome->ran[i] || outcome->verdicts[i] == wanted) continue;
    good = false;
    snprintf(reason, sizeof reason, "%s is %s: %s", self->exercise->subject->checks[i].name,
             verdict_name(outcome->verdicts[i]), outcome->reasons[i]);
  }
  if (!good) self->complete = false;
  const prove_step step = {.exercise = self->exercise->name,
                           .honest = true,
                           .defect = suffix,
                           .file = strrchr(path, '/') + 1,
                           .caught_by = wanted == VERDICT_TODO ? "says TODO" : "passes",
                           .caught = good,
                           .reason = good ? "as it must be" : reason,
                           .seconds = (double)(assay_now_ns() - start) * 1e-9};
  self->sink(self->user, &step);
  free(outcome);
}

static void prove_honest(proof *self, bool wanted) {
  const char *const extensions[] = {".c", ".cu"};
  const uint32_t backends[] = {ASSAY_ON_CPU, ASSAY_ON_CUDA};
  for (int i = self->options->on_gpu ? 1 : 0; wanted && i < 2; i++) {
    if ((self->exercise->backends & backends[i]) == 0) continue;
    prove_file(self, "starter", extensions[i], VERDICT_TODO);
    prove_file(self, "solution", extensions[i], VERDICT_PASS);
  }
}

static bool load_defects(const assay_exercise *exercise, broken_list *list, assay_message *why) {
  char path[ASSAY_PATH_SIZE];
  size_t size = 0;
  if (assay_source_folder() == NULL ||
      !assay_path_format(path, "%s/workshops/%s/broken.txt", assay_source_folder(), exercise->folder)) {
    (void)assay_explain(why, ASSAY_OK,
                        "Assay's own files were not found; set ASSAY_SOURCE_DIR to their folder");
    return false;
  }
  char *text = assay_read_file(path, (size_t)1 << 20, &size);
  if (text == NULL) {
    (void)assay_explain(why, ASSAY_OK, "%s cannot be read", path);
    return false;
  }
  assay_message problem = {""};
  const bool parsed = broken_parse(text, list, &problem);
  free(text);
  if (!parsed) (void)assay_explain(why, ASSAY_OK, "%s: %s", path, problem.text);
  return parsed;
}

static void add_number(json_t *report, const char *key, int more) {
  const json_int_t before = json_integer_value(json_object_get(report, key));
  json_object_set_new(report, key, json_integer(before + more));
}

/* Checks that nothing has failed: with a filter that says nothing, so only a whole run lists them. */
static void list_unproved(proof *self, json_t *unproved) {
  const assay_check *checks = self->exercise->subject->checks;
  for (int i = 0; checks[i].name != NULL && i < PROVE_CHECKS; i++) {
    const bool on_cpu = (checks[i].backends & ASSAY_ON_CPU) != 0 && checks[i].tier <= ASSAY_TIER_M;
    const bool on_simt = (checks[i].backends & ASSAY_ON_SIMT) != 0 && checks[i].tier == ASSAY_TIER_S &&
                         (self->exercise->backends & ASSAY_ON_CUDA) != 0;
    if (!(on_cpu || on_simt) || self->failed_by_something[i]) continue;
    json_array_append_new(unproved,
                          json_pack("{s:s, s:s}", "exercise", self->exercise->name, "check", checks[i].name));
    self->complete = false;
  }
}

bool prove_exercise(const assay_exercise *exercise, const prove_options *options, prove_sink *sink,
                    void *user, json_t *report, assay_message *why) {
  broken_list list;
  regex_t filter;
  if (options->filter != NULL && regcomp(&filter, options->filter, REG_EXTENDED | REG_NOSUB) != 0) {
    (void)assay_explain(why, ASSAY_OK, "--filter \"%s\" is no regular expression", options->filter);
    return false;
  }
  const regex_t *only = options->filter != NULL ? &filter : NULL;
  const char *const arrays[] = {"unproved", "matrix"};
  for (size_t i = 0; i < 2; i++) {
    if (json_object_get(report, arrays[i]) == NULL) json_object_set_new(report, arrays[i], json_array());
  }
  bool proved = false;
  if (load_defects(exercise, &list, why)) {
    proof self = {.exercise = exercise,
                  .options = options,
                  .sink = sink,
                  .user = user,
                  .matrix = json_object_get(report, "matrix"),
                  .complete = true};
    prove_honest(&self, only == NULL);
    prove_defects(&self, &list, only);
    if (!options->on_gpu) prove_must_fail(&self, only);
    if (only == NULL && !options->on_gpu && self.unavailable == 0 && !check_interrupted())
      list_unproved(&self, json_object_get(report, "unproved"));
    add_number(report, "defects", self.defects);
    add_number(report, "caught", self.caught);
    add_number(report, "survived", self.defects - self.caught);
    add_number(report, "unavailable", self.unavailable);
    if (self.defects + self.unavailable == 0)
      (void)assay_explain(why, ASSAY_OK, "no defect of %s matches", exercise->name);
    proved = self.complete && self.defects + self.unavailable > 0 && self.caught == self.defects &&
             !check_interrupted();
    broken_free(&list);
  }
  if (only != NULL) regfree(&filter);
  return proved;
}
