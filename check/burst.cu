/* SPDX-License-Identifier: MIT */
/*
 * burst.cu - matrix products from registers: brings a GPU to its working clock before something is timed, and
 * shows how fast its matrix units are.
 *
 * builds: burst
 */
#include "assay/kernel.h"

typedef struct burst_args {
  float *sink; /* one element a block, so that the products are not left out */
  int64_t steps;
} burst_args;

/* Independent accumulators hide the latency of one. A step of a warp is CHAINS * 2 * 16 * 8 * 16 operations. */
enum { CHAINS = 8 };

#ifdef ASSAY_DEVICE
KERNEL(burst, burst_args, 256) {
  /* Numbers near one, different in every lane: units are faster on zeros. */
  uint32_t a[4];
  uint32_t b[2];
  float d[CHAINS][4];
  for (int i = 0; i < 4; ++i) a[i] = 0x3c003a00u + 0x00010003u * (threadIdx.x + 7u * (uint32_t)i);
  for (int i = 0; i < 2; ++i) b[i] = 0xbc003b00u + 0x00030001u * (threadIdx.x + 5u * (uint32_t)i);
#pragma unroll
  for (int c = 0; c < CHAINS; ++c) {
    for (int i = 0; i < 4; ++i) d[c][i] = 0.0f;
  }
  for (int64_t s = 0; s < args.steps; ++s) {
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) mma_m16n8k16_fp16(d[c], a, b);
  }
  float sum = 0.0f;
#pragma unroll
  for (int c = 0; c < CHAINS; ++c) {
    for (int i = 0; i < 4; ++i) sum += d[c][i];
  }
  sum = warp_sum(sum);
  if (threadIdx.x == 0) args.sink[blockIdx.x] = sum;
}
#endif
