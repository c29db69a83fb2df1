/* SPDX-License-Identifier: MIT */
/* emulator_build.h - from a launch to the emulated kernel: scanned, compiled by $CC, loaded, remembered. */
#ifndef ASSAY_EMULATOR_BUILD_H
#define ASSAY_EMULATOR_BUILD_H

#include "assay/kernel_calls.h"
#include "assay/workshop.h"

#include "status.h"

typedef struct emulated_kernel {
  void (*entry)(const void *args);    /* one thread */
  const assay_thread **(*self)(void); /* the object's pointer to the calling thread's coordinates */
  uint32_t threads_most;
  uint32_t arg_bytes;
} emulated_kernel;

/* The kernel of this launch, which stays loaded until the process ends. The second time it takes no lock.
 * *log, when it is not NULL afterwards, holds what the compiler said and is to be freed. Errors: UNAVAILABLE
 * (no source, no compiler), KERNEL_FAULT (not CUDA C, does not compile, no such kernel), NO_MEMORY. */
assay_status assay_emulator_find(const assay_launch *launch, const assay_emulator_calls *calls,
                                 const emulated_kernel **kernel, char **log, assay_message *why);

#endif
