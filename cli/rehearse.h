/* SPDX-License-Identifier: MIT */
/* rehearse.h - the parts of `assay practice`: the sessions, the bug drill, the demonstration. */
#ifndef ASSAY_CLI_REHEARSE_H
#define ASSAY_CLI_REHEARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "exercise.h"
#include "workshops/practice.h"

typedef struct rehearsal {
  bool unattended; /* --yes: small sizes, no questions */
  uint64_t seed;
} rehearsal;

/* Each returns the exit code. */
int rehearse_session(const rehearsal *how, const assay_practice *practice);
int rehearse_bug(const rehearsal *how, const assay_exercise *exercise);
int rehearse_demo(const rehearsal *how, const assay_exercise *exercise);

/* Runs a command of this program, `argv` without the program's name, and returns its exit code. A test puts
 * its own function here. */
extern int (*rehearse_command)(int argc, const char *const *argv);

/* Why nothing can be timed from Python here; NULL when it can. Finding out loads PyTorch: seconds. */
const char *rehearse_python_missing(void);

/* Shows and runs `python3 -m assay.COMMAND`, argv[0] being the command, and returns its exit code. */
int rehearse_python(int argc, const char *const *argv);

/* Words of a command line on stdout, each behind a blank, quoted where a shell would change it. */
void rehearse_print_words(int count, const char *const *words);

/* A new folder work/NAME/run-K: earlier runs keep their files. False after an error message. */
bool rehearse_folder(const char *name, char path[ASSAY_PATH_SIZE]);

/* One line from the terminal without its end; false at the end of the input. */
bool rehearse_read(char *line, int size);

/* A choice among `count` numbered lines: their index. Unattended: the first. -1 at the end of the input. */
int rehearse_choose(const rehearsal *how, const char *question, const char *const *lines, int count);

/* Waits for the return key; unattended it goes on. False at the end of the input. */
bool rehearse_pause(const rehearsal *how);

#endif
