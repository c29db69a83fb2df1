/* SPDX-License-Identifier: MIT */
/* cite.c - walks a document from citation to citation, and keeps the reports that it has met. */
#include "cite.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "pairs.h"
#include "plot.h"
#include "predict_check.h"
#include "report.h"
#include "stats.h"
#include "verify.h"

enum { PARTS = 5, PART_SIZE = 256, REPORTS = 64, LARGEST_DOCUMENT = 1 << 24 };

static const char opening[] = "<!-- report:";
static const char closing[] = "-->";
static const char label[] = " (not current)";

typedef struct cited_report {
  char *path;
  report *loaded; /* NULL: not there or not valid, and `trouble` says why */
  bool current;
  assay_message trouble;
} cited_report;

typedef struct document {
  const char *path;
  const char *text;
  FILE *out; /* the text with right labels */
  bool tell_labels;
  cite_sink *sink;
  void *user;
  cite_outcome *outcome;
  cited_report reports[REPORTS];
  int report_count;
} document;

static void tell(document *self, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void tell(document *self, const char *at, const char *format, ...) {
  char text[512];
  int line = 1;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  for (const char *c = self->text; c < at; c++) line += *c == '\n';
  self->sink(self->user, line, text);
}

/* ---- reports ------------------------------------------------------------------------------------------- */

static bool find_file(const document *self, const char *name, char path[ASSAY_PATH_SIZE]) {
  const char *slash = strrchr(self->path, '/');
  const char *tree = assay_source_folder();
  if (slash == NULL && assay_path_format(path, "%s", name) && assay_file_exists(path)) return true;
  if (slash != NULL && assay_path_format(path, "%.*s/%s", (int)(slash - self->path), self->path, name) &&
      assay_file_exists(path)) {
    return true;
  }
  return tree != NULL && assay_path_format(path, "%s/%s", tree, name) && assay_file_exists(path);
}

static void load(const document *self, cited_report *cited) {
  char path[ASSAY_PATH_SIZE];
  char message[sizeof cited->trouble.text];
  verify_outcome outcome;
  if (!find_file(self, cited->path, path)) {
    (void)assay_explain(&cited->trouble, ASSAY_OK, "there is no report %.150s", cited->path);
  } else if (verify_quietly(path, VERIFY_ALL, &outcome, &cited->trouble)) {
    cited->current = outcome.current;
    cited->loaded = report_load(path, message, sizeof message);
  }
}

/* NULL when the document cites more reports than fit. */
static const cited_report *report_named_as(document *self, const char *name) {
  for (int i = 0; i < self->report_count; i++) {
    if (strcmp(self->reports[i].path, name) == 0) return &self->reports[i];
  }
  if (self->report_count == REPORTS) return NULL;
  cited_report *cited = &self->reports[self->report_count];
  *cited = (cited_report){.path = strdup(name)};
  if (cited->path == NULL) return NULL;
  self->report_count++;
  load(self, cited);
  return cited;
}

/* ---- values -------------------------------------------------------------------------------------------- */

/* NaN without a clock. */
static double median_clock(const report_variant *variant) {
  double *values = calloc((size_t)variant->samples.count + 1, sizeof *values);
  double median = (double)NAN;
  for (int64_t s = 0; values != NULL && s < variant->samples.count; s++)
    values[s] = (double)variant->samples.items[s].sm_mhz;
  if (values != NULL && variant->samples.count > 0)
    median = assay_median(values, (size_t)variant->samples.count);
  free(values);
  return median > 0 ? median : (double)NAN;
}

/* The number that a field of a variant alone stands for; NaN when it is no such field. */
static double variant_field(const report *from, const report_case *one, const report_variant *variant,
                            const char *field) {
  if (variant->statistics == NULL) return (double)NAN;
  if (strcmp(field, "median us") == 0) return variant->statistics->median_ns * 1e-3;
  if (strcmp(field, "smallest us") == 0) return variant->statistics->min_ns * 1e-3;
  if (strcmp(field, "largest us") == 0) return variant->statistics->max_ns * 1e-3;
  if (strcmp(field, "sm mhz") == 0) return median_clock(variant);
  if (strcmp(field, "percent of ceiling") == 0) return 100 * plot_share_of_roof(from, one, variant);
  return (double)NAN;
}

/* How many characters of `value` state this number: its digits, and the x of a ratio. 0 when it is another
 * number. */
static size_t states_number(const char *value, double number, bool ratio) {
  const size_t length = strspn(value, "0123456789.");
  const char *point = memchr(value, '.', length);
  const int decimals = point != NULL ? (int)(value + length - point) - 1 : 0;
  if (length == 0 || (ratio && value[length] != 'x')) return 0;
  if (!(fabs(strtod(value, NULL) - number) <= 0.5 * pow(10.0, -decimals) * (1 + 1e-9))) return 0;
  return length + (ratio ? 1 : 0);
}

static size_t states_text(const char *value, const char *text) {
  const size_t length = strlen(text);
  return strncmp(value, text, length) == 0 ? length : 0;
}

/* "1.64x [1.60, 1.70] faster": all parts must be there. Without an interval: "1.64x cannot tell". */
static size_t states_comparison(const char *value, const pairs_ratio *pair) {
  const bool bounded = !isnan(pair->low);
  const struct {
    const char *before;
    double number;
    bool wanted;
  } parts[] = {{"", pair->ratio, true}, {" [", pair->low, bounded}, {", ", pair->high, bounded}};
  const char *at = value;
  for (int i = 0; i < 3; i++) {
    if (!parts[i].wanted) continue;
    const size_t joint = states_text(at, parts[i].before);
    const size_t digits = states_number(at + joint, parts[i].number, i == 0);
    if (joint != strlen(parts[i].before) || digits == 0) return 0;
    at += joint + digits;
  }
  const char *closed = bounded ? "] " : " ";
  const size_t joint = states_text(at, closed);
  const size_t verdict = states_text(at + joint, report_verdict_names[pair->verdict]);
  if (joint == 0 || verdict == 0) return 0;
  return (size_t)(at - value) + joint + verdict;
}

/* The whole of a comparison as states_comparison wants it, for a message. */
static void print_comparison(const pairs_ratio *pair, char text[120]) {
  if (isnan(pair->low)) {
    snprintf(text, 120, "%.3fx %s", pair->ratio, report_verdict_names[pair->verdict]);
  } else {
    snprintf(text, 120, "%.3fx [%.3f, %.3f] %s", pair->ratio, pair->low, pair->high,
             report_verdict_names[pair->verdict]);
  }
}

/* Holds `value` against a field of two variants: "ratio B", "verdict B", "comparison B". */
static size_t hold_pair(document *self, const char *at, const report_case *one, const char *name,
                        const char *field, const pairs_ratio *pair, const char *value) {
  char right[120];
  size_t stated;
  if (field[0] == 'r') {
    stated = states_number(value, pair->ratio, true);
    snprintf(right, sizeof right, "%.6gx", pair->ratio);
  } else if (field[0] == 'v') {
    stated = states_text(value, report_verdict_names[pair->verdict]);
    snprintf(right, sizeof right, "%s", report_verdict_names[pair->verdict]);
  } else {
    stated = states_comparison(value, pair);
    print_comparison(pair, right);
  }
  if (stated == 0)
    tell(self, at, "%s of %s at %s is %s, not %.*s", field, name, one->name, right,
         (int)strcspn(value, "|\n"), value);
  return stated;
}

/* The baseline that a field names; NULL when it is no field of two variants. */
static const char *baseline_of(const char *field) {
  static const char *const fields[] = {"ratio ", "verdict ", "comparison "};
  for (int i = 0; i < 3; i++) {
    const size_t length = states_text(field, fields[i]);
    if (length > 0) return field + length;
  }
  return NULL;
}

/* Holds `value` against the field. Returns how many characters of it were right, 0 after a finding. */
static size_t hold(document *self, const char *at, const report *from, const report_case *one,
                   const char *name, const char *field, const char *value) {
  const report_variant *variant = report_find_variant(one, name);
  const char *named = baseline_of(field);
  const report_variant *baseline = named != NULL ? report_find_variant(one, named) : NULL;
  if (variant == NULL || variant->samples.count == 0) {
    tell(self, at, "%s was not measured at %s", name, one->name);
    return 0;
  }
  if (baseline != NULL) {
    pairs_ratio pair;
    pairs_of(from, variant, baseline, &pair);
    if (!isnan(pair.ratio)) return hold_pair(self, at, one, name, field, &pair, value);
  }
  const double number = variant_field(from, one, variant, field);
  if (isnan(number)) {
    tell(self, at,
         "no field \"%.60s\" of it: median us, smallest us, largest us, percent of ceiling, sm mhz, ratio "
         "BASELINE, verdict BASELINE or comparison BASELINE",
         field);
    return 0;
  }
  const size_t stated = states_number(value, number, false);
  if (stated == 0)
    tell(self, at, "%s of %s at %s is %.6g, not %.*s", field, name, one->name, number,
         (int)strcspn(value, " |\n"), value);
  return stated;
}

/* The only case that the words mean; NULL after a finding. */
static const report_case *case_of(document *self, const char *at, const report *from, const char *op,
                                  const char *shape) {
  const report_case *found = NULL;
  for (int64_t i = 0; i < from->cases.count; i++) {
    const report_case *one = &from->cases.items[i];
    if (strcmp(one->op, op) != 0 || !report_case_matches(one, shape)) continue;
    if (strcmp(one->name, shape) == 0) return one; /* its whole name, which may be a part of another's */
    if (found != NULL) {
      tell(self, at, "\"%.60s\" of %.60s means more than one case of the report", shape, op);
      return NULL;
    }
    found = one;
  }
  if (found == NULL) tell(self, at, "the report has no case \"%.60s\" of %.60s", shape, op);
  return found;
}

/* ---- citations ----------------------------------------------------------------------------------------- */

/* "a; b; c; d; e" between `at` and `end`. */
static bool split(const char *at, const char *end, char parts[PARTS][PART_SIZE]) {
  for (int i = 0; i < PARTS; i++) {
    while (at < end && *at == ' ') at++;
    const char *stop = memchr(at, ';', (size_t)(end - at));
    if ((stop == NULL) != (i == PARTS - 1)) return false;
    const char *next = stop != NULL ? stop + 1 : end;
    if (stop == NULL) stop = end;
    while (stop > at && stop[-1] == ' ') stop--;
    if (stop == at || stop - at >= PART_SIZE) return false;
    snprintf(parts[i], PART_SIZE, "%.*s", (int)(stop - at), at);
    at = next;
  }
  return true;
}

/* Copies the value and its right label; returns where the text goes on. */
static const char *copy_value(document *self, const char *at, const char *value, size_t length,
                              bool current) {
  const bool labelled = strncmp(value + length, label, sizeof label - 1) == 0;
  fwrite(value, 1, length, self->out);
  if (!current) fputs(label, self->out);
  if (labelled == current) {
    self->outcome->labels++;
    if (self->tell_labels)
      tell(self, at, "%.*s%s", (int)length, value,
           current ? ": the report is current again, the label is out of date"
                   : ": the report is not current, and the number does not say so");
  }
  return value + length + (labelled ? sizeof label - 1 : 0);
}

/* The citation at `at`; returns where the text goes on. */
static const char *take(document *self, const char *at) {
  char parts[PARTS][PART_SIZE];
  const char *begin = at + sizeof opening - 1;
  const char *end = strstr(begin, closing);
  self->outcome->citations++;
  if (end == NULL || !split(begin, end, parts)) {
    self->outcome->findings++;
    tell(self, at, "a citation reads \"%s PATH; OPERATOR; CASE; VARIANT; FIELD %s\"", opening, closing);
    fwrite(at, 1, sizeof opening - 1, self->out);
    return begin;
  }
  const char *value = end + sizeof closing - 1;
  fwrite(at, 1, (size_t)(value - at), self->out);
  const cited_report *cited = report_named_as(self, parts[0]);
  size_t length = 0;
  if (cited == NULL) {
    tell(self, at, "more than %d reports are cited", REPORTS);
  } else if (cited->loaded == NULL) {
    tell(self, at, "no valid report: %s", cited->trouble.text);
  } else {
    const report_case *one = case_of(self, at, cited->loaded, parts[1], parts[2]);
    if (one != NULL) length = hold(self, at, cited->loaded, one, parts[3], parts[4], value);
  }
  if (length > 0) return copy_value(self, at, value, length, cited->current);
  self->outcome->findings++;
  return value;
}

/* A citation inside `code` or a fenced block is an example of one. */
static void walk(document *self) {
  bool fenced = false;
  for (const char *at = self->text; *at != '\0';) {
    const bool line_start = at == self->text || at[-1] == '\n';
    if (line_start && strncmp(at, "```", 3) == 0) fenced = !fenced;
    const bool quoted = line_start && strncmp(at, "    ", 4) == 0;
    if (fenced || quoted) {
      const size_t length = strcspn(at, "\n") + (strchr(at, '\n') != NULL ? 1 : 0);
      fwrite(at, 1, length, self->out);
      at += length;
    } else if (*at == '`') {
      const size_t length = strcspn(at + 1, "`\n") + 1;
      const size_t whole = at[length] == '`' ? length + 1 : length;
      fwrite(at, 1, whole, self->out);
      at += whole;
    } else if (strncmp(at, opening, sizeof opening - 1) == 0) {
      at = take(self, at);
    } else {
      fputc(*at++, self->out);
    }
  }
}

char *cite_document(const char *path, bool tell_labels, cite_sink *sink, void *user, cite_outcome *outcome,
                    assay_message *why) {
  size_t size;
  char *result = NULL;
  *outcome = (cite_outcome){.citations = 0};
  char *text = assay_read_file(path, LARGEST_DOCUMENT, &size);
  document self = {
      .path = path, .text = text, .tell_labels = tell_labels, .sink = sink, .user = user, .outcome = outcome};
  if (text != NULL) self.out = open_memstream(&result, &size);
  if (self.out == NULL) {
    (void)assay_explain(why, ASSAY_OK, "cannot read %.200s: %s", path, strerror(errno));
    free(text);
    return NULL;
  }
  walk(&self);
  fclose(self.out);
  for (int i = 0; i < self.report_count; i++) {
    free(self.reports[i].path);
    report_free(self.reports[i].loaded);
  }
  free(text);
  return result;
}
