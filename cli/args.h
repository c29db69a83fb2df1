/* SPDX-License-Identifier: MIT */
/*
 * args.h - the command line: one table of options a command, from which parsing and help are both made.
 *
 * Parsing has no side effects and takes any bytes: what it cannot accept becomes one sentence.
 */
#ifndef ASSAY_ARGS_H
#define ASSAY_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "status.h"

enum { CLI_MAX_OPTIONS = 24, CLI_MAX_NAMES = 64, CLI_MAX_EACH = 64 };

typedef enum option_kind {
  OPTION_FLAG = 0, /* no value */
  OPTION_TEXT,     /* any text */
  OPTION_WHOLE,    /* a whole decimal number, low..high */
  OPTION_SECONDS,  /* a positive decimal number, at most high */
  OPTION_CHOICE,   /* one of the words in choices */
  OPTION_EACH,     /* any text; all occurrences are kept, in order with those of other such options */
  OPTION_EACH_BARE /* the same, and `--name` alone is allowed: a text stands behind "=" only */
} option_kind;

typedef struct cli_option {
  const char *name; /* without the dashes */
  option_kind kind;
  const char *placeholder;    /* of the value in help; flags have none, choices show their words */
  const char *const *choices; /* ends with NULL */
  int64_t low, high;
  const char *help;
} cli_option;

typedef struct cli_args cli_args;

typedef struct cli_command {
  const char *name;
  const char *summary; /* one line of `assay --help` */
  const char *about;   /* a paragraph of `assay help NAME` */
  const char *names;   /* how names are written in the usage line; NULL when there are none */
  int names_min, names_max;
  const char *const *examples; /* ends with NULL; NAME and OPERATOR stand for the first of each */
  const cli_option *options;
  int option_count;
  int (*run)(const cli_args *args); /* returns the exit code */
} cli_command;

/* What was given for one option. The last occurrence on the command line counts; of the OPTION_EACH kinds,
 * cli_args has the others too. */
typedef struct cli_value {
  bool given;
  const char *text; /* NULL for flags and bare options */
  int64_t whole;
  double seconds;
  int choice; /* index into choices */
} cli_value;

/* One occurrence of an option that keeps all of them. */
typedef struct cli_occurrence {
  int option;       /* index into the command's options */
  const char *text; /* NULL: given bare */
} cli_occurrence;

struct cli_args {
  const cli_command *command;
  bool help; /* -h or --help: the rest was not looked at */
  cli_value values[CLI_MAX_OPTIONS];
  cli_occurrence each[CLI_MAX_EACH]; /* in the order of the command line */
  int each_count;
  const char *names[CLI_MAX_NAMES];
  int name_count;
};

/* Parses the words behind the command's name; args points into argv. Long options as `--name value` or
 * `--name=value`, in any place, `--` ends them; `-o` is short for `--output`. False with one sentence in
 * `why`. */
bool cli_parse(const cli_command *command, int argc, const char *const *argv, cli_args *args,
               assay_message *why);

#endif
