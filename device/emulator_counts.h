/* SPDX-License-Identifier: MIT */
/*
 * emulator_counts.h - what the watch of a launch tells the counts; only the emulator's own files include it.
 *
 * All calls come from the one thread of the operating system that runs a watched launch, and only when
 * ASSAY_TOOL_COUNTS is among its tools. Lanes run one after another between the words of kernel.h: the
 * accesses of a warp at one place of the source come lane by lane, and are to be joined by lane, site and how
 * often this lane was there.
 */
#ifndef ASSAY_EMULATOR_COUNTS_H
#define ASSAY_EMULATOR_COUNTS_H

#include "emulator_machine.h"
#include "emulator_watch.h"

/* Where an access goes: the number of its region, 0 and up, or one of these. Accesses to a thread's own local
 * variables, to the arguments and to constants are not reported. */
enum {
  COUNTED_SCRATCH = -1, /* the queue's scratch: global memory without a region of its own */
  COUNTED_SHARED = -2,  /* of the own block, static or dynamic */
  COUNTED_PEER = -3,    /* of another block of the cluster */
};

typedef enum counted_step {
  COUNTED_LAUNCH,      /* lane NULL; once before the first block; machine->launch says how large it is */
  COUNTED_BLOCK_BEGIN, /* lane: the block's first; once a block */
  COUNTED_BLOCK_END,   /* lane: the block's first; not after a launch that broke off */
  COUNTED_BARRIER, /* lane: the block's first; once a block when all have come; also a cluster's barrier */
  COUNTED_WARP, /* lane: one of `mask`; once for all lanes of a warp operation that is not one of the next two
                 */
  COUNTED_LDMATRIX, /* lane: one of `mask`; each lane's row was reported as an access before, 16 bytes */
  COUNTED_MATRIX,   /* lane: one of `mask`; one mma_m16n8k16 of a warp */
  COUNTED_ATOMIC,   /* lane: who did it; its access (one write, the address's bytes) is reported as well */
  COUNTED_COPY,     /* lane: who called cp.async; both accesses are reported when it is called */
} counted_step;

typedef struct emulator_counts emulator_counts;

/* New counts, all 0, for so many regions; NULL without memory. */
emulator_counts *assay_counts_make(int regions);
void assay_counts_free(emulator_counts *counts); /* NULL: nothing */

/* What assay_emulator_counts gives. What is not yet joined counts as it stands. */
assay_counts assay_counts_sum(const emulator_counts *counts, int region);

/* One access of one lane, before it happens. site: the same number for the same instruction (or word of
 * kernel.h) of the same launch's kernel. */
void assay_counts_access(emulator_counts *counts, emulated_machine *machine, const emulated_lane *lane,
                         const void *address, uint32_t bytes, bool write, int where, uint32_t site);

/* `mask`: the lanes of the warp that take part, where the step is a warp's; otherwise the one lane's bit. */
void assay_counts_step(emulator_counts *counts, emulated_machine *machine, const emulated_lane *lane,
                       counted_step step, uint32_t mask, int line);

#endif
