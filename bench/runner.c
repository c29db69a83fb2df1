/* SPDX-License-Identifier: MIT */
/*
 * runner.c - the protocol: a first process finds out what is right and how long it takes, then every process
 * runs the whole suite in an order of its own.
 */
#include "runner.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker_settings.h"

static const double limit_ns = 120e9;  /* of a variant and shape */
static const double visible_ns = 20e6; /* what the judge's clock can tell from its own noise */
static const double long_enough_ns = 500e6;
static const double slope_disagrees = 2; /* either way */
static const double floor_share = 1e-3;  /* nothing is that much faster than the machine */
static const int64_t big_batch_most = 1 << 16;
enum { CLOCK_TRIES = 16, GATE_ROUND = 1000, EXACT_ROUND, ORDER_SALT };

static bool timed(const bench_variant *variant) {
  return variant->reason[0] == '\0';
}

static uint64_t input_seed(const runner *self, int case_index, int process, int round) {
  uint64_t seed = assay_seed_mix(self->run->seed, (uint64_t)case_index);
  seed = assay_seed_mix(seed, (uint64_t)(process + 1));
  return assay_seed_mix(seed, (uint64_t)round);
}

static void tell(runner *self, const char *phase, const bench_variant *variant) {
  char text[256];
  if (self->run->progress == NULL) return;
  snprintf(text, sizeof text, "%s: %s %s, %s", phase, self->one->op->subject.name, self->one->name,
           variant->name);
  self->run->progress(self->run->user, text);
}

/* Whether the variant has all samples of this process from an earlier run. */
static bool done_before(const runner *self, const bench_variant *variant, int process) {
  int found = 0;
  for (int64_t i = 0; i < variant->sample_count; i++) {
    if (variant->samples[i].process == process) found++;
  }
  return found >= self->run->protocol.rounds;
}

/* Part of a process is worth nothing: its pairs would be of other inputs than the rest. */
static void forget_process(bench_variant *variant, int process) {
  int64_t kept = 0;
  for (int64_t i = 0; i < variant->sample_count; i++) {
    if (variant->samples[i].process != process) variant->samples[kept++] = variant->samples[i];
  }
  variant->sample_count = kept;
}

/* ---- before anything is timed -------------------------------------------------------------------------- */

static bool run_gate(runner *self, bench_variant *variant) {
  session_timing timing;
  tell(self, "checking", variant);
  if (!runner_call(self, variant, 1, 0, false, &timing) || !runner_check(self, variant)) return false;
  variant->gate = VERDICT_PASS;
  bench_run *run = self->run;
  run->pinned = timing.pinned;
  if (timing.huge_share < run->huge_low) run->huge_low = timing.huge_share;
  if (timing.huge_share > run->huge_high) run->huge_high = timing.huge_share;
  return true;
}

static void gate_all(runner *self, int case_index, int process) {
  bench_case *one = self->one;
  const bool exact = one->sampled && one->op->bench->exact != NULL;
  for (int pass = 0; pass <= (exact ? 1 : 0); pass++) {
    const int round = pass == 0 ? GATE_ROUND : EXACT_ROUND;
    if (!runner_fill(self, input_seed(self, case_index, process, round),
                     pass == 1 ? RUNNER_EXACT : RUNNER_NEW, one->sampled)) {
      for (int v = 0; v < one->variant_count; v++) {
        (void)runner_drop(&one->variants[v], VERDICT_UNAVAILABLE, "not enough memory for this shape");
      }
      return;
    }
    for (int v = 0; v < one->variant_count && !check_interrupted(); v++) {
      bench_variant *variant = &one->variants[v];
      if (timed(variant) && (process < 0 || !done_before(self, variant, process))) {
        (void)run_gate(self, variant);
      }
    }
  }
}

/* Two batch sizes, each by both clocks. */
typedef struct batches {
  int64_t small_gap; /* what the judge's clock shows beyond the worker's, the least so far */
  int64_t big_gap;
  int64_t claim; /* of the larger batch by the worker's clock, the least so far */
  int64_t seen;  /* by the judge's */
} batches;

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* One more pair. What disturbs a request makes its gap longer, so the least ones count. False: the variant is
 * out, or the run was interrupted. */
static bool add_batches(runner *self, bench_variant *variant, batches *sum) {
  session_timing small;
  session_timing big;
  if (!runner_call(self, variant, 1, 0, false, &small) || !runner_check(self, variant)) return false;
  if (!runner_call(self, variant, variant->big_batch, 0, false, &big) || !runner_check(self, variant)) {
    return false;
  }
  sum->small_gap = least(sum->small_gap, small.wall_ns - small.nanoseconds);
  sum->big_gap = least(sum->big_gap, big.wall_ns - big.nanoseconds);
  sum->claim = least(sum->claim, big.nanoseconds);
  sum->seen = least(sum->seen, big.wall_ns);
  return true;
}

static const batches no_batches = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};

/* The judge's nanoseconds by the worker's: the message's own way is in both batches and drops out. */
static double clock_ratio(const batches *sum) {
  return 1 + (double)(sum->big_gap - sum->small_gap) / (double)sum->claim;
}

/* Tries until the clocks agree: on a busy machine a few pairs may be disturbed, a false clock is false in
 * all.
 */
static bool clocks_agree(runner *self, bench_variant *variant, batches *sum) {
  for (int tries = 0; tries < CLOCK_TRIES; tries++) {
    if (!add_batches(self, variant, sum)) return false;
    const double ratio = clock_ratio(sum);
    if (ratio < slope_disagrees && ratio > 1 / slope_disagrees) return true;
  }
  return runner_drop(variant, VERDICT_SUSPECT,
                     "the judge's clock saw %.3g times the time that the worker's clock showed",
                     clock_ratio(sum));
}

/* The next larger batch: as many calls as both clocks will see by what they showed so far, with room for a
 * first call that was slow. A clock that showed nothing is asked again in small steps. */
static int64_t larger_batch(const bench_variant *variant, const batches *sum) {
  const int64_t step = 4 * variant->big_batch;
  const double call = (double)sum->claim / (double)variant->big_batch;
  const double enough = ceil(1.5 * visible_ns / call);
  const int64_t most = 64 * variant->big_batch;
  const int64_t next = enough < (double)most ? (int64_t)enough : most;
  return next > step ? next : step;
}

/* Grows the larger batch until both clocks see it; a worker's clock that never does is not waited for. */
static bool find_batch(runner *self, bench_variant *variant, batches *sum) {
  for (variant->big_batch = 2;; variant->big_batch = larger_batch(variant, sum)) {
    if (variant->big_batch > big_batch_most) variant->big_batch = big_batch_most;
    *sum = no_batches;
    if (!add_batches(self, variant, sum)) return false;
    const bool both = (double)sum->seen >= visible_ns && (double)sum->claim >= visible_ns / 2;
    if (both || (double)sum->seen >= long_enough_ns || variant->big_batch >= big_batch_most) return true;
  }
}

/* The extra requests beside the samples included. */
static double expected_ns(const runner *self, const bench_variant *variant) {
  const schedule *protocol = &self->run->protocol;
  const double overhead =
      fmax(5e6, (double)variant->beside_ns) + (self->run->cold ? 0.1 * (double)self->run->cache_bytes : 0);
  const double sample = ((double)variant->calls + protocol->warmup) * variant->call_ns + overhead;
  const double checks = visible_ns + 3 * variant->call_ns + 2 * overhead;
  return protocol->processes * (protocol->rounds * sample + checks);
}

static void calibrate(runner *self, bench_variant *variant) {
  tell(self, "trying", variant);
  batches sum;
  if (!find_batch(self, variant, &sum) || !clocks_agree(self, variant, &sum)) return;
  variant->call_ns = (double)sum.claim / (double)variant->big_batch;
  if (variant->calls == 0)
    variant->calls = schedule_calls(&self->run->protocol, variant->call_ns, self->run->cold);
  const double expected = expected_ns(self, variant);
  if (expected > limit_ns) {
    (void)runner_drop(variant, VERDICT_PASS, "would take %.0f s; the limit for a variant and shape is %.0f s",
                      expected * 1e-9, limit_ns * 1e-9);
  }
}

/* ---- samples ------------------------------------------------------------------------------------------- */

bool bench_add_sample(bench_variant *variant, const bench_sample *sample) {
  if (variant->sample_count == variant->sample_room) {
    const int64_t room = variant->sample_room > 0 ? 2 * variant->sample_room : 64;
    bench_sample *larger = realloc(variant->samples, (size_t)room * sizeof *larger);
    if (larger == NULL) return false;
    variant->samples = larger;
    variant->sample_room = room;
  }
  variant->samples[variant->sample_count++] = *sample;
  return true;
}

static void take_sample(runner *self, bench_variant *variant, int process, int round, int position) {
  session_timing timing;
  const bench_run *run = self->run;
  tell(self, "timing", variant);
  if (!runner_call(self, variant, variant->calls, run->cold ? 0 : run->protocol.warmup, run->cold, &timing) ||
      !runner_check(self, variant)) {
    return;
  }
  const double floor = floor_share * bench_floor_ns(run, self->one);
  if ((double)timing.nanoseconds / (double)variant->calls < floor) {
    (void)runner_drop(variant, VERDICT_SUSPECT,
                      "claims %.3g ns a call, which is below a thousandth of what this machine needs",
                      (double)timing.nanoseconds / (double)variant->calls);
    return;
  }
  variant->context_switches += timing.context_switches;
  const int64_t peak = session_peak_bytes(&self->worker);
  if (peak > variant->peak_bytes) variant->peak_bytes = peak;
  variant->graph_nodes = timing.graph_nodes;
  const bench_sample sample = {process, round, position, variant->calls, timing.nanoseconds, timing.sm_mhz};
  if (!bench_add_sample(variant, &sample)) {
    (void)runner_drop(variant, VERDICT_UNAVAILABLE, "not enough memory for its samples");
  }
  if ((double)variant->spent_ns > limit_ns) {
    (void)runner_drop(variant, VERDICT_PASS, "took longer than %.0f s; its samples so far are kept",
                      limit_ns * 1e-9);
  }
}

static void run_round(runner *self, int case_index, int process, int round, const bool *wanted) {
  bench_case *one = self->one;
  int order[BENCH_VARIANTS];
  const uint64_t seed = input_seed(self, case_index, process, round);
  schedule_shuffle(order, one->variant_count, assay_seed_mix(seed, ORDER_SALT));
  if (!runner_fill(self, seed, round == 0 ? RUNNER_AS_GIVEN : RUNNER_NEW, one->sampled_rounds)) return;
  int position = 0;
  for (int i = 0; i < one->variant_count && !check_interrupted(); i++) {
    bench_variant *variant = &one->variants[order[i]];
    if (wanted[order[i]] && timed(variant)) take_sample(self, variant, process, round, position++);
  }
}

static void run_rounds(runner *self, int case_index, int process) {
  bench_case *one = self->one;
  bool wanted[BENCH_VARIANTS];
  for (int v = 0; v < one->variant_count; v++) {
    wanted[v] = timed(&one->variants[v]) && !done_before(self, &one->variants[v], process);
    if (!wanted[v]) continue;
    forget_process(&one->variants[v], process);
    tell(self, "checking", &one->variants[v]);
    batches sum = no_batches;
    (void)clocks_agree(self, &one->variants[v], &sum);
  }
  for (int round = 0; round < self->run->protocol.rounds && !check_interrupted(); round++) {
    run_round(self, case_index, process, round, wanted);
  }
}

/* ---- cases and processes ------------------------------------------------------------------------------- */

static bool work_left(const runner *self, const bench_case *one, int process) {
  for (int v = 0; v < one->variant_count; v++) {
    const bench_variant *variant = &one->variants[v];
    if (timed(variant) && (process < 0 || !done_before(self, variant, process))) return true;
  }
  return false;
}

/* Baselines alone answer no question. */
static void drop_lonely_baselines(bench_case *one) {
  bool candidate = false;
  for (int v = 0; v < one->variant_count; v++) {
    candidate = candidate || (timed(&one->variants[v]) && one->variants[v].kind != BENCH_BASELINE);
  }
  for (int v = 0; v < one->variant_count && !candidate; v++) {
    if (one->variants[v].kind == BENCH_BASELINE) {
      (void)runner_drop(&one->variants[v], VERDICT_PASS, "there is nothing to compare with it");
    }
  }
}

static int32_t run_device(const bench_run *run) {
  return run->backend == ASSAY_CUDA ? 0 : ASSAY_DEVICE_CPU;
}

static void run_case(runner *self, int case_index, int process) {
  bench_case *one = &self->run->cases[case_index];
  drop_lonely_baselines(one);
  if (!work_left(self, one, process)) return;
  int slots = 0;
  assay_plan plan;
  bench_case_plan(one, &plan);
  self->one = one;
  self->operands = case_open(&one->op->subject, &plan, run_device(self->run), ASSAY_AT_START, &slots);
  self->mapped = false;
  if (self->operands == NULL) {
    for (int v = 0; v < one->variant_count; v++) {
      (void)runner_drop(&one->variants[v], VERDICT_UNAVAILABLE, "not enough memory for this shape");
    }
    return;
  }
  gate_all(self, case_index, process);
  drop_lonely_baselines(one);
  for (int v = 0; process < 0 && v < one->variant_count && !check_interrupted(); v++) {
    if (timed(&one->variants[v])) calibrate(self, &one->variants[v]);
  }
  if (process >= 0) run_rounds(self, case_index, process);
  if (self->gate_ready) gate_close(&self->gate);
  self->gate_ready = false;
  case_close(self->operands);
  self->operands = NULL;
}

static void run_process(runner *self, int process) {
  int *order = malloc((size_t)self->run->case_count * sizeof *order);
  if (order == NULL) return;
  schedule_shuffle(order, self->run->case_count, assay_seed_mix(self->run->seed, (uint64_t)(process + 1)));
  for (int i = 0; i < self->run->case_count && !check_interrupted(); i++) run_case(self, order[i], process);
  free(order);
  session_close(&self->worker);
}

static void announce(runner *self) {
  bench_run *run = self->run;
  double total = (double)self->prepared_ns * run->protocol.processes;
  int samples = 0;
  for (int c = 0; c < run->case_count; c++) {
    for (int v = 0; v < run->cases[c].variant_count; v++) {
      const bench_variant *variant = &run->cases[c].variants[v];
      if (!timed(variant)) continue;
      const int missing = run->protocol.processes * run->protocol.rounds - (int)variant->sample_count;
      if (missing <= 0) continue;
      samples += missing;
      total += expected_ns(self, variant) * missing / (run->protocol.processes * run->protocol.rounds);
    }
  }
  if (run->announce != NULL) run->announce(run->user, total * 1e-9, samples);
}

/* Whatever was timed has all its samples: one that ran into the limit has cut the run short. */
static bool all_there(const bench_run *run) {
  const int64_t wanted = (int64_t)run->protocol.processes * run->protocol.rounds;
  for (int c = 0; c < run->case_count; c++) {
    for (int v = 0; v < run->cases[c].variant_count; v++) {
      const bench_variant *variant = &run->cases[c].variants[v];
      const bool begun = variant->gate == VERDICT_PASS && variant->sample_count > 0;
      if ((timed(variant) || begun) && variant->sample_count < wanted) return false;
    }
  }
  return true;
}

static void run_processes(runner *self) {
  bench_run *run = self->run;
  run_process(self, -1);
  if (!check_interrupted()) announce(self);
  for (int process = 0; process < run->protocol.processes && !check_interrupted(); process++) {
    run_process(self, process);
    if (run->checkpoint != NULL) run->checkpoint(run->user);
  }
  run->complete = !check_interrupted() && all_there(run);
}

static bool measure_ceilings(bench_run *run, assay_message *why) {
  if (run->backend == ASSAY_CUDA)
    return ceilings_measure_cuda(run->ceilings, &run->cache_bytes, why) == ASSAY_OK &&
           overheads_measure(run->overheads, why) == ASSAY_OK;
  run->cache_bytes = ceiling_cache_bytes();
  if (run->ceilings[CEILING_FMA].count == 0) ceilings_measure(run->threads, run->ceilings);
  return true;
}

bool bench_measure(bench_run *run, assay_message *why) {
  if (run->load_count > RUNNER_LOADS) {
    (void)assay_explain(why, ASSAY_BAD_OPTION, "more than %d kernels at once: name fewer operators",
                        RUNNER_LOADS);
    return false;
  }
  runner *self = calloc(1, sizeof *self);
  if (self == NULL) {
    (void)assay_explain(why, ASSAY_NO_MEMORY, "not enough memory");
    return false;
  }
  worker_settings settings;
  self->run = run;
  self->worker.socket = -1;
  run->huge_low = 100;
  worker_settings_begin(&settings);
  const bool ready = measure_ceilings(run, why);
  if (ready) run_processes(self);
  session_close(&self->worker);
  worker_settings_end(&settings);
  free(self);
  return ready;
}
