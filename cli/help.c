/* SPDX-License-Identifier: MIT */
/* help.c - help and version, made from the command and option tables. */
#include "cli.h"
#include "ops/ops.h"
#include "workshops/workshops.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

const char *cli_revision = "";

/* Where descriptions begin, and the last column of wrapped text. */
enum { HELP_COLUMN = 24, HELP_WIDTH = 96 };

/* An example with the first exercise in place of the word NAME, and the first operator in that of OPERATOR:
 * help never names one by itself. */
static void print_example(const char *example) {
  const char *word = "NAME";
  const char *name = assay_exercise_count > 0 ? assay_exercises[0].name : word;
  const char *place = strstr(example, word);
  if (place == NULL && assay_operator_count > 0) {
    word = "OPERATOR";
    name = assay_operators[0]->subject.name;
    place = strstr(example, word);
  }
  if (place == NULL) {
    printf("  " PROGRAM " %s\n", example);
  } else {
    printf("  " PROGRAM " %.*s%s%s\n", (int)(place - example), example, name, place + strlen(word));
  }
}

/* Words of `text`, wrapped, behind `indent` columns that are already printed. */
static void print_wrapped(const char *text, size_t indent) {
  size_t column = indent;
  while (*text != '\0') {
    const size_t length = strcspn(text, " ");
    if (column > indent && column + 1 + length > HELP_WIDTH) {
      printf("\n%*s", (int)indent, "");
      column = indent;
    } else if (column > indent) {
      putchar(' ');
      column++;
    }
    printf("%.*s", (int)length, text);
    column += length;
    text += length;
    text += strspn(text, " ");
  }
  putchar('\n');
}

static void print_entry(const char *left, const char *text) {
  printf("  %-*s", HELP_COLUMN - 2, left);
  if (strlen(left) > HELP_COLUMN - 4) printf("\n%*s", HELP_COLUMN, "");
  print_wrapped(text, HELP_COLUMN);
}

static void print_option(const cli_option *option) {
  char left[120];
  int used = snprintf(left, sizeof left, "--%s", option->name);
  assert(used > 0 && (size_t)used < sizeof left);
  size_t length = (size_t)used;
  if (option->kind == OPTION_CHOICE) {
    for (int i = 0; option->choices[i] != NULL; i++) {
      snprintf(left + length, sizeof left - length, "%s%s", i == 0 ? " " : "|", option->choices[i]);
      length = strlen(left);
    }
  } else if (option->kind == OPTION_EACH_BARE) {
    snprintf(left + length, sizeof left - length, "[=%s]", option->placeholder);
  } else if (option->kind != OPTION_FLAG) {
    snprintf(left + length, sizeof left - length, " %s", option->placeholder);
  }
  print_entry(left, option->help);
}

void help_program(void) {
  puts("Assay: write compute kernels, and know whether they are right.\n");
  puts("usage: " PROGRAM " COMMAND [NAME...] [options]\n");
  puts("Without a command it shows where you are, and what comes next.\n");
  puts("commands:");
  for (int i = 0; i < cli_command_count; i++) print_entry(cli_commands[i]->name, cli_commands[i]->summary);
  print_entry("help COMMAND", "show the options of a command (also: COMMAND --help)");
  puts("\noptions:");
  print_entry("--version", "show the version, the compiler and what is built in");
  print_entry("-h, --help", "show this text");
  puts("\nexit codes:");
  print_entry("0", "all passed");
  print_entry("1", "something failed");
  print_entry("2", "something is not written yet");
  print_entry("3", "nothing could run here, or what was asked for by name cannot");
  print_entry("7, 8", "compare: something is slower; something cannot be told");
  print_entry("64", "the command line was wrong");
}

void help_command(const cli_command *command) {
  printf("usage: " PROGRAM " %s%s%s [options]\n\n", command->name, command->names == NULL ? "" : " ",
         command->names == NULL ? "" : command->names);
  print_wrapped(command->about, 0);
  puts("\noptions:");
  for (int i = 0; i < command->option_count; i++) print_option(&command->options[i]);
  print_entry("-h, --help", "show this text");
  puts("\nexamples:");
  for (int i = 0; command->examples[i] != NULL; i++) print_example(command->examples[i]);
}

const char *built_by(void) {
#if defined(__clang__)
  return __VERSION__;
#else
  return "GCC " __VERSION__;
#endif
}

long built_openmp(void) {
#if defined(_OPENMP)
  return _OPENMP;
#else
  return 0;
#endif
}

void help_version(void) {
  printf("assay %s\n", assay_version());
  if (cli_revision[0] != '\0') printf("revision  %s\n", cli_revision);
  printf("compiler  %s\n", built_by());
  if (built_openmp() != 0) {
    printf("built in  cpu, OpenMP %ld\n", built_openmp());
  } else {
    puts("built in  cpu, no OpenMP");
  }
}
