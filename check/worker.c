/* SPDX-License-Identifier: MIT */
/*
 * worker.c - the process that runs kernels: loads one, maps operands, calls, answers.
 *
 * It is this program exec'ed anew. It holds no oracle result, no seed of inputs and no verdict.
 */
#include "worker.h"

#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <signal.h>
#include <unistd.h>

#include "bench_table.h"
#include "engine.h"
#include "mustfail.h"
#include "worker_bench.h"
#include "worker_cuda.h"
#include "worker_nvrtc.h"

static void refuse(done_reply *reply, const char *format, const char *detail)
    __attribute__((format(printf, 2, 0)));

static void refuse(done_reply *reply, const char *format, const char *detail) {
  reply->failed = 1;
  snprintf(reply->text, sizeof reply->text, format, detail);
}

/* ---- loading ------------------------------------------------------------------------------------------- */

static int count_openmp(struct dl_phdr_info *info, size_t size, void *count) {
  (void)size;
  if (strstr(info->dlpi_name, "libgomp") != NULL || strstr(info->dlpi_name, "libomp") != NULL)
    ++*(int *)count;
  return 0;
}

static void load_object(worker *self, const load_request *request, const assay_subject *subject,
                        done_reply *reply) {
  int before = 0;
  int after = 0;
  dl_iterate_phdr(count_openmp, &before);
  void *object = dlopen(request->path, RTLD_NOW | RTLD_LOCAL);
  if (object == NULL) {
    refuse(reply, "the kernel cannot be loaded: %s", dlerror());
    return;
  }
  dl_iterate_phdr(count_openmp, &after);
  reply->foreign_openmp = after > before;
  for (int i = 0; i < subject->export_count; i++) {
    void *symbol = dlsym(object, subject->exports[i].name);
    if (symbol == NULL) {
      refuse(reply, "the source exports no function named %s", subject->exports[i].name);
      return;
    }
    memcpy(&self->target.entry[i], &symbol,
           sizeof symbol); /* POSIX's way around object and function pointers */
  }
}

/* OpenMP starts its team at the first region: do it now, so that a thread seen later is the kernel's. */
void worker_warm_threads(int threads) {
  long sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
  for (int i = 0; i < threads; i++) sum += i;
  if (sum < 0) _exit(1); /* keeps the region */
}

/* A library that starts threads of its own would bind them all to the one CPU of this thread: they get what
 * the judge may use. */
static void load_baseline(worker *self, const assay_bench_baseline *baseline, int threads,
                          done_reply *reply) {
  assay_message why = {""};
  cpu_set_t own;
  cpu_set_t all;
  const bool known = sched_getaffinity(0, sizeof own, &own) == 0 &&
                     sched_getaffinity(getppid(), sizeof all, &all) == 0 &&
                     sched_setaffinity(0, sizeof all, &all) == 0;
  const bool ready = baseline->prepare == NULL || baseline->prepare(threads, &why);
  if (known) (void)sched_setaffinity(0, sizeof own, &own);
  if (!ready) {
    reply->status = ASSAY_UNAVAILABLE;
    snprintf(reply->text, sizeof reply->text, "%s", why.text);
  }
  memcpy(self->target.entry, baseline->entry, sizeof self->target.entry);
}

/* The right kernel behind the wrong one is the plainest variant; of an exercise that is no operator, the
 * object. */
static void load_must_fail(worker *self, const load_request *request, const assay_subject *subject,
                           const assay_operator *op, done_reply *reply) {
  if (op == NULL) load_object(self, request, subject, reply);
  must_fail_wrap(op != NULL ? op->variants[op->variant_count - 1].entry : self->target.entry);
  for (int i = 0; i < ASSAY_MAX_EXPORTS; i++)
    self->target.entry[i] = must_fail_kernels[request->index].kernel;
}

static void load(worker *self, const load_request *request, done_reply *reply) {
  assay_message why = {""};
  const assay_exercise *exercise = assay_exercise_find(request->subject);
  const assay_operator *op = assay_operator_find(request->subject);
  const assay_subject *subject = exercise != NULL ? exercise->subject : op != NULL ? &op->subject : NULL;
  if (subject == NULL) {
    refuse(reply, "there is nothing named %s", request->subject);
    return;
  }
  self->subject = subject;
  self->target = (worker_target){0};
  if (request->target == TARGET_OBJECT) {
    load_object(self, request, subject, reply);
  } else if (request->target == TARGET_MUST_FAIL && request->index >= 0 && request->index < must_fail_count) {
    load_must_fail(self, request, subject, op, reply);
  } else if (op == NULL || request->index < 0) {
    refuse(reply, "%s has no variants", request->subject);
  } else if (request->target == TARGET_LIBRARY && request->index < op->variant_count) {
    self->target.op = op;
    self->target.variant = &op->variants[request->index];
  } else if (request->target == TARGET_BASELINE && assay_operator_baseline(op, request->index) != NULL) {
    load_baseline(self, assay_operator_baseline(op, request->index), request->threads, reply);
  } else {
    refuse(reply, "%s has no such variant", request->subject);
  }
  if (request->backend < 0 || request->backend >= ASSAY_BACKEND_COUNT) refuse(reply, "no such backend%s", "");
  self->backend = (assay_backend)request->backend;
  if (reply->failed == 0 && self->backend == ASSAY_CUDA && !worker_cuda_open(&why)) {
    refuse(reply, "%s", why.text);
    reply->unavailable = 1;
  }
  if (reply->failed != 0) return;
  worker_warm_threads(request->threads);
  if (request->number >= 0 && request->number < PROTOCOL_TARGETS) self->kept[request->number] = self->target;
}

/* ---- operands ------------------------------------------------------------------------------------------ */

/* Device memory of a slot, whether for checks or for timed calls. */
static void forget_slot(int slot) {
  worker_cuda_forget(slot);
  worker_bench_cuda_forget(slot);
}

static void map(worker *self, const map_request *request, int fd, done_reply *reply) {
  if (fd < 0 || request->slot < 0 || request->slot >= PROTOCOL_SLOTS) {
    refuse(reply, "an operand came without %s", fd < 0 ? "its memory" : "a slot");
    return;
  }
  worker_operand *operand = &self->operands[request->slot];
  if (self->backend == ASSAY_CUDA) forget_slot(request->slot);
  worker_unmap(operand);
  if (request->apart != 0) {
    (void)worker_map_apart(operand, request, fd, reply);
    return;
  }
  if (!assay_mapping_open(&operand->mapping, fd, request->page_bytes, request->writable != 0)) {
    refuse(reply, "an operand could not be mapped%s", "");
    return;
  }
  operand->data = operand->mapping.pages + request->offset;
  operand->bytes = request->bytes;
  operand->writable = request->writable != 0;
}

static void unmap_all(worker *self) {
  for (int i = 0; i < PROTOCOL_SLOTS; i++) {
    worker_unmap(&self->operands[i]);
    if (self->backend == ASSAY_CUDA) forget_slot(i);
  }
}

static void share(worker *self, const share_request *request, int fd, done_reply *reply) {
  if (fd < 0 || self->backend != ASSAY_SIMT) {
    refuse(reply, "to follow kernels takes %s", fd < 0 ? "memory" : "the emulator");
    return;
  }
  void *page = mmap(NULL, request->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) {
    refuse(reply, "the memory for what kernels do could not be mapped%s", "");
  } else if (request->head.kind == MESSAGE_TRACE) {
    self->trace = page;
  } else {
    self->watch = page;
  }
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

typedef union any_request {
  message_head head;
  load_request load;
  map_request map;
  share_request share;
  run_request run;
  bench_request bench;
} any_request;

/* One packet and the descriptor that may come with it; false at the end of the connection. */
static bool receive(int socket_fd, any_request *request, ssize_t *size, int *fd) {
  struct iovec part = {.iov_base = request, .iov_len = sizeof *request};
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  *fd = -1;
  *size = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
  if (*size <= 0) return false;
  const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    memcpy(fd, CMSG_DATA(header), sizeof *fd);
  }
  return true;
}

static void serve(worker *self, const any_request *request, ssize_t size, int fd, done_reply *reply) {
  const message_head *head = &request->head;
  const uint64_t mode = worker_float_mode();
  if (size < (ssize_t)sizeof *head || head->magic != PROTOCOL_MAGIC || head->version != PROTOCOL_VERSION) {
    refuse(reply, "a packet is not of this protocol%s", "");
  } else if (head->kind == MESSAGE_LOAD && size == (ssize_t)sizeof request->load) {
    load(self, &request->load, reply);
    if (worker_float_mode() != mode) reply->mode_changed = 1;
  } else if (head->kind == MESSAGE_MAP && size == (ssize_t)sizeof request->map) {
    map(self, &request->map, fd, reply);
  } else if (head->kind == MESSAGE_UNMAP) {
    unmap_all(self);
  } else if ((head->kind == MESSAGE_TRACE || head->kind == MESSAGE_WATCH) &&
             size == (ssize_t)sizeof request->share) {
    share(self, &request->share, fd, reply);
  } else if (head->kind == MESSAGE_RUN && size == (ssize_t)sizeof request->run) {
    worker_run(self, &request->run, reply);
    reply->compiler_threads = worker_nvrtc_threads();
  } else if (head->kind == MESSAGE_BENCH && size == (ssize_t)sizeof request->bench) {
    worker_bench(self, &request->bench, reply);
    reply->compiler_threads = worker_nvrtc_threads();
  } else {
    refuse(reply, "a packet has a wrong %s", "kind or size");
  }
}

int worker_main(int socket_fd) {
  static worker self; /* large, and the signal handler needs it */
  static any_request request;
  ssize_t size = 0;
  int fd = -1;
  self.socket = socket_fd;
  for (int i = 0; i < PROTOCOL_SLOTS; i++) self.operands[i].fd = -1;
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* the judge's end is ours */
  prctl(PR_SET_NAME, "assay-worker");
  worker_report_faults(&self);
  while (receive(socket_fd, &request, &size, &fd)) {
    done_reply reply;
    memset(&reply, 0, sizeof reply);
    reply.head = (message_head){PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_DONE};
    serve(&self, &request, size, fd, &reply);
    if (fd >= 0) close(fd);
    if (send(socket_fd, &reply, sizeof reply, MSG_NOSIGNAL) != (ssize_t)sizeof reply) break;
  }
  /* No exit handler or destructor of a kernel may run now. */
  _exit(0);
}
