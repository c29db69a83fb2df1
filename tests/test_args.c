/* SPDX-License-Identifier: MIT */
/* test_args.c - the command line: parsing by table, every kind of refusal, and suggestions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "cli/suggest.h"

enum { COUNT = 0, RATE, WORD, PATTERN, QUIET, FILES, TURN, OPTIONS };

static const char *const words[] = {"red", "green", NULL};

static const cli_option table[OPTIONS] = {
    [COUNT] = {"count", OPTION_WHOLE, "N", NULL, 1, 1000, "a whole number"},
    [RATE] = {"rate", OPTION_SECONDS, "SECONDS", NULL, 0, 60, "a time"},
    [WORD] = {"word", OPTION_CHOICE, NULL, words, 0, 0, "a word"},
    [PATTERN] = {"pattern", OPTION_TEXT, "REGEX", NULL, 0, 0, "any text"},
    [QUIET] = {"quiet", OPTION_FLAG, NULL, NULL, 0, 0, "say less"},
    [FILES] = {"file", OPTION_EACH, "FILE", NULL, 0, 0, "all are kept"},
    [TURN] = {"turn", OPTION_EACH_BARE, "AXES", NULL, 0, 0, "a value only behind an equals sign"},
};

static const cli_command command = {.name = "paint",
                                    .names = "NAME",
                                    .names_min = 1,
                                    .names_max = 2,
                                    .options = table,
                                    .option_count = OPTIONS};

static cli_args args;
static assay_message why;

/* Parses words that end with NULL. */
static bool parse(const char *const *argv) {
  int argc = 0;
  while (argv[argc] != NULL) argc++;
  why.text[0] = '\0';
  return cli_parse(&command, argc, argv, &args, &why);
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

static void refused(bool accepted, const char *part) {
  assert_false(accepted);
  if (strstr(why.text, part) == NULL) fail_msg("\"%s\" does not say \"%s\"", why.text, part);
  assert_null(strchr(why.text, '\n'));
}

static void options_stand_anywhere(void **state) {
  (void)state;
  assert_true(
      PARSE("--count", "7", "one", "--rate=2.5", "two", "--quiet", "--word", "green", "--pattern", "--x"));
  assert_int_equal(args.name_count, 2);
  assert_string_equal(args.names[0], "one");
  assert_string_equal(args.names[1], "two");
  assert_int_equal(args.values[COUNT].whole, 7);
  assert_true(args.values[RATE].seconds == 2.5);
  assert_int_equal(args.values[WORD].choice, 1);
  assert_string_equal(args.values[PATTERN].text, "--x");
  assert_true(args.values[QUIET].given);
}

static void what_is_not_given_is_zero(void **state) {
  (void)state;
  assert_true(PARSE("one"));
  for (int i = 0; i < OPTIONS; i++) {
    assert_false(args.values[i].given);
    assert_null(args.values[i].text);
    assert_int_equal(args.values[i].whole, 0);
  }
}

static void the_last_one_counts(void **state) {
  (void)state;
  assert_true(PARSE("one", "--count=1", "--count=2"));
  assert_int_equal(args.values[COUNT].whole, 2);
}

static void each_is(int at, int option, const char *text) {
  assert_true(at < args.each_count);
  assert_int_equal(args.each[at].option, option);
  if (text == NULL) {
    assert_null(args.each[at].text);
  } else {
    assert_string_equal(args.each[at].text, text);
  }
}

static void some_are_all_kept_in_order(void **state) {
  (void)state;
  assert_true(PARSE("--file", "a", "--turn", "one", "--file=b", "--turn=1,0", "--turn=", "--count=3",
                    "--file", "--turn"));
  assert_int_equal(args.name_count, 1); /* what follows a bare --turn is no value of it */
  assert_int_equal(args.each_count, 6);
  each_is(0, FILES, "a");
  each_is(1, TURN, NULL);
  each_is(2, FILES, "b");
  each_is(3, TURN, "1,0");
  each_is(4, TURN, "");
  each_is(5, FILES, "--turn");
  assert_string_equal(args.values[FILES].text, "--turn"); /* the last one, as with other options */
  assert_true(args.values[TURN].given);
  refused(PARSE("one", "--file"), "--file needs a value");
  assert_true(PARSE("one"));
  assert_int_equal(args.each_count, 0);
}

static void too_many_are_refused(void **state) {
  (void)state;
  const char *words_given[CLI_MAX_EACH + 3] = {"one"};
  for (int i = 1; i <= CLI_MAX_EACH; i++) words_given[i] = "--turn";
  assert_true(parse(words_given));
  assert_int_equal(args.each_count, CLI_MAX_EACH);
  words_given[CLI_MAX_EACH + 1] = "--turn";
  refused(parse(words_given), "--turn is one too many: 64 such options at most");
}

static void two_dashes_end_the_options(void **state) {
  (void)state;
  assert_true(PARSE("--quiet", "--", "--count", "-h"));
  assert_int_equal(args.name_count, 2);
  assert_string_equal(args.names[0], "--count");
  assert_string_equal(args.names[1], "-h");
  assert_false(args.help);
  assert_true(PARSE("-", "--", "--"));
  assert_string_equal(args.names[0], "-");
  assert_string_equal(args.names[1], "--");
}

static void help_needs_nothing_else(void **state) {
  (void)state;
  assert_true(PARSE("-h"));
  assert_true(args.help);
  assert_true(PARSE("one", "--help", "--nonsense"));
  assert_true(args.help);
}

static void unknown_options_get_a_suggestion(void **state) {
  (void)state;
  refused(PARSE("one", "--cuont=3"), "paint has no option \"--cuont=3\": did you mean --count?");
  refused(PARSE("one", "--quite"), "did you mean --quiet?");
  refused(PARSE("one", "-quiet"), "did you mean --quiet?");
  refused(PARSE("one", "--zzzzzz"), "help paint lists them");
  refused(PARSE("one", "-q"), "no option \"-q\"");
  refused(PARSE("one", "--coun", "3"), "did you mean --count?");
  refused(PARSE("one", "--=3"), "no option");
}

static void whole_numbers_are_strict(void **state) {
  (void)state;
  static const char *const bad[] = {"",
                                    "0",
                                    "1001",
                                    "-1",
                                    "+1",
                                    " 1",
                                    "1 ",
                                    "1.0",
                                    "0x10",
                                    "1e2",
                                    "ten",
                                    "99999999999999999999",
                                    "9223372036854775808"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    refused(PARSE("one", "--count", bad[i]), "--count takes a whole number from 1 to 1000");
  }
  assert_true(PARSE("one", "--count", "0001000"));
  assert_int_equal(args.values[COUNT].whole, 1000);
}

static void seconds_are_strict(void **state) {
  (void)state;
  static const char *const bad[] = {"",    ".",   "0",   "0.0", "-1", "60.5", "inf",
                                    "nan", "1e1", "0x1", " 1",  "1s", "1.2.3"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    refused(PARSE("one", "--rate", bad[i]), "--rate takes a number of seconds above 0 and up to 60");
  }
  assert_true(PARSE("one", "--rate", ".25"));
  assert_true(args.values[RATE].seconds == 0.25);
  assert_true(PARSE("one", "--rate", "60."));
}

static void words_are_whole(void **state) {
  (void)state;
  refused(PARSE("one", "--word", "gren"),
          "--word takes one of red, green, not \"gren\": did you mean green?");
  refused(PARSE("one", "--word="), "--word takes one of red, green");
}

static void values_and_flags_keep_apart(void **state) {
  (void)state;
  refused(PARSE("one", "--quiet=yes"), "--quiet takes no value");
  refused(PARSE("one", "--count"), "--count needs a value");
  assert_true(PARSE("one", "--pattern="));
  assert_string_equal(args.values[PATTERN].text, "");
}

static void names_are_counted(void **state) {
  (void)state;
  refused(PARSE("--quiet"), "paint needs NAME");
  refused(PARSE("one", "two", "three"), "paint takes at most 2 names: \"three\" is too many");
}

static void foreign_words_are_cut(void **state) {
  (void)state;
  static char huge[5000] = "--";
  memset(huge + 2, 'x', sizeof huge - 3);
  refused(PARSE("one", huge), "lists them");
  refused(PARSE("one", "--count", huge), "whole number");
}

static void every_command_has_a_sound_table(void **state) {
  (void)state;
  for (int i = 0; i < cli_command_count; i++) {
    const cli_command *entry = cli_commands[i];
    assert_true(entry->option_count <= CLI_MAX_OPTIONS && entry->names_max <= CLI_MAX_NAMES);
    assert_non_null(entry->summary);
    assert_non_null(entry->about);
    assert_non_null(entry->examples);
    assert_non_null(entry->run);
    assert_true((entry->names == NULL) == (entry->names_max == 0));
    for (int k = 0; k < entry->option_count; k++) {
      const cli_option *option = &entry->options[k];
      assert_non_null(option->name);
      assert_non_null(option->help);
      assert_true((option->choices != NULL) == (option->kind == OPTION_CHOICE));
      if (option->kind != OPTION_FLAG && option->kind != OPTION_CHOICE) assert_non_null(option->placeholder);
      for (int j = 0; j < k; j++) assert_string_not_equal(option->name, entry->options[j].name);
    }
  }
}

static void distances(void **state) {
  (void)state;
  assert_int_equal(suggest_distance("", ""), 0);
  assert_int_equal(suggest_distance("check", "CHECK"), 0);
  assert_int_equal(suggest_distance("check", "chek"), 1);
  assert_int_equal(suggest_distance("check", "chekc"), 1);
  assert_int_equal(suggest_distance("", "abc"), 3);
  assert_int_equal(suggest_distance("kitten", "sitting"), 3);
  char long_word[SUGGEST_MAX_LENGTH + 2];
  memset(long_word, 'a', sizeof long_word - 1);
  long_word[sizeof long_word - 1] = '\0';
  assert_true(suggest_distance(long_word, "a") == SIZE_MAX);
}

static const char *nearest(const char *word) {
  static const char *const candidates[] = {"list", "lesson", "split_sums", "w1"};
  suggestion near;
  suggest_begin(&near, word);
  for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) suggest_try(&near, candidates[i]);
  return suggest_best(&near);
}

static void suggestions(void **state) {
  (void)state;
  assert_string_equal(nearest("lsit"), "list");
  assert_string_equal(nearest("lessons"), "lesson");
  assert_string_equal(nearest("sums"), "split_sums");
  assert_string_equal(nearest("w2"), "w1");
  assert_null(nearest("banana"));
  assert_null(nearest(""));
  assert_null(nearest("q"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_stand_anywhere),
      cmocka_unit_test(what_is_not_given_is_zero),
      cmocka_unit_test(the_last_one_counts),
      cmocka_unit_test(some_are_all_kept_in_order),
      cmocka_unit_test(too_many_are_refused),
      cmocka_unit_test(two_dashes_end_the_options),
      cmocka_unit_test(help_needs_nothing_else),
      cmocka_unit_test(unknown_options_get_a_suggestion),
      cmocka_unit_test(whole_numbers_are_strict),
      cmocka_unit_test(seconds_are_strict),
      cmocka_unit_test(words_are_whole),
      cmocka_unit_test(values_and_flags_keep_apart),
      cmocka_unit_test(names_are_counted),
      cmocka_unit_test(foreign_words_are_cut),
      cmocka_unit_test(every_command_has_a_sound_table),
      cmocka_unit_test(distances),
      cmocka_unit_test(suggestions),
  };
  return cmocka_run_group_tests_name("args", tests, NULL, NULL);
}
