/* SPDX-License-Identifier: MIT */
/* split_softmax_fills.h - contents of x in the checks of split softmax; a and b are a row's parameters. */
#ifndef ASSAY_SPLIT_SOFTMAX_FILLS_H
#define ASSAY_SPLIT_SOFTMAX_FILLS_H

#include "split_softmax.h"

/* Where b is the size of a chunk, "chunk k" is columns k*b up to (k+1)*b. */
assay_fill assay_split_softmax_fill_spike;      /* b everywhere, a in the last, first or middle column */
assay_fill assay_split_softmax_fill_last;       /* normal, and a in the last column */
assay_fill assay_split_softmax_fill_dominant;   /* normal, and a once, in chunk r of row r; b: chunk */
assay_fill assay_split_softmax_fill_levels;     /* each chunk around a random level in +-a; b: chunk */
assay_fill assay_split_softmax_fill_steps;      /* chunk k around a*k; b: chunk */
assay_fill assay_split_softmax_fill_row_levels; /* row r around a*r */
assay_fill assay_split_softmax_fill_ramp;       /* a line from a to b, with a little noise */
assay_fill assay_split_softmax_fill_lost_terms; /* a 0, then terms just below half an ulp of 1 */
assay_fill assay_split_softmax_fill_limits;     /* +a, -a, 0 and 1 in random order */
assay_fill assay_split_softmax_fill_subnormals; /* half of the entries below a in size */
assay_fill assay_split_softmax_fill_masked;     /* a share a of the entries is -inf */
assay_fill
    assay_split_softmax_fill_masked_chunks; /* whole chunks of -inf, other ones in every row; b: chunk */
assay_fill
    assay_split_softmax_fill_leading_masked;     /* the first chunks are -inf, the rest around a; b: chunk */
assay_fill assay_split_softmax_fill_masked_rows; /* every second row is -inf throughout */
assay_fill assay_split_softmax_fill_special;     /* every second row holds a once */
assay_fill assay_split_softmax_fill_special_masked; /* the same, in a chunk of -inf; b: chunk */

#endif
