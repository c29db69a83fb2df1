/* SPDX-License-Identifier: MIT */
/* cmd_explain.c - `assay explain`: the worked example of an exercise, step by step, with the learner's
 * numbers.
 */
#include "cli.h"
#include "exercise.h"
#include "output.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXPLAIN_VALUES = 0, EXPLAIN_OPTIONS };

static const cli_option options[EXPLAIN_OPTIONS] = {
    [EXPLAIN_VALUES] = {"values", OPTION_TEXT, "A,B,...", NULL, 0, 0,
                        "numbers of your own, with commas between them; default: those of the lesson"},
};

/* How many numbers the text has room for: one more than it has commas. */
static size_t most_numbers(const char *text) {
  size_t count = 1;
  for (; *text != '\0'; text++) count += *text == ',';
  return count;
}

/* Reads "1,2.5,-inf" into `values`; the count, or -1 after an error message. */
static int parse(const char *text, double *values) {
  int count = 0;
  for (const char *at = text;; at++) {
    char *end;
    values[count] = strtod(at, &end);
    while (isspace((unsigned char)*end)) end++;
    if (end == at || (*end != ',' && *end != '\0')) {
      output_error("--values takes numbers with commas between them, such as 1,2.5,-inf, not \"%.*s\"",
                   (int)strcspn(at, ","), at);
      return -1;
    }
    count++;
    if (*end == '\0') return count;
    at = end;
  }
}

/* What the number of values should be, as words. */
static void format_counts(const assay_walkthrough *explain, char text[64]) {
  if (explain->least == explain->most) {
    snprintf(text, 64, "%d numbers", explain->least);
  } else {
    snprintf(text, 64, "%d to %d numbers", explain->least, explain->most);
  }
}

static int explain(const assay_exercise *exercise, const double *values, int count) {
  const assay_walkthrough *steps = exercise->explain;
  char counts[64];
  assay_message why = {""};
  format_counts(steps, counts);
  if (count < steps->least || count > steps->most) {
    output_error("--values of %s takes %s, not %d: %s", exercise->name, counts, count, steps->values);
    return CLI_USAGE;
  }
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) {
    output_error("there is no memory for the steps: %s", strerror(errno));
    return CLI_FAILED;
  }
  const bool written = steps->write(values, count, out, &why);
  const bool whole = fclose(out) == 0;
  if (written && whole) {
    printf("%s: %s\n", exercise->title, exercise->subject->formula);
    fwrite(text, 1, size, stdout);
    printf("your own: " PROGRAM " explain %s --values ..., %s: %s\n", exercise->name, counts, steps->values);
  } else {
    output_error("--values of %s: %s", exercise->name, written ? strerror(errno) : why.text);
  }
  free(text);
  return written && whole ? CLI_OK : whole ? CLI_USAGE : CLI_FAILED;
}

static int run_explain(const cli_args *args) {
  const assay_exercise *exercise = exercise_named(args->names[0]);
  if (exercise == NULL) return CLI_USAGE;
  if (exercise->explain == NULL) {
    output_error("%s has no example to explain: " PROGRAM " lesson %s", exercise->name, exercise->name);
    return CLI_UNAVAILABLE;
  }
  const char *text = args->values[EXPLAIN_VALUES].text;
  if (text == NULL) return explain(exercise, exercise->explain->example, exercise->explain->example_count);
  double *values = calloc(most_numbers(text), sizeof *values);
  if (values == NULL) {
    output_error("there is no memory for so many values");
    return CLI_FAILED;
  }
  const int count = parse(text, values);
  const int code = count < 0 ? CLI_USAGE : explain(exercise, values, count);
  free(values);
  return code;
}

static const char *const examples[] = {"explain NAME", "explain NAME --values 3,1,2,3,4,5,6,7", NULL};

const cli_command command_explain = {
    .name = "explain",
    .summary = "see the worked example step by step, with your numbers",
    .about = "Prints the worked example of an exercise step by step, with the numbers of its lesson or with "
             "your own. The last line says what the numbers are and how many there may be.",
    .names = "NAME",
    .names_min = 1,
    .names_max = 1,
    .examples = examples,
    .options = options,
    .option_count = EXPLAIN_OPTIONS,
    .run = run_explain,
};
