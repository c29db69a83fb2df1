/* SPDX-License-Identifier: MIT */
/* check_report.c - text and JSON of a run of checks. */
#include "check_report.h"

#include "cli.h"
#include "core/json.h"

#include <stdio.h>
#include <string.h>

static output_style style_of(verdict value) {
  switch (value) {
  case VERDICT_PASS:
    return OUTPUT_GOOD;
  case VERDICT_TODO:
  case VERDICT_UNAVAILABLE:
    return OUTPUT_OPEN;
  default:
    return OUTPUT_BAD;
  }
}

static bool is_failure(verdict value) {
  return style_of(value) == OUTPUT_BAD;
}

void check_report_begin(check_report *report, output_colour colour, bool json) {
  *report = (check_report){.json = json, .files = json_array(), .checks = json_array()};
  output_begin(&report->out, colour);
}

void check_report_free(check_report *report) {
  json_decref(report->files);
  json_decref(report->checks);
}

void check_report_file(check_report *report, const assay_exercise *exercise, const char *backend,
                       const char *variant, const char *path, const char *sha256, const char *note) {
  json_array_append_new(report->files,
                        json_pack("{s:s, s:s, s:s, s:o, s:s}", "workshop", exercise->name, "backend", backend,
                                  "variant", variant, "path", assay_json_text(path), "sha256", sha256));
  if (!report->json) printf("checking %s  sha256 %s%s\n", path, sha256, note);
}

void check_report_target(check_report *report, const assay_subject *subject, assay_scope scope,
                         assay_backend backend, assay_tier tier, const char *heading) {
  report->name = subject->name;
  report->expected = check_count(subject, scope, backend, tier);
  report->seen = 0;
  report->passed = 0;
  report->unfinished_stage[0] = '\0';
  report->name_width = 0;
  for (int i = 0; subject->checks[i].name != NULL; i++) {
    const int width = (int)strlen(subject->checks[i].name);
    if (width > report->name_width) report->name_width = width;
  }
  if (heading != NULL && !report->json) printf("%s\n", heading);
  output_progress(&report->out, "%s: building", report->name);
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static void print_verdict(check_report *report, verdict value) {
  output_word(&report->out, style_of(value), verdict_name(value));
  fputs("  ", stdout);
}

/* Every line of `text` indented below the check's name. */
static void print_indented(const char *text) {
  while (*text != '\0') {
    const int length = (int)strcspn(text, "\n");
    printf("      %.*s\n", length, text);
    text += length;
    if (*text == '\n') text++;
  }
}

static void print_failure(check_report *report, const check_result *result) {
  print_verdict(report, result->verdict);
  printf("%-*s  %s\n", report->name_width, result->check, result->reason);
  if (report->failures_shown++ > 0) return;
  print_indented(result->detail);
  if (result->catches[0] != '\0') printf("      catches: %s\n", result->catches);
  if (result->repeat[0] != '\0') printf("      repeat:  %s\n", result->repeat);
}

/* One line says it for a starter, and one a stage for a kernel that is written in part. */
static void print_unfinished(check_report *report, const check_result *result) {
  const bool first = report->unfinished_stage[0] == '\0';
  if (!first && (report->passed == 0 || strcmp(report->unfinished_stage, result->stage) == 0)) return;
  snprintf(report->unfinished_stage, sizeof report->unfinished_stage, "%s", result->stage);
  print_verdict(report, result->verdict);
  if (report->passed == 0) {
    printf("%s is not written yet\n", result->workshop);
  } else {
    printf("%-*s  %s\n", report->name_width, result->check, result->reason);
  }
}

static void print_result(check_report *report, const check_result *result) {
  output_clear(&report->out);
  if (result->verdict == VERDICT_PASS) {
    if (report->failures_only) return;
    print_verdict(report, result->verdict);
    printf("%-*s  (%d case%s)\n", report->name_width, result->check, result->cases,
           result->cases == 1 ? "" : "s");
  } else if (result->verdict == VERDICT_TODO) {
    print_unfinished(report, result);
  } else if (is_failure(result->verdict)) {
    print_failure(report, result);
  } else {
    print_verdict(report, result->verdict);
    printf("%-*s  %s\n", report->name_width, result->check, result->reason);
  }
}

/* ---- results ------------------------------------------------------------------------------------------- */

static void keep_result(check_report *report, const check_result *result) {
  json_t *entry = json_object();
  json_object_set_new(entry, "workshop", json_string(result->workshop));
  json_object_set_new(entry, "backend", json_string(result->backend));
  json_object_set_new(entry, "variant", json_string(result->variant));
  json_object_set_new(entry, "check", json_string(result->check));
  json_object_set_new(entry, "stage", json_string(result->stage));
  json_object_set_new(entry, "verdict", json_string(verdict_name(result->verdict)));
  json_object_set_new(entry, "reason", assay_json_text(result->reason));
  json_object_set_new(entry, "detail", assay_json_text(result->detail));
  json_object_set_new(entry, "repeat", assay_json_text(result->repeat));
  json_object_set_new(entry, "cases", json_integer(result->cases));
  json_object_set_new(entry, "seconds", assay_json_number(result->seconds));
  json_array_append_new(report->checks, entry);
}

void check_report_result(void *user, const check_result *result) {
  check_report *report = user;
  report->seen++;
  if (result->verdict == VERDICT_PASS) report->passed++;
  keep_result(report, result);
  if (!report->json) print_result(report, result);
  output_progress(&report->out, "%s, %s: %d of %d checks", report->name, result->variant, report->seen,
                  report->expected);
}

void check_report_missing(check_report *report, const check_result *result) {
  keep_result(report, result);
  check_totals_add(&report->totals, result->verdict);
  if (report->json) return;
  print_verdict(report, result->verdict);
  printf("%s, %s: %s\n", result->workshop, result->variant, result->reason);
}

static void print_failures_again(check_report *report) {
  if (report->totals.failed == 0) return;
  puts("\nfailures:");
  size_t index;
  json_t *check;
  json_array_foreach(report->checks, index, check) {
    const char *word = json_string_value(json_object_get(check, "verdict"));
    for (int value = 0; value < VERDICT_COUNT; value++) {
      if (!is_failure((verdict)value) || strcmp(word, verdict_name((verdict)value)) != 0) continue;
      fputs("  ", stdout);
      print_verdict(report, (verdict)value);
      printf("%s, %s: %s\n", json_string_value(json_object_get(check, "workshop")),
             json_string_value(json_object_get(check, "variant")),
             json_string_value(json_object_get(check, "check")));
    }
  }
}

static void print_totals(const check_totals *totals) {
  printf("%d passed, %d failed", totals->passed, totals->failed);
  if (totals->unfinished > 0) printf(", %d unfinished", totals->unfinished);
  if (totals->unavailable > 0) printf(", %d unavailable", totals->unavailable);
  if (totals->not_run > 0) printf(", %d not run", totals->not_run);
  putchar('\n');
}

void check_report_end(check_report *report, uint64_t seed, assay_tier tier) {
  output_clear(&report->out);
  const check_totals *totals = &report->totals;
  if (report->json) {
    json_t *answer =
        json_pack("{s:i, s:i, s:i, s:i, s:i, s:I, s:s, s:b, s:O, s:O}", "passed", totals->passed, "failed",
                  totals->failed, "unfinished", totals->unfinished, "unavailable", totals->unavailable,
                  "not_run", totals->not_run, "seed", (json_int_t)seed, "tier", cli_tier_names[tier],
                  "interrupted", check_interrupted(), "files", report->files, "checks", report->checks);
    assay_json_print(answer, stdout);
    json_decref(answer);
    return;
  }
  print_failures_again(report);
  printf("\nseed %llu, tier %s\n", (unsigned long long)seed, cli_tier_names[tier]);
  if (check_interrupted()) {
    puts("interrupted: the checks that are left were not run");
  } else if (report->next[0] != '\0') {
    printf("next: %s\n", report->next);
  }
  print_totals(totals);
}
