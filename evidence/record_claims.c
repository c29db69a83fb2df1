/* SPDX-License-Identifier: MIT */
/* record_claims.c - finds numbers and comparing words in prose, and what the report says about them. */
#include "record_claims.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pairs.h"
#include "predict_check.h"

typedef struct line_check {
  const report *from;
  const char *line;
  record_problem *problem;
  void *user;
} line_check;

static void say(const line_check *self, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(const line_check *self, const char *format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  self->problem(self->user, text);
}

/* ---- words --------------------------------------------------------------------------------------------- */

/* Characters of which names of variants are made. */
static bool in_name(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '=' || c == '.';
}

/* Whether a name or a number cannot go on at `at`: a point ends a sentence unless something follows it. */
static bool name_ends(const char *at) {
  return !in_name(*at) || (*at == '.' && !in_name(at[1]));
}

/* The next place of `word`, letter case ignored, that is not part of a longer name; NULL when there is none.
 */
static const char *find_word(const char *line, const char *word) {
  const size_t length = strlen(word);
  for (const char *at = line; *at != '\0'; at++) {
    if (strncasecmp(at, word, length) != 0 || (at > line && in_name(at[-1]))) continue;
    if (name_ends(at + length)) return at;
  }
  return NULL;
}

static bool any_word(const char *line, const char *const *words) {
  for (int i = 0; words[i] != NULL; i++) {
    if (find_word(line, words[i]) != NULL) return true;
  }
  return false;
}

/* The variant named first at or behind `line`; the longest name wins where several begin. */
static const char *first_variant(const line_check *self, const char *line, const char **behind) {
  const char *best = NULL;
  const char *place = NULL;
  for (int64_t i = 0; self->from != NULL && i < self->from->cases.count; i++) {
    const report_case *one = &self->from->cases.items[i];
    for (int64_t v = 0; v < one->variants.count; v++) {
      const char *name = one->variants.items[v].name;
      const char *at = find_word(line, name);
      if (at == NULL || (place != NULL && (at > place || (at == place && strlen(name) <= strlen(best)))))
        continue;
      best = name;
      place = at;
    }
  }
  if (best != NULL) *behind = place + strlen(best);
  return best;
}

/* Whether the line names this case by its sizes, or names no case of the report at all. */
static bool about_case(const line_check *self, const report_case *one) {
  char sizes[128];
  bool named = false;
  for (int64_t i = 0; i < self->from->cases.count; i++) {
    report_case_sizes(&self->from->cases.items[i], sizes, sizeof sizes);
    if (find_word(self->line, sizes) == NULL) continue;
    named = true;
    if (&self->from->cases.items[i] == one) return true;
  }
  return !named;
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

/* Half a unit of the last digit written, so that 1.6 stands for 1.55 to 1.65. */
static double half_digit(const char *digits, size_t length) {
  const char *point = memchr(digits, '.', length);
  const int decimals = point != NULL ? (int)(digits + length - point) - 1 : 0;
  return 0.5 * pow(10.0, -decimals) * (1 + 1e-9);
}

/* The next number at or behind `at`, not part of a name or of sizes such as 256x257; NULL when there is none.
 */
static const char *next_number(const char *line, const char *at, size_t *length) {
  for (; *at != '\0'; at++) {
    if (!isdigit((unsigned char)*at)) continue;
    *length = strspn(at, "0123456789.");
    while (*length > 1 && at[*length - 1] == '.') --*length;
    const bool inside = at > line && (in_name(at[-1]) || at[-1] == '-');
    const bool sizes = at[*length] == 'x' && isdigit((unsigned char)at[*length + 1]);
    if (!inside && !sizes) return at;
    at += strspn(at, "0123456789.x") - 1;
  }
  return NULL;
}

/* ---- ratios -------------------------------------------------------------------------------------------- */

/* "BASELINE / CANDIDATE" behind a ratio. */
static bool take_names(const line_check *self, const char *at, const char **baseline,
                       const char **candidate) {
  const char *behind;
  *baseline = first_variant(self, at, &behind);
  if (*baseline == NULL) return false;
  behind += strspn(behind, " `");
  if (*behind != '/') return false;
  const char *rest = behind + 1;
  *candidate = first_variant(self, rest, &behind);
  return *candidate != NULL && strspn(rest, " `") == (size_t)(behind - strlen(*candidate) - rest);
}

static void check_ratio(const line_check *self, const char *number, size_t length) {
  const char *baseline;
  const char *candidate;
  const double value = strtod(number, NULL);
  double nearest = (double)NAN;
  if (self->from == NULL) {
    say(self, "%.*sx: no report is named in field 9 that could hold it", (int)length, number);
    return;
  }
  if (!take_names(self, number + length, &baseline, &candidate)) {
    say(self, "%.*sx: of what? Write \"%.*sx: BASELINE / CANDIDATE\" with the names of both variants",
        (int)length, number, (int)length, number);
    return;
  }
  for (int64_t i = 0; i < self->from->cases.count; i++) {
    const report_case *one = &self->from->cases.items[i];
    const report_variant *under = report_find_variant(one, candidate);
    const report_variant *over = report_find_variant(one, baseline);
    if (under == NULL || over == NULL || !about_case(self, one)) continue;
    pairs_ratio ratio;
    pairs_of(self->from, under, over, &ratio);
    if (fabs(ratio.ratio - value) <= half_digit(number, length)) return;
    if (isnan(nearest) || fabs(ratio.ratio - value) < fabs(nearest - value)) nearest = ratio.ratio;
  }
  if (isnan(nearest)) {
    say(self, "%.*sx: the report never measured %s and %s together", (int)length, number, baseline,
        candidate);
  } else {
    say(self, "%.*sx: the report gives %.4gx: %s / %s", (int)length, number, nearest, baseline, candidate);
  }
}

/* ---- times --------------------------------------------------------------------------------------------- */

/* Nanoseconds of the unit at `at`, 0 when there is none. */
static double unit_of(const char *at) {
  at += *at == ' ';
  static const struct {
    const char *name;
    double ns;
  } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}};
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (strncmp(at, units[i].name, 2) == 0 && name_ends(at + 2)) return units[i].ns;
  }
  return 0;
}

static void check_time(const line_check *self, const char *number, size_t length, double unit) {
  const double value = strtod(number, NULL);
  const double allowed = half_digit(number, length);
  bool is_extreme = false;
  for (int64_t i = 0; self->from != NULL && i < self->from->cases.count; i++) {
    const report_case *one = &self->from->cases.items[i];
    for (int64_t v = 0; v < one->variants.count; v++) {
      const report_statistics *statistics = one->variants.items[v].statistics;
      if (statistics == NULL) continue;
      if (fabs(statistics->median_ns / unit - value) <= allowed) return;
      if (fabs(statistics->min_ns / unit - value) <= allowed) is_extreme = true;
    }
  }
  if (is_extreme) {
    say(self, "%.*s: that is the smallest sample; what is typical is the median", (int)length, number);
  } else if (self->from != NULL) {
    say(self, "%.*s: no variant of the report has this median", (int)length, number);
  } else {
    say(self, "%.*s: no report is named in field 9 that could hold this time", (int)length, number);
  }
}

static bool check_numbers(const line_check *self) {
  static const char *const comparing[] = {"times", "%", "percent", NULL};
  static const char *const faster[] = {"faster", "slower", "quicker", "as fast", "speedup", NULL};
  bool any = false;
  size_t length;
  for (const char *at = self->line; (at = next_number(self->line, at, &length)) != NULL; at += length) {
    const char *rest = at + length;
    if (*rest == 'x' && name_ends(rest + 1)) {
      check_ratio(self, at, length);
      any = true;
      continue;
    }
    const double unit = unit_of(rest);
    if (unit > 0) {
      check_time(self, at, length, unit);
      any = true;
      continue;
    }
    rest += strspn(rest, " ");
    for (int i = 0; comparing[i] != NULL; i++) {
      if (strncasecmp(rest, comparing[i], strlen(comparing[i])) != 0 || !any_word(rest, faster)) continue;
      say(self, "%.*s %s: a share has no denominator; write \"1.64x: BASELINE / CANDIDATE\"", (int)length, at,
          comparing[i]);
      any = true;
    }
  }
  return any;
}

/* ---- words that compare -------------------------------------------------------------------------------- */

static void check_verdict(const line_check *self, const char *word, int64_t wanted) {
  const char *behind = self->line;
  const char *first = first_variant(self, self->line, &behind);
  const char *second = first != NULL ? first_variant(self, behind, &behind) : NULL;
  int judged = 0;
  if (second == NULL || strcmp(first, second) == 0) {
    say(self, "\"%s\": name the two variants that are compared", word);
    return;
  }
  for (int64_t i = 0; i < self->from->cases.count; i++) {
    const report_case *one = &self->from->cases.items[i];
    const report_variant *candidate = report_find_variant(one, first);
    const report_variant *baseline = report_find_variant(one, second);
    if (candidate == NULL || baseline == NULL || !about_case(self, one)) continue;
    pairs_ratio ratio;
    pairs_of(self->from, candidate, baseline, &ratio);
    judged++;
    if (ratio.verdict == wanted) continue;
    say(self, "\"%s\": %s against %s at %s is \"%s\"", word, first, second, one->name,
        report_verdict_names[ratio.verdict]);
    return;
  }
  if (judged == 0) say(self, "\"%s\": the report never measured %s and %s together", word, first, second);
}

static void check_words(const line_check *self) {
  static const struct {
    const char *word;
    int64_t verdict;
  } words[] = {{"faster", REPORT_FASTER}, {"quicker", REPORT_FASTER}, {"beats", REPORT_FASTER},
               {"wins", REPORT_FASTER},   {"won", REPORT_FASTER},     {"outperforms", REPORT_FASTER},
               {"slower", REPORT_SLOWER}, {"loses", REPORT_SLOWER},   {"lost", REPORT_SLOWER}};
  static const char *const hedges[] = {"not",   "no",     "cannot", "neither", "whether", "if", "may",
                                       "might", "unless", "expect", "would",   "could",   NULL};
  if (any_word(self->line, hedges) || strchr(self->line, '?') != NULL) return;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (find_word(self->line, words[i].word) == NULL) continue;
    if (self->from == NULL) {
      say(self, "\"%s\": no report is named in field 9 that could support it", words[i].word);
    } else {
      check_verdict(self, words[i].word, words[i].verdict);
    }
    return;
  }
}

static void check_mixture(const line_check *self, bool numbers) {
  static const char *const modes[] = {"wall", "events", "graph", NULL};
  int named = 0;
  for (int i = 0; modes[i] != NULL; i++) named += find_word(self->line, modes[i]) != NULL;
  if (numbers && named > 1) say(self, "two timing modes beside one number: they are separate experiments");
  if (numbers && find_word(self->line, "warm") != NULL && find_word(self->line, "cold") != NULL)
    say(self, "warm and cold beside one number: they are separate experiments");
}

void record_check_line(const report *from, const char *line, bool tentative, record_problem *problem,
                       void *user) {
  static const char *const extremes[] = {"best", "fastest", "minimum", "lowest", "min", NULL};
  const line_check self = {from, line, problem, user};
  const bool numbers = check_numbers(&self);
  check_mixture(&self, numbers);
  if (numbers && any_word(line, extremes)) say(&self, "a best sample is no typical time: report the median");
  if (!tentative) check_words(&self);
}
