/* SPDX-License-Identifier: MIT */
/* cpu.h - what this CPU and its operating system can run, and how many threads this process should use. */
#ifndef ASSAY_CPU_H
#define ASSAY_CPU_H

#include <stdint.h>

enum {
  ASSAY_CPU_AVX2 = 1 << 0,        /* AVX2, FMA and F16C, and YMM state saved by the system */
  ASSAY_CPU_AVX512 = 1 << 1,      /* AVX-512 F, BW, DQ, VL, and ZMM state saved by the system */
  ASSAY_CPU_AVX512_BF16 = 1 << 2, /* AVX-512 BF16, only beside ASSAY_CPU_AVX512 */
};

/* The features of this machine; detected once. */
uint32_t assay_cpu_features(void);

/* "avx2 avx512 avx512bf16" for a feature set, "none" for 0; static storage of the calling thread. */
const char *assay_cpu_feature_names(uint32_t features);

/* Model name as the system tells it, "unknown" otherwise; static storage. */
const char *assay_cpu_model(void);

/* OMP_NUM_THREADS when it is a positive number, else the CPUs of the affinity mask; 1..1024. */
int assay_default_threads(void);

#endif
