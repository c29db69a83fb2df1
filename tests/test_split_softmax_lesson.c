/* SPDX-License-Identifier: MIT */
/*
 * test_split_softmax_lesson.c - the worked examples of the lesson on split softmax, recomputed in FP64 from
 * its text.
 *
 * An example is a ```example block of "key: numbers" lines, all keys once, in any order. Each printed number
 * must be the exact one rounded to as many decimals as are printed.
 */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

enum { MOST = 32, LESSON_LIMIT = 1 << 20 };

typedef enum key { X, CHUNK, CHUNKS, FLOATS, MAXIMUM, SUM, ROW_MAXIMUM, ROW_SUM, Y, KEYS } key;

static const char *const names[KEYS] = {"x",   "chunk",       "chunks",  "floats", "maximum",
                                        "sum", "row_maximum", "row_sum", "y"};

typedef struct numbers {
  int count;
  double value[MOST];
  int decimals[MOST];
} numbers;

/* "-inf" is a number here; anything that is none fails the test. */
static void read_numbers(const char *text, numbers *list) {
  assert_int_equal(list->count, 0); /* given once */
  while (*(text += strspn(text, " ")) != '\0') {
    char *end;
    const double value = strtod(text, &end);
    assert_true(end != text && !isnan(value) && (*end == ' ' || *end == '\0') && list->count < MOST);
    const char *point = memchr(text, '.', (size_t)(end - text));
    list->value[list->count] = value;
    list->decimals[list->count++] = point == NULL ? 0 : (int)(end - point) - 1;
    text = end;
  }
}

static void same(const numbers *got, const double *want, int count, key which) {
  if (got->count != count) fail_msg("%s has %d numbers instead of %d", names[which], got->count, count);
  for (int i = 0; i < count; i++) {
    const bool equal = got->value[i] == want[i]; /* infinities */
    if (equal || fabs(got->value[i] - want[i]) <= 0.5 * pow(10, -got->decimals[i]) + 1e-12) continue;
    fail_msg("%s number %d is %.*f but should be %.7f", names[which], i + 1, got->decimals[i], got->value[i],
             want[i]);
  }
}

/* The sum over x[first..last-1] relative to its maximum; of nothing finite 0. */
static double sum_of(const double *x, int first, int last, double *maximum) {
  double sum = 0;
  *maximum = -INFINITY;
  for (int i = first; i < last; i++) *maximum = fmax(*maximum, x[i]);
  for (int i = first; i < last; i++) sum += x[i] == -INFINITY ? 0 : exp(x[i] - *maximum);
  return sum;
}

static void check_example(const numbers lines[KEYS]) {
  const double *x = lines[X].value;
  const int n = lines[X].count;
  const int chunk = (int)lines[CHUNK].value[0];
  assert_true(n > 0 && lines[CHUNK].count == 1 && chunk > 0);
  double maximum[MOST] = {0}, sum[MOST] = {0}, row_maximum[MOST] = {0}, row_sum[MOST] = {0}, y[MOST] = {0};
  double chunks = 0;
  for (int first = 0; first < n; first += chunk, chunks++) {
    const int last = first + chunk < n ? first + chunk : n;
    const int k = (int)chunks;
    sum[k] = sum_of(x, first, last, &maximum[k]);
    /* Not by merging: the state of everything so far, from its definition. */
    row_sum[k] = sum_of(x, 0, last, &row_maximum[k]);
  }
  const int count = (int)chunks;
  for (int i = 0; i < n; i++) y[i] = exp(x[i] - row_maximum[count - 1]) / row_sum[count - 1];
  const double floats = 2 * chunks + 2;
  same(&lines[CHUNKS], &chunks, 1, CHUNKS);
  same(&lines[FLOATS], &floats, 1, FLOATS);
  same(&lines[MAXIMUM], maximum, count, MAXIMUM);
  same(&lines[SUM], sum, count, SUM);
  same(&lines[ROW_MAXIMUM], row_maximum, count, ROW_MAXIMUM);
  same(&lines[ROW_SUM], row_sum, count, ROW_SUM);
  same(&lines[Y], y, n, Y);
}

static void read_line(numbers lines[KEYS], char *line) {
  char *colon = strchr(line, ':');
  assert_non_null(colon);
  *colon = '\0';
  int which = 0;
  while (which < KEYS && strcmp(line, names[which]) != 0) which++;
  if (which == KEYS) fail_msg("unknown key \"%s\"", line);
  read_numbers(colon + 1, &lines[which]);
}

static void the_examples_are_right(void **state) {
  (void)state;
  char path[ASSAY_PATH_SIZE];
  assert_non_null(assay_source_folder());
  assert_true(assay_path_format(path, "%s/workshops/w5_split_softmax/lesson.md", assay_source_folder()));
  size_t size;
  char *text = assay_read_file(path, LESSON_LIMIT, &size);
  assert_non_null(text);
  numbers lines[KEYS];
  bool inside = false;
  int count = 0, masked = 0;
  for (char *line = text, *next; *line != '\0'; line = next) {
    next = line + strcspn(line, "\n");
    if (*next != '\0') *next++ = '\0';
    if (!inside && strcmp(line, "```example") == 0) {
      memset(lines, 0, sizeof lines);
      inside = true;
    } else if (inside && strcmp(line, "```") == 0) {
      check_example(lines);
      inside = false;
      count++;
      masked += lines[MAXIMUM].value[0] == -INFINITY ? 1 : 0;
    } else if (inside) {
      read_line(lines, line);
    }
  }
  free(text);
  assert_false(inside);
  assert_true(count >= 3 && masked >= 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_examples_are_right)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
