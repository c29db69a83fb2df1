/* SPDX-License-Identifier: MIT */
/* emulator_copy.c - cp.async, shared memory of other blocks of a cluster, and checks of addresses. */
#include "emulator_machine.h"
#include "emulator_watched.h"

#include <stdlib.h>
#include <string.h>

static bool within(const void *address, size_t bytes, const unsigned char *start, size_t size) {
  const uintptr_t at = (uintptr_t)address;
  const uintptr_t first = (uintptr_t)start;
  return at >= first && at - first <= size && size - (at - first) >= bytes;
}

bool assay_emulator_is_shared(const emulated_lane *lane, const void *address, size_t bytes) {
  const emulated_machine *machine = assay_emulator_current();
  return within(address, bytes, lane->block->shared, machine->launch->request->shared_bytes) ||
         within(address, bytes, machine->static_shared, machine->static_bytes);
}

void assay_emulator_align(const void *address, uint32_t bytes, const char *what, int line) {
  if ((uintptr_t)address % bytes == 0) return;
  emulated_lane *lane = assay_emulator_current()->current;
  lane->line = line;
  assay_emulator_fail_address(lane, line, "misaligned address: %s at %p, which is no multiple of %u", what,
                              address, bytes);
}

/* ---- cp.async ------------------------------------------------------------------------------------------ */

static pending_copy *next_copy(emulated_lane *lane) {
  if (lane->copy_count == lane->copy_capacity) {
    const uint32_t capacity = lane->copy_capacity == 0 ? 16 : lane->copy_capacity * 2;
    pending_copy *copies = realloc(lane->copies, capacity * sizeof *copies);
    if (copies == NULL) assay_emulator_fail(lane, lane->line, "there is no memory for one more cp.async");
    lane->copies = copies;
    lane->copy_capacity = capacity;
  }
  return &lane->copies[lane->copy_count++];
}

void assay_emulator_copy(void *shared, const void *global, uint32_t bytes, uint32_t from_bytes, int line) {
  emulated_machine *machine = assay_emulator_current();
  emulated_lane *lane = machine->current;
  lane->line = line;
  if (from_bytes > bytes)
    assay_emulator_fail(lane, line, "cp_async_16_part copies %d bytes; it must be 0 to 16", (int)from_bytes);
  assay_emulator_align(shared, bytes, "cp.async to", line);
  assay_emulator_align(global, bytes, "cp.async from", line);
  if (!assay_emulator_is_shared(lane, shared, bytes))
    assay_emulator_fail_address(lane, line,
                                "cp.async writes to %p, which is not in this block's shared memory", shared);
  const pending_copy copy = {
      .to = shared, .from = global, .bytes = bytes, .from_bytes = from_bytes, .group = lane->group};
  if (machine->launch->watch != NULL) assay_watch_copy(machine, &copy);
  /* An address that cannot be read faults here, on the line that names it, and not at the wait. */
  const volatile unsigned char *from = global;
  if (from_bytes > 0) (void)(from[0] + from[from_bytes - 1]);
  *next_copy(lane) = copy;
  assay_emulator_step(lane, 1u << lane->number % ASSAY_WARP_LANES, "cp_async", line);
}

void assay_emulator_copy_commit(int line) {
  emulated_lane *lane = assay_emulator_current()->current;
  lane->line = line;
  lane->group++;
  assay_emulator_step(lane, 1u << lane->number % ASSAY_WARP_LANES, "cp_async_commit", line);
}

void assay_emulator_copy_wait(int32_t groups_left, int line) {
  emulated_machine *machine = assay_emulator_current();
  emulated_lane *lane = machine->current;
  uint32_t done = 0;
  lane->line = line;
  if (groups_left < 0)
    assay_emulator_fail(lane, line, "cp_async_wait leaves %d groups; it must be 0 or more", groups_left);
  for (; done < lane->copy_count && lane->copies[done].group < lane->group - groups_left; done++) {
    const pending_copy *copy = &lane->copies[done];
    memcpy(copy->to, copy->from, copy->from_bytes);
    memset(copy->to + copy->from_bytes, 0, copy->bytes - copy->from_bytes);
    if (machine->launch->watch != NULL) assay_watch_copied(machine, copy);
  }
  lane->copy_count -= done;
  if (done > 0) memmove(lane->copies, lane->copies + done, lane->copy_count * sizeof *lane->copies);
  assay_emulator_step(lane, 1u << lane->number % ASSAY_WARP_LANES, "cp_async_wait", line);
}

/* ---- clusters ------------------------------------------------------------------------------------------ */

void *assay_emulator_peer(void *shared, uint32_t rank, int line) {
  emulated_machine *machine = assay_emulator_current();
  emulated_lane *lane = machine->current;
  const uint32_t cluster = machine->launch->cluster;
  unsigned char *own = lane->block->shared;
  lane->line = line;
  if (rank >= cluster)
    assay_emulator_fail(lane, line, "cluster_shared asks for block %u of a cluster of %u", rank, cluster);
  if (!within(shared, 0, own, machine->launch->request->shared_bytes)) {
    assay_emulator_fail_address(
        lane, line, "cluster_shared takes an address in this block's dynamic shared memory, and %p is not",
        shared);
  }
  if (machine->blocks[rank].exited == machine->launch->block_threads)
    assay_emulator_fail(lane, line,
                        "cluster_shared asks for block %u of the cluster, which has left the kernel", rank);
  assay_emulator_step(lane, 1u << lane->number % ASSAY_WARP_LANES, "cluster_shared", line);
  return machine->blocks[rank].shared + ((unsigned char *)shared - own);
}
