/* SPDX-License-Identifier: MIT */
/* engine.c - walks a subject's table of checks for one target and reports each. */
#include "engine.h"

#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "clock.h"
#include "file.h"
#include "judge.h"

static volatile sig_atomic_t interrupted;

void check_interrupt(void) {
  interrupted = 1;
}

bool check_interrupted(void) {
  return interrupted != 0;
}

static bool in_scope(const assay_check *check, assay_scope scope, assay_tier tier) {
  return check->tier <= tier && (check->scope == ASSAY_SCOPE_BOTH || check->scope == scope);
}

int check_count(const assay_subject *subject, assay_scope scope, assay_backend backend, assay_tier tier) {
  int count = 0;
  for (const assay_check *check = subject->checks; check->name != NULL; check++) {
    if (in_scope(check, scope, tier) && (check->backends >> backend & 1u) != 0) count++;
  }
  return count;
}

/* Everything that stays the same from check to check. */
typedef struct run {
  const check_target *target;
  const check_options *options;
  check_sink *sink;
  void *user;
  check_totals *totals;
  regex_t filter;
  bool filtered;
} run;

static bool selected(const run *self, const assay_check *check) {
  /* A must-fail kernel stands for a learner's: it is loaded and limited like one. */
  const assay_scope scope = self->target->kind == TARGET_LIBRARY ? ASSAY_SCOPE_LIBRARY : ASSAY_SCOPE_EXERCISE;
  if (!in_scope(check, scope, self->options->tier)) return false;
  if ((check->backends >> self->target->backend & 1u) == 0) return false;
  return !self->filtered || regexec(&self->filter, check->name, 0, NULL, 0) == 0;
}

static int count_selected(const run *self) {
  int count = 0;
  for (const assay_check *check = self->target->subject->checks; check->name != NULL; check++) {
    if (selected(self, check)) count++;
  }
  return count;
}

static const char *backend_name(assay_backend backend) {
  static const char *const names[ASSAY_BACKEND_COUNT] = {"cpu", "cuda", "simt"};
  return names[backend];
}

static void deliver(const run *self, check_result *result) {
  result->workshop = self->target->subject->name;
  result->backend = backend_name(self->target->backend);
  result->variant = self->target->label;
  check_totals_add(self->totals, result->verdict);
  self->sink(self->user, result);
}

static void deliver_build(const run *self, verdict value, const char *reason, const char *detail) {
  check_result result = {.check = "build",
                         .stage = "build",
                         .catches = "source that cannot be judged",
                         .verdict = value,
                         .reason = reason,
                         .detail = detail,
                         .repeat = self->target->repeat_command};
  deliver(self, &result);
}

static void deliver_check(const run *self, const judge *judged, const assay_check *check, double seconds) {
  char repeat[1024] = "";
  if (judged->verdict != VERDICT_PASS) {
    const char *tier = check->tier == ASSAY_TIER_L ? " --tier L" : "";
    snprintf(repeat, sizeof repeat, "%s%s --filter '^%s$' --seed %llu", self->target->repeat_command, tier,
             check->name, (unsigned long long)self->options->seed);
  }
  check_result result = {.check = check->name,
                         .stage = check->stage,
                         .catches = check->catches,
                         .verdict = judged->verdict,
                         .reason = judged->reason,
                         .detail = judged->detail,
                         .repeat = repeat,
                         .cases = judged->cases_run,
                         .seconds = seconds};
  deliver(self, &result);
}

static void run_checks(const run *self, judge *judged) {
  const char *failed_stage = NULL;
  for (const assay_check *check = self->target->subject->checks; check->name != NULL; check++) {
    if (!selected(self, check)) continue;
    const bool behind = failed_stage != NULL && strcmp(failed_stage, check->stage) != 0;
    const bool unwritten = failed_stage != NULL && judged->verdict == VERDICT_TODO;
    if (check_interrupted() || (self->options->stop_early && (behind || unwritten))) {
      self->totals->not_run++;
      continue;
    }
    const int64_t start = assay_now_ns();
    judge_check(judged, check);
    if (check_interrupted()) {
      self->totals->not_run++;
      continue;
    }
    const bool unavailable = judged->verdict == VERDICT_UNAVAILABLE;
    if (judged->verdict != VERDICT_PASS && !unavailable && failed_stage == NULL) failed_stage = check->stage;
    deliver_check(self, judged, check, (double)(assay_now_ns() - start) * 1e-9);
  }
}

/* Builds what has to be built, starts the first worker, runs. */
static void run_target(const run *self) {
  char folder[ASSAY_PATH_SIZE] = "";
  char object[ASSAY_PATH_SIZE] = "";
  assay_message reason = {""};
  char *log = NULL;
  verdict built = VERDICT_PASS;
  if (self->target->kind == TARGET_OBJECT) {
    built = build_in_folder(self->target->source, self->target->backend != ASSAY_CPU, folder, object, &reason,
                            &log);
  }
  if (built == VERDICT_PASS) {
    judge judged;
    judge_init(&judged, self->target, self->options,
               self->target->object != NULL ? self->target->object : object);
    if (judge_ensure_worker(&judged)) {
      run_checks(self, &judged);
    } else {
      deliver_build(self, judged.verdict, judged.reason, "");
      self->totals->not_run += count_selected(self);
    }
    judge_close(&judged);
  } else {
    deliver_build(self, built, reason.text, log != NULL ? log : "");
    self->totals->not_run += count_selected(self);
  }
  free(log);
  if (folder[0] != '\0') assay_remove_tree(folder);
}

bool check_run(const check_target *target, const check_options *options, check_sink *sink, void *user,
               check_totals *totals, assay_message *why) {
  run self = {.target = target, .options = options, .sink = sink, .user = user, .totals = totals};
  if (options->filter != NULL) {
    const int error = regcomp(&self.filter, options->filter, REG_EXTENDED | REG_NOSUB);
    if (error != 0) {
      char text[128];
      regerror(error, &self.filter, text, sizeof text);
      (void)assay_explain(why, ASSAY_OK, "--filter \"%s\" is no regular expression: %s", options->filter,
                          text);
      return false;
    }
    self.filtered = true;
  }
  const bool any = count_selected(&self) > 0;
  if (any) {
    run_target(&self);
  } else {
    (void)assay_explain(why, ASSAY_OK, "--filter \"%s\" matches no check of %s (tier %c and below)",
                        options->filter != NULL ? options->filter : "", target->subject->name,
                        "SML"[options->tier]);
  }
  if (self.filtered) regfree(&self.filter);
  return any;
}
