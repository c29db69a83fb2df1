/* SPDX-License-Identifier: MIT */
/* unit.h - cmocka with the headers that it needs first, and what its version 1.1 lacks. */
#ifndef ASSAY_UNIT_H
#define ASSAY_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

/* The same number to the last bit, where NaN equals NaN and the two zeros differ. */
static inline void unit_same(double got, double want, const char *what) {
  uint64_t got_bits;
  uint64_t want_bits;
  if (isnan(got) && isnan(want)) return;
  memcpy(&got_bits, &got, sizeof got_bits);
  memcpy(&want_bits, &want, sizeof want_bits);
  if (got_bits != want_bits) fail_msg("%s: got %.17g (%a), expected %.17g (%a)", what, got, got, want, want);
}

#define assert_same_double(got, want) unit_same((got), (want), #got)

static inline void unit_near(double got, double want, double allowed, const char *what) {
  if (!(fabs(got - want) <= allowed))
    fail_msg("%s: got %.17g, expected %.17g +- %g", what, got, want, allowed);
}

#define assert_near(got, want, allowed) unit_near((got), (want), (allowed), #got)

#endif
