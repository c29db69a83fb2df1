/* SPDX-License-Identifier: MIT */
/*
 * test_normalizer_lesson.c - the worked examples of the normaliser's lesson, recomputed from its text.
 *
 * An example is a ```example block of "name: numbers" lines. What is computed (summary, factors, merged, y)
 * must follow, rounded to the printed decimals, from what is given above it (x, left, right, state).
 */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

enum { MOST_LINES = 32, MOST_NUMBERS = 12 };

/* One line "name: numbers" of an example; the empty state is written -inf 0. */
typedef struct line {
  char name[24];
  int count;
  double number[MOST_NUMBERS];
  int decimals[MOST_NUMBERS];
} line;

static void read_line(const char *text, line *result) {
  const char *colon = strchr(text, ':');
  assert_non_null(colon);
  assert_true(colon - text < (ptrdiff_t)sizeof result->name);
  *result = (line){.count = 0};
  memcpy(result->name, text, (size_t)(colon - text));
  for (const char *at = colon + 1; *(at += strspn(at, " ")) != '\0';) {
    char *end;
    assert_true(result->count < MOST_NUMBERS);
    result->number[result->count] = strtod(at, &end);
    assert_true(end > at && (*end == ' ' || *end == '\0'));
    const char *point = memchr(at, '.', (size_t)(end - at));
    result->decimals[result->count++] = point == NULL ? 0 : (int)(end - point) - 1;
    at = end;
  }
}

static void expect_numbers(const line *got, const double *exact, int count) {
  assert_int_equal(got->count, count);
  for (int i = 0; i < count; i++) {
    if (isinf(exact[i]) && got->number[i] == exact[i]) continue;
    unit_near(got->number[i], exact[i], 0.5 * pow(10, -got->decimals[i]) + 1e-12, got->name);
  }
}

/* The lines in order: x, state; left, right, state; or state, x, y. Each result follows from what stands
 * before it. */
static void check_example(const line *lines, int count) {
  const line *x = NULL;
  const line *parts[2] = {NULL, NULL};
  const line *state = NULL;
  for (int i = 0; i < count; i++) {
    const line *at = &lines[i];
    if (strcmp(at->name, "x") == 0) {
      x = at;
    } else if (strcmp(at->name, "left") == 0) {
      parts[0] = at;
    } else if (strcmp(at->name, "right") == 0) {
      parts[1] = at;
    } else if (strcmp(at->name, "factors") == 0 || strcmp(at->name, "merged") == 0) {
      assert_true(parts[0] != NULL && parts[1] != NULL);
      const double m = fmax(parts[0]->number[0], parts[1]->number[0]);
      double factor[2];
      for (int k = 0; k < 2; k++) factor[k] = parts[k]->number[0] == m ? 1 : exp(parts[k]->number[0] - m);
      const double merge[2] = {m, parts[0]->number[1] * factor[0] + parts[1]->number[1] * factor[1]};
      expect_numbers(at, at->name[0] == 'f' ? factor : merge, 2);
    } else if (strcmp(at->name, "summary") == 0) {
      assert_non_null(x);
      double summary[2] = {-INFINITY, 0};
      for (int k = 0; k < x->count; k++) summary[0] = fmax(summary[0], x->number[k]);
      for (int k = 0; k < x->count; k++) {
        if (x->number[k] > -INFINITY) summary[1] += exp(x->number[k] - summary[0]);
      }
      expect_numbers(at, summary, 2);
    } else if (strcmp(at->name, "state") == 0) {
      state = at;
    } else if (strcmp(at->name, "y") == 0) {
      double y[MOST_NUMBERS];
      assert_true(x != NULL && state != NULL);
      for (int k = 0; k < x->count; k++) y[k] = exp(x->number[k] - state->number[0]) / state->number[1];
      expect_numbers(at, y, x->count);
    } else {
      fail_msg("unknown line \"%s\"", at->name);
    }
  }
}

static void the_lesson_is_right(void **unused) {
  (void)unused;
  char path[ASSAY_PATH_SIZE];
  assert_non_null(assay_source_folder());
  assert_true(assay_path_format(path, "%s/workshops/w4_online_normalizer/lesson.md", assay_source_folder()));
  size_t size;
  char *text = assay_read_file(path, (size_t)1 << 20, &size);
  assert_non_null(text);
  static line lines[MOST_LINES];
  int count = -1;
  int examples = 0;
  for (char *at = text; *at != '\0';) {
    char *next = at + strcspn(at, "\n");
    if (*next != '\0') *next++ = '\0';
    if (count < 0 && strcmp(at, "```example") == 0) {
      count = 0;
    } else if (count >= 0 && strcmp(at, "```") == 0) {
      check_example(lines, count);
      count = -1;
      examples++;
    } else if (count >= 0) {
      assert_true(count < MOST_LINES);
      read_line(at, &lines[count++]);
    }
    at = next;
  }
  free(text);
  assert_int_equal(count, -1); /* the last example is closed */
  assert_true(examples >= 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_lesson_is_right),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
