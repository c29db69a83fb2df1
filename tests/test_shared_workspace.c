/* SPDX-License-Identifier: MIT */
/* test_shared_workspace.c - two calls with a workspace each are right in every order; one for both is wrong
 * in an order that nothing forbids. On the emulator, and on a GPU where there is one. */
#include "unit.h"

#include "workshops/shared_workspace.h"

static assay_message why;
static char told[4096];

static void say(const char *line) {
  const size_t used = strlen(told);
  assert_true(used + strlen(line) + 2 < sizeof told);
  strcpy(told + used, line);
  strcat(told, "\n");
}

static workspace_trial tried(assay_backend backend, workspace_use use) {
  workspace_trial trial;
  const assay_status status = workspace_try(backend, use, &trial, &why);
  if (status == ASSAY_UNAVAILABLE) {
    print_message("# %s\n", why.text);
    skip();
  }
  if (status != ASSAY_OK) fail_msg("%s: %s", assay_status_name(status), why.text);
  return trial;
}

static void all_right(assay_backend backend, workspace_use use) {
  const workspace_trial trial = tried(backend, use);
  assert_true(trial.elements > 0);
  assert_int_equal(trial.wrong[0], 0);
  assert_int_equal(trial.wrong[1], 0);
  assert_int_equal(trial.rounds_wrong, 0);
}

/* The second call is through before the first one goes on, so it is right; the first one's states are lost.
 */
static void one_for_both(assay_backend backend) {
  const workspace_trial trial = tried(backend, WORKSPACE_SHARED);
  assert_int_equal(trial.wrong[0], trial.elements);
  assert_int_equal(trial.wrong[1], 0);
  assert_true(trial.want > 0 && !(fabs(trial.got - trial.want) <= 0.5 * trial.want));
  if (trial.rounds > 0)
    print_message("# one for both, as they come: wrong after %d of %d\n", trial.rounds_wrong, trial.rounds);
}

static void test_one_each_emulated(void **state) {
  (void)state;
  all_right(ASSAY_SIMT, WORKSPACE_EACH);
}

static void test_one_for_both_emulated(void **state) {
  (void)state;
  one_for_both(ASSAY_SIMT);
}

static void test_one_each_on_a_gpu(void **state) {
  (void)state;
  all_right(ASSAY_CUDA, WORKSPACE_EACH);
}

static void test_one_for_both_on_a_gpu(void **state) {
  (void)state;
  one_for_both(ASSAY_CUDA);
}

static void test_one_in_order_emulated(void **state) {
  (void)state;
  all_right(ASSAY_SIMT, WORKSPACE_IN_ORDER);
}

static void test_one_in_order_on_a_gpu(void **state) {
  (void)state;
  all_right(ASSAY_CUDA, WORKSPACE_IN_ORDER);
}

static void test_what_is_said(void **state) {
  (void)state;
  if (!workspace_show(ASSAY_SIMT, say, &why)) fail_msg("%s", why.text);
  assert_non_null(strstr(told, "a workspace each, the second call between two stages of the first:\n"
                               "  first call: 0 of 18002 elements wrong; second call: 0\n"));
  assert_non_null(strstr(told, "one workspace for both, the second call between two stages of the first:\n"
                               "  first call: 18002 of 18002 elements wrong; second call: 0\n"));
  assert_non_null(strstr(told, "one workspace for both, the second call behind the first:\n"
                               "  first call: 0 of 18002 elements wrong; second call: 0\n"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_each_emulated),     cmocka_unit_test(test_one_for_both_emulated),
      cmocka_unit_test(test_one_each_on_a_gpu),     cmocka_unit_test(test_one_for_both_on_a_gpu),
      cmocka_unit_test(test_one_in_order_emulated), cmocka_unit_test(test_one_in_order_on_a_gpu),
      cmocka_unit_test(test_what_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
