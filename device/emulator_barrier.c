/* SPDX-License-Identifier: MIT */
/* emulator_barrier.c - where the threads of a block or cluster wait for each other, and waits for memory. */
#include "emulator_machine.h"
#include "emulator_watched.h"

#include <inttypes.h>
#include <sched.h>

#include "clock.h"

enum {
  TOUCHES_BEFORE_YIELD = 64,
  IDLE_YIELDS_MOST = 1 << 20,
  IDLE_YIELDS_BEFORE_CPU_YIELD = 1 << 8,
};
static const int64_t stall_ns = 2000000000;

const char *assay_emulator_barrier_name(assay_barrier_kind kind) {
  static const char *const names[] = {
      [ASSAY_BARRIER_PLAIN] = "__syncthreads",   [ASSAY_BARRIER_OR] = "__syncthreads_or",
      [ASSAY_BARRIER_AND] = "__syncthreads_and", [ASSAY_BARRIER_COUNT] = "__syncthreads_count",
      [ASSAY_BARRIER_CLUSTER] = "cluster_sync",
  };
  return names[kind];
}

/* ---- barriers ------------------------------------------------------------------------------------------ */

static int32_t combine(assay_barrier_kind kind, int32_t count, int32_t all) {
  switch (kind) {
  case ASSAY_BARRIER_OR:
    return count > 0;
  case ASSAY_BARRIER_AND:
    return count == all;
  default:
    return count;
  }
}

/* The last of `count` lanes, which begin at `lanes`, has come. */
static void open_barrier(emulated_machine *machine, emulated_lane *lanes, uint32_t count) {
  const emulated_lane *first = &lanes[0];
  int32_t set = 0;
  for (uint32_t i = 0; i < count; i++) {
    emulated_lane *lane = &lanes[i];
    set += lane->value;
    if (lane->line != first->line || lane->barrier != first->barrier) {
      assay_emulator_fail(lane, lane->line,
                          "divergent barrier: this thread is at %s, but thread (%u,%u,%u) of block "
                          "(%u,%u,%u) is at %s, line %d",
                          assay_emulator_barrier_name(lane->barrier), first->view.thread.x,
                          first->view.thread.y, first->view.thread.z, first->view.block.x,
                          first->view.block.y, first->view.block.z,
                          assay_emulator_barrier_name(first->barrier), first->line);
    }
  }
  for (uint32_t i = 0; i < count; i++) {
    emulated_lane *lane = &lanes[i];
    lane->value = combine(first->barrier, set, (int32_t)count);
    machine->order[i] = lane;
    const uint32_t in_warp = lane->number % ASSAY_WARP_LANES;
    const uint32_t left = machine->launch->block_threads - lane->number;
    if (in_warp == 0)
      assay_emulator_step(lane, left >= ASSAY_WARP_LANES ? 0xffffffffu : (1u << left) - 1u,
                          assay_emulator_barrier_name(first->barrier), first->line);
  }
  if (machine->launch->watch != NULL) {
    const uint32_t blocks = first->barrier == ASSAY_BARRIER_CLUSTER ? machine->launch->cluster : 1;
    assay_watch_barrier(machine, first->view.cluster_rank, blocks);
  }
  assay_emulator_release(machine, machine->order, count);
}

int assay_emulator_barrier(assay_barrier_kind kind, int predicate, int line) {
  emulated_machine *machine = assay_emulator_current();
  emulated_lane *lane = machine->current;
  emulated_block *block = lane->block;
  const uint32_t threads = machine->launch->block_threads;
  lane->line = line;
  lane->barrier = kind;
  lane->value = predicate;
  if (kind == ASSAY_BARRIER_CLUSTER) {
    lane->state = LANE_AT_CLUSTER_BARRIER;
    if (++machine->at_cluster_barrier == threads * machine->launch->cluster) {
      machine->at_cluster_barrier = 0;
      open_barrier(machine, machine->lanes, threads * machine->launch->cluster);
    }
  } else {
    lane->state = LANE_AT_BARRIER;
    if (++block->at_barrier == threads) {
      block->at_barrier = 0;
      open_barrier(machine, block->lanes, threads);
    }
  }
  assay_emulator_wait(machine);
  return lane->value;
}

/* ---- __activemask -------------------------------------------------------------------------------------- */

/* A GPU answers with the lanes that happen to run together. Here those are the lanes of the warp that come to
 * this line before all others have to wait for something else. */
uint32_t assay_emulator_active_mask(int line) {
  emulated_machine *machine = assay_emulator_current();
  emulated_lane *lane = machine->current;
  lane->line = line;
  lane->state = LANE_AT_MASK;
  assay_emulator_wait(machine);
  return (uint32_t)lane->value;
}

bool assay_emulator_release_masks(emulated_machine *machine) {
  const uint32_t count = machine->launch->block_threads * machine->launch->cluster;
  emulated_lane *first = NULL;
  uint32_t found = 0;
  uint32_t mask = 0;
  for (uint32_t i = 0; i < count; i++) {
    emulated_lane *lane = &machine->lanes[i];
    if (lane->state != LANE_AT_MASK) continue;
    if (first == NULL) first = lane;
    if (lane->block != first->block || lane->number / ASSAY_WARP_LANES != first->number / ASSAY_WARP_LANES ||
        lane->line != first->line) {
      continue;
    }
    mask |= 1u << lane->number % ASSAY_WARP_LANES;
    machine->order[found++] = lane;
  }
  if (first == NULL) return false;
  for (uint32_t i = 0; i < found; i++) machine->order[i]->value = (int32_t)mask;
  assay_emulator_step(first, mask, "__activemask", first->line);
  assay_emulator_release(machine, machine->order, found);
  return true;
}

/* ---- waiting for memory -------------------------------------------------------------------------------- */

/* Whether anything may still change: a block on another thread of the operating system works on. */
static bool others_move(emulated_machine *machine) {
  const emulated_launch *launch = machine->launch;
  if (atomic_load(&launch->failed) < machine->ordinal) return false;
  if (atomic_load(&launch->running) < 2) return false;
  uint64_t sum = 0;
  for (int i = 0; i < launch->machine_count; i++) {
    if (&launch->machines[i] != machine)
      sum += atomic_load_explicit(&launch->machines[i].progress, memory_order_relaxed);
  }
  const int64_t now = assay_now_ns();
  if (sum != machine->seen || machine->seen_ns == 0) {
    machine->seen = sum;
    machine->seen_ns = now;
  }
  return now - machine->seen_ns < stall_ns;
}

static void yield_idle(emulated_machine *machine, int line) {
  machine->idle++;
  if (machine->idle % IDLE_YIELDS_BEFORE_CPU_YIELD == 0 && machine->launch->machine_count > 1) sched_yield();
  if (machine->idle >= IDLE_YIELDS_MOST) {
    if (!others_move(machine)) {
      assay_emulator_fail(
          machine->current, line,
          "timed out: this thread waits for memory that nobody changes (%d looks without any progress)",
          IDLE_YIELDS_MOST);
    }
    machine->idle = IDLE_YIELDS_MOST - IDLE_YIELDS_BEFORE_CPU_YIELD;
  }
  assay_emulator_yield(machine);
}

void assay_emulator_touch(int changed, int line) {
  emulated_machine *machine = assay_emulator_current();
  emulated_lane *lane = machine->current;
  lane->line = line;
  if (changed) assay_emulator_progress(machine);
  if (++lane->touches % TOUCHES_BEFORE_YIELD != 0) return;
  if (changed) {
    assay_emulator_yield(machine);
  } else {
    yield_idle(machine, line);
  }
}

void assay_emulator_pause(int line) {
  emulated_machine *machine = assay_emulator_current();
  machine->current->line = line;
  yield_idle(machine, line);
}
