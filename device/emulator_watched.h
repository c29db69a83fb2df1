/* SPDX-License-Identifier: MIT */
/*
 * emulator_watched.h - the state of a watched queue and launch; only the emulator's own files include it.
 *
 * Every byte that threads share has a cell: who wrote it last, and two who read it since. Whether two of them
 * are in order is decided by ticks: a thread's tick moves on where others may learn what it did, and a
 * barrier, __syncwarp or an atomic tells them up to which tick.
 */
#ifndef ASSAY_EMULATOR_WATCHED_H
#define ASSAY_EMULATOR_WATCHED_H

#include "emulator_counts.h"
#include "emulator_instrument.h"
#include "emulator_machine.h"
#include "emulator_watch.h"

/* ---- cells --------------------------------------------------------------------------------------------- */

enum { STAMP_LANE_BITS = 10, STAMP_ORDERED = 1 << STAMP_LANE_BITS, STAMP_TICK_SHIFT = STAMP_LANE_BITS + 1 };
#define STAMP_TICK_MOST (UINT32_MAX >> STAMP_TICK_SHIFT)

/* One access: by block (its ordinal on this queue, 0: none), lane and tick; site: an offset in the kernel's
 * object, or a line of the source. */
typedef struct watch_stamp {
  uint32_t block;
  uint32_t who; /* lane | STAMP_ORDERED | tick << STAMP_TICK_SHIFT */
  uint32_t site;
} watch_stamp;

#define SITE_LINE 0x80000000u

typedef struct watch_cell {
  watch_stamp write, read[2];
  uint32_t pending; /* the write is a copy that nobody waited for */
} watch_cell;

/* What is happening now. */
typedef struct watch_access {
  const void *address;
  size_t bytes;
  uint32_t kind; /* ASSAY_ACCESS_... */
  uint32_t site;
  watch_stamp stamp;
} watch_access;

/* Cells that become memory when they are touched. */
typedef struct watch_cells {
  watch_cell *cells;
  size_t mapped_bytes;
} watch_cells;

/* ---- who knows what ------------------------------------------------------------------------------------ */

#define KNOWN_ALL 0xffffffffu /* as a lane: of every lane of the block */

/* What the lane did before this tick is known. */
typedef struct known_entry {
  uint32_t block, lane, tick;
} known_entry;

/* In the order of blocks and lanes. */
typedef struct watch_known {
  known_entry *entries;
  uint32_t count, capacity;
} watch_known;

typedef struct watch_lane {
  uint32_t tick;
  uint32_t seen[ASSAY_WARP_LANES]; /* of the same warp: what was done before this tick is known */
  watch_known known;               /* from atomics, since the last barrier */
} watch_lane;

typedef struct watch_block {
  uint32_t ordinal;
  uint32_t base; /* every thread of the block knows what the others did before this tick */
  bool fenced;   /* some thread has called a fence: from then on atomics hand on what was done before */
  watch_known known;
  watch_cells dynamic, fixed; /* of its shared memory */
} watch_block;

/* What those who released at an address knew. */
typedef struct watch_release {
  const void *address; /* NULL: a free slot */
  uint32_t block;      /* whose shared memory it is, 0: none */
  watch_known known;
} watch_release;

/* ---- a queue ------------------------------------------------------------------------------------------- */

typedef struct watch_region {
  assay_region of;
  watch_cells shadow; /* none for inputs, which nobody may write */
  int where;          /* as emulator_counts.h has it */
} watch_region;

typedef struct watch_site {
  const watch_object *object;
  uint32_t site;
  int32_t line; /* 0: nobody could tell */
} watch_site;

typedef struct emulator_watch {
  uint32_t tools;
  watch_region *regions; /* operands, then scratch */
  int region_count, region_capacity;
  int given; /* regions that are operands */
  int last;  /* the region that was asked for last */
  assay_finding findings[ASSAY_FINDINGS_MOST];
  int finding_count;
  int launch_finding; /* the first finding of the present launch, -1: none */
  uint32_t ordinal;   /* of the newest block */
  emulator_counts *counts;
  watch_site *sites; /* those that were looked up */
  int site_count, site_capacity;
  bool no_memory; /* a finding may be missing */
  /* The present launch. */
  uint32_t first_ordinal, cluster_ordinal; /* of its first block, of the first block of the present cluster */
  uint32_t cluster_base;                   /* all blocks of the cluster know what was done before this tick */
  watch_block blocks[CLUSTER_MOST];
  watch_lane *lanes; /* of all blocks of a cluster */
  uint32_t lane_count;
  uint32_t *array_elements; /* the size of the smallest access to each static array */
  watch_release *releases;
  uint32_t release_count, release_capacity; /* a power of 2 */
} emulator_watch;

/* emulator_watch.c: what the queue calls. All but the first take a watch. */
emulator_watch *assay_watch_make(uint32_t tools, const assay_region *regions, int count);
void assay_watch_free(emulator_watch *watch);
bool assay_watch_add_scratch(emulator_watch *watch, void *start, size_t bytes);
bool assay_watch_begin_launch(emulated_machine *machine);
void assay_watch_end_launch(emulated_machine *machine);
void assay_watch_begin_cluster(emulated_machine *machine);
void assay_watch_end_block(emulated_machine *machine, const emulated_block *block);
/* `blocks` of the cluster, from `first_rank` on, have met at a barrier. */
void assay_watch_barrier(emulated_machine *machine, uint32_t first_rank, uint32_t blocks);
/* Before and after a warp operation; lanes: those of the mask, NULL for the others. */
void assay_watch_before_warp(emulated_machine *machine, emulated_lane *const *lanes, int32_t operation);
void assay_watch_after_warp(emulated_machine *machine, emulated_lane *const *lanes, uint32_t mask,
                            int32_t operation);

/* emulator_access.c: what a watched kernel calls, and what the emulator's words tell for it. */
void assay_emulator_access(const void *address, size_t bytes, uint32_t kind, int line, const void *behind);
void assay_emulator_fence(int line);
void assay_emulator_move(void *to, const void *from, size_t bytes, int line, const void *behind);
void assay_emulator_fill(void *to, int value, size_t bytes, int line, const void *behind);
/* A copy (cp.async) begins, and is waited for. */
void assay_watch_copy(emulated_machine *machine, const pending_copy *copy);
void assay_watch_copied(emulated_machine *machine, const pending_copy *copy);
/* An access of any lane at a line. */
void assay_watch_lane_access(emulated_machine *machine, emulated_lane *lane, const void *address,
                             size_t bytes, uint32_t kind, uint32_t site);

/* emulator_places.c */
typedef enum place_kind {
  PLACE_LOCAL,   /* the thread's own, or never written */
  PLACE_REGION,  /* global memory */
  PLACE_DYNAMIC, /* shared memory of `owner` */
  PLACE_STATIC,
  PLACE_NOWHERE,
} place_kind;

typedef struct watch_place {
  place_kind kind;
  const watch_region *region;
  uint32_t owner; /* rank of the block */
  int array;      /* of the object's arrays */
  watch_cell *cells;
} watch_place;

watch_place assay_watch_find(emulated_machine *machine, const emulated_lane *lane, const void *address,
                             size_t bytes);
enum { PLACE_TEXT_BYTES = 128 };
/* "x[3]", "part_max[1]"; for a place that was found. */
void assay_watch_name(emulated_machine *machine, const watch_place *place, const void *address,
                      char text[PLACE_TEXT_BYTES]);
/* "4 bytes past the end of y (element 512 of 512)"; for one that was not. */
void assay_watch_nearest(emulated_machine *machine, const emulated_lane *lane, const void *address,
                         size_t bytes, char text[PLACE_TEXT_BYTES]);

/* emulator_shadow.c */
bool assay_cells_make(watch_cells *cells, size_t bytes);
void assay_cells_free(watch_cells *cells);
/* Compares an access with what the cells hold and notes it there. */
void assay_shadow_access(emulated_machine *machine, emulated_lane *lane, const watch_place *place,
                         const void *address, size_t bytes, uint32_t kind, uint32_t site);
uint32_t assay_stamp_tick(const watch_stamp *stamp);
uint32_t assay_stamp_lane(const watch_stamp *stamp);
watch_stamp assay_watch_stamp(emulated_machine *machine, const emulated_lane *lane, uint32_t site);

/* emulator_order.c */
bool assay_order_knows(emulated_machine *machine, const emulated_lane *lane, const watch_stamp *stamp);
void assay_order_acquire(emulated_machine *machine, const emulated_lane *lane, const void *address,
                         const watch_place *place);
void assay_order_release(emulated_machine *machine, const emulated_lane *lane, const void *address,
                         const watch_place *place);
void assay_order_barrier(emulated_machine *machine, uint32_t first_rank, uint32_t blocks);
void assay_order_syncwarp(emulated_machine *machine, emulated_lane *const *lanes);
void assay_order_begin(emulator_watch *watch);
void assay_order_free(emulator_watch *watch);

/* emulator_finding.c */
void assay_watch_race(emulated_machine *machine, const emulated_lane *lane, const watch_place *place,
                      const watch_access *access, const watch_stamp *other, bool other_writes);
void assay_watch_not_waited(emulated_machine *machine, const emulated_lane *lane, const watch_place *place,
                            const watch_access *access, const watch_stamp *copy);
void assay_watch_unwritten(emulated_machine *machine, const emulated_lane *lane, const watch_place *place,
                           const watch_access *access);
/* Ends the launch; `where` says what is wrong with the address, NULL: it is nowhere. */
_Noreturn void assay_watch_outside(emulated_machine *machine, emulated_lane *lane, const void *address,
                                   size_t bytes, uint32_t kind, uint32_t site, const char *where);
/* A fault of the emulator, whose sentence is there already. */
void assay_watch_fault(emulated_machine *machine, assay_tool tool, int line, const char *text);

/* emulator_lines.c: the line of a site. Where nobody can tell, *behind becomes true, and it is the line of
 * the last word that `lane` called; without a lane 0. */
int32_t assay_watch_line(emulated_machine *machine, const emulated_lane *lane, uint32_t site, bool *behind);

static inline watch_lane *assay_watch_lane_of(const emulated_machine *machine, const emulated_lane *lane) {
  return &machine->launch->watch->lanes[lane - machine->lanes];
}

#endif
