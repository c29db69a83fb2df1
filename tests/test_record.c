/* SPDX-License-Identifier: MIT */
/* test_record.c - the record of a report: fifteen fields, blanks, and claims that the report does not
 * support. */
#include "evidence_sample.h"
#include "folder.h"

#include "evidence/record.h"
#include "evidence/record_claims.h"
#include "ops/ops.h"

typedef struct findings {
  int count;
  int lines[64];
  char texts[64][400];
} findings;

static void keep(void *user, const record_finding *finding) {
  findings *all = user;
  assert_true(all->count < 64);
  all->lines[all->count] = finding->line;
  snprintf(all->texts[all->count++], sizeof all->texts[0], "%s", finding->text);
}

/* The record of the usual report, with every blank replaced by `words`; written beside it. */
static char *filled(const char *words) {
  char message[512];
  char hash[ASSAY_HASH_TEXT];
  const char *path = in_folder("r.json");
  sample_write(&sample_usual, assay_operators[0]->subject.name, path);
  report *from = report_load(path, message, sizeof message);
  assert_non_null(from);
  assert_true(assay_hash_file(path, hash));
  char *text = record_text(from, "r.json", hash);
  report_free(from);
  assert_non_null(text);
  char *result = NULL;
  size_t size;
  FILE *out = open_memstream(&result, &size);
  for (const char *at = text; *at != '\0';) {
    const size_t length = strcspn(at, "\n");
    if (strncmp(at, RECORD_BLANK, strlen(RECORD_BLANK)) == 0) {
      fprintf(out, "%s\n", words);
    } else {
      fprintf(out, "%.*s\n", (int)length, at);
    }
    at += length + (at[length] == '\n');
  }
  fclose(out);
  free(text);
  return result;
}

static int check(const char *text, findings *all) {
  assay_message why = {""};
  const char *path = in_folder("r.md");
  *all = (findings){.count = 0};
  assert_true(assay_write_file(path, text, strlen(text), 0600));
  const int count = record_check(path, keep, all, &why);
  assert_int_equal(count, all->count);
  return count;
}

static void test_fifteen_fields_and_their_blanks(void **state) {
  (void)state;
  findings all;
  char *blank = record_text(NULL, "", "");
  assert_int_equal(check(blank, &all), RECORD_FIELDS);
  for (int i = 0; i < RECORD_FIELDS; i++) {
    assert_non_null(strstr(blank, record_titles[i]));
    assert_non_null(strstr(all.texts[i], record_titles[i]));
    assert_non_null(strstr(all.texts[i], "is blank"));
  }
  free(blank);
  assert_int_equal(check("# nothing\n", &all), RECORD_FIELDS);
  assert_non_null(strstr(all.texts[0], "is missing"));
}

/* Five fields are a person's: the question, what was changed, the claim, what is not shown, what comes next.
 */
static void test_a_report_fills_in_what_it_knows(void **state) {
  (void)state;
  findings all;
  char *text = filled(RECORD_BLANK " still");
  assert_int_equal(check(text, &all), 5);
  free(text);
  text = filled("Nothing more is said.");
  if (check(text, &all) != 0) fail_msg("line %d: %s", all.lines[0], all.texts[0]);
  assert_non_null(strstr(text, "64x64: fast < 0.7 * plain"));
  assert_non_null(strstr(text, "softmax of every row"));
  assert_non_null(strstr(text, "assay bench"));
  assert_non_null(strstr(text, "plain / fast"));
  free(text);
}

/* ---- what a person may and may not write --------------------------------------------------------------- */

static void test_claims_that_hold(void **state) {
  (void)state;
  static const char *const good[] = {
      "fast is faster than plain at both shapes.",
      "At 64x64 we saw 2.0x: plain / fast.",
      "2x: plain / fast, and even against plain cannot be told.",
      "plain is slower than fast.",
      "Is fast faster at other shapes too?",
      "fast is not faster everywhere.",
      "256x257 was not measured.",
      "fast took 20 us at the median.",
  };
  findings all;
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    char *text = filled(good[i]);
    if (check(text, &all) != 0) fail_msg("%s: line %d: %s", good[i], all.lines[0], all.texts[0]);
    free(text);
  }
}

static void test_claims_that_do_not_hold(void **state) {
  (void)state;
  static const struct {
    const char *claim, *word;
  } bad[] = {
      {"We got 2.5x: plain / fast.", "the report gives"},
      {"We got 2.0x.", "BASELINE / CANDIDATE"},
      {"We got 2.0x: fast.", "BASELINE / CANDIDATE"},
      {"We got 0.5x: plain / fast.", "the report gives"},
      {"even is faster than plain.", "is \"same\""},
      {"plain is faster than fast.", "is \"slower\""},
      {"fast is faster.", "name the two variants"},
      {"fast won.", "name the two variants"},
      {"fast is 50 % faster than plain.", "has no denominator"},
      {"fast runs 2 times faster than plain.", "has no denominator"},
      {"The best run of fast gives 2.0x: plain / fast.", "best sample"},
      {"fast took 7.25 us.", "no variant of the report has this median"},
      {"With events 2.0x: plain / fast, with graph the same.", "two timing modes"},
      {"Warm or cold it was 2.0x: plain / fast.", "warm and cold"},
      {"9x: other / fast", "BASELINE / CANDIDATE"},
  };
  findings all;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char *text = filled(bad[i].claim);
    bool found = check(text, &all) > 0;
    bool said = false;
    for (int k = 0; k < all.count; k++) said = said || strstr(all.texts[k], bad[i].word) != NULL;
    if (!found || !said) fail_msg("%s: %d findings, the first: %s", bad[i].claim, all.count, all.texts[0]);
    free(text);
  }
}

/* The smallest sample of a variant, to four digits, is a best-sample report. */
static void test_the_smallest_sample(void **state) {
  (void)state;
  findings all;
  char claim[64];
  char message[512];
  free(filled(""));
  report *from = report_load(in_folder("r.json"), message, sizeof message);
  assert_non_null(from);
  snprintf(claim, sizeof claim, "fast took %.3f us.",
           from->cases.items[0].variants.items[0].statistics->min_ns * 1e-3);
  report_free(from);
  char *text = filled(claim);
  assert_true(check(text, &all) > 0);
  assert_non_null(strstr(all.texts[0], "smallest sample"));
  free(text);
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static void test_rows_are_those_of_the_report(void **state) {
  (void)state;
  findings all;
  char *text = filled("Nothing more is said.");
  char *row = strstr(text, "| plain |");
  assert_non_null(row);
  char *digit = row + strlen("| plain | ");
  *digit = *digit == '9' ? '8' : '9';
  assert_int_equal(check(text, &all), 2); /* a row that the report does not give, and one that is missing */
  free(text);

  text = filled("Nothing more is said.");
  row = strstr(text, ": plain / even");
  assert_non_null(row);
  char *begin = row;
  while (begin[-1] != '\n') begin--;
  char *end = strchr(row, '\n') + 1;
  memmove(begin, end, strlen(end) + 1);
  assert_int_equal(check(text, &all), 1);
  assert_non_null(strstr(all.texts[0], "is missing"));
  free(text);
}

static void test_the_report_must_be_the_one(void **state) {
  (void)state;
  findings all;
  char *text = filled("Nothing more is said.");
  sample_plan other = sample_usual;
  other.seed = 99;
  sample_write(&other, assay_operators[0]->subject.name, in_folder("r.json"));
  assert_true(check(text, &all) >= 1);
  assert_non_null(strstr(all.texts[0], "not the one that this record is about"));
  free(text);
}

/* Two reports of different cache states in one record. */
static void test_mixed_reports(void **state) {
  (void)state;
  findings all;
  char hash[ASSAY_HASH_TEXT];
  char line[300];
  sample_plan cold = sample_usual;
  cold.cache = "cold";
  sample_write(&cold, assay_operators[0]->subject.name, in_folder("cold.json"));
  assert_true(assay_hash_file(in_folder("cold.json"), hash));
  snprintf(line, sizeof line, "- report: `cold.json`, SHA-256 %s\n- command", hash);
  char *text = filled("Nothing more is said.");
  char *place = strstr(text, "- command");
  assert_non_null(place);
  char *both = NULL;
  size_t size;
  FILE *out = open_memstream(&both, &size);
  fprintf(out, "%.*s%s%s", (int)(place - text), text, line, place + strlen("- command"));
  fclose(out);
  check(both, &all);
  bool said = false;
  for (int i = 0; i < all.count; i++) said = said || strstr(all.texts[i], "cache state") != NULL;
  assert_true(said);
  free(both);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_NEW_FOLDER(test_fifteen_fields_and_their_blanks),
      IN_NEW_FOLDER(test_a_report_fills_in_what_it_knows),
      IN_NEW_FOLDER(test_claims_that_hold),
      IN_NEW_FOLDER(test_claims_that_do_not_hold),
      IN_NEW_FOLDER(test_the_smallest_sample),
      IN_NEW_FOLDER(test_rows_are_those_of_the_report),
      IN_NEW_FOLDER(test_the_report_must_be_the_one),
      IN_NEW_FOLDER(test_mixed_reports),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
