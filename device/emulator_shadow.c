/* SPDX-License-Identifier: MIT */
/*
 * emulator_shadow.c - the cells behind shared and global memory: who accessed a byte last.
 *
 * Two accesses to a byte by two threads are a race when one of them is a write, they are not both atomic or
 * volatile, and the later thread does not know of the earlier access. Of the reads since the last write two
 * are kept.
 */
#include "emulator_watched.h"

#include <sys/mman.h>

bool assay_cells_make(watch_cells *cells, size_t bytes) {
  *cells = (watch_cells){NULL, 0};
  if (bytes == 0) return true;
  if (bytes > SIZE_MAX / sizeof(watch_cell)) return false;
  void *memory = mmap(NULL, bytes * sizeof(watch_cell), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  *cells = (watch_cells){memory, bytes * sizeof(watch_cell)};
  return true;
}

void assay_cells_free(watch_cells *cells) {
  if (cells->cells != NULL) munmap(cells->cells, cells->mapped_bytes);
  *cells = (watch_cells){NULL, 0};
}

static bool same_lane(const watch_stamp *a, const watch_stamp *b) {
  return a->block == b->block && assay_stamp_lane(a) == assay_stamp_lane(b);
}

/* Stamps before this block say nothing about the present: shared memory is another block's each time, and
 * launches are in order. */
static uint32_t oldest(const emulator_watch *watch, const watch_place *place) {
  return place->kind == PLACE_REGION ? watch->first_ordinal : watch->cluster_ordinal;
}

/* Whether an access is in conflict with an earlier one. */
static bool races(emulated_machine *machine, const emulated_lane *lane, const watch_place *place,
                  const watch_stamp *now, const watch_stamp *before) {
  if (before->block < oldest(machine->launch->watch, place)) return false;
  if ((now->who & before->who & STAMP_ORDERED) != 0) return false;
  return !same_lane(now, before) && !assay_order_knows(machine, lane, before);
}

static bool is_written(const emulator_watch *watch, const watch_place *place, const watch_cell *cell) {
  if (place->kind == PLACE_REGION) return place->region->of.written || cell->write.block != 0;
  return cell->write.block >= watch->cluster_ordinal;
}

static bool same_warp(const watch_stamp *a, const watch_stamp *b) {
  return a->block == b->block &&
         assay_stamp_lane(a) / ASSAY_WARP_LANES == assay_stamp_lane(b) / ASSAY_WARP_LANES;
}

/* Whoever knows of the read `now` knows of the one that is kept, or it says nothing any more. */
static bool is_replaced(emulated_machine *machine, const emulated_lane *lane, const watch_place *place,
                        const watch_stamp *kept, const watch_stamp *now) {
  return kept->block < oldest(machine->launch->watch, place) || same_lane(kept, now) ||
         assay_order_knows(machine, lane, kept);
}

/* Two warps rather than two lanes of one: a later write may come behind the __syncwarp of one of them. */
static void keep_read(emulated_machine *machine, const emulated_lane *lane, const watch_place *place,
                      watch_cell *cell, const watch_stamp *now) {
  watch_stamp *first = &cell->read[0];
  watch_stamp *second = &cell->read[1];
  if (is_replaced(machine, lane, place, first, now)) {
    *first = *now;
  } else if (is_replaced(machine, lane, place, second, now) || same_warp(first, second) ||
             !same_warp(first, now)) {
    *second = *now;
  } else {
    *first = *now;
  }
}

/* Reports a race of this access with what the cell of a byte holds. */
static bool judge_race(emulated_machine *machine, const emulated_lane *lane, const watch_place *place,
                       const watch_cell *cell, const watch_access *access) {
  const bool write = (access->kind & ASSAY_ACCESS_WRITE) != 0;
  if (cell->pending != 0) {
    assay_watch_not_waited(machine, lane, place, access, &cell->write);
    return true;
  }
  if (races(machine, lane, place, &access->stamp, &cell->write)) {
    assay_watch_race(machine, lane, place, access, &cell->write, true);
    return true;
  }
  for (int k = 0; write && k < 2; k++) {
    if (!races(machine, lane, place, &access->stamp, &cell->read[k])) continue;
    assay_watch_race(machine, lane, place, access, &cell->read[k], false);
    return true;
  }
  return false;
}

/* One access, byte by byte; every kind of finding once. */
void assay_shadow_access(emulated_machine *machine, emulated_lane *lane, const watch_place *place,
                         const void *address, size_t bytes, uint32_t kind, uint32_t site) {
  emulator_watch *watch = machine->launch->watch;
  const bool write = (kind & ASSAY_ACCESS_WRITE) != 0;
  const bool reads = !write || (kind & (ASSAY_ACCESS_ATOMIC | ASSAY_ACCESS_RELEASE)) == ASSAY_ACCESS_ATOMIC;
  const bool judge_races = (watch->tools & ASSAY_TOOL_RACE) != 0;
  const bool judge_reads = (watch->tools & ASSAY_TOOL_INIT) != 0 && reads;
  const unsigned char *at = address;
  bool raced = false;
  bool unwritten = false;
  watch_access access = {.address = at, .bytes = bytes, .kind = kind, .site = site};
  access.stamp = assay_watch_stamp(machine, lane, site);
  if ((kind & (ASSAY_ACCESS_ORDERED | ASSAY_ACCESS_ATOMIC)) != 0) access.stamp.who |= STAMP_ORDERED;
  for (size_t i = 0; i < bytes; i++) {
    watch_cell *cell = &place->cells[i];
    access.address = at + i;
    if (cell->pending != 0 && cell->write.block < watch->cluster_ordinal) cell->pending = 0;
    if (judge_races && !raced) raced = judge_race(machine, lane, place, cell, &access);
    if (judge_reads && !unwritten && !is_written(watch, place, cell)) {
      unwritten = true;
      assay_watch_unwritten(machine, lane, place, &access);
    }
    if (write) {
      *cell = (watch_cell){.write = access.stamp};
    } else {
      keep_read(machine, lane, place, cell, &access.stamp);
    }
  }
}
