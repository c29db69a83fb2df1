/* SPDX-License-Identifier: MIT */
/* watch_run.c - a command of this program as a process of its own: it can be broken off, and its crash is not
 * ours.
 */
#include "watch_run.h"

#include "cli.h"
#include "core/clock.h"
#include "core/file.h"
#include "output.h"
#include "watch_terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A compiler that runs is waited for, and has a limit of its own below this one. */
enum { MOST_WORDS = 12, CANCEL_SECONDS = 75 };

/* In the new process; only calls that are safe between fork and exec. */
static void become(const char *program, char *const *words, bool input) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigprocmask(SIG_SETMASK, &signals_usual, NULL);
  if (!input) {
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing > STDIN_FILENO) {
      dup2(nothing, STDIN_FILENO);
      close(nothing);
    }
  }
  execv(program, words);
  _exit(CLI_UNAVAILABLE);
}

pid_t run_start(const char *const *words, bool input) {
  const char *argv[MOST_WORDS + 2] = {"assay"};
  const char *program = assay_program_path();
  for (int i = 0; i < MOST_WORDS && words[i] != NULL; i++) argv[i + 1] = words[i];
  fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) become(program, (char *const *)argv, input);
  if (pid < 0) output_error("cannot start %s: %s", program, strerror(errno));
  return pid;
}

bool run_ended(pid_t pid, int *code) {
  int status = 0;
  pid_t ended;
  do {
    ended = waitpid(pid, &status, WNOHANG);
  } while (ended < 0 && errno == EINTR);
  if (ended == 0) return false;
  *code = ended < 0 ? CLI_FAILED : WIFEXITED(status) ? WEXITSTATUS(status) : CLI_SIGNAL + WTERMSIG(status);
  return true;
}

void run_cancel(pid_t pid) {
  static const int nothing[2] = {-1, -1};
  bool readable[2];
  int code;
  const int64_t deadline = assay_now_ns() + (int64_t)CANCEL_SECONDS * 1000000000;
  kill(pid, SIGTERM);
  while (!run_ended(pid, &code)) {
    if (assay_now_ns() > deadline) kill(pid, SIGKILL);
    terminal_poll(nothing, 20, readable);
  }
}

int run_whole(const char *const *words, bool input) {
  static const int nothing[2] = {-1, -1};
  bool readable[2];
  int code = CLI_FAILED;
  const pid_t pid = run_start(words, input);
  if (pid < 0) return code;
  while (!run_ended(pid, &code)) {
    terminal_poll(nothing, 100, readable);
    /* Who stops a pager by Ctrl-C means the pager. */
    signals_forget_interrupt();
    if (signals_end() != 0) kill(pid, SIGTERM);
  }
  return code;
}
