/* SPDX-License-Identifier: MIT */
/* watch_run.h - commands of this program, run beside `assay watch`: one in the background, others waited for.
 */
#ifndef ASSAY_CLI_WATCH_RUN_H
#define ASSAY_CLI_WATCH_RUN_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts the program itself with `words` (ends with NULL) behind its name. It ends with this process.
 * `input`: it may read the terminal. -1 after an error message. */
pid_t run_start(const char *const *words, bool input);

/* Whether it has ended; `code` is its exit code, 128 plus the number of the signal that ended it. */
bool run_ended(pid_t pid, int *code);

/* Asks it to end and waits for that; a check prints what it has, and leaves no worker and no file behind. */
void run_cancel(pid_t pid);

/* Starts a command and waits; a signal that ends this program ends the command. The exit code. */
int run_whole(const char *const *words, bool input);

#endif
