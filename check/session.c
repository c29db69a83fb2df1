/* SPDX-License-Identifier: MIT */
/* session.c - the judge's side of a worker: spawn by exec, requests with deadlines, every way it can end. */
#include "session.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "engine.h"
#include "process.h"

enum { WORKER_FD = 3 };

/* Private memory of a worker; a workshop's kernels need megabytes. */
static const long memory_limit_kib = 2L << 20;

static void fail(session_outcome *outcome, verdict value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void fail(session_outcome *outcome, verdict value, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  outcome->verdict = value;
  vsnprintf(outcome->reason, sizeof outcome->reason, format, arguments);
  va_end(arguments);
}

/* ---- start and end ------------------------------------------------------------------------------------- */

/* Runs in the child: nothing but async-signal-safe calls until the exec. */
static void become_worker(int socket_fd, char *const *environment) {
  char *const argv[] = {(char *)(uintptr_t) "assay", (char *)(uintptr_t) "--worker", (char *)(uintptr_t) "3",
                        NULL};
  const int fd = dup2(socket_fd, WORKER_FD);
  if (fd == WORKER_FD && socket_fd != WORKER_FD) close(socket_fd);
  setpgid(0, 0); /* whatever the kernel starts dies with its worker */
  /* What a kernel prints is nobody's verdict, and must not mix with ours. */
  if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) _exit(127);
  execve("/proc/self/exe", argv,
         environment); /* this very program, even when its file was replaced meanwhile */
  _exit(127);
}

/* Our environment without what would put foreign code or another clock into the worker. */
static char **worker_environment(void) {
  extern char **environ;
  size_t count = 0;
  while (environ[count] != NULL) count++;
  char **kept = malloc((count + 1) * sizeof *kept);
  size_t next = 0;
  for (size_t i = 0; kept != NULL && i < count; i++) {
    const bool foreign =
        strncmp(environ[i], "LD_PRELOAD=", 11) == 0 || strncmp(environ[i], "LD_AUDIT=", 9) == 0;
    if (!foreign) kept[next++] = environ[i];
  }
  if (kept != NULL) kept[next] = NULL;
  return kept;
}

static bool spawn(session *worker, session_outcome *outcome) {
  int pair[2];
  char **environment = worker_environment();
  if (environment == NULL || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    fail(outcome, VERDICT_UNAVAILABLE, "no worker could be started: %s", strerror(errno));
    free(environment);
    return false;
  }
  const pid_t pid = fork();
  if (pid == 0) {
    /* dup2 onto itself would keep the close-on-exec flag. */
    const int moved = pair[1] == WORKER_FD ? dup(pair[1]) : pair[1];
    become_worker(moved, environment);
  }
  free(environment);
  close(pair[1]);
  if (pid < 0) {
    fail(outcome, VERDICT_UNAVAILABLE, "no worker could be started: %s", strerror(errno));
    close(pair[0]);
    return false;
  }
  *worker = (session){.pid = pid, .socket = pair[0], .memory_kib = memory_limit_kib};
  return true;
}

void session_close(session *worker) {
  if (worker->pid > 0) {
    kill(-worker->pid, SIGKILL);
    kill(worker->pid, SIGKILL);
    while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR) continue;
    close(worker->socket);
  }
  *worker = (session){.pid = 0, .socket = -1};
}

/* The worker closed its end: find out how it ended. */
static void explain_end(session *worker, session_outcome *outcome) {
  int status = 0;
  kill(-worker->pid, SIGKILL); /* its own children only: it has ended itself, or is closing */
  while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR) continue;
  close(worker->socket);
  *worker = (session){.pid = 0, .socket = -1};
  if (WIFEXITED(status)) {
    fail(outcome, VERDICT_CRASH, "the kernel ended its process with exit status %d", WEXITSTATUS(status));
  } else if (WIFSIGNALED(status) && outcome->fault.signal != 0) {
    fail(outcome, VERDICT_CRASH, "%s", assay_signal_name(outcome->fault.signal));
  } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    fail(outcome, VERDICT_CRASH,
         "the kernel closed the worker's connection, or the system ran out of memory");
  } else {
    fail(outcome, VERDICT_CRASH, "%s", assay_signal_name(WTERMSIG(status)));
  }
}

/* ---- requests ------------------------------------------------------------------------------------------ */

static long status_kib(pid_t pid, const char *field) {
  char path[64];
  char line[256];
  long kib = 0;
  snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
  FILE *file = fopen(path, "re");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, field, strlen(field)) == 0) kib = strtol(line + strlen(field), NULL, 10);
  }
  fclose(file);
  return kib;
}

static bool valid_reply(const void *packet, ssize_t size, message_kind kind, size_t expected) {
  message_head head;
  if (size != (ssize_t)expected) return false;
  memcpy(&head, packet, sizeof head);
  return head.magic == PROTOCOL_MAGIC && head.version == PROTOCOL_VERSION && head.kind == kind;
}

/* Waits until a packet is there: false when the deadline, the memory limit or an interrupt comes first. */
static bool wait_packet(session *worker, int64_t deadline, double seconds, session_outcome *outcome) {
  for (;;) {
    struct pollfd poller = {.fd = worker->socket, .events = POLLIN};
    const int ready = poll(&poller, 1, 50);
    if (ready > 0) return true;
    if (check_interrupted()) {
      fail(outcome, VERDICT_UNAVAILABLE, "interrupted");
      break;
    }
    if (ready < 0 && errno == EINTR) continue;
    if (assay_now_ns() > deadline) {
      fail(outcome, VERDICT_TIMEOUT, "no answer within %.3g s", seconds);
      break;
    }
    const long kib = status_kib(worker->pid, "RssAnon:");
    if (kib > worker->memory_kib) {
      fail(outcome, VERDICT_CRASH, "the kernel used %ld MiB of memory of its own; the limit is %ld MiB",
           kib / 1024, worker->memory_kib / 1024);
      break;
    }
  }
  session_close(worker);
  return false;
}

/* Reads until a message of `kind` or the answer; a fault report may come first. False: the worker is gone. */
static bool receive(session *worker, message_kind kind, double seconds, done_reply *reply,
                    message_kind *received, session_outcome *outcome) {
  const int64_t deadline = assay_now_ns() + (int64_t)(seconds * 1e9);
  for (;;) {
    if (!wait_packet(worker, deadline, seconds, outcome)) return false;
    unsigned char packet[1024];
    _Static_assert(sizeof packet >= sizeof(done_reply) && sizeof packet >= sizeof(fault_report),
                   "packet too small");
    const ssize_t size = recv(worker->socket, packet, sizeof packet, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) {
      explain_end(worker, outcome);
      return false;
    }
    if (valid_reply(packet, size, MESSAGE_FAULT, sizeof outcome->fault)) {
      memcpy(&outcome->fault, packet, sizeof outcome->fault);
      continue;
    }
    *received = kind;
    if (kind != MESSAGE_DONE && valid_reply(packet, size, kind, sizeof(message_head))) return true;
    *received = MESSAGE_DONE;
    if (!valid_reply(packet, size, MESSAGE_DONE, sizeof *reply)) {
      fail(outcome, VERDICT_SUSPECT, "the kernel wrote to the judge's connection");
      session_close(worker);
      return false;
    }
    memcpy(reply, packet, sizeof *reply);
    reply->text[sizeof reply->text - 1] = '\0';
    return true;
  }
}

/* Sends a packet, with a descriptor unless it is -1. */
static bool tell(session *worker, const void *request, size_t size, int fd, session_outcome *outcome) {
  *outcome = (session_outcome){.verdict = VERDICT_PASS};
  struct iovec part = {.iov_base = (void *)(uintptr_t)request, .iov_len = size};
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (fd >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  ssize_t sent = -1;
  do {
    sent = sendmsg(worker->socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) { /* it ended between two requests */
    explain_end(worker, outcome);
    return false;
  }
  return true;
}

static bool accept_reply(session *worker, const done_reply *reply, session_outcome *outcome) {
  if (reply->failed == 0) return true;
  fail(outcome, reply->unavailable != 0 ? VERDICT_UNAVAILABLE : VERDICT_FAIL, "%s", reply->text);
  session_close(worker);
  return false;
}

static bool ask(session *worker, const void *request, size_t size, int fd, double seconds, done_reply *reply,
                session_outcome *outcome) {
  message_kind received;
  return tell(worker, request, size, fd, outcome) &&
         receive(worker, MESSAGE_DONE, seconds, reply, &received, outcome) &&
         accept_reply(worker, reply, outcome);
}

/* ---- what the judge asks ------------------------------------------------------------------------------- */

/* Whether a thread does not count: it is on its way out (the system sets the flag before pthread_join can
 * return), or it is one of those that the CUDA driver starts when it needs them, which have its name. */
static bool is_excused(pid_t pid, const char *task) {
  const unsigned exiting = 4; /* PF_EXITING, field 9 of stat */
  char path[320];
  char line[512];
  unsigned flags = exiting; /* a thread that cannot be read any more has gone */
  snprintf(path, sizeof path, "/proc/%d/task/%s/stat", (int)pid, task);
  FILE *file = fopen(path, "re");
  if (file == NULL) return true;
  if (fgets(line, sizeof line, file) != NULL) {
    const char *rest = strrchr(line, ')'); /* the name may hold anything */
    if (rest == NULL || sscanf(rest, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1) flags = 0;
    if (strstr(line, "(cuda-Evt") != NULL || strstr(line, "(cuda0") != NULL) flags = exiting;
  }
  fclose(file);
  return (flags & exiting) != 0;
}

static int count_tasks(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *folder = opendir(path);
  int count = 0;
  if (folder == NULL) return 0;
  for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    if (entry->d_name[0] != '.' && !is_excused(pid, entry->d_name)) count++;
  }
  closedir(folder);
  return count;
}

bool session_load(session *worker, const load_request *load, double seconds, session_outcome *outcome) {
  done_reply reply;
  if (!ask(worker, load, sizeof *load, -1, seconds, &reply, outcome)) return false;
  outcome->status = (assay_status)reply.status;
  if (reply.status != ASSAY_OK) snprintf(outcome->reason, sizeof outcome->reason, "%s", reply.text);
  if (reply.mode_changed != 0) {
    fail(outcome, VERDICT_SUSPECT,
         "loading the kernel changed the floating-point mode (was it built with -ffast-math?)");
    session_close(worker);
    return false;
  }
  /* A runtime of its own starts one team more, and libomp one thread to watch it. */
  worker->tasks_allowed = count_tasks(worker->pid) + (reply.foreign_openmp != 0 ? load->threads : 0);
  return true;
}

bool session_open(session *worker, const load_request *load, double seconds, session_outcome *outcome) {
  *outcome = (session_outcome){.verdict = VERDICT_PASS};
  return spawn(worker, outcome) && session_load(worker, load, seconds, outcome);
}

bool session_map(session *worker, const map_request *map, int fd, session_outcome *outcome) {
  done_reply reply;
  return ask(worker, map, sizeof *map, fd, 10, &reply, outcome);
}

bool session_unmap(session *worker, session_outcome *outcome) {
  const message_head request = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_UNMAP};
  done_reply reply;
  return ask(worker, &request, sizeof request, -1, 10, &reply, outcome);
}

bool session_share(session *worker, message_kind kind, size_t bytes, int fd, session_outcome *outcome) {
  const share_request request = {{PROTOCOL_MAGIC, PROTOCOL_VERSION, (uint16_t)kind}, bytes};
  done_reply reply;
  return ask(worker, &request, sizeof request, fd, 10, &reply, outcome);
}

bool session_run(session *worker, const run_request *run, double seconds, session_outcome *outcome) {
  done_reply reply;
  if (!ask(worker, run, sizeof *run, -1, seconds, &reply, outcome)) return false;
  outcome->status = (assay_status)reply.status;
  outcome->unavailable = reply.unavailable != 0;
  worker->tasks_added = reply.compiler_threads;
  if (reply.status != ASSAY_OK) snprintf(outcome->reason, sizeof outcome->reason, "%s", reply.text);
  if (reply.mode_changed != 0) {
    fail(outcome, VERDICT_SUSPECT, "the kernel changed the floating-point mode and left it changed");
    session_close(worker);
    return false;
  }
  return true;
}

bool session_bench(session *worker, const bench_request *bench, double seconds, session_timing *timing,
                   session_outcome *outcome) {
  static const message_head go = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_GO};
  done_reply reply;
  message_kind received = MESSAGE_DONE;
  int64_t start = 0;
  int64_t end = 0;
  if (!tell(worker, bench, sizeof *bench, -1, outcome)) return false;
  if (!receive(worker, MESSAGE_READY, seconds, &reply, &received, outcome)) return false;
  if (received == MESSAGE_READY) {
    start = assay_now_ns();
    if (!tell(worker, &go, sizeof go, -1, outcome)) return false;
    if (!receive(worker, MESSAGE_TIMED, seconds, &reply, &received, outcome)) return false;
    end = assay_now_ns();
  }
  if (received == MESSAGE_TIMED && !receive(worker, MESSAGE_DONE, seconds, &reply, &received, outcome)) {
    return false;
  }
  if (!accept_reply(worker, &reply, outcome)) return false;
  worker->tasks_added = reply.compiler_threads;
  *timing = (session_timing){.nanoseconds = reply.nanoseconds,
                             .context_switches = reply.context_switches,
                             .wall_ns = end - start,
                             .pinned = reply.pinned != 0,
                             .huge_share = reply.huge_share,
                             .sm_mhz = reply.sm_mhz,
                             .graph_nodes = reply.graph_nodes};
  outcome->status = (assay_status)reply.status;
  if (reply.status != ASSAY_OK) snprintf(outcome->reason, sizeof outcome->reason, "%s", reply.text);
  if (reply.mode_changed != 0) {
    fail(outcome, VERDICT_SUSPECT, "the kernel changed the floating-point mode and left it changed");
  } else if (reply.input_changed != 0) {
    fail(outcome, VERDICT_FAIL, "the kernel wrote to input %d", reply.input_changed - 1);
  } else if (reply.busy != 0) {
    fail(outcome, VERDICT_SUSPECT, "the kernel's process went on working between two calls");
  }
  if (outcome->verdict == VERDICT_PASS) return true;
  session_close(worker);
  return false;
}

int64_t session_peak_bytes(const session *worker) {
  return (int64_t)status_kib(worker->pid, "VmHWM:") * 1024;
}

int session_extra_threads(const session *worker, double grace) {
  const int64_t deadline = assay_now_ns() + (int64_t)(grace * 1e9);
  for (;;) {
    const int extra = count_tasks(worker->pid) - worker->tasks_allowed - worker->tasks_added;
    if (extra <= 0 || assay_now_ns() > deadline) return extra > 0 ? extra : 0;
    const struct timespec pause = {.tv_nsec = 500000};
    nanosleep(&pause, NULL);
  }
}
