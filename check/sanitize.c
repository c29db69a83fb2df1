/* SPDX-License-Identifier: MIT */
/* sanitize.c - builds what is judged, calls it once a case with the tools on, and adds up what they saw. */
#include "sanitize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "fill.h"
#include "judge.h"
#include "judge_request.h"
#include "sanitize_speed.h"
#include "tensor.h"

/* A kernel that takes its process down, or never returns, in so many cases will do it in the others too. */
enum { LOST_MOST = 3 };

typedef struct sanitizing {
  judge judged;
  const sanitize_job *job;
  sanitize_result *result;
  sanitize_progress *progress;
  void *user;
  int all, done, lost;
  sanitize_case largest; /* of what is measured */
  int64_t largest_count;
} sanitizing;

/* ---- adding up ----------------------------------------------------------------------------------------- */

static void add_finding(sanitize_result *result, const assay_finding *found, const char *where) {
  for (int i = 0; i < result->finding_count; i++) {
    sanitize_finding *known = &result->findings[i];
    int32_t one = 1;
    const int64_t before = known->found.times;
    (void)watch_add_finding(&known->found, &one, 1, found);
    if (known->found.times == before) continue;
    known->cases++;
    return;
  }
  if (result->finding_count == SANITIZE_FINDINGS) return;
  sanitize_finding *fresh = &result->findings[result->finding_count++];
  fresh->found = *found;
  fresh->cases = 1;
  snprintf(fresh->where, sizeof fresh->where, "%s", where);
}

/* Up to where a sentence names the block and thread, which differ from case to case. */
static size_t common_length(const char *reason) {
  const char *end = strstr(reason, " (kernel ");
  if (end == NULL) end = strstr(reason, "; kernel ");
  return end != NULL ? (size_t)(end - reason) : strlen(reason);
}

static void add_failure(sanitize_result *result, verdict value, const char *reason, const char *where) {
  const size_t length = common_length(reason);
  for (int i = 0; i < result->failure_count; i++) {
    sanitize_failure *known = &result->failures[i];
    if (known->verdict != value || common_length(known->reason) != length ||
        strncmp(known->reason, reason, length) != 0)
      continue;
    known->cases++;
    return;
  }
  if (result->failure_count == SANITIZE_FAILURES) return;
  sanitize_failure *fresh = &result->failures[result->failure_count++];
  *fresh = (sanitize_failure){.verdict = value, .cases = 1};
  snprintf(fresh->reason, sizeof fresh->reason, "%s", reason);
  snprintf(fresh->where, sizeof fresh->where, "%s", where);
}

static int64_t bytes_of(const case_operand *operand) {
  if (operand->slot < 0) return 0;
  return assay_tensor_distinct(&operand->tensor) * (int64_t)assay_dtype_size(operand->tensor.dtype);
}

static void add_counts(sanitize_result *result, const watch_page *page, const assay_case *operands) {
  watch_add_counts(&result->all, &page->all);
  for (int i = 0; i < operands->function->in_count; i++) {
    watch_add_counts(&result->in[i], &page->in[i]);
    result->in_bytes[i] += bytes_of(&operands->in[i]);
  }
  for (int i = 0; i < operands->function->out_count; i++) {
    watch_add_counts(&result->out[i], &page->out[i]);
    if (i == 0) result->out_bytes[i] += bytes_of(&operands->out[i]);
  }
}

/* ---- one case ------------------------------------------------------------------------------------------ */

static void describe(const sanitizing *self, const assay_case *operands, char *text, size_t size) {
  char shape[512];
  case_describe(operands, shape, sizeof shape);
  snprintf(text, size, "%.150s (%.40s)", shape,
           self->job->target->subject->layout_names[self->judged.probe.layout]);
}

/* What the workshop's limits refuse is left out of a learner's run; of the one case that is asked for, the
 * reason is kept. */
static assay_case *make_operands(sanitizing *self) {
  judge *judged = &self->judged;
  assay_case *operands = assay_probe_make_row(&judged->probe);
  if (operands == NULL) {
    self->result->refused = judged->verdict == VERDICT_FAIL;
    return NULL;
  }
  assay_tensor in[ASSAY_MAX_OPERANDS];
  assay_tensor out[ASSAY_MAX_OPERANDS];
  assay_message why = {""};
  for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) {
    in[i] = operands->in[i].tensor;
    out[i] = operands->out[i].tensor;
  }
  if (judged->probe.subject->validate(operands->entry, in, out, operands->opt, judged->probe.limits, &why) ==
      ASSAY_OK)
    return operands;
  self->result->refused = true;
  (void)judge_end(judged, VERDICT_FAIL, "validation refuses these operands: %s", why.text);
  return NULL;
}

static void note_largest(sanitizing *self, const assay_case *operands) {
  int64_t count = 0;
  if (!assay_tensor_count(&operands->in[0].tensor, &count) || count <= self->largest_count) return;
  self->largest_count = count;
  self->largest = (sanitize_case){
      .row = *self->judged.probe.row, .dtype = self->judged.probe.dtype, .layout = self->judged.probe.layout};
}

/* False when nothing more can be learnt from further cases. */
static bool note_end(sanitizing *self, const char *where) {
  judge *judged = &self->judged;
  sanitize_result *result = self->result;
  const bool found = judged->watched.finding_count > 0;
  if (check_interrupted()) return false;
  if (judged->verdict == VERDICT_TODO || judged->verdict == VERDICT_UNAVAILABLE) {
    result->verdict = judged->verdict;
    snprintf(result->reason, sizeof result->reason, "%s", judged->reason);
    return false;
  }
  if (judged->verdict != VERDICT_PASS && !found) add_failure(result, judged->verdict, judged->reason, where);
  if (judged->verdict == VERDICT_CRASH || judged->verdict == VERDICT_TIMEOUT) self->lost++;
  return self->lost < LOST_MOST;
}

/* The probe stands at a case's beginning. False as above. */
static bool run_one(sanitizing *self) {
  judge *judged = &self->judged;
  char where[200] = "";
  judged->verdict = VERDICT_PASS;
  judged->reason[0] = judged->detail[0] = '\0';
  judged->watched = (watch_page){.finding_count = 0};
  judged->probe.watch = self->job->tools | ASSAY_WATCH_COUNTS;
  assay_case *operands = make_operands(self);
  if (operands == NULL && self->result->refused && self->job->row == NULL) {
    self->result->refused = false;
    judge_release(&judged->probe);
    return true;
  }
  if (operands != NULL) {
    describe(self, operands, where, sizeof where);
    self->result->cases++;
    (void)assay_probe_run_one(&judged->probe, operands);
    for (int i = 0; i < judged->watched.finding_count; i++)
      add_finding(self->result, &judged->watched.findings[i], where);
    add_counts(self->result, &judged->watched, operands);
    note_largest(self, operands);
  }
  const bool more = note_end(self, where);
  judge_release(&judged->probe);
  return more;
}

/* ---- all cases ----------------------------------------------------------------------------------------- */

static bool applies(const sanitizing *self, const assay_check *check) {
  const assay_scope scope =
      self->job->target->kind == TARGET_LIBRARY ? ASSAY_SCOPE_LIBRARY : ASSAY_SCOPE_EXERCISE;
  return check->tier == ASSAY_TIER_S && (check->backends >> ASSAY_SIMT & 1u) != 0 &&
         (check->scope == ASSAY_SCOPE_BOTH || check->scope == scope);
}

/* The cases of a row; only counted when `run` is false. False when the walk shall end. */
static bool walk_row(sanitizing *self, const assay_check *check, int index, bool run) {
  const assay_row *row = &check->rows[index];
  assay_row filled = *row; /* some checks fill the operands of their rows themselves */
  if (filled.fill == NULL) {
    filled.fill = assay_fill_normal;
    filled.b = 1;
  }
  for (int dtype = 0; dtype < ASSAY_DTYPE_COUNT; dtype++) {
    for (int layout = 0; layout < self->job->target->subject->layout_count; layout++) {
      if ((row->dtypes >> dtype & 1u) == 0 || (row->layouts >> layout & 1u) == 0) continue;
      if (!run) {
        self->all++;
        continue;
      }
      if (check_interrupted()) return false;
      self->progress(self->user, self->done++, self->all);
      judge_begin_case(&self->judged, check, index, dtype, layout);
      self->judged.probe.row = &filled;
      if (!run_one(self)) return false;
    }
  }
  return true;
}

static void walk(sanitizing *self, bool run) {
  for (const assay_check *check = self->job->target->subject->checks; check->name != NULL; check++) {
    for (int row = 0; row < check->row_count; row++) {
      if (applies(self, check) && !walk_row(self, check, row, run)) return;
    }
  }
}

/* The case that was asked for, as if a check had it. */
static void run_asked(sanitizing *self) {
  const assay_check check = {.name = "sanitize", .rows = self->job->row, .row_count = 1};
  self->all = 1;
  self->progress(self->user, self->done++, self->all);
  judge_begin_case(&self->judged, &check, 0, (int)self->job->dtype, self->job->layout);
  self->judged.probe.schedule = 0; /* the order that `trace` shows */
  (void)run_one(self);
}

static void run_object(sanitizing *self, const char *object) {
  const sanitize_job *job = self->job;
  sanitize_result *result = self->result;
  const check_options options = {.seed = job->seed, .seconds = job->seconds};
  judge *judged = &self->judged;
  judge_init(judged, job->target, &options, object);
  if (!judge_ensure_worker(judged)) {
    result->verdict = judged->verdict;
    snprintf(result->reason, sizeof result->reason, "%s", judged->reason);
  } else if (job->row != NULL) {
    run_asked(self);
    if (result->refused) snprintf(result->reason, sizeof result->reason, "%s", judged->reason);
  } else {
    walk(self, false);
    walk(self, true);
    result->not_run = self->all - self->done;
  }
  const bool good = result->verdict == VERDICT_PASS && result->finding_count == 0 &&
                    result->failure_count == 0 && !check_interrupted();
  if (job->speed && good && self->largest_count > 0)
    sanitize_measure(judged, &self->largest, job->seed, &result->speed);
  judge_close(judged);
}

void sanitize_run(const sanitize_job *job, sanitize_progress *progress, void *user, sanitize_result *result) {
  char folder[ASSAY_PATH_SIZE] = "";
  char object[ASSAY_PATH_SIZE] = "";
  char *log = NULL;
  assay_message reason = {""};
  memset(result, 0, sizeof *result);
  sanitizing *self = calloc(1, sizeof *self);
  if (self == NULL) {
    result->verdict = VERDICT_UNAVAILABLE;
    snprintf(result->reason, sizeof result->reason, "there is no memory for what the tools find");
    return;
  }
  *self = (sanitizing){.job = job, .result = result, .progress = progress, .user = user};
  if (job->target->kind == TARGET_OBJECT)
    result->verdict = build_in_folder(job->target->source, true, folder, object, &reason, &log);
  if (result->verdict == VERDICT_PASS) {
    run_object(self, job->target->kind == TARGET_OBJECT ? object : NULL);
  } else {
    snprintf(result->reason, sizeof result->reason, "%s", reason.text);
  }
  free(log);
  free(self);
  if (folder[0] != '\0') assay_remove_tree(folder);
}
