/* SPDX-License-Identifier: MIT */
/* emulator_places.c - what lies at an address that a watched kernel uses, and what lies near it. */
#include "emulator_watched.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool within(const void *address, size_t bytes, const void *start, size_t size) {
  const uintptr_t from = (uintptr_t)address - (uintptr_t)start;
  return from <= size && bytes <= size - from;
}

/* What a thread may use beside memory that it shares: its coordinates, the arguments, constants. */
static bool is_own(emulated_machine *machine, const emulated_lane *lane, const void *address, size_t bytes) {
  const emulated_launch *launch = machine->launch;
  const watch_object *object = launch->kernel->object;
  return within(address, bytes, lane->context.stack, lane->context.stack_bytes) ||
         within(address, bytes, &lane->view, sizeof lane->view) ||
         within(address, bytes, machine->self, sizeof(void *)) ||
         within(address, bytes, launch->request->args, launch->request->arg_bytes) ||
         within(address, bytes, &assay_emulator_table, sizeof assay_emulator_table) ||
         within(address, bytes, (const void *)object->start, object->end - object->start);
}

/* Array `array` of the block whose static shared memory is in place. */
static watch_place static_place(emulated_machine *machine, const emulated_lane *lane, const void *address,
                                size_t bytes) {
  emulator_watch *watch = machine->launch->watch;
  const watch_object *object = machine->launch->kernel->object;
  const size_t offset = (size_t)((const unsigned char *)address - machine->static_shared);
  for (int i = 0; i < object->array_count; i++) {
    const watch_array *array = &object->arrays[i];
    if (!within(address, bytes, machine->static_shared + array->offset, array->bytes)) continue;
    if (watch->array_elements[i] == 0 || bytes < watch->array_elements[i])
      watch->array_elements[i] = (uint32_t)bytes;
    return (watch_place){.kind = PLACE_STATIC,
                         .owner = lane->view.cluster_rank,
                         .array = i,
                         .cells = watch->blocks[lane->view.cluster_rank].fixed.cells + offset};
  }
  return (watch_place){.kind = PLACE_NOWHERE};
}

static watch_place region_place(emulator_watch *watch, const void *address, size_t bytes) {
  for (int i = -1; i < watch->region_count; i++) {
    const int k = i < 0 ? watch->last : i;
    if (k >= watch->region_count) continue;
    const watch_region *region = &watch->regions[k];
    if (!within(address, bytes, region->of.start, (size_t)region->of.bytes)) continue;
    watch->last = k;
    const size_t offset = (size_t)((const unsigned char *)address - (const unsigned char *)region->of.start);
    return (watch_place){.kind = PLACE_REGION,
                         .region = region,
                         .cells = region->shadow.cells != NULL ? region->shadow.cells + offset : NULL};
  }
  return (watch_place){.kind = PLACE_NOWHERE};
}

watch_place assay_watch_find(emulated_machine *machine, const emulated_lane *lane, const void *address,
                             size_t bytes) {
  emulator_watch *watch = machine->launch->watch;
  const uint32_t shared = machine->launch->request->shared_bytes;
  if (is_own(machine, lane, address, bytes)) return (watch_place){.kind = PLACE_LOCAL};
  if (within(address, 0, machine->static_shared, machine->static_bytes))
    return static_place(machine, lane, address, bytes);
  for (uint32_t i = 0; i < machine->launch->cluster; i++) {
    const emulated_block *block = &machine->blocks[i];
    if (!within(address, bytes, block->shared, shared) ||
        (i != lane->view.cluster_rank && block->exited == machine->launch->block_threads)) {
      continue;
    }
    const size_t offset = (size_t)((const unsigned char *)address - block->shared);
    return (watch_place){.kind = PLACE_DYNAMIC, .owner = i, .cells = watch->blocks[i].dynamic.cells + offset};
  }
  return region_place(watch, address, bytes);
}

/* ---- names --------------------------------------------------------------------------------------------- */

static int64_t floor_divide(int64_t a, int64_t b) {
  return a / b - (a % b < 0);
}

static int64_t element_of(const emulator_watch *watch, int array) {
  return watch->array_elements[array] > 0 ? watch->array_elements[array] : 1;
}

void assay_watch_name(emulated_machine *machine, const watch_place *place, const void *address,
                      char text[PLACE_TEXT_BYTES]) {
  const emulator_watch *watch = machine->launch->watch;
  const watch_object *object = machine->launch->kernel->object;
  const unsigned char *at = address;
  if (place->kind == PLACE_REGION) {
    const int64_t size = place->region->of.element_bytes > 0 ? place->region->of.element_bytes : 1;
    const int64_t offset = at - (const unsigned char *)place->region->of.start;
    snprintf(text, PLACE_TEXT_BYTES, "%s[%" PRId64 "]", place->region->of.name, offset / size);
  } else if (place->kind == PLACE_STATIC) {
    const watch_array *array = &object->arrays[place->array];
    const int64_t offset = at - (machine->static_shared + array->offset);
    const int64_t size = element_of(watch, place->array);
    if ((int64_t)array->bytes <= size) {
      snprintf(text, PLACE_TEXT_BYTES, "%s", array->name);
    } else {
      snprintf(text, PLACE_TEXT_BYTES, "%s[%" PRId64 "]", array->name, offset / size);
    }
  } else {
    const emulated_block *block = &machine->blocks[place->owner];
    const int64_t offset = at - block->shared;
    char whose[48] = "";
    if (machine->launch->cluster > 1) snprintf(whose, sizeof whose, " of block %u", place->owner);
    snprintf(text, PLACE_TEXT_BYTES, "byte %" PRId64 " of the dynamic shared memory%s", offset, whose);
  }
}

/* ---- what is near -------------------------------------------------------------------------------------- */

typedef struct nearest {
  int64_t distance; /* between the two; -1: nothing yet */
  const unsigned char *start;
  int64_t bytes, element;
  char name[64];
} nearest;

static void consider(nearest *best, const void *address, size_t bytes, const void *start, int64_t size,
                     int64_t element, const char *name) {
  const int64_t before = (int64_t)((uintptr_t)start - ((uintptr_t)address + bytes));
  const int64_t behind = (int64_t)((uintptr_t)address - ((uintptr_t)start + (uintptr_t)size));
  const int64_t gap = before > behind ? before : behind;
  const int64_t distance = gap > 0 ? gap : 0;
  if (best->distance >= 0 && best->distance <= distance) return;
  best->distance = distance;
  best->start = start;
  best->bytes = size;
  best->element = element > 0 ? element : 1;
  snprintf(best->name, sizeof best->name, "%s", name);
}

static nearest find_nearest(emulated_machine *machine, const emulated_lane *lane, const void *address,
                            size_t bytes) {
  const emulator_watch *watch = machine->launch->watch;
  const watch_object *object = machine->launch->kernel->object;
  nearest best = {.distance = -1};
  for (int i = 0; i < watch->region_count; i++) {
    const assay_region *region = &watch->regions[i].of;
    consider(&best, address, bytes, region->start, region->bytes, region->element_bytes, region->name);
  }
  for (int i = 0; i < object->array_count; i++) {
    const watch_array *array = &object->arrays[i];
    int64_t element = watch->array_elements[i];
    if (element == 0 || (int64_t)bytes < element) element = (int64_t)bytes;
    consider(&best, address, bytes, machine->static_shared + array->offset, (int64_t)array->bytes, element,
             array->name);
  }
  if (machine->launch->request->shared_bytes > 0) {
    consider(&best, address, bytes, lane->block->shared, machine->launch->request->shared_bytes, 1,
             "the dynamic shared memory");
  }
  return best;
}

/* Another thread's local variables. */
static const emulated_lane *stack_owner(const emulated_machine *machine, const void *address) {
  const uint32_t count = machine->launch->block_threads * machine->launch->cluster;
  for (uint32_t i = 0; i < count; i++) {
    const emulated_lane *lane = &machine->lanes[i];
    if (within(address, 1, lane->context.stack, lane->context.stack_bytes)) return lane;
  }
  return NULL;
}

void assay_watch_nearest(emulated_machine *machine, const emulated_lane *lane, const void *address,
                         size_t bytes, char text[PLACE_TEXT_BYTES]) {
  const int64_t far = 1 << 20;
  const nearest best = find_nearest(machine, lane, address, bytes);
  const emulated_lane *owner = stack_owner(machine, address);
  if (owner != NULL) {
    snprintf(text, PLACE_TEXT_BYTES, "in the local variables of another thread, (%u,%u,%u)",
             owner->view.thread.x, owner->view.thread.y, owner->view.thread.z);
    return;
  }
  for (uint32_t i = 0; i < machine->launch->cluster; i++) {
    if (!within(address, 1, machine->blocks[i].shared, machine->launch->request->shared_bytes)) continue;
    if (machine->blocks[i].exited < machine->launch->block_threads) continue;
    snprintf(text, PLACE_TEXT_BYTES, "in the shared memory of block %u of the cluster, which has left", i);
    return;
  }
  if ((uintptr_t)address < 4096) {
    snprintf(text, PLACE_TEXT_BYTES, "at address %" PRIuPTR ", a null pointer", (uintptr_t)address);
  } else if (best.distance < 0 || best.distance > far) {
    snprintf(text, PLACE_TEXT_BYTES, "at %p, far from every operand, scratch and shared array", address);
  } else {
    const int64_t offset = (int64_t)((uintptr_t)address - (uintptr_t)best.start);
    const int64_t beyond = offset < 0 ? -offset : offset + (int64_t)bytes - best.bytes;
    snprintf(text, PLACE_TEXT_BYTES, "%s %" PRId64 " bytes %s %.40s (element %" PRId64 " of %" PRId64 ")",
             offset < 0 ? "from" : "up to", beyond, offset < 0 ? "before the start of" : "past the end of",
             best.name, floor_divide(offset, best.element), best.bytes / best.element);
  }
}
