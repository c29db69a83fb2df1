/* SPDX-License-Identifier: MIT */
/* timer.c - the table of timers. */
#include "timer.h"

const timer timers[TIMER_COUNT] = {
    [TIMER_WALL] = {"wall", false},
    [TIMER_EVENTS] = {"events", true},
    [TIMER_GRAPH] = {"graph", true},
};
