/* SPDX-License-Identifier: MIT */
/* timer.h - the ways to take a time. Each is an experiment of its own: times of two are never compared. */
#ifndef ASSAY_TIMER_H
#define ASSAY_TIMER_H

#include <stdbool.h>

typedef struct timer {
  const char *name;
  bool on_gpu; /* it times a CUDA stream; otherwise the calling thread */
} timer;

/* wall: the system's clock around calls. events: two points in the stream, around calls that are launched one
 * by one. graph: the same points around one launch of a graph that holds all calls. */
enum { TIMER_WALL = 0, TIMER_EVENTS, TIMER_GRAPH, TIMER_COUNT };

extern const timer timers[TIMER_COUNT];

#endif
