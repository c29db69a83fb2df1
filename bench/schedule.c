/* SPDX-License-Identifier: MIT */
/* schedule.c - samples, order and verdicts; docs/measuring.md says why. */
#include "schedule.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "rng.h"
#include "stats.h"

enum { MOST_PROCESSES = 64, MOST_ROUNDS = 64 };

static const double tolerance = 1.01;       /* ratios within 1 % are the same */
static const double quick_tolerance = 1.05; /* three processes have to agree beyond this */
static const double confidence_wanted = 0.95;
static const double longest_sample_ns = 100e6;
static const double shortest_sample_ns = 1e6;
static const int64_t most_calls = 1 << 20;

schedule schedule_of(schedule_name name) {
  static const schedule known[] = {
      [SCHEDULE_ASSAY] = {SCHEDULE_ASSAY, 9, 5, 20, 1},
      [SCHEDULE_SEEDS] = {SCHEDULE_SEEDS, 1, 7, 20, 5},
      [SCHEDULE_QUICK] = {SCHEDULE_QUICK, 3, 5, 20, 1},
  };
  return known[name];
}

int64_t schedule_calls(const schedule *self, double call_ns, bool cold) {
  if (cold) return 1;
  if (self->name == SCHEDULE_SEEDS) return self->calls;
  const double usual = self->calls * call_ns;
  if (!(usual > 0)) return most_calls;
  if (usual > longest_sample_ns) {
    const int64_t fitting = (int64_t)(longest_sample_ns / call_ns);
    return fitting > 1 ? fitting : 1;
  }
  if (usual >= shortest_sample_ns) return self->calls;
  const double needed = ceil(shortest_sample_ns / call_ns);
  return needed < (double)most_calls ? (int64_t)needed : most_calls;
}

void schedule_shuffle(int *order, int count, uint64_t seed) {
  assay_rng rng;
  assay_rng_seed(&rng, seed);
  for (int i = 0; i < count; i++) order[i] = i;
  for (int i = count - 1; i > 0; i--) {
    const int other = (int)assay_rng_below(&rng, (uint64_t)i + 1);
    const int kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
}

const char *schedule_verdict_name(schedule_verdict verdict) {
  static const char *const names[] = {"faster", "slower", "same", "cannot tell"};
  return names[verdict];
}

static double call_ns(const bench_sample *sample) {
  return (double)sample->nanoseconds / (double)sample->calls;
}

bool schedule_summarise(const bench_sample *samples, int64_t count, schedule_summary *summary) {
  if (count <= 0) return false;
  double *values = malloc((size_t)count * sizeof *values);
  if (values == NULL) return false;
  *summary = (schedule_summary){.min_ns = INFINITY, .max_ns = 0};
  for (int64_t i = 0; i < count; i++) {
    values[i] = call_ns(&samples[i]);
    if (values[i] < summary->min_ns) summary->min_ns = values[i];
    if (values[i] > summary->max_ns) summary->max_ns = values[i];
  }
  summary->median_ns = assay_median(values, (size_t)count);
  summary->mad_ns = assay_mad(values, (size_t)count);
  free(values);
  return true;
}

/* ---- comparing ----------------------------------------------------------------------------------------- */

static const bench_sample *find_pair(const bench_sample *one, const bench_sample *others, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    if (others[i].process == one->process && others[i].round == one->round) return &others[i];
  }
  return NULL;
}

/* The median of the logarithms of the pairs of each process that has one; returns how many have. */
static int process_ratios(const bench_sample *candidate, int64_t candidate_count,
                          const bench_sample *baseline, int64_t baseline_count, double *ratios) {
  int count = 0;
  for (int64_t process = 0; process < MOST_PROCESSES; process++) {
    double logs[MOST_ROUNDS];
    size_t pairs = 0;
    for (int64_t i = 0; i < candidate_count && pairs < MOST_ROUNDS; i++) {
      if (candidate[i].process != process) continue;
      const bench_sample *pair = find_pair(&candidate[i], baseline, baseline_count);
      if (pair != NULL) logs[pairs++] = log(call_ns(pair) / call_ns(&candidate[i]));
    }
    if (pairs > 0) ratios[count++] = assay_median(logs, pairs);
  }
  return count;
}

static schedule_verdict judge(double low, double high, double around) {
  if (low > around) return SCHEDULE_FASTER;
  if (high < 1 / around) return SCHEDULE_SLOWER;
  if (low >= 1 / around && high <= around) return SCHEDULE_SAME;
  return SCHEDULE_CANNOT_TELL;
}

/* As in the seeds: medians of all samples, and no claim beyond them. */
static void describe(const bench_sample *candidate, int64_t candidate_count, const bench_sample *baseline,
                     int64_t baseline_count, schedule_ratio *result) {
  schedule_summary mine;
  schedule_summary theirs;
  if (schedule_summarise(candidate, candidate_count, &mine) &&
      schedule_summarise(baseline, baseline_count, &theirs)) {
    result->ratio = theirs.median_ns / mine.median_ns;
  }
}

/* Three processes say something only where they all say the same. */
static void judge_quickly(const double *ratios, int count, schedule_ratio *result) {
  double low = ratios[0];
  double high = ratios[0];
  for (int i = 1; i < count; i++) {
    if (ratios[i] < low) low = ratios[i];
    if (ratios[i] > high) high = ratios[i];
  }
  result->low = exp(low);
  result->high = exp(high);
  result->confidence = 1 - pow(0.5, count - 1);
  const schedule_verdict verdict = judge(result->low, result->high, quick_tolerance);
  if (verdict != SCHEDULE_SAME) result->verdict = verdict;
}

schedule_ratio schedule_compare(const schedule *self, const bench_sample *candidate, int64_t candidate_count,
                                const bench_sample *baseline, int64_t baseline_count) {
  schedule_ratio result = {.ratio = NAN, .low = NAN, .high = NAN, .verdict = SCHEDULE_CANNOT_TELL};
  if (self->name == SCHEDULE_SEEDS) {
    describe(candidate, candidate_count, baseline, baseline_count, &result);
    return result;
  }
  double ratios[MOST_PROCESSES];
  const int count = process_ratios(candidate, candidate_count, baseline, baseline_count, ratios);
  if (count == 0) return result;
  result.ratio = exp(assay_median(ratios, (size_t)count));
  assay_interval interval;
  if (self->name == SCHEDULE_QUICK) {
    if (count >= self->processes) judge_quickly(ratios, count, &result);
  } else if (assay_median_interval(ratios, (size_t)count, confidence_wanted, &interval)) {
    result.low = exp(interval.low);
    result.high = exp(interval.high);
    result.confidence = interval.confidence;
    result.verdict = judge(result.low, result.high, tolerance);
  }
  return result;
}
