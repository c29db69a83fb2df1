/* SPDX-License-Identifier: MIT */
/* emulator_counts.c - how many launches, blocks and barriers a watched queue saw. */
#include "emulator_counts.h"

#include <stdlib.h>

struct emulator_counts {
  assay_counts all;
  int region_count;
  assay_counts regions[];
};

emulator_counts *assay_counts_make(int regions) {
  emulator_counts *counts = calloc(1, sizeof *counts + (size_t)regions * sizeof counts->regions[0]);
  if (counts != NULL) counts->region_count = regions;
  return counts;
}

void assay_counts_free(emulator_counts *counts) {
  free(counts);
}

assay_counts assay_counts_sum(const emulator_counts *counts, int region) {
  return region < 0 ? counts->all : counts->regions[region];
}

static void add_bytes(assay_counts *to, uint32_t bytes, bool write) {
  if (write) {
    to->bytes_written += bytes;
  } else {
    to->bytes_read += bytes;
  }
}

void assay_counts_access(emulator_counts *counts, emulated_machine *machine, const emulated_lane *lane,
                         const void *address, uint32_t bytes, bool write, int where, uint32_t site) {
  (void)machine;
  (void)lane;
  (void)address;
  (void)site;
  counts->all.steps++;
  if (where <= COUNTED_SHARED) return;
  add_bytes(&counts->all, bytes, write);
  if (where >= 0) add_bytes(&counts->regions[where], bytes, write);
}

void assay_counts_step(emulator_counts *counts, emulated_machine *machine, const emulated_lane *lane,
                       counted_step step, uint32_t mask, int line) {
  (void)lane;
  (void)mask;
  (void)line;
  if (step == COUNTED_LAUNCH) counts->all.launches++;
  if (step == COUNTED_BLOCK_BEGIN) {
    counts->all.blocks++;
    counts->all.threads += machine->launch->block_threads;
  }
  if (step == COUNTED_BARRIER) counts->all.barriers++;
  if (step == COUNTED_ATOMIC) counts->all.atomics++;
  if (step == COUNTED_WARP || step == COUNTED_LDMATRIX || step == COUNTED_MATRIX)
    counts->all.warp_operations++;
}
