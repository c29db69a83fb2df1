/* SPDX-License-Identifier: MIT */
/* args.c - parses a command's words by its option table. */
#include "args.h"

#include "cli.h"
#include "suggest.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Foreign words are cut in messages, so that the rest of the sentence always fits. */
#define WORD "\"%.60s\""

static bool refuse(assay_message *why, const char *word, const cli_command *command) {
  char name[SUGGEST_MAX_LENGTH + 2]; /* without the value; cut where it is too long to be near anything */
  snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
  suggestion near;
  suggest_begin(&near, name + strspn(name, "-"));
  for (int i = 0; i < command->option_count; i++) suggest_try(&near, command->options[i].name);
  suggest_try(&near, "help");
  const char *best = suggest_best(&near);
  if (best != NULL) {
    assay_explain(why, ASSAY_BAD_OPTION, "%s has no option " WORD ": did you mean --%s?", command->name, word,
                  best);
  } else {
    assay_explain(why, ASSAY_BAD_OPTION, "%s has no option " WORD ": " PROGRAM " help %s lists them",
                  command->name, word, command->name);
  }
  return false;
}

/* `length` bytes of `name`, which ends with NUL or with '='. */
static int find_option(const cli_command *command, const char *name, size_t length) {
  for (int i = 0; i < command->option_count; i++) {
    const char *known = command->options[i].name;
    if (strlen(known) == length && memcmp(known, name, length) == 0) return i;
  }
  return -1;
}

static bool parse_whole(const char *text, int64_t *number) {
  if (*text == '\0') return false;
  int64_t value = 0;
  for (const char *p = text; *p != '\0'; p++) {
    if (*p < '0' || *p > '9') return false;
    const int digit = *p - '0';
    if (value > (INT64_MAX - digit) / 10) return false;
    value = value * 10 + digit;
  }
  *number = value;
  return true;
}

/* Digits with at most one point: strtod alone would take "inf", hexadecimal and leading space. */
static bool parse_seconds(const char *text, double *seconds) {
  const size_t whole = strspn(text, "0123456789");
  size_t length = whole;
  size_t digits = whole;
  if (text[length] == '.') {
    const size_t fraction = strspn(text + length + 1, "0123456789");
    digits += fraction;
    length += 1 + fraction;
  }
  if (digits == 0 || text[length] != '\0') return false;
  *seconds = strtod(text, NULL);
  return true;
}

static bool parse_choice(const cli_option *option, const char *text, cli_value *value, assay_message *why) {
  char words[160] = "";
  suggestion near;
  suggest_begin(&near, text);
  for (int i = 0; option->choices[i] != NULL; i++) {
    if (strcmp(option->choices[i], text) == 0) {
      value->choice = i;
      return true;
    }
    suggest_try(&near, option->choices[i]);
    strncat(words, i == 0 ? "" : ", ", sizeof words - strlen(words) - 1);
    strncat(words, option->choices[i], sizeof words - strlen(words) - 1);
  }
  const char *best = suggest_best(&near);
  assay_explain(why, ASSAY_BAD_OPTION, "--%s takes one of %s, not " WORD "%s%s%s", option->name, words, text,
                best == NULL ? "" : ": did you mean ", best == NULL ? "" : best, best == NULL ? "" : "?");
  return false;
}

static bool parse_value(const cli_option *option, const char *text, cli_value *value, assay_message *why) {
  value->text = text;
  switch (option->kind) {
  case OPTION_FLAG:
  case OPTION_TEXT:
  case OPTION_EACH:
  case OPTION_EACH_BARE:
    return true;
  case OPTION_WHOLE:
    if (parse_whole(text, &value->whole) && value->whole >= option->low && value->whole <= option->high)
      return true;
    assay_explain(why, ASSAY_BAD_OPTION, "--%s takes a whole number from %lld to %lld, not " WORD,
                  option->name, (long long)option->low, (long long)option->high, text);
    return false;
  case OPTION_SECONDS:
    if (parse_seconds(text, &value->seconds) && value->seconds > 0 &&
        value->seconds <= (double)option->high) {
      return true;
    }
    assay_explain(why, ASSAY_BAD_OPTION, "--%s takes a number of seconds above 0 and up to %lld, not " WORD,
                  option->name, (long long)option->high, text);
    return false;
  case OPTION_CHOICE:
    return parse_choice(option, text, value, why);
  }
  assert(false && "an option kind without a parser");
  return false;
}

static bool keeps_each(const cli_option *option) {
  return option->kind == OPTION_EACH || option->kind == OPTION_EACH_BARE;
}

static bool keep(cli_args *args, int index, const char *text, assay_message *why) {
  if (args->each_count == CLI_MAX_EACH) {
    assay_explain(why, ASSAY_BAD_OPTION, "--%s is one too many: %d such options at most",
                  args->command->options[index].name, CLI_MAX_EACH);
    return false;
  }
  args->each[args->each_count++] = (cli_occurrence){index, text};
  return true;
}

/* Takes the long option argv[*at], and the next word when that is its value. */
static bool take_option(int argc, const char *const *argv, int *at, cli_args *args, assay_message *why) {
  const cli_command *command = args->command;
  const char *word = argv[*at];
  const char *name = strcmp(word, "-o") == 0 ? "output" : word + 2;
  const size_t length = strcspn(name, "=");
  const int index = find_option(command, name, length);
  if (index < 0) return refuse(why, word, command);

  const cli_option *option = &command->options[index];
  const char *text = name[length] == '=' ? name + length + 1 : NULL;
  if (option->kind == OPTION_FLAG) {
    if (text != NULL) {
      assay_explain(why, ASSAY_BAD_OPTION, "--%s takes no value, not " WORD, option->name, text);
      return false;
    }
  } else if (text == NULL && option->kind != OPTION_EACH_BARE) {
    if (*at + 1 >= argc) {
      assay_explain(why, ASSAY_BAD_OPTION, "--%s needs a value: " PROGRAM " help %s explains it",
                    option->name, command->name);
      return false;
    }
    *at += 1;
    text = argv[*at];
  }
  args->values[index].given = true;
  if (keeps_each(option) && !keep(args, index, text, why)) return false;
  return parse_value(option, text, &args->values[index], why);
}

static bool take_name(const char *word, cli_args *args, assay_message *why) {
  const cli_command *command = args->command;
  assert(command->names_max <= CLI_MAX_NAMES);
  if (args->name_count == command->names_max) {
    if (command->names == NULL) {
      assay_explain(why, ASSAY_BAD_OPTION, "%s takes options only, not " WORD, command->name, word);
    } else {
      assay_explain(why, ASSAY_BAD_OPTION, "%s takes at most %d name%s: " WORD " is too many", command->name,
                    command->names_max, command->names_max == 1 ? "" : "s", word);
    }
    return false;
  }
  args->names[args->name_count++] = word;
  return true;
}

bool cli_parse(const cli_command *command, int argc, const char *const *argv, cli_args *args,
               assay_message *why) {
  assert(command->option_count <= CLI_MAX_OPTIONS);
  *args = (cli_args){.command = command};
  bool options_end = false;
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i];
    bool taken;
    if (options_end || word[0] != '-' || word[1] == '\0') {
      taken = take_name(word, args, why);
    } else if (strcmp(word, "--") == 0) {
      taken = options_end = true;
    } else if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
      args->help = true;
      return true;
    } else if (word[1] == '-' || strcmp(word, "-o") == 0) {
      taken = take_option(argc, argv, &i, args, why);
    } else {
      taken = refuse(why, word, command);
    }
    if (!taken) return false;
  }
  if (args->name_count < command->names_min) {
    if (strncmp(command->names, "NAME", 4) == 0) {
      assay_explain(why, ASSAY_BAD_OPTION, "%s needs %s: " PROGRAM " list shows the names", command->name,
                    command->names);
    } else {
      assay_explain(why, ASSAY_BAD_OPTION, "%s needs %s: " PROGRAM " help %s shows how", command->name,
                    command->names, command->name);
    }
    return false;
  }
  return true;
}
