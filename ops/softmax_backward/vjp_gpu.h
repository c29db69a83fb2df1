/* SPDX-License-Identifier: MIT */
/* vjp_gpu.h - what the CUDA files of softmax_backward share. */
#ifndef ASSAY_VJP_GPU_H
#define ASSAY_VJP_GPU_H

#include <stdbool.h>

#include "assay/workshop.h"

assay_kernel assay_vjp_cluster; /* vjp.cu: assay_vjp_cuda, with clusters for transposed views */

/* For y and g with row stride 1, in vjp_strip.cu; `clusters`: whether the device has them. */
assay_status assay_vjp_strips(const assay_tensor *y, const assay_tensor *g, const assay_tensor *dx,
                              int64_t warps, bool clusters, assay_queue *queue);

#endif
