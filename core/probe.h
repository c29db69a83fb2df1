/* SPDX-License-Identifier: MIT */
/*
 * probe.h - what a check's own run function can do: make operands, call the kernel, expect results.
 *
 * The functions behind it live in the check engine, which the library does not contain: hence the table.
 * After the first failure of a case every further probe function does nothing and returns false.
 */
#ifndef ASSAY_PROBE_H
#define ASSAY_PROBE_H

#include "op.h"

/* Operands of one call, in guarded memory that the judge and the worker share. Owned by the probe. */
typedef struct assay_case assay_case;

/* One call of a request. Calls of the same queue run in order, those of different queues at the same time. */
typedef struct assay_probe_call {
  assay_case *operands;
  int queue;
} assay_probe_call;

typedef struct assay_probe_calls {
  assay_case *(*make)(assay_probe *probe, const assay_plan *plan);
  assay_tensor (*in)(const assay_case *operands, int index);
  assay_tensor (*out)(const assay_case *operands, int index);
  bool (*fill)(assay_probe *probe, assay_case *operands, int index, const double *values);
  bool (*run)(assay_probe *probe, const assay_probe_call *calls, int count);
  bool (*expect_oracle)(assay_probe *probe, assay_case *operands, bool degenerate);
  bool (*expect)(assay_probe *probe, assay_case *operands, int64_t flat, double want, double allowed);
  bool (*expect_same)(assay_probe *probe, assay_case *left, assay_case *right);
  bool (*reject)(assay_probe *probe, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                 assay_status status, const char *word);
  void (*release)(assay_probe *probe);
  void (*fail)(assay_probe *probe, const char *text);
  void (*unavailable)(assay_probe *probe, const char *reason);
} assay_probe_calls;

/* What else the streams of a CUDA queue do during a call; other backends ignore it. */
typedef enum assay_streams {
  ASSAY_STREAMS_QUIET = 0, /* a slow kernel runs first on the queue's own stream, always */
  ASSAY_STREAMS_BUSY,      /* another stream is busy until the call is through: it must not be waited for */
  ASSAY_STREAMS_CAPTURE,   /* the call is captured into a graph, and the graph launched */
  ASSAY_STREAMS_REPLAY     /* the graph of the last capture is launched once more, without a call */
} assay_streams;

/* simt: what watches the kernels of a call; the bits are those of the emulator's tools. A call with a finding
 * fails. */
enum {
  ASSAY_WATCH_MEMORY = 1 << 0,
  ASSAY_WATCH_RACE = 1 << 1,
  ASSAY_WATCH_INIT = 1 << 2,
  ASSAY_WATCH_SYNC = 1 << 3,
  ASSAY_WATCH_COUNTS = 1 << 4 /* fills `traffic` */
};

/* Bytes that the threads of a request's kernels asked for, an entry an operand. */
typedef struct assay_traffic {
  int64_t read[ASSAY_MAX_OPERANDS];    /* of the inputs */
  int64_t written[ASSAY_MAX_OPERANDS]; /* of the outputs */
} assay_traffic;

struct assay_probe {
  const assay_probe_calls *calls;
  const assay_subject *subject;
  assay_backend backend; /* of what is judged */
  int32_t device;        /* of the operands: the number that a tensor carries */
  assay_limits limits;   /* of what is judged: an exercise or the library */
  assay_rng rng;         /* seeded for this case */
  const assay_check *check;
  const assay_row *row; /* the current row of the check's table, NULL when it has none */
  assay_dtype dtype;    /* the current case of that row */
  int layout;
  int threads;         /* of the queues that calls run on; a run function may change it */
  bool special_poison; /* outputs hold NaN and infinities before a call, where finite numbers are usual */
  assay_streams streams;
  uint64_t schedule; /* simt: in which order threads and blocks run; 0 is the natural order */
  uint32_t watch;    /* simt: ASSAY_WATCH_..., 0 for a plain call */
  assay_traffic traffic;
};

/* Operands as planned: gaps of inputs hold NaN, outputs random finite values. NULL after a failure. */
static inline assay_case *assay_probe_make(assay_probe *probe, const assay_plan *plan) {
  return probe->calls->make(probe, plan);
}

/* Operands and contents of the current row, dtype and layout. */
assay_case *assay_probe_make_row(assay_probe *probe);

/* Contents of an input from a fill function. False when the probe has failed already. */
bool assay_probe_fill_with(assay_probe *probe, assay_case *operands, int index, assay_fill *fill, double a,
                           double b);

/* The judge's view of an operand; inputs may be written between calls with assay_put. */
static inline assay_tensor assay_probe_in(const assay_probe *probe, const assay_case *operands, int index) {
  return probe->calls->in(operands, index);
}
static inline assay_tensor assay_probe_out(const assay_probe *probe, const assay_case *operands, int index) {
  return probe->calls->out(operands, index);
}

/* Sets input `index` to `values`, one a logical element in row-major order. */
static inline bool assay_probe_fill(assay_probe *probe, assay_case *operands, int index,
                                    const double *values) {
  return probe->calls->fill(probe, operands, index, values);
}

/* Poisons the outputs, sends one request with all calls, waits, keeps a copy of the outputs. */
static inline bool assay_probe_run(assay_probe *probe, const assay_probe_call *calls, int count) {
  return probe->calls->run(probe, calls, count);
}
static inline bool assay_probe_run_one(assay_probe *probe, assay_case *operands) {
  const assay_probe_call call = {operands, 0};
  return operands != NULL && probe->calls->run(probe, &call, 1);
}

/* Every output element of the last call against the oracle, and the proof of the degenerate mark. */
static inline bool assay_probe_expect_oracle(assay_probe *probe, assay_case *operands, bool degenerate) {
  return probe->calls->expect_oracle(probe, operands, degenerate);
}

/* One element of output 0 of the last call: |got - want| <= allowed, NaN only where NaN is wanted. */
static inline bool assay_probe_expect(assay_probe *probe, assay_case *operands, int64_t flat, double want,
                                      double allowed) {
  return probe->calls->expect(probe, operands, flat, want, allowed);
}

/* Output 0 of two cases, bit for bit. */
static inline bool assay_probe_expect_same(assay_probe *probe, assay_case *left, assay_case *right) {
  return probe->calls->expect_same(probe, left, right);
}

/* The library must refuse the call before any kernel runs, with this status and a sentence that holds `word`.
 */
static inline bool assay_probe_reject(assay_probe *probe, const assay_tensor *in, const assay_tensor *out,
                                      const int64_t *opt, assay_status status, const char *word) {
  return probe->calls->reject(probe, in, out, opt, status, word);
}

/* Gives back all operands made so far, for a run function that makes many one after another. */
static inline void assay_probe_release(assay_probe *probe) {
  probe->calls->release(probe);
}

/* ---- run functions that suit every operator with CUDA variants (probe_gpu.c) --------------------------- */

/* simt: the row's case under eight orders of threads and blocks; each must give the oracle's values. */
void assay_probe_thread_orders(assay_probe *probe);

/* cuda: another stream is busy until the call is through; the call must not wait for it. */
void assay_probe_busy_stream(assay_probe *probe);

/* cuda: a call captured into a graph once gives right results when it is replayed with new contents. */
void assay_probe_graph_replay(assay_probe *probe);

/* simt (probe_sanitize.c): the row's case watched by one tool of the emulator, in the natural order of
 * threads and in another; a finding fails, and so do wrong values. */
void assay_probe_sanitize_memory(assay_probe *probe);
void assay_probe_sanitize_race(assay_probe *probe);
void assay_probe_sanitize_init(assay_probe *probe);
void assay_probe_sanitize_sync(assay_probe *probe);

/* simt: of each input no more is read than its bytes times the check's `reads`, and no more is written than
 * the result once. */
void assay_probe_traffic(assay_probe *probe);

/* The row's case, whose operands are packed and may hold more elements than 32 bits count (probe_huge.c):
 * some rows against the oracle. Tier L: the operands exist in full, on a GPU as well. */
void assay_probe_huge(assay_probe *probe);

/* A device that `tensor` is not on: the CPU for a tensor of a GPU, device 0 or 1 for others. */
int32_t assay_probe_other_device(const assay_tensor *tensor, bool cpu);

/* Ends the case as a failure, or says that this machine cannot run it. */
static inline void assay_probe_fail(assay_probe *probe, const char *text) {
  probe->calls->fail(probe, text);
}
static inline void assay_probe_unavailable(assay_probe *probe, const char *reason) {
  probe->calls->unavailable(probe, reason);
}

#endif
