/* SPDX-License-Identifier: MIT */
/* gate.h - the judge's values for a round's inputs, and an output against them. */
#ifndef ASSAY_GATE_H
#define ASSAY_GATE_H

#include "check/case.h"

enum { GATE_ROWS = 64 };

/* What a right output holds: in all rows, or in some that are chosen when the first output is there. */
typedef struct gate {
  const assay_subject *subject;
  int batch_dims;
  bool sampled;
  bool exact; /* every right kernel gives the rounded value itself */
  int threads;
  double *want;
  double *allowed;
  int64_t count;            /* rows that are compared */
  int64_t columns;          /* elements of each */
  int64_t first[GATE_ROWS]; /* sampled: the row-major position of each row in the output */
} gate;

typedef struct gate_result {
  int64_t compared;
  int64_t wrong;
  int64_t first_wrong; /* row-major position */
  double error_ulps;   /* largest */
  double error_share;  /* largest, of what is allowed */
  double got, want;    /* at the first wrong element */
} gate_result;

/* Computes the expected values for what the inputs hold now. `seed` chooses the rows. False without memory.
 */
bool gate_open(gate *self, const assay_case *operands, uint64_t seed);
void gate_close(gate *self);

gate_result gate_compare(const gate *self, const assay_case *operands);

#endif
