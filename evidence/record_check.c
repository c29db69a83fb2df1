/* SPDX-License-Identifier: MIT */
/* record_check.c - a record against the report that it names: what came from the report must still be there,
 * and what a person added must follow from it. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "record.h"
#include "record_claims.h"
#include "verify.h"

enum { LARGEST_RECORD = 1 << 22, REPORTS = 8, LINE_SIZE = 1024 };

typedef struct checker {
  record_sink *sink;
  void *user;
  int line; /* where findings are now */
  int findings;
  const char *path;         /* of the record */
  report *reports[REPORTS]; /* NULL: the answer of a run of checks */
  char *again[REPORTS];     /* what the record of each would be, untouched */
  int count;
  bool seen[RECORD_FIELDS];
} checker;

static void found(checker *self, int line, const char *text) {
  const record_finding finding = {line, text};
  self->findings++;
  self->sink(self->user, &finding);
}

static void found_here(void *user, const char *text) {
  checker *self = user;
  found(self, self->line, text);
}

/* ---- the reports that the record names ----------------------------------------------------------------- */

/* A path is meant from the record's folder, else from here. */
static bool resolve(const checker *self, const char *name, char path[ASSAY_PATH_SIZE]) {
  const char *slash = strrchr(self->path, '/');
  if (name[0] != '/' && slash != NULL &&
      assay_path_format(path, "%.*s/%s", (int)(slash - self->path), self->path, name) &&
      assay_file_exists(path)) {
    return true;
  }
  return assay_path_format(path, "%s", name) && assay_file_exists(path);
}

static void take_report(checker *self, const char *path, const char *name, const char *hash) {
  char message[512];
  char text[800];
  verify_outcome outcome;
  assay_message why = {""};
  if (!verify_quietly(path, VERIFY_NUMBERS, &outcome, &why)) {
    snprintf(text, sizeof text, "the report is not valid: %s", why.text);
    found(self, self->line, text);
    return;
  }
  self->reports[self->count] = report_load(path, message, sizeof message);
  if (self->reports[self->count] == NULL) return;
  self->again[self->count] = record_text(self->reports[self->count], name, hash);
  self->count++;
}

static void take_checks(checker *self, const char *path, const char *name, const char *hash) {
  json_t *answer = record_load_checks(path);
  if (answer == NULL) {
    found(self, self->line, "the file holds no answer of check --json");
    return;
  }
  self->again[self->count++] = record_checks_text(answer, name, hash);
  json_decref(answer);
}

/* The file that a record is about, when it is there and still the same. */
static void take_file(checker *self, bool checks, const char *name, const char *sha256) {
  char path[ASSAY_PATH_SIZE];
  char hash[ASSAY_HASH_TEXT];
  char text[800];
  const char *what = checks ? "answer of the checks" : "report";
  if (self->count == REPORTS) return;
  if (!resolve(self, name, path) || !assay_hash_file(path, hash)) {
    snprintf(text, sizeof text, "the %s %.200s is not there", what, name);
    found(self, self->line, text);
  } else if (strcmp(hash, sha256) != 0) {
    snprintf(text, sizeof text, "the %s %.200s is not the one that this record is about: its SHA-256 is %s",
             what, name, hash);
    found(self, self->line, text);
  } else if (checks) {
    take_checks(self, path, name, hash);
  } else {
    take_report(self, path, name, hash);
  }
}

/* "- report: `PATH`, SHA-256 HASH", or "- checks:" in front. */
static void find_report(checker *self, const char *line) {
  static const char *const begins[] = {"- report: `", "- checks: `"};
  static const char middle[] = "`, SHA-256 ";
  char name[LINE_SIZE];
  int kind = 0;
  while (kind < 2 && strncmp(line, begins[kind], strlen(begins[kind])) != 0) kind++;
  if (kind == 2) return;
  const char *path = line + strlen(begins[kind]);
  const char *end = strstr(path, middle);
  if (end == NULL) {
    found(self, self->line, "a report is named as \"- report: `PATH`, SHA-256 HASH\"");
    return;
  }
  snprintf(name, sizeof name, "%.*s", (int)(end - path), path);
  take_file(self, kind == 1, name, end + sizeof middle - 1);
}

static void check_mixed(checker *self) {
  for (int i = 1; i < self->count; i++) {
    const report *first = self->reports[0];
    const report *other = self->reports[i];
    if (first == NULL || other == NULL) continue;
    if (first->mode != other->mode)
      found(self, 1, "the reports differ in their timing mode: they are separate experiments, a record each");
    if (first->cache != other->cache)
      found(self, 1, "the reports differ in their cache state: they are separate experiments, a record each");
  }
}

/* ---- lines --------------------------------------------------------------------------------------------- */

/* Whether `line` is one of the lines of `text`. */
static bool has_line(const char *text, const char *line) {
  const size_t length = strlen(line);
  for (const char *at = text; *at != '\0';) {
    const size_t here = strcspn(at, "\n");
    if (here == length && memcmp(at, line, length) == 0) return true;
    at += here + (at[here] == '\n');
  }
  return false;
}

static bool from_report(const checker *self, const char *line) {
  for (int i = 0; i < self->count; i++) {
    if (has_line(self->again[i], line)) return true;
  }
  return false;
}

/* "## 7. Title": 6; -1 when the line is no heading of a field. */
static int field_of(const char *line) {
  if (strncmp(line, "## ", 3) != 0 || !isdigit((unsigned char)line[3])) return -1;
  const long number = strtol(line + 3, NULL, 10);
  return number >= 1 && number <= RECORD_FIELDS ? (int)number - 1 : -1;
}

/* A row of the times or verdicts, a ratio, or a sum of checks is copied from the report, never written. */
static bool is_row(int field, const char *line) {
  return (field == 10 && line[0] == '|') || (field == 11 && strncmp(line, "- ", 2) == 0) ||
         (field == 12 && strncmp(line, "- checks: ", 10) == 0);
}

static void check_line(checker *self, int field, const char *line) {
  static const bool tentative[RECORD_FIELDS] = {[0] = true, [5] = true, [6] = true, [13] = true, [14] = true};
  char text[LINE_SIZE];
  if (strstr(line, "(blank)") != NULL) {
    snprintf(text, sizeof text, "field %d, \"%s\", is blank", field + 1,
             field >= 0 ? record_titles[field] : "");
    found(self, self->line, text);
    return;
  }
  if (field < 0 || from_report(self, line)) return;
  if (self->count > 0 && is_row(field, line)) {
    found(self, self->line, "the report gives no such row");
    return;
  }
  record_check_line(self->count > 0 ? self->reports[0] : NULL, line, tentative[field], found_here, self);
}

/* Rows that the report gives and the record has lost: the losers, as a rule. */
static void check_kept(checker *self, const char *text) {
  for (int i = 0; i < self->count; i++) {
    int field = -1;
    for (const char *at = self->again[i]; *at != '\0';) {
      char line[LINE_SIZE];
      char message[LINE_SIZE + 64];
      const size_t here = strcspn(at, "\n");
      snprintf(line, sizeof line, "%.*s", (int)here, at);
      at += here + (at[here] == '\n');
      if (field_of(line) >= 0) field = field_of(line);
      if (here >= sizeof line || !is_row(field, line) || has_line(text, line)) continue;
      snprintf(message, sizeof message, "a row of the report is missing: %.200s", line);
      found(self, 1, message);
    }
  }
}

/* Calls `take` for each line, with its number in self->line. */
static void each_line(checker *self, const char *text,
                      void (*take)(checker *self, int field, const char *line)) {
  int field = -1;
  self->line = 0;
  for (const char *at = text; *at != '\0';) {
    char line[LINE_SIZE];
    const size_t here = strcspn(at, "\n");
    snprintf(line, sizeof line, "%.*s", (int)here, at);
    at += here + (at[here] == '\n');
    self->line++;
    if (field_of(line) >= 0) {
      field = field_of(line);
      self->seen[field] = true;
    } else {
      take(self, field, line);
    }
  }
}

static void take_for_report(checker *self, int field, const char *line) {
  if (field == 8) find_report(self, line);
}

int record_check(const char *path, record_sink *sink, void *user, assay_message *why) {
  checker self = {.sink = sink, .user = user, .path = path};
  size_t size = 0;
  char *text = assay_read_file(path, LARGEST_RECORD, &size);
  if (text == NULL) {
    (void)assay_explain(why, ASSAY_OK, "cannot read %.200s: %s", path, strerror(errno));
    return -1;
  }
  each_line(&self, text, take_for_report);
  check_mixed(&self);
  each_line(&self, text, check_line);
  check_kept(&self, text);
  for (int i = 0; i < RECORD_FIELDS; i++) {
    char message[160];
    if (self.seen[i]) continue;
    snprintf(message, sizeof message, "field %d, \"%s\", is missing", i + 1, record_titles[i]);
    found(&self, 1, message);
  }
  for (int i = 0; i < self.count; i++) {
    report_free(self.reports[i]);
    free(self.again[i]);
  }
  free(text);
  return self.findings;
}
