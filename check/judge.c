/* SPDX-License-Identifier: MIT */
/* judge.c - the cases of one check, in both placements, until one does not pass. */
#include "judge.h"
#include "judge_request.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "cpu.h"
#include "fill.h"
#include "tensor.h"

static const double load_seconds = 10;

bool judge_end(judge *self, verdict value, const char *format, ...) {
  if (self->verdict != VERDICT_PASS) return false;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(self->reason, sizeof self->reason, format, arguments);
  va_end(arguments);
  self->verdict = value;
  return false;
}

void judge_release(assay_probe *probe) {
  judge *self = (judge *)probe;
  for (int i = 0; i < self->case_count; i++) case_close(self->cases[i]);
  self->case_count = 0;
  self->slots = 0;
  session_outcome outcome;
  /* A worker that cannot even unmap has ended; the next request starts another. */
  if (self->worker.pid > 0) (void)session_unmap(&self->worker, &outcome);
}

/* CUDA kernels are judged on the first device. */
static int32_t device_of(assay_backend backend) {
  return backend == ASSAY_CPU ? ASSAY_DEVICE_CPU : backend == ASSAY_SIMT ? ASSAY_DEVICE_EMULATOR : 0;
}

void judge_init(judge *self, const check_target *target, const check_options *options, const char *object) {
  *self = (judge){.target = target, .options = options, .worker = {.socket = -1}, .watch_buffer = {.fd = -1}};
  self->probe.calls = &judge_probe_calls;
  self->probe.subject = target->subject;
  self->probe.backend = target->backend;
  self->probe.device = device_of(target->backend);
  self->probe.limits = target->kind == TARGET_LIBRARY ? ASSAY_LIMITS_LIBRARY : ASSAY_LIMITS_WORKSHOP;
  self->load.head = (message_head){PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_LOAD};
  self->load.target = (int32_t)target->kind;
  self->load.index = target->index;
  self->load.backend = (int32_t)target->backend;
  self->load.threads = options->threads > 0 ? options->threads : assay_default_threads();
  snprintf(self->load.subject, sizeof self->load.subject, "%s", target->subject->name);
  if (object != NULL) snprintf(self->load.path, sizeof self->load.path, "%s", object);
}

void judge_close(judge *self) {
  judge_release(&self->probe);
  session_close(&self->worker);
  assay_buffer_close(&self->watch_buffer);
}

bool judge_ensure_worker(judge *self) {
  if (self->worker.pid > 0) return true;
  session_outcome outcome;
  self->session_number++;
  if (session_open(&self->worker, &self->load, load_seconds, &outcome)) return true;
  return judge_end(self, outcome.verdict, "%s", outcome.reason);
}

double judge_seconds(const judge *self, const assay_case *operands) {
  if (self->options->seconds > 0) return self->options->seconds;
  /* Twenty times the FP64 oracle on one thread is more than twenty times the solution; a case too large for
   * the oracle is allowed the same at 10 ns an element. */
  int64_t elements = 0; /* of the largest operand: a reduction reads more than it writes */
  for (int i = 0; operands != NULL && i <= operands->function->in_count; i++) {
    const assay_tensor *tensor = i == 0 ? &operands->out[0].tensor : &operands->in[i - 1].tensor;
    int64_t count = 0;
    if (assay_tensor_count(tensor, &count) && count > elements) elements = count;
  }
  const double by_size = 20 * 10e-9 * (double)elements;
  double seconds = 10;
  if (by_size > seconds) seconds = by_size;
  if (20 * self->oracle_seconds > seconds) seconds = 20 * self->oracle_seconds;
  return seconds;
}

/* ---- the standard check: call once, compare with the oracle -------------------------------------------- */

/* The same contents at both ends of memory; the oracle runs once. */
static void compare_once(judge *self) {
  const assay_rng start = self->probe.rng;
  judge_expected expected = {0};
  for (int placement = 0; placement < ASSAY_PLACEMENTS; placement++) {
    self->placement = (assay_placement)placement;
    self->probe.rng = start;
    assay_case *operands = assay_probe_make_row(&self->probe);
    if (operands == NULL) break;
    if (placement == 0) {
      if (!judge_expect_begin(self, operands, &expected)) break;
      if (!judge_expect_proof(self, operands, &expected, self->probe.row->degenerate)) break;
    }
    if (!assay_probe_run_one(&self->probe, operands)) break;
    if (!judge_expect_compare(self, operands, &expected)) break;
    judge_release(&self->probe);
  }
  judge_expected_free(&expected);
}

static void run_function(judge *self, const assay_check *check) {
  const assay_rng start = self->probe.rng;
  const int placements = check->tier == ASSAY_TIER_L ? 1 : ASSAY_PLACEMENTS;
  for (int placement = 0; placement < placements && self->verdict == VERDICT_PASS; placement++) {
    self->placement = (assay_placement)placement;
    self->probe.rng = start;
    self->probe.threads = self->load.threads;
    check->run(&self->probe);
    if (self->verdict == VERDICT_PASS) judge_release(&self->probe);
  }
}

/* Seeds follow from names and positions, so that a filtered run repeats a case exactly. */
static uint64_t case_seed(const judge *self, const assay_check *check, int row, int dtype, int layout) {
  uint64_t seed = self->options->seed;
  for (const char *c = check->name; *c != '\0'; c++) seed = assay_seed_mix(seed, (uint64_t)(unsigned char)*c);
  return assay_seed_mix(seed, (uint64_t)row * 4096 + (uint64_t)dtype * 256 + (uint64_t)layout);
}

/* Puts the case in front of the detail: the last one that was made is the one that did not pass. */
static void name_case(judge *self) {
  char shape[512];
  char line[640];
  case_describe(self->cases[self->case_count - 1], shape, sizeof shape);
  const bool named = self->probe.row != NULL;
  const int length =
      snprintf(line, sizeof line, "case:        %s%s%s%s; threads %d; operands %s at a guard page\n", shape,
               named ? " (" : "", named ? self->target->subject->layout_names[self->probe.layout] : "",
               named ? ")" : "", self->probe.threads, self->placement == ASSAY_AT_END ? "end" : "start");
  const size_t room = (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
  memmove(self->detail + room, self->detail, sizeof self->detail - room);
  self->detail[sizeof self->detail - 1] = '\0';
  memcpy(self->detail, line, room);
}

void judge_begin_case(judge *self, const assay_check *check, int row, int dtype, int layout) {
  const uint64_t seed = case_seed(self, check, row, dtype, layout);
  assay_rng_seed(&self->probe.rng, seed);
  self->poison = assay_seed_mix(seed, 0x9015);
  self->probe.check = check;
  self->probe.row = check->row_count > 0 ? &check->rows[row] : NULL;
  self->probe.dtype = (assay_dtype)dtype;
  self->probe.layout = layout;
  self->probe.threads = self->load.threads;
  self->probe.special_poison = false;
  self->probe.streams = ASSAY_STREAMS_QUIET;
  self->probe.schedule = assay_seed_mix(seed, 0x51a7);
  self->probe.watch = 0;
  self->oracle_seconds = 0;
  self->cases_run++;
}

static void run_case(judge *self, const assay_check *check, int row, int dtype, int layout) {
  judge_begin_case(self, check, row, dtype, layout);
  if (check->run == NULL) {
    compare_once(self);
  } else {
    run_function(self, check);
  }
  if (self->verdict != VERDICT_PASS && self->verdict != VERDICT_TODO && self->case_count > 0) name_case(self);
  judge_release(&self->probe);
}

static void run_row(judge *self, const assay_check *check, int row) {
  for (int dtype = 0; dtype < ASSAY_DTYPE_COUNT; dtype++) {
    if ((check->rows[row].dtypes >> dtype & 1u) == 0) continue;
    for (int layout = 0; layout < self->target->subject->layout_count; layout++) {
      if ((check->rows[row].layouts >> layout & 1u) == 0) continue;
      if (self->verdict == VERDICT_PASS && !check_interrupted()) run_case(self, check, row, dtype, layout);
    }
  }
}

void judge_check(judge *self, const assay_check *check) {
  self->verdict = VERDICT_PASS;
  self->reason[0] = self->detail[0] = '\0';
  self->cases_run = 0;
  if (check->row_count == 0) {
    run_case(self, check, 0, 0, 0);
  } else {
    for (int row = 0; row < check->row_count; row++) run_row(self, check, row);
  }
  if (check_interrupted()) (void)judge_end(self, VERDICT_UNAVAILABLE, "interrupted");
  /* A check that ran nothing has shown nothing. */
  if (self->cases_run == 0) (void)judge_end(self, VERDICT_FAIL, "the check has no case");
}
