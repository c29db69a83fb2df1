/* SPDX-License-Identifier: MIT */
/* runner_call.c - one timed request to the worker, and every way in which it can take a variant out. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/timer.h"
#include "clock.h"
#include "contents.h"
#include "hash.h"
#include "rotate.h"
#include "runner.h"
#include "tensor.h"

static const double load_seconds = 30;
static const double request_seconds = 120;
static const double grace_seconds = 0.5;

bool runner_drop(bench_variant *variant, verdict value, const char *format, ...) {
  va_list arguments;
  if (variant->reason[0] != '\0') return false;
  va_start(arguments, format);
  vsnprintf(variant->reason, sizeof variant->reason, format, arguments);
  va_end(arguments);
  variant->gate = value;
  return false;
}

/* ---- the worker ---------------------------------------------------------------------------------------- */

static void drop_load(runner *self, int load, const session_outcome *outcome) {
  const bool absent = outcome->status == ASSAY_UNAVAILABLE;
  for (int c = 0; c < self->run->case_count; c++) {
    bench_case *one = &self->run->cases[c];
    for (int v = 0; v < one->variant_count; v++) {
      if (one->variants[v].load != load) continue;
      (void)runner_drop(&one->variants[v], absent ? VERDICT_UNAVAILABLE : outcome->verdict, "%s",
                        outcome->reason);
    }
  }
  self->broken[load] = true;
}

static bool load_kernel(runner *self, int index, session_outcome *outcome) {
  const bench_load *load = &self->run->loads[index];
  load_request request;
  memset(&request, 0, sizeof request);
  request.head = (message_head){PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_LOAD};
  request.target = (int32_t)load->target;
  request.index = load->index;
  request.number = index;
  request.threads = self->run->threads;
  request.backend = (int32_t)self->run->backend;
  snprintf(request.subject, sizeof request.subject, "%s", load->subject->name);
  if (load->object != NULL) snprintf(request.path, sizeof request.path, "%s", load->object);
  if (self->worker.pid > 0) return session_load(&self->worker, &request, load_seconds, outcome);
  if (!session_open(&self->worker, &request, load_seconds, outcome)) return false;
  /* Operands, dense scores and the memory that empties caches are ours, not the kernel's. */
  self->worker.memory_kib *= 8;
  return true;
}

static bool still_timed(const runner *self, int load) {
  for (int c = 0; c < self->run->case_count; c++) {
    const bench_case *one = &self->run->cases[c];
    for (int v = 0; v < one->variant_count; v++) {
      if (one->variants[v].load == load && one->variants[v].reason[0] == '\0') return true;
    }
  }
  return false;
}

/* A load that ends the worker is left out the next time; each try has fewer of them. */
static bool load_all(runner *self) {
  for (int i = 0; i < self->run->load_count; i++) {
    session_outcome outcome;
    if (self->loaded[i] || self->broken[i] || !still_timed(self, i)) continue;
    const bool alive = load_kernel(self, i, &outcome);
    if (check_interrupted()) return false;
    if (!alive || outcome.status == ASSAY_UNAVAILABLE) drop_load(self, i, &outcome);
    if (!alive) return false;
    self->loaded[i] = outcome.status == ASSAY_OK;
  }
  return self->worker.pid > 0;
}

static bool map_operand(runner *self, const case_operand *operand, bool writable, session_outcome *outcome) {
  if (operand->slot < 0) return true;
  const map_request request = {.head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_MAP},
                               .slot = operand->slot,
                               .writable = writable ? 1 : 0,
                               .apart = 1,
                               .page_bytes = operand->buffer.page_bytes,
                               .offset = operand->buffer.offset,
                               .bytes = operand->buffer.bytes};
  const int fd = writable ? dup(operand->buffer.fd) : assay_buffer_read_only(&operand->buffer);
  if (fd < 0) return false;
  const bool mapped = session_map(&self->worker, &request, fd, outcome);
  close(fd);
  return mapped;
}

static bool map_operands(runner *self) {
  session_outcome outcome;
  const assay_export *function = self->operands->function;
  if (!session_unmap(&self->worker, &outcome)) return false;
  for (int i = 0; i < function->in_count; i++) {
    if (!map_operand(self, &self->operands->in[i], false, &outcome)) return false;
  }
  for (int i = 0; i < function->out_count; i++) {
    if (!map_operand(self, &self->operands->out[i], true, &outcome)) return false;
  }
  return true;
}

bool runner_ready(runner *self) {
  for (int tries = 0; tries <= self->run->load_count && !check_interrupted(); tries++) {
    if (self->worker.pid == 0) {
      memset(self->loaded, 0, sizeof self->loaded);
      self->mapped = false;
    }
    if (!load_all(self)) continue;
    if (self->mapped || self->operands == NULL) return true;
    self->mapped = map_operands(self);
    if (self->mapped) return true;
    session_close(&self->worker);
  }
  return false;
}

/* ---- inputs -------------------------------------------------------------------------------------------- */

/* The elements of a file, rotated by the seed when there is one. False without memory. */
static bool read_file(const assay_tensor *file, const uint64_t *seed, int64_t count, case_operand *operand) {
  double *values = malloc((size_t)(count > 0 ? count : 1) * sizeof *values);
  if (values == NULL) return false;
  rotate_read(file, seed, values);
  case_fill(operand, values);
  free(values);
  return true;
}

bool runner_fill(runner *self, uint64_t seed, runner_contents contents, bool sampled) {
  const bench_case *one = self->one;
  const bool exact = contents == RUNNER_EXACT;
  assay_case *operands = self->operands;
  const int64_t start = assay_now_ns();
  self->seed = seed;
  self->fresh = true;
  for (int i = 0; i < operands->function->in_count; i++) {
    case_operand *operand = &operands->in[i];
    int64_t count = 0;
    if (operand->slot < 0 || !assay_tensor_count(&operand->tensor, &count)) continue;
    if (one->inputs != NULL && !exact) {
      if (!read_file(&one->inputs[i].tensor, contents == RUNNER_AS_GIVEN ? NULL : &seed, count, operand))
        return false;
      continue;
    }
    contents_way way = {
        .fill = exact ? one->op->bench->exact : one->row.fill,
        .args = {.operand = i, .rank = operand->tensor.rank, .a = one->row.a, .b = one->row.b},
        .seed = assay_seed_mix(seed, (uint64_t)i),
        .banded = one->banded,
        .threads = self->run->threads};
    memcpy(way.args.shape, operand->tensor.shape, sizeof way.args.shape);
    if (!contents_make(&way, operand)) return false;
  }
  if (self->gate_ready) gate_close(&self->gate);
  self->gate_ready = false;
  self->gate = (gate){.subject = &one->op->subject,
                      .batch_dims = one->op->bench->batch_dims,
                      .sampled = sampled,
                      .exact = exact,
                      .threads = self->run->threads};
  const int64_t filled = assay_now_ns();
  /* Rows of a large output are chosen when its first result is there. */
  if (!sampled) self->gate_ready = gate_open(&self->gate, operands, 0);
  const int rounds = self->run->protocol.rounds;
  self->prepared_ns += (filled - start) * (1 + rounds);
  self->prepared_ns += (assay_now_ns() - filled) * (one->sampled_rounds ? 1 : 1 + rounds);
  return sampled || self->gate_ready;
}

/* ---- a request ----------------------------------------------------------------------------------------- */

static void wire(const case_operand *operands, int count, wire_tensor *wires) {
  for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) {
    wires[i] = (wire_tensor){.slot = -1};
    if (i >= count) continue;
    wires[i].slot = operands[i].slot;
    wires[i].tensor = operands[i].tensor;
    wires[i].tensor.data = NULL; /* an address of ours means nothing there */
  }
}

/* "SIGSEGV: 8 bytes past the end of y". */
static bool lost_worker(runner *self, bench_variant *variant, const session_outcome *outcome) {
  const fault_report *fault = &outcome->fault;
  if (outcome->verdict != VERDICT_CRASH || fault->signal == 0 || fault->slot < 0) {
    return runner_drop(variant, outcome->verdict, "%s", outcome->reason);
  }
  const assay_export *function = self->operands->function;
  const case_operand *at = NULL;
  for (int i = 0; i < function->in_count; i++) {
    if (self->operands->in[i].slot == fault->slot) at = &self->operands->in[i];
  }
  for (int i = 0; i < function->out_count; i++) {
    if (self->operands->out[i].slot == fault->slot) at = &self->operands->out[i];
  }
  return runner_drop(variant, VERDICT_CRASH, "%s: the kernel touched byte %" PRId64 " of %s, which has %zu",
                     outcome->reason, fault->offset, at != NULL ? at->name : "an operand",
                     at != NULL ? at->buffer.bytes : (size_t)0);
}

static bool judge_status(bench_variant *variant, const session_outcome *outcome) {
  if (outcome->status == ASSAY_OK) return true;
  if (outcome->status == ASSAY_TODO) {
    return runner_drop(variant, VERDICT_TODO, "not written yet: the function returns ASSAY_TODO");
  }
  return runner_drop(variant, outcome->status == ASSAY_UNAVAILABLE ? VERDICT_UNAVAILABLE : VERDICT_FAIL,
                     "returned \"%s\" for a valid call%s%s", assay_status_name(outcome->status),
                     outcome->reason[0] != '\0' ? ": " : "", outcome->reason);
}

bool runner_call(runner *self, bench_variant *variant, int64_t calls, int warmup, bool cold,
                 session_timing *timing) {
  const int64_t line_of_caches = 3 * self->run->cache_bytes;
  const int64_t most = (int64_t)1 << 30;
  const int64_t evict = line_of_caches < most && line_of_caches > 0 ? line_of_caches : most;
  if (!runner_ready(self) || variant->reason[0] != '\0') return false;
  const int64_t start = assay_now_ns();
  contents_poison(self->operands, assay_seed_mix(self->seed, self->poison++), self->run->threads);
  bench_request request;
  memset(&request, 0, sizeof request);
  request.head = (message_head){PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_BENCH};
  request.target = variant->load;
  request.threads = self->run->threads;
  request.timer = self->run->timer;
  request.warmup = warmup;
  request.calls = calls;
  request.seed = assay_random_seed(); /* nothing in the worker's process can foresee it */
  request.fresh = self->fresh;
  request.evict_bytes = cold ? (uint64_t)evict : 0;
  request.call.entry = self->operands->entry;
  wire(self->operands->in, self->operands->function->in_count, request.call.in);
  wire(self->operands->out, self->operands->function->out_count, request.call.out);
  for (int i = 0; i < ASSAY_MAX_OPTIONS; i++) {
    request.call.opt[i] = variant->knobs[i] != 0 ? variant->knobs[i] : self->operands->opt[i];
  }
  session_outcome outcome;
  const bool answered = session_bench(&self->worker, &request, request_seconds, timing, &outcome);
  if (check_interrupted()) return false;
  if (!answered) return lost_worker(self, variant, &outcome);
  const int64_t spent = assay_now_ns() - start;
  const int64_t beside = spent - timing->nanoseconds;
  variant->spent_ns += spent;
  if (beside > 0 && (variant->beside_ns == 0 || beside < variant->beside_ns)) variant->beside_ns = beside;
  if (!judge_status(variant, &outcome)) return false;
  self->fresh = false;
  const int extra = session_extra_threads(&self->worker, grace_seconds);
  if (extra == 0) return true;
  session_close(&self->worker);
  return runner_drop(variant, VERDICT_SUSPECT, "%d thread%s still ran after the kernel had returned", extra,
                     extra == 1 ? "" : "s");
}

bool runner_check(runner *self, bench_variant *variant) {
  char text[200];
  if (!self->gate_ready) self->gate_ready = gate_open(&self->gate, self->operands, assay_random_seed());
  if (!self->gate_ready) {
    return runner_drop(variant, VERDICT_UNAVAILABLE, "not enough memory for the oracle's values");
  }
  if (case_spilled(self->operands, text, sizeof text)) {
    return runner_drop(variant, VERDICT_FAIL, "the kernel %s", text);
  }
  const gate_result result = gate_compare(&self->gate, self->operands);
  variant->compared += result.compared;
  if (result.error_ulps > variant->error_ulps) variant->error_ulps = result.error_ulps;
  if (result.error_share > variant->error_share) variant->error_share = result.error_share;
  if (result.wrong == 0) return true;
  case_name_element(&self->operands->out[0], result.first_wrong, text, sizeof text);
  return runner_drop(variant, VERDICT_FAIL,
                     "%s: expected %.9g, got %.9g; %" PRId64 " of %" PRId64 " compared are wrong", text,
                     result.want, result.got, result.wrong, result.compared);
}
