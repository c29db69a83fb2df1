/* SPDX-License-Identifier: MIT */
/* clock.h - monotonic time. */
#ifndef ASSAY_CLOCK_H
#define ASSAY_CLOCK_H

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t assay_now_ns(void);

#endif
