/* SPDX-License-Identifier: MIT */
/*
 * protocol.h - the messages between the judge and its worker: one struct a packet on a SOCK_SEQPACKET pair.
 *
 * Both ends are the same program, so structs go as they are; magic and version tell a foreign packet apart.
 * What the worker says is a claim: the judge decides from the outputs in the shared memory.
 */
#ifndef ASSAY_PROTOCOL_H
#define ASSAY_PROTOCOL_H

#include "op.h"

enum { PROTOCOL_MAGIC = 0x41535359, PROTOCOL_VERSION = 5 };
enum {
  PROTOCOL_TARGETS = 64,
  PROTOCOL_SLOTS = 64,
  PROTOCOL_CALLS = 8,
  PROTOCOL_PATH = 4096,
  PROTOCOL_NAME = 64
};

typedef enum message_kind {
  MESSAGE_LOAD = 1, /* judge: load a kernel */
  MESSAGE_MAP,      /* judge: map an operand; the descriptor travels with the packet */
  MESSAGE_UNMAP,    /* judge: unmap all operands */
  MESSAGE_TRACE,    /* judge: the memory that steps of emulated kernels go to; its descriptor comes along */
  MESSAGE_WATCH,    /* judge: the memory that what the emulator's tools see goes to, likewise */
  MESSAGE_RUN,      /* judge: call the kernel */
  MESSAGE_DONE,     /* worker: the answer to any of them */
  MESSAGE_FAULT,    /* worker: a signal arrived, it is about to end */
  MESSAGE_BENCH,    /* judge: call a kept kernel on private operands and take the time */
  MESSAGE_READY,    /* worker: everything before the timed calls is done */
  MESSAGE_GO,       /* judge: its own clock runs */
  MESSAGE_TIMED     /* worker: the timed calls have returned; DONE follows when the outputs are handed back */
} message_kind;

typedef struct message_head {
  uint32_t magic;
  uint16_t version;
  uint16_t kind;
} message_head;

typedef struct load_request {
  message_head head;
  int32_t target;  /* a target_kind */
  int32_t index;   /* variant or must-fail kernel */
  int32_t backend; /* an assay_backend: what kind of queue the calls get */
  int32_t threads; /* of the largest queue so far: its OpenMP threads are started now */
  int32_t number;  /* BENCH finds the kernel under it; every RUN takes the one that was loaded last */
  char subject[PROTOCOL_NAME];
  char path[PROTOCOL_PATH]; /* of the shared object */
} load_request;

typedef struct map_request {
  message_head head;
  int32_t slot;
  int32_t writable;
  int32_t apart; /* kernels get private memory of huge pages that BENCH fills from the descriptor's */
  uint64_t page_bytes;
  uint64_t offset;
  uint64_t bytes;
} map_request;

typedef struct share_request { /* TRACE and WATCH */
  message_head head;
  uint64_t bytes;
} share_request;

/* A tensor whose data is `offset` bytes behind the start of a slot's data; slot -1: data is NULL. */
typedef struct wire_tensor {
  int32_t slot;
  int64_t offset;
  assay_tensor tensor;
} wire_tensor;

typedef struct wire_call {
  int32_t queue;
  int32_t entry;
  wire_tensor in[ASSAY_MAX_OPERANDS];
  wire_tensor out[ASSAY_MAX_OPERANDS];
  int64_t opt[ASSAY_MAX_OPTIONS];
} wire_call;

typedef struct run_request {
  message_head head;
  int32_t threads;
  int32_t streams;   /* an assay_streams */
  uint64_t schedule; /* simt: seed of the order of threads and blocks */
  uint32_t watch;    /* simt: tools that watch the kernels */
  int32_t call_count;
  uint64_t poison; /* seed of what scratch holds */
  wire_call calls[PROTOCOL_CALLS];
} run_request;

/* Before the calls the operands are filled anew, and outputs again between the two groups of calls. All calls
 * but the last timed one see inputs that differ in one element, so that none can be answered from memory. */
typedef struct bench_request {
  message_head head;
  int32_t target; /* number of the kernel */
  int32_t threads;
  int32_t timer;  /* index into `timers` */
  int32_t warmup; /* calls that are not timed */
  int64_t calls;  /* that are */
  uint64_t seed;  /* of what differs from call to call */
  int32_t fresh;  /* inputs are not those of the request before; operands that were just mapped always are */
  uint64_t evict_bytes; /* for a cold cache: memory to walk over before the timed call; 0: warm */
  wire_call call;
} bench_request;

typedef struct done_reply {
  message_head head;
  int32_t failed;       /* the request could not be carried out; `text` says why */
  int32_t unavailable;  /* this machine is the reason that it failed, or that the status is not ASSAY_OK */
  int32_t status;       /* RUN: of the first call that did not return ASSAY_OK */
  int32_t mode_changed; /* the floating-point mode is not what it was before */
  int32_t compiler_threads; /* that NVRTC has started in the worker so far, and left there */
  int32_t foreign_openmp;   /* LOAD: the object brought an OpenMP runtime of its own */
  int32_t input_changed;    /* BENCH: 1 + the first input that the kernel wrote to */
  int32_t busy;             /* BENCH: the process did not come to rest before the calls */
  int32_t pinned;           /* BENCH: the calling thread is bound to one CPU */
  int32_t huge_share;       /* BENCH: percent of the operands' memory in huge pages */
  int32_t sm_mhz;           /* BENCH on a GPU: its clock right behind the timed calls; 0: not known */
  int32_t graph_nodes;      /* BENCH with a graph: nodes of one call */
  int64_t nanoseconds;      /* BENCH: of the timed calls */
  int64_t context_switches;
  char text[320];
} done_reply;

typedef struct fault_report {
  message_head head;
  int32_t signal;
  int32_t access; /* 0 unknown, 1 read, 2 write */
  int32_t slot;   /* the operand nearest to the address, -1 when none is near */
  int64_t offset; /* of the address from the start of that operand's data, in bytes */
  uint64_t address;
  char where[192]; /* in an emulated kernel: its name, the thread and the line; else empty */
} fault_report;

#endif
