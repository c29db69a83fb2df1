/* SPDX-License-Identifier: MIT */
/* process.h - running another program to its end, with a time limit, its output captured or shown. */
#ifndef ASSAY_PROCESS_H
#define ASSAY_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

enum { ASSAY_OUTPUT_LIMIT = 1 << 20 }; /* bytes of output that are kept */

typedef struct assay_process_result {
  bool started; /* false: `error` is the errno of the exec */
  int error;
  bool timed_out; /* killed at the limit, with its whole process group */
  int exit_code;  /* -1 unless it exited by itself */
  int signal;     /* 0 unless a signal ended it */
  char *output;   /* stdout and stderr together, NUL-terminated, cut at the limit; to be freed */
  size_t output_size;
} assay_process_result;

/* Runs argv[0] (searched in PATH) in `folder` (NULL: here). stdin is empty. `seconds` is the time limit. */
void assay_process_run(const char *const *argv, const char *folder, double seconds,
                       assay_process_result *result);

/* The same, here, with our own stdout and stderr: `output` stays NULL. The first time that `stop` (NULL:
 * never) is true, the program and its children get SIGINT, as from the terminal that they are kept from, and
 * ten seconds to end. */
void assay_process_show(const char *const *argv, double seconds, bool (*stop)(void),
                        assay_process_result *result);

/* Whether `name` can be executed: a path with a slash, or found in PATH. */
bool assay_program_exists(const char *name);

/* "SIGSEGV" for 11, and so on; "signal N" for others, in static storage of the calling thread. */
const char *assay_signal_name(int signal);

#endif
