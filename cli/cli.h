/* SPDX-License-Identifier: MIT */
/* cli.h - what the files of the command line share: exit codes, the table of commands, words of the tables.
 */
#ifndef ASSAY_CLI_H
#define ASSAY_CLI_H

#include "args.h"

/* How the program is called in the source folder; messages and help name commands with it. The program that
 * `make install` puts in place is built with "assay". */
#ifndef PROGRAM
#define PROGRAM "./assay"
#endif

enum {
  CLI_OK = 0,
  CLI_FAILED = 1,
  CLI_UNFINISHED = 2,
  CLI_UNAVAILABLE = 3,
  CLI_SLOWER = 7,      /* compare */
  CLI_CANNOT_TELL = 8, /* compare, predict check */
  CLI_USAGE = 64,
  CLI_SIGNAL = 128 /* plus the number of the signal that ended the command */
};

/* In the order of `assay --help`. */
extern const cli_command *const cli_commands[];
extern const int cli_command_count;

extern const cli_command command_list;
extern const cli_command command_start;
extern const cli_command command_reset;
extern const cli_command command_lesson;
extern const cli_command command_hint;
extern const cli_command command_explain;
extern const cli_command command_check;
extern const cli_command command_watch;
extern const cli_command command_prove;
extern const cli_command command_apply;
extern const cli_command command_bench;
extern const cli_command command_predict;
extern const cli_command command_record;
extern const cli_command command_compare;
extern const cli_command command_plot;
extern const cli_command command_verify;
extern const cli_command command_practice;
extern const cli_command command_trace;
extern const cli_command command_sanitize;
extern const cli_command command_env;

/* Known, and not listed: shells ask for it when the program is installed. */
extern const cli_command command_completion;

/* Words of options that several commands have; the index is the value of assay_backend, assay_dtype,
 * assay_tier and of output_colour. All end with NULL. */
extern const char *const cli_backend_names[];
extern const char *const cli_dtype_names[];
extern const char *const cli_tier_names[];
extern const char *const cli_level_names[];
extern const char *const cli_colour_names[];

/* Options that several commands have, to be copied into their tables. */
#define CLI_OPTION_JSON                                                                                      \
  { "json", OPTION_FLAG, NULL, NULL, 0, 0, "print one JSON object and nothing else" }
#define CLI_OPTION_COLOUR                                                                                    \
  {                                                                                                          \
    "color", OPTION_CHOICE, NULL, cli_colour_names, 0, 0,                                                    \
        "colour the output; auto: on a terminal, unless NO_COLOR is set"                                     \
  }
#define CLI_OPTION_SEED                                                                                      \
  {                                                                                                          \
    "seed", OPTION_WHOLE, "N", NULL, 0, INT64_MAX,                                                           \
        "seed of all random inputs; a new one each time by default"                                          \
  }

/* Runs the command that argv names; returns the exit code. */
int cli_run(int argc, const char *const *argv);

/* Help of the whole program and of one command, and the version, on stdout. */
void help_program(void);
void help_command(const cli_command *command);
void help_version(void);

/* The git revision that this was built from; "" when it is not known. Set once, before cli_run. */
extern const char *cli_revision;

/* The compiler that built this program, and the version date of its OpenMP (0: built without). */
const char *built_by(void);
long built_openmp(void);

#endif
