/* SPDX-License-Identifier: MIT */
/* emulator_build.h - from a launch to the emulated kernel: scanned, compiled by $CC, loaded, remembered. */
#ifndef ASSAY_EMULATOR_BUILD_H
#define ASSAY_EMULATOR_BUILD_H

#include "assay/kernel_calls.h"
#include "assay/workshop.h"

#include "emulator_instrument.h"
#include "status.h"

typedef struct emulated_kernel {
  void (*entry)(const void *args);    /* one thread */
  const assay_thread **(*self)(void); /* the object's pointer to the calling thread's coordinates */
  uint32_t threads_most;
  uint32_t arg_bytes;
  const watch_object *object; /* NULL unless it is watched */
} emulated_kernel;

/* The kernel of this launch, which stays loaded until the process ends. The second time it takes no lock.
 * A watched one tells of its accesses; it is an object of its own.
 * *log, when it is not NULL afterwards, holds what the compiler said and is to be freed. Errors: UNAVAILABLE
 * (no source, no compiler), KERNEL_FAULT (not CUDA C, does not compile, no such kernel), NO_MEMORY. */
assay_status assay_emulator_find(const assay_launch *launch, const assay_emulator_calls *calls, bool watched,
                                 const emulated_kernel **kernel, char **log, assay_message *why);

/* Whether the compiler can do that: UNAVAILABLE with the reason. */
assay_status assay_emulator_can_watch(assay_message *why);

#endif
