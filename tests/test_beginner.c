/* SPDX-License-Identifier: MIT */
/*
 * test_beginner.c - the exercises that are no operators: their place in the course, what their validation
 * takes and refuses, what their worked examples print.
 */
#include "unit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "file.h"
#include "ops/ops.h"
#include "tensor.h"
#include "workshops/beginner.h"

/* Operands of a plan at addresses that nobody looks at, far from each other. */
typedef struct call {
  const assay_exercise *exercise;
  const assay_export *function;
  assay_tensor in[ASSAY_MAX_OPERANDS];
  assay_tensor out[ASSAY_MAX_OPERANDS];
  int64_t opt[ASSAY_MAX_OPTIONS];
  int entry;
} call;

static assay_tensor operand(const assay_operand_plan *plan, int place) {
  assay_tensor tensor = assay_tensor_make(NULL, plan->dtype, plan->rank, plan->shape);
  memcpy(tensor.stride, plan->stride, sizeof tensor.stride);
  tensor.data = (void *)((uintptr_t)(place + 1) << 42);
  return tensor;
}

static call call_of(const assay_exercise *exercise, const assay_row *row, int dtype, int layout) {
  call made = {.exercise = exercise};
  assay_plan plan = {0};
  memcpy(plan.opt, row->opt, sizeof plan.opt);
  exercise->subject->plan(row, (assay_dtype)dtype, layout, &plan);
  made.entry = plan.entry;
  made.function = &exercise->subject->exports[plan.entry];
  memcpy(made.opt, plan.opt, sizeof made.opt);
  for (int i = 0; i < made.function->in_count; i++) made.in[i] = operand(&plan.in[i], i);
  for (int i = 0; i < made.function->out_count; i++)
    made.out[i] = operand(&plan.out[i], ASSAY_MAX_OPERANDS + i);
  return made;
}

static assay_status validate(const call *made, assay_message *why) {
  why->text[0] = '\0';
  return made->exercise->subject->validate(made->entry, made->in, made->out, made->opt, ASSAY_LIMITS_WORKSHOP,
                                           why);
}

/* Calls `visit` for every case of every check's table of an exercise that is no operator; how many there
 * were. */
static int each_case(void (*visit)(const call *made)) {
  int count = 0;
  for (int e = 0; e < assay_exercise_count; e++) {
    const assay_exercise *exercise = &assay_exercises[e];
    if (exercise->op != NULL) continue;
    for (const assay_check *check = exercise->subject->checks; check->name != NULL; check++) {
      for (int r = 0; r < check->row_count; r++) {
        for (int dtype = 0; dtype < ASSAY_DTYPE_COUNT; dtype++) {
          for (int layout = 0; layout < exercise->subject->layout_count; layout++) {
            const assay_row *row = &check->rows[r];
            if ((row->dtypes >> dtype & 1u) == 0 || (row->layouts >> layout & 1u) == 0) continue;
            const call made = call_of(exercise, row, dtype, layout);
            visit(&made);
            count++;
          }
        }
      }
    }
  }
  return count;
}

/* ---- the course ---------------------------------------------------------------------------------------- */

static void beginners_come_first(void **state) {
  (void)state;
  bool operators = false;
  for (int i = 0; i < assay_exercise_count; i++) {
    const assay_exercise *exercise = &assay_exercises[i];
    const bool beginner = strcmp(exercise->level, "beginner") == 0;
    operators = operators || exercise->op != NULL;
    assert_true(beginner == (exercise->op == NULL));
    assert_false(beginner && operators); /* none behind an operator */
    assert_string_equal(exercise->subject->name, exercise->name);
    if (!beginner) continue;
    assert_non_null(exercise->explain);
    assert_int_equal(exercise->alias[0], 'b');
    assert_null(assay_operator_find(exercise->name));
  }
  assert_true(operators);
}

static void a_name_means_one_exercise(void **state) {
  (void)state;
  for (int i = 0; i < assay_exercise_count; i++) {
    assert_ptr_equal(assay_exercise_find(assay_exercises[i].name), &assay_exercises[i]);
    assert_ptr_equal(assay_exercise_find(assay_exercises[i].alias), &assay_exercises[i]);
  }
  assert_null(assay_exercise_find("b"));
  assert_null(assay_exercise_find(""));
}

/* ---- validation ---------------------------------------------------------------------------------------- */

static void must_be_valid(const call *made) {
  assay_message why;
  if (validate(made, &why) != ASSAY_OK) fail_msg("%s: %s", made->exercise->name, why.text);
}

static void every_case_is_valid(void **state) {
  (void)state;
  assert_true(each_case(must_be_valid) > 100);
}

static int refused; /* calls that have been refused, in all */

static void must_be_refused(const call *made, assay_status status, const char *word) {
  assay_message why;
  const assay_status got = validate(made, &why);
  if (got != status || strstr(why.text, word) == NULL)
    fail_msg("%s: status %d and \"%s\", not %d and %s", made->exercise->name, (int)got, why.text, (int)status,
             word);
  refused++;
}

static bool is_empty(const assay_tensor *tensor) {
  int64_t count = 0;
  return !assay_tensor_count(tensor, &count) || count == 0;
}

/* One thing wrong with one operand. */
static void spoil_operand(const call *made, bool output, int i) {
  const assay_tensor *tensor = output ? &made->out[i] : &made->in[i];
  const char *name = output ? made->function->out_names[i] : made->function->in_names[i];
  const bool same_type = made->in[0].dtype != ASSAY_FP64;
  call bad = *made;
  assay_tensor *spoiled = output ? &bad.out[i] : &bad.in[i];
  spoiled->dtype = same_type ? ASSAY_FP64 : ASSAY_FP32;
  must_be_refused(&bad, ASSAY_BAD_DTYPE, name);
  bad = *made;
  spoiled->rank = ASSAY_MAX_RANK + 1;
  must_be_refused(&bad, ASSAY_BAD_SHAPE, "rank");
  bad = *made;
  spoiled->stride[0] = -1;
  must_be_refused(&bad, ASSAY_BAD_STRIDE, name);
  bad = *made;
  if (is_empty(tensor)) return;
  spoiled->data = NULL;
  must_be_refused(&bad, ASSAY_BAD_POINTER, name);
  spoiled->data = (char *)tensor->data + 1;
  must_be_refused(&bad, ASSAY_BAD_POINTER, name);
  spoiled->data = tensor->data;
  spoiled->shape[0] = INT64_MAX / 2;
  assay_message why;
  assert_int_not_equal(validate(&bad, &why), ASSAY_OK);
  assert_true(strlen(why.text) > 0);
}

static void spoil(const call *made) {
  const assay_export *function = made->function;
  for (int i = 0; i < function->in_count; i++) spoil_operand(made, false, i);
  for (int i = 0; i < function->out_count; i++) spoil_operand(made, true, i);
  for (int i = 0; i < function->in_count; i++) {
    call bad = *made;
    if (is_empty(&bad.in[i]) || is_empty(&bad.out[0])) continue;
    bad.in[i].data = bad.out[0].data;
    must_be_refused(&bad, ASSAY_BAD_ALIAS, function->in_names[i]);
  }
  for (int i = 0; i < made->exercise->subject->opt_count; i++) {
    call bad = *made;
    bad.opt[i] = -1;
    must_be_refused(&bad, ASSAY_BAD_OPTION, made->exercise->subject->opt_names[i]);
  }
}

static void bad_operands_are_refused(void **state) {
  (void)state;
  refused = 0;
  assert_true(each_case(spoil) > 0);
  assert_true(refused > 1000);
}

static void missing(const call *made) {
  for (int i = 0; i < made->function->in_count; i++) {
    call bad = *made;
    if (bad.in[i].rank != bad.out[0].rank || is_empty(&bad.in[i]) || is_empty(&bad.out[0])) continue;
    bad.in[i].shape[0] = bad.in[i].shape[0] - 1;
    assay_message why;
    const assay_status status = validate(&bad, &why);
    /* Inputs that have sizes of their own: not empty, and any. */
    if (strcmp(made->exercise->name, "measurement") == 0 && bad.in[i].shape[0] > 0) continue;
    if (strcmp(made->exercise->name, "cuda_sum") == 0) continue;
    if (status != ASSAY_BAD_SHAPE || why.text[0] == '\0')
      fail_msg("%s: \"%s\"", made->exercise->name, why.text);
    refused++;
  }
}

static void sizes_that_do_not_fit_are_refused(void **state) {
  (void)state;
  refused = 0;
  assert_true(each_case(missing) > 0);
  assert_true(refused > 50);
}

/* ---- worked examples ----------------------------------------------------------------------------------- */

/* What a walkthrough writes, to be freed; NULL with the sentence. */
static char *written(const assay_walkthrough *explain, const double *values, int count, assay_message *why) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  why->text[0] = '\0';
  const bool good = explain->write(values, count, out, why);
  assert_int_equal(fclose(out), 0);
  if (good) return text;
  assert_int_equal(size, 0); /* nothing is written before the values are judged */
  free(text);
  return NULL;
}

static void the_lesson_example_is_explained(void **state) {
  (void)state;
  for (int e = 0; e < assay_exercise_count; e++) {
    const assay_walkthrough *explain = assay_exercises[e].explain;
    assay_message why;
    if (explain == NULL) continue;
    assert_in_range(explain->example_count, explain->least, explain->most);
    char *text = written(explain, explain->example, explain->example_count, &why);
    if (text == NULL) fail_msg("%s: %s", assay_exercises[e].name, why.text);
    assert_int_equal(text[strlen(text) - 1], '\n');
    for (const char *c = text; *c != '\0'; c++) assert_true(isprint((unsigned char)*c) || *c == '\n');
    assert_null(strstr(text, "nan"));
    free(text);
  }
}

/* NaN, infinities, 0, huge and negative numbers at every place, with the fewest and the most values. */
static void odd_values_are_explained_or_refused(void **state) {
  (void)state;
  const double odd[] = {NAN, INFINITY, -INFINITY, 0, -1, 0.5, 1e300, 1e-300, 3};
  for (int e = 0; e < assay_exercise_count; e++) {
    const assay_walkthrough *explain = assay_exercises[e].explain;
    if (explain == NULL) continue;
    double *values = malloc(sizeof *values * (size_t)explain->most);
    assert_non_null(values);
    for (int count = explain->least; count <= explain->most;
         count += 1 + (count > 8 ? explain->most / 3 : 0)) {
      for (int place = 0; place < count; place += 1 + count / 4) {
        for (size_t k = 0; k < sizeof odd / sizeof odd[0]; k++) {
          assay_message why;
          for (int i = 0; i < count; i++) values[i] = i == place ? odd[k] : 2;
          char *text = written(explain, values, count, &why);
          if (text == NULL) assert_true(strlen(why.text) > 0);
          if (text != NULL) assert_true(strlen(text) > 0);
          free(text);
        }
      }
    }
    free(values);
  }
}

static void expect_lines(const char *name, const double *values, int count, const char *want) {
  assay_message why;
  const assay_walkthrough *explain = assay_exercise_find(name)->explain;
  char *text = written(explain, values, count, &why);
  assert_non_null(text);
  if (strstr(text, want) == NULL) fail_msg("%s: \"%s\" is not in:\n%s", name, want, text);
  free(text);
}

/* Numbers that stand in a lesson and come out of its worked example. */
static void lessons_say_what_is_computed(void **state) {
  (void)state;
  static const char *const both[][6] = {
      {"offsets", "8 9 10 11", "1 1 0 0", "50 60 70 80", "900 1000 - -"},
      {"reduction", "3 1 4 1 5 0 0 0", "8 1 4 1", "12 2", "14"},
      {"softmax", "0.135335", "0.367879", "0.665241", "0.244728"},
      {"rmsnorm", "12.5", "0.848528", "1.13137", "1.97656"},
      {"measurement", "80 90 100 110 300", "136", "1.96078", "235.294"},
  };
  for (size_t i = 0; i < sizeof both / sizeof both[0]; i++) {
    const assay_exercise *exercise = assay_exercise_find(both[i][0]);
    char path[ASSAY_PATH_SIZE];
    size_t size = 0;
    assay_message why;
    assert_true(
        assay_path_format(path, "%s/workshops/%s/lesson.md", assay_source_folder(), exercise->folder));
    char *lesson = assay_read_file(path, (size_t)1 << 20, &size);
    char *text =
        written(exercise->explain, exercise->explain->example, exercise->explain->example_count, &why);
    assert_true(lesson != NULL && text != NULL);
    for (int k = 1; k < 6 && both[i][k] != NULL; k++) {
      if (strstr(lesson, both[i][k]) == NULL) fail_msg("%s does not say %s", path, both[i][k]);
      if (strstr(text, both[i][k]) == NULL) fail_msg("explain %s does not say %s", both[i][0], both[i][k]);
    }
    free(lesson);
    free(text);
  }
}

static void own_numbers_are_explained(void **state) {
  (void)state;
  expect_lines("offsets", (const double[]){3, 1, 2, 3, 4}, 5,
               "block 1: offsets 3 4 5, mask 1 0 0, scale 10: y = 40 - -");
  expect_lines("strides", (const double[]){2, 2, 0, 1}, 4, "repeated");
  expect_lines("reduction", (const double[]){7}, 1, "the tree gives 7 after 0 levels");
  expect_lines("reduction", (const double[]){1, 0x1.8p-25, 0x1.8p-25, 0x1.8p-25}, 4,
               "the tree gives 1.00000012 after 2 levels; one running FP32 sum gives 1 ");
  expect_lines("softmax", (const double[]){1000, 1000}, 2,
               "y = 0.5 0.5\nwithout the maximum, FP32 gives nan nan");
  expect_lines("rmsnorm", (const double[]){3, 4}, 2, "once to BF16: 1.48438 1.97656");
  expect_lines("rmsnorm", (const double[]){3, 4}, 2, "before: 1.48438 1.98438");
  expect_lines("matmul", (const double[]){4, 4, 4, 6}, 4, "1 x 1 tiles, each in 2 steps");
  expect_lines("measurement", (const double[]){100, 4, 2}, 3, "rate = 100 bytes / 2 ns = 50 GB/s");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(beginners_come_first),
      cmocka_unit_test(a_name_means_one_exercise),
      cmocka_unit_test(every_case_is_valid),
      cmocka_unit_test(bad_operands_are_refused),
      cmocka_unit_test(sizes_that_do_not_fit_are_refused),
      cmocka_unit_test(the_lesson_example_is_explained),
      cmocka_unit_test(odd_values_are_explained_or_refused),
      cmocka_unit_test(lessons_say_what_is_computed),
      cmocka_unit_test(own_numbers_are_explained),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
