/* SPDX-License-Identifier: MIT */
/*
 * normalizer_sets.h - what the checks of the normaliser share: a set of elements on the judge's side, the
 * states of its parts, and the kernel's three functions as calls that return.
 */
#ifndef ASSAY_NORMALIZER_SETS_H
#define ASSAY_NORMALIZER_SETS_H

#include "normalizer.h"
#include "probe.h"

/* Elements as the type holds them, twice: to be read as doubles and to be summarised by the oracle. */
typedef struct normalizer_set {
  assay_dtype dtype;
  int64_t count;
  double *values;
  void *elements;
} normalizer_set;

/* `count` elements from a fill function, rounded to the type. False when the probe has failed; otherwise
 * closed by assay_normalizer_set_close. */
bool assay_normalizer_set_open(assay_probe *probe, normalizer_set *set, assay_dtype dtype, int64_t count,
                               assay_fill *fill, double a, double b);
void assay_normalizer_set_close(normalizer_set *set);

/* The state of elements [first, first + count) by the definition, and the errors allowed. */
void assay_normalizer_set_state(const normalizer_set *set, int64_t first, int64_t count, double state[2],
                                double allowed[2]);

/* The largest finite element minus the smallest. */
double assay_normalizer_set_spread(const normalizer_set *set);

/* Packed operands of one function. */
assay_case *assay_normalizer_case(assay_probe *probe, int entry, assay_dtype dtype, int64_t count);

/* Puts elements [first, first + count) of the set into input `index`. */
bool assay_normalizer_put_elements(assay_probe *probe, assay_case *operands, int index,
                                   const normalizer_set *set, int64_t first);

/* The kernel's merge of two states; `merging` is a case of merge. */
bool assay_normalizer_run_merge(assay_probe *probe, assay_case *merging, const double left[2],
                                const double right[2], double state[2]);

/* The two numbers that the last call left in output 0. */
void assay_normalizer_read_state(const assay_probe *probe, const assay_case *operands, double state[2]);

/* Both numbers of the last call's state. */
bool assay_normalizer_expect_state(assay_probe *probe, assay_case *operands, const double want[2],
                                   const double allowed[2]);

/* The kernel's merge of two states against the definition. */
bool assay_normalizer_expect_merge(assay_probe *probe, assay_case *merging, const double left[2],
                                   const double right[2]);

#endif
