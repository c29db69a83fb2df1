/* SPDX-License-Identifier: MIT */
/* worker_nvrtc.h - emulated kernels are compiled for a GPU as well, wherever NVRTC is found. */
#ifndef ASSAY_WORKER_NVRTC_H
#define ASSAY_WORKER_NVRTC_H

#include "assay/workshop.h"
#include "status.h"

/* Whether the GPU's compiler takes a source that the emulator's compiler took: asked once for each file and
 * set of defines, and remembered on disk while nothing changes. ASSAY_OK also where there is no NVRTC, or
 * where it fails by itself; ASSAY_KERNEL_FAULT with a sentence that begins with the source's line. */
assay_status worker_nvrtc_check(const assay_launch *launch, assay_message *why);

/* Threads that the compiler has left behind in this process: on a machine with a GPU it opens the driver,
 * which keeps some. They are not the kernel's. */
int worker_nvrtc_threads(void);

#endif
