/* SPDX-License-Identifier: MIT */
/*
 * half.h - the judge's conversions between FP64 and the element types.
 *
 * They are arithmetic (scale, round to an integer, scale back), and share nothing with the bit manipulation
 * in workshop.h that kernels use: one cannot hide a fault of the other. All round to nearest, ties to even.
 */
#ifndef ASSAY_HALF_H
#define ASSAY_HALF_H

#include <stdbool.h>

#include "assay/assay.h"

/* Rounds a double once to the type and returns the value as a double; FP64 returns it unchanged. */
double assay_round_to(assay_dtype dtype, double value);

/* The bit pattern of the rounded value, in the low 16, 32 or 64 bits, and back. */
uint64_t assay_encode(assay_dtype dtype, double value);
double assay_decode(assay_dtype dtype, uint64_t bits);

/* Element `index` of an array, widened exactly; and stored after one rounding. */
double assay_get(const void *data, assay_dtype dtype, int64_t index);
void assay_put(void *data, assay_dtype dtype, int64_t index, double value);

/* Half an ulp at 1 (2^-24, 2^-11, 2^-8, 2^-53): the largest relative error of one rounding of a normal. */
double assay_unit_roundoff(assay_dtype dtype);

/* Smallest positive normal value, and largest finite one. */
double assay_min_normal(assay_dtype dtype);
double assay_max_finite(assay_dtype dtype);

/* Distance between neighbours of the type around `value` (of its rounded magnitude). */
double assay_ulp(assay_dtype dtype, double value);

/* The largest error of rounding `value` once: relative for normals, half a subnormal step below. */
double assay_rounding_error(assay_dtype dtype, double value);

#endif
