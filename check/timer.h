/* SPDX-License-Identifier: MIT */
/* timer.h - the ways to take a time. Each is an experiment of its own: times of two are never compared. */
#ifndef ASSAY_TIMER_H
#define ASSAY_TIMER_H

#include <stdbool.h>
#include <stdint.h>

/* What a timer keeps between begin and end. */
typedef struct timer_state {
  int64_t start_ns;
} timer_state;

typedef struct timer {
  const char *name;
  const char *missing; /* why it cannot be used in this program; NULL when it can */
  void (*begin)(timer_state *state);
  int64_t (*end)(timer_state *state); /* nanoseconds since begin, at least 1 */
} timer;

enum { TIMER_WALL = 0, TIMER_EVENTS, TIMER_GRAPH, TIMER_COUNT };

extern const timer timers[TIMER_COUNT];

#endif
