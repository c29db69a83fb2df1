/* SPDX-License-Identifier: MIT */
/* contents.h - what an operand holds, made from a seed: as one, or in bands of rows by all threads. */
#ifndef ASSAY_CONTENTS_H
#define ASSAY_CONTENTS_H

#include "check/case.h"

/* How an operand's contents are made; `args` lacks the generator. */
typedef struct contents_way {
  assay_fill *fill;
  assay_fill_args args;
  uint64_t seed;
  bool banded; /* the fill may be given a part of the rows: no element depends on another row */
  int threads;
} contents_way;

/* New poison in all outputs, as case_poison makes it. */
void contents_poison(assay_case *operands, uint64_t seed, int threads);

/* False without memory. */
bool contents_make(const contents_way *self, case_operand *operand);

#endif
