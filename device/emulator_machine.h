/* SPDX-License-Identifier: MIT */
/* emulator_machine.h - the state of a launch in the emulator; only its own files include it. */
#ifndef ASSAY_EMULATOR_MACHINE_H
#define ASSAY_EMULATOR_MACHINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "emulator.h"
#include "emulator_build.h"
#include "emulator_stack.h"
#include "emulator_switch.h"
#include "rng.h"

enum {
  BLOCK_THREADS_MOST = 1024,
  BLOCK_WARPS_MOST = BLOCK_THREADS_MOST / ASSAY_WARP_LANES,
  BLOCK_DEPTH_MOST = 64,
  GRID_HEIGHT_MOST = 65535,
  CLUSTER_MOST = 8,              /* what every GPU with clusters takes */
  SHARED_BYTES_MOST = 227 << 10, /* dynamic shared memory of a block on compute capability 9.0 */
};

typedef enum lane_state {
  LANE_READY,
  LANE_MEETING, /* at a warp operation */
  LANE_AT_BARRIER,
  LANE_AT_CLUSTER_BARRIER,
  LANE_AT_MASK, /* at __activemask */
  LANE_EXITED
} lane_state;

/* A cp.async that was issued and not yet waited for. */
typedef struct pending_copy {
  unsigned char *to;
  const unsigned char *from;
  uint32_t bytes, from_bytes;
  int64_t group;
} pending_copy;

/* One thread of a block. */
typedef struct emulated_lane {
  assay_thread view; /* what the kernel sees */
  assay_context context;
  struct emulated_lane *next; /* in the list of those that can run */
  struct emulated_block *block;
  assay_warp_request *request; /* while it meets */
  lane_state state;
  uint32_t number; /* in the block */
  int32_t line;    /* of the last word that it called */
  assay_barrier_kind barrier;
  int32_t value; /* a barrier's predicate, then its result; the mask of __activemask */
  uint32_t touches;
  pending_copy *copies; /* kept for the next block */
  uint32_t copy_count, copy_capacity;
  int64_t group; /* of the next cp.async */
} emulated_lane;

typedef struct emulated_block {
  assay_index3 index;
  emulated_lane *lanes;
  assay_guarded memory; /* dynamic shared memory lies at its end */
  unsigned char *shared;
  unsigned char *saved_static; /* static shared memory while another block of the cluster runs */
  uint32_t at_barrier;
  uint32_t exited;
  uint32_t meeting[BLOCK_WARPS_MOST]; /* lanes at a warp operation */
} emulated_block;

/* One thread of the operating system, with the blocks that it runs now: one, or a cluster. */
typedef struct emulated_machine {
  struct emulated_launch *launch;
  emulated_lane *current;
  emulated_lane *first_ready, *last_ready;
  assay_context main;
  assay_stacks *stacks;
  const assay_thread **self; /* the object's pointer to `view` of the current lane */
  unsigned char *static_shared;
  size_t static_bytes;
  emulated_block *resident; /* the block whose static shared memory is in place */
  emulated_block *blocks;   /* of the cluster */
  emulated_lane *lanes;
  emulated_lane **order; /* room for all lanes, to name some of them */
  uint32_t at_cluster_barrier;
  assay_rng rng;
  int64_t ordinal; /* of the cluster in the order of this run */
  uint32_t idle;   /* yields since something happened */
  uint64_t seen;   /* what the other machines had done when `idle` was last full */
  int64_t seen_ns;
  assay_status status;
  assay_message message;
  _Alignas(64) _Atomic uint64_t progress; /* read by the other machines */
} emulated_machine;

typedef struct emulated_launch {
  const assay_launch *request;
  const emulated_kernel *kernel;
  uint64_t seed;
  assay_trace_call *trace;
  void *trace_context;
  struct emulator_watch *watch; /* NULL: not watched */
  uint32_t block_threads, cluster;
  int64_t cluster_count, stride, offset; /* run k is cluster (k * stride + offset) mod cluster_count */
  emulated_machine *machines;
  int machine_count;
  _Atomic int running;
  _Atomic int64_t next;   /* the next run */
  _Atomic int64_t failed; /* the first run that failed, INT64_MAX: none */
  pthread_mutex_t gate;   /* for what follows */
  assay_status status;
  assay_message *why;
} emulated_launch;

/* emulator_schedule.c */

/* Runs the blocks that the machine holds, all lanes ready, until all have exited or one has failed. */
void assay_emulator_run_blocks(emulated_machine *machine);

/* The machine of the calling thread while it runs a kernel, otherwise NULL. */
emulated_machine *assay_emulator_current(void);

/* The current lane waits until it is released, or goes behind those that can run. */
void assay_emulator_wait(emulated_machine *machine);
void assay_emulator_yield(emulated_machine *machine);

/* Ends the run from within a kernel, or from the scheduler, with a sentence about `lane` at `line`. */
_Noreturn void assay_emulator_fail(emulated_lane *lane, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void assay_emulator_note(emulated_machine *machine, const emulated_lane *lane, int line, const char *format,
                         ...) __attribute__((format(printf, 4, 5)));
/* The same for an address that is wrong, which a watch counts to another tool. */
_Noreturn void assay_emulator_fail_address(emulated_lane *lane, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Ends the run from within a kernel with this sentence. */
_Noreturn void assay_emulator_stop(emulated_machine *machine, const char *text);

void assay_emulator_step(const emulated_lane *lane, uint32_t mask, const char *what, int line);
void assay_emulator_progress(emulated_machine *machine);

/* The lanes can run again, in the order of `lanes` or of the seed. Changes the array. */
void assay_emulator_release(emulated_machine *machine, emulated_lane **lanes, uint32_t count);

/* emulator_barrier.c */
int assay_emulator_barrier(assay_barrier_kind kind, int predicate, int line);
uint32_t assay_emulator_active_mask(int line);
/* When nobody can run: lets the lanes at __activemask go on. False when there are none. */
bool assay_emulator_release_masks(emulated_machine *machine);
void assay_emulator_touch(int changed, int line);
void assay_emulator_pause(int line);
const char *assay_emulator_barrier_name(assay_barrier_kind kind);

/* emulator_warp.c */
void assay_emulator_meet(assay_warp_request *request);
const char *assay_emulator_operation_name(int32_t operation);

/* emulator_matrix.c: the operation of a whole warp, whose requests are all here. */
void assay_emulator_matrix(emulated_lane *const *lanes, int32_t operation);

/* emulator_copy.c */
void assay_emulator_copy(void *shared, const void *global, uint32_t bytes, uint32_t from_bytes, int line);
void assay_emulator_copy_commit(int line);
void assay_emulator_copy_wait(int32_t groups_left, int line);
void *assay_emulator_peer(void *shared, uint32_t rank, int line);
void assay_emulator_align(const void *address, uint32_t bytes, const char *what, int line);
bool assay_emulator_is_shared(const emulated_lane *lane, const void *address, size_t bytes);

/* emulator_diagnose.c: why nobody can run. */
void assay_emulator_diagnose(emulated_machine *machine);

/* emulator_run.c: all blocks of a launch. */
assay_status assay_emulator_run(emulated_launch *launch, int threads, assay_message *why);
/* Block `rank` of the cluster that is run as number `ordinal`. */
assay_index3 assay_emulator_block_index(const emulated_launch *launch, int64_t ordinal, uint32_t rank);

/* What every kernel's object is bound to. */
extern const assay_emulator_calls assay_emulator_table;

#endif
