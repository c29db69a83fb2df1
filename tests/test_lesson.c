/* SPDX-License-Identifier: MIT */
/*
 * test_lesson.c - the worked examples of the first workshop's lesson, recomputed in FP64 from its text.
 *
 * An example is a ```example block of "key: numbers" lines: the view (storage, first, rows, columns,
 * row_stride, column_stride) and for every row r the lines index[r], x[r], max[r], exp[r], sum[r], y[r]. Each
 * printed number must be the exact one rounded to as many decimals as are printed.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "file.h"
#include "status.h"

enum { MOST_NUMBERS = 64, MOST_ROWS = 8, LESSON_LIMIT = 1 << 20 };

typedef enum view_key { STORAGE, FIRST, ROWS, COLUMNS, ROW_STRIDE, COLUMN_STRIDE, VIEW_KEYS } view_key;
typedef enum row_key { INDEX, X, MAX, EXP, SUM, Y, ROW_KEYS } row_key;

static const char *const view_names[] = {"storage", "first",      "rows",
                                         "columns", "row_stride", "column_stride"};
static const char *const row_names[] = {"index", "x", "max", "exp", "sum", "y"};

/* The numbers of one line, and how many decimals each was printed with. */
typedef struct numbers {
  int count;
  double value[MOST_NUMBERS];
  int decimals[MOST_NUMBERS];
} numbers;

typedef struct example {
  numbers view[VIEW_KEYS];
  numbers row[MOST_ROWS][ROW_KEYS];
} example;

/* ---- reading ------------------------------------------------------------------------------------------- */

static bool read_numbers(const char *text, numbers *list) {
  list->count = 0;
  while (*(text += strspn(text, " ")) != '\0') {
    char *end;
    errno = 0;
    const double value = strtod(text, &end);
    if (end == text || errno != 0 || !isfinite(value) || (*end != ' ' && *end != '\0')) return false;
    if (list->count == MOST_NUMBERS) return false;
    const char *point = memchr(text, '.', (size_t)(end - text));
    list->value[list->count] = value;
    list->decimals[list->count++] = point == NULL ? 0 : (int)(end - point) - 1;
    text = end;
  }
  return list->count > 0;
}

/* Where the numbers of the line "name: ..." or "name[r]: ..." belong; NULL for an unknown key. */
static numbers *find_key(example *block, const char *key) {
  for (int i = 0; i < VIEW_KEYS; i++) {
    if (strcmp(key, view_names[i]) == 0) return &block->view[i];
  }
  for (int i = 0; i < ROW_KEYS; i++) {
    const size_t length = strlen(row_names[i]);
    if (strncmp(key, row_names[i], length) != 0) continue;
    const char *number = key + length;
    if (number[0] == '[' && number[1] >= '0' && number[1] < '0' + MOST_ROWS && strcmp(number + 2, "]") == 0) {
      return &block->row[number[1] - '0'][i];
    }
  }
  return NULL;
}

static bool read_line(example *block, char *line, assay_message *why) {
  char *colon = strchr(line, ':');
  if (colon == NULL) {
    assay_explain(why, ASSAY_BAD_OPTION, "\"%s\" has no colon", line);
    return false;
  }
  *colon = '\0';
  numbers *list = find_key(block, line);
  if (list == NULL) {
    assay_explain(why, ASSAY_BAD_OPTION, "unknown key \"%s\"", line);
    return false;
  }
  if (list->count != 0) {
    assay_explain(why, ASSAY_BAD_OPTION, "\"%s\" is given twice", line);
    return false;
  }
  if (!read_numbers(colon + 1, list)) {
    assay_explain(why, ASSAY_BAD_OPTION, "\"%s\" is followed by something else than numbers", line);
    return false;
  }
  return true;
}

/* ---- recomputing --------------------------------------------------------------------------------------- */

/* A small whole number of the view; -1 when the line is missing or holds anything else. */
static int64_t whole(const example *block, view_key key) {
  const numbers *list = &block->view[key];
  if (list->count != 1 || list->value[0] < 0 || list->value[0] > 1000) return -1;
  return list->value[0] == floor(list->value[0]) ? (int64_t)list->value[0] : -1;
}

static bool same_numbers(const numbers *got, const double *want, int count, row_key key, int row,
                         assay_message *why) {
  const char *name = row_names[key];
  if (got->count != count) {
    assay_explain(why, ASSAY_BAD_SHAPE, "%s[%d] has %d numbers instead of %d", name, row, got->count, count);
    return false;
  }
  for (int i = 0; i < count; i++) {
    const double allowed = 0.5 * pow(10, -got->decimals[i]) + 1e-12;
    if (!(fabs(got->value[i] - want[i]) <= allowed)) {
      assay_explain(why, ASSAY_BAD_SHAPE, "%s[%d] number %d is %.*f but should be %.*f", name, row, i + 1,
                    got->decimals[i], got->value[i], got->decimals[i] + 2, want[i]);
      return false;
    }
  }
  return true;
}

/* The given lines of one row against the row's definition. */
static bool check_row(const example *block, int row, assay_message *why) {
  const numbers *storage = &block->view[STORAGE];
  const int columns = (int)whole(block, COLUMNS);
  const int64_t start = whole(block, FIRST) + row * whole(block, ROW_STRIDE);
  double index[MOST_NUMBERS], x[MOST_NUMBERS], term[MOST_NUMBERS], y[MOST_NUMBERS];
  double maximum = -INFINITY, sum = 0;
  for (int c = 0; c < columns; c++) {
    const int64_t place = start + c * whole(block, COLUMN_STRIDE);
    if (place >= storage->count) {
      assay_explain(why, ASSAY_BAD_STRIDE, "element (%d, %d) is outside the storage", row, c);
      return false;
    }
    index[c] = (double)place;
    x[c] = storage->value[place];
    maximum = fmax(maximum, x[c]);
  }
  for (int c = 0; c < columns; c++) sum += term[c] = exp(x[c] - maximum);
  for (int c = 0; c < columns; c++) y[c] = term[c] / sum;

  const double *const want[ROW_KEYS] = {index, x, &maximum, term, &sum, y};
  for (int key = 0; key < ROW_KEYS; key++) {
    const int count = key == MAX || key == SUM ? 1 : columns;
    if (!same_numbers(&block->row[row][key], want[key], count, (row_key)key, row, why)) return false;
  }
  return true;
}

static bool check_example(const example *block, assay_message *why) {
  for (int key = FIRST; key < VIEW_KEYS; key++) {
    if (whole(block, (view_key)key) < 0) {
      assay_explain(why, ASSAY_BAD_SHAPE, "\"%s\" is missing or no whole number", view_names[key]);
      return false;
    }
  }
  const int64_t rows = whole(block, ROWS);
  const int64_t columns = whole(block, COLUMNS);
  if (rows < 1 || rows > MOST_ROWS || columns < 1 || columns > MOST_NUMBERS) {
    assay_explain(why, ASSAY_BAD_SHAPE, "rows or columns is out of range");
    return false;
  }
  for (int row = 0; row < rows; row++) {
    if (!check_row(block, row, why)) return false;
  }
  for (int64_t row = rows; row < MOST_ROWS; row++) {
    for (int key = 0; key < ROW_KEYS; key++) {
      if (block->row[row][key].count == 0) continue;
      assay_explain(why, ASSAY_BAD_SHAPE, "there is no row %d", (int)row);
      return false;
    }
  }
  return true;
}

/* Kinds of view that the examples of a text show. */
typedef struct shown_views {
  int transposed, sliced, broadcast;
} shown_views;

static void count_view(const example *block, shown_views *shown) {
  const int64_t row_stride = whole(block, ROW_STRIDE), column_stride = whole(block, COLUMN_STRIDE);
  if (row_stride == 0 || column_stride == 0) shown->broadcast++;
  if (row_stride == 1 && column_stride > 1) shown->transposed++;
  if (column_stride == 1 && row_stride > whole(block, COLUMNS)) shown->sliced++;
}

/* Checks every example of a text, which is overwritten. How many there are; -1 with the reason when one is
 * wrong. */
static int check_examples(char *text, shown_views *shown, assay_message *why) {
  example block;
  bool inside = false;
  int count = 0, line_number = 0;
  for (char *line = text; *line != '\0';) {
    char *next = line + strcspn(line, "\n");
    if (*next != '\0') *next++ = '\0';
    line_number++;
    assay_message reason;
    bool right = true;
    if (!inside && strcmp(line, "```example") == 0) {
      memset(&block, 0, sizeof block);
      inside = true;
    } else if (inside && strcmp(line, "```") == 0) {
      right = check_example(&block, &reason);
      if (right) count_view(&block, shown);
      inside = false;
      count++;
    } else if (inside) {
      right = read_line(&block, line, &reason);
    }
    if (!right) {
      assay_explain(why, ASSAY_BAD_OPTION, "line %d: %.240s", line_number, reason.text);
      return -1;
    }
    line = next;
  }
  if (!inside && count > 0) return count;
  assay_explain(why, ASSAY_BAD_OPTION, inside ? "the last example is not closed" : "there is no example");
  return -1;
}

/* ---- tests --------------------------------------------------------------------------------------------- */

static void test_lesson_is_right(void **state) {
  (void)state;
  char path[ASSAY_PATH_SIZE];
  assert_non_null(assay_source_folder());
  assert_true(assay_path_format(path, "%s/workshops/w1_strided_softmax/lesson.md", assay_source_folder()));
  size_t size;
  char *text = assay_read_file(path, LESSON_LIMIT, &size);
  assert_non_null(text);
  shown_views shown = {0, 0, 0};
  assay_message why = {""};
  const int count = check_examples(text, &shown, &why);
  free(text);
  if (count < 0) fail_msg("%s: %s", path, why.text);
  assert_true(shown.transposed > 0 && shown.sliced > 0 && shown.broadcast > 0);
}

#define HEAD         "storage: 0 -1 0\nfirst: 0\nrows: 1\ncolumns: 3\nrow_stride: 0\ncolumn_stride: 1\n"
#define ROW          "index[0]: 0 1 2\nx[0]: 0 -1 0\nmax[0]: 0\nexp[0]: 1.0 0.36788 1.0\nsum[0]: 2.36788\n"
#define Y            "y[0]: 0.42232 0.15536 0.42232\n"
#define BLOCK(lines) "text\n```example\n" lines "```\n"

/* Expects `count` examples, or -1 with `word` in the reason. */
static void expect(const char *text, int count, const char *word) {
  char *copy = strdup(text);
  assert_non_null(copy);
  shown_views shown = {0, 0, 0};
  assay_message why = {""};
  assert_int_equal(check_examples(copy, &shown, &why), count);
  free(copy);
  if (strstr(why.text, word) == NULL) fail_msg("\"%s\" does not say \"%s\"", why.text, word);
}

static void test_a_wrong_example_is_found(void **state) {
  (void)state;
  expect(BLOCK(HEAD ROW Y), 1, "");
  expect(BLOCK(HEAD ROW Y) BLOCK(HEAD ROW Y), 2, "");
  expect("text without one\n", -1, "no example");
  expect("```example\n" HEAD ROW Y, -1, "not closed");
  expect(BLOCK(HEAD ROW "y[0]: 0.42232 0.15535 0.42232\n"), -1,
         "y[0] number 2 is 0.15535 but should be 0.1553");
  expect(BLOCK(HEAD ROW "y[0]: 0.42232 0.1554 0.422319\n"), 1, "");
  expect(BLOCK(HEAD ROW "y[0]: 0.42232 0.15536\n"), -1, "2 numbers instead of 3");
  expect(BLOCK(HEAD ROW "y[0]: 0.42232 0.15536 nan\n"), -1, "something else than numbers");
  expect(BLOCK(HEAD ROW), -1, "y[0] has 0 numbers");
  expect(BLOCK(HEAD ROW Y Y), -1, "given twice");
  expect(BLOCK(HEAD ROW Y "x[1]: 1\n"), -1, "no row 1");
  expect(BLOCK(HEAD ROW Y "z[0]: 1\n"), -1, "unknown key \"z[0]\"");
  expect(BLOCK(HEAD ROW Y "remark\n"), -1, "no colon");
  expect(BLOCK(ROW Y), -1, "\"first\" is missing");
  expect(BLOCK("storage: 1\nfirst: 1\nrows: 1\ncolumns: 1\nrow_stride: 1\ncolumn_stride: 1\n"), -1,
         "outside");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lesson_is_right),
      cmocka_unit_test(test_a_wrong_example_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
