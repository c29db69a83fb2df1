/* SPDX-License-Identifier: MIT */
/* judge_expect.c - the oracle's values, the proof that a lazy output fails, and the report of a wrong one. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "compare.h"
#include "half.h"
#include "judge.h"
#include "judge_request.h"
#include "tensor.h"

static void tensors_of(const case_operand *operands, int count, assay_tensor *tensors) {
  for (int i = 0; i < count; i++) tensors[i] = operands[i].tensor;
}

void judge_expected_free(judge_expected *expected) {
  free(expected->want);
  free(expected->allowed);
  *expected = (judge_expected){0};
}

bool judge_expect_begin(judge *self, const assay_case *operands, judge_expected *expected) {
  const assay_tensor *y = &operands->out[0].tensor;
  *expected = (judge_expected){.columns = y->shape[y->rank - 1]};
  if (!assay_tensor_count(y, &expected->count))
    return judge_end(self, VERDICT_FAIL, "the output's size overflows");
  const size_t bytes = sizeof(double) * (size_t)(expected->count > 0 ? expected->count : 1);
  expected->want = malloc(bytes);
  expected->allowed = malloc(bytes);
  if (expected->want == NULL || expected->allowed == NULL) {
    judge_expected_free(expected);
    return judge_end(self, VERDICT_UNAVAILABLE, "not enough memory for the oracle's %lld elements",
                     (long long)expected->count);
  }
  assay_tensor in[ASSAY_MAX_OPERANDS];
  assay_tensor out[ASSAY_MAX_OPERANDS];
  tensors_of(operands->in, operands->function->in_count, in);
  tensors_of(operands->out, operands->function->out_count, out);
  const int64_t start = assay_now_ns();
  if (expected->count > 0) {
    self->probe.subject->oracle(operands->entry, in, out, operands->opt, 0, y->shape[0], expected->want,
                                expected->allowed);
  }
  self->oracle_seconds = (double)(assay_now_ns() - start) * 1e-9;
  return true;
}

static comparison comparing(const assay_case *operands, const judge_expected *expected) {
  assert(expected->want != NULL && expected->allowed != NULL);
  return (comparison){.dtype = operands->out[0].tensor.dtype,
                      .got = case_result(operands, 0),
                      .want = expected->want,
                      .allowed = expected->allowed,
                      .count = expected->count,
                      .columns = expected->columns,
                      .poison = operands->poison};
}

/* Whether the first input's values, element by element, would pass as the output. */
static bool copy_passes(const assay_case *operands, const comparison *what) {
  int64_t count = 0;
  if (!assay_tensor_count(&operands->in[0].tensor, &count) || count != what->count) return false;
  double *values = malloc(sizeof *values * (size_t)(count > 0 ? count : 1));
  if (values == NULL) return false;
  case_read(&operands->in[0], values);
  const bool passes = compare_values_pass(what, values);
  free(values);
  return passes;
}

bool judge_expect_proof(judge *self, const assay_case *operands, const judge_expected *expected,
                        bool degenerate) {
  const comparison what = comparing(operands, expected);
  const char *lazy = compare_zeros_pass(&what)        ? "an output of zeros"
                     : compare_constant_passes(&what) ? "a constant output"
                     : copy_passes(operands, &what)   ? "a copy of the input"
                                                      : NULL;
  if (lazy != NULL && !degenerate) {
    return judge_end(self, VERDICT_FAIL, "the check is too weak: %s would pass this case", lazy);
  }
  if (lazy == NULL && degenerate) {
    return judge_end(self, VERDICT_FAIL,
                     "the check is marked degenerate, but no lazy output would pass this case");
  }
  return true;
}

/* Nine digits; NaN without the sign that printf would show. */
static const char *value_text(double value, char text[32]) {
  if (isnan(value)) return "nan";
  snprintf(text, 32, "%.9g", value);
  return text;
}

/* The rows around the element, where the first input has the output's shape. */
static void show_rows(judge *self, const assay_case *operands, int64_t flat) {
  const case_operand *x = &operands->in[0];
  const case_operand *y = &operands->out[0];
  char row[256];
  if (x->tensor.rank != y->tensor.rank) return;
  for (int i = 0; i < y->tensor.rank; i++) {
    if (x->tensor.shape[i] != y->tensor.shape[i]) return;
  }
  size_t used = strlen(self->detail);
  case_show_row(x, x->tensor.data, flat, row, sizeof row);
  used +=
      (size_t)snprintf(self->detail + used, sizeof self->detail - used, "row of %s:    %s\n", x->name, row);
  case_show_row(y, case_result(operands, 0), flat, row, sizeof row);
  snprintf(self->detail + used, sizeof self->detail - used, "row of %s:    %s\n", y->name, row);
}

/* One element as a sentence, and as lines. */
static void report(judge *self, const assay_case *operands, int64_t flat, double got, double want,
                   double allowed, const char *more) {
  const assay_dtype dtype = operands->out[0].tensor.dtype;
  char element[128];
  char off[160] = "";
  case_name_element(&operands->out[0], flat, element, sizeof element);
  const double error = fabs(got - want);
  if (isfinite(error)) {
    snprintf(off, sizeof off, ", off by %.3g ulp where %.3g is allowed", error / assay_ulp(dtype, want),
             allowed / assay_ulp(dtype, want));
  }
  char numbers[2][32];
  const char *expected = value_text(assay_round_to(dtype, want), numbers[0]);
  const char *received = value_text(got, numbers[1]);
  (void)judge_end(self, VERDICT_FAIL, "%s: expected %s, got %s%s%s", element, expected, received, off, more);
  snprintf(self->detail, sizeof self->detail,
           "first wrong: %s\nexpected:    %s\ngot:         %s\nerror:       %.3g, allowed %.3g\n", element,
           expected, received, fabs(error), allowed);
  show_rows(self, operands, flat);
}

bool judge_expect_compare(judge *self, const assay_case *operands, const judge_expected *expected) {
  const comparison what = comparing(operands, expected);
  const comparison_result result = compare_all(&what);
  if (result.wrong > 0) {
    char pattern[256];
    char more[400];
    compare_diagnose(&what, &result, pattern, sizeof pattern);
    snprintf(more, sizeof more, "; %lld of %lld wrong%s%s", (long long)result.wrong, (long long)what.count,
             pattern[0] != '\0' ? ", " : "", pattern);
    const int64_t i = result.first;
    report(self, operands, i, assay_get(what.got, what.dtype, i), what.want[i], what.allowed[i], more);
    const size_t used = strlen(self->detail);
    snprintf(self->detail + used, sizeof self->detail - used, "wrong:       %lld of %lld%s%s\n",
             (long long)result.wrong, (long long)what.count, pattern[0] != '\0' ? ": " : "", pattern);
    return false;
  }
  /* The comparison took a while: whoever writes after the return has had time for it. */
  if (!case_unchanged(operands)) {
    return judge_end(self, VERDICT_SUSPECT, "%s changed after the kernel had returned",
                     operands->out[0].name);
  }
  return true;
}

static bool expect_oracle(assay_probe *probe, assay_case *operands, bool degenerate) {
  judge *self = (judge *)probe;
  judge_expected expected = {0};
  if (self->verdict != VERDICT_PASS || operands == NULL) return false;
  const bool right = judge_expect_begin(self, operands, &expected) &&
                     judge_expect_proof(self, operands, &expected, degenerate) &&
                     judge_expect_compare(self, operands, &expected);
  judge_expected_free(&expected);
  return right;
}

static bool expect(assay_probe *probe, assay_case *operands, int64_t flat, double want, double allowed) {
  judge *self = (judge *)probe;
  if (self->verdict != VERDICT_PASS || operands == NULL) return false;
  const assay_dtype dtype = operands->out[0].tensor.dtype;
  const double got = assay_get(case_result(operands, 0), dtype, flat);
  if (compare_element(dtype, got, want, allowed)) return true;
  report(self, operands, flat, got, want, allowed, "");
  return false;
}

static bool expect_same(assay_probe *probe, assay_case *left, assay_case *right) {
  judge *self = (judge *)probe;
  if (self->verdict != VERDICT_PASS || left == NULL || right == NULL) return false;
  const assay_tensor *y = &left->out[0].tensor;
  int64_t count = 0;
  if (!assay_tensor_count(y, &count) || left->out[0].buffer.bytes != right->out[0].buffer.bytes) {
    return judge_end(self, VERDICT_FAIL, "the check compares outputs of different sizes");
  }
  const unsigned char *a = case_result(left, 0);
  const unsigned char *b = case_result(right, 0);
  const size_t size = assay_dtype_size(y->dtype);
  for (int64_t i = 0; i < count; i++) {
    if (memcmp(a + (size_t)i * size, b + (size_t)i * size, size) == 0) continue;
    char element[128];
    case_name_element(&left->out[0], i, element, sizeof element);
    return judge_end(self, VERDICT_FAIL,
                     "%s: %.9g in one call and %.9g in the other; the inputs are the same", element,
                     assay_get(a, y->dtype, i), assay_get(b, y->dtype, i));
  }
  return true;
}

const assay_probe_calls judge_probe_calls = {
    .make = judge_make,
    .in = judge_in,
    .out = judge_out,
    .fill = judge_fill,
    .run = judge_run,
    .expect_oracle = expect_oracle,
    .expect = expect,
    .expect_same = expect_same,
    .reject = judge_reject,
    .release = judge_release,
    .fail = judge_fail,
    .unavailable = judge_unavailable,
};
