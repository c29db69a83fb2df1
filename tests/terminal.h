/* SPDX-License-Identifier: MIT */
/* terminal.h - the program in a pseudo-terminal of its own: what it prints, keys, signals, the terminal's
 * mode. */
#ifndef ASSAY_TESTS_TERMINAL_H
#define ASSAY_TESTS_TERMINAL_H

#include "unit.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "clock.h"

/* Patience with a loaded machine, and how long nothing must come for a session to count as quiet. */
enum { TERMINAL_SECONDS = 60, TERMINAL_WORDS = 12, TERMINAL_TEXT = 1 << 20 };

typedef struct terminal {
  int master;
  int slave; /* kept open: the mode is asked for, and the end of the program is no hang-up */
  pid_t pid;
  struct termios before;
  char *text;  /* everything that was printed, without carriage returns and colours, NUL-terminated */
  bool escape; /* in the middle of an escape sequence */
  size_t size;
  size_t seen; /* what terminal_wait has passed over */
} terminal;

static inline const char *terminal_program(char path[512]) {
  const char *build = getenv("BUILD");
  snprintf(path, 512, "%s/assay", build != NULL ? build : "build");
  return path;
}

/* Starts `assay WORDS` in `where` with the pseudo-terminal as its controlling terminal. */
static inline void terminal_start(terminal *t, const char *where, const char *const *words) {
  char program[512];
  char name[512];
  const char *argv[TERMINAL_WORDS + 2] = {"assay"};
  for (int i = 0; i < TERMINAL_WORDS && words[i] != NULL; i++) argv[i + 1] = words[i];
  *t = (terminal){.text = calloc(1, TERMINAL_TEXT)};
  assert_non_null(t->text);
  t->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  assert_true(t->master >= 0);
  assert_int_equal(grantpt(t->master), 0);
  assert_int_equal(unlockpt(t->master), 0);
  assert_int_equal(ptsname_r(t->master, name, sizeof name), 0);
  t->slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  assert_true(t->slave >= 0);
  assert_int_equal(tcgetattr(t->slave, &t->before), 0);
  assert_non_null(realpath(terminal_program(name), program));
  t->pid = fork();
  assert_true(t->pid >= 0);
  if (t->pid == 0) {
    setsid();
    if (chdir(where) != 0 || ioctl(t->slave, TIOCSCTTY, 0) != 0) _exit(120);
    for (int i = 0; i < 3; i++) dup2(t->slave, i);
    execv(program, (char *const *)argv);
    _exit(121);
  }
}

/* Takes away a line of progress, as the screen does. */
static inline void terminal_erase_line(terminal *t) {
  while (t->size > 0 && t->text[t->size - 1] != '\n') t->size--;
  if (t->seen > t->size) t->seen = t->size;
}

/* Takes what there is to read, for at most `milliseconds`; false when nothing came. */
static inline bool terminal_read(terminal *t, int milliseconds) {
  struct pollfd ready = {.fd = t->master, .events = POLLIN};
  char block[4096];
  if (poll(&ready, 1, milliseconds) <= 0) return false;
  const ssize_t got = read(t->master, block, sizeof block);
  if (got <= 0) return false;
  for (ssize_t i = 0; i < got; i++) {
    if (block[i] == '\033') t->escape = true;
    if (t->escape) {
      t->escape = !isalpha((unsigned char)block[i]);
      if (block[i] == 'K') terminal_erase_line(t);
      continue;
    }
    if (block[i] == '\r' || block[i] == '\0') continue;
    assert_true(t->size + 1 < TERMINAL_TEXT);
    t->text[t->size++] = block[i];
  }
  t->text[t->size] = '\0';
  return true;
}

/* Waits until `words` stand in what came since the last wait, and passes over them. */
static inline void terminal_wait(terminal *t, const char *words) {
  const int64_t deadline = assay_now_ns() + (int64_t)TERMINAL_SECONDS * 1000000000;
  for (;;) {
    const char *found = strstr(t->text + t->seen, words);
    if (found != NULL) {
      t->seen = (size_t)(found - t->text) + strlen(words);
      return;
    }
    if (assay_now_ns() > deadline) fail_msg("no \"%s\" after:\n%s", words, t->text + t->seen);
    terminal_read(t, 100);
  }
}

static inline void terminal_type(terminal *t, const char *keys) {
  assert_int_equal(write(t->master, keys, strlen(keys)), strlen(keys));
}

/* Whether keys come one by one and unseen now. */
static inline bool terminal_is_raw(const terminal *t) {
  struct termios now;
  assert_int_equal(tcgetattr(t->slave, &now), 0);
  return (now.c_lflag & (tcflag_t)(ICANON | ECHO)) == 0;
}

static inline bool terminal_is_as_before(const terminal *t) {
  struct termios now;
  assert_int_equal(tcgetattr(t->slave, &now), 0);
  return now.c_lflag == t->before.c_lflag && now.c_iflag == t->before.c_iflag &&
         now.c_oflag == t->before.c_oflag && memcmp(now.c_cc, t->before.c_cc, sizeof now.c_cc) == 0;
}

/* Waits for the end of the program and reads the rest; its exit code, 1000 plus the signal that killed it. */
static inline int terminal_end(terminal *t) {
  const int64_t deadline = assay_now_ns() + (int64_t)TERMINAL_SECONDS * 1000000000;
  int status = 0;
  while (waitpid(t->pid, &status, WNOHANG) == 0) {
    terminal_read(t, 20);
    if (assay_now_ns() > deadline) {
      kill(-t->pid, SIGKILL);
      waitpid(t->pid, &status, 0);
      fail_msg("it does not end, after:\n%s", t->text + t->seen);
    }
  }
  while (terminal_read(t, 20)) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static inline void terminal_free(terminal *t) {
  close(t->master);
  close(t->slave);
  free(t->text);
  t->text = NULL;
}

/* One command from beginning to end; its exit code. What it printed stays in t->text. */
static inline int terminal_command(terminal *t, const char *where, const char *const *words) {
  terminal_start(t, where, words);
  return terminal_end(t);
}

/* How often `words` stand in what was printed behind `from`. */
static inline int terminal_count(const terminal *t, size_t from, const char *words) {
  int count = 0;
  for (const char *at = strstr(t->text + from, words); at != NULL; at = strstr(at + 1, words)) count++;
  return count;
}

#endif
