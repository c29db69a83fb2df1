/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - what a `.cu` file includes: the CUDA C dialect of Assay, for its two halves.
 *
 * A file holds one struct of arguments a kernel, the kernels between `#ifdef ASSAY_DEVICE` and `#else`, and
 * the host function up to `#endif`. It is compiled as C++ by NVRTC (the kernels for a GPU), as C by the C
 * compiler (the host function), and as C once more (the kernels for the emulator), so it is written in the
 * part that C and C++ share.
 */
#ifndef ASSAY_KERNEL_H
#define ASSAY_KERNEL_H

#ifdef ASSAY_DEVICE

#ifdef ASSAY_EMULATED
#include "kernel_emulator.h"
#else
#include "kernel_cuda.h"
#endif

#else

#include "workshop.h"

/* A size of a grid or block: x by 1 by 1. A size outside 1..2^31-1 becomes 0, which no launch takes. */
static inline assay_dim3 assay_dim(int64_t x) {
  const assay_dim3 size = {x > 0 && x <= INT32_MAX ? (uint32_t)x : 0, 1, 1};
  return size;
}

static inline assay_dim3 assay_dim2(int64_t x, int64_t y) {
  assay_dim3 size = assay_dim(x);
  size.y = assay_dim(y).x;
  return size;
}

static inline assay_status assay_launch_kernel(assay_queue *queue, const assay_launch *launch) {
  if (queue->calls->version < 2 || queue->calls->launch == NULL) return ASSAY_BAD_DEVICE;
  return queue->calls->launch(queue, launch);
}

/* Starts kernel `kernel` (a string) of this file. grid, block: assay_dim3; shared: bytes of dynamic shared
 * memory; cluster: blocks a cluster, 1 for none; defines: an array that ends with {NULL, 0}; args: the
 * struct. Gives an assay_status; on CUDA the kernel may still be running then. */
#define LAUNCH(queue, kernel, grid, block, shared, cluster, defines, args)                                   \
  assay_launch_kernel((queue),                                                                               \
                      &(const assay_launch){__FILE__, (kernel), (grid), (block), (uint32_t)(shared),         \
                                            (uint32_t)(cluster), (defines), &(args), sizeof(args)})

#endif
#endif
