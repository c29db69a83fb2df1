/* SPDX-License-Identifier: MIT */
/* commands.c - the table of commands, and from argv to the command that runs. */
#include "cli.h"
#include "output.h"
#include "suggest.h"
#include "where.h"

#include <string.h>

const cli_command *const cli_commands[] = {
    &command_list,    &command_start, &command_reset,   &command_lesson,   &command_hint,
    &command_check,   &command_watch, &command_explain, &command_sanitize, &command_trace,
    &command_prove,   &command_apply, &command_bench,   &command_predict,  &command_record,
    &command_compare, &command_plot,  &command_verify,  &command_practice, &command_env,
};
const int cli_command_count = (int)(sizeof cli_commands / sizeof cli_commands[0]);

const char *const cli_backend_names[] = {"cpu", "cuda", "simt", NULL};
const char *const cli_dtype_names[] = {"fp32", "fp16", "bf16", "fp64", NULL};
const char *const cli_tier_names[] = {"S", "M", "L", NULL};
const char *const cli_level_names[] = {"beginner", "intermediate", "advanced", NULL};
const char *const cli_colour_names[] = {"auto", "always", "never", NULL};

/* NULL after an error message. */
static const cli_command *find_command(const char *name) {
  suggestion near;
  suggest_begin(&near, name);
  for (int i = 0; i < cli_command_count; i++) {
    if (strcmp(cli_commands[i]->name, name) == 0) return cli_commands[i];
    suggest_try(&near, cli_commands[i]->name);
  }
  if (strcmp(command_completion.name, name) == 0) return &command_completion;
  suggest_try(&near, "help");
  const char *best = suggest_best(&near);
  if (best != NULL) {
    output_error("no command \"%.60s\": did you mean %s?", name, best);
  } else {
    output_error("no command \"%.60s\": " PROGRAM " --help lists them", name);
  }
  return NULL;
}

static int run_help(int argc, const char *const *argv) {
  if (argc > 1) {
    output_error("help takes at most one command, not \"%.60s\" too", argv[1]);
    return CLI_USAGE;
  }
  if (argc == 0 || strcmp(argv[0], "help") == 0 || strcmp(argv[0], "-h") == 0 ||
      strcmp(argv[0], "--help") == 0) {
    help_program();
    return CLI_OK;
  }
  const cli_command *command = find_command(argv[0]);
  if (command == NULL) return CLI_USAGE;
  help_command(command);
  return CLI_OK;
}

int cli_run(int argc, const char *const *argv) {
  if (argc < 2) {
    where_print();
    return CLI_OK;
  }
  const char *word = argv[1];
  if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) return run_help(0, NULL);
  if (strcmp(word, "help") == 0) return run_help(argc - 2, argv + 2);
  if (strcmp(word, "--version") == 0) {
    help_version();
    return CLI_OK;
  }
  if (word[0] == '-') {
    output_error("options stand behind a command, not \"%.60s\": " PROGRAM " --help lists the commands",
                 word);
    return CLI_USAGE;
  }
  const cli_command *command = find_command(word);
  if (command == NULL) return CLI_USAGE;

  cli_args args;
  assay_message why;
  if (!cli_parse(command, argc - 2, argv + 2, &args, &why)) {
    output_error("%s", why.text);
    return CLI_USAGE;
  }
  if (args.help) {
    help_command(command);
    return CLI_OK;
  }
  return command->run(&args);
}
