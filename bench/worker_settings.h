/* SPDX-License-Identifier: MIT */
/* worker_settings.h - the environment that workers inherit while something is timed. */
#ifndef ASSAY_WORKER_SETTINGS_H
#define ASSAY_WORKER_SETTINGS_H

enum { WORKER_SETTINGS = 5 };

/* What the variables held before. */
typedef struct worker_settings {
  char *saved[WORKER_SETTINGS];
} worker_settings;

/* Threads of a worker are bound to CPUs, one each, and go to sleep when they have nothing to do. What comes
 * after the run must not inherit that: end puts back what was. */
void worker_settings_begin(worker_settings *self);
void worker_settings_end(worker_settings *self);

#endif
