/* SPDX-License-Identifier: MIT */
/*
 * rotate.h - contents that change from round to round and stay those of a file.
 *
 * Every axis is rotated by an amount that follows from the round's seed and the length of the axis. No value
 * is made or lost, values along an axis stay neighbours, and axes of one length turn together: what belongs
 * together in two operands, such as a row of y and the row of its gradient, still does.
 */
#ifndef ASSAY_ROTATE_H
#define ASSAY_ROTATE_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/assay.h"

/* The elements in row-major order, rotated by the seed; NULL: as they stand. */
void rotate_read(const assay_tensor *from, const uint64_t *seed, double *values);

/* Whether all elements are equal, so that nothing that is rotated differs. */
bool rotate_constant(const assay_tensor *from);

#endif
