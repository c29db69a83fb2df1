/* SPDX-License-Identifier: MIT */
/* process.c - compilers and other tools are run here, so that none of them can hang us or outlive its call.
 */
#include "process.h"

#include "clock.h"
#include "file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Appends what fits within the limit and drops the rest, also when there is no memory for more. */
static void keep_output(assay_process_result *result, const char *data, size_t size) {
  const size_t room = ASSAY_OUTPUT_LIMIT - result->output_size;
  if (size > room) size = room;
  if (size == 0) return;
  char *larger = realloc(result->output, result->output_size + size + 1);
  if (larger == NULL) return;
  memcpy(larger + result->output_size, data, size);
  result->output = larger;
  result->output_size += size;
  larger[result->output_size] = '\0';
}

/* One read of a pipe that does not block. Returns the bytes taken, 0 at its end, -1 when nothing is there
 * now. */
static ssize_t read_output(int pipe_end, assay_process_result *result) {
  char block[65536];
  const ssize_t got = read(pipe_end, block, sizeof block);
  if (got > 0) keep_output(result, block, (size_t)got);
  return got < 0 && errno != EAGAIN && errno != EINTR ? 0 : got;
}

/* Signals that a caller may ignore or block reach the program as if it had been started from a shell. */
static int set_attributes(posix_spawnattr_t *attributes) {
  static const int usual[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGCHLD, SIGUSR1, SIGUSR2};
  sigset_t defaults;
  sigset_t blocked;
  sigemptyset(&blocked);
  sigemptyset(&defaults);
  for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) sigaddset(&defaults, usual[i]);
  int error = posix_spawnattr_setsigdefault(attributes, &defaults);
  if (error == 0) error = posix_spawnattr_setsigmask(attributes, &blocked);
  if (error == 0) error = posix_spawnattr_setpgroup(attributes, 0);
  const short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP;
  return error != 0 ? error : posix_spawnattr_setflags(attributes, flags);
}

/* Output goes to `writer`, or to ours when that is -1. Standard input comes last: `writer` itself may be
 * descriptor 0 when the caller runs without one. */
static int set_actions(posix_spawn_file_actions_t *actions, const char *folder, int writer) {
  int error = 0;
  if (writer >= 0) error = posix_spawn_file_actions_adddup2(actions, writer, STDOUT_FILENO);
  if (writer >= 0 && error == 0) error = posix_spawn_file_actions_adddup2(actions, writer, STDERR_FILENO);
  if (error == 0) error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (error == 0 && folder != NULL) error = posix_spawn_file_actions_addchdir_np(actions, folder);
  return error;
}

/* posix_spawn rather than fork: it is safe with other threads, copies no page tables of a large caller, and
 * returns the errno of the exec. The program leads a process group of its own. */
static int start(const char *const *argv, const char *folder, int writer, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int error = posix_spawn_file_actions_init(&actions);
  if (error != 0) return error;
  error = posix_spawnattr_init(&attributes);
  if (error == 0) {
    error = set_actions(&actions, folder, writer);
    if (error == 0) error = set_attributes(&attributes);
    if (error == 0) error = posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)argv, environ);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/* Without taking its status: until then its number, and with it the group's, cannot be given to another. */
static bool has_ended(pid_t pid) {
  siginfo_t info = {0};
  if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return errno == ECHILD;
  return info.si_pid == pid;
}

static int64_t after(double seconds) {
  const double longest = 1e9; /* seconds: what still fits the arithmetic, also for an infinite limit */
  return assay_now_ns() + (seconds > 0 ? (int64_t)((seconds < longest ? seconds : longest) * 1e9) : 0);
}

/* Collects output until the program ends or the limit is reached, then ends what is left of its group. */
static void supervise(pid_t pid, int reader, double seconds, assay_process_result *result) {
  const int64_t deadline = after(seconds);
  struct pollfd output = {.fd = reader, .events = POLLIN};
  while (!has_ended(pid)) {
    const int64_t left = deadline - assay_now_ns();
    if (left <= 0) {
      result->timed_out = true;
      break;
    }
    /* In slices: a program can end while one of its children keeps the pipe open, or close it and go on. */
    const int slice = output.fd >= 0 ? 20 : 1;
    const int pause = left / 1000000 < slice ? (int)(left / 1000000) + 1 : slice;
    if (poll(&output, 1, pause) > 0 && read_output(reader, result) == 0) output.fd = -1;
  }
  kill(-pid, SIGKILL);
  if (result->timed_out) kill(pid, SIGKILL); /* it may have left its group */
  /* What is still in the pipe, but no more than that: an escaped child may write for ever. */
  for (size_t taken = 0; output.fd >= 0 && taken < ASSAY_OUTPUT_LIMIT;) {
    const ssize_t got = read_output(reader, result);
    if (got <= 0) break;
    taken += (size_t)got;
  }
}

static void take_status(pid_t pid, assay_process_result *result) {
  int status = 0;
  pid_t ended;
  do {
    ended = waitpid(pid, &status, 0);
  } while (ended < 0 && errno == EINTR);
  if (ended == pid && WIFEXITED(status)) result->exit_code = WEXITSTATUS(status);
  if (ended == pid && WIFSIGNALED(status)) result->signal = WTERMSIG(status);
}

void assay_process_run(const char *const *argv, const char *folder, double seconds,
                       assay_process_result *result) {
  assert(argv[0] != NULL);
  *result = (assay_process_result){.exit_code = -1, .output = calloc(1, 1)};
  int ends[2];
  if (result->output == NULL || pipe2(ends, O_CLOEXEC) != 0) {
    result->error = errno;
    return;
  }
  pid_t pid = -1;
  result->error = start(argv, folder, ends[1], &pid);
  close(ends[1]);
  if (result->error == 0) {
    result->started = true;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    supervise(pid, ends[0], seconds, result);
    take_status(pid, result);
  }
  close(ends[0]);
}

void assay_process_show(const char *const *argv, double seconds, bool (*stop)(void),
                        assay_process_result *result) {
  const double grace = 10; /* seconds to put things in order after an interrupt */
  assert(argv[0] != NULL);
  *result = (assay_process_result){.exit_code = -1};
  pid_t pid = -1;
  result->error = start(argv, NULL, -1, &pid);
  if (result->error != 0) return;
  result->started = true;
  int64_t deadline = after(seconds);
  bool told = false;
  while (!has_ended(pid)) {
    if (assay_now_ns() >= deadline) {
      result->timed_out = true;
      break;
    }
    if (!told && stop != NULL && stop()) {
      told = true;
      kill(-pid, SIGINT);
      if (after(grace) < deadline) deadline = after(grace);
    }
    poll(NULL, 0, 20);
  }
  kill(-pid, SIGKILL);
  if (result->timed_out) kill(pid, SIGKILL);
  take_status(pid, result);
}

static bool is_program(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

bool assay_program_exists(const char *name) {
  if (name[0] == '\0') return false;
  if (strchr(name, '/') != NULL) return is_program(name);
  const char *folder = getenv("PATH");
  if (folder == NULL) folder = "/bin:/usr/bin"; /* what posix_spawnp searches then */
  for (;;) {
    const size_t length = strcspn(folder, ":");
    char path[ASSAY_PATH_SIZE];
    const char *separator = length > 0 ? "/" : ""; /* an empty entry is the current folder */
    if (length < ASSAY_PATH_SIZE &&
        assay_path_format(path, "%.*s%s%s", (int)length, folder, separator, name) && is_program(path)) {
      return true;
    }
    if (folder[length] == '\0') return false;
    folder += length + 1;
  }
}

const char *assay_signal_name(int signal) {
  static const struct {
    int number;
    const char *name;
  } known[] = {
      {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
      {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
      {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
      {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGCHLD, "SIGCHLD"},
      {SIGSTOP, "SIGSTOP"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (known[i].number == signal) return known[i].name;
  }
  static _Thread_local char other[32];
  snprintf(other, sizeof other, "signal %d", signal);
  return other;
}
