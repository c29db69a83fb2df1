/* SPDX-License-Identifier: MIT */
/* tensor.h - sizes, spans and overlaps of strided views, with every overflow reported. */
#ifndef ASSAY_TENSOR_H
#define ASSAY_TENSOR_H

#include <stdbool.h>

#include "assay/assay.h"

/* The memory between the first and one past the last byte of any element, relative to nothing: lo <= hi. */
typedef struct assay_span {
  uintptr_t lo;
  uintptr_t hi;
} assay_span;

/* A contiguous view in row-major order; `data` may be NULL. */
assay_tensor assay_tensor_make(void *data, assay_dtype dtype, int rank, const int64_t *shape);

/* Product of the shape. Returns false when it does not fit an int64_t or a size is negative. */
bool assay_tensor_count(const assay_tensor *tensor, int64_t *count);

/* Elements from the first to the last one that the view touches, 0 when it is empty. Strides must not be
 * negative. Returns false when the span in bytes, or data plus the span, does not fit. */
bool assay_tensor_extent(const assay_tensor *tensor, int64_t *elements);

/* The bytes that a view with nonnegative strides touches; lo == hi when empty. Needs a valid extent. */
assay_span assay_tensor_span(const assay_tensor *tensor);

/* Row-major without gaps: sizes of 1 may have any stride. */
bool assay_tensor_contiguous(const assay_tensor *tensor);

/* How many elements a view has at least to be read: repeated and overlapping ones count once, gaps not. 0 for
 * a view without a valid extent. */
int64_t assay_tensor_distinct(const assay_tensor *tensor);

/* Offset in elements of row-major position `flat`. */
int64_t assay_tensor_offset(const assay_tensor *tensor, int64_t flat);

#endif
