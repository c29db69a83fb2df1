/* SPDX-License-Identifier: MIT */
/* emulator_watch.c - the watch of a queue: its regions, and where launches, blocks and warps come by. */
#include "emulator_watched.h"

#include <stdlib.h>
#include <string.h>

/* ---- regions ------------------------------------------------------------------------------------------- */

static bool add_region(emulator_watch *watch, const assay_region *region, int where) {
  if (watch->region_count == watch->region_capacity) {
    const int capacity = watch->region_capacity == 0 ? 16 : watch->region_capacity * 2;
    watch_region *regions = realloc(watch->regions, (size_t)capacity * sizeof *regions);
    if (regions == NULL) return false;
    watch->regions = regions;
    watch->region_capacity = capacity;
  }
  watch_region *added = &watch->regions[watch->region_count];
  *added = (watch_region){.of = *region, .where = where};
  added->of.name[sizeof added->of.name - 1] = '\0';
  const bool only_read = region->constant && region->written;
  if (!only_read && !assay_cells_make(&added->shadow, (size_t)region->bytes)) return false;
  watch->region_count++;
  return true;
}

/* Scratch that lies where other scratch was means that the other is gone. */
bool assay_watch_add_scratch(emulator_watch *watch, void *start, size_t bytes) {
  const assay_region scratch = {
      .name = "scratch", .start = start, .bytes = (int64_t)bytes, .element_bytes = 1};
  const uintptr_t from = (uintptr_t)start;
  for (int i = watch->given; i < watch->region_count;) {
    watch_region *old = &watch->regions[i];
    const uintptr_t at = (uintptr_t)old->of.start;
    if (at >= from + bytes || from >= at + (uintptr_t)old->of.bytes) {
      i++;
      continue;
    }
    assay_cells_free(&old->shadow);
    *old = watch->regions[--watch->region_count];
  }
  return add_region(watch, &scratch, COUNTED_SCRATCH);
}

emulator_watch *assay_watch_make(uint32_t tools, const assay_region *regions, int count) {
  emulator_watch *watch = calloc(1, sizeof *watch);
  if (watch == NULL) return NULL;
  watch->tools = tools;
  watch->launch_finding = -1;
  bool made = true;
  for (int i = 0; i < count && made; i++) made = add_region(watch, &regions[i], i);
  watch->given = count;
  if (made && (tools & ASSAY_TOOL_COUNTS) != 0) {
    watch->counts = assay_counts_make(count);
    made = watch->counts != NULL;
  }
  if (made) return watch;
  assay_watch_free(watch);
  return NULL;
}

void assay_watch_free(emulator_watch *watch) {
  if (watch == NULL) return;
  for (int i = 0; i < watch->region_count; i++) assay_cells_free(&watch->regions[i].shadow);
  assay_counts_free(watch->counts);
  free(watch->regions);
  free(watch->sites);
  free(watch);
}

/* ---- a launch ------------------------------------------------------------------------------------------ */

bool assay_watch_begin_launch(emulated_machine *machine) {
  const emulated_launch *launch = machine->launch;
  emulator_watch *watch = launch->watch;
  const size_t arrays = (size_t)launch->kernel->object->array_count;
  watch->launch_finding = -1;
  watch->first_ordinal = watch->cluster_ordinal = watch->ordinal + 1;
  watch->lane_count = launch->block_threads * launch->cluster;
  watch->lanes = calloc(watch->lane_count, sizeof *watch->lanes);
  watch->array_elements = calloc(arrays + 1, sizeof *watch->array_elements);
  bool made = watch->lanes != NULL && watch->array_elements != NULL;
  for (uint32_t i = 0; made && i < launch->cluster; i++) {
    made = assay_cells_make(&watch->blocks[i].dynamic, launch->request->shared_bytes) &&
           assay_cells_make(&watch->blocks[i].fixed, machine->static_bytes);
  }
  if (watch->lanes == NULL) watch->lane_count = 0;
  if (made && watch->counts != NULL) assay_counts_step(watch->counts, machine, NULL, COUNTED_LAUNCH, 0, 0);
  return made;
}

void assay_watch_end_launch(emulated_machine *machine) {
  emulator_watch *watch = machine->launch->watch;
  for (uint32_t i = 0; i < CLUSTER_MOST; i++) {
    assay_cells_free(&watch->blocks[i].dynamic);
    assay_cells_free(&watch->blocks[i].fixed);
  }
  assay_order_free(watch);
  free(watch->array_elements);
  watch->array_elements = NULL;
}

static void count(emulated_machine *machine, const emulated_lane *lane, counted_step step, uint32_t mask,
                  int line) {
  emulator_counts *counts = machine->launch->watch->counts;
  if (counts != NULL) assay_counts_step(counts, machine, lane, step, mask, line);
}

void assay_watch_begin_cluster(emulated_machine *machine) {
  emulator_watch *watch = machine->launch->watch;
  watch->cluster_ordinal = watch->ordinal + 1;
  assay_order_begin(watch);
  for (uint32_t i = 0; i < machine->launch->cluster; i++) {
    watch->blocks[i].ordinal = ++watch->ordinal;
    count(machine, machine->blocks[i].lanes, COUNTED_BLOCK_BEGIN, 1, 0);
  }
}

void assay_watch_end_block(emulated_machine *machine, const emulated_block *block) {
  count(machine, block->lanes, COUNTED_BLOCK_END, 1, 0);
}

void assay_watch_barrier(emulated_machine *machine, uint32_t first_rank, uint32_t blocks) {
  assay_order_barrier(machine, first_rank, blocks);
  for (uint32_t i = 0; i < blocks; i++) {
    const emulated_lane *first = machine->blocks[first_rank + i].lanes;
    count(machine, first, COUNTED_BARRIER, 1, first->line);
  }
}

static bool is_load(int32_t operation) {
  return operation >= ASSAY_WARP_LDMATRIX_X2 && operation <= ASSAY_WARP_LDMATRIX_X4_TRANS;
}

/* Of a matrix load each lane reads one row, of two matrices the first half of them. */
void assay_watch_before_warp(emulated_machine *machine, emulated_lane *const *lanes, int32_t operation) {
  if (!is_load(operation)) return;
  const bool two = operation == ASSAY_WARP_LDMATRIX_X2 || operation == ASSAY_WARP_LDMATRIX_X2_TRANS;
  const uint32_t rows = two ? 16 : 32;
  for (uint32_t i = 0; i < rows; i++) {
    const void *row = lanes[i]->request->a;
    /* What is wrong with other rows the load itself will say. */
    if ((uintptr_t)row % 16 == 0 && assay_emulator_is_shared(lanes[i], row, 16))
      assay_watch_lane_access(machine, lanes[i], row, 16, 0, SITE_LINE | (uint32_t)lanes[i]->line);
  }
}

void assay_watch_after_warp(emulated_machine *machine, emulated_lane *const *lanes, uint32_t mask,
                            int32_t operation) {
  const emulated_lane *first = NULL;
  for (uint32_t i = 0; first == NULL && i < ASSAY_WARP_LANES; i++) first = lanes[i];
  if (operation == ASSAY_WARP_SYNC) assay_order_syncwarp(machine, lanes);
  const bool matrix = operation == ASSAY_WARP_MMA_FP16 || operation == ASSAY_WARP_MMA_BF16;
  const counted_step step = is_load(operation) ? COUNTED_LDMATRIX : matrix ? COUNTED_MATRIX : COUNTED_WARP;
  if (first != NULL) count(machine, first, step, mask, first->line);
}
