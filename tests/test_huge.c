/* SPDX-License-Identifier: MIT */
/*
 * test_huge.c - the run function of the checks beyond 2^31 elements, on operands that are small but longer
 * than what it repeats: right kernels pass, and one whose index wraps around does not.
 */
#include "probe.h" /* before cmocka, which has a macro of the name of one of its functions */

#include "folder.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench_table.h"
#include "check/engine.h"
#include "check/mustfail.h"

static check_totals totals;
static char reason[256];
static verdict last;

static void collect(void *user, const check_result *result) {
  (void)user;
  last = result->verdict;
  snprintf(reason, sizeof reason, "%s", result->reason);
}

/* The verdict on one case of the operator with these sizes; its contents are those of its suite. */
static verdict judged(const char *name, const int64_t dims[ASSAY_MAX_DIMS], target_kind kind, int index,
                      const char *source) {
  const assay_operator *op = assay_operator_find(name);
  assert_non_null(op);
  assay_row row = op->bench->rows[0];
  memcpy(row.dims, dims, sizeof row.dims);
  row.dtypes = ASSAY_HAS_FP16;
  row.layouts = 1; /* packed */
  const assay_check checks[] = {{.name = "huge",
                                 .stage = "contract",
                                 .catches = "indices wrap around",
                                 .backends = ASSAY_ON_CPU,
                                 .rows = &row,
                                 .row_count = 1,
                                 .run = assay_probe_huge},
                                {.name = NULL}};
  assay_subject subject = op->subject;
  subject.checks = checks;
  const check_target target = {.kind = kind,
                               .subject = &subject,
                               .op = op,
                               .source = source,
                               .index = index,
                               .label = "test",
                               .repeat_command = "test",
                               .backend = ASSAY_CPU};
  const check_options options = {.seed = 5, .tier = ASSAY_TIER_L, .seconds = 60};
  assay_message why = {""};
  last = VERDICT_UNAVAILABLE;
  if (!check_run(&target, &options, collect, NULL, &totals, &why)) fail_msg("%s", why.text);
  return last;
}

/* More elements than are repeated, in an input at least. */
static const struct sized {
  const char *name;
  int64_t dims[ASSAY_MAX_DIMS];
} sized[] = {{"strided_softmax", {300, 4099}},
             {"softmax_backward", {300, 4099}},
             {"fused_gemm", {150, 9, 8192}},
             {"split_softmax", {9, 131072}},
             {"streaming_attention", {16, 32, 8, 300}}};

static void test_right_kernels_pass(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof sized / sizeof sized[0]; i++) {
    const assay_operator *op = assay_operator_find(sized[i].name);
    assert_non_null(op);
    const int plain = op->variant_count - 1;
    if (judged(sized[i].name, sized[i].dims, TARGET_LIBRARY, plain, NULL) != VERDICT_PASS)
      fail_msg("%s: %s", sized[i].name, reason);
  }
}

static void test_wrong_kernels_fail(void **state) {
  (void)state;
  static const char *const lazy[] = {"zeros", "constant", "copy"};
  for (size_t i = 0; i < sizeof lazy / sizeof lazy[0]; i++) {
    int index = 0;
    while (index < must_fail_count && strcmp(must_fail_kernels[index].name, lazy[i]) != 0) index++;
    assert_true(index < must_fail_count);
    if (judged("strided_softmax", sized[0].dims, TARGET_MUST_FAIL, index, NULL) != VERDICT_FAIL)
      fail_msg("%s passed", lazy[i]);
  }
}

/* As an index of 32 bits does after 2^32 elements, this one wraps around after 2^20; 300 rows of 4099 have a
 * few more. */
static const char wrapping[] =
    "#include \"assay/workshop.h\"\n"
    "assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,\n"
    "                             assay_queue *queue) {\n"
    "  (void)opt, (void)queue;\n"
    "  const int64_t columns = in->shape[1];\n"
    "  for (int64_t r = 0; r < in->shape[0]; r++) {\n"
    "    float m = -INFINITY;\n"
    "    double sum = 0;\n"
    "    for (int64_t c = 0; c < columns; c++) m = fmaxf(m, assay_load(in->data, in->dtype, READ(r * columns "
    "+ c)));\n"
    "    for (int64_t c = 0; c < columns; c++) sum += expf(assay_load(in->data, in->dtype, READ(r * columns "
    "+ c)) - m);\n"
    "    for (int64_t c = 0; c < columns; c++)\n"
    "      assay_store(out->data, out->dtype, WRITTEN(r * columns + c),\n"
    "                  (float)(expf(assay_load(in->data, in->dtype, READ(r * columns + c)) - m) / sum));\n"
    "  }\n"
    "  return ASSAY_OK;\n"
    "}\n";

static verdict with_indices(const char *read, const char *written) {
  char text[4096];
  const char *path = in_folder("wraps.c");
  const int length =
      snprintf(text, sizeof text, "#define READ(i) %s\n#define WRITTEN(i) %s\n%s", read, written, wrapping);
  assert_true(length > 0 && length < (int)sizeof text);
  assert_true(assay_write_file(path, text, (size_t)length, 0600));
  return judged("strided_softmax", sized[0].dims, TARGET_OBJECT, 0, path);
}

static void test_an_index_that_wraps(void **state) {
  (void)state;
  if (with_indices("(i)", "(i)") != VERDICT_PASS) fail_msg("%s", reason);
  assert_int_equal(with_indices("((i) & 0xfffff)", "(i)"), VERDICT_FAIL);
  if (strstr(reason, "y[") == NULL) fail_msg("%s", reason);
  assert_int_equal(with_indices("(i)", "((i) & 0xfffff)"), VERDICT_FAIL);
  if (strstr(reason, "y[") == NULL) fail_msg("%s", reason);
}

/* The engine starts this very program again as its worker. */
int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "--worker") == 0) return worker_main((int)strtol(argv[2], NULL, 10));
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_right_kernels_pass, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_wrong_kernels_fail, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_an_index_that_wraps, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
