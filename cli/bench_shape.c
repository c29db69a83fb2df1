/* SPDX-License-Identifier: MIT */
/* bench_shape.c - one shape of --shape: sizes joined by x, then layout, type and options behind colons. */
#include "bench_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The words of an operator for a message: "packed, transposed". */
static void list_words(const char *const *words, int count, char text[200]) {
  text[0] = '\0';
  for (int i = 0; i < count; i++) {
    const size_t used = strlen(text);
    snprintf(text + used, 200 - used, "%s%s", i > 0 ? ", " : "", words[i]);
  }
}

static bool parse_number(const char *text, int64_t *number) {
  char *end;
  errno = 0;
  const long long value = strtoll(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || value < 0) return false;
  *number = value;
  return true;
}

static bool parse_sizes(const assay_subject *subject, char *text, int64_t dims[ASSAY_MAX_DIMS]) {
  int count = 0;
  char *rest = NULL;
  const char *last = text + strlen(text) - (text[0] != '\0');
  bool good = *last != 'x' && text[0] != 'x';
  memset(dims, 0, ASSAY_MAX_DIMS * sizeof dims[0]);
  for (const char *word = strtok_r(text, "x", &rest); word != NULL && good;
       word = strtok_r(NULL, "x", &rest)) {
    good = count < subject->dim_count && parse_number(word, &dims[count]);
    count++;
  }
  if (good && count > 0) return true;
  char names[200];
  list_words(subject->dim_names, subject->dim_count, names);
  output_error("--shape takes up to %d sizes of %s joined by x (%s), such as %s", subject->dim_count,
               subject->name, names, subject->dim_count > 2 ? "64x64x64" : "256x257");
  return false;
}

static bool parse_option(const assay_subject *subject, char *word, assay_row *row) {
  char *value = strchr(word, '=');
  *value++ = '\0';
  for (int i = 0; i < subject->opt_count; i++) {
    if (strcmp(subject->opt_names[i], word) == 0 && parse_number(value, &row->opt[i])) return true;
  }
  char names[200];
  list_words(subject->opt_names, subject->opt_count, names);
  output_error("--shape has \"%.40s=%.40s\": options of %s are %s, each with a whole number", word, value,
               subject->name, subject->opt_count > 0 ? names : "none");
  return false;
}

static bool parse_word(const assay_subject *subject, char *word, assay_row *row, assay_dtype *dtype,
                       int *layout) {
  if (strchr(word, '=') != NULL) return parse_option(subject, word, row);
  for (int i = 0; i < subject->layout_count; i++) {
    if (strcmp(subject->layout_names[i], word) == 0) {
      *layout = i;
      return true;
    }
  }
  for (int i = 0; i < ASSAY_DTYPE_COUNT; i++) {
    if (strcmp(assay_dtype_name((assay_dtype)i), word) == 0) {
      *dtype = (assay_dtype)i;
      return true;
    }
  }
  char names[200];
  list_words(subject->layout_names, subject->layout_count, names);
  output_error("--shape has \"%.40s\": it must be a type (fp32, fp16, bf16), an option with = or a layout of "
               "%s: %s",
               word, subject->name, names);
  return false;
}

bool bench_shape_parse(const assay_operator *op, const char *text, assay_row *row, assay_dtype *dtype,
                       int *layout) {
  char words[256];
  char *rest = NULL;
  if ((size_t)snprintf(words, sizeof words, "%s", text) >= sizeof words) {
    output_error("--shape is too long: sizes joined by x, then layout, type and options behind colons");
    return false;
  }
  char *sizes = words;
  char *more = strchr(words, ':');
  if (more != NULL) *more++ = '\0';
  if (!parse_sizes(&op->subject, sizes, row->dims)) return false;
  for (char *word = more != NULL ? strtok_r(more, ":", &rest) : NULL; word != NULL;
       word = strtok_r(NULL, ":", &rest)) {
    if (!parse_word(&op->subject, word, row, dtype, layout)) return false;
  }
  return true;
}
