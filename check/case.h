/* SPDX-License-Identifier: MIT */
/* case.h - the operands of one call on the judge's side: memory, contents, poison, the copy of the outputs.
 */
#ifndef ASSAY_CASE_H
#define ASSAY_CASE_H

#include "buffer.h"
#include "probe.h"
#include "protocol.h"

typedef struct case_operand {
  const char *name;
  assay_tensor tensor; /* data points into the judge's mapping */
  assay_buffer buffer;
  int slot;       /* in the worker; -1 for an operand that is left out */
  int session;    /* number of the session in which it is mapped, 0 for none */
  void *snapshot; /* outputs: a copy taken right after the call; NULL when too large to copy */
} case_operand;

struct assay_case {
  const assay_export *function; /* whose operands these are */
  case_operand in[ASSAY_MAX_OPERANDS];
  case_operand out[ASSAY_MAX_OPERANDS];
  int64_t opt[ASSAY_MAX_OPTIONS];
  int entry;
  uint64_t poison; /* seed of the outputs' contents before the last call */
};

/* Allocates what the plan asks for, as tensors of `device`; slots count up from *next_slot. NULL with errno
 * set. */
assay_case *case_open(const assay_subject *subject, const assay_plan *plan, int32_t device,
                      assay_placement placement, int *next_slot);
void case_close(assay_case *operands);

/* Logical values in row-major order into the strided storage; the gaps keep their NaN. */
void case_fill(case_operand *operand, const double *values);
/* The same for `count` of them from `first` on. */
void case_fill_part(const case_operand *operand, int64_t first, int64_t count, const double *values);
/* The values as stored, widened. */
void case_read(const case_operand *operand, double *values);

/* New random contents of all outputs and of the memory around them. */
void case_poison(assay_case *operands, uint64_t seed);

/* The same in parts: first the memory around all outputs, which takes the seed, then elements. */
void case_poison_edges(assay_case *operands, uint64_t seed);
void case_poison_part(const assay_case *operands, int index, int64_t first, int64_t count);

/* Instead, NaN and infinities in turn, which survive a multiplication by 0. After case_poison, whose seed
 * decides who comes first. */
void case_poison_special(assay_case *operands);

/* Copies the outputs. False with errno set. */
bool case_snapshot(assay_case *operands);

/* What the last call left in output `index`: the snapshot, or the memory itself when it is too large to copy.
 */
const void *case_result(const assay_case *operands, int index);

/* Whether an output still is what the snapshot holds. */
bool case_unchanged(const assay_case *operands);

/* True, with a sentence, when the memory around an output was written to. */
bool case_spilled(const assay_case *operands, char *text, size_t size);

/* "x 6 x 33 fp32, strides 33 and 1": shape, type and strides of every input. */
void case_describe(const assay_case *operands, char *text, size_t size);

/* "0 1 2 ...": the first elements of the row that holds the row-major position. */
void case_show_row(const case_operand *operand, const void *data, int64_t flat, char *text, size_t size);

/* "y[2,17]" for a row-major position. */
void case_name_element(const case_operand *operand, int64_t flat, char *text, size_t size);

#endif
