/* SPDX-License-Identifier: MIT */
/* softmax_gpu.h - what the CUDA files of strided softmax share. */
#ifndef ASSAY_SOFTMAX_GPU_H
#define ASSAY_SOFTMAX_GPU_H

#include <stdbool.h>

#include "assay/workshop.h"

assay_kernel assay_softmax_cluster; /* softmax.cu: assay_softmax_cuda, with clusters for transposed views */

/* Whether the kernels may take the exponential of two ulp (FAST): the README's bound decides. */
static inline bool assay_softmax_fast(assay_dtype dtype, int64_t columns) {
  return dtype != ASSAY_FP32 && columns >= 256;
}

/* Softmax of a view with row stride 1, in softmax_strip.cu; `clusters`: whether the device has them. */
assay_status assay_softmax_strips(const assay_tensor *x, const assay_tensor *y, int64_t warps, bool clusters,
                                  assay_queue *queue);

#endif
