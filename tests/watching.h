/* SPDX-License-Identifier: MIT */
/* watching.h - operands, a watched queue and launches, for the tests of watched kernels. */
#ifndef ASSAY_WATCHING_H
#define ASSAY_WATCHING_H

#include "unit.h"

#include "emulator.h"
#include "emulator_watch.h"

enum { WORDS = 256, SEEDS = 8 };

typedef struct watch_args {
  uint32_t *out;
  const uint32_t *in;
  uint32_t *scratch;
  int64_t n;
} watch_args;

/* Apart, so that nobody is past the end of one and in the other. */
static struct {
  uint32_t before[64];
  uint32_t in[WORDS];
  uint32_t between[64];
  uint32_t out[WORDS];
  uint32_t behind[64];
} memory __attribute__((aligned(64)));

static inline assay_queue *open_queue(void) {
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_emulator(2, &queue), ASSAY_OK);
  return queue;
}

static inline void watch(assay_queue *queue, uint32_t tools, bool out_written) {
  const assay_region regions[] = {
      {.name = "in",
       .start = memory.in,
       .bytes = sizeof memory.in,
       .element_bytes = 4,
       .written = true,
       .constant = true},
      {.name = "out",
       .start = memory.out,
       .bytes = sizeof memory.out,
       .element_bytes = 4,
       .written = out_written},
  };
  for (uint32_t i = 0; i < WORDS; ++i) memory.in[i] = i + 1;
  memset(memory.out, 0, sizeof memory.out);
  if (assay_emulator_watch(queue, tools, regions, 2) != ASSAY_OK) fail_msg("%s", assay_last_error());
}

static inline assay_launch launch_of(const char *file, const char *kernel, const watch_args *args,
                                     uint32_t blocks, uint32_t cluster) {
  return (assay_launch){.file = file,
                        .kernel = kernel,
                        .grid = {blocks, 1, 1},
                        .block = {64, 1, 1},
                        .shared_bytes = 256,
                        .cluster = cluster,
                        .args = args,
                        .arg_bytes = sizeof *args};
}

#endif
