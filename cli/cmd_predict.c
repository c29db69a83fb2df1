/* SPDX-License-Identifier: MIT */
/* cmd_predict.c - `assay predict`: a hypothesis before the timing, and what became of it. */
#include "cli.h"
#include "core/json.h"
#include "evidence/predict_check.h"
#include "evidence/verify.h"
#include "output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PREDICT_JSON = 0, PREDICT_COLOUR, PREDICT_OPTIONS };

static const cli_option predict_options[PREDICT_OPTIONS] = {
    [PREDICT_JSON] = CLI_OPTION_JSON,
    [PREDICT_COLOUR] = CLI_OPTION_COLOUR,
};

/* The claims as one text, a line each; to be freed. */
static char *join(const char *const *words, int count) {
  size_t size = 1;
  for (int i = 0; i < count; i++) size += strlen(words[i]) + 1;
  char *text = malloc(size);
  if (text == NULL) return NULL;
  text[0] = '\0';
  for (int i = 0; i < count; i++) {
    if (i > 0) strcat(text, "\n");
    strcat(text, words[i]);
  }
  return text;
}

static int run_new(const cli_args *args) {
  if (args->name_count < 3) {
    output_error("predict new needs a file and a claim: " PROGRAM
                 " predict new p.json \"avx2 < 0.5 * plain\"");
    return CLI_USAGE;
  }
  const char *path = args->names[1];
  prediction declared;
  assay_message why = {""};
  char *text = join(args->names + 2, args->name_count - 2);
  if (text == NULL || !prediction_make(text, &declared, &why)) {
    output_error("%s", text != NULL ? why.text : "out of memory");
    free(text);
    return CLI_USAGE;
  }
  free(text);
  const bool saved = prediction_save(&declared, path, &why);
  if (!saved) {
    output_error("%s", why.text);
  } else if (args->values[PREDICT_JSON].given) {
    json_t *answer = json_pack("{s:o, s:i, s:s, s:s}", "file", assay_json_text(path), "claims",
                               declared.count, "created", declared.created, "hash", declared.hash);
    assay_json_print(answer, stdout);
    json_decref(answer);
  } else {
    printf("wrote %s: %d claim%s, %s, %.12s\n", path, declared.count, declared.count == 1 ? "" : "s",
           declared.created, declared.hash);
    printf("next: " PROGRAM " bench NAME --prediction %s -o r.json, then " PROGRAM " predict check r.json\n",
           path);
  }
  prediction_free(&declared);
  return saved ? CLI_OK : CLI_FAILED;
}

typedef struct predict_run {
  output out;
  json_t *results; /* NULL: text */
  int fates[3];
} predict_run;

static void take_result(void *user, const claim_result *result) {
  static const output_style styles[] = {OUTPUT_GOOD, OUTPUT_BAD, OUTPUT_OPEN};
  predict_run *run = user;
  const prediction_claim *claim = result->claim;
  const char *place = result->one != NULL ? result->one->name : claim->shape;
  run->fates[result->fate]++;
  if (run->results != NULL) {
    json_t *entry = json_pack("{s:o, s:o, s:o, s:o, s:s, s:f, s:o, s:o, s:o, s:s, s:s}", "operator",
                              result->one != NULL ? json_string(result->one->op) : json_null(), "case",
                              assay_json_text(place), "left", assay_json_text(claim->left), "right",
                              assay_json_text(claim->right), "sign", claim->below ? "<" : ">", "factor",
                              claim->factor, "ratio", assay_json_number(result->ratio), "low",
                              assay_json_number(result->low), "high", assay_json_number(result->high), "fate",
                              claim_fate_names[result->fate], "reason", result->reason);
    json_array_append_new(run->results, entry);
    return;
  }
  output_word(&run->out, styles[result->fate], claim_fate_names[result->fate]);
  printf("  %s%s%s: %s %s %g * %s", result->one != NULL ? result->one->op : "",
         result->one != NULL ? ", " : "", place, claim->left, claim->below ? "<" : ">", claim->factor,
         claim->right);
  if (!isnan(result->ratio)) printf("; measured %.3gx: %s / %s", result->ratio, claim->left, claim->right);
  if (!isnan(result->low)) printf(" (%.3g to %.3g)", result->low, result->high);
  printf("%s%s\n", result->reason[0] != '\0' ? "; " : "", result->reason);
}

static int judge(predict_run *run, const report *loaded, const char *file) {
  prediction declared = {.text = NULL};
  assay_message why = {""};
  if (loaded->prediction == NULL) {
    output_error(
        "%s holds no prediction: it is an exploratory run; declare one before timing with bench --prediction",
        file);
    return CLI_USAGE;
  }
  if (!prediction_parse(loaded->prediction->text, &declared, &why)) {
    output_error("%s: %s", file, why.text);
    return CLI_FAILED;
  }
  if (run->results == NULL)
    printf("declared %s, measured %s\n", loaded->prediction->created, loaded->created);
  prediction_judge(loaded, &declared, take_result, run);
  const int *fates = run->fates;
  if (run->results != NULL) {
    json_t *answer =
        json_pack("{s:O, s:i, s:i, s:i}", "claims", run->results, "supported", fates[CLAIM_SUPPORTED],
                  "refuted", fates[CLAIM_REFUTED], "cannot_tell", fates[CLAIM_CANNOT_TELL]);
    assay_json_print(answer, stdout);
    json_decref(answer);
  } else {
    printf("%d supported, %d refuted, %d cannot be told\n", fates[CLAIM_SUPPORTED], fates[CLAIM_REFUTED],
           fates[CLAIM_CANNOT_TELL]);
  }
  return fates[CLAIM_REFUTED] > 0 ? CLI_FAILED : fates[CLAIM_CANNOT_TELL] > 0 ? CLI_CANNOT_TELL : CLI_OK;
}

static int run_check(const cli_args *args) {
  if (args->name_count != 2) {
    output_error("predict check takes one report: " PROGRAM " predict check r.json");
    return CLI_USAGE;
  }
  const char *file = args->names[1];
  verify_outcome outcome;
  assay_message why = {""};
  if (!verify_quietly(file, VERIFY_NUMBERS, &outcome, &why)) {
    output_error("%s%s", why.text, outcome.findings > 0 ? ": not valid, so it supports nothing" : "");
    return outcome.findings > 0 ? CLI_FAILED : CLI_USAGE;
  }
  char message[512];
  report *loaded = report_load(file, message, sizeof message);
  if (loaded == NULL) {
    output_error("%s", message);
    return CLI_FAILED;
  }
  predict_run run = {.results = args->values[PREDICT_JSON].given ? json_array() : NULL};
  output_begin(&run.out, (output_colour)args->values[PREDICT_COLOUR].choice);
  const int code = judge(&run, loaded, file);
  json_decref(run.results);
  report_free(loaded);
  return code;
}

static int run_predict(const cli_args *args) {
  if (strcmp(args->names[0], "new") == 0) return run_new(args);
  if (strcmp(args->names[0], "check") == 0) return run_check(args);
  output_error("predict takes new or check first, not \"%.60s\": " PROGRAM " help predict", args->names[0]);
  return CLI_USAGE;
}

static const char *const predict_examples[] = {
    "predict new p.json \"256x257: avx512 < 0.5 * plain\"",
    "predict new p.json \"avx2 < 0.7 * plain\" \"avx512 < 1 * avx2\"",
    "bench OPERATOR --library --prediction p.json -o r.json", "predict check r.json", NULL};

const cli_command command_predict = {
    .name = "predict",
    .summary = "write a hypothesis down before timing, and judge it after",
    .about = "\"new\" keeps claims of the form [SHAPE:] VARIANT (<|>) FACTOR * VARIANT in a file, with the "
             "date and a "
             "hash: the first variant takes less (or more) than FACTOR times the time of the second, at that "
             "shape or at "
             "every one. bench --prediction binds the file to its report. \"check\" holds the claims of a "
             "report against "
             "its samples: supported or refuted when the whole interval lies on one side of the factor, else "
             "it cannot "
             "be told. Exit code 0: all supported, 1: one refuted, 8: one cannot be told.",
    .names = "new FILE CLAIM... | check REPORT",
    .names_min = 1,
    .names_max = CLI_MAX_NAMES,
    .examples = predict_examples,
    .options = predict_options,
    .option_count = PREDICT_OPTIONS,
    .run = run_predict,
};
