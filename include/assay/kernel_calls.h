/* SPDX-License-Identifier: MIT */
/*
 * kernel_calls.h - what an emulated kernel and the emulator agree on: the coordinates that a thread reads,
 * and the table of what it cannot do by itself. Both sides include this file, so nothing here is a CUDA word.
 */
#ifndef ASSAY_KERNEL_CALLS_H
#define ASSAY_KERNEL_CALLS_H

#include <stddef.h>
#include <stdint.h>

enum { ASSAY_EMULATOR_VERSION = 2, ASSAY_WARP_LANES = 32 };

typedef struct assay_index3 {
  uint32_t x, y, z;
} assay_index3;

/* What threadIdx and its kin are read from. */
typedef struct assay_thread {
  assay_index3 thread, block, block_size, grid_size;
  unsigned char *shared; /* dynamic shared memory of the block */
  uint32_t cluster_rank, cluster_size;
} assay_thread;

/* The operations at which the lanes of a warp meet. */
typedef enum assay_warp_operation {
  ASSAY_WARP_SYNC,
  ASSAY_WARP_SHUFFLE,
  ASSAY_WARP_SHUFFLE_UP,
  ASSAY_WARP_SHUFFLE_DOWN,
  ASSAY_WARP_SHUFFLE_XOR,
  ASSAY_WARP_BALLOT,
  ASSAY_WARP_ANY,
  ASSAY_WARP_ALL,
  ASSAY_WARP_MATCH_ANY,
  ASSAY_WARP_ADD,
  ASSAY_WARP_MIN,
  ASSAY_WARP_MAX,
  ASSAY_WARP_MIN_SIGNED,
  ASSAY_WARP_MAX_SIGNED,
  ASSAY_WARP_AND,
  ASSAY_WARP_OR,
  ASSAY_WARP_XOR,
  ASSAY_WARP_LDMATRIX_X2,
  ASSAY_WARP_LDMATRIX_X2_TRANS,
  ASSAY_WARP_LDMATRIX_X4,
  ASSAY_WARP_LDMATRIX_X4_TRANS,
  ASSAY_WARP_MMA_FP16,
  ASSAY_WARP_MMA_BF16,
  ASSAY_WARP_OPERATIONS
} assay_warp_operation;

/* One lane's part of an operation. It lies on the lane's stack until all lanes of `mask` have come. */
typedef struct assay_warp_request {
  int32_t operation; /* an assay_warp_operation */
  int32_t line;
  uint32_t mask;
  int32_t argument; /* a shuffle's lane, distance or pattern */
  int32_t width;
  uint64_t value; /* a shuffle's or reduction's operand, then its result */
  void *to;       /* ldmatrix: registers; mma: accumulator */
  const void *a;  /* ldmatrix: this lane's row; mma: fragment of A */
  const void *b;  /* mma: fragment of B */
} assay_warp_request;

typedef enum assay_barrier_kind {
  ASSAY_BARRIER_PLAIN,
  ASSAY_BARRIER_OR,
  ASSAY_BARRIER_AND,
  ASSAY_BARRIER_COUNT,
  ASSAY_BARRIER_CLUSTER,
} assay_barrier_kind;

/* What a watched kernel says of an access. Ordered ones are atomic or volatile: two of them are no race. */
enum {
  ASSAY_ACCESS_WRITE = 1,
  ASSAY_ACCESS_ORDERED = 2,
  ASSAY_ACCESS_ATOMIC = 4,   /* a word of kernel.h: reads, changes and orders as the next two say */
  ASSAY_ACCESS_RELEASE = 8,  /* also what this thread did before, whether or not it called a fence */
  ASSAY_ACCESS_ALIGNED = 16, /* by its type the address is a multiple of the size */
};

/* What the emulator does for a kernel. `line` is always the kernel's own line. */
typedef struct assay_emulator_calls {
  uint32_t version;
  /* Returns when every lane of request->mask is at the same operation, with the results in place. */
  void (*meet)(assay_warp_request *request);
  /* Returns, when every thread has come, what the kind makes of all predicates. */
  int (*barrier)(assay_barrier_kind kind, int predicate, int line);
  /* The lanes of this warp that are at this line now. */
  uint32_t (*active_mask)(int line);
  /* cp.async: `from_bytes` of `bytes` are copied, and the rest set to zero, when a wait retires the group. */
  void (*copy)(void *shared, const void *global, uint32_t bytes, uint32_t from_bytes, int line);
  void (*copy_commit)(int line);
  void (*copy_wait)(int32_t groups_left, int line);
  /* The same place in the dynamic shared memory of another block of the cluster. */
  void *(*peer)(void *shared, uint32_t rank, int line);
  /* An access that may be part of a wait for memory; `changed` says that it changed something. */
  void (*touch)(int changed, int line);
  /* Lets the other threads run. */
  void (*pause)(int line);
  /* Ends the launch unless `address` is a multiple of `bytes`; `what` names the access. */
  void (*align)(const void *address, uint32_t bytes, const char *what, int line);
  /* The rest is called by watched kernels only, before what it announces. `behind` is the address of the
   * instruction behind the access, and counts where `line` is 0. */
  void (*access)(const void *address, size_t bytes, uint32_t kind, int line, const void *behind);
  void (*fence)(int line);
  /* memmove and memset, whose accesses no compiler announces. */
  void (*move)(void *to, const void *from, size_t bytes, int line, const void *behind);
  void (*fill)(void *to, int value, size_t bytes, int line, const void *behind);
} assay_emulator_calls;

#endif
