/* SPDX-License-Identifier: MIT */
/*
 * kernel_scan.h - words in a kernel that C takes and CUDA C++ does not, found before anything is compiled.
 *
 * The emulator compiles kernels as C, which knows more than the part that C and NVRTC share. A kernel that
 * runs here is to compile there, so what NVRTC refuses is refused with the learner's line and what to write
 * instead. It is a look at words and brackets, not a compiler: what it cannot see, NVRTC finds where there is
 * one.
 */
#ifndef ASSAY_KERNEL_SCAN_H
#define ASSAY_KERNEL_SCAN_H

#include "status.h"

/* ASSAY_OK, or ASSAY_KERNEL_FAULT with "FILE:LINE: what is wrong". Looks at what is compiled with
 * ASSAY_DEVICE. */
assay_status assay_kernel_scan(const char *file, const char *text, assay_message *why);

#endif
