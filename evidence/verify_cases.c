/* SPDX-License-Identifier: MIT */
/* verify_cases.c - samples, and all that follows from them: counts, order, statistics, comparisons, gates. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op.h"
#include "ops/ops.h"
#include "pairs.h"
#include "verifier.h"

/* A case and the path of it. */
typedef struct part {
  verifier *self;
  const report_case *one;
  char path[VERIFIER_PATH];
} part;

static void find_in(const part *at, const char *rest, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void find_in(const part *at, const char *rest, const char *format, ...) {
  char path[VERIFIER_PATH + 96];
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  snprintf(path, sizeof path, "%s%s", at->path, rest);
  verifier_find(at->self, path, "%s", text);
}

/* ---- samples ------------------------------------------------------------------------------------------- */

static void check_sample(const part *at, int64_t v, int64_t s, bool *seen) {
  const report *from = at->self->report;
  const bench_sample *sample = &at->one->variants.items[v].samples.items[s];
  char path[96];
  if (sample->process >= from->protocol.processes || sample->round >= from->protocol.rounds) {
    snprintf(path, sizeof path, ".variants[%lld].samples[%lld]", (long long)v, (long long)s);
    find_in(at, path, "process %lld, round %lld is outside the protocol's %lld x %lld",
            (long long)sample->process, (long long)sample->round, (long long)from->protocol.processes,
            (long long)from->protocol.rounds);
    return;
  }
  bool *place = &seen[sample->process * from->protocol.rounds + sample->round];
  if (*place) {
    snprintf(path, sizeof path, ".variants[%lld].samples[%lld]", (long long)v, (long long)s);
    find_in(at, path, "process %lld, round %lld was sampled before", (long long)sample->process,
            (long long)sample->round);
  }
  *place = true;
  if (from->cache == REPORT_COLD && sample->calls != 1) {
    snprintf(path, sizeof path, ".variants[%lld].samples[%lld].calls", (long long)v, (long long)s);
    find_in(at, path, "a cold sample is one call, not %lld: the second finds a warm cache",
            (long long)sample->calls);
  }
}

/* A clock belongs to a GPU, every sample of a variant has one or none has, and none is beyond what the driver
 * names by more than the measurement's own error. */
static void check_clocks(const part *at, int64_t v) {
  const report *from = at->self->report;
  const report_variant *variant = &at->one->variants.items[v];
  const report_gpu *gpu = from->environment.gpu;
  const bool measured = variant->samples.count > 0 && variant->samples.items[0].sm_mhz > 0;
  char path[96];
  for (int64_t s = 0; s < variant->samples.count; s++) {
    const int64_t mhz = variant->samples.items[s].sm_mhz;
    snprintf(path, sizeof path, ".variants[%lld].samples[%lld].sm_mhz", (long long)v, (long long)s);
    if ((mhz > 0) != measured) {
      find_in(at, path, "some samples of %s have a clock, others have none", variant->name);
      return;
    }
    if (mhz > 0 && from->mode == REPORT_WALL) {
      find_in(at, path, "mode wall times a CPU, and a sample has the clock of a GPU");
      return;
    }
    if (gpu == NULL || gpu->clock_mhz_most == 0 || (double)mhz <= 1.02 * (double)gpu->clock_mhz_most)
      continue;
    find_in(at, path, "%lld MHz, where %s runs at %lld at most", (long long)mhz, gpu->name,
            (long long)gpu->clock_mhz_most);
    return;
  }
}

static void check_graph_nodes(const part *at, int64_t v) {
  const report_variant *variant = &at->one->variants.items[v];
  char path[96];
  if (variant->graph_nodes == 0 || at->self->report->mode == REPORT_GRAPH) return;
  snprintf(path, sizeof path, ".variants[%lld].graph_nodes", (long long)v);
  find_in(at, path, "%s has nodes of a graph, and the mode is %s", variant->name,
          report_mode_names[at->self->report->mode]);
}

static void check_samples(const part *at, int64_t v) {
  const report *from = at->self->report;
  const report_variant *variant = &at->one->variants.items[v];
  const int64_t wanted = from->protocol.processes * from->protocol.rounds;
  char path[96];
  bool *seen = calloc((size_t)wanted + 1, sizeof *seen);
  if (seen == NULL) return;
  for (int64_t s = 0; s < variant->samples.count; s++) check_sample(at, v, s, seen);
  free(seen);
  snprintf(path, sizeof path, ".variants[%lld].samples", (long long)v);
  if (from->complete && variant->samples.count != wanted && strcmp(variant->gate.verdict, "PASS") == 0) {
    find_in(at, path, "%s has %lld samples; %lld processes of %lld rounds make %lld", variant->name,
            (long long)variant->samples.count, (long long)from->protocol.processes,
            (long long)from->protocol.rounds, (long long)wanted);
  }
}

/* In every round the variants stand in an order: each place once. */
static void check_positions(const part *at) {
  const int64_t count = at->one->variants.count;
  for (int64_t v = 0; v < count; v++) {
    const report_variant *variant = &at->one->variants.items[v];
    for (int64_t s = 0; s < variant->samples.count; s++) {
      const bench_sample *sample = &variant->samples.items[s];
      char path[96];
      bool taken = sample->position >= count;
      for (int64_t w = 0; w < v && !taken; w++) {
        const report_variant *other = &at->one->variants.items[w];
        for (int64_t k = 0; k < other->samples.count && !taken; k++) {
          const bench_sample *before = &other->samples.items[k];
          taken = before->process == sample->process && before->round == sample->round &&
                  before->position == sample->position;
        }
      }
      if (!taken) continue;
      snprintf(path, sizeof path, ".variants[%lld].samples[%lld].position", (long long)v, (long long)s);
      find_in(at, path, "place %lld of %lld variants: the places of a round are no permutation",
              (long long)sample->position, (long long)count);
      return;
    }
  }
}

/* ---- what follows from them ---------------------------------------------------------------------------- */

static void check_statistics(const part *at, int64_t v) {
  const report_variant *variant = &at->one->variants.items[v];
  report_statistics again;
  char path[96];
  const bool sampled = pairs_statistics(variant, &again);
  if (sampled != (variant->statistics != NULL)) {
    snprintf(path, sizeof path, ".variants[%lld].statistics", (long long)v);
    find_in(at, path, sampled ? "samples without statistics" : "statistics without samples");
    return;
  }
  if (!sampled) return;
  const struct {
    const char *name;
    double stored, again;
  } numbers[] = {{"median_ns", variant->statistics->median_ns, again.median_ns},
                 {"min_ns", variant->statistics->min_ns, again.min_ns},
                 {"max_ns", variant->statistics->max_ns, again.max_ns},
                 {"mad_ns", variant->statistics->mad_ns, again.mad_ns}};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    if (verifier_same(numbers[i].stored, numbers[i].again)) continue;
    snprintf(path, sizeof path, ".variants[%lld].statistics.%s", (long long)v, numbers[i].name);
    find_in(at, path, "the samples of %s give %.9g, not %.9g", variant->name, numbers[i].again,
            numbers[i].stored);
  }
}

/* Nothing that did not pass its gate may have been timed, and a pass is a pass by its own numbers. */
static void check_gate(const part *at, int64_t v) {
  const report_variant *variant = &at->one->variants.items[v];
  const report_gate *gate = &variant->gate;
  const bool passed = strcmp(gate->verdict, "PASS") == 0;
  char path[96];
  if (!passed && variant->samples.count > 0) {
    snprintf(path, sizeof path, ".variants[%lld].gate.verdict", (long long)v);
    find_in(at, path, "%s is %s and was timed all the same", variant->name, gate->verdict);
  }
  if (passed && variant->samples.count > 0 && gate->compared == 0) {
    snprintf(path, sizeof path, ".variants[%lld].gate.compared", (long long)v);
    find_in(at, path, "%s passed without one element compared", variant->name);
  }
  if (passed && !(gate->max_error_share <= 1)) {
    snprintf(path, sizeof path, ".variants[%lld].gate.max_error_share", (long long)v);
    find_in(at, path, "%s passed with %.3g of the allowed error", variant->name, gate->max_error_share);
  }
}

/* The rate of a ceiling by unit, the largest of those there are; 0 when there is none. */
static double rate_of(const report *from, const char *unit) {
  double most = 0;
  for (int64_t i = 0; i < from->ceilings.count; i++) {
    const report_ceiling *ceiling = &from->ceilings.items[i];
    if (strcmp(ceiling->unit, unit) == 0 && ceiling->rate > most) most = ceiling->rate;
  }
  return most;
}

/* A cache is faster than memory, but nothing is a thousand times faster than what the machine can do. */
static void check_floor(const part *at, int64_t v) {
  const report_variant *variant = &at->one->variants.items[v];
  const double bytes = rate_of(at->self->report, "bytes");
  const double flops = rate_of(at->self->report, "flops");
  double floor_ns = 0;
  char path[96];
  if (bytes > 0) floor_ns = at->one->work.bytes / bytes * 1e9;
  if (flops > 0) floor_ns = fmax(floor_ns, at->one->work.flops / flops * 1e9);
  if (variant->statistics == NULL || variant->statistics->median_ns >= 1e-3 * floor_ns) return;
  snprintf(path, sizeof path, ".variants[%lld].statistics.median_ns", (long long)v);
  find_in(at, path, "%s: %.3g ns, where this machine needs about %.3g: no computation is that quick",
          variant->name, variant->statistics->median_ns, floor_ns);
}

static void check_comparison(const part *at, int64_t c) {
  const report_comparison *stored = &at->one->comparisons.items[c];
  char path[96];
  snprintf(path, sizeof path, ".comparisons[%lld].", (long long)c);
  const size_t used = strlen(path);
  const report_variant *sides[2];
  static const char *const roles[2] = {"candidate", "baseline"};
  for (int i = 0; i < 2; i++) {
    const char *name = i == 0 ? stored->candidate : stored->baseline;
    sides[i] = report_find_variant(at->one, name);
    if (sides[i] != NULL && sides[i]->samples.count > 0) continue;
    snprintf(path + used, sizeof path - used, "%s", roles[i]);
    find_in(at, path, "%.60s has no samples in this case: both sides of a ratio share report, mode and cache",
            name);
    return;
  }
  if (sides[0] == sides[1]) {
    snprintf(path + used, sizeof path - used, "baseline");
    find_in(at, path, "%s is compared with itself", stored->baseline);
    return;
  }
  pairs_ratio again;
  pairs_of(at->self->report, sides[0], sides[1], &again);
  const struct {
    const char *name;
    double stored, again;
  } numbers[] = {{"ratio", stored->ratio, again.ratio},
                 {"low", stored->low, again.low},
                 {"high", stored->high, again.high},
                 {"confidence", stored->confidence, again.confidence}};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    if (verifier_same(numbers[i].stored, numbers[i].again)) continue;
    snprintf(path + used, sizeof path - used, "%s", numbers[i].name);
    find_in(at, path, "the samples give %.9g (%s / %s), not %.9g", numbers[i].again, stored->baseline,
            stored->candidate, numbers[i].stored);
  }
  if (stored->verdict == again.verdict) return;
  snprintf(path + used, sizeof path - used, "verdict");
  find_in(at, path, "the samples say \"%s\", not \"%s\"", report_verdict_names[again.verdict],
          report_verdict_names[stored->verdict]);
}

/* ---- names --------------------------------------------------------------------------------------------- */

static void check_names(const part *at, int64_t index) {
  const report *from = at->self->report;
  char path[96];
  const assay_operator *op = assay_operator_find(at->one->op);
  if (op == NULL) find_in(at, ".operator", "there is no operator \"%.60s\"", at->one->op);
  if (op != NULL && at->one->dims.count != op->subject.dim_count)
    find_in(at, ".dims", "%s has %d sizes, not %lld", at->one->op, op->subject.dim_count,
            (long long)at->one->dims.count);
  for (int64_t i = 0; i < index; i++) {
    const report_case *before = &from->cases.items[i];
    if (strcmp(before->op, at->one->op) == 0 && strcmp(before->name, at->one->name) == 0)
      find_in(at, ".name", "%s, %s stands in the report twice", at->one->op, at->one->name);
  }
  for (int64_t v = 0; v < at->one->variants.count; v++) {
    const report_variant *variant = &at->one->variants.items[v];
    if (report_find_variant(at->one, variant->name) == variant) continue;
    snprintf(path, sizeof path, ".variants[%lld].name", (long long)v);
    find_in(at, path, "a second variant %s in this case", variant->name);
  }
  for (int64_t s = 0; s < at->one->skipped.count; s++) {
    if (report_find_variant(at->one, at->one->skipped.items[s].name) == NULL) continue;
    snprintf(path, sizeof path, ".skipped[%lld].name", (long long)s);
    find_in(at, path, "%s was skipped and measured", at->one->skipped.items[s].name);
  }
}

void verifier_check_cases(verifier *self) {
  for (int64_t i = 0; i < self->report->cases.count; i++) {
    part at = {.self = self, .one = &self->report->cases.items[i]};
    snprintf(at.path, sizeof at.path, "cases[%lld]", (long long)i);
    check_names(&at, i);
    for (int64_t v = 0; v < at.one->variants.count; v++) {
      check_gate(&at, v);
      check_samples(&at, v);
      check_clocks(&at, v);
      check_graph_nodes(&at, v);
      check_statistics(&at, v);
      check_floor(&at, v);
    }
    check_positions(&at);
    for (int64_t c = 0; c < at.one->comparisons.count; c++) check_comparison(&at, c);
  }
}
