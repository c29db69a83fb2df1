/* SPDX-License-Identifier: MIT */
/*
 * spin.cu - keeps a stream busy for a time, or until the host says stop: what the judge puts before and
 * beside calls.
 *
 * builds: spin
 */
#include "assay/kernel.h"

typedef struct spin_args {
  const int *stop; /* in host memory; NULL: for the whole time */
  int64_t nanoseconds;
} spin_args;

#ifdef ASSAY_DEVICE
KERNEL(spin, spin_args, 32) {
  uint64_t start;
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    if (args.stop != 0 && *(const volatile int *)args.stop != 0) break;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while ((int64_t)(now - start) < args.nanoseconds);
}
#endif
