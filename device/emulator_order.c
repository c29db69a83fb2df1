/* SPDX-License-Identifier: MIT */
/*
 * emulator_order.c - which accesses of a watched launch are in order, and why.
 *
 * A barrier tells everybody everything. __syncwarp tells the lanes of its mask. An atomic, a volatile access,
 * load_acquire and store_release tell through their address: who writes leaves what it knows there, and who
 * reads takes it along, and shares it at the next barrier. As on a GPU an atomic alone orders nothing: it
 * leaves something only in a block that has called __threadfence before. Shuffles and votes order nothing
 * either.
 */
#include "emulator_watched.h"

#include <stdlib.h>
#include <string.h>

/* More single lanes of a block than these count as all of it: nobody hands data on that way, and lists stay
 * short. */
enum { SINGLE_LANES_MOST = 64 };

/* ---- sets of what is known ----------------------------------------------------------------------------- */

static int compare(const known_entry *a, const known_entry *b) {
  if (a->block != b->block) return a->block < b->block ? -1 : 1;
  return (a->lane > b->lane) - (a->lane < b->lane);
}

/* The place of this block and lane, or where it would be. */
static uint32_t search(const watch_known *known, uint32_t block, uint32_t lane) {
  const known_entry wanted = {block, lane, 0};
  uint32_t low = 0;
  uint32_t high = known->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (compare(&known->entries[middle], &wanted) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static uint32_t tick_of(const watch_known *known, uint32_t block, uint32_t lane) {
  const uint32_t at = search(known, block, lane);
  if (at == known->count) return 0;
  const known_entry *entry = &known->entries[at];
  return entry->block == block && entry->lane == lane ? entry->tick : 0;
}

static bool reserve(emulator_watch *watch, watch_known *known, uint32_t count) {
  if (count <= known->capacity) return true;
  const uint32_t capacity = count < 16 ? 16 : count * 2;
  known_entry *entries = realloc(known->entries, capacity * sizeof *entries);
  if (entries == NULL) {
    watch->no_memory = true;
    return false;
  }
  known->entries = entries;
  known->capacity = capacity;
  return true;
}

static void learn(emulator_watch *watch, watch_known *known, uint32_t block, uint32_t lane, uint32_t tick) {
  if (tick == 0) return;
  const uint32_t at = search(known, block, lane);
  if (at < known->count && known->entries[at].block == block && known->entries[at].lane == lane) {
    if (known->entries[at].tick < tick) known->entries[at].tick = tick;
    return;
  }
  if (lane != KNOWN_ALL) {
    const uint32_t first = search(known, block, 0);
    const uint32_t last = search(known, block, KNOWN_ALL);
    if (last - first >= SINGLE_LANES_MOST) {
      learn(watch, known, block, KNOWN_ALL, UINT32_MAX);
      return;
    }
  }
  if (!reserve(watch, known, known->count + 1)) return;
  memmove(known->entries + at + 1, known->entries + at, (known->count - at) * sizeof *known->entries);
  known->entries[at] = (known_entry){block, lane, tick};
  known->count++;
}

static void learn_all(emulator_watch *watch, watch_known *known, const watch_known *more) {
  if (known == more) return;
  for (uint32_t i = 0; i < more->count; i++)
    learn(watch, known, more->entries[i].block, more->entries[i].lane, more->entries[i].tick);
}

static bool in_known(const watch_known *known, uint32_t block, uint32_t lane, uint32_t tick) {
  return known->count > 0 && (tick < tick_of(known, block, KNOWN_ALL) || tick < tick_of(known, block, lane));
}

/* ---- two accesses -------------------------------------------------------------------------------------- */

uint32_t assay_stamp_tick(const watch_stamp *stamp) {
  return stamp->who >> STAMP_TICK_SHIFT;
}

uint32_t assay_stamp_lane(const watch_stamp *stamp) {
  return stamp->who & ((1u << STAMP_LANE_BITS) - 1);
}

watch_stamp assay_watch_stamp(emulated_machine *machine, const emulated_lane *lane, uint32_t site) {
  const emulator_watch *watch = machine->launch->watch;
  const uint32_t tick = assay_watch_lane_of(machine, lane)->tick;
  const uint32_t kept = tick < STAMP_TICK_MOST ? tick : STAMP_TICK_MOST;
  return (watch_stamp){watch->blocks[lane->view.cluster_rank].ordinal,
                       lane->number | kept << STAMP_TICK_SHIFT, site};
}

bool assay_order_knows(emulated_machine *machine, const emulated_lane *lane, const watch_stamp *stamp) {
  const emulator_watch *watch = machine->launch->watch;
  const watch_block *block = &watch->blocks[lane->view.cluster_rank];
  const watch_lane *mine = assay_watch_lane_of(machine, lane);
  const uint32_t tick = assay_stamp_tick(stamp);
  const uint32_t other = assay_stamp_lane(stamp);
  if (stamp->block < watch->first_ordinal) return true; /* an earlier launch */
  if (stamp->block == block->ordinal) {
    if (other == lane->number || tick < block->base) return true;
    if (other / ASSAY_WARP_LANES == lane->number / ASSAY_WARP_LANES &&
        tick < mine->seen[other % ASSAY_WARP_LANES]) {
      return true;
    }
  } else if (stamp->block >= watch->cluster_ordinal && tick < watch->cluster_base) {
    return true;
  }
  return in_known(&mine->known, stamp->block, other, tick) ||
         in_known(&block->known, stamp->block, other, tick);
}

/* ---- what tells ---------------------------------------------------------------------------------------- */

/* `blocks` of the cluster, from `first_rank` on, have met: one, or all. */
void assay_order_barrier(emulated_machine *machine, uint32_t first_rank, uint32_t blocks) {
  emulator_watch *watch = machine->launch->watch;
  const uint32_t threads = machine->launch->block_threads;
  watch_lane *lanes = watch->lanes + (size_t)first_rank * threads;
  watch_block *first = &watch->blocks[first_rank];
  uint32_t newest = 0;
  for (uint32_t i = 0; i < threads * blocks; i++) {
    if (lanes[i].tick > newest) newest = lanes[i].tick;
    learn_all(watch, &first->known, &lanes[i].known);
    lanes[i].known.count = 0;
  }
  for (uint32_t i = 1; i < blocks; i++) learn_all(watch, &first->known, &watch->blocks[first_rank + i].known);
  for (uint32_t i = 0; i < blocks; i++) {
    watch_block *block = &watch->blocks[first_rank + i];
    block->base = newest + 1;
    learn_all(watch, &block->known, &first->known);
  }
  if (blocks > 1) watch->cluster_base = newest + 1;
  for (uint32_t i = 0; i < threads * blocks; i++) lanes[i].tick = newest + 1;
}

/* lanes: those of the mask, NULL for the others. */
void assay_order_syncwarp(emulated_machine *machine, emulated_lane *const *lanes) {
  emulator_watch *watch = machine->launch->watch;
  uint32_t seen[ASSAY_WARP_LANES] = {0};
  watch_known known = {NULL, 0, 0};
  for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++) {
    if (lanes[i] == NULL) continue;
    const watch_lane *lane = assay_watch_lane_of(machine, lanes[i]);
    for (uint32_t k = 0; k < ASSAY_WARP_LANES; k++)
      if (lane->seen[k] > seen[k]) seen[k] = lane->seen[k];
    if (lane->tick + 1 > seen[i]) seen[i] = lane->tick + 1;
    learn_all(watch, &known, &lane->known);
  }
  for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++) {
    if (lanes[i] == NULL) continue;
    watch_lane *lane = assay_watch_lane_of(machine, lanes[i]);
    memcpy(lane->seen, seen, sizeof seen);
    lane->tick++;
    learn_all(watch, &lane->known, &known);
  }
  free(known.entries);
}

static uint32_t slot_of(const watch_release *releases, uint32_t capacity, const void *address,
                        uint32_t block) {
  uint64_t hash = ((uint64_t)(uintptr_t)address ^ (uint64_t)block << 40) * UINT64_C(0x9e3779b97f4a7c15);
  uint32_t slot = (uint32_t)(hash >> 32) & (capacity - 1);
  while (releases[slot].address != NULL &&
         (releases[slot].address != address || releases[slot].block != block)) {
    slot = (slot + 1) & (capacity - 1);
  }
  return slot;
}

static bool grow_releases(emulator_watch *watch) {
  if (watch->release_count * 2 < watch->release_capacity) return true;
  const uint32_t capacity = watch->release_capacity == 0 ? 64 : watch->release_capacity * 2;
  watch_release *larger = calloc(capacity, sizeof *larger);
  if (larger == NULL) {
    watch->no_memory = true;
    return false;
  }
  for (uint32_t i = 0; i < watch->release_capacity; i++) {
    const watch_release *old = &watch->releases[i];
    if (old->address != NULL) larger[slot_of(larger, capacity, old->address, old->block)] = *old;
  }
  free(watch->releases);
  watch->releases = larger;
  watch->release_capacity = capacity;
  return true;
}

/* Shared memory of one block lies where that of another lay before. */
static uint32_t block_of(const emulator_watch *watch, const watch_place *place) {
  const bool shared = place->kind == PLACE_DYNAMIC || place->kind == PLACE_STATIC;
  return shared ? watch->blocks[place->owner].ordinal : 0;
}

void assay_order_acquire(emulated_machine *machine, const emulated_lane *lane, const void *address,
                         const watch_place *place) {
  emulator_watch *watch = machine->launch->watch;
  if (watch->release_count == 0) return;
  const uint32_t slot = slot_of(watch->releases, watch->release_capacity, address, block_of(watch, place));
  if (watch->releases[slot].address != NULL)
    learn_all(watch, &assay_watch_lane_of(machine, lane)->known, &watch->releases[slot].known);
}

void assay_order_release(emulated_machine *machine, const emulated_lane *lane, const void *address,
                         const watch_place *place) {
  emulator_watch *watch = machine->launch->watch;
  const uint32_t rank = lane->view.cluster_rank;
  const watch_block *block = &watch->blocks[rank];
  watch_lane *mine = assay_watch_lane_of(machine, lane);
  if (!grow_releases(watch)) return;
  const uint32_t owner = block_of(watch, place);
  watch_release *release =
      &watch->releases[slot_of(watch->releases, watch->release_capacity, address, owner)];
  if (release->address == NULL) {
    *release = (watch_release){.address = address, .block = owner};
    watch->release_count++;
  }
  watch_known *known = &release->known;
  learn_all(watch, known, &mine->known);
  learn_all(watch, known, &block->known);
  learn(watch, known, block->ordinal, KNOWN_ALL, block->base);
  learn(watch, known, block->ordinal, lane->number, mine->tick + 1);
  const uint32_t first = lane->number / ASSAY_WARP_LANES * ASSAY_WARP_LANES;
  for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++)
    if (mine->seen[i] > block->base) learn(watch, known, block->ordinal, first + i, mine->seen[i]);
  for (uint32_t i = 0; i < machine->launch->cluster; i++)
    if (i != rank) learn(watch, known, watch->blocks[i].ordinal, KNOWN_ALL, watch->cluster_base);
  mine->tick++;
}

/* ---- a cluster, a launch ------------------------------------------------------------------------------- */

/* Ticks begin at 1, and nobody knows anything. */
void assay_order_begin(emulator_watch *watch) {
  for (uint32_t i = 0; i < watch->lane_count; i++) {
    watch_lane *lane = &watch->lanes[i];
    lane->tick = 1;
    memset(lane->seen, 0, sizeof lane->seen);
    lane->known.count = 0;
  }
  for (uint32_t i = 0; i < CLUSTER_MOST; i++) {
    watch->blocks[i].base = 1;
    watch->blocks[i].fenced = false;
    watch->blocks[i].known.count = 0;
  }
  watch->cluster_base = 1;
}

void assay_order_free(emulator_watch *watch) {
  for (uint32_t i = 0; i < watch->lane_count; i++) free(watch->lanes[i].known.entries);
  for (uint32_t i = 0; i < CLUSTER_MOST; i++) {
    free(watch->blocks[i].known.entries);
    watch->blocks[i].known = (watch_known){NULL, 0, 0};
  }
  for (uint32_t i = 0; i < watch->release_capacity; i++) free(watch->releases[i].known.entries);
  free(watch->releases);
  free(watch->lanes);
  watch->releases = NULL;
  watch->lanes = NULL;
  watch->release_count = watch->release_capacity = watch->lane_count = 0;
}
