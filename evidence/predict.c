/* SPDX-License-Identifier: MIT */
/* predict.c - reads claims and keeps them in a file that cannot be changed unnoticed. */
#include "predict.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "json.h"

static const char format_name[] = "assay-prediction-1";

static const char *skip_blanks(const char *at) {
  return at + strspn(at, " \t");
}

/* A name up to one of the bytes in `ends`, without blanks at its ends and without the double quotes that may
 * stand around it. NULL when there is none, or too long. */
static const char *take_name(const char *at, const char *ends, char name[PREDICTION_NAME]) {
  const char *behind = at + strcspn(at, ends);
  const char *last = behind;
  while (last > at && (last[-1] == ' ' || last[-1] == '\t')) last--;
  if (last - at > 2 && at[0] == '"' && last[-1] == '"') {
    at++;
    last--;
  }
  const size_t length = (size_t)(last - at);
  if (length == 0 || length >= PREDICTION_NAME || memchr(at, '"', length) != NULL) return NULL;
  memcpy(name, at, length);
  name[length] = '\0';
  return behind;
}

/* A plain decimal number above 0. */
static const char *take_factor(const char *at, double *factor) {
  const size_t length = strspn(at, "0123456789.");
  if (length == 0 || strchr("eExXnN", at[length]) != NULL) return NULL;
  char *end;
  *factor = strtod(at, &end);
  if (end != at + length || !(*factor > 0) || !isfinite(*factor)) return NULL;
  return skip_blanks(end);
}

/* The shape in front of a claim; NULL when it is empty or too long. A claim without a colon before its sign
 * has none. */
static const char *take_shape(const char *at, char shape[PREDICTION_NAME]) {
  if (at[strcspn(at, ":<>\n;")] != ':') return at;
  at = take_name(at, ":", shape);
  return at != NULL ? skip_blanks(at + 1) : NULL;
}

/* What is wrong with the claim at `at`; NULL when nothing is, and then *end stands behind it. */
static const char *take_claim(const char *at, prediction_claim *claim, const char **end) {
  *claim = (prediction_claim){.factor = 0};
  at = take_shape(at, claim->shape);
  if (at == NULL) return "the shape is missing or too long";
  at = take_name(at, "<>\n;", claim->left);
  if (at == NULL) return "a variant's name is missing or too long";
  if (*at != '<' && *at != '>') return "\"<\" or \">\" is missing behind the first variant";
  claim->below = *at == '<';
  at = take_factor(skip_blanks(at + 1), &claim->factor);
  if (at == NULL) return "the factor must be a decimal number above 0";
  if (*at != '*') return "\"*\" is missing behind the factor";
  at = take_name(skip_blanks(at + 1), "<>*:\n;", claim->right);
  if (at == NULL) return "the second variant's name is missing or too long";
  if (*at != '\0' && *at != '\n' && *at != ';') return "something stands behind the second variant";
  if (strcmp(claim->left, claim->right) == 0) return "a variant cannot be compared with itself";
  *end = at;
  return NULL;
}

bool prediction_parse(const char *text, prediction *result, assay_message *why) {
  static const char right[] = "a claim reads [SHAPE:] VARIANT (<|>) FACTOR * VARIANT";
  result->count = 0;
  for (const char *at = text; *at != '\0';) {
    at += strspn(at, " \t\n;");
    if (*at == '\0') break;
    if (result->count == PREDICTION_CLAIMS) {
      (void)assay_explain(why, ASSAY_OK, "a prediction holds at most %d claims", PREDICTION_CLAIMS);
      return false;
    }
    const char *end = at;
    const char *problem = take_claim(at, &result->claims[result->count], &end);
    if (problem != NULL) {
      (void)assay_explain(why, ASSAY_OK, "claim %d, \"%.*s\": %s; %s", result->count + 1,
                          (int)(strcspn(at, "\n;") < 60 ? strcspn(at, "\n;") : 60), at, problem, right);
      return false;
    }
    result->count++;
    at = end;
  }
  if (result->count == 0) (void)assay_explain(why, ASSAY_OK, "the prediction is empty; %s", right);
  return result->count > 0;
}

void prediction_hash(const char *created, const char *text, char hash[ASSAY_HASH_TEXT]) {
  const size_t size = strlen(created) + 1 + strlen(text);
  char *both = malloc(size + 1);
  if (both == NULL) {
    hash[0] = '\0';
    return;
  }
  snprintf(both, size + 1, "%s\n%s", created, text);
  assay_hash_bytes(both, size, hash);
  free(both);
}

bool prediction_make(const char *text, prediction *result, assay_message *why) {
  *result = (prediction){.text = NULL};
  if (!prediction_parse(text, result, why)) return false;
  json_t *readable = json_string(text);
  json_decref(readable);
  if (readable == NULL) {
    (void)assay_explain(why, ASSAY_OK, "the prediction is not UTF-8 text");
    return false;
  }
  result->text = strdup(text);
  if (result->text == NULL) {
    (void)assay_explain(why, ASSAY_OK, "out of memory");
    return false;
  }
  utc_now(result->created);
  prediction_hash(result->created, text, result->hash);
  return true;
}

bool prediction_save(const prediction *value, const char *path, assay_message *why) {
  json_t *root = json_pack("{s:s, s:s, s:o, s:s}", "format", format_name, "created", value->created, "text",
                           assay_json_text(value->text), "hash", value->hash);
  char *text = root != NULL ? json_dumps(root, JSON_INDENT(2)) : NULL;
  json_decref(root);
  bool saved = false;
  if (text == NULL) {
    errno = ENOMEM;
  } else {
    const size_t length = strlen(text);
    text[length] = '\n'; /* in place of the NUL: the file ends with a line's end */
    saved = assay_create_file(path, text, length + 1, 0666);
  }
  const int reason = errno;
  free(text);
  if (saved) return true;
  if (reason == EEXIST) {
    (void)assay_explain(why, ASSAY_OK, "%.200s exists: a prediction is never replaced, give another name",
                        path);
  } else {
    (void)assay_explain(why, ASSAY_OK, "cannot write %.200s: %s", path, strerror(reason));
  }
  return false;
}

static const char *text_of(const json_t *root, const char *key) {
  return json_string_value(json_object_get(root, key));
}

/* What is wrong with a prediction's file; NULL when nothing is. */
static const char *take_root(const json_t *root, prediction *result, assay_message *why) {
  const char *format = text_of(root, "format");
  const char *created = text_of(root, "created");
  const char *text = text_of(root, "text");
  const char *hash = text_of(root, "hash");
  if (format == NULL || strcmp(format, format_name) != 0) return "format is not assay-prediction-1";
  if (created == NULL || !utc_valid(created)) return "created is no date such as 2026-11-30T14:12:40Z";
  if (text == NULL) return "text is missing";
  if (json_object_size(root) != 4) return "a field is missing or not known";
  prediction_hash(created, text, result->hash);
  if (hash == NULL || strcmp(hash, result->hash) != 0)
    return "hash does not belong to text and created: the file was changed";
  if (!prediction_parse(text, result, why)) return why->text;
  memcpy(result->created, created, UTC_TEXT);
  result->text = strdup(text);
  return result->text != NULL ? NULL : "out of memory";
}

bool prediction_load(const char *path, prediction *result, assay_message *why) {
  char message[sizeof why->text];
  *result = (prediction){.text = NULL};
  json_t *root = assay_json_load(path, message, sizeof message);
  if (root == NULL) {
    (void)assay_explain(why, ASSAY_OK, "%s", message);
    return false;
  }
  assay_message detail = {""};
  const char *problem = take_root(root, result, &detail);
  json_decref(root);
  if (problem != NULL) (void)assay_explain(why, ASSAY_OK, "%.120s: %.180s", path, problem);
  return problem == NULL;
}

void prediction_free(prediction *value) {
  free(value->text);
  *value = (prediction){.text = NULL};
}
