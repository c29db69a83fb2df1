/* SPDX-License-Identifier: MIT */
/* watch_terminal.c - one owner of the terminal's mode and of the signals, so that neither outlives the
 * program.
 */
#include "watch_terminal.h"

#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static struct termios before;
static volatile sig_atomic_t keys;  /* `before` is filled in */
static volatile sig_atomic_t taken; /* and the mode is ours now */
static volatile sig_atomic_t ending;
static volatile sig_atomic_t stopping;
static volatile sig_atomic_t continued;

sigset_t signals_usual;

void terminal_release(void) {
  if (!taken) return;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
  taken = 0;
}

void terminal_take(void) {
  if (!keys) return;
  /* Output and the keys that send signals stay as they are. */
  struct termios single = before;
  single.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
  single.c_cc[VMIN] = 1;
  single.c_cc[VTIME] = 0;
  taken = 1;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &single);
}

bool terminal_open(void) {
  if (!isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) != getpgrp()) return false;
  if (tcgetattr(STDIN_FILENO, &before) != 0) return false;
  keys = 1;
  atexit(terminal_release);
  terminal_take();
  return true;
}

/* ---- signals ------------------------------------------------------------------------------------------- */

static void on_signal(int number) {
  if (number == SIGTSTP) {
    stopping = 1;
  } else if (number == SIGCONT) {
    continued = 1;
  } else if (number != SIGCHLD && ending == 0) {
    ending = number;
  }
}

/* A mistake of this program's own: tcsetattr is safe here, and the second signal ends it. */
static void on_crash(int number) {
  if (taken) tcsetattr(STDIN_FILENO, TCSANOW, &before);
  raise(number);
}

void signals_hold(void) {
  static const int held[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGCONT, SIGCHLD};
  static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  sigset_t all;
  sigemptyset(&all);
  for (size_t i = 0; i < sizeof held / sizeof held[0]; i++) {
    struct sigaction action = {.sa_handler = on_signal};
    struct sigaction was;
    sigemptyset(&action.sa_mask);
    sigaction(held[i], NULL, &was);
    /* What nohup or a shell without jobs has made deaf stays deaf; but ended children are always heard of. */
    if (was.sa_handler == SIG_IGN && held[i] != SIGCHLD) continue;
    sigaction(held[i], &action, NULL);
    sigaddset(&all, held[i]);
  }
  for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++) {
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(crashes[i], &action, NULL);
  }
  sigprocmask(SIG_BLOCK, &all, &signals_usual);
}

int signals_end(void) {
  return ending;
}

void signals_forget_interrupt(void) {
  if (ending == SIGINT) ending = 0;
}

/* Stops as a program without a handler would, and goes on when it is continued. */
static void stop(void) {
  terminal_release();
  stopping = 0;
  kill(getpid(), SIGSTOP);
  terminal_take();
}

void terminal_poll(const int descriptors[2], int milliseconds, bool readable[2]) {
  struct pollfd wanted[2] = {{.fd = descriptors[0], .events = POLLIN},
                             {.fd = descriptors[1], .events = POLLIN}};
  const struct timespec limit = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
  const int ready = ppoll(wanted, 2, milliseconds < 0 ? NULL : &limit, &signals_usual);
  for (int i = 0; i < 2; i++) readable[i] = ready > 0 && wanted[i].revents != 0;
  /* ppoll lets no signal in when there is something to read, and some inputs never run dry. */
  sigset_t held;
  sigprocmask(SIG_SETMASK, &signals_usual, &held);
  sigprocmask(SIG_SETMASK, &held, NULL);
  if (stopping) {
    stop();
  } else if (continued && taken) {
    terminal_take(); /* after a SIGSTOP, of which nobody tells, a shell has set its own mode */
  }
  continued = 0;
}
