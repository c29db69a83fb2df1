/* SPDX-License-Identifier: MIT */
/* normalizer_vector.h - the FP64 halves of the vector variants, which their FP32 files dispatch to. */
#ifndef ASSAY_NORMALIZER_VECTOR_H
#define ASSAY_NORMALIZER_VECTOR_H

#include "normalizer_parts.h"

normalizer_summary assay_normalizer_wide_avx2_summary;
normalizer_ending assay_normalizer_wide_avx2_ending;
normalizer_summary assay_normalizer_wide_avx512_summary;
normalizer_ending assay_normalizer_wide_avx512_ending;

#endif
