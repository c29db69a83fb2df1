/* SPDX-License-Identifier: MIT */
/* measured_resume.c - going on with an interrupted run: only with the same question, sources and machine. */
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "measured.h"
#include "surroundings.h"

static bool same_protocol(const report *from, const bench_run *run, assay_message *why) {
  const report_protocol *protocol = &from->protocol;
  if (from->complete) {
    (void)assay_explain(why, ASSAY_BAD_OPTION,
                        "the report to resume is complete: there is nothing left to do");
  } else if (protocol->name != (int64_t)run->protocol.name ||
             protocol->processes != run->protocol.processes || protocol->rounds != run->protocol.rounds) {
    (void)assay_explain(why, ASSAY_BAD_OPTION, "the report to resume has the protocol %s, %lld x %lld",
                        report_protocol_names[protocol->name], (long long)protocol->processes,
                        (long long)protocol->rounds);
  } else if ((from->cache == REPORT_COLD) != run->cold || from->mode != run->timer) {
    (void)assay_explain(why, ASSAY_BAD_OPTION, "the report to resume has mode %s and cache %s",
                        report_mode_names[from->mode], report_cache_names[from->cache]);
  } else if (from->environment.threads != run->threads ||
             strcmp(from->environment.cpu, assay_cpu_model()) != 0) {
    (void)assay_explain(why, ASSAY_BAD_OPTION, "the report to resume is of %lld threads on %.100s",
                        (long long)from->environment.threads, from->environment.cpu);
  } else {
    return true;
  }
  return false;
}

static const report_case *find_case(const report *from, const bench_case *one) {
  for (int64_t i = 0; i < from->cases.count; i++) {
    const report_case *other = &from->cases.items[i];
    if (strcmp(other->op, one->op->subject.name) == 0 && strcmp(other->name, one->name) == 0) return other;
  }
  return NULL;
}

/* The files whose elements are timed are those of the report. */
static bool same_inputs(const bench_case *one, const report_case *old) {
  if ((one->inputs != NULL) != (old->inputs.count > 0)) return false;
  for (int64_t i = 0; i < old->inputs.count && i < ASSAY_MAX_OPERANDS; i++) {
    if (strcmp(old->inputs.items[i].sha256, one->inputs[i].sha256) != 0) return false;
  }
  return true;
}

/* Every source of the old variant is one of the new, with the same hash. */
static bool same_sources(const bench_run *run, const bench_case *one, const bench_variant *variant,
                         const report_variant *old) {
  report_variant now = {0};
  bool same = surroundings_sources(run, one, variant, &now) && now.sources.count == old->sources.count;
  for (int64_t i = 0; i < now.sources.count; i++) {
    same = same && strcmp(now.sources.items[i].sha256, old->sources.items[i].sha256) == 0;
    free(now.sources.items[i].path);
    free(now.sources.items[i].sha256);
  }
  free(now.sources.items);
  return same;
}

static bool take_variant(bench_run *run, bench_case *one, bench_variant *variant, const report_variant *old,
                         assay_message *why) {
  if (!same_sources(run, one, variant, old)) {
    (void)assay_explain(why, ASSAY_BAD_OPTION,
                        "the source of %s in %s was changed since the report to resume: start anew",
                        variant->name, one->op->subject.name);
    return false;
  }
  for (int64_t i = 0; i < old->samples.count; i++) {
    if (!bench_add_sample(variant, &old->samples.items[i])) return false;
    variant->calls = old->samples.items[i].calls;
  }
  variant->error_ulps = old->gate.max_error_ulps;
  variant->error_share = old->gate.max_error_share;
  variant->compared = old->gate.compared;
  variant->context_switches = old->context_switches;
  variant->peak_bytes = old->peak_memory_bytes;
  variant->graph_nodes = old->graph_nodes;
  return true;
}

static void take_ceilings(const report *from, bench_run *run) {
  static const char *const names[CEILINGS] = {"copy", "streaming copy", "fma"};
  for (int64_t i = 0; i < from->ceilings.count; i++) {
    const report_ceiling *old = &from->ceilings.items[i];
    for (int k = 0; k < CEILINGS; k++) {
      if (strcmp(old->name, names[k]) != 0) continue;
      ceiling *one = &run->ceilings[k];
      *one = (ceiling){.name = names[k], .flops = k == CEILING_FMA, .work = old->work, .rate = old->rate};
      for (int64_t s = 0; s < old->samples.count && s < CEILING_SAMPLES; s++) {
        one->samples[one->count++] = old->samples.items[s];
      }
    }
  }
}

bool measured_resume(const report *from, bench_run *run, assay_message *why) {
  *why = (assay_message){"not enough memory"};
  if (!same_protocol(from, run, why)) return false;
  run->seed = (uint64_t)from->seed;
  take_ceilings(from, run);
  for (int c = 0; c < run->case_count; c++) {
    bench_case *one = &run->cases[c];
    const report_case *old = find_case(from, one);
    if (old == NULL) {
      (void)assay_explain(why, ASSAY_BAD_OPTION, "the report to resume has no case %s, %s",
                          one->op->subject.name, one->name);
      return false;
    }
    if (!same_inputs(one, old)) {
      (void)assay_explain(why, ASSAY_BAD_OPTION,
                          "the report to resume has other contents of the files in %s, %s",
                          one->op->subject.name, one->name);
      return false;
    }
    for (int v = 0; v < one->variant_count; v++) {
      const report_variant *found = report_find_variant(old, one->variants[v].name);
      if (found != NULL && !take_variant(run, one, &one->variants[v], found, why)) return false;
    }
  }
  return true;
}
