/* SPDX-License-Identifier: MIT */
/* worker_fault.c - a signal in a kernel becomes a report that names the operand, then ends the worker. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

#include "emulator.h"
#include "worker.h"

/* A signal handler can only reach what is global; a worker process has exactly one worker. */
static worker *reporting;

static int access_kind(const ucontext_t *context) {
#if defined(__x86_64__)
  return (context->uc_mcontext.gregs[REG_ERR] & 2) != 0 ? 2 : 1; /* page-fault error code, bit 1: write */
#else
  (void)context;
  return 0;
#endif
}

/* The operand whose reservation (pages and guards) holds the address. */
static void locate(fault_report *report, uintptr_t address) {
  report->slot = -1;
  for (int i = 0; i < PROTOCOL_SLOTS; i++) {
    const worker_operand *operand = &reporting->operands[i];
    const uintptr_t lo = (uintptr_t)operand->mapping.guarded;
    if (operand->mapping.guarded == NULL || address < lo || address >= lo + operand->mapping.guarded_bytes)
      continue;
    report->slot = i;
    report->offset = (int64_t)(address - (uintptr_t)operand->data);
  }
}

/* What an emulated thread was doing. snprintf is not on the list of what handlers may call, but the process
 * ends in any case, and glibc's takes no lock for a string. */
static void locate_thread(fault_report *report, const void *address) {
  assay_emulator_position at;
  if (reporting->backend != ASSAY_SIMT || !assay_emulator_here(address, &at)) return;
  const char *slash = strrchr(at.file, '/');
  char line[80] = ""; /* where this thread last used a word of kernel.h; a plain access leaves no trace */
  if (at.line > 0)
    snprintf(line, sizeof line, ", behind %.48s:%d", slash != NULL ? slash + 1 : at.file, at.line);
  snprintf(report->where, sizeof report->where, "kernel %.40s, block %u, thread %u%s%s", at.kernel,
           at.block.x, at.thread.x, at.stack_overflow ? ", whose stack is full" : "", line);
}

static void handle(int number, siginfo_t *info, void *context) {
  fault_report report;
  memset(&report, 0, sizeof report);
  report.head = (message_head){PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_FAULT};
  report.signal = number;
  report.slot = -1;
  if (number == SIGSEGV || number == SIGBUS) {
    report.address = (uint64_t)(uintptr_t)info->si_addr;
    report.access = access_kind(context);
    locate(&report, (uintptr_t)info->si_addr);
    locate_thread(&report, info->si_addr);
  }
  (void)!send(reporting->socket, &report, sizeof report, MSG_NOSIGNAL);
  /* The default action ends the process as the signal would have. */
  signal(number, SIG_DFL);
  raise(number);
}

void worker_use_signal_stack(void) {
  const size_t bytes = 64u << 10;
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  const stack_t stack = {.ss_sp = memory, .ss_size = bytes};
  sigaltstack(&stack, NULL);
}

void worker_report_faults(worker *self) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
  reporting = self;
  worker_use_signal_stack();
  struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) sigaction(signals[i], &action, NULL);
}
