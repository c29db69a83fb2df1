/* SPDX-License-Identifier: MIT */
/* verdict.c - names of verdicts, and the exit code of a run. */
#include "verdict.h"

const char *verdict_name(verdict value) {
  static const char *const names[VERDICT_COUNT] = {"PASS",    "FAIL",  "TODO",   "UNAVAILABLE",
                                                   "SUSPECT", "CRASH", "TIMEOUT"};
  return (unsigned)value < VERDICT_COUNT ? names[value] : "?";
}

void check_totals_add(check_totals *totals, verdict value) {
  switch (value) {
  case VERDICT_PASS:
    totals->passed++;
    break;
  case VERDICT_TODO:
    totals->unfinished++;
    break;
  case VERDICT_UNAVAILABLE:
    totals->unavailable++;
    break;
  case VERDICT_FAIL:
  case VERDICT_SUSPECT:
  case VERDICT_CRASH:
  case VERDICT_TIMEOUT:
  case VERDICT_COUNT:
    totals->failed++;
    break; /* whatever is not known to be good is a failure */
  }
}

int check_exit_code(const check_totals *totals, bool asked_unavailable) {
  if (totals->failed > 0) return 1;
  if (totals->unfinished > 0) return 2;
  if (totals->passed == 0 || asked_unavailable) return 3;
  return 0;
}
