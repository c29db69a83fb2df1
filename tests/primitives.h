/* SPDX-License-Identifier: MIT */
/*
 * primitives.h - the table of kernel.h's primitives: the kernel of each, its inputs, and a plain model in C.
 *
 * Whatever runs kernels is compared with it: the emulator on any machine, and a GPU where there is one. The
 * tables themselves are in primitives_warps.h and primitives_memory.h.
 */
#ifndef ASSAY_PRIMITIVES_H
#define ASSAY_PRIMITIVES_H

#include <string.h>

#include "assay/workshop.h"
#include "rng.h"

enum { PRIMITIVE_WORDS_MOST = 131072 };

typedef struct primitive {
  const char *name;
  const char *file, *kernel;
  assay_dim3 grid, block;
  uint32_t shared_bytes;
  uint32_t cluster;
  int dtype;         /* of DTYPE; -1: the kernel has none */
  uint32_t in_words; /* `out` begins with zeros */
  uint32_t out_words;
  void (*fill)(uint32_t *in, uint32_t words);
  void (*model)(const uint32_t *in, uint32_t *out);
  double allowed; /* 0: the same words. Otherwise the words are floats, and this is the relative error */
} primitive;

/* The arguments of all these kernels. */
typedef struct primitive_args {
  const void *in;
  void *out;
  int64_t count;
} primitive_args;

static inline void fill_random(uint32_t *in, uint32_t words) {
  assay_rng rng;
  assay_rng_seed(&rng, words);
  for (uint32_t i = 0; i < words; ++i) in[i] = (uint32_t)assay_rng_next(&rng);
}

/* Runs one on a queue, with `in` and `out` where the queue's kernels can reach them. */
static inline assay_status primitive_launch(const primitive *one, assay_queue *queue, const void *in,
                                            void *out) {
  const primitive_args args = {in, out, one->in_words};
  const assay_define defines[] = {{one->dtype < 0 ? NULL : "DTYPE", one->dtype}, {NULL, 0}};
  const assay_launch launch = {.file = one->file,
                               .kernel = one->kernel,
                               .grid = one->grid,
                               .block = one->block,
                               .shared_bytes = one->shared_bytes,
                               .cluster = one->cluster,
                               .defines = defines,
                               .args = &args,
                               .arg_bytes = sizeof args};
  return queue->calls->launch(queue, &launch);
}

#endif
