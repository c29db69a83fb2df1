/* SPDX-License-Identifier: MIT */
/*
 * test_primitives.c - every primitive of kernel.h on a GPU, against its plain model and against the emulator.
 *
 * Prints the table of primitives with both results. Without a GPU the test is skipped; the emulator alone is
 * held to the models by test_kernel.c.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "cuda_tools.h"
#include "emulator.h"
#include "primitives.h"
#include "primitives_memory.h"
#include "primitives_warps.h"

typedef struct outcome {
  uint32_t different; /* words that are not the model's, bit for bit */
  double error;       /* the largest relative error of words that are floats */
  bool right;
} outcome;

static outcome judge(const primitive *one, const uint32_t *got, const uint32_t *want) {
  outcome result = {.right = true};
  for (uint32_t i = 0; i < one->out_words; ++i) {
    if (got[i] == want[i]) continue;
    const double a = (double)assay_float_from_bits(got[i]);
    const double b = (double)assay_float_from_bits(want[i]);
    const double error = isnan(a) && isnan(b) ? 0 : fabs(a - b) / fabs(b);
    result.different++;
    if (error > result.error) result.error = error;
    if (!(one->allowed > 0 && error <= one->allowed)) result.right = false;
  }
  return result;
}

static void on_gpu(const primitive *one, assay_queue *queue, const uint32_t *in, uint32_t *got) {
  void *device_in = NULL;
  void *device_out = NULL;
  assay_message why = {""};
  const size_t in_bytes = (one->in_words + 4) * sizeof *in;
  const size_t out_bytes = (one->out_words + 4) * sizeof *got;
  assert_int_equal(assay_cuda_memory_open(queue, in_bytes, &device_in, &why), ASSAY_OK);
  assert_int_equal(assay_cuda_memory_open(queue, out_bytes, &device_out, &why), ASSAY_OK);
  assert_int_equal(assay_cuda_copy_in(queue, device_in, in, in_bytes, &why), ASSAY_OK);
  assert_int_equal(assay_cuda_copy_in(queue, device_out, got, out_bytes, &why), ASSAY_OK);
  if (primitive_launch(one, queue, device_in, device_out) != ASSAY_OK)
    fail_msg("%s: %s", one->name, assay_last_error());
  assert_int_equal(assay_cuda_copy_out(queue, got, device_out, out_bytes, &why), ASSAY_OK);
  if (assay_queue_wait(queue) != ASSAY_OK) fail_msg("%s: %s", one->name, assay_last_error());
  assay_cuda_memory_close(queue, device_in);
  assay_cuda_memory_close(queue, device_out);
}

static void describe(const outcome *result, char text[64]) {
  if (result->different == 0) {
    snprintf(text, 64, "the same bits");
  } else if (result->right) {
    snprintf(text, 64, "within %.2g", result->error);
  } else {
    snprintf(text, 64, "WRONG in %u words", result->different);
  }
}

/* True when both are right. */
static bool compare_both(const primitive *one, assay_queue *gpu, assay_queue *emulated) {
  uint32_t *in = calloc(one->in_words + 4, sizeof *in);
  uint32_t *here = calloc(one->out_words + 4, sizeof *here);
  uint32_t *there = calloc(one->out_words + 4, sizeof *there);
  uint32_t *want = calloc(one->out_words, sizeof *want);
  assert_true(in != NULL && here != NULL && there != NULL && want != NULL);
  one->fill(in, one->in_words);
  one->model(in, want);
  assert_int_equal(primitive_launch(one, emulated, in, here), ASSAY_OK);
  on_gpu(one, gpu, in, there);
  const outcome simt = judge(one, here, want);
  const outcome cuda = judge(one, there, want);
  char left[64], right[64];
  describe(&simt, left);
  describe(&cuda, right);
  print_message("# | %s | %u | %s | %s | %s |\n", one->name, one->out_words, left, right,
                memcmp(here, there, one->out_words * sizeof *here) == 0 ? "yes" : "no");
  free(in);
  free(here);
  free(there);
  free(want);
  return simt.right && cuda.right;
}

static void test_table(void **state) {
  (void)state;
  assay_queue *gpu = NULL;
  assay_queue *emulated = NULL;
  if (assay_queue_open_cuda(0, NULL, &gpu) != ASSAY_OK) {
    print_message("# no GPU: %s\n", assay_last_error());
    skip();
  }
  assert_int_equal(assay_queue_open_emulator(1, &emulated), ASSAY_OK);
  const struct {
    const primitive *rows;
    size_t count;
  } tables[] = {{warp_primitives, sizeof warp_primitives / sizeof warp_primitives[0]},
                {memory_primitives, sizeof memory_primitives / sizeof memory_primitives[0]}};
  int wrong = 0;
  print_message(
      "# | primitive | words compared | emulator against its model | GPU against the model | both give the "
      "same bits |\n# |---|---|---|---|---|\n");
  for (size_t t = 0; t < 2; ++t) {
    for (size_t i = 0; i < tables[t].count; ++i) {
      if (!compare_both(&tables[t].rows[i], gpu, emulated)) wrong++;
    }
  }
  assay_queue_close(gpu);
  assay_queue_close(emulated);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
