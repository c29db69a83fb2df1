/* SPDX-License-Identifier: MIT */
/* interrupt.c - one handler for all signals that end a run early. */
#include "interrupt.h"

#include "check/engine.h"
#include "cli.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t received;

static void on_signal(int number) {
  if (received == 0) received = number;
  check_interrupt();
}

void interrupt_watch(void) {
  /* SA_RESTART keeps half-written output whole; waiting in poll() ends at a signal all the same. SIGPIPE has
   * to stay handled, since every later write to the closed pipe raises it again. */
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(SIGPIPE, &action, NULL);
  sigaction(SIGHUP, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  action.sa_flags = (int)(SA_RESTART | SA_RESETHAND);
  sigaction(SIGINT, &action, NULL);
}

static const int held[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
enum { HELD = sizeof held / sizeof held[0] };
static struct sigaction before[HELD];

void interrupt_hold(void) {
  struct sigaction action = {.sa_handler = on_signal};
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < HELD; i++) {
    sigaction(held[i], NULL, &before[i]);
    if (before[i].sa_handler != SIG_IGN) sigaction(held[i], &action, NULL);
  }
}

void interrupt_release(void) {
  for (int i = 0; i < HELD; i++) sigaction(held[i], &before[i], NULL);
}

int interrupt_code(int code) {
  return received == 0 ? code : CLI_SIGNAL + received;
}
