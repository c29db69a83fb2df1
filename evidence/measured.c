/* SPDX-License-Identifier: MIT */
/* measured.c - a measurement as a report. */
#include "measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "surroundings.h"

/* A copy that lets the caller see afterwards, once, that there was no memory. */
static char *copy(const char *text, bool *good) {
  char *made = strdup(text);
  if (made == NULL) *good = false;
  return made;
}

/* Zeroed room for `count` elements, at least one byte. */
static void *room(size_t count, size_t size, bool *good) {
  void *made = calloc(count > 0 ? count : 1, size);
  if (made == NULL) *good = false;
  return made;
}

static void take_named(report_named_list *list, const char *const *names, const int64_t *values, int count,
                       bool only_set, bool *good) {
  list->items = room((size_t)count, sizeof *list->items, good);
  for (int i = 0; i < count && *good; i++) {
    if (only_set && values[i] == 0) continue;
    list->items[list->count++] = (report_named){copy(names[i], good), values[i]};
  }
}

static void take_ceilings(report *made, const bench_run *run, bool *good) {
  made->ceilings.items = room(CEILINGS, sizeof *made->ceilings.items, good);
  for (int i = 0; i < CEILINGS && *good; i++) {
    const ceiling *from = &run->ceilings[i];
    if (from->count == 0) continue;
    report_ceiling *to = &made->ceilings.items[made->ceilings.count++];
    *to = (report_ceiling){.name = copy(from->name, good),
                           .unit = copy(from->flops ? "flops" : "bytes", good),
                           .work = from->work,
                           .rate = from->rate};
    to->samples.items = room((size_t)from->count, sizeof *to->samples.items, good);
    if (!*good) return;
    to->samples.count = from->count;
    memcpy(to->samples.items, from->samples, (size_t)from->count * sizeof *to->samples.items);
  }
}

static void take_numbers(report_numbers *list, const int64_t *values, int count, bool *good) {
  list->items = room((size_t)count, sizeof *list->items, good);
  if (!*good) return;
  memcpy(list->items, values, (size_t)count * sizeof *values);
  list->count = count;
}

static void take_overheads(report *made, const bench_run *run, bool *good) {
  made->overheads.items = room(OVERHEADS, sizeof *made->overheads.items, good);
  for (int i = 0; i < OVERHEADS && *good; i++) {
    const gpu_overhead *from = &run->overheads[i];
    if (from->count == 0) continue;
    report_overhead *to = &made->overheads.items[made->overheads.count++];
    *to = (report_overhead){.name = copy(from->name, good), .calls = from->calls, .call_ns = from->call_ns};
    take_numbers(&to->samples, from->samples, from->count, good);
  }
}

/* Samples of a kernel that was wrong, or cheated, are no times of the operator. */
static bool has_samples(const bench_variant *variant) {
  return variant->gate == VERDICT_PASS && variant->sample_count > 0;
}

static void take_samples(const bench_variant *from, report_variant *to, bool *good) {
  schedule_summary summary;
  const size_t count = has_samples(from) ? (size_t)from->sample_count : 0;
  to->samples.items = room(count, sizeof *to->samples.items, good);
  if (!*good || count == 0) return;
  memcpy(to->samples.items, from->samples, count * sizeof *to->samples.items);
  to->samples.count = (int64_t)count;
  if (!schedule_summarise(from->samples, from->sample_count, &summary)) {
    *good = false;
    return;
  }
  to->statistics = room(1, sizeof *to->statistics, good);
  if (!*good) return;
  *to->statistics = (report_statistics){summary.median_ns, summary.min_ns, summary.max_ns, summary.mad_ns};
}

static void take_variant(const bench_run *run, const bench_case *one, const bench_variant *from,
                         report_variant *to, bool *good) {
  const assay_subject *subject = &one->op->subject;
  const bool object = run->loads[from->load].target == TARGET_OBJECT;
  *to = (report_variant){.name = copy(from->name, good),
                         .kind = (int64_t)from->kind,
                         .expression = copy(from->expression, good),
                         .rounding = copy(from->rounding, good),
                         .options = surroundings_flags(object, run->backend == ASSAY_CUDA),
                         .peak_memory_bytes = from->peak_bytes,
                         .context_switches = from->context_switches,
                         .graph_nodes = from->graph_nodes};
  to->gate = (report_gate){.verdict = copy(verdict_name(from->gate), good),
                           .reason = copy(from->gate == VERDICT_PASS ? "" : from->reason, good),
                           .max_error_ulps = from->error_ulps,
                           .max_error_share = from->error_share,
                           .compared = from->compared};
  take_named(&to->knobs, subject->opt_names, from->knobs, subject->opt_count, true, good);
  take_samples(from, to, good);
  if (to->options == NULL || !surroundings_sources(run, one, from, to)) *good = false;
}

/* Not written, not available here, or too slow to start with: there is nothing to show but the reason. */
static bool was_skipped(const bench_variant *variant) {
  return variant->reason[0] != '\0' && variant->sample_count == 0 &&
         (variant->gate == VERDICT_PASS || variant->gate == VERDICT_TODO ||
          variant->gate == VERDICT_UNAVAILABLE);
}

static void take_comparisons(const bench_run *run, const bench_case *one, const measured_context *context,
                             report_case *to, bool *good) {
  const size_t most = (size_t)one->variant_count * (size_t)one->variant_count;
  to->comparisons.items = room(most, sizeof *to->comparisons.items, good);
  for (int b = 0; b < one->variant_count && *good; b++) {
    const bench_variant *baseline = &one->variants[b];
    const bool named = context->only_baseline != NULL && strcmp(context->only_baseline, baseline->name) == 0;
    if (!has_samples(baseline)) continue;
    if (context->only_baseline != NULL ? !named : baseline->kind != BENCH_BASELINE) continue;
    for (int c = 0; c < one->variant_count && *good; c++) {
      const bench_variant *candidate = &one->variants[c];
      schedule_ratio ratio;
      if (c == b || candidate->kind == BENCH_BASELINE || !has_samples(candidate)) continue;
      bench_compare(run, candidate, baseline, &ratio);
      if (!isfinite(ratio.ratio)) continue;
      to->comparisons.items[to->comparisons.count++] = (report_comparison){copy(candidate->name, good),
                                                                           copy(baseline->name, good),
                                                                           ratio.ratio,
                                                                           ratio.low,
                                                                           ratio.high,
                                                                           ratio.confidence,
                                                                           (int64_t)ratio.verdict};
    }
  }
}

static void take_inputs(const bench_case *from, report_case *to, bool *good) {
  assay_plan plan;
  bench_case_plan(from, &plan);
  const int count = from->inputs != NULL ? from->op->subject.exports[plan.entry].in_count : 0;
  to->inputs.items = room((size_t)count, sizeof *to->inputs.items, good);
  for (int i = 0; i < count && *good; i++) {
    const bench_input *input = &from->inputs[i];
    report_input *made = &to->inputs.items[to->inputs.count++];
    made->operand = copy(input->operand, good);
    made->file = copy(input->path, good);
    made->sha256 = copy(input->sha256, good);
    take_numbers(&made->shape, input->tensor.shape, input->tensor.rank, good);
    take_numbers(&made->strides, input->tensor.stride, input->tensor.rank, good);
  }
}

static void take_case(const bench_run *run, const bench_case *from, const measured_context *context,
                      report_case *to, bool *good) {
  const assay_subject *subject = &from->op->subject;
  const size_t variants = (size_t)from->variant_count;
  *to = (report_case){.op = copy(subject->name, good),
                      .name = copy(from->name, good),
                      .dtype = (int64_t)from->dtype,
                      .layout = copy(bench_case_layout(from), good),
                      .work = {from->work.bytes, from->work.flops},
                      .contract = copy(subject->formula, good),
                      .tolerance = copy(from->op->bench->tolerance, good),
                      .sampled_gate = from->sampled};
  take_named(&to->dims, subject->dim_names, from->row.dims, subject->dim_count, false, good);
  take_named(&to->opt, subject->opt_names, from->row.opt, subject->opt_count, false, good);
  take_inputs(from, to, good);
  to->variants.items = room(variants, sizeof *to->variants.items, good);
  to->skipped.items = room(variants, sizeof *to->skipped.items, good);
  for (int v = 0; v < from->variant_count && *good; v++) {
    const bench_variant *variant = &from->variants[v];
    if (was_skipped(variant)) {
      to->skipped.items[to->skipped.count++] =
          (report_skipped){copy(variant->name, good), copy(variant->reason, good)};
    } else {
      take_variant(run, from, variant, &to->variants.items[to->variants.count++], good);
    }
  }
  if (*good) take_comparisons(run, from, context, to, good);
}

static void take_prediction(report *made, const prediction *declared, bool *good) {
  if (declared == NULL) return;
  made->label = REPORT_PREDICTED;
  made->prediction = room(1, sizeof *made->prediction, good);
  if (!*good) return;
  *made->prediction = (report_prediction){copy(declared->text, good), copy(declared->hash, good),
                                          copy(declared->created, good)};
}

report *measured_report(const bench_run *run, const measured_context *context) {
  bool good = true;
  report *made = calloc(1, sizeof *made);
  if (made == NULL) return NULL;
  made->created = copy(context->created, &good);
  made->complete = run->complete;
  made->seed = (int64_t)run->seed;
  made->protocol =
      (report_protocol){(int64_t)run->protocol.name, run->protocol.processes, run->protocol.rounds,
                        run->cold ? 1 : run->protocol.calls, run->cold ? 0 : run->protocol.warmup};
  made->mode = run->timer; /* the timers are in the order of the modes */
  made->cache = run->cold ? REPORT_COLD : REPORT_WARM;
  made->command.items = room((size_t)context->command_count, sizeof *made->command.items, &good);
  for (int i = 0; i < context->command_count && good; i++) {
    made->command.items[made->command.count++] = copy(context->command[i], &good);
  }
  good = good && surroundings_take(&made->environment, run->threads) && surroundings_git(&made->git);
  if (good && run->backend == ASSAY_CUDA) good = surroundings_gpu(&made->environment);
  made->environment.pinned = run->pinned;
  made->environment.pages = copy(run->huge_low >= 90   ? "huge"
                                 : run->huge_high < 10 ? "base"
                                                       : "mixed",
                                 &good);
  made->environment.load_start = context->load;
  made->environment.load_end = surroundings_load();
  if (good) take_prediction(made, context->declared, &good);
  if (good) take_ceilings(made, run, &good);
  if (good) take_overheads(made, run, &good);
  made->cases.items = room((size_t)run->case_count, sizeof *made->cases.items, &good);
  for (int c = 0; c < run->case_count && good; c++) {
    take_case(run, &run->cases[c], context, &made->cases.items[made->cases.count++], &good);
  }
  if (good) return made;
  report_free(made);
  return NULL;
}
