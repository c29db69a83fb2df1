/* SPDX-License-Identifier: MIT */
/* cmd_verify.c - `assay verify`: are reports valid, and are they current? */
#include "cli.h"
#include "core/file.h"
#include "core/json.h"
#include "evidence/cite.h"
#include "evidence/kept.h"
#include "evidence/verify.h"
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERIFY_JSON = 0, VERIFY_CURRENT, VERIFY_LABEL, VERIFY_KEEP, VERIFY_COLOUR, VERIFY_OPTIONS };

static const cli_option verify_options[VERIFY_OPTIONS] = {
    [VERIFY_JSON] = CLI_OPTION_JSON,
    [VERIFY_CURRENT] = {"current", OPTION_FLAG, NULL, NULL, 0, 0,
                        "count it as a finding when a source in the tree is not the one that ran"},
    [VERIFY_LABEL] =
        {"label", OPTION_FLAG, NULL, NULL, 0, 0,
         "write \"(not current)\" behind the numbers of a document that need it, and nowhere else"},
    [VERIFY_KEEP] = {"keep", OPTION_FLAG, NULL, NULL, 0, 0,
                     "copy the sources that ran, by their SHA-256, to results/sources/ of the tree, or to "
                     "sources/ beside a report elsewhere"},
    [VERIFY_COLOUR] = CLI_OPTION_COLOUR,
};

typedef struct verify_run {
  output out;
  bool json;
  bool current; /* --current */
  bool keep;    /* --keep */
  const char *file;
  json_t *findings; /* of the current file */
} verify_run;

static void take_finding(void *user, const verify_finding *finding) {
  verify_run *run = user;
  json_array_append_new(run->findings, json_pack("{s:s, s:i, s:o}", "path", finding->path, "line",
                                                 finding->line, "text", assay_json_text(finding->text)));
  if (run->json) return;
  printf("%s:%d: %s%s%s\n", run->file, finding->line, finding->path, finding->path[0] != '\0' ? ": " : "",
         finding->text);
}

static void print_outcome(verify_run *run, const verify_outcome *outcome) {
  if (outcome->findings > 0) {
    output_word(&run->out, OUTPUT_BAD, "not valid");
    printf("  %s: %d finding%s\n", run->file, outcome->findings, outcome->findings == 1 ? "" : "s");
  } else if (outcome->current) {
    output_word(&run->out, OUTPUT_GOOD, "valid and current");
    printf("  %s\n", run->file);
  } else {
    output_word(&run->out, OUTPUT_OPEN, "valid, not current");
    printf("  %s: %s has changed since\n", run->file, outcome->changed);
  }
}

/* Copies of the sources of a report without findings; adds to its part of the answer. False after an error
 * message. */
static bool keep_sources(verify_run *run, json_t *entry) {
  char message[512];
  kept_outcome outcome = {.sources = 0};
  assay_message why = {""};
  report *loaded = report_load(run->file, message, sizeof message);
  if (loaded == NULL) {
    output_error("%s", message);
    return false;
  }
  const bool kept = kept_make(loaded, run->file, &outcome, &why);
  report_free(loaded);
  if (!kept) {
    output_error("%s: its sources are not kept: %s", run->file, why.text);
    return false;
  }
  json_object_set_new(entry, "sources_kept", json_integer(outcome.sources));
  json_object_set_new(entry, "sources_copied", json_integer(outcome.copied));
  if (!run->json) {
    printf("  %d source%s kept, %d of them copied to %s now\n", outcome.sources,
           outcome.sources == 1 ? "" : "s", outcome.copied, outcome.folder);
  }
  return true;
}

/* One file: its part of the answer, and its exit code. */
static int verify_one(verify_run *run, const char *file, json_t *answer) {
  verify_outcome outcome;
  assay_message why = {""};
  run->file = file;
  run->findings = json_array();
  if (!verify_file(file, VERIFY_ALL, take_finding, run, &outcome, &why)) {
    output_error("%s", why.text);
    json_decref(run->findings);
    return CLI_USAGE;
  }
  if (!run->json) print_outcome(run, &outcome);
  json_t *entry = json_pack("{s:o, s:b, s:b, s:o, s:o}", "file", assay_json_text(file), "valid",
                            outcome.findings == 0, "current", outcome.current, "changed",
                            assay_json_text(outcome.changed), "findings", run->findings);
  const bool kept = !run->keep || outcome.findings > 0 || keep_sources(run, entry);
  json_array_append_new(answer, entry);
  return outcome.findings > 0 || (run->current && !outcome.current) || !kept ? CLI_FAILED : CLI_OK;
}

/* ---- documents ----------------------------------------------------------------------------------------- */

static void take_citation(void *user, int line, const char *text) {
  const verify_finding finding = {"", line, text};
  take_finding(user, &finding);
}

static bool is_document(const char *file) {
  const size_t length = strlen(file);
  return length > 3 && strcmp(file + length - 3, ".md") == 0;
}

/* A document's citations; with `label` its labels are put right in place. */
static int verify_document(verify_run *run, const char *file, bool label, json_t *answer) {
  cite_outcome outcome;
  assay_message why = {""};
  run->file = file;
  run->findings = json_array();
  if (run->keep) {
    output_error("--keep copies the sources of reports, and %s is a document", file);
    json_decref(run->findings);
    return CLI_USAGE;
  }
  char *text = cite_document(file, !label, take_citation, run, &outcome, &why);
  if (text == NULL) {
    output_error("%s", why.text);
    json_decref(run->findings);
    return CLI_USAGE;
  }
  const bool write = label && outcome.labels > 0;
  const bool written = !write || assay_write_file(file, text, strlen(text), 0666);
  if (!written) output_error("cannot write %s: %s", file, strerror(errno));
  free(text);
  const int wrong = outcome.findings + (label ? 0 : outcome.labels);
  if (!run->json) {
    output_word(&run->out, wrong == 0 ? OUTPUT_GOOD : OUTPUT_BAD, wrong == 0 ? "valid" : "not valid");
    printf("  %s: %d number%s cited, %d finding%s", file, outcome.citations,
           outcome.citations == 1 ? "" : "s", wrong, wrong == 1 ? "" : "s");
    if (write && written) printf(", %d label%s changed", outcome.labels, outcome.labels == 1 ? "" : "s");
    putchar('\n');
  }
  json_array_append_new(answer,
                        json_pack("{s:o, s:b, s:i, s:o}", "file", assay_json_text(file), "valid", wrong == 0,
                                  "citations", outcome.citations, "findings", run->findings));
  return wrong > 0 || !written ? CLI_FAILED : CLI_OK;
}

static int run_verify(const cli_args *args) {
  verify_run run = {.json = args->values[VERIFY_JSON].given,
                    .current = args->values[VERIFY_CURRENT].given,
                    .keep = args->values[VERIFY_KEEP].given};
  int code = CLI_OK;
  json_t *answer = json_array();
  output_begin(&run.out, (output_colour)args->values[VERIFY_COLOUR].choice);
  for (int i = 0; i < args->name_count; i++) {
    const char *file = args->names[i];
    const int one = is_document(file) ? verify_document(&run, file, args->values[VERIFY_LABEL].given, answer)
                                      : verify_one(&run, file, answer);
    if (one > code) code = one;
  }
  if (run.json && code != CLI_USAGE) {
    json_t *root = json_pack("{s:O}", "files", answer);
    assay_json_print(root, stdout);
    json_decref(root);
  }
  json_decref(answer);
  return code;
}

static const char *const verify_examples[] = {"verify r.json", "verify results/cpu/*.json --current",
                                              "verify README.md --label", "verify results/cpu/*.json --keep",
                                              NULL};

const cli_command command_verify = {
    .name = "verify",
    .summary = "check that reports, and documents that cite them, are what they say",
    .about =
        "Works out again, from the raw samples, everything in a report that follows from them, and holds its "
        "hashes against the kept sources or the tree. Prints one line for each finding: file, line, field, "
        "what is "
        "wrong. A report without findings is valid; it is current when every source that ran is still in the "
        "tree "
        "as it was; with --keep it stays valid after the next edit. Of a document (.md) it holds the numbers "
        "that cite a report against that report; "
        "docs/evidence.md says how to cite. Exit code 0: all valid, 1: a finding.",
    .names = "FILE...",
    .names_min = 1,
    .names_max = CLI_MAX_NAMES,
    .examples = verify_examples,
    .options = verify_options,
    .option_count = VERIFY_OPTIONS,
    .run = run_verify,
};
