/* SPDX-License-Identifier: MIT */
/*
 * test_dispatch.c - which variant a call takes: the first of the table that runs here and is preferred,
 * unless one is asked for by name.
 */
#include "unit.h"

#include "ops/ops.h"
#include "queue.h"

static int taken; /* which kernel ran last */
static int asked; /* how often the hook was called */
static bool answer;

static assay_status first_kernel(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                 assay_queue *queue) {
  (void)in, (void)out, (void)opt, (void)queue;
  taken = 1;
  return ASSAY_OK;
}

static assay_status second_kernel(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                  assay_queue *queue) {
  (void)in, (void)out, (void)opt, (void)queue;
  taken = 2;
  return ASSAY_OK;
}

static bool hook(void) {
  asked++;
  return answer;
}

static assay_status accept_all(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                               assay_limits limits, assay_message *why) {
  (void)entry, (void)in, (void)out, (void)opt, (void)limits, (void)why;
  return ASSAY_OK;
}

/* A feature that no CPU has, so that a variant cannot run. */
enum { NO_SUCH_FEATURE = 1 << 30 };

static const assay_variant variants[] = {
    {.name = "cannot_run", .features = NO_SUCH_FEATURE, .preferred = hook, .entry = {first_kernel}},
    {.name = "timed", .preferred = hook, .entry = {first_kernel}},
    {.name = "usual", .entry = {second_kernel}},
};
static const assay_operator op = {
    .subject = {.name = "nothing",
                .exports = {{.name = "nothing"}},
                .export_count = 1,
                .validate = accept_all},
    .variants = variants,
    .variant_count = 3,
};

static int run(const assay_variant *variant) {
  assay_queue queue;
  assay_queue_init_cpu(&queue, 1);
  const assay_tensor none[1] = {{0}};
  assay_message why = {""};
  taken = asked = 0;
  assert_int_equal(assay_operator_call(&op, variant, 0, none, none, NULL, &queue, &why), ASSAY_OK);
  return taken;
}

static void the_hook_decides_between_two(void **state) {
  (void)state;
  answer = true;
  assert_int_equal(run(NULL), 1);
  assert_int_equal(asked, 1); /* not for the one that cannot run */
  answer = false;
  assert_int_equal(run(NULL), 2);
  assert_int_equal(asked, 1);
}

static void a_name_overrules_the_hook(void **state) {
  (void)state;
  answer = false;
  assert_int_equal(run(assay_variant_find(&op, "timed")), 1);
  assert_int_equal(asked, 0);
  answer = true;
  assert_int_equal(run(assay_variant_find(&op, "usual")), 2);
}

static void without_a_hook_a_variant_is_preferred(void **state) {
  (void)state;
  answer = false;
  assert_true(assay_variant_is_preferred(&variants[2]));
  assert_false(assay_variant_is_preferred(&variants[1]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_hook_decides_between_two),
      cmocka_unit_test(a_name_overrules_the_hook),
      cmocka_unit_test(without_a_hook_a_variant_is_preferred),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
