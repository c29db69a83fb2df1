/* SPDX-License-Identifier: MIT */
/* clock.c - the one place that asks for the time, so that all durations come from the same clock. */
#include "clock.h"

#include <assert.h>
#include <time.h>

int64_t assay_now_ns(void) {
  struct timespec now;
  const int failed = clock_gettime(CLOCK_MONOTONIC, &now);
  assert(failed == 0);
  (void)failed;
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
