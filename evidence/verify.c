/* SPDX-License-Identifier: MIT */
/* verify.c - reads a report, looks at what concerns the whole of it, and collects the findings. */
#include "verify.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "json.h"
#include "locate.h"
#include "predict.h"
#include "stats.h"
#include "utc.h"
#include "verifier.h"

static const size_t largest_report = (size_t)1 << 30;

void verifier_find(verifier *self, const char *path, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  self->outcome->findings++;
  const verify_finding finding = {path, json_line_of(self->text, path), text};
  self->sink(self->user, &finding);
}

/* The writer prints 17 digits and sums in one order; the last bits may differ from machine to machine. */
bool verifier_same(double stored, double again) {
  if (isnan(stored) || isnan(again)) return isnan(stored) && isnan(again);
  return fabs(stored - again) <= 1e-9 * fmax(fabs(stored), fabs(again));
}

/* ---- the protocol -------------------------------------------------------------------------------------- */

static void check_protocol(verifier *self) {
  static const struct {
    int64_t processes, rounds;
  } known[] = {[REPORT_ASSAY] = {9, 5}, [REPORT_SEEDS] = {1, 7}, [REPORT_QUICK] = {3, 5}};
  const report_protocol *protocol = &self->report->protocol;
  const char *name = report_protocol_names[protocol->name];
  if (protocol->processes != known[protocol->name].processes) {
    verifier_find(self, "protocol.processes", "protocol %s has %lld processes, not %lld", name,
                  (long long)known[protocol->name].processes, (long long)protocol->processes);
  }
  if (protocol->rounds != known[protocol->name].rounds) {
    verifier_find(self, "protocol.rounds", "protocol %s has %lld rounds, not %lld", name,
                  (long long)known[protocol->name].rounds, (long long)protocol->rounds);
  }
}

static void check_mode(verifier *self) {
  const report *from = self->report;
  const bool on_gpu = from->mode != REPORT_WALL;
  if (on_gpu && from->environment.gpu == NULL) {
    verifier_find(self, "mode", "mode %s times a GPU, and environment.gpu is null",
                  report_mode_names[from->mode]);
  }
}

/* What was asked for on the command line, as `--name word` or `--name=word`; NULL when it was not. */
static const char *asked(const report *from, const char *name) {
  const char *found = NULL;
  const size_t length = strlen(name);
  for (int64_t i = 0; i < from->command.count; i++) {
    const char *word = from->command.items[i];
    if (strncmp(word, "--", 2) != 0 || strncmp(word + 2, name, length) != 0) continue;
    if (word[2 + length] == '=') found = word + 3 + length;
    if (word[2 + length] == '\0' && i + 1 < from->command.count) found = from->command.items[i + 1];
  }
  return found;
}

/* The settings stand twice in a report: as words of the command, and as fields. */
static void check_command(verifier *self) {
  const report *from = self->report;
  char seed[32];
  snprintf(seed, sizeof seed, "%lld", (long long)from->seed);
  const struct {
    const char *option, *path, *word;
  } settings[] = {{"mode", "mode", report_mode_names[from->mode]},
                  {"cache", "cache", report_cache_names[from->cache]},
                  {"protocol", "protocol.name", report_protocol_names[from->protocol.name]},
                  {"seed", "seed", seed}};
  if (from->command.count == 0) verifier_find(self, "command", "the command is empty");
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
    const char *word = asked(from, settings[i].option);
    if (word == NULL || strcmp(word, settings[i].word) == 0) continue;
    verifier_find(self, settings[i].path, "the report says %s, its command --%s %.40s", settings[i].word,
                  settings[i].option, word);
  }
}

/* ---- the prediction ------------------------------------------------------------------------------------ */

static void check_prediction(verifier *self) {
  const report *from = self->report;
  const report_prediction *declared = from->prediction;
  if ((declared != NULL) != (from->label == REPORT_PREDICTED)) {
    verifier_find(self, "label", "the label is %s, and there is %s prediction",
                  report_label_names[from->label], declared != NULL ? "a" : "no");
  }
  if (declared == NULL) return;
  char hash[ASSAY_HASH_TEXT];
  prediction_hash(declared->created, declared->text, hash);
  if (strcmp(hash, declared->hash) != 0)
    verifier_find(self, "prediction.hash", "it does not belong to the prediction's text and date");
  if (strcmp(declared->created, from->created) > 0) {
    verifier_find(self, "prediction.created",
                  "the prediction of %s is younger than the samples, taken from %s on", declared->created,
                  from->created);
  }
  prediction parsed;
  assay_message why = {""};
  if (!prediction_parse(declared->text, &parsed, &why))
    verifier_find(self, "prediction.text", "%s", why.text);
}

/* ---- the rest of the head ------------------------------------------------------------------------------ */

/* NaN without memory or samples. */
static double median_of(const report_numbers *samples) {
  double *values = calloc((size_t)samples->count + 1, sizeof *values);
  if (values == NULL || samples->count == 0) {
    free(values);
    return (double)NAN;
  }
  for (int64_t k = 0; k < samples->count; k++) values[k] = (double)samples->items[k];
  const double median = assay_median(values, (size_t)samples->count);
  free(values);
  return median;
}

static void check_overheads(verifier *self) {
  for (int64_t i = 0; i < self->report->overheads.count; i++) {
    const report_overhead *one = &self->report->overheads.items[i];
    char path[VERIFIER_PATH];
    if (self->report->mode == REPORT_WALL && report_overhead_is_empty(one)) {
      snprintf(path, sizeof path, "overheads[%lld].name", (long long)i);
      verifier_find(self, path, "mode wall times no GPU, and this is the time of empty calls to one");
    }
    const double call_ns = median_of(&one->samples) / (double)one->calls;
    snprintf(path, sizeof path, "overheads[%lld].call_ns", (long long)i);
    if (!verifier_same(one->call_ns, call_ns))
      verifier_find(self, path, "the median of the samples by %lld calls is %.6g, not %.6g",
                    (long long)one->calls, call_ns, one->call_ns);
  }
}

static void check_ceilings(verifier *self) {
  for (int64_t i = 0; i < self->report->ceilings.count; i++) {
    const report_ceiling *ceiling = &self->report->ceilings.items[i];
    char path[VERIFIER_PATH];
    const double rate = ceiling->work / (median_of(&ceiling->samples) * 1e-9);
    snprintf(path, sizeof path, "ceilings[%lld].rate", (long long)i);
    if (!verifier_same(ceiling->rate, rate))
      verifier_find(self, path, "work by the median of the samples is %.6g, not %.6g", rate, ceiling->rate);
  }
}

/* Dates sort as text; a day is left for clocks that run ahead. */
static void check_date(verifier *self) {
  char now[UTC_TEXT];
  utc_after_days(1, now);
  if (!utc_valid(self->report->created)) {
    verifier_find(self, "created", "%.40s is no date of the calendar", self->report->created);
  } else if (strcmp(self->report->created, now) > 0) {
    verifier_find(self, "created", "%s has not come yet", self->report->created);
  }
}

/* ---- entry --------------------------------------------------------------------------------------------- */

/* The reader's sentence "FILE: PATH: what" as a finding. */
static void find_in_message(verifier *self, const char *message) {
  char path[VERIFIER_PATH] = "";
  const size_t prefix = strlen(self->file);
  if (strncmp(message, self->file, prefix) == 0 && strncmp(message + prefix, ": ", 2) == 0)
    message += prefix + 2;
  const char *colon = strstr(message, ": ");
  if (colon != NULL && memchr(message, ' ', (size_t)(colon - message)) == NULL) {
    snprintf(path, sizeof path, "%.*s", (int)(colon - message), message);
    message = colon + 2;
  }
  verifier_find(self, path, "%s", message);
}

static void check_text(verifier *self, verify_depth depth) {
  json_error_t error;
  char message[512];
  json_t *root = json_loads(self->text, JSON_REJECT_DUPLICATES, &error);
  if (root == NULL) {
    for (char *c = error.text; *c != '\0'; c++) {
      if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
    }
    self->outcome->findings++;
    const verify_finding finding = {"", error.line > 0 ? error.line : 1, error.text};
    self->sink(self->user, &finding);
    return;
  }
  report *from = report_from_json(root, self->file, message, sizeof message);
  json_decref(root);
  if (from == NULL) {
    find_in_message(self, message);
    return;
  }
  self->report = from;
  check_date(self);
  check_command(self);
  check_protocol(self);
  check_mode(self);
  check_ceilings(self);
  check_overheads(self);
  check_prediction(self);
  verifier_check_cases(self);
  verifier_check_sources(self, depth);
  report_free(from);
  self->report = NULL;
}

bool verify_file(const char *path, verify_depth depth, verify_sink *sink, void *user, verify_outcome *outcome,
                 assay_message *why) {
  *outcome = (verify_outcome){.current = false};
  size_t size = 0;
  char *text = assay_read_file(path, largest_report, &size);
  if (text == NULL) {
    (void)assay_explain(why, ASSAY_OK, "cannot read %.200s: %s", path, strerror(errno));
    return false;
  }
  verifier self = {.file = path, .text = text, .sink = sink, .user = user, .outcome = outcome};
  if (strlen(text) == size) {
    check_text(&self, depth);
  } else {
    verifier_find(&self, "", "the file holds a NUL byte: it is no JSON");
  }
  free(text);
  return true;
}

typedef struct first_finding {
  const char *file;
  assay_message *why;
  bool found;
} first_finding;

static void keep_first(void *user, const verify_finding *finding) {
  first_finding *first = user;
  if (first->found) return;
  first->found = true;
  (void)assay_explain(first->why, ASSAY_OK, "%.120s:%d: %s%s%.150s", first->file, finding->line,
                      finding->path, finding->path[0] != '\0' ? ": " : "", finding->text);
}

bool verify_quietly(const char *path, verify_depth depth, verify_outcome *outcome, assay_message *why) {
  first_finding first = {.file = path, .why = why};
  return verify_file(path, depth, keep_first, &first, outcome, why) && outcome->findings == 0;
}
