/* SPDX-License-Identifier: MIT */
/*
 * worker_bench.c - timed calls: private operands in huge pages, contents that change from call to call, one
 * clock around all of them.
 *
 * The judge measures the same requests with its own clock and checks the outputs: what is said here is a
 * claim.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "queue.h"
#include "rng.h"
#include "tensor.h"
#include "timer.h"
#include "worker_bench.h"

enum { POKES = 64, LINE = 64 };

/* ---- operands ------------------------------------------------------------------------------------------ */

bool worker_map_apart(worker_operand *operand, const map_request *request, int fd, done_reply *reply) {
  /* Operands at the same place in their pages would compete for the same lines of the cache. */
  const size_t stagger = (size_t)request->slot * (4096 + 5 * LINE);
  const bool ready = assay_mapping_open(&operand->shared, fd, request->page_bytes, request->writable != 0) &&
                     assay_mapping_open_huge(&operand->mapping, request->bytes + stagger);
  operand->fd = ready ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
  if (operand->fd < 0) {
    worker_unmap(operand);
    reply->failed = 1;
    snprintf(reply->text, sizeof reply->text, "memory for an operand could not be had: %s", strerror(errno));
    return false;
  }
  operand->data = operand->mapping.pages + stagger;
  operand->offset = request->offset;
  operand->bytes = request->bytes;
  return true;
}

void worker_unmap(worker_operand *operand) {
  assay_mapping_close(&operand->mapping);
  assay_mapping_close(&operand->shared);
  if (operand->fd >= 0) close(operand->fd);
  operand->fd = -1;
  operand->data = NULL;
}

worker_operand *worker_operand_of(worker *self, const wire_tensor *wire) {
  if (wire->slot < 0 || wire->slot >= PROTOCOL_SLOTS) return NULL;
  worker_operand *operand = &self->operands[wire->slot];
  return operand->shared.pages != NULL ? operand : NULL;
}

/* From the judge's memory: contents of inputs, poison of outputs. */
static void refill(worker *self, const wire_tensor *wires) {
  for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) {
    worker_operand *operand = worker_operand_of(self, &wires[i]);
    if (operand != NULL) memcpy(operand->data, operand->shared.pages + operand->offset, operand->bytes);
  }
}

/* The system copies, not this process: an output that is to be computed when somebody looks at it fails. */
static bool hand_back(worker *self, const wire_tensor *wires) {
  for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) {
    const worker_operand *operand = worker_operand_of(self, &wires[i]);
    if (operand == NULL) continue;
    for (size_t done = 0; done < operand->bytes;) {
      const ssize_t written =
          pwrite(operand->fd, operand->data + done, operand->bytes - done, (off_t)(operand->offset + done));
      if (written <= 0) return false;
      done += (size_t)written;
    }
  }
  return true;
}

static int changed_input(worker *self, const wire_tensor *wires) {
  for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) {
    const worker_operand *operand = worker_operand_of(self, &wires[i]);
    if (operand == NULL) continue;
    if (memcmp(operand->data, operand->shared.pages + operand->offset, operand->bytes) != 0) return 1 + i;
  }
  return 0;
}

/* ---- one element that differs from call to call -------------------------------------------------------- */

typedef struct poke {
  unsigned char *at;
  size_t size;
  unsigned char value[8];
  unsigned char before[8];
} poke;

/* Another element's value in a random place of a random input. False when there is nothing to change. */
static bool choose_poke(const assay_tensor *in, assay_rng *rng, poke *chosen) {
  const assay_tensor *x = &in[assay_rng_below(rng, ASSAY_MAX_OPERANDS)];
  int64_t count = 0;
  if (x->data == NULL || !assay_tensor_count(x, &count) || count < 2) return false;
  const size_t size = assay_dtype_size(x->dtype);
  const int64_t to = (int64_t)assay_rng_below(rng, (uint64_t)count);
  const int64_t from = (int64_t)assay_rng_below(rng, (uint64_t)count);
  chosen->at = (unsigned char *)x->data + (size_t)assay_tensor_offset(x, to) * size;
  chosen->size = size;
  memcpy(chosen->value, (unsigned char *)x->data + (size_t)assay_tensor_offset(x, from) * size, size);
  memcpy(chosen->before, chosen->at, size);
  return memcmp(chosen->value, chosen->before, size) != 0;
}

static int choose_pokes(const assay_tensor *in, uint64_t seed, poke pokes[POKES]) {
  assay_rng rng;
  int count = 0;
  assay_rng_seed(&rng, seed);
  for (int tries = 0; tries < 16 * POKES && count < POKES; tries++) {
    if (choose_poke(in, &rng, &pokes[count])) count++;
  }
  return count;
}

static inline void put(const poke *one, const unsigned char *bytes) {
  if (one->size == 2) memcpy(one->at, bytes, 2);
  if (one->size == 4) memcpy(one->at, bytes, 4);
  if (one->size == 8) memcpy(one->at, bytes, 8);
}

/* ---- the state of the process -------------------------------------------------------------------------- */

static int64_t cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* OpenMP's and other libraries' threads spin for a while; whoever spins for ever would slow down what is
 * timed next, and may be doing work of the last call. */
static bool come_to_rest(void) {
  const struct timespec pause = {.tv_nsec = 500000};
  for (int tries = 0; tries < 600; tries++) {
    const int64_t before = cpu_ns();
    nanosleep(&pause, NULL);
    if (cpu_ns() - before < 100000) return true;
  }
  return false;
}

static int64_t context_switches(void) {
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return (int64_t)usage.ru_nvcsw + (int64_t)usage.ru_nivcsw;
}

static bool is_pinned(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1;
}

/* Percent of resident private memory of the operands that lies in huge pages. */
static int huge_share(worker *self) {
  char line[512];
  unsigned long long start = 0;
  unsigned long long end = 0;
  long huge = 0;
  long all = 0;
  bool ours = false;
  FILE *file = fopen("/proc/self/smaps", "re");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "%llx-%llx ", &start, &end) == 2) {
      ours = false;
      for (int i = 0; i < PROTOCOL_SLOTS; i++) {
        const worker_operand *operand = &self->operands[i];
        const uintptr_t pages = (uintptr_t)operand->mapping.pages;
        if (operand->fd >= 0 && pages >= start && pages < end) ours = true;
      }
    } else if (ours && strncmp(line, "Rss:", 4) == 0) {
      all += strtol(line + 4, NULL, 10);
    } else if (ours && strncmp(line, "AnonHugePages:", 14) == 0) {
      huge += strtol(line + 14, NULL, 10);
    }
  }
  fclose(file);
  return all > 0 ? (int)(100 * huge / all) : 0;
}

/* Walks over memory that nothing else uses, so that the caches hold that. */
static bool evict(uint64_t bytes) {
  static assay_mapping memory;
  if (memory.page_bytes < bytes) {
    assay_mapping_close(&memory);
    if (!assay_mapping_open_huge(&memory, bytes)) return false;
  }
  for (uint64_t at = 0; at < bytes; at += LINE) memory.pages[at]++;
  return true;
}

/* ---- the request --------------------------------------------------------------------------------------- */

typedef struct cpu_call {
  timed_call *work;
  assay_queue queue;
  poke pokes[POKES];
  int poke_count;
} cpu_call;

/* `pristine`: the last call sees the inputs as the judge has them. */
static void repeat(cpu_call *self, int64_t calls, bool pristine) {
  timed_call *work = self->work;
  const wire_call *wire = &work->request->call;
  int next = 0;
  for (int64_t i = 0; i < calls && work->status == ASSAY_OK; i++) {
    const bool poked = self->poke_count > 0 && !(pristine && i == calls - 1);
    const poke *one = &self->pokes[next];
    next = next + 1 < self->poke_count ? next + 1 : 0;
    if (poked) put(one, one->value);
    work->status =
        worker_call(work->target, wire->entry, work->in, work->out, wire->opt, &self->queue, &work->why);
    if (poked) put(one, one->before);
    if (work->target->op == NULL) assay_scratch_release();
  }
}

static bool say(const worker *self, message_kind kind) {
  const message_head head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, (uint16_t)kind};
  return send(self->socket, &head, sizeof head, MSG_NOSIGNAL) == (ssize_t)sizeof head;
}

bool worker_wait_for_go(const worker *self) {
  message_head head;
  if (!say(self, MESSAGE_READY)) return false;
  ssize_t size = -1;
  do {
    size = recv(self->socket, &head, sizeof head, 0);
  } while (size < 0 && errno == EINTR);
  return size == (ssize_t)sizeof head && head.magic == PROTOCOL_MAGIC && head.kind == MESSAGE_GO;
}

bool worker_say_timed(const worker *self) {
  return say(self, MESSAGE_TIMED);
}

static void time_calls(worker *self, cpu_call *calls, done_reply *reply) {
  timed_call *work = calls->work;
  const bench_request *request = work->request;
  refill(self, request->call.in);
  refill(self, request->call.out);
  calls->poke_count = choose_pokes(work->in, request->seed, calls->pokes);
  repeat(calls, request->warmup, false);
  refill(self, request->call.out);
  if (!come_to_rest()) reply->busy = 1;
  if (request->evict_bytes > 0 && !evict(request->evict_bytes)) {
    reply->failed = 1;
    snprintf(reply->text, sizeof reply->text, "not enough memory to empty the caches");
  }
  worker_warm_threads(request->threads); /* they are awake when the first call begins */
  if (!worker_wait_for_go(self)) _exit(1);
  const int64_t switches = context_switches();
  const int64_t start = assay_now_ns();
  repeat(calls, request->calls, true);
  const int64_t taken = assay_now_ns() - start;
  reply->nanoseconds = taken > 0 ? taken : 1;
  reply->context_switches = context_switches() - switches;
  if (!worker_say_timed(self)) _exit(1);
}

static void bench_cpu(worker *self, timed_call *work, done_reply *reply) {
  static cpu_call calls; /* large */
  const bench_request *request = work->request;
  calls = (cpu_call){.work = work};
  assay_queue_init_cpu(&calls.queue, request->threads);
  for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) {
    work->in[i] = worker_tensor(self, &request->call.in[i]);
    work->out[i] = worker_tensor(self, &request->call.out[i]);
  }
  time_calls(self, &calls, reply);
  reply->pinned = is_pinned();
  if (request->warmup == 0) reply->huge_share = huge_share(self); /* of gates only: it takes a while */
}

/* Whether the request fits this worker. */
static bool known(const worker *self, const bench_request *request) {
  if (request->target < 0 || request->target >= PROTOCOL_TARGETS || request->timer < 0 ||
      request->timer >= TIMER_COUNT || timers[request->timer].on_gpu != (self->backend == ASSAY_CUDA))
    return false;
  const worker_target *target = &self->kept[request->target];
  const int entry = request->call.entry;
  return request->threads >= 1 && request->calls >= 1 && entry >= 0 && entry < ASSAY_MAX_EXPORTS &&
         (target->op != NULL || target->entry[entry] != NULL);
}

void worker_bench(worker *self, const bench_request *request, done_reply *reply) {
  if (!known(self, request)) {
    reply->failed = 1;
    snprintf(reply->text, sizeof reply->text, "the worker has no such kernel or timer");
    return;
  }
  timed_call work = {.target = &self->kept[request->target], .request = request};
  const uint64_t mode = worker_float_mode();
  if (self->backend == ASSAY_CUDA) {
    worker_bench_cuda(self, &work, reply);
  } else {
    bench_cpu(self, &work, reply);
  }
  if (worker_float_mode() != mode) reply->mode_changed = 1;
  reply->status = (int32_t)work.status;
  if (work.status != ASSAY_OK) snprintf(reply->text, sizeof reply->text, "%s", work.why.text);
  if (reply->failed != 0 || work.status != ASSAY_OK || self->backend == ASSAY_CUDA) return;
  if (!hand_back(self, request->call.out)) {
    reply->failed = 1;
    snprintf(reply->text, sizeof reply->text, "the output's memory was made unreadable: %s", strerror(errno));
  }
  reply->input_changed = changed_input(self, request->call.in);
}
