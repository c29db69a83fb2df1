/* SPDX-License-Identifier: MIT */
/* emulator_diagnose.c - nobody can run and some have not ended: who waits for whom, in one sentence. */
#include "emulator_machine.h"

#include <assert.h>
#include <stdio.h>

enum { SITUATION_BYTES = 120 };

/* What a lane that is missed does instead. */
static void describe(const emulated_lane *lane, char text[SITUATION_BYTES]) {
  const assay_warp_request *request = lane->request;
  switch (lane->state) {
  case LANE_EXITED:
    if (lane->line == 0) {
      snprintf(text, SITUATION_BYTES, "has left the kernel");
    } else {
      snprintf(text, SITUATION_BYTES, "has left the kernel (its last call: line %d)", lane->line);
    }
    return;
  case LANE_MEETING:
    snprintf(text, SITUATION_BYTES, "waits at %s with mask 0x%08x, line %d",
             assay_emulator_operation_name(request->operation), request->mask, lane->line);
    return;
  default:
    snprintf(text, SITUATION_BYTES, "waits at %s, line %d", assay_emulator_barrier_name(lane->barrier),
             lane->line);
    return;
  }
}

/* A lane that waits in its warp: the first of its mask that is not at the same operation. */
static bool blame_warp(emulated_machine *machine, const emulated_lane *lane) {
  const assay_warp_request *mine = lane->request;
  const uint32_t first = lane->number / ASSAY_WARP_LANES * ASSAY_WARP_LANES;
  char text[SITUATION_BYTES];
  for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++) {
    if ((mine->mask >> i & 1u) == 0) continue;
    if (first + i >= machine->launch->block_threads) {
      snprintf(text, sizeof text, "does not exist: the block has %u threads", machine->launch->block_threads);
    } else {
      const emulated_lane *other = &lane->block->lanes[first + i];
      if (other->state == LANE_MEETING && other->request->operation == mine->operation &&
          other->request->mask == mine->mask) {
        continue;
      }
      describe(other, text);
    }
    assay_emulator_note(machine, lane, lane->line, "the mask 0x%08x of %s names lane %u, which %s",
                        mine->mask, assay_emulator_operation_name(mine->operation), i, text);
    return true;
  }
  return false;
}

/* A lane at a barrier: the first of the block or cluster that is not there. */
static bool blame_barrier(emulated_machine *machine, const emulated_lane *lane) {
  const bool block = lane->state == LANE_AT_BARRIER;
  const uint32_t threads = machine->launch->block_threads;
  const emulated_lane *all = block ? lane->block->lanes : machine->lanes;
  const uint32_t count = block ? threads : threads * machine->launch->cluster;
  for (uint32_t i = 0; i < count; i++) {
    const emulated_lane *other = &all[i];
    if (other->state == lane->state) continue;
    char text[SITUATION_BYTES];
    char whose[48] = "";
    if (other->block != lane->block) {
      snprintf(whose, sizeof whose, " of block (%u,%u,%u)", other->view.block.x, other->view.block.y,
               other->view.block.z);
    }
    describe(other, text);
    assay_emulator_note(machine, lane, lane->line, "%s is not reached by thread (%u,%u,%u)%s, which %s",
                        assay_emulator_barrier_name(lane->barrier), other->view.thread.x,
                        other->view.thread.y, other->view.thread.z, whose, text);
    return true;
  }
  return false;
}

/* Warps first: a lane that waits for its warp is often what the barrier waits for. */
void assay_emulator_diagnose(emulated_machine *machine) {
  const uint32_t count = machine->launch->block_threads * machine->launch->cluster;
  for (uint32_t i = 0; i < count; i++) {
    const emulated_lane *lane = &machine->lanes[i];
    if (lane->state == LANE_MEETING && blame_warp(machine, lane)) return;
  }
  for (uint32_t i = 0; i < count; i++) {
    const emulated_lane *lane = &machine->lanes[i];
    if ((lane->state == LANE_AT_BARRIER || lane->state == LANE_AT_CLUSTER_BARRIER) &&
        blame_barrier(machine, lane)) {
      return;
    }
  }
  assert(0 && "whoever waits is missed by somebody or misses somebody");
}
