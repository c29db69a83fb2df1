/* SPDX-License-Identifier: MIT */
/* judge_request.c - making operands, mapping them in the worker, calling, and judging how the call ended. */
#include "judge_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "judge.h"
#include "tensor.h"

assay_tensor judge_in(const assay_case *operands, int index) {
  return operands->in[index].tensor;
}

assay_tensor judge_out(const assay_case *operands, int index) {
  return operands->out[index].tensor;
}

void judge_fail(assay_probe *probe, const char *text) {
  (void)judge_end((judge *)probe, VERDICT_FAIL, "%s", text);
}

void judge_unavailable(assay_probe *probe, const char *reason) {
  (void)judge_end((judge *)probe, VERDICT_UNAVAILABLE, "%s", reason);
}

/* ---- operands ------------------------------------------------------------------------------------------ */

/* Bytes of an operand that are touched: of repeated or overlapping elements once, of gaps none. One that is
 * left out has no shape, and counts one element. */
static double touched_bytes(const assay_operand_plan *operand) {
  double elements = 1;
  double extent = 1;
  for (int k = 0; k < operand->rank; k++) {
    elements *= (double)operand->shape[k];
    if (operand->shape[k] > 1) extent += (double)(operand->shape[k] - 1) * (double)operand->stride[k];
  }
  return (elements < extent ? elements : extent) * (double)assay_dtype_size(operand->dtype);
}

/* Whether what the case will touch is there; NORESERVE memory gives no error before the system is out of it.
 */
static bool memory_suffices(const assay_plan *plan, int in_count, int out_count) {
  double needed = 0;
  for (int i = 0; i < in_count; i++) needed += touched_bytes(&plan->in[i]);
  for (int i = 0; i < out_count; i++) needed += touched_bytes(&plan->out[i]);
  if (needed < 256e6) return true;
  const double available = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  return needed * 1.25 < available;
}

assay_case *judge_make(assay_probe *probe, const assay_plan *plan) {
  judge *self = (judge *)probe;
  if (self->verdict != VERDICT_PASS) return NULL;
  if (self->case_count == JUDGE_CASES) {
    (void)judge_end(self, VERDICT_FAIL, "the check makes more than %d cases", JUDGE_CASES);
    return NULL;
  }
  const assay_export *function = &probe->subject->exports[plan->entry];
  if (!memory_suffices(plan, function->in_count, function->out_count)) {
    (void)judge_end(self, VERDICT_UNAVAILABLE, "not enough free memory for the operands of this case");
    return NULL;
  }
  assay_case *operands = case_open(probe->subject, plan, probe->device, self->placement, &self->slots);
  if (operands == NULL) {
    (void)judge_end(self, VERDICT_UNAVAILABLE, "operands could not be allocated: %s", strerror(errno));
    return NULL;
  }
  self->cases[self->case_count++] = operands;
  /* A learner's function never gets bad metadata: a check that would hand it over is itself at fault. */
  assay_tensor in[ASSAY_MAX_OPERANDS];
  assay_tensor out[ASSAY_MAX_OPERANDS];
  for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) {
    in[i] = operands->in[i].tensor;
    out[i] = operands->out[i].tensor;
  }
  assay_message why = {""};
  if (probe->subject->validate(plan->entry, in, out, operands->opt, ASSAY_LIMITS_LIBRARY, &why) != ASSAY_OK) {
    (void)judge_end(self, VERDICT_FAIL, "validation refuses these operands: %s", why.text);
    return NULL;
  }
  return operands;
}

bool judge_fill(assay_probe *probe, assay_case *operands, int index, const double *values) {
  if (((judge *)probe)->verdict != VERDICT_PASS || operands == NULL) return false;
  case_fill(&operands->in[index], values);
  return true;
}

static bool map_operand(judge *self, case_operand *operand, bool writable) {
  if (operand->slot < 0 || operand->session == self->session_number) return true;
  const map_request request = {.head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_MAP},
                               .slot = operand->slot,
                               .writable = writable ? 1 : 0,
                               .page_bytes = operand->buffer.page_bytes,
                               .offset = operand->buffer.offset,
                               .bytes = operand->buffer.bytes};
  const int fd = writable ? dup(operand->buffer.fd) : assay_buffer_read_only(&operand->buffer);
  if (fd < 0)
    return judge_end(self, VERDICT_UNAVAILABLE, "an operand could not be shared: %s", strerror(errno));
  session_outcome outcome;
  const bool mapped = session_map(&self->worker, &request, fd, &outcome);
  close(fd);
  if (!mapped) return judge_end(self, outcome.verdict, "%s", outcome.reason);
  operand->session = self->session_number;
  return true;
}

static bool map_case(judge *self, assay_case *operands) {
  if (!judge_ensure_worker(self)) return false;
  for (int i = 0; i < operands->function->in_count; i++) {
    if (!map_operand(self, &operands->in[i], false)) return false;
  }
  for (int i = 0; i < operands->function->out_count; i++) {
    if (!map_operand(self, &operands->out[i], true)) return false;
  }
  return true;
}

/* ---- how a call ended ---------------------------------------------------------------------------------- */

static const case_operand *find_slot(const judge *self, int slot, bool *is_output) {
  for (int c = 0; c < self->case_count; c++) {
    const assay_case *operands = self->cases[c];
    for (int i = 0; i < operands->function->in_count; i++) {
      *is_output = false;
      if (operands->in[i].slot == slot) return &operands->in[i];
    }
    for (int i = 0; i < operands->function->out_count; i++) {
      *is_output = true;
      if (operands->out[i].slot == slot) return &operands->out[i];
    }
  }
  return NULL;
}

/* The logical element at a byte of the storage, found by looking: exact for every stride, quick enough once.
 */
static int64_t element_at(const case_operand *operand, int64_t offset) {
  int64_t count = 0;
  const int64_t size = (int64_t)assay_dtype_size(operand->tensor.dtype);
  if (!assay_tensor_count(&operand->tensor, &count)) return -1;
  for (int64_t i = 0; i < count && i < (INT64_C(1) << 24); i++) {
    if (assay_tensor_offset(&operand->tensor, i) == offset / size) return i;
  }
  return -1;
}

static void describe_fault(const judge *self, const fault_report *fault, char *text, size_t size) {
  bool is_output = false;
  const case_operand *operand = fault->slot >= 0 ? find_slot(self, fault->slot, &is_output) : NULL;
  const char *verb = fault->access == 2 ? "wrote" : fault->access == 1 ? "read" : "touched";
  if (operand == NULL) {
    snprintf(text, size, "%s address 0x%llx, which belongs to no operand", verb,
             (unsigned long long)fault->address);
    return;
  }
  const int64_t bytes = (int64_t)operand->buffer.bytes;
  const int64_t size_of_one = (int64_t)assay_dtype_size(operand->tensor.dtype);
  const long long rows = (long long)operand->tensor.shape[0];
  if (fault->offset < 0) {
    snprintf(text, size, "%s %lld bytes before the start of %s", verb, (long long)-fault->offset,
             operand->name);
  } else if (fault->offset >= bytes) {
    snprintf(text, size, "%s past the end of %s: element %lld behind its last, in row %lld", verb,
             operand->name, (long long)((fault->offset - bytes) / size_of_one + 1), rows > 0 ? rows - 1 : 0);
  } else {
    char element[128] = "a gap";
    const int64_t flat = element_at(operand, fault->offset);
    if (flat >= 0) case_name_element(operand, flat, element, sizeof element);
    snprintf(text, size, "%s to %s; %s", verb, element, is_output ? "unexpected" : "inputs are read-only");
  }
}

static bool lost_worker(judge *self, const session_outcome *outcome) {
  if (outcome->fault.signal == 0 || outcome->verdict != VERDICT_CRASH) {
    return judge_end(self, outcome->verdict, "%s", outcome->reason);
  }
  char where[320] = "";
  const bool memory = strcmp(outcome->reason, "SIGSEGV") == 0 || strcmp(outcome->reason, "SIGBUS") == 0;
  if (memory) describe_fault(self, &outcome->fault, where, sizeof where);
  const char *thread = outcome->fault.where; /* of an emulated kernel */
  return judge_end(self, VERDICT_CRASH, "%s%s%s%s%.*s", outcome->reason,
                   memory ? ": the kernel " : " in the kernel", where, thread[0] != '\0' ? "; " : "",
                   (int)sizeof outcome->fault.where, thread);
}

static void wire_tensors(const case_operand *operands, int count, wire_tensor *wires) {
  for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) {
    wires[i] = (wire_tensor){.slot = -1};
    if (i >= count) continue;
    wires[i].slot = operands[i].slot;
    wires[i].tensor = operands[i].tensor;
    wires[i].tensor.data = NULL; /* an address of ours means nothing there */
  }
}

static void start_request(judge *self, run_request *request, int count) {
  memset(request, 0, sizeof *request);
  request->head = (message_head){PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_RUN};
  request->threads = self->probe.threads;
  request->streams = (int32_t)self->probe.streams;
  request->schedule = self->probe.schedule;
  request->watch = self->probe.watch;
  request->call_count = count;
  request->poison = self->poison++;
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < ASSAY_MAX_OPERANDS; k++)
      request->calls[i].in[k].slot = request->calls[i].out[k].slot = -1;
  }
}

static bool judge_status(judge *self, const session_outcome *outcome) {
  if (outcome->status == ASSAY_OK) return true;
  if (outcome->unavailable) return judge_end(self, VERDICT_UNAVAILABLE, "%s", outcome->reason);
  if (outcome->status == ASSAY_TODO)
    return judge_end(self, VERDICT_TODO, "the function still returns ASSAY_TODO");
  /* A finding's own sentence is longer than what an answer takes. */
  const bool found = self->probe.watch != 0 && self->watched.finding_count > 0;
  if (outcome->status == ASSAY_KERNEL_FAULT)
    return judge_end(self, VERDICT_FAIL, "%s", found ? self->watched.findings[0].text : outcome->reason);
  return judge_end(self, VERDICT_FAIL, "returned \"%s\" for a valid call%s%s",
                   assay_status_name(outcome->status), outcome->reason[0] != '\0' ? ": " : "",
                   outcome->reason);
}

/* After the answer: a copy of the outputs first, then what else was touched, then whether anything still
 * runs. */
static bool judge_return(judge *self, const assay_probe_call *calls, int count) {
  char text[320];
  for (int i = 0; i < count; i++) {
    if (!case_snapshot(calls[i].operands))
      return judge_end(self, VERDICT_UNAVAILABLE, "not enough memory for a copy");
  }
  for (int i = 0; i < count; i++) {
    if (case_spilled(calls[i].operands, text, sizeof text))
      return judge_end(self, VERDICT_FAIL, "the kernel %s", text);
  }
  /* OpenMP lets threads go a moment later when a team shrinks or its master ends. Whatever else still runs
   * when the kernel has returned has to show that it does nothing: it must end, and the output must stay as
   * it was. */
  const int extra = session_extra_threads(&self->worker, 0.5);
  if (extra > 0) {
    session_close(&self->worker);
    return judge_end(self, VERDICT_SUSPECT,
                     "%d thread%s beyond the queue's %d still ran after the kernel had returned", extra,
                     extra == 1 ? "" : "s", self->probe.threads);
  }
  for (int i = 0; i < count; i++) {
    if (case_unchanged(calls[i].operands)) continue;
    return judge_end(self, VERDICT_SUSPECT, "%s changed after the kernel had returned",
                     calls[i].operands->out[0].name);
  }
  return true;
}

bool judge_run(assay_probe *probe, const assay_probe_call *calls, int count) {
  judge *self = (judge *)probe;
  if (self->verdict != VERDICT_PASS) return false;
  if (count < 1 || count > PROTOCOL_CALLS)
    return judge_end(self, VERDICT_FAIL, "the check makes %d calls at once", count);
  if (probe->threads > self->load.threads) { /* a larger team has to be started before it is judged */
    self->load.threads = probe->threads;
    session_close(&self->worker);
  }
  run_request request;
  start_request(self, &request, count);
  for (int i = 0; i < count; i++) {
    assay_case *operands = calls[i].operands;
    if (operands == NULL || !map_case(self, operands)) return false;
    case_poison(operands, self->poison++);
    if (probe->special_poison) case_poison_special(operands);
    request.calls[i].queue = calls[i].queue;
    request.calls[i].entry = operands->entry;
    wire_tensors(operands->in, operands->function->in_count, request.calls[i].in);
    wire_tensors(operands->out, operands->function->out_count, request.calls[i].out);
    memcpy(request.calls[i].opt, operands->opt, sizeof operands->opt);
  }
  session_outcome outcome;
  const double seconds = judge_seconds(self, calls[0].operands) * count;
  if (!judge_watch_begin(self)) return false;
  if (!session_run(&self->worker, &request, seconds, &outcome)) return lost_worker(self, &outcome);
  judge_watch_end(self);
  if (!judge_status(self, &outcome)) return false;
  return judge_return(self, calls, count);
}

/* ---- calls that must be refused ------------------------------------------------------------------------ */

/* Our address becomes (slot, offset) of the operand that holds it; NULL stays NULL. */
static bool wire_raw(const judge *self, const assay_tensor *tensor, wire_tensor *wire) {
  *wire = (wire_tensor){.slot = -1, .tensor = *tensor};
  wire->tensor.data = NULL;
  if (tensor->data == NULL) return true;
  for (int c = 0; c < self->case_count; c++) {
    for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) {
      const case_operand *pair[2] = {&self->cases[c]->in[i], &self->cases[c]->out[i]};
      for (int k = 0; k < 2; k++) {
        const unsigned char *start = pair[k]->buffer.pages;
        const unsigned char *at = tensor->data;
        if (start == NULL || at < start || at >= start + pair[k]->buffer.page_bytes) continue;
        wire->slot = pair[k]->slot;
        wire->offset = at - (const unsigned char *)pair[k]->tensor.data;
        return true;
      }
    }
  }
  return false;
}

static bool untouched(const assay_case *operands) {
  const case_operand *out = &operands->out[0];
  int64_t count = 0;
  if (!assay_tensor_count(&out->tensor, &count)) return false;
  for (int64_t i = 0; i < count; i++) {
    const size_t size = assay_dtype_size(out->tensor.dtype);
    uint64_t bits = 0;
    memcpy(&bits, (const unsigned char *)out->tensor.data + (size_t)i * size, size);
    if (bits != assay_poison_bits(out->tensor.dtype, i, operands->poison)) return false;
  }
  return true;
}

bool judge_reject(assay_probe *probe, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                  assay_status status, const char *word) {
  judge *self = (judge *)probe;
  if (self->verdict != VERDICT_PASS || self->case_count == 0 || !map_case(self, self->cases[0])) return false;
  case_poison(self->cases[0], self->poison++);
  run_request request;
  start_request(self, &request, 1);
  const assay_export *function = self->cases[0]->function;
  request.calls[0].entry = self->cases[0]->entry;
  for (int i = 0; i < function->in_count; i++) {
    if (!wire_raw(self, &in[i], &request.calls[0].in[i]))
      return judge_end(self, VERDICT_FAIL, "a foreign address");
  }
  for (int i = 0; i < function->out_count; i++) {
    if (!wire_raw(self, &out[i], &request.calls[0].out[i]))
      return judge_end(self, VERDICT_FAIL, "a foreign address");
  }
  memcpy(request.calls[0].opt, opt, sizeof request.calls[0].opt);
  session_outcome outcome;
  if (!session_run(&self->worker, &request, judge_seconds(self, self->cases[0]), &outcome)) {
    return lost_worker(self, &outcome);
  }
  if (outcome.status != status) {
    return judge_end(self, VERDICT_FAIL, "returned \"%s\" where \"%s\" is right (%s)",
                     assay_status_name(outcome.status), assay_status_name(status), word);
  }
  if (strstr(outcome.reason, word) == NULL) {
    return judge_end(self, VERDICT_FAIL, "the message does not say \"%s\": %s", word, outcome.reason);
  }
  if (!untouched(self->cases[0])) return judge_end(self, VERDICT_FAIL, "a refused call wrote to its output");
  return true;
}
