/* SPDX-License-Identifier: MIT */
/* emulator_run.c - all blocks of a launch, in the order of the seed, on as many threads as the queue has. */
#include "emulator_machine.h"
#include "emulator_watched.h"

#include <assert.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

const assay_emulator_calls assay_emulator_table = {
    .version = ASSAY_EMULATOR_VERSION,
    .meet = assay_emulator_meet,
    .barrier = assay_emulator_barrier,
    .active_mask = assay_emulator_active_mask,
    .copy = assay_emulator_copy,
    .copy_commit = assay_emulator_copy_commit,
    .copy_wait = assay_emulator_copy_wait,
    .peer = assay_emulator_peer,
    .touch = assay_emulator_touch,
    .pause = assay_emulator_pause,
    .align = assay_emulator_align,
    .access = assay_emulator_access,
    .fence = assay_emulator_fence,
    .move = assay_emulator_move,
    .fill = assay_emulator_fill,
};

/* ---- static shared memory ------------------------------------------------------------------------------ */

typedef struct static_search {
  uintptr_t inside; /* an address in the wanted region */
  unsigned char *start;
  size_t bytes;
} static_search;

/* The thread-local variables of a kernel's object are its static shared memory, and `self`. */
static int look_at_object(struct dl_phdr_info *info, size_t size, void *context) {
  static_search *search = context;
  (void)size;
  if (info->dlpi_tls_data == NULL) return 0;
  const uintptr_t start = (uintptr_t)info->dlpi_tls_data;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_TLS) continue;
    const size_t bytes = info->dlpi_phdr[i].p_memsz;
    if (search->inside < start || search->inside - start >= bytes) continue;
    search->start = info->dlpi_tls_data;
    search->bytes = bytes;
    return 1;
  }
  return 0;
}

/* Huge finite numbers or NaN in every element type: some mistakes show with one, some with the other (a
 * maximum passes over NaN). */
static void poison(void *memory, size_t bytes, bool finite) {
  const uint32_t pattern = finite ? 0x7b7b7b7bu : 0x7fff7fffu;
  unsigned char *to = memory;
  size_t i = 0;
  for (; i + sizeof pattern <= bytes; i += sizeof pattern) memcpy(to + i, &pattern, sizeof pattern);
  memset(to + i, 0x7f, bytes - i);
}

/* ---- a machine ----------------------------------------------------------------------------------------- */

static bool make_blocks(emulated_machine *machine) {
  const emulated_launch *launch = machine->launch;
  const size_t shared = ((size_t)launch->request->shared_bytes + 15) / 16 * 16;
  for (uint32_t i = 0; i < launch->cluster; i++) {
    emulated_block *block = &machine->blocks[i];
    block->lanes = machine->lanes + (size_t)i * launch->block_threads;
    if (!assay_guarded_make(&block->memory, shared)) return false;
    block->shared = (unsigned char *)block->memory.end - shared;
    if (launch->cluster == 1) continue;
    block->saved_static = calloc(1, machine->static_bytes);
    if (block->saved_static == NULL) return false;
  }
  return true;
}

static bool make_machine(emulated_machine *machine) {
  const emulated_launch *launch = machine->launch;
  const uint32_t count = launch->block_threads * launch->cluster;
  machine->self = launch->kernel->self();
  static_search search = {.inside = (uintptr_t)machine->self};
  if (dl_iterate_phdr(look_at_object, &search) == 0) return false;
  machine->static_shared = search.start;
  machine->static_bytes = search.bytes;
  machine->stacks = assay_stacks_take(count);
  machine->blocks = calloc(launch->cluster, sizeof *machine->blocks);
  machine->lanes = calloc(count, sizeof *machine->lanes);
  machine->order = calloc(count, sizeof(emulated_lane *));
  return machine->stacks != NULL && machine->blocks != NULL && machine->lanes != NULL &&
         machine->order != NULL && make_blocks(machine);
}

static void free_machine(emulated_machine *machine) {
  const emulated_launch *launch = machine->launch;
  for (uint32_t i = 0; machine->blocks != NULL && i < launch->cluster; i++) {
    assay_guarded_free(&machine->blocks[i].memory);
    free(machine->blocks[i].saved_static);
  }
  for (uint32_t i = 0; machine->lanes != NULL && i < launch->block_threads * launch->cluster; i++)
    free(machine->lanes[i].copies);
  free(machine->blocks);
  free(machine->lanes);
  free((void *)machine->order);
}

/* ---- a cluster or a block ------------------------------------------------------------------------------ */

static void place_lanes(emulated_machine *machine, uint32_t rank) {
  const emulated_launch *launch = machine->launch;
  const assay_dim3 block = launch->request->block;
  const assay_dim3 grid = launch->request->grid;
  emulated_block *of = &machine->blocks[rank];
  for (uint32_t i = 0; i < launch->block_threads; i++) {
    emulated_lane *lane = &of->lanes[i];
    lane->view = (assay_thread){
        .thread = {i % block.x, i / block.x % block.y, i / block.x / block.y},
        .block = of->index,
        .block_size = {block.x, block.y, block.z},
        .grid_size = {grid.x, grid.y, grid.z},
        .shared = of->shared,
        .cluster_rank = rank,
        .cluster_size = launch->cluster,
    };
    lane->block = of;
    lane->number = i;
    lane->line = 0;
    lane->touches = 0;
    lane->copy_count = 0;
    lane->group = 0;
  }
}

assay_index3 assay_emulator_block_index(const emulated_launch *launch, int64_t ordinal, uint32_t rank) {
  const assay_dim3 grid = launch->request->grid;
  const int64_t cluster = (ordinal * launch->stride + launch->offset) % launch->cluster_count;
  const uint32_t across = grid.x / launch->cluster;
  return (assay_index3){(uint32_t)(cluster % across) * launch->cluster + rank,
                        (uint32_t)(cluster / across % grid.y), (uint32_t)(cluster / across / grid.y)};
}

static void run_cluster(emulated_machine *machine, int64_t ordinal) {
  const emulated_launch *launch = machine->launch;
  machine->ordinal = ordinal;
  machine->idle = 0;
  machine->seen_ns = 0;
  machine->at_cluster_barrier = 0;
  machine->resident = NULL;
  if (launch->seed != 0) assay_rng_seed(&machine->rng, assay_seed_mix(launch->seed, (uint64_t)ordinal));
  const bool finite = (ordinal + (int64_t)(launch->seed & 1)) % 2 == 0;
  for (uint32_t i = 0; i < launch->cluster; i++) {
    emulated_block *block = &machine->blocks[i];
    block->index = assay_emulator_block_index(launch, ordinal, i);
    block->at_barrier = 0;
    block->exited = 0;
    memset(block->meeting, 0, sizeof block->meeting);
    poison(block->shared, launch->request->shared_bytes, finite);
    if (block->saved_static != NULL) poison(block->saved_static, machine->static_bytes, finite);
    place_lanes(machine, i);
  }
  poison(machine->static_shared, machine->static_bytes, finite);
  if (launch->watch != NULL) assay_watch_begin_cluster(machine);
  assay_emulator_run_blocks(machine);
}

/* ---- the launch ---------------------------------------------------------------------------------------- */

/* The failure of the earliest run counts, whichever thread finds its own first. */
static void record_failure(emulated_launch *launch, const emulated_machine *machine, int64_t ordinal) {
  pthread_mutex_lock(&launch->gate);
  if (ordinal < atomic_load(&launch->failed)) {
    atomic_store(&launch->failed, ordinal);
    launch->status = assay_explain(launch->why, machine->status, "%s", machine->message.text);
  }
  pthread_mutex_unlock(&launch->gate);
}

static void run_machine(emulated_launch *launch, int index) {
  emulated_machine *machine = &launch->machines[index];
  machine->launch = launch;
  if (!make_machine(machine) || (launch->watch != NULL && !assay_watch_begin_launch(machine))) {
    machine->status =
        assay_explain(&machine->message, ASSAY_NO_MEMORY,
                      "there is no memory to emulate a block of %u threads", launch->block_threads);
    record_failure(launch, machine, -1);
  }
  while (machine->status == ASSAY_OK) {
    const int64_t ordinal = atomic_fetch_add(&launch->next, 1);
    if (ordinal >= launch->cluster_count || ordinal > atomic_load(&launch->failed)) break;
    run_cluster(machine, ordinal);
    if (machine->status != ASSAY_OK) record_failure(launch, machine, ordinal);
  }
  atomic_fetch_sub(&launch->running, 1);
  if (launch->watch != NULL) assay_watch_end_launch(machine);
  free_machine(machine);
}

static int64_t greatest_divisor(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* i -> (i * stride + offset) mod count meets every number once when the stride shares no divisor with the
 * count. */
static void choose_order(emulated_launch *launch) {
  launch->stride = 1;
  launch->offset = 0;
  if (launch->seed == 0 || launch->cluster_count < 2 || launch->cluster_count > INT32_MAX) return;
  assay_rng rng;
  const uint64_t count = (uint64_t)launch->cluster_count;
  assay_rng_seed(&rng, launch->seed);
  launch->offset = (int64_t)assay_rng_below(&rng, count);
  do {
    launch->stride = 1 + (int64_t)assay_rng_below(&rng, count);
  } while (greatest_divisor(launch->stride, launch->cluster_count) != 1);
}

assay_status assay_emulator_run(emulated_launch *launch, int threads, assay_message *why) {
  const uint32_t stacks = launch->block_threads * launch->cluster;
  int count = threads;
  if (count > ASSAY_STACKS_MOST / (int)stacks) count = ASSAY_STACKS_MOST / (int)stacks;
  if (count > launch->cluster_count) count = (int)launch->cluster_count;
  assert(count >= 1);
  launch->machines = aligned_alloc(_Alignof(emulated_machine), (size_t)count * sizeof(emulated_machine));
  if (launch->machines == NULL)
    return assay_explain(why, ASSAY_NO_MEMORY, "there is no memory for %d threads of the emulator", count);
  memset(launch->machines, 0, (size_t)count * sizeof(emulated_machine));
  launch->machine_count = count;
  launch->why = why;
  launch->status = ASSAY_OK;
  atomic_init(&launch->running, count);
  atomic_init(&launch->next, 0);
  atomic_init(&launch->failed, INT64_MAX);
  pthread_mutex_init(&launch->gate, NULL);
  choose_order(launch);
#pragma omp parallel for num_threads(count) schedule(static, 1) if (count > 1)
  for (int i = 0; i < count; i++) run_machine(launch, i);
  pthread_mutex_destroy(&launch->gate);
  free(launch->machines);
  return launch->status;
}
