/* SPDX-License-Identifier: MIT */
/* session.h - the judge's side of one worker process: start it, ask it, watch it, end it. */
#ifndef ASSAY_SESSION_H
#define ASSAY_SESSION_H

#include <sys/types.h>

#include "protocol.h"
#include "verdict.h"

typedef struct session {
  pid_t pid; /* 0: no worker */
  int socket;
  int tasks_allowed; /* threads that may exist between calls, */
  int tasks_added;   /* and those that the GPU's compiler has left */
  long memory_kib;   /* private memory that it may have */
} session;

/* How a request ended. `verdict` PASS means only: the worker answered as it should. */
typedef struct session_outcome {
  verdict verdict;
  assay_status status; /* RUN: what the kernel returned */
  bool unavailable;    /* and that this machine is the reason */
  fault_report fault;  /* signal 0 when there was none */
  char reason[512];
} session_outcome;

/* Starts the worker and makes it load the kernel within `seconds`. On failure the session is closed. */
bool session_open(session *worker, const load_request *load, double seconds, session_outcome *outcome);

/* Makes a worker that runs already load one more kernel; a baseline that cannot run here has the status
 * ASSAY_UNAVAILABLE in the outcome. */
bool session_load(session *worker, const load_request *load, double seconds, session_outcome *outcome);

/* Kills the worker if it lives. */
void session_close(session *worker);

bool session_map(session *worker, const map_request *map, int fd, session_outcome *outcome);
bool session_unmap(session *worker, session_outcome *outcome);

/* The steps of emulated kernels (MESSAGE_TRACE), or what watches them sees (MESSAGE_WATCH), go to the memory
 * behind `fd` from now on. */
bool session_share(session *worker, message_kind kind, size_t bytes, int fd, session_outcome *outcome);

/* One request with all its calls, at most `seconds` long. False: the worker is gone, `outcome` says why. */
bool session_run(session *worker, const run_request *run, double seconds, session_outcome *outcome);

/* What a timed request took, by the worker and by the judge's own clock. */
typedef struct session_timing {
  int64_t nanoseconds;
  int64_t context_switches;
  int64_t wall_ns; /* from the word to go to the word that the calls have returned */
  bool pinned;
  int huge_share;  /* percent */
  int sm_mhz;      /* of a GPU; 0: not known */
  int graph_nodes; /* of one call in a graph; 0: there was none */
} session_timing;

bool session_bench(session *worker, const bench_request *bench, double seconds, session_timing *timing,
                   session_outcome *outcome);

/* The largest resident memory of the worker so far; 0 when it is not known. */
int64_t session_peak_bytes(const session *worker);

/* Threads of the worker beyond those allowed, after up to `grace` seconds for them to end. Threads that are
 * exiting do not count. */
int session_extra_threads(const session *worker, double grace);

#endif
