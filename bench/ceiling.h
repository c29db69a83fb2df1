/* SPDX-License-Identifier: MIT */
/* ceiling.h - what this machine can do at most: measured beside every benchmark, never looked up. */
#ifndef ASSAY_CEILING_H
#define ASSAY_CEILING_H

#include <stdbool.h>
#include <stdint.h>

#include "status.h"

enum { CEILING_COPY = 0, CEILING_STREAM, CEILING_FMA, CEILINGS, CEILING_SAMPLES = 7 };

typedef struct ceiling {
  const char *name;
  bool flops;  /* units are operations, not bytes */
  double work; /* units a sample */
  int64_t samples[CEILING_SAMPLES];
  int count;
  double rate; /* units a second, by the median; 0 without samples */
} ceiling;

/* The size of the largest cache, 0 when the system does not tell. */
int64_t ceiling_cache_bytes(void);

/* Copies with loads and stores, copies with stores that pass the cache by, and multiply-adds, each on
 * `threads` threads. Memory that cannot be had leaves a ceiling without samples. */
void ceilings_measure(int threads, ceiling ceilings[CEILINGS]);

/* The same of GPU 0: copies within its memory, products of its matrix units; and the size of its second-level
 * cache. Errors: as assay_queue_open_cuda and assay_cuda_memory_open. */
assay_status ceilings_measure_cuda(ceiling ceilings[CEILINGS], int64_t *cache_bytes, assay_message *why);

#endif
