/* SPDX-License-Identifier: MIT */
/*
 * test_attention_dense.c - the GPU baseline of attention computes attention: on the emulator, within the
 * oracle's bound, for sizes that fill no tile, several heads, rows that are not aligned, both masks.
 */
#include "unit.h"

#include <stdlib.h>

#include "ops/streaming_attention/attention_gpu.h"
#include "half.h"
#include "rng.h"
#include "tensor.h"

/* One call; q, k and v lie beside each other in rows of `pitch` elements, heads below each other. */
static void judge(assay_queue *queue, int64_t n, int64_t d, int64_t heads, assay_dtype dtype, int64_t causal,
                  int64_t pitch) {
  const int64_t opt[ASSAY_STREAMING_ATTENTION_OPTIONS] = {causal, 0};
  const int64_t shape[4] = {1, heads, n, d};
  const int64_t outputs = heads * n * d;
  assay_rng rng;
  assay_rng_seed(&rng, (uint64_t)(n + d));
  uint16_t *inputs = malloc((size_t)(heads * n * pitch + 1) * sizeof *inputs);
  uint16_t *o = malloc((size_t)(outputs + 1) * sizeof *o);
  double *want = malloc((size_t)(outputs + 1) * sizeof *want);
  double *allowed = malloc((size_t)(outputs + 1) * sizeof *allowed);
  assert_true(inputs != NULL && o != NULL && want != NULL && allowed != NULL);
  for (int64_t i = 0; i < heads * n * pitch; i++)
    assay_store(inputs, dtype, i, (float)assay_rng_normal(&rng));
  for (int64_t i = 0; i < outputs; i++) o[i] = 0x7fff; /* NaN, as an element that nobody writes */
  assay_tensor in[ASSAY_STREAMING_ATTENTION_INPUTS];
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    in[i] = assay_tensor_make(inputs + i * d, dtype, 4, shape);
    in[i].stride[0] = heads * n * pitch;
    in[i].stride[1] = n * pitch;
    in[i].stride[2] = pitch;
    in[i].device = ASSAY_DEVICE_EMULATOR;
  }
  assay_tensor out = assay_tensor_make(o, dtype, 4, shape);
  out.device = ASSAY_DEVICE_EMULATOR;
  assert_int_equal(assay_attention_dense(in, &out, opt, queue), ASSAY_OK);
  assay_attention_oracle(0, in, &out, opt, 0, 1, want, allowed);
  for (int64_t i = 0; i < outputs; i++) assert_near(assay_get(o, dtype, i), want[i], allowed[i]);
  free(inputs);
  free(o);
  free(want);
  free(allowed);
}

static void test_values(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_emulator(0, &queue), ASSAY_OK);
  judge(queue, 1, 1, 1, ASSAY_FP16, 0, 3);
  judge(queue, 70, 32, 2, ASSAY_FP16, 1, 96);
  judge(queue, 65, 72, 1, ASSAY_BF16, 0, 217);
  judge(queue, 129, 40, 3, ASSAY_BF16, 1, 128);
  judge(queue, 0, 16, 2, ASSAY_FP16, 1, 48);
  assay_queue_close(queue);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_values)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
