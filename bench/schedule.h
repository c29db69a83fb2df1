/* SPDX-License-Identifier: MIT */
/* schedule.h - how many calls make a sample, in which order variants come, and what paired samples say. */
#ifndef ASSAY_SCHEDULE_H
#define ASSAY_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "sample.h"

typedef enum schedule_name { SCHEDULE_ASSAY = 0, SCHEDULE_SEEDS, SCHEDULE_QUICK } schedule_name;

typedef struct schedule {
  schedule_name name;
  int processes;
  int rounds;
  int calls;
  int warmup;
} schedule;

typedef enum schedule_verdict {
  SCHEDULE_FASTER = 0,
  SCHEDULE_SLOWER,
  SCHEDULE_SAME,
  SCHEDULE_CANNOT_TELL
} schedule_verdict;

/* time(baseline) / time(candidate). */
typedef struct schedule_ratio {
  double ratio; /* NaN when there is no pair */
  double low;   /* NaN: the protocol gives no interval, or there are too few processes */
  double high;
  double confidence;
  schedule_verdict verdict;
} schedule_ratio;

/* "assay": 9 processes x 5 rounds; "quick": 3 x 5; "seeds": 1 x 7. */
schedule schedule_of(schedule_name name);

/* Calls of a sample when one takes `call_ns`. */
int64_t schedule_calls(const schedule *self, double call_ns, bool cold);

/* A permutation of 0 .. count - 1 that follows from the seed alone. */
void schedule_shuffle(int *order, int count, uint64_t seed);

/* What the samples say. Pairs have the same process and round; a process's number is the median of the
 * logarithms of its pairs. */
schedule_ratio schedule_compare(const schedule *self, const bench_sample *candidate, int64_t candidate_count,
                                const bench_sample *baseline, int64_t baseline_count);

/* Nanoseconds of one call: median, smallest, largest, median absolute deviation. False without samples. */
typedef struct schedule_summary {
  double median_ns;
  double min_ns;
  double max_ns;
  double mad_ns;
} schedule_summary;
bool schedule_summarise(const bench_sample *samples, int64_t count, schedule_summary *summary);

/* "faster" and so on. */
const char *schedule_verdict_name(schedule_verdict verdict);

#endif
