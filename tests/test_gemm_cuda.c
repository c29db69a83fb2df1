/* SPDX-License-Identifier: MIT */
/*
 * test_gemm_cuda.c - the CUDA variant of the fused GEMM on the emulator: a result depends on the values
 * alone, whichever kernel or copy the alignment of rows asks for; and the passes of which a baseline is made.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "half.h"
#include "ops/ops.h"
#include "queue.h"
#include "rng.h"
#include "tensor.h"

static assay_queue *queue;

static int open_queue(void **state) {
  (void)state;
  return assay_queue_open_emulator(2, &queue) == ASSAY_OK ? 0 : -1;
}

static int close_queue(void **state) {
  (void)state;
  assay_queue_close(queue);
  return 0;
}

/* A matrix of 16-bit numbers from `seed`, `offset` elements behind a multiple of 16 bytes; to be freed. */
typedef struct matrix {
  uint16_t *memory;
  uint16_t *data;
} matrix;

static matrix make(uint64_t seed, assay_dtype dtype, int64_t rows, int64_t columns, int64_t stride,
                   int64_t offset) {
  assay_rng rng;
  const size_t bytes = (size_t)(rows * stride + offset + 8) * 2 / 16 * 16;
  matrix made = {.memory = aligned_alloc(16, bytes)};
  assert_non_null(made.memory);
  made.data = made.memory + offset;
  memset(made.memory, 0xff, bytes); /* NaN */
  assay_rng_seed(&rng, seed);
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) assay_put(made.data, dtype, i * stride + j, assay_rng_normal(&rng));
  }
  return made;
}

/* C from operands at these strides and offsets. */
static void multiply(assay_dtype dtype, const int64_t sizes[3], const int64_t strides[2], int64_t offset,
                     uint16_t *c) {
  const int64_t m = sizes[0], n = sizes[1], k = sizes[2];
  const matrix a = make(1, dtype, m, k, strides[0], offset);
  const matrix b = make(2, dtype, k, n, strides[1], offset);
  const matrix bias = make(3, dtype, 1, n, n, 1);
  assert_int_equal(
      assay_fused_gemm(dtype, a.data, strides[0], b.data, strides[1], bias.data, m, n, k, c, 0, 0, queue),
      ASSAY_OK);
  free(a.memory);
  free(b.memory);
  free(bias.memory);
}

/* The first sizes are multiplied from loose rows, the second from copies when their rows are not aligned. */
static void alignment_changes_no_bit(void **state) {
  (void)state;
  static const int64_t sizes[][3] = {{45, 70, 83}, {193, 255, 345}};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    const int64_t m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
    const int64_t aligned[2] = {(k + 7) / 8 * 8, (n + 7) / 8 * 8};
    const int64_t packed[2] = {k, n};
    const int64_t even[2] = {aligned[0] + 2, aligned[1] + 6};
    uint16_t *want = calloc((size_t)(m * n), sizeof *want);
    uint16_t *got = calloc((size_t)(m * n), sizeof *got);
    assert_true(want != NULL && got != NULL);
    for (assay_dtype dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
      multiply(dtype, sizes[i], aligned, 0, want);
      multiply(dtype, sizes[i], packed, 0, got);
      assert_memory_equal(got, want, (size_t)(m * n) * 2);
      multiply(dtype, sizes[i], dtype == ASSAY_FP16 ? even : aligned, dtype == ASSAY_FP16 ? 0 : 1, got);
      assert_memory_equal(got, want, (size_t)(m * n) * 2);
    }
    free(want);
    free(got);
  }
}

assay_status assay_gemm_pass(const char *kernel, const void *from, int64_t stride, void *to, int64_t rows,
                             int64_t columns, assay_dtype dtype, assay_queue *on);

/* Rows of 8 columns are taken by fours, rows of 7 one by one. */
static void passes_make_the_expression(void **state) {
  (void)state;
  enum { ROWS = 5 };
  float x[ROWS * 8], bias[8];
  uint16_t c[ROWS * 8];
  for (assay_dtype dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
    for (int64_t columns = 7; columns <= 8; columns++) {
      const matrix a = make(4, dtype, ROWS, columns, columns + 4, 0);
      for (int64_t j = 0; j < columns; j++) bias[j] = (float)(j - 3);
      a.data[0] = 0x7fff; /* NaN in both types */
      assert_int_equal(assay_gemm_pass("pass_widen", a.data, columns + 4, x, ROWS, columns, dtype, queue),
                       ASSAY_OK);
      for (int64_t i = 1; i < ROWS * columns; i++)
        assert_true(x[i] == assay_load(a.data, dtype, i / columns * (columns + 4) + i % columns));
      assert_int_equal(assay_gemm_pass("pass_add", bias, 0, x, ROWS, columns, dtype, queue), ASSAY_OK);
      for (int64_t i = 1; i < ROWS * columns; i++)
        assert_true(x[i] ==
                    assay_load(a.data, dtype, i / columns * (columns + 4) + i % columns) + bias[i % columns]);
      assert_int_equal(assay_gemm_pass("pass_relu", x, columns, x, ROWS, columns, dtype, queue), ASSAY_OK);
      assert_int_equal(assay_gemm_pass("pass_round", x, columns, c, ROWS, columns, dtype, queue), ASSAY_OK);
      assert_true(assay_load(c, dtype, 0) != assay_load(c, dtype, 0));
      for (int64_t i = 1; i < ROWS * columns; i++) {
        uint16_t rounded;
        const float sum =
            assay_load(a.data, dtype, i / columns * (columns + 4) + i % columns) + bias[i % columns];
        assay_store(&rounded, dtype, 0, sum > 0 ? sum : 0);
        assert_int_equal(c[i], rounded);
      }
      free(a.memory);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(alignment_changes_no_bit),
                                     cmocka_unit_test(passes_make_the_expression)};
  return cmocka_run_group_tests(tests, open_queue, close_queue);
}
