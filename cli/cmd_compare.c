/* SPDX-License-Identifier: MIT */
/* cmd_compare.c - `assay compare OLD NEW`: what may be said about two reports together. */
#include "cli.h"
#include "core/json.h"
#include "evidence/match.h"
#include "evidence/predict_check.h"
#include "evidence/verify.h"
#include "output.h"

#include <math.h>
#include <stdio.h>

enum { COMPARE_JSON = 0, COMPARE_COLOUR, COMPARE_OPTIONS };

static const cli_option compare_options[COMPARE_OPTIONS] = {
    [COMPARE_JSON] = CLI_OPTION_JSON,
    [COMPARE_COLOUR] = CLI_OPTION_COLOUR,
};

typedef struct compare_run {
  output out;
  json_t *rows; /* NULL: text */
} compare_run;

static void keep_row(json_t *rows, const match_row *row) {
  json_t *entry = json_object();
  json_object_set_new(entry, "operator", json_string(row->left_case->op));
  json_object_set_new(entry, "case", assay_json_text(row->left_case->name));
  json_object_set_new(entry, "variant", assay_json_text(row->left->name));
  json_object_set_new(entry, "kind", json_string(match_kind_names[row->kind]));
  json_object_set_new(entry, "baseline",
                      row->baseline != NULL ? assay_json_text(row->baseline) : json_null());
  json_object_set_new(entry, "old_ratio", assay_json_number(row->left_ratio));
  json_object_set_new(entry, "new_ratio", assay_json_number(row->right_ratio));
  json_object_set_new(entry, "old_ns", assay_json_number(row->left_ns));
  json_object_set_new(entry, "new_ns", assay_json_number(row->right_ns));
  json_object_set_new(entry, "ratio", assay_json_number(row->ratio));
  json_object_set_new(entry, "low", assay_json_number(row->low));
  json_object_set_new(entry, "high", assay_json_number(row->high));
  json_object_set_new(entry, "confidence", assay_json_number(row->confidence));
  json_object_set_new(entry, "verdict", json_string(report_verdict_names[row->verdict]));
  json_object_set_new(entry, "reason", json_string(row->reason));
  json_array_append_new(rows, entry);
}

static void print_row(compare_run *run, const match_row *row) {
  static const output_style styles[] = {[REPORT_FASTER] = OUTPUT_GOOD,
                                        [REPORT_SLOWER] = OUTPUT_BAD,
                                        [REPORT_SAME] = OUTPUT_PLAIN,
                                        [REPORT_CANNOT_TELL] = OUTPUT_OPEN};
  printf("%s, %s, %s: ", row->left_case->op, row->left_case->name, row->left->name);
  output_word(&run->out, styles[row->verdict], report_verdict_names[row->verdict]);
  putchar('\n');
  if (row->baseline != NULL) {
    printf("    old %.3gx, new %.3gx: %s / %s\n", row->left_ratio, row->right_ratio, row->baseline,
           row->left->name);
  } else if (row->kind == MATCH_SEPARATE_RUNS) {
    printf("    separate runs: old %.4g us, new %.4g us a call\n", row->left_ns * 1e-3, row->right_ns * 1e-3);
  }
  if (!isnan(row->ratio)) {
    printf("    %.3gx: old %s / new %s", row->ratio, row->left->name, row->left->name);
    if (!isnan(row->low))
      printf(", %.0f %% interval %.3g to %.3g", 100 * row->confidence, row->low, row->high);
    printf("%s\n", row->kind == MATCH_RATIOS ? ", each by its baseline" : ", separate runs");
  }
  if (row->reason[0] != '\0') printf("    %s\n", row->reason);
}

static void take_row(void *user, const match_row *row) {
  compare_run *run = user;
  if (run->rows != NULL) {
    keep_row(run->rows, row);
  } else {
    print_row(run, row);
  }
}

/* A report whose numbers are sound, NULL after an error message. The sources need not be there any more. */
static report *load_sound(const char *file, int *code) {
  verify_outcome outcome;
  assay_message why = {""};
  *code = CLI_FAILED;
  if (!verify_quietly(file, VERIFY_NUMBERS, &outcome, &why)) {
    if (outcome.findings == 0) *code = CLI_USAGE;
    output_error("%s%s", why.text, outcome.findings > 0 ? ": not valid, nothing is compared" : "");
    return NULL;
  }
  char message[512];
  report *loaded = report_load(file, message, sizeof message);
  if (loaded == NULL) output_error("%s", message);
  return loaded;
}

static int finish(compare_run *run, const match_outcome *outcome) {
  const int code = outcome->slower > 0 ? CLI_SLOWER : outcome->undecided > 0 ? CLI_CANNOT_TELL : CLI_OK;
  if (run->rows != NULL) {
    json_t *answer = json_pack("{s:O, s:i, s:i, s:i, s:i, s:i}", "rows", run->rows, "compared", outcome->rows,
                               "slower", outcome->slower, "cannot_tell", outcome->undecided, "old_only",
                               outcome->left_only, "new_only", outcome->right_only);
    assay_json_print(answer, stdout);
    json_decref(answer);
    return code;
  }
  if (outcome->left_only + outcome->right_only > 0)
    printf("cases in one report only: %d old, %d new\n", outcome->left_only, outcome->right_only);
  printf("%d compared, %d slower, %d cannot be told\n", outcome->rows, outcome->slower, outcome->undecided);
  return code;
}

static int run_compare(const cli_args *args) {
  compare_run run = {.rows = args->values[COMPARE_JSON].given ? json_array() : NULL};
  match_outcome outcome;
  assay_message why = {""};
  int code = CLI_USAGE;
  output_begin(&run.out, (output_colour)args->values[COMPARE_COLOUR].choice);
  report *left = load_sound(args->names[0], &code);
  report *right = left != NULL ? load_sound(args->names[1], &code) : NULL;
  if (right != NULL) {
    if (match_reports(left, right, take_row, &run, &outcome, &why)) {
      code = finish(&run, &outcome);
    } else {
      output_error("%s and %s cannot be compared: %s", args->names[0], args->names[1], why.text);
      code = CLI_USAGE;
    }
  }
  report_free(left);
  report_free(right);
  json_decref(run.rows);
  return code;
}

static const char *const compare_examples[] = {"compare old.json new.json",
                                               "compare old.json new.json --json", NULL};

const cli_command command_compare = {
    .name = "compare",
    .summary = "say what changed between two reports",
    .about =
        "Compares the variants that two reports have in common, case by case: ratio, interval, verdict. "
        "Where both "
        "hold the same baseline, by the hash of its source, the ratios to it are compared, which takes out "
        "what "
        "slowed a whole run; else times, labelled \"separate runs\", and a difference below 5 % is not told. "
        "Reports of different timing modes, cache states or element types are refused, and times of two "
        "machines "
        "form no ratio. Exit code 0: everything the same or faster, 7: something slower, 8: something cannot "
        "be "
        "told.",
    .names = "OLD NEW",
    .names_min = 2,
    .names_max = 2,
    .examples = compare_examples,
    .options = compare_options,
    .option_count = COMPARE_OPTIONS,
    .run = run_compare,
};
