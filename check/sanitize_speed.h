/* SPDX-License-Identifier: MIT */
/* sanitize_speed.h - how many steps of threads the emulator takes a second, with and without its tools. */
#ifndef ASSAY_SANITIZE_SPEED_H
#define ASSAY_SANITIZE_SPEED_H

#include "judge.h"
#include "sanitize.h"

typedef struct sanitize_case {
  assay_row row;
  assay_dtype dtype;
  int layout;
} sanitize_case;

/* Runs the case again and again; the judge's worker has the kernel. Leaves speed->steps at 0 when a call did
 * not end well. */
void sanitize_measure(judge *judged, const sanitize_case *what, uint64_t seed, sanitize_speed *speed);

#endif
