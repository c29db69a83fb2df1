/* SPDX-License-Identifier: MIT */
/*
 * emulator_schedule.c - which thread of the blocks runs: one goes on until it has to wait, then the next.
 *
 * Those that can run stand in a list. What a warp waited for puts its lanes at the front, so that without a
 * seed a warp runs as far as it can before the next one; a seed also puts them at the back.
 */
#include "emulator_machine.h"
#include "emulator_watched.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local emulated_machine *running;

emulated_machine *assay_emulator_current(void) {
  return running;
}

/* ---- the list of those that can run -------------------------------------------------------------------- */

static void push_back(emulated_machine *machine, emulated_lane *lane) {
  lane->next = NULL;
  if (machine->first_ready == NULL) {
    machine->first_ready = lane;
  } else {
    machine->last_ready->next = lane;
  }
  machine->last_ready = lane;
}

static void push_front(emulated_machine *machine, emulated_lane *lane) {
  lane->next = machine->first_ready;
  if (machine->first_ready == NULL) machine->last_ready = lane;
  machine->first_ready = lane;
}

static emulated_lane *pop_front(emulated_machine *machine) {
  emulated_lane *lane = machine->first_ready;
  if (lane != NULL) machine->first_ready = lane->next;
  return lane;
}

void assay_emulator_release(emulated_machine *machine, emulated_lane **lanes, uint32_t count) {
  bool front = true;
  if (machine->launch->seed != 0) {
    for (uint32_t left = count; left > 1; left--) {
      const uint64_t pick = assay_rng_below(&machine->rng, left);
      emulated_lane *lane = lanes[pick];
      lanes[pick] = lanes[left - 1];
      lanes[left - 1] = lane;
    }
    front = assay_rng_below(&machine->rng, 2) == 0;
  }
  for (uint32_t i = 0; i < count; i++) lanes[i]->state = LANE_READY;
  if (front) {
    for (uint32_t i = count; i > 0; i--) push_front(machine, lanes[i - 1]);
  } else {
    for (uint32_t i = 0; i < count; i++) push_back(machine, lanes[i]);
  }
  assay_emulator_progress(machine);
}

/* Only the owner writes its counter, so a plain addition will do. */
void assay_emulator_progress(emulated_machine *machine) {
  machine->idle = 0;
  const uint64_t now = atomic_load_explicit(&machine->progress, memory_order_relaxed);
  atomic_store_explicit(&machine->progress, now + 1, memory_order_relaxed);
}

/* ---- changing from one to the other -------------------------------------------------------------------- */

/* Static shared memory has one place for all blocks of a cluster, so it is exchanged with the block. */
static void make_resident(emulated_machine *machine, emulated_block *block) {
  emulated_block *before = machine->resident;
  if (before == block) return;
  if (before != NULL && before->saved_static != NULL)
    memcpy(before->saved_static, machine->static_shared, machine->static_bytes);
  if (block->saved_static != NULL) memcpy(machine->static_shared, block->saved_static, machine->static_bytes);
  machine->resident = block;
}

static void enter(emulated_machine *machine, emulated_lane *lane) {
  make_resident(machine, lane->block);
  machine->current = lane;
  *machine->self = &lane->view;
}

/* The current lane waits or is at its end. */
static void leave(emulated_machine *machine, emulated_lane *lane) {
  const bool last = lane->state == LANE_EXITED;
  emulated_lane *next = machine->status == ASSAY_OK ? pop_front(machine) : NULL;
  if (next == lane) return;
  if (next != NULL) enter(machine, next);
  assay_context_switch(&lane->context, next != NULL ? &next->context : &machine->main, last);
}

void assay_emulator_wait(emulated_machine *machine) {
  leave(machine, machine->current);
}

void assay_emulator_yield(emulated_machine *machine) {
  push_back(machine, machine->current);
  leave(machine, machine->current);
}

/* Where every coroutine begins and ends. */
static void begin(void) {
  emulated_machine *machine = running;
  emulated_lane *lane = machine->current;
  emulated_block *block = lane->block;
  const emulated_launch *launch = machine->launch;
  assay_context_entered(&lane->context);
  launch->kernel->entry(launch->request->args);
  lane->state = LANE_EXITED;
  lane->copy_count = 0;
  block->exited++;
  assay_emulator_progress(machine);
  assay_emulator_step(lane, 1u << lane->number % ASSAY_WARP_LANES, "end", 0);
  if (block->exited == launch->block_threads && launch->watch != NULL) assay_watch_end_block(machine, block);
  /* What a peer still reads or writes here is lost on a GPU as well. */
  if (block->exited == launch->block_threads && launch->cluster > 1)
    memset(block->shared, 0x7f, launch->request->shared_bytes);
  leave(machine, lane);
  assert(0 && "a thread that has ended does not go on");
}

/* ---- failures ------------------------------------------------------------------------------------------ */

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

static void note(emulated_machine *machine, const emulated_lane *lane, int line, assay_tool tool,
                 const char *format, va_list arguments) {
  char what[240];
  const assay_index3 *block = &lane->view.block;
  const assay_index3 *thread = &lane->view.thread;
  if (machine->status != ASSAY_OK) return; /* the first is the cause */
  vsnprintf(what, sizeof what, format, arguments);
  machine->status =
      assay_explain(&machine->message, ASSAY_KERNEL_FAULT,
                    "%.60s:%d: %s (kernel %.40s, block (%u,%u,%u), thread (%u,%u,%u))",
                    base_name(machine->launch->request->file), line, what, machine->launch->request->kernel,
                    block->x, block->y, block->z, thread->x, thread->y, thread->z);
  if (machine->launch->watch != NULL) assay_watch_fault(machine, tool, line, machine->message.text);
}

void assay_emulator_note(emulated_machine *machine, const emulated_lane *lane, int line, const char *format,
                         ...) {
  va_list arguments;
  va_start(arguments, format);
  note(machine, lane, line, ASSAY_TOOL_SYNC, format, arguments);
  va_end(arguments);
}

/* From the stack of the current lane back to the one of the run. */
static _Noreturn void abandon(emulated_machine *machine) {
  assay_context_switch(&machine->current->context, &machine->main, 1);
  __builtin_unreachable();
}

void assay_emulator_fail(emulated_lane *lane, int line, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  note(running, lane, line, ASSAY_TOOL_SYNC, format, arguments);
  va_end(arguments);
  abandon(running);
}

void assay_emulator_fail_address(emulated_lane *lane, int line, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  note(running, lane, line, ASSAY_TOOL_MEMORY, format, arguments);
  va_end(arguments);
  abandon(running);
}

void assay_emulator_stop(emulated_machine *machine, const char *text) {
  if (machine->status == ASSAY_OK)
    machine->status = assay_explain(&machine->message, ASSAY_KERNEL_FAULT, "%s", text);
  abandon(machine);
}

/* ---- a whole run --------------------------------------------------------------------------------------- */

void assay_emulator_step(const emulated_lane *lane, uint32_t mask, const char *what, int line) {
  const emulated_launch *launch = running->launch;
  if (launch->trace == NULL) return;
  const assay_trace_event event = {.what = what,
                                   .block = lane->view.block,
                                   .warp = lane->number / ASSAY_WARP_LANES,
                                   .mask = mask,
                                   .line = line};
  launch->trace(launch->trace_context, &event);
}

static void start_lanes(emulated_machine *machine) {
  const emulated_launch *launch = machine->launch;
  const uint32_t count = launch->block_threads * launch->cluster;
  for (uint32_t i = 0; i < count; i++) {
    size_t bytes = 0;
    void *stack = assay_stack(machine->stacks, i, &bytes);
    assay_context_make(&machine->lanes[i].context, stack, bytes, begin);
    machine->order[i] = &machine->lanes[i];
  }
  machine->first_ready = NULL;
  assay_emulator_release(machine, machine->order, count);
}

void assay_emulator_run_blocks(emulated_machine *machine) {
  running = machine;
  start_lanes(machine);
  const uint32_t count = machine->launch->block_threads * machine->launch->cluster;
  while (machine->status == ASSAY_OK) {
    emulated_lane *lane = pop_front(machine);
    if (lane != NULL) {
      enter(machine, lane);
      assay_context_switch(&machine->main, &lane->context, 0);
      continue;
    }
    uint32_t exited = 0;
    for (uint32_t i = 0; i < machine->launch->cluster; i++) exited += machine->blocks[i].exited;
    if (exited == count) break;
    if (!assay_emulator_release_masks(machine)) assay_emulator_diagnose(machine);
  }
  running = NULL;
}

bool assay_emulator_here(const void *address, assay_emulator_position *position) {
  const emulated_machine *machine = running;
  if (machine == NULL || machine->current == NULL) return false;
  const emulated_lane *lane = machine->current;
  uint32_t stack = 0;
  *position = (assay_emulator_position){.file = machine->launch->request->file,
                                        .kernel = machine->launch->request->kernel,
                                        .block = lane->view.block,
                                        .thread = lane->view.thread,
                                        .line = lane->line};
  position->stack_overflow =
      assay_stack_guards(machine->stacks, address, &stack) && &machine->lanes[stack] == lane;
  return true;
}
