/* SPDX-License-Identifier: MIT */
/*
 * test_gemm_lesson.c - the worked examples of the fused GEMM's lesson, recomputed in FP64 from its text.
 *
 * An example is a ```example block of "key: numbers" lines. Its first key says what it shows: `m` a product,
 * `bits` one rounding beside two, `grid_rows` a walk over tiles.
 */
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "file.h"
#include "half.h"
#include "status.h"

enum { MOST_NUMBERS = 64, MOST_LINES = 16, LESSON_LIMIT = 1 << 20 };

typedef struct line {
  char key[32];
  int count;
  double value[MOST_NUMBERS];
} line;

typedef struct example {
  line lines[MOST_LINES];
  int count;
} example;

/* How many examples of each kind a text has. */
typedef struct shown {
  int products, roundings, walks;
} shown;

/* ---- reading ------------------------------------------------------------------------------------------- */

static bool read_line(example *block, const char *text) {
  const char *colon = strchr(text, ':');
  if (colon == NULL || block->count == MOST_LINES) return false;
  line *next = &block->lines[block->count++];
  const size_t length = (size_t)(colon - text);
  if (length >= sizeof next->key) return false;
  memcpy(next->key, text, length);
  next->key[length] = '\0';
  for (text = colon + 1; *(text += strspn(text, " ")) != '\0';) {
    char *end;
    const double value = strtod(text, &end);
    if (end == text || (*end != ' ' && *end != '\0') || next->count == MOST_NUMBERS) return false;
    next->value[next->count++] = value;
    text = end;
  }
  return true;
}

static const line *find(const example *block, const char *key) {
  for (int i = 0; i < block->count; i++) {
    if (strcmp(block->lines[i].key, key) == 0) return &block->lines[i];
  }
  return NULL;
}

/* ---- recomputing: NULL when all is right, else the key of the wrong line ------------------------------- */

/* A whole number from 0 to 64, or -1. */
static int whole(const example *block, const char *key) {
  const line *found = find(block, key);
  if (found == NULL || found->count != 1 || found->value[0] < 0 || found->value[0] > 64) return -1;
  return found->value[0] == floor(found->value[0]) ? (int)found->value[0] : -1;
}

static bool same(const line *given, const double *want, int count) {
  if (given == NULL || given->count != count) return false;
  for (int i = 0; i < count; i++) {
    if (given->value[i] != want[i]) return false;
  }
  return true;
}

static const char *check_product(const example *block) {
  const int m = whole(block, "m"), n = whole(block, "n"), k = whole(block, "k");
  const int a_step = whole(block, "a_row_stride"), b_step = whole(block, "b_row_stride");
  const line *a = find(block, "a"), *b = find(block, "b"), *bias = find(block, "bias");
  double sum[MOST_NUMBERS], c[MOST_NUMBERS];
  if (m < 1 || n < 1 || k < 0 || m * n > MOST_NUMBERS || a_step < 0 || b_step < 0) return "m";
  if (a == NULL || (k > 0 && a->count <= (m - 1) * a_step + k - 1)) return "a";
  if (b == NULL || (k > 0 && b->count <= (k - 1) * b_step + n - 1)) return "b";
  if (bias == NULL || bias->count != n) return "bias";
  for (int i = 0; i < m * n; i++) {
    sum[i] = 0;
    for (int p = 0; p < k; p++) sum[i] += a->value[i / n * a_step + p] * b->value[p * b_step + i % n];
    c[i] = fmax(sum[i] + bias->value[i % n], 0);
  }
  if (!same(find(block, "sum"), sum, m * n)) return "sum";
  return same(find(block, "c"), c, m * n) ? NULL : "c";
}

static const char *check_rounding(const example *block) {
  const int bits = whole(block, "bits");
  const line *terms = find(block, "terms"), *bias = find(block, "bias");
  const assay_dtype dtype = bits == 11 ? ASSAY_FP16 : ASSAY_BF16;
  if (bits != 11 && bits != 8) return "bits";
  if (terms == NULL || terms->count != 2) return "terms";
  if (bias == NULL || bias->count != 1) return "bias";
  const double sum = terms->value[0] + terms->value[1];
  const double once = assay_round_to(dtype, sum + bias->value[0]);
  const double twice = assay_round_to(dtype, assay_round_to(dtype, sum) + bias->value[0]);
  if (once == twice) return "terms"; /* shows nothing */
  if (!same(find(block, "once"), &once, 1)) return "once";
  return same(find(block, "twice"), &twice, 1) ? NULL : "twice";
}

/* Group after group, column after column, row after row: the loops that the formula replaces. */
static const char *check_walk(const example *block) {
  const int rows = whole(block, "grid_rows"), columns = whole(block, "grid_columns");
  const int group = whole(block, "group");
  double row[MOST_NUMBERS], column[MOST_NUMBERS];
  int count = 0;
  if (rows < 1 || columns < 1 || group < 1 || rows * columns > MOST_NUMBERS) return "grid_rows";
  for (int first = 0; first < rows; first += group) {
    for (int j = 0; j < columns; j++) {
      for (int i = first; i < rows && i < first + group; i++) {
        row[count] = i;
        column[count++] = j;
      }
    }
  }
  if (!same(find(block, "row"), row, count)) return "row";
  return same(find(block, "column"), column, count) ? NULL : "column";
}

static const char *check_example(const example *block, shown *seen) {
  if (find(block, "m") != NULL) {
    seen->products++;
    return check_product(block);
  }
  if (find(block, "bits") != NULL) {
    seen->roundings++;
    return check_rounding(block);
  }
  seen->walks++;
  return check_walk(block);
}

/* Checks every example of a text, which is overwritten. False with the line and the key of a wrong one. */
static bool check_examples(char *text, shown *seen, assay_message *why) {
  example block;
  bool inside = false;
  int number = 0;
  for (char *at = text; *at != '\0';) {
    char *next = at + strcspn(at, "\n");
    if (*next != '\0') *next++ = '\0';
    number++;
    const char *wrong = NULL;
    if (!inside && strcmp(at, "```example") == 0) {
      memset(&block, 0, sizeof block);
      inside = true;
    } else if (inside && strcmp(at, "```") == 0) {
      wrong = check_example(&block, seen);
      inside = false;
    } else if (inside && !read_line(&block, at)) {
      wrong = at;
    }
    if (wrong != NULL) {
      (void)assay_explain(why, ASSAY_BAD_OPTION, "line %d: %.200s is wrong", number, wrong);
      return false;
    }
    at = next;
  }
  if (inside) (void)assay_explain(why, ASSAY_BAD_OPTION, "the last example is not closed");
  return !inside;
}

/* ---- tests --------------------------------------------------------------------------------------------- */

static void the_lesson_is_right(void **state) {
  (void)state;
  char path[ASSAY_PATH_SIZE];
  assert_non_null(assay_source_folder());
  assert_true(assay_path_format(path, "%s/workshops/w3_fused_gemm/lesson.md", assay_source_folder()));
  size_t size;
  char *text = assay_read_file(path, LESSON_LIMIT, &size);
  assert_non_null(text);
  shown seen = {0, 0, 0};
  assay_message why = {""};
  const bool right = check_examples(text, &seen, &why);
  free(text);
  if (!right) fail_msg("%s: %s", path, why.text);
  assert_true(seen.products >= 3 && seen.roundings >= 2 && seen.walks >= 2);
}

static void expect(const char *text, const char *word) {
  char *copy = strdup(text);
  assert_non_null(copy);
  shown seen = {0, 0, 0};
  assay_message why = {""};
  assert_true(check_examples(copy, &seen, &why) == (word == NULL));
  free(copy);
  if (word != NULL && strstr(why.text, word) == NULL) fail_msg("\"%s\" does not say \"%s\"", why.text, word);
}

#define BLOCK(lines) "text\n```example\n" lines "```\n"
#define PRODUCT      "m: 1\nn: 1\nk: 1\na_row_stride: 1\nb_row_stride: 1\na: 2\nb: 3\nbias: -1\n"

static void a_wrong_example_is_found(void **state) {
  (void)state;
  expect(BLOCK(PRODUCT "sum: 6\nc: 5\n"), NULL);
  expect(BLOCK(PRODUCT "sum: 6\nc: 6\n"), "line 13: c is wrong");
  expect(BLOCK(PRODUCT "sum: 5\nc: 5\n"), "sum is wrong");
  expect(BLOCK(PRODUCT "sum: x\nc: 5\n"), "sum: x is wrong");
  expect("```example\n" PRODUCT, "not closed");
  expect(BLOCK("bits: 11\nterms: 2048 1\nbias: 1\nonce: 2050\ntwice: 2050\n"), "twice is wrong");
  expect(BLOCK("grid_rows: 2\ngrid_columns: 1\ngroup: 1\nrow: 0 1\ncolumn: 0 1\n"), "column is wrong");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_lesson_is_right),
      cmocka_unit_test(a_wrong_example_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
