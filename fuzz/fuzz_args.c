/* SPDX-License-Identifier: MIT */
/*
 * fuzz_args.c - the command line parser on arbitrary words, with every command's table.
 *
 * The input is split at NUL and newline into words. Parsing must stay within its tables, leave one short
 * sentence for what it refuses, and give only values that the table allows.
 */
#include "cli/cli.h"
#include "cli/suggest.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_WORDS = 200 };

static void demand(bool holds) {
  if (!holds) abort();
}

static void inspect(const cli_command *command, const cli_args *args) {
  demand(args->name_count >= 0 && args->name_count <= command->names_max);
  if (!args->help) demand(args->name_count >= command->names_min);
  for (int i = 0; i < command->option_count; i++) {
    const cli_option *option = &command->options[i];
    const cli_value *value = &args->values[i];
    if (!value->given) {
      demand(value->text == NULL && value->whole == 0 && value->choice == 0);
      continue;
    }
    if (option->kind != OPTION_EACH_BARE) demand((value->text == NULL) == (option->kind == OPTION_FLAG));
    if (option->kind == OPTION_WHOLE) demand(value->whole >= option->low && value->whole <= option->high);
    if (option->kind == OPTION_SECONDS) demand(value->seconds > 0 && value->seconds <= (double)option->high);
    if (option->kind == OPTION_CHOICE) demand(strcmp(option->choices[value->choice], value->text) == 0);
  }
  demand(args->each_count >= 0 && args->each_count <= CLI_MAX_EACH);
  for (int i = 0; i < args->each_count; i++) {
    const cli_occurrence *one = &args->each[i];
    demand(one->option >= 0 && one->option < command->option_count && args->values[one->option].given);
    demand(one->text != NULL || command->options[one->option].kind == OPTION_EACH_BARE);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (text == NULL) return 0;
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';

  const char *words[MOST_WORDS];
  int count = 0;
  for (size_t at = 0; at < size && count < MOST_WORDS;) {
    const size_t length = strcspn(text + at, "\n");
    words[count++] = text + at;
    at += length + 1;
    text[at - 1] = '\0';
  }
  for (int i = 0; i < cli_command_count; i++) {
    cli_args args;
    assay_message why = {""};
    if (cli_parse(cli_commands[i], count, words, &args, &why)) {
      inspect(cli_commands[i], &args);
    } else {
      demand(why.text[0] != '\0');
    }
  }
  if (count >= 2) demand(suggest_distance(words[0], words[1]) == suggest_distance(words[1], words[0]));
  free(text);
  return 0;
}
