/* SPDX-License-Identifier: MIT */
/* timer.c - the table of timers: the clock on the wall, and those of a GPU by name. */
#include "timer.h"

#include <stddef.h>

#include "clock.h"

static void begin_wall(timer_state *state) {
  state->start_ns = assay_now_ns();
}

static int64_t end_wall(timer_state *state) {
  const int64_t taken = assay_now_ns() - state->start_ns;
  return taken > 0 ? taken : 1;
}

const timer timers[TIMER_COUNT] = {
    [TIMER_WALL] = {"wall", NULL, begin_wall, end_wall},
    [TIMER_EVENTS] = {"events", "events time a GPU's stream, and this version has no GPU backend", NULL,
                      NULL},
    [TIMER_GRAPH] = {"graph", "graphs time a GPU's stream, and this version has no GPU backend", NULL, NULL},
};
