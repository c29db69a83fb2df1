/* SPDX-License-Identifier: MIT */
/*
 * gauge.cu - what a measurement tells about its GPU: the clock that its multiprocessors run at, and a kernel
 * that does nothing, for the time that a launch costs by itself; and whether a kernel wrote to an input.
 *
 * builds: sm_clock
 * builds: nothing
 * builds: differs
 */
#include "assay/kernel.h"

typedef struct gauge_args {
  int64_t *answer;     /* sm_clock: cycles and the nanoseconds that they took */
  int64_t nanoseconds; /* at least so many */
} gauge_args;

typedef struct differs_args {
  int64_t *answer; /* the second becomes 1 when they differ */
  const void *left, *right;
  int64_t bytes;
} differs_args;

#ifdef ASSAY_DEVICE
/* The timer moves in steps, so both ends are taken right behind one. */
static __device__ uint64_t next_step(uint64_t from) {
  uint64_t now;
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now < from);
  return now;
}

KERNEL(sm_clock, gauge_args, 32) {
  const uint64_t start = next_step(next_step(0) + 1);
  const int64_t first = clock64();
  const uint64_t end = next_step(start + (uint64_t)args.nanoseconds);
  const int64_t last = clock64();
  if (threadIdx.x == 0) {
    args.answer[0] = last - first;
    args.answer[1] = (int64_t)(end - start);
  }
}

KERNEL(nothing, gauge_args, 32) {
  (void)args;
}

/* Whether two memories hold the same, byte by byte. */
KERNEL(differs, differs_args, 256) {
  const int64_t step = (int64_t)gridDim.x * 256;
  const int64_t words = args.bytes / 8;
  const uint64_t *left = (const uint64_t *)args.left;
  const uint64_t *right = (const uint64_t *)args.right;
  int64_t found = 0;
  for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < words; i += step)
    found |= left[i] != right[i];
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    const uint8_t *tail_left = (const uint8_t *)args.left;
    const uint8_t *tail_right = (const uint8_t *)args.right;
    for (int64_t i = 8 * words; i < args.bytes; ++i) found |= tail_left[i] != tail_right[i];
  }
  if (found) args.answer[1] = 1;
}
#endif
