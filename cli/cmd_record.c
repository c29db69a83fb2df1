/* SPDX-License-Identifier: MIT */
/* cmd_record.c - `assay record new` and `record check`: the experiment record of a report. */
#include "cli.h"
#include "core/file.h"
#include "core/json.h"
#include "evidence/record.h"
#include "evidence/verify.h"
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD_JSON = 0, RECORD_OUTPUT, RECORD_OPTIONS };

static const cli_option record_options[RECORD_OPTIONS] = {
    [RECORD_JSON] = CLI_OPTION_JSON,
    [RECORD_OUTPUT] = {"output", OPTION_TEXT, "FILE", NULL, 0, 0,
                       "where new writes; by default beside the report, with .md for .json"},
};

/* ---- new ----------------------------------------------------------------------------------------------- */

/* "r.json" becomes "r.md". */
static bool default_name(const char *report_file, char path[ASSAY_PATH_SIZE]) {
  if (report_file == NULL) return assay_path_format(path, "record.md");
  const size_t length = strlen(report_file);
  const bool json = length > 5 && strcmp(report_file + length - 5, ".json") == 0;
  return assay_path_format(path, "%.*s.md", (int)(json ? length - 5 : length), report_file);
}

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

static bool same_folder(const char *left, const char *right) {
  const size_t length = (size_t)(base_of(left) - left);
  return length == (size_t)(base_of(right) - right) && strncmp(left, right, length) == 0;
}

/* How the record names the report: by its bare name beside it, else by its whole path. */
static bool name_from(const char *record_file, const char *report_file, char name[ASSAY_PATH_SIZE]) {
  if (same_folder(record_file, report_file)) return assay_path_format(name, "%s", base_of(report_file));
  return realpath(report_file, name) != NULL;
}

/* The record of a run of checks; NULL when the file holds none, or after an error message with a code. */
static char *text_of_checks(const char *file, const char *record_file, int *code) {
  char name[ASSAY_PATH_SIZE];
  char hash[ASSAY_HASH_TEXT];
  char *text = NULL;
  json_t *answer = record_load_checks(file);
  *code = CLI_OK;
  if (answer == NULL) return NULL;
  if (name_from(record_file, file, name) && assay_hash_file(file, hash))
    text = record_checks_text(answer, name, hash);
  if (text == NULL) {
    output_error("no record of %s can be made: %s", file, strerror(errno));
    *code = CLI_FAILED;
  }
  json_decref(answer);
  return text;
}

/* The record's text, NULL after an error message. */
static char *text_for(const char *report_file, const char *record_file, int *code) {
  char message[512];
  char name[ASSAY_PATH_SIZE];
  char hash[ASSAY_HASH_TEXT];
  verify_outcome outcome;
  assay_message why = {""};
  *code = CLI_FAILED;
  if (report_file == NULL) return record_text(NULL, "", "");
  char *checked = text_of_checks(report_file, record_file, code);
  if (checked != NULL || *code != CLI_OK) return checked;
  *code = CLI_FAILED;
  if (!verify_quietly(report_file, VERIFY_NUMBERS, &outcome, &why)) {
    if (outcome.findings == 0) *code = CLI_USAGE;
    output_error("%s%s", why.text, outcome.findings > 0 ? ": not valid, no record is made of it" : "");
    return NULL;
  }
  report *loaded = report_load(report_file, message, sizeof message);
  if (loaded == NULL || !name_from(record_file, report_file, name) || !assay_hash_file(report_file, hash)) {
    output_error("%s", loaded == NULL ? message : strerror(errno));
    report_free(loaded);
    return NULL;
  }
  char *text = record_text(loaded, name, hash);
  report_free(loaded);
  if (text == NULL) output_error("out of memory");
  return text;
}

static int run_new(const cli_args *args) {
  const char *report_file = args->name_count > 1 ? args->names[1] : NULL;
  const char *wanted = args->values[RECORD_OUTPUT].text;
  char path[ASSAY_PATH_SIZE];
  int code;
  if (args->name_count > 2) {
    output_error("record new takes at most one report: \"%.60s\" is too many", args->names[2]);
    return CLI_USAGE;
  }
  if (wanted != NULL ? !assay_path_format(path, "%s", wanted) : !default_name(report_file, path)) {
    output_error("the name of the record is too long");
    return CLI_USAGE;
  }
  char *text = text_for(report_file, path, &code);
  if (text == NULL) return code;
  const bool written = assay_create_file(path, text, strlen(text), 0666);
  const int reason = errno;
  free(text);
  if (!written) {
    if (reason == EEXIST) {
      output_error("%s exists: a record is never overwritten, give another name with --output", path);
    } else {
      output_error("cannot write %s: %s", path, strerror(reason));
    }
    return CLI_FAILED;
  }
  if (args->values[RECORD_JSON].given) {
    json_t *answer = json_pack("{s:o}", "file", assay_json_text(path));
    assay_json_print(answer, stdout);
    json_decref(answer);
  } else {
    printf("wrote %s\nnext: fill in what is marked (blank), then " PROGRAM " record check %s\n", path, path);
  }
  return CLI_OK;
}

/* ---- check --------------------------------------------------------------------------------------------- */

typedef struct record_run {
  const char *file;
  json_t *findings; /* NULL: text */
} record_run;

static void take_finding(void *user, const record_finding *finding) {
  const record_run *run = user;
  if (run->findings != NULL) {
    json_array_append_new(run->findings, json_pack("{s:i, s:o}", "line", finding->line, "text",
                                                   assay_json_text(finding->text)));
  } else {
    printf("%s:%d: %s\n", run->file, finding->line, finding->text);
  }
}

static int run_check(const cli_args *args) {
  assay_message why = {""};
  if (args->name_count != 2) {
    output_error("record check takes one record: " PROGRAM " record check r.md");
    return CLI_USAGE;
  }
  record_run run = {.file = args->names[1],
                    .findings = args->values[RECORD_JSON].given ? json_array() : NULL};
  const int count = record_check(run.file, take_finding, &run, &why);
  if (count < 0) {
    output_error("%s", why.text);
  } else if (run.findings != NULL) {
    json_t *answer = json_pack("{s:o, s:O}", "file", assay_json_text(run.file), "findings", run.findings);
    assay_json_print(answer, stdout);
    json_decref(answer);
  } else {
    printf("%s: %d finding%s\n", run.file, count, count == 1 ? "" : "s");
  }
  json_decref(run.findings);
  if (count < 0) return CLI_USAGE;
  return count > 0 ? CLI_FAILED : CLI_OK;
}

static int run_record(const cli_args *args) {
  if (strcmp(args->names[0], "new") == 0) return run_new(args);
  if (strcmp(args->names[0], "check") == 0) return run_check(args);
  output_error("record takes new or check first, not \"%.60s\": " PROGRAM " help record", args->names[0]);
  return CLI_USAGE;
}

static const char *const record_examples[] = {"record new r.json", "record new --output notes.md",
                                              "record check r.md", NULL};

const cli_command command_record = {
    .name = "record",
    .summary = "write the experiment record of a report, and check it",
    .about = "\"new\" writes a Markdown file of fifteen fields, about a report of bench or about what check "
             "--json has answered. What the report knows is filled in; what "
             "only a person "
             "knows is marked (blank); without a report all of it is. It never overwrites. \"check\" finds "
             "blanks, rows "
             "that were changed or left out, and claims that the report does not support: a ratio that it "
             "does not hold "
             "or that has no named denominator, \"faster\" where the verdict is another, a best sample in "
             "place of the "
             "median, two timing modes or cache states beside one number. Exit code 1: a finding.",
    .names = "new [REPORT] | check RECORD",
    .names_min = 1,
    .names_max = 3,
    .examples = record_examples,
    .options = record_options,
    .option_count = RECORD_OPTIONS,
    .run = run_record,
};
