/* SPDX-License-Identifier: MIT */
/* compare.h - an output against the oracle, element by element, in a way that no NaN can pass. */
#ifndef ASSAY_COMPARE_H
#define ASSAY_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/assay.h"

/* What is compared: `count` elements of `got`, row-major with `columns` in the last dimension. */
typedef struct comparison {
  assay_dtype dtype;
  const void *got;
  const double *want;    /* FP64, not rounded */
  const double *allowed; /* absolute */
  int64_t count;
  int64_t columns;
  uint64_t poison; /* what the output held before the call */
} comparison;

typedef struct comparison_result {
  int64_t wrong;
  int64_t first; /* index of the first wrong element, -1 when all are right */
} comparison_result;

/* Classes first (NaN, either infinity, finite, judged on the rounded oracle), then !(|got - want| <=
 * allowed). +0 equals -0. A subnormal FP32 or BF16 result may be 0, as the contract says. */
bool compare_element(assay_dtype dtype, double got, double want, double allowed);

comparison_result compare_all(const comparison *what);

/* Would an output of zeros pass, one constant in every element, or these values? For the degenerate mark. */
bool compare_zeros_pass(const comparison *what);
bool compare_constant_passes(const comparison *what);
bool compare_values_pass(const comparison *what, const double *values);

/* One clause on what the wrong elements have in common, "" when nothing is seen. */
void compare_diagnose(const comparison *what, const comparison_result *result, char *text, size_t size);

#endif
