/* SPDX-License-Identifier: MIT */
/*
 * emulator_access.c - an access of a watched kernel, before it happens: where it goes, whether it may, what
 * it races with, and what it tells or learns.
 */
#include "emulator_watched.h"

#include <stdio.h>
#include <string.h>

static void tell(emulated_machine *machine, emulated_lane *lane, const watch_place *place,
                 const void *address, uint32_t kind) {
  const emulator_watch *watch = machine->launch->watch;
  if ((kind & (ASSAY_ACCESS_ORDERED | ASSAY_ACCESS_ATOMIC)) == 0) return;
  const bool write = (kind & ASSAY_ACCESS_WRITE) != 0;
  const bool changes = write && (kind & ASSAY_ACCESS_ATOMIC) != 0 && (kind & ASSAY_ACCESS_RELEASE) == 0;
  if (!write || changes) assay_order_acquire(machine, lane, address, place);
  if (write && ((kind & ASSAY_ACCESS_RELEASE) != 0 || watch->blocks[lane->view.cluster_rank].fenced))
    assay_order_release(machine, lane, address, place);
}

static void count(emulated_machine *machine, const emulated_lane *lane, const watch_place *place,
                  const void *address, size_t bytes, uint32_t kind, uint32_t site) {
  const emulator_watch *watch = machine->launch->watch;
  int where = COUNTED_SHARED;
  if (place->kind == PLACE_REGION) where = place->region->where;
  if (place->kind == PLACE_DYNAMIC && place->owner != lane->view.cluster_rank) where = COUNTED_PEER;
  assay_counts_access(watch->counts, machine, lane, address, (uint32_t)bytes,
                      (kind & ASSAY_ACCESS_WRITE) != 0, where, site);
  if ((kind & ASSAY_ACCESS_ATOMIC) != 0)
    assay_counts_step(watch->counts, machine, lane, COUNTED_ATOMIC, 1u << lane->number % ASSAY_WARP_LANES,
                      lane->line);
}

/* What makes an access that lies in one piece of memory an error all the same. */
static void judge_address(emulated_machine *machine, emulated_lane *lane, const watch_place *place,
                          const void *address, size_t bytes, uint32_t kind, uint32_t site) {
  char text[PLACE_TEXT_BYTES + 64];
  char name[PLACE_TEXT_BYTES];
  const bool write = (kind & ASSAY_ACCESS_WRITE) != 0;
  if (place->kind == PLACE_NOWHERE) assay_watch_outside(machine, lane, address, bytes, kind, site, NULL);
  if (place->kind == PLACE_REGION && place->region->of.constant && write) {
    assay_watch_name(machine, place, address, name);
    snprintf(text, sizeof text, "%s, an input", name);
    assay_watch_outside(machine, lane, address, bytes, kind, site, text);
  }
  /* Clang counts 16 bytes at a multiple of 8 as aligned. */
  const size_t least = bytes < 8 ? bytes : 8;
  if ((kind & ASSAY_ACCESS_ALIGNED) != 0 && (uintptr_t)address % least != 0) {
    assay_watch_name(machine, place, address, name);
    snprintf(text, sizeof text, "%zu bytes at a misaligned address in %s: %p", bytes, name, address);
    assay_watch_outside(machine, lane, address, bytes, kind, site, text);
  }
}

void assay_watch_lane_access(emulated_machine *machine, emulated_lane *lane, const void *address,
                             size_t bytes, uint32_t kind, uint32_t site) {
  const emulator_watch *watch = machine->launch->watch;
  if (bytes == 0) return;
  const watch_place place = assay_watch_find(machine, lane, address, bytes);
  if (place.kind == PLACE_LOCAL) return;
  if ((watch->tools & ASSAY_TOOL_MEMORY) != 0)
    judge_address(machine, lane, &place, address, bytes, kind, site);
  if (place.kind == PLACE_NOWHERE) return;
  if (watch->counts != NULL) count(machine, lane, &place, address, bytes, kind, site);
  const bool judged = (watch->tools & (ASSAY_TOOL_RACE | ASSAY_TOOL_INIT)) != 0;
  if (judged && place.cells != NULL) assay_shadow_access(machine, lane, &place, address, bytes, kind, site);
  tell(machine, lane, &place, address, kind);
}

static bool is_local(const emulated_lane *lane, const void *address, size_t bytes) {
  const uintptr_t from = (uintptr_t)address - (uintptr_t)lane->context.stack;
  return from < lane->context.stack_bytes && bytes <= lane->context.stack_bytes - from;
}

static uint32_t site_of(emulated_machine *machine, int line, const void *behind) {
  if (line != 0) {
    machine->current->line = line;
    return SITE_LINE | (uint32_t)line;
  }
  return (uint32_t)((uintptr_t)behind - machine->launch->kernel->object->base);
}

void assay_emulator_access(const void *address, size_t bytes, uint32_t kind, int line, const void *behind) {
  emulated_machine *machine = assay_emulator_current();
  emulated_lane *lane = machine->current;
  if (is_local(lane, address, bytes)) return;
  assay_watch_lane_access(machine, lane, address, bytes, kind, site_of(machine, line, behind));
}

void assay_emulator_fence(int line) {
  emulated_machine *machine = assay_emulator_current();
  emulated_lane *lane = machine->current;
  lane->line = line;
  machine->launch->watch->blocks[lane->view.cluster_rank].fenced = true;
}

void assay_emulator_move(void *to, const void *from, size_t bytes, int line, const void *behind) {
  emulated_machine *machine = assay_emulator_current();
  emulated_lane *lane = machine->current;
  const uint32_t site = site_of(machine, line, behind);
  if (!is_local(lane, from, bytes)) assay_watch_lane_access(machine, lane, from, bytes, 0, site);
  if (!is_local(lane, to, bytes)) assay_watch_lane_access(machine, lane, to, bytes, ASSAY_ACCESS_WRITE, site);
  memmove(to, from, bytes);
}

void assay_emulator_fill(void *to, int value, size_t bytes, int line, const void *behind) {
  emulated_machine *machine = assay_emulator_current();
  emulated_lane *lane = machine->current;
  if (!is_local(lane, to, bytes))
    assay_watch_lane_access(machine, lane, to, bytes, ASSAY_ACCESS_WRITE, site_of(machine, line, behind));
  memset(to, value, bytes);
}

/* ---- cp.async ------------------------------------------------------------------------------------------ */

static watch_cell *cells_of(emulated_machine *machine, const pending_copy *copy) {
  return assay_watch_find(machine, machine->current, copy->to, copy->bytes).cells;
}

void assay_watch_copy(emulated_machine *machine, const pending_copy *copy) {
  emulated_lane *lane = machine->current;
  const uint32_t site = SITE_LINE | (uint32_t)lane->line;
  assay_watch_lane_access(machine, lane, copy->from, copy->from_bytes, 0, site);
  assay_watch_lane_access(machine, lane, copy->to, copy->bytes, ASSAY_ACCESS_WRITE, site);
  watch_cell *cells = cells_of(machine, copy);
  for (uint32_t i = 0; cells != NULL && i < copy->bytes; i++) cells[i].pending = 1;
  emulator_counts *counts = machine->launch->watch->counts;
  if (counts != NULL)
    assay_counts_step(counts, machine, lane, COUNTED_COPY, 1u << lane->number % ASSAY_WARP_LANES, lane->line);
}

/* From here on it is a write like any other. One that took its place meanwhile has been reported. */
void assay_watch_copied(emulated_machine *machine, const pending_copy *copy) {
  const emulated_lane *lane = machine->current;
  watch_cell *cells = cells_of(machine, copy);
  for (uint32_t i = 0; cells != NULL && i < copy->bytes; i++) {
    if (cells[i].pending == 0 || assay_stamp_lane(&cells[i].write) != lane->number) continue;
    cells[i].write = assay_watch_stamp(machine, lane, cells[i].write.site);
    cells[i].pending = 0;
  }
}
