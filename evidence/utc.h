/* SPDX-License-Identifier: MIT */
/* utc.h - dates in evidence: one spelling, so that comparing two of them is comparing two texts. */
#ifndef ASSAY_UTC_H
#define ASSAY_UTC_H

#include <stdbool.h>

enum { UTC_TEXT = 21 }; /* "2026-11-30T14:12:40Z" and the NUL */

void utc_now(char text[UTC_TEXT]);
void utc_after_days(int days, char text[UTC_TEXT]);

/* Whether `text` is a date in that spelling: a real day of a real month, and a time of day. */
bool utc_valid(const char *text);

#endif
