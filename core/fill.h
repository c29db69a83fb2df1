/* SPDX-License-Identifier: MIT */
/* fill.h - contents of inputs that suit every operator; a row's a and b are the parameters. */
#ifndef ASSAY_FILL_H
#define ASSAY_FILL_H

#include "op.h"

assay_fill assay_fill_normal;   /* mean a, standard deviation b */
assay_fill assay_fill_uniform;  /* in [a, b) */
assay_fill assay_fill_constant; /* a */

#endif
