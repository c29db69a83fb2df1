/* SPDX-License-Identifier: MIT */
/* cmd_completion.c - `assay completion SHELL`: the words that a shell offers, from the tables of commands,
 * options, exercises and operators. `make install` keeps what it prints where the shells look. */
#include "cli.h"
#include "ops/ops.h"
#include "output.h"
#include "workshops/workshops.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* What a command takes as names, read from its usage line. */
typedef struct name_kinds {
  bool exercises;
  bool operators;
  bool files;
  char words[64]; /* each with a blank before it */
} name_kinds;

static bool is_one_of(const char *word, const char *const *list) {
  for (; *list != NULL; list++) {
    if (strcmp(word, *list) == 0) return true;
  }
  return false;
}

static void add_word(name_kinds *kinds, const char *word) {
  const size_t used = strlen(kinds->words);
  snprintf(kinds->words + used, sizeof kinds->words - used, " %s", word);
}

/* "1..6" is six words. */
static void add_digits(name_kinds *kinds, char first, char last) {
  for (char digit = first; digit <= last; digit++) add_word(kinds, (const char[]){digit, '\0'});
}

/* Words in small letters stand for themselves, those in capitals for what is put there. */
static name_kinds names_of(const cli_command *command) {
  static const char *const file_words[] = {"FILE", "REPORT", "RECORD", "OLD", "NEW", NULL};
  name_kinds kinds = {.words = ""};
  const char *at = command->names != NULL ? command->names : "";
  while (*at != '\0') {
    size_t length = 0;
    char word[24];
    while (isalnum((unsigned char)at[length])) length++;
    snprintf(word, sizeof word, "%.*s", (int)length, at);
    if (length == 1 && isdigit((unsigned char)at[0]) && strncmp(at + 1, "..", 2) == 0) {
      add_digits(&kinds, at[0], at[3]);
      length = 4;
    } else if (islower((unsigned char)word[0])) {
      add_word(&kinds, word);
    }
    kinds.exercises = kinds.exercises || strcmp(word, "NAME") == 0;
    kinds.operators = kinds.operators || strcmp(word, "OP") == 0;
    kinds.files = kinds.files || is_one_of(word, file_words);
    at += length > 0 ? length : 1;
  }
  return kinds;
}

static void print_names(const name_kinds *kinds) {
  const char *gap = "";
  for (int i = 0; kinds->exercises && i < assay_exercise_count; i++, gap = " ")
    printf("%s%s %s", gap, assay_exercises[i].name, assay_exercises[i].alias);
  for (int i = 0; kinds->operators && i < assay_operator_count; i++, gap = " ")
    printf("%s%s", gap, assay_operators[i]->subject.name);
  printf("%s", kinds->words + (gap[0] == '\0' && kinds->words[0] != '\0'));
}

static void print_choices(const cli_option *option) {
  for (int i = 0; option->choices[i] != NULL; i++) printf("%s%s", i == 0 ? "" : " ", option->choices[i]);
}

static void print_commands(void) {
  for (int i = 0; i < cli_command_count; i++) printf("%s%s", i == 0 ? "" : " ", cli_commands[i]->name);
}

/* Whether a value of its own word follows the option. */
static bool takes_value(const cli_option *option) {
  return option->kind != OPTION_FLAG && option->kind != OPTION_EACH_BARE;
}

static bool takes_file(const cli_option *option) {
  return takes_value(option) && option->kind != OPTION_CHOICE && strstr(option->placeholder, "FILE") != NULL;
}

static bool is_output(const cli_option *option) {
  return strcmp(option->name, "output") == 0;
}

/* ---- bash ---------------------------------------------------------------------------------------------- */

static void bash_command(const cli_command *command) {
  const name_kinds kinds = names_of(command);
  printf("  %s)\n    options=\"--help", command->name);
  for (int i = 0; i < command->option_count; i++) {
    printf(" --%s%s", command->options[i].name, is_output(&command->options[i]) ? " -o" : "");
  }
  printf("\"\n    words=\"");
  print_names(&kinds);
  printf("\" files=%s\n    case $before in\n", kinds.files ? "yes" : "");
  for (int i = 0; i < command->option_count; i++) {
    const cli_option *option = &command->options[i];
    if (!takes_value(option)) continue;
    printf("    --%s%s) value=", option->name, is_output(option) ? " | -o" : "");
    if (option->kind == OPTION_CHOICE) {
      printf("words words=\"");
      print_choices(option);
      printf("\" ;;\n");
    } else {
      printf("%s ;;\n", takes_file(option) ? "file" : "other");
    }
  }
  puts("    esac\n    ;;");
}

static void print_bash(void) {
  puts("# Completion of assay for bash. Made by: assay completion bash\n"
       "_assay() {\n"
       "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options= words= files= "
       "value=\n"
       "  # Bash cuts --name=value before and behind \"=\".\n"
       "  if [[ $word == \"=\" ]]; then word=\n"
       "  elif [[ $before == \"=\" ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
       "  COMPREPLY=()\n"
       "  if ((COMP_CWORD == 1)); then\n"
       "    options=\"--help --version\"");
  printf("    words=\"");
  print_commands();
  puts(" help\"\n  else case ${COMP_WORDS[1]} in\n  help)");
  printf("    words=\"");
  print_commands();
  puts("\"\n    ;;");
  for (int i = 0; i < cli_command_count; i++) bash_command(cli_commands[i]);
  puts("  esac; fi\n"
       "  if [[ $value == file ]]; then words= files=yes\n"
       "  elif [[ $value == other ]]; then return\n"
       "  elif [[ -z $value && $word == -* ]]; then words=$options files=; fi\n"
       "  [[ $value == words ]] && files=\n"
       "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
       "  if [[ -n $files ]]; then\n"
       "    local -a found\n"
       "    mapfile -t found < <(compgen -f -- \"$word\")\n"
       "    COMPREPLY+=(\"${found[@]}\")\n"
       "    compopt -o filenames 2>/dev/null\n"
       "  fi\n"
       "}\n"
       "complete -F _assay assay");
}

/* ---- zsh ----------------------------------------------------------------------------------------------- */

/* Text inside single quotes, with a backslash before what _arguments would take for the end. */
static void zsh_text(const char *text) {
  for (; *text != '\0'; text++) {
    if (*text == '\'') {
      printf("'\\''");
    } else {
      printf("%s%c", strchr("[]\\", *text) != NULL ? "\\" : "", *text);
    }
  }
}

static void zsh_option(const cli_option *option, const char *spelling) {
  const bool each = option->kind == OPTION_EACH || option->kind == OPTION_EACH_BARE;
  printf("        '%s%s[", each ? "*" : "", spelling);
  zsh_text(option->help);
  putchar(']');
  if (option->kind == OPTION_CHOICE) {
    printf(":%s:(", option->name);
    print_choices(option);
    putchar(')');
  } else if (takes_value(option)) {
    printf(":%s:%s", option->placeholder, takes_file(option) ? "_files" : " ");
  }
  puts("' \\");
}

static void zsh_command(const cli_command *command) {
  const name_kinds kinds = names_of(command);
  printf("    %s)\n      _arguments \\\n", command->name);
  for (int i = 0; i < command->option_count; i++) {
    char spelling[64];
    snprintf(spelling, sizeof spelling, "--%s%s", command->options[i].name,
             takes_value(&command->options[i]) ? "=" : "");
    zsh_option(&command->options[i], spelling);
    if (is_output(&command->options[i])) zsh_option(&command->options[i], "-o");
  }
  printf("        '--help[show the options]'");
  if (command->names != NULL) {
    printf(" \\\n        '*: :_alternative \"names:name:(");
    print_names(&kinds);
    printf(")\"%s'", kinds.files ? " \"files:file:_files\"" : "");
  }
  puts(" ;;");
}

static void print_zsh(void) {
  puts("#compdef assay\n"
       "# Completion of assay for zsh. Made by: assay completion zsh\n"
       "_assay() {\n"
       "  local -a commands\n"
       "  commands=(");
  for (int i = 0; i < cli_command_count; i++) {
    printf("    '%s:", cli_commands[i]->name);
    zsh_text(cli_commands[i]->summary);
    puts("'");
  }
  puts("    'help:show the options of a command'\n  )\n"
       "  if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then\n"
       "    _describe -t commands command commands\n"
       "    return\n"
       "  fi\n"
       "  shift words\n"
       "  (( CURRENT-- ))\n"
       "  case $words[1] in");
  for (int i = 0; i < cli_command_count; i++) zsh_command(cli_commands[i]);
  puts("  esac\n}\n_assay \"$@\"");
}

/* ---- fish ---------------------------------------------------------------------------------------------- */

static void fish_text(const char *text) {
  putchar('\'');
  for (; *text != '\0'; text++) printf("%s%c", strchr("'\\", *text) != NULL ? "\\" : "", *text);
  putchar('\'');
}

static void fish_command(const cli_command *command) {
  const name_kinds kinds = names_of(command);
  char begin[96];
  snprintf(begin, sizeof begin, "complete -c assay -n '__assay_runs %s'", command->name);
  if (command->names != NULL) {
    printf("%s -a '", begin);
    print_names(&kinds);
    printf("'\n");
  }
  if (kinds.files) printf("%s -F\n", begin);
  for (int i = 0; i < command->option_count; i++) {
    const cli_option *option = &command->options[i];
    printf("%s%s -l %s", begin, is_output(option) ? " -s o" : "", option->name);
    if (option->kind == OPTION_CHOICE) {
      printf(" -x -a '");
      print_choices(option);
      putchar('\'');
    } else if (takes_value(option)) {
      printf("%s", takes_file(option) ? " -r -F" : " -x");
    }
    printf(" -d ");
    fish_text(option->help);
    putchar('\n');
  }
  printf("%s -s h -l help -d 'show the options'\n", begin);
}

static void print_fish(void) {
  puts("# Completion of assay for fish. Made by: assay completion fish\n"
       "function __assay_runs\n"
       "  set -l words (commandline -opc)\n"
       "  test (count $words) -ge 2; and test $words[2] = $argv[1]\n"
       "end\n"
       "function __assay_begins\n"
       "  test (count (commandline -opc)) -eq 1\n"
       "end\n"
       "complete -c assay -f\n"
       "complete -c assay -n __assay_begins -l version -d 'show the version'\n"
       "complete -c assay -n __assay_begins -s h -l help -d 'show all commands'\n"
       "complete -c assay -n __assay_begins -a help -d 'show the options of a command'");
  for (int i = 0; i < cli_command_count; i++) {
    printf("complete -c assay -n __assay_begins -a %s -d ", cli_commands[i]->name);
    fish_text(cli_commands[i]->summary);
    putchar('\n');
  }
  printf("complete -c assay -n '__assay_runs help' -a '");
  print_commands();
  puts("'");
  for (int i = 0; i < cli_command_count; i++) fish_command(cli_commands[i]);
}

static int run_completion(const cli_args *args) {
  static const struct {
    const char *shell;
    void (*print)(void);
  } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
  for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
    if (strcmp(args->names[0], shells[i].shell) != 0) continue;
    shells[i].print();
    return CLI_OK;
  }
  output_error("completion takes bash, zsh or fish, not \"%.60s\"", args->names[0]);
  return CLI_USAGE;
}

static const char *const examples[] = {"completion bash >~/.local/share/bash-completion/completions/assay",
                                       NULL};

const cli_command command_completion = {
    .name = "completion",
    .summary = "print the completion file of a shell",
    .about = "Prints what bash, zsh or fish needs to complete commands, options and names.",
    .names = "bash|zsh|fish",
    .names_min = 1,
    .names_max = 1,
    .examples = examples,
    .run = run_completion,
};
