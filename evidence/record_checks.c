/* SPDX-License-Identifier: MIT */
/* record_checks.c - the fifteen fields of an experiment that times nothing: what was checked stands in place
 * of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_table.h"
#include "json.h"
#include "record.h"
#include "workshops/workshops.h"

static const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text != NULL ? text : "";
}

static long long whole_of(const json_t *object, const char *key) {
  return (long long)json_integer_value(json_object_get(object, key));
}

/* One line, and nothing that would end a cell of a table. */
static void cell(FILE *out, const char *text) {
  for (; *text != '\0'; text++) fputc(*text == '|' || (unsigned char)*text < 0x20 ? ' ' : *text, out);
}

static bool is_answer(const json_t *root) {
  static const char *const counts[] = {"passed", "failed", "unfinished", "unavailable", "not_run", "seed"};
  static const char *const words[] = {"workshop", "backend", "variant", "check", "verdict", "reason"};
  const json_t *checks = json_object_get(root, "checks");
  const json_t *check;
  size_t i;
  for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
    if (!json_is_integer(json_object_get(root, counts[k]))) return false;
  }
  if (!json_is_array(json_object_get(root, "files")) || !json_is_array(checks)) return false;
  json_array_foreach(checks, i, check) {
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
      if (!json_is_string(json_object_get(check, words[k]))) return false;
    }
  }
  return true;
}

json_t *record_load_checks(const char *path) {
  char message[512];
  json_t *root = assay_json_load(path, message, sizeof message);
  if (root != NULL && is_answer(root)) return root;
  json_decref(root);
  return NULL;
}

/* ---- the fields ---------------------------------------------------------------------------------------- */

/* The mistake that a check was built for; empty for one that this program does not know. */
static const char *mistake(const json_t *check) {
  const assay_exercise *exercise = assay_exercise_find(text_of(check, "workshop"));
  const assay_check *known = exercise != NULL ? exercise->subject->checks : NULL;
  for (; known != NULL && known->name != NULL; known++) {
    if (strcmp(known->name, text_of(check, "check")) == 0) return known->catches;
  }
  return "";
}

static void cases(FILE *out, const json_t *answer) {
  const json_t *check;
  size_t i;
  json_array_foreach(json_object_get(answer, "checks"), i, check) {
    fprintf(out, "- %s, %s: %lld cases on %s, of tier %s or smaller\n", text_of(check, "workshop"),
            text_of(check, "check"), whole_of(check, "cases"), text_of(check, "backend"),
            text_of(answer, "tier"));
  }
}

/* Each exercise once. */
static void contracts(FILE *out, const json_t *answer) {
  const json_t *checks = json_object_get(answer, "checks");
  const char *last = "";
  const json_t *check;
  size_t i;
  json_array_foreach(checks, i, check) {
    const char *name = text_of(check, "workshop");
    const assay_exercise *exercise = assay_exercise_find(name);
    if (strcmp(name, last) == 0 || exercise == NULL) continue;
    last = name;
    fprintf(out, "- %s: %s", name, exercise->subject->formula);
    if (exercise->op != NULL && exercise->op->bench != NULL)
      fprintf(out, "; allowed error: %s", exercise->op->bench->tolerance);
    fputc('\n', out);
  }
}

static void mistakes(FILE *out, const json_t *answer) {
  const json_t *check;
  size_t i;
  fputs(
      "The judge compared with the FP64 definition, which shares no code with what was judged. Each check is "
      "built for one mistake:\n\n",
      out);
  json_array_foreach(json_object_get(answer, "checks"), i, check) {
    fprintf(out, "- %s, %s: %s\n", text_of(check, "workshop"), text_of(check, "check"), mistake(check));
  }
}

static void sources(FILE *out, const json_t *answer, const char *path, const char *sha256) {
  const json_t *file;
  size_t i;
  fprintf(out, "- checks: `%s`, SHA-256 %s\n- seed %lld, tier %s\n", path, sha256, whole_of(answer, "seed"),
          text_of(answer, "tier"));
  json_array_foreach(json_object_get(answer, "files"), i, file) {
    fprintf(out, "- %s, %s, %s: `%s` %s\n", text_of(file, "workshop"), text_of(file, "backend"),
            text_of(file, "variant"), text_of(file, "path"), text_of(file, "sha256"));
  }
}

static void verdicts(FILE *out, const json_t *answer) {
  const json_t *check;
  size_t i;
  fputs(
      "Nothing was timed: the verdicts stand here.\n\n| exercise | judged | check | verdict | cases | reason "
      "|\n|---|---|---|---|--:|---|\n",
      out);
  json_array_foreach(json_object_get(answer, "checks"), i, check) {
    fprintf(out, "| %s | %s | %s | %s | %lld | ", text_of(check, "workshop"), text_of(check, "variant"),
            text_of(check, "check"), text_of(check, "verdict"), whole_of(check, "cases"));
    cell(out, text_of(check, "reason"));
    fputs(" |\n", out);
  }
}

static void limits(FILE *out, const json_t *answer) {
  fputs(
      "- how long anything takes: nothing was timed\n- that there is no other mistake: a check finds the one "
      "that it was built for\n",
      out);
  if (json_is_true(json_object_get(answer, "interrupted"))) fputs("- the run was interrupted\n", out);
  if (whole_of(answer, "unavailable") > 0)
    fprintf(out, "- %lld could not run on this machine\n", whole_of(answer, "unavailable"));
  if (whole_of(answer, "not_run") > 0)
    fprintf(out, "- %lld stand behind the first stage that failed\n", whole_of(answer, "not_run"));
}

/* Returns whether the field still needs a person. */
static bool field(FILE *out, const json_t *answer, int index, const char *path, const char *sha256) {
  switch (index) {
  case 1:
    cases(out, answer);
    return false;
  case 3:
    contracts(out, answer);
    return false;
  case 4:
    mistakes(out, answer);
    return false;
  case 7:
    fputs("The FP64 definition. There is no baseline, as nothing was timed.\n", out);
    return false;
  case 8:
    sources(out, answer, path, sha256);
    return false;
  case 9:
    fputs("Nothing was timed: correctness stands in place of times.\n", out);
    return false;
  case 10:
    verdicts(out, answer);
    return false;
  case 11:
    fputs("No ratio was formed.\n", out);
    return false;
  case 12:
    fprintf(out, "- checks: %lld passed, %lld failed, %lld unfinished\n\n", whole_of(answer, "passed"),
            whole_of(answer, "failed"), whole_of(answer, "unfinished"));
    return true;
  case 13:
    limits(out, answer);
    fputc('\n', out);
    return true;
  default: /* the answer holds neither the question nor the machine */
    return true;
  }
}

char *record_checks_text(const json_t *answer, const char *path, const char *sha256) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return NULL;
  fputs("# Experiment record\n", out);
  for (int i = 0; i < RECORD_FIELDS; i++) {
    fprintf(out, "\n## %d. %s\n\n", i + 1, record_titles[i]);
    if (field(out, answer, i, path, sha256)) record_blank(out, i);
  }
  const bool written = ferror(out) == 0;
  if (fclose(out) == 0 && written) return text;
  free(text);
  return NULL;
}
