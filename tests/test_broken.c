/* SPDX-License-Identifier: MIT */
/* test_broken.c - reading broken.txt, and applying a defect exactly once. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "check/broken.h"

static const char good[] = "# a comment\n"
                           "[first_one]\n"
                           "file: k.c\n"
                           "caught-by: some_check\n"
                           "why: because\n"
                           "-   old line\n"
                           "-\n"
                           "-   second\n"
                           "+   new line\n"
                           "\n"
                           "[second_one]\n"
                           "file: ops/x/y.c\n"
                           "caught-by: other\n"
                           "why: deletes\n"
                           "- gone\n";

static void blocks_are_read(void **state) {
  (void)state;
  broken_list list;
  assay_message why = {""};
  assert_true(broken_parse(good, &list, &why));
  assert_int_equal(list.count, 2);
  assert_string_equal(list.defects[0].name, "first_one");
  assert_string_equal(list.defects[0].file, "k.c");
  assert_string_equal(list.defects[0].caught_by, "some_check");
  assert_string_equal(list.defects[0].why, "because");
  assert_string_equal(list.defects[0].old_text, "  old line\n\n  second");
  assert_string_equal(list.defects[0].new_text, "  new line");
  assert_int_equal(list.defects[0].line, 2);
  assert_string_equal(list.defects[1].new_text, "");
  broken_free(&list);
}

static void empty_text_is_an_empty_list(void **state) {
  (void)state;
  broken_list list;
  assay_message why = {""};
  assert_true(broken_parse("", &list, &why));
  assert_int_equal(list.count, 0);
  broken_free(&list);
}

static void refused(const char *text, const char *message) {
  broken_list list;
  assay_message why = {""};
  assert_false(broken_parse(text, &list, &why));
  if (strstr(why.text, message) == NULL) fail_msg("\"%s\" does not hold \"%s\"", why.text, message);
  assert_int_equal(list.count, 0);
  assert_null(list.defects);
}

static void faults_are_named_with_their_line(void **state) {
  (void)state;
  refused("file: k.c\n", "line 1: text before the first");
  refused("[a]\nfile: k\ncaught-by: c\nwhy: w\n", "line 4: no old text");
  refused("[a]\ncaught-by: c\nwhy: w\n- x\n", "no \"file:\"");
  refused("[a]\nfile: k\nwhy: w\n- x\n", "no \"caught-by:\"");
  refused("[a]\nfile: k\ncaught-by: c\n- x\n", "no \"why:\"");
  refused("[a]\nfile: k\nfile: l\n", "line 3: given twice");
  refused("[a]\nfile: k\ncaught-by: c\nwhy: w\n- x\n+ x\n", "the same");
  refused("[a]\nfile: k\ncaught-by: c\nwhy: w\n-x\n", "line 5: a space must follow");
  refused("[A b]\n", "line 1: a defect's name");
  refused("[a\n", "line 1: a block starts");
  refused("[a]\nfile: k\ncaught-by: c\nwhy: w\n- x\n[a]\n", "line 6: the name is taken");
  refused("[a]\nsomething: k\n", "line 2: expected");
  refused("[a]\nfile: k\ncaught-by: c\nwhy: w\nseen-on: cpu\n- x\n", "must be simt or cuda");
}

static void places_to_be_seen_on(void **state) {
  (void)state;
  broken_list list;
  assay_message why = {""};
  assert_true(broken_parse("[a]\nfile: k\ncaught-by: c\nwhy: w\nseen-on: cuda\n- x\n"
                           "[b]\nfile: k\ncaught-by: c\nwhy: w\nseen-on: simt\n- x\n"
                           "[c]\nfile: k\ncaught-by: c\nwhy: w\n- x\n",
                           &list, &why));
  assert_int_equal(list.count, 3);
  assert_string_equal(list.defects[0].seen_on, "cuda");
  assert_string_equal(list.defects[1].seen_on, "simt");
  assert_null(list.defects[2].seen_on);
  broken_free(&list);
}

static char *apply(const char *old_text, const char *new_text, const char *source, assay_message *why) {
  const broken_defect defect = {.name = (char *)(uintptr_t) "d",
                                .file = (char *)(uintptr_t) "f",
                                .old_text = (char *)(uintptr_t)old_text,
                                .new_text = (char *)(uintptr_t)new_text};
  return broken_apply(&defect, source, why);
}

static void exactly_one_place_is_replaced(void **state) {
  (void)state;
  assay_message why = {""};
  char *text = apply("b", "B\nB", "a\nb\nc\n", &why);
  assert_string_equal(text, "a\nB\nB\nc\n");
  free(text);
  text = apply("a", "", "a\nb", &why);
  assert_string_equal(text, "\nb");
  free(text);
  text = apply("b", "B", "ab\nb\nba\n", &why); /* whole lines only */
  assert_string_equal(text, "ab\nB\nba\n");
  free(text);
  assert_null(apply("z", "y", "a\nb\n", &why));
  assert_non_null(strstr(why.text, "does not occur"));
  assert_null(apply("a", "y", "a\nb\na\n", &why));
  assert_non_null(strstr(why.text, "more than once"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_are_read),
      cmocka_unit_test(empty_text_is_an_empty_list),
      cmocka_unit_test(faults_are_named_with_their_line),
      cmocka_unit_test(places_to_be_seen_on),
      cmocka_unit_test(exactly_one_place_is_replaced),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
