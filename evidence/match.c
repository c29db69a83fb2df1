/* SPDX-License-Identifier: MIT */
/*
 * match.c - what two runs may be asked together.
 *
 * Two processes of two runs are not pairs, so nothing is paired: the shift between both sets of processes is
 * judged by ranks. A common baseline takes out what made one whole run slower. Without one, a difference of
 * the runs themselves cannot be told from one of the kernels, so a verdict needs five times the usual margin.
 */
#include "match.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pairs.h"

static const double least_confidence = 0.95;
static const double separate_margin = 0.05;

const char *const match_kind_names[] = {"ratios", "separate runs", "two machines", NULL};

static bool same_named(const report_named_list *left, const report_named_list *right) {
  if (left->count != right->count) return false;
  for (int64_t i = 0; i < left->count; i++) {
    if (strcmp(left->items[i].name, right->items[i].name) != 0 ||
        left->items[i].value != right->items[i].value)
      return false;
  }
  return true;
}

/* Both made from a seed, or of the same files and views of them. */
static bool same_inputs(const report_case *left, const report_case *right) {
  if (left->inputs.count != right->inputs.count) return false;
  for (int64_t i = 0; i < left->inputs.count; i++) {
    const report_input *a = &left->inputs.items[i];
    const report_input *b = &right->inputs.items[i];
    const size_t bytes = (size_t)a->strides.count * sizeof *a->strides.items;
    if (strcmp(a->sha256, b->sha256) != 0 || a->strides.count != b->strides.count ||
        memcmp(a->strides.items, b->strides.items, bytes) != 0)
      return false;
  }
  return true;
}

/* The same problem, the element type left aside. */
static bool same_problem(const report_case *left, const report_case *right) {
  if (!same_inputs(left, right)) return false;
  return strcmp(left->op, right->op) == 0 && strcmp(left->layout, right->layout) == 0 &&
         same_named(&left->dims, &right->dims) && same_named(&left->opt, &right->opt);
}

static const report_case *counterpart(const report_case *one, const report *other) {
  for (int64_t i = 0; i < other->cases.count; i++) {
    const report_case *candidate = &other->cases.items[i];
    if (candidate->dtype == one->dtype && same_problem(one, candidate)) return candidate;
  }
  return NULL;
}

/* The same code: every source and the options. */
static bool same_code(const report_variant *left, const report_variant *right) {
  if (left->sources.count != right->sources.count || left->sources.count == 0) return false;
  if (strcmp(left->options, right->options) != 0) return false;
  for (int64_t i = 0; i < left->sources.count; i++) {
    if (strcmp(left->sources.items[i].sha256, right->sources.items[i].sha256) != 0) return false;
  }
  return true;
}

static bool same_machine(const report *left, const report *right) {
  const report_environment *a = &left->environment;
  const report_environment *b = &right->environment;
  if (strcmp(a->cpu, b->cpu) != 0 || a->memory_bytes != b->memory_bytes) return false;
  if ((a->gpu == NULL) != (b->gpu == NULL)) return false;
  return a->gpu == NULL || strcmp(a->gpu->name, b->gpu->name) == 0;
}

/* A baseline that both cases measured with the same code; NULL when there is none. */
static const char *common_baseline(const report_case *left, const report_case *right, const char *variant) {
  for (int64_t i = 0; i < left->variants.count; i++) {
    const report_variant *one = &left->variants.items[i];
    if (one->kind != REPORT_BASELINE || one->samples.count == 0 || strcmp(one->name, variant) == 0) continue;
    const report_variant *other = report_find_variant(right, one->name);
    if (other != NULL && other->samples.count > 0 && same_code(one, other)) return one->name;
  }
  return NULL;
}

/* ---- refusals ------------------------------------------------------------------------------------------ */

static bool refuse_types(const report *left, const report *right, assay_message *why) {
  for (int64_t i = 0; i < left->cases.count; i++) {
    const report_case *one = &left->cases.items[i];
    if (counterpart(one, right) != NULL) continue;
    for (int64_t k = 0; k < right->cases.count; k++) {
      const report_case *other = &right->cases.items[k];
      if (!same_problem(one, other) || counterpart(other, left) != NULL) continue;
      (void)assay_explain(
          why, ASSAY_OK, "%.60s, %.60s: the element types differ, %s and %s: measure both with one type",
          one->op, one->name, report_dtype_names[one->dtype], report_dtype_names[other->dtype]);
      return true;
    }
  }
  return false;
}

static bool refuse(const report *left, const report *right, assay_message *why) {
  if (left->mode != right->mode) {
    (void)assay_explain(why, ASSAY_OK, "the timing modes differ, %s and %s: they are separate experiments",
                        report_mode_names[left->mode], report_mode_names[right->mode]);
    return true;
  }
  if (left->cache != right->cache) {
    (void)assay_explain(why, ASSAY_OK, "the cache states differ, %s and %s: they are separate experiments",
                        report_cache_names[left->cache], report_cache_names[right->cache]);
    return true;
  }
  return refuse_types(left, right, why);
}

/* ---- one row ------------------------------------------------------------------------------------------- */

static void no_verdict(match_row *row, const char *reason) {
  row->verdict = REPORT_CANNOT_TELL;
  row->reason = reason;
}

/* Logs of how fast each process was: the larger, the faster. */
static int speeds(const report *from, const report_case *one, const report_variant *variant,
                  const char *baseline, double logs[PAIRS_PROCESSES]) {
  if (baseline == NULL) {
    const int count = pairs_process_logs(variant, logs);
    for (int i = 0; i < count; i++) logs[i] = -logs[i];
    return count;
  }
  pairs_ratio ratio;
  pairs_of(from, variant, report_find_variant(one, baseline), &ratio);
  memcpy(logs, ratio.logs, (size_t)ratio.count * sizeof logs[0]);
  return ratio.count;
}

static int64_t separate_verdict(double low, double high) {
  if (low > 1 + separate_margin) return REPORT_FASTER;
  return high < 1 / (1 + separate_margin) ? REPORT_SLOWER : REPORT_CANNOT_TELL;
}

/* Three processes against three are in any order once in twenty times, so their interval covers 90 % at most.
 */
static const char *too_few(const report *left, const report *right) {
  if (left->protocol.name == REPORT_QUICK && right->protocol.name == REPORT_QUICK)
    return "two runs with --quick have too few processes for an interval: run both again without it";
  return "too few processes for an interval: run bench --resume until both reports are complete";
}

static void judge(const report *left, const report *right, match_row *row) {
  double before[PAIRS_PROCESSES];
  double after[PAIRS_PROCESSES];
  double shift;
  assay_interval interval;
  const int before_count = speeds(left, row->left_case, row->left, row->baseline, before);
  const int after_count = speeds(right, row->right_case, row->right, row->baseline, after);
  if (row->baseline != NULL) {
    row->left_ratio = exp(assay_median(before, (size_t)before_count));
    row->right_ratio = exp(assay_median(after, (size_t)after_count));
  }
  if (row->kind == MATCH_MACHINES) {
    no_verdict(row, "two machines: their times form no ratio");
    return;
  }
  const bool bounded =
      pairs_shift(before, before_count, after, after_count, least_confidence, &shift, &interval);
  row->ratio = exp(shift);
  if (left->protocol.name == REPORT_SEEDS || right->protocol.name == REPORT_SEEDS) {
    no_verdict(row, "protocol seeds describes one process and decides nothing");
    return;
  }
  if (!bounded) {
    no_verdict(row, too_few(left, right));
    return;
  }
  row->low = exp(interval.low);
  row->high = exp(interval.high);
  row->confidence = interval.confidence;
  row->verdict =
      row->kind == MATCH_RATIOS ? pairs_verdict(row->low, row->high) : separate_verdict(row->low, row->high);
  if (row->verdict == REPORT_CANNOT_TELL) {
    row->reason = row->kind == MATCH_RATIOS ? "the interval is too wide for the margin of 1 %"
                                            : "separate runs: below 5 % a difference may be one of the runs";
  }
}

static void match_case(const report *left, const report *right, const report_case *one,
                       const report_case *other, match_sink *sink, void *user, match_outcome *outcome) {
  const bool here = same_machine(left, right);
  for (int64_t v = 0; v < one->variants.count; v++) {
    const report_variant *variant = &one->variants.items[v];
    const report_variant *again = report_find_variant(other, variant->name);
    if (variant->kind == REPORT_BASELINE || again == NULL) continue;
    if (variant->samples.count == 0 || again->samples.count == 0) continue;
    match_row row = {.left_case = one,
                     .right_case = other,
                     .left = variant,
                     .right = again,
                     .baseline = common_baseline(one, other, variant->name),
                     .left_ratio = (double)NAN,
                     .right_ratio = (double)NAN,
                     .left_ns = variant->statistics->median_ns,
                     .right_ns = again->statistics->median_ns,
                     .ratio = (double)NAN,
                     .low = (double)NAN,
                     .high = (double)NAN,
                     .reason = ""};
    row.kind = !here ? MATCH_MACHINES : row.baseline != NULL ? MATCH_RATIOS : MATCH_SEPARATE_RUNS;
    judge(left, right, &row);
    outcome->rows++;
    outcome->slower += row.verdict == REPORT_SLOWER;
    outcome->undecided += row.verdict == REPORT_CANNOT_TELL;
    sink(user, &row);
  }
}

bool match_reports(const report *left, const report *right, match_sink *sink, void *user,
                   match_outcome *outcome, assay_message *why) {
  *outcome = (match_outcome){.rows = 0};
  if (refuse(left, right, why)) return false;
  for (int64_t i = 0; i < left->cases.count; i++) {
    const report_case *other = counterpart(&left->cases.items[i], right);
    if (other == NULL) {
      outcome->left_only++;
    } else {
      match_case(left, right, &left->cases.items[i], other, sink, user, outcome);
    }
  }
  for (int64_t i = 0; i < right->cases.count; i++)
    outcome->right_only += counterpart(&right->cases.items[i], left) == NULL;
  if (outcome->rows > 0) return true;
  (void)assay_explain(why, ASSAY_OK, "the two reports have no measured variant of the same case in common");
  return false;
}
