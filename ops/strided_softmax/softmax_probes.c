/* SPDX-License-Identifier: MIT */
/* softmax_probes.c - checks of strided softmax that need more than "call once and compare with the oracle".
 */
#include <stdio.h>
#include <stdlib.h>

#include "fill.h"
#include "half.h"
#include "probe.h"
#include "softmax.h"

/* A case of the operator with x of any strides and y contiguous. */
static assay_case *make(assay_probe *probe, assay_dtype dtype, int64_t rows, int64_t columns,
                        int64_t row_stride, int64_t column_stride) {
  const assay_plan plan = {
      .in = {{.dtype = dtype, .rank = 2, .shape = {rows, columns}, .stride = {row_stride, column_stride}}},
      .out = {{.dtype = dtype, .rank = 2, .shape = {rows, columns}, .stride = {columns, 1}}},
  };
  return assay_probe_make(probe, &plan);
}

/* Expects literal results: the given numbers are exact to `digits`, the kernel may add rounding to the type.
 */
static void expect_table(assay_probe *probe, assay_case *operands, assay_dtype dtype, const double *want,
                         int64_t count, double digits) {
  for (int64_t i = 0; i < count; i++) {
    const double allowed = digits + 16 * 0x1p-24 * want[i] + assay_rounding_error(dtype, want[i]);
    if (!assay_probe_expect(probe, operands, i, want[i], allowed)) return;
  }
}

void assay_softmax_worked_example(assay_probe *probe) {
  /* Row 0 is ln-free arithmetic with powers of e, row 1 the same shifted by 10: softmax does not see the
   * shift. */
  const double x[] = {0, 1, 2, 12, 10, 11};
  const double e = 2.718281828459045;
  const double sum = 1 + e + e * e;
  const double want[] = {1 / sum, e / sum, e * e / sum, e * e / sum, 1 / sum, e / sum};
  for (int dtype = ASSAY_FP32; dtype <= ASSAY_BF16; dtype++) {
    assay_case *operands = make(probe, (assay_dtype)dtype, 2, 3, 3, 1);
    if (operands == NULL || !assay_probe_fill(probe, operands, 0, x)) return;
    if (!assay_probe_run_one(probe, operands)) return;
    expect_table(probe, operands, (assay_dtype)dtype, want, 6, 0);
  }
}

void assay_softmax_transposed_known(assay_probe *probe) {
  /* Storage b[k] = k*k/16, k = 0..11, seen as 4 rows of 3: x[r][c] = (r + 4c)^2 / 16. Treated as packed
   * storage row 0 would be (0, 1/16, 4/16). Reported for several GPU libraries, e.g. tracel-ai/burn#4815. */
  const double squares[] = {0.017148, 0.046613, 0.936240, 0.006498, 0.029122, 0.964380,
                            0.002428, 0.017943, 0.979629, 0.000901, 0.010977, 0.988122};
  double x[12];
  for (int i = 0; i < 12; i++) {
    const int k = i / 3 + 4 * (i % 3);
    x[i] = k * k / 16.0;
  }
  assay_case *operands = make(probe, ASSAY_FP32, 4, 3, 1, 4);
  if (operands == NULL || !assay_probe_fill(probe, operands, 0, x)) return;
  if (!assay_probe_run_one(probe, operands)) return;
  expect_table(probe, operands, ASSAY_FP32, squares, 12, 1e-6);

  /* b[k] = k: every row is softmax(0, 4, 8). */
  const double line[] = {3.2932045e-4, 1.7980287e-2, 9.8169039e-1};
  for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
    for (int i = 0; i < 12; i++) {
      const int k = i / 3 + 4 * (i % 3);
      x[i] = k;
    }
    double want[12];
    for (int i = 0; i < 12; i++) want[i] = line[i % 3];
    operands = make(probe, (assay_dtype)dtype, 4, 3, 1, 4);
    if (operands == NULL || !assay_probe_fill(probe, operands, 0, x)) return;
    if (!assay_probe_run_one(probe, operands)) return;
    expect_table(probe, operands, (assay_dtype)dtype, want, 12, 1e-8);
  }
}

void assay_softmax_uniform_rows(assay_probe *probe) {
  assay_case *operands = assay_probe_make_row(probe);
  if (!assay_probe_run_one(probe, operands)) return;
  if (!assay_probe_expect_oracle(probe, operands, probe->row->degenerate)) return;
  /* exp(0) = 1 and the sum of ones is an exact integer in any order: only the division rounds. */
  const int64_t columns = probe->row->dims[1];
  const double want = assay_round_to(probe->dtype, 1.0 / (double)columns);
  const int64_t count = probe->row->dims[0] * columns;
  for (int64_t i = 0; i < count; i++) {
    if (!assay_probe_expect(probe, operands, i, want, 0)) return;
  }
}

void assay_softmax_odd_widths(assay_probe *probe) {
  /* Loops that align the start of a row for vector loads went backwards at some odd widths and read the
   * previous row (pytorch/pytorch#147284) or memory before the tensor (#154634). One row more, of NaN, lies
   * outside the view. */
  for (int64_t columns = 513; columns < 1024; columns += 2) {
    if (columns % 32 == 31) continue; /* these were right */
    for (int dtype = ASSAY_FP32; dtype <= ASSAY_BF16; dtype++) {
      const assay_plan plan = {
          .in = {{.dtype = (assay_dtype)dtype,
                  .rank = 2,
                  .shape = {2, columns},
                  .stride = {columns, 1},
                  .shift = columns}},
          .out = {{.dtype = (assay_dtype)dtype, .rank = 2, .shape = {2, columns}, .stride = {columns, 1}}},
      };
      assay_case *operands = assay_probe_make(probe, &plan);
      if (!assay_probe_fill_with(probe, operands, 0, assay_fill_constant, 0, 0)) return;
      if (!assay_probe_run_one(probe, operands)) return;
      const double want = assay_round_to((assay_dtype)dtype, 1.0 / (double)columns);
      for (int64_t i = 0; i < 2 * columns; i++) {
        if (!assay_probe_expect(probe, operands, i, want, 0)) return;
      }
      assay_probe_release(probe);
    }
  }
}

void assay_softmax_repeatable(assay_probe *probe) {
  assay_case *first = assay_probe_make_row(probe);
  if (!assay_probe_run_one(probe, first)) return;
  if (!assay_probe_expect_oracle(probe, first, false)) return;
  const assay_tensor x = assay_probe_in(probe, first, 0);
  assay_case *second = make(probe, probe->dtype, x.shape[0], x.shape[1], x.stride[0], x.stride[1]);
  const int64_t count = x.shape[0] * x.shape[1];
  double *values = malloc(sizeof *values * (size_t)count);
  if (second != NULL && values != NULL) {
    for (int64_t i = 0; i < count; i++) {
      values[i] = assay_get(x.data, x.dtype, (i / x.shape[1]) * x.stride[0] + (i % x.shape[1]) * x.stride[1]);
    }
    const bool ready = assay_probe_fill(probe, second, 0, values);
    for (int again = 0; ready && again < 3; again++) {
      if (!assay_probe_run_one(probe, second) || !assay_probe_expect_same(probe, first, second)) break;
    }
  }
  free(values);
}

void assay_softmax_fresh_contents(assay_probe *probe) {
  assay_case *operands = assay_probe_make_row(probe);
  /* The same addresses with new contents, three times; the last time only one element changes. */
  for (int round = 0; round < 3; round++) {
    if (operands == NULL) return;
    const assay_tensor x = assay_probe_in(probe, operands, 0);
    if (round < 2) {
      if (!assay_probe_fill_with(probe, operands, 0, assay_fill_normal, 0, 1)) return;
    } else {
      const int64_t r = (int64_t)assay_rng_below(&probe->rng, (uint64_t)x.shape[0]);
      const int64_t c = (int64_t)assay_rng_below(&probe->rng, (uint64_t)x.shape[1]);
      assay_put(x.data, x.dtype, r * x.stride[0] + c * x.stride[1], 4);
    }
    if (!assay_probe_run_one(probe, operands)) return;
    if (!assay_probe_expect_oracle(probe, operands, false)) return;
  }
  /* Then another shape in the same process, wider and lower, and the first one again. */
  const int64_t rows = probe->row->dims[0] / 2;
  const int64_t columns = probe->row->dims[1] + 3;
  const bool packed = probe->layout == ASSAY_SOFTMAX_PACKED;
  assay_case *other = make(probe, probe->dtype, rows, columns, packed ? columns : 1, packed ? 1 : rows);
  if (!assay_probe_fill_with(probe, other, 0, assay_fill_normal, 0, 1)) return;
  if (!assay_probe_run_one(probe, other) || !assay_probe_expect_oracle(probe, other, false)) return;
  if (assay_probe_run_one(probe, operands)) (void)assay_probe_expect_oracle(probe, operands, false);
}

void assay_softmax_two_threads(assay_probe *probe) {
  probe->threads = 1; /* the two calls are to meet each other, not their own helpers */
  assay_case *left = assay_probe_make_row(probe);
  assay_case *right = assay_probe_make_row(probe); /* other contents: the generator has moved on */
  if (left == NULL || right == NULL) return;
  const assay_probe_call calls[] = {{left, 0}, {right, 1}, {left, 0}, {right, 1},
                                    {left, 0}, {right, 1}, {left, 0}, {right, 1}};
  for (int round = 0; round < 6; round++) {
    if (!assay_probe_run(probe, calls, 8)) return;
    if (!assay_probe_expect_oracle(probe, left, false)) return;
    if (!assay_probe_expect_oracle(probe, right, false)) return;
  }
}

void assay_softmax_thread_count(assay_probe *probe) {
  assay_case *cases[3];
  const assay_rng start = probe->rng;
  for (int i = 0; i < 3; i++) {
    probe->rng = start; /* the same contents in each */
    probe->threads = i + 1;
    cases[i] = assay_probe_make_row(probe);
    if (!assay_probe_run_one(probe, cases[i])) return;
  }
  if (!assay_probe_expect_oracle(probe, cases[0], false)) return;
  if (!assay_probe_expect_same(probe, cases[0], cases[1])) return;
  (void)assay_probe_expect_same(probe, cases[0], cases[2]);
}

void assay_softmax_large_strides(assay_probe *probe) {
  const int64_t big = (INT64_C(1) << 31) + 8;
  const int64_t strides[][2] = {{big, 2}, {3, big / 2}, {2 * big, 1}, {1, 2 * big}};
  for (size_t i = 0; i < sizeof strides / sizeof strides[0]; i++) {
    for (int dtype = ASSAY_FP32; dtype <= ASSAY_BF16; dtype += 2) {
      assay_case *operands = make(probe, (assay_dtype)dtype, 3, 5, strides[i][0], strides[i][1]);
      if (!assay_probe_fill_with(probe, operands, 0, assay_fill_normal, 0, 2)) return;
      if (!assay_probe_run_one(probe, operands)) return;
      if (!assay_probe_expect_oracle(probe, operands, false)) return;
      assay_probe_release(probe); /* on a GPU even a view that is mostly holes takes all its memory */
    }
  }
}

void assay_softmax_random_shapes(assay_probe *probe) {
  for (int i = 0; i < 500; i++) {
    /* Widths and heights spread over the powers of two, so that small ones are as frequent as large ones. */
    const int64_t columns =
        1 + (int64_t)assay_rng_below(&probe->rng, UINT64_C(1) << assay_rng_below(&probe->rng, 15));
    const int64_t rows =
        1 + (int64_t)assay_rng_below(&probe->rng, UINT64_C(1) << assay_rng_below(&probe->rng, 6));
    const assay_row row = {.dims = {rows, columns}};
    const assay_dtype dtype = (assay_dtype)assay_rng_below(&probe->rng, 3);
    const int layout =
        (int)assay_rng_below(&probe->rng, ASSAY_SOFTMAX_COLUMN_BROADCAST); /* those that vary */
    assay_plan plan = {0};
    probe->subject->plan(&row, dtype, layout, &plan);
    assay_case *operands = assay_probe_make(probe, &plan);
    const double scale = 0.5 + 8 * assay_rng_uniform(&probe->rng);
    if (!assay_probe_fill_with(probe, operands, 0, assay_fill_normal, 0, scale)) return;
    if (!assay_probe_run_one(probe, operands)) return;
    if (!assay_probe_expect_oracle(probe, operands, columns == 1)) return;
    assay_probe_release(probe);
  }
}

/* Compares one row of y with the oracle. */
static bool expect_row(assay_probe *probe, assay_case *operands, int64_t row, double *want, double *allowed) {
  const assay_tensor x = assay_probe_in(probe, operands, 0);
  const assay_tensor y = assay_probe_out(probe, operands, 0);
  assay_softmax_oracle(0, &x, &y, NULL, row, 1, want, allowed);
  for (int64_t c = 0; c < x.shape[1]; c++) {
    if (!assay_probe_expect(probe, operands, row * x.shape[1] + c, want[c], allowed[c])) return false;
  }
  return true;
}

void assay_softmax_full_size(assay_probe *probe) {
  /* Windows over one short array: 2^31 + 2^12 different outputs from an input that fits a cache. */
  const int64_t columns = 4096;
  const int64_t rows = (INT64_C(1) << 19) + 1;
  assay_case *operands = make(probe, ASSAY_FP16, rows, columns, 1, 1);
  if (operands == NULL) return;
  /* Straight into the storage: as logical values the windows would take 16 GiB. */
  const assay_tensor view = assay_probe_in(probe, operands, 0);
  for (int64_t i = 0; i < rows + columns - 1; i++) {
    assay_put(view.data, view.dtype, i, 2 * assay_rng_normal(&probe->rng));
  }
  if (!assay_probe_run_one(probe, operands)) return;
  double *want = malloc(sizeof *want * (size_t)columns);
  double *allowed = malloc(sizeof *allowed * (size_t)columns);
  if (want != NULL && allowed != NULL) {
    /* One row out of each of 256 bands, chosen after the call; then the last rows, which a wrapped index
     * misses. */
    bool right = true;
    for (int64_t band = 0; right && band < 256; band++) {
      const int64_t row = band * (rows / 256) + (int64_t)assay_rng_below(&probe->rng, (uint64_t)(rows / 256));
      right = expect_row(probe, operands, row, want, allowed);
    }
    for (int64_t row = rows - 3; right && row < rows; row++) {
      right = expect_row(probe, operands, row, want, allowed);
    }
  }
  free(want);
  free(allowed);
}
