/* SPDX-License-Identifier: MIT */
/*
 * emulator_counts.c - accesses of single lanes, joined to accesses of warps and counted.
 *
 * A lane runs alone until it has to wait, so the accesses of its warp at one place of the source come lane by
 * lane. Those belong together that are at the same place and have the same number there since the lanes last
 * were together: at the block's beginning, at a barrier, at an operation of the whole warp. There they are
 * settled, so that little has to be kept.
 */
#include "emulator_counts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emulator_join.h"

enum {
  REGIONS_BEFORE = 3,      /* the three places that have no region, in front of the regions */
  TABLE_START = 256,       /* a power of two */
  ACCESSES_START = 8,      /* of a place, */
  ACCESSES_MOST = 1 << 16, /* and of all together: 22 MB */
  FLOPS_OF_MATRIX_STEP = 2 * 16 * 8 * 16,
  CLUSTER_WARPS_MOST = CLUSTER_MOST * BLOCK_WARPS_MOST,
};

/* One warp at one place of the source, for one region, reading or writing. */
typedef struct place {
  struct place *next; /* of the same warp */
  uint32_t warp, site;
  int32_t where;
  bool write;
  uint32_t seen[ASSAY_WARP_LANES]; /* by each lane since the last settlement */
  warp_access *accesses;           /* one a number */
  uint32_t count, capacity;
} place;

struct emulator_counts {
  int regions;
  assay_counts all;
  assay_counts *of; /* REGIONS_BEFORE + regions */
  place **table;    /* by hash, open */
  uint32_t table_size, place_count;
  place *first[CLUSTER_WARPS_MOST]; /* of each warp's list */
  place *last_used;
  uint32_t pending; /* accesses that are kept now */
};

emulator_counts *assay_counts_make(int regions) {
  emulator_counts *counts = calloc(1, sizeof *counts);
  if (counts == NULL) return NULL;
  counts->regions = regions;
  counts->of = calloc((size_t)(REGIONS_BEFORE + regions), sizeof *counts->of);
  counts->table = calloc(TABLE_START, sizeof(place *));
  counts->table_size = TABLE_START;
  if (counts->of != NULL && counts->table != NULL) return counts;
  assay_counts_free(counts);
  return NULL;
}

/* Another launch is another kernel, whose places have other numbers. */
static void forget_places(emulator_counts *counts) {
  for (uint32_t i = 0; i < counts->table_size && counts->table != NULL; i++) {
    if (counts->table[i] == NULL) continue;
    free(counts->table[i]->accesses);
    free(counts->table[i]);
    counts->table[i] = NULL;
  }
  memset(counts->first, 0, sizeof counts->first);
  counts->place_count = 0;
  counts->pending = 0;
  counts->last_used = NULL;
}

void assay_counts_free(emulator_counts *counts) {
  if (counts == NULL) return;
  forget_places(counts);
  free(counts->table);
  free(counts->of);
  free(counts);
}

/* ---- joining ------------------------------------------------------------------------------------------- */

static void add_access(const warp_access *access, int where, bool write, assay_counts *sum) {
  if (access->mask == 0) return;
  if (where == COUNTED_SHARED || where == COUNTED_PEER) {
    sum->shared_accesses++;
    sum->shared_passes += assay_join_passes(access);
  } else if (write) {
    sum->sectors_written += assay_join_sectors(access);
  } else {
    sum->sectors_read += assay_join_sectors(access);
  }
}

static void settle_place(emulator_counts *counts, place *at) {
  for (uint32_t i = 0; i < at->count; i++) {
    add_access(&at->accesses[i], at->where, at->write, &counts->all);
    add_access(&at->accesses[i], at->where, at->write, &counts->of[REGIONS_BEFORE + at->where]);
  }
  counts->pending -= at->count;
  at->count = 0;
  memset(at->seen, 0, sizeof at->seen);
}

static void settle_warps(emulator_counts *counts, uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < first + count; i++) {
    for (place *at = counts->first[i]; at != NULL; at = at->next) settle_place(counts, at);
  }
}

assay_counts assay_counts_sum(const emulator_counts *counts, int region) {
  assert(region >= -1 && region < counts->regions);
  assay_counts sum = region < 0 ? counts->all : counts->of[REGIONS_BEFORE + region];
  for (uint32_t i = 0; i < counts->table_size; i++) {
    const place *at = counts->table[i];
    if (at == NULL || (region >= 0 && at->where != region)) continue;
    for (uint32_t k = 0; k < at->count; k++) add_access(&at->accesses[k], at->where, at->write, &sum);
  }
  return sum;
}

/* ---- places -------------------------------------------------------------------------------------------- */

static uint32_t hash(uint32_t warp, uint32_t site, int32_t where, bool write) {
  const uint64_t key =
      (uint64_t)site << 32 | warp << 16 | ((uint32_t)where & 0x7fffu) << 1 | (write ? 1u : 0);
  return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

static place **slot_of(const emulator_counts *counts, uint32_t warp, uint32_t site, int32_t where,
                       bool write) {
  const uint32_t last = counts->table_size - 1;
  for (uint32_t i = hash(warp, site, where, write);; i++) {
    place **slot = &counts->table[i & last];
    const place *at = *slot;
    if (at == NULL || (at->warp == warp && at->site == site && at->where == where && at->write == write))
      return slot;
  }
}

/* At most half of the table is used. */
static bool make_room(emulator_counts *counts) {
  if (counts->place_count * 2 < counts->table_size) return true;
  place **old = counts->table;
  const uint32_t old_size = counts->table_size;
  place **fresh = calloc((size_t)old_size * 2, sizeof(place *));
  if (fresh == NULL) return false;
  counts->table = fresh;
  counts->table_size = old_size * 2;
  for (uint32_t i = 0; i < old_size; i++) {
    place *at = old[i];
    if (at != NULL) *slot_of(counts, at->warp, at->site, at->where, at->write) = at;
  }
  free(old);
  return true;
}

/* NULL without memory. */
static place *find_place(emulator_counts *counts, uint32_t warp, uint32_t site, int32_t where, bool write) {
  place *recent = counts->last_used;
  if (recent != NULL && recent->warp == warp && recent->site == site && recent->where == where &&
      recent->write == write)
    return recent;
  if (!make_room(counts)) return NULL;
  place **slot = slot_of(counts, warp, site, where, write);
  if (*slot == NULL) {
    place *fresh = malloc(sizeof *fresh);
    if (fresh == NULL) return NULL;
    *fresh = (place){.next = counts->first[warp], .warp = warp, .site = site, .where = where, .write = write};
    counts->first[warp] = fresh;
    counts->place_count++;
    *slot = fresh;
  }
  counts->last_used = *slot;
  return *slot;
}

/* The warp's access with this number at the place, a new one where it is the lane's that is furthest. NULL
 * without memory. */
static warp_access *numbered(emulator_counts *counts, place *at, uint32_t number) {
  if (number < at->count) return &at->accesses[number];
  if (at->count == at->capacity) {
    const uint32_t capacity = at->capacity == 0 ? ACCESSES_START : at->capacity * 2;
    warp_access *accesses = realloc(at->accesses, capacity * sizeof *accesses);
    if (accesses == NULL) return NULL;
    at->accesses = accesses;
    at->capacity = capacity;
  }
  counts->pending++;
  at->accesses[at->count] = (warp_access){.mask = 0};
  return &at->accesses[at->count++];
}

static uint32_t warp_of(const emulated_machine *machine, const emulated_lane *lane) {
  return (uint32_t)(lane->block - machine->blocks) * BLOCK_WARPS_MOST + lane->number / ASSAY_WARP_LANES;
}

/* ---- what the watch tells ------------------------------------------------------------------------------ */

static void add_bytes(assay_counts *sum, uint32_t bytes, bool write) {
  if (write) {
    sum->bytes_written += bytes;
  } else {
    sum->bytes_read += bytes;
  }
}

void assay_counts_access(emulator_counts *counts, emulated_machine *machine, const emulated_lane *lane,
                         const void *address, uint32_t bytes, bool write, int where, uint32_t site) {
  assert(where >= -REGIONS_BEFORE && where < counts->regions);
  const uint32_t in_warp = lane->number % ASSAY_WARP_LANES;
  counts->all.steps++;
  if (where != COUNTED_SHARED && where != COUNTED_PEER) {
    add_bytes(&counts->all, bytes, write);
    add_bytes(&counts->of[REGIONS_BEFORE + where], bytes, write);
  }
  place *at = find_place(counts, warp_of(machine, lane), site, where, write);
  if (at == NULL) return;
  /* Lanes that run very far alone are not joined any more, rather than that memory ends. */
  if (counts->pending >= ACCESSES_MOST) settle_place(counts, at);
  warp_access *access = numbered(counts, at, at->seen[in_warp]);
  if (access == NULL) return;
  at->seen[in_warp]++;
  if (bytes == 0) return; /* a copy of nothing */
  access->mask |= 1u << in_warp;
  access->address[in_warp] = (uintptr_t)address;
  access->bytes[in_warp] = (uint16_t)(bytes < UINT16_MAX ? bytes : UINT16_MAX);
}

/* All threads of the block have come, or have left. */
static void settle_block(emulator_counts *counts, const emulated_machine *machine,
                         const emulated_lane *lane) {
  settle_warps(counts, (uint32_t)(lane->block - machine->blocks) * BLOCK_WARPS_MOST, BLOCK_WARPS_MOST);
}

static void count_warp(emulator_counts *counts, const emulated_machine *machine, const emulated_lane *lane,
                       uint32_t mask) {
  const uint32_t left = machine->launch->block_threads - lane->number / ASSAY_WARP_LANES * ASSAY_WARP_LANES;
  const uint32_t whole = left >= ASSAY_WARP_LANES ? UINT32_MAX : (UINT32_C(1) << left) - 1;
  counts->all.warp_operations++;
  counts->all.steps += __builtin_popcount(mask);
  if (mask == whole) settle_warps(counts, warp_of(machine, lane), 1);
}

void assay_counts_step(emulator_counts *counts, emulated_machine *machine, const emulated_lane *lane,
                       counted_step step, uint32_t mask, int line) {
  const uint32_t threads = machine->launch->block_threads;
  (void)line; /* sums need none */
  switch (step) {
  case COUNTED_LAUNCH:
    settle_warps(counts, 0, CLUSTER_WARPS_MOST);
    forget_places(counts);
    counts->all.launches++;
    break;
  case COUNTED_BLOCK_BEGIN:
    counts->all.blocks++;
    counts->all.threads += threads;
    break;
  case COUNTED_BLOCK_END:
    settle_block(counts, machine, lane);
    break;
  case COUNTED_BARRIER:
    counts->all.barriers++;
    counts->all.steps += threads;
    settle_block(counts, machine, lane);
    break;
  case COUNTED_MATRIX:
    counts->all.matrix_flops += FLOPS_OF_MATRIX_STEP;
    count_warp(counts, machine, lane, mask);
    break;
  case COUNTED_LDMATRIX:
  case COUNTED_WARP:
    count_warp(counts, machine, lane, mask);
    break;
  case COUNTED_ATOMIC:
    counts->all.atomics++;
    break;
  case COUNTED_COPY: /* its two accesses are counted */
    break;
  }
}
