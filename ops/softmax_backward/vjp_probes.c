/* SPDX-License-Identifier: MIT */
/* vjp_probes.c - checks of softmax_backward that need more than "call once and compare with the oracle". */
#include <stdlib.h>

#include "half.h"
#include "probe.h"
#include "vjp.h"

/* Row and column strides of both inputs. */
typedef struct strides {
  int64_t y[2];
  int64_t g[2];
} strides;

static assay_case *make(assay_probe *probe, assay_dtype dtype, int64_t rows, int64_t columns, strides at) {
  const assay_plan plan = {
      .in = {{.dtype = dtype, .rank = 2, .shape = {rows, columns}, .stride = {at.y[0], at.y[1]}},
             {.dtype = dtype, .rank = 2, .shape = {rows, columns}, .stride = {at.g[0], at.g[1]}}},
      .out = {{.dtype = dtype, .rank = 2, .shape = {rows, columns}, .stride = {columns, 1}}},
  };
  return assay_probe_make(probe, &plan);
}

static assay_case *make_packed(assay_probe *probe, assay_dtype dtype, int64_t rows, int64_t columns) {
  return make(probe, dtype, rows, columns, (strides){{columns, 1}, {columns, 1}});
}

static bool fill_both(assay_probe *probe, assay_case *operands, double a, double b) {
  return assay_probe_fill_with(probe, operands, 0, assay_vjp_fill_pair, a, b) &&
         assay_probe_fill_with(probe, operands, 1, assay_vjp_fill_pair, a, b);
}

/* Runs and expects these results bit for bit: they are exact in the type, whatever the order of sums. */
static bool run_exact(assay_probe *probe, assay_case *operands, const double *want, int64_t count) {
  if (!assay_probe_run_one(probe, operands)) return false;
  for (int64_t i = 0; i < count; i++) {
    if (!assay_probe_expect(probe, operands, i, want[i], 0)) return false;
  }
  return true;
}

void assay_vjp_worked_example(assay_probe *probe) {
  /* All numbers are dyadic. Row 0 is the lesson's first example; its numbers come from NVIDIA/apex#1430 and
   * ggml-org/ggml#1521, where an input was overwritten and dx became wrong by that. Row 1: dot = 1/2. */
  const double y[] = {0.5, 0.25, 0.125, 0.125, 0.25, 0.25, 0.25, 0.25};
  const double g[] = {1, 2, 3, 4, 4, -2, 0, 0};
  const double want[] = {-0.4375, 0.03125, 0.140625, 0.265625, 0.875, -0.625, -0.125, -0.125};
  for (int dtype = ASSAY_FP32; dtype <= ASSAY_BF16; dtype++) {
    assay_case *operands = make_packed(probe, (assay_dtype)dtype, 2, 4);
    if (operands == NULL || !assay_probe_fill(probe, operands, 0, y)) return;
    if (!assay_probe_fill(probe, operands, 1, g) || !run_exact(probe, operands, want, 8)) return;
    /* Twice on the same memory: an input that was overwritten would show now. */
    if (!run_exact(probe, operands, want, 8)) return;
  }
  /* The same at width 1024: the four weights stand a quarter of the row apart, all others are 0. */
  double wide[3][1024] = {{0}};
  for (int k = 0; k < 4; k++) {
    wide[0][256 * k + 5] = y[k];
    wide[1][256 * k + 5] = g[k];
    wide[2][256 * k + 5] = want[k];
  }
  assay_case *operands = make_packed(probe, ASSAY_FP32, 1, 1024);
  if (operands == NULL || !assay_probe_fill(probe, operands, 0, wide[0])) return;
  if (!assay_probe_fill(probe, operands, 1, wide[1])) return;
  (void)run_exact(probe, operands, wide[2], 1024);
}

void assay_vjp_known_strides(assay_probe *probe) {
  /* Reported where y was a slice and was read with the geometry of the gradient: pytorch/pytorch#139740, and
   * torch/nn#832 for a sliced gradient. */
  const strides layouts[] = {
      {{3, 1}, {3, 1}}, {{10, 1}, {3, 1}}, {{3, 1}, {7, 1}}, {{10, 1}, {5, 1}},
      {{1, 3}, {3, 1}}, {{3, 1}, {1, 3}},  {{1, 3}, {1, 5}}, {{1, 4}, {9, 2}},
  };
  const double y[] = {0.25, 0.25, 0.5, 0.25, 0.25, 0.5, 0.25, 0.25, 0.5};
  const double g[] = {0, 2, -4, 1, 2, -4, 2, 2, -4};
  const double want[] = {0.375, 0.875, -1.25, 0.5625, 0.8125, -1.375, 0.75, 0.75, -1.5};
  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
    for (int dtype = ASSAY_FP32; dtype <= ASSAY_BF16; dtype++) {
      assay_case *operands = make(probe, (assay_dtype)dtype, 3, 3, layouts[i]);
      if (operands == NULL || !assay_probe_fill(probe, operands, 0, y)) return;
      if (!assay_probe_fill(probe, operands, 1, g) || !run_exact(probe, operands, want, 9)) return;
      assay_probe_release(probe);
    }
  }
}

/* y = 2^-power and g[j] = j - (columns-1)/2, rounded to the type: every dot product is an exact 0. */
static void straight_line(assay_dtype dtype, int64_t rows, int64_t columns, double weight, double *y,
                          double *g, double *want) {
  for (int64_t i = 0; i < rows * columns; i++) {
    y[i] = weight;
    g[i] = assay_round_to(dtype, (double)(i % columns) - (double)(columns - 1) / 2);
    want[i] = weight * g[i];
  }
}

void assay_vjp_odd_widths(assay_probe *probe) {
  /* Loops that align the start of a row for vector loads went backwards at some odd widths (the forward pass
   * of pytorch/pytorch#147284). One row more, of NaN, lies in front of the view. */
  double y[2 * 1024];
  double g[2 * 1024];
  double want[2 * 1024];
  for (int64_t columns = 513; columns < 1024; columns += 2) {
    for (int dtype = ASSAY_FP32; dtype <= ASSAY_BF16; dtype++) {
      const assay_operand_plan packed = {.dtype = (assay_dtype)dtype,
                                         .rank = 2,
                                         .shape = {2, columns},
                                         .stride = {columns, 1},
                                         .shift = columns};
      assay_plan plan = {.in = {packed, packed}, .out = {packed}};
      plan.out[0].shift = 0;
      assay_case *operands = assay_probe_make(probe, &plan);
      straight_line((assay_dtype)dtype, 2, columns, 0x1p-10, y, g, want);
      if (operands == NULL || !assay_probe_fill(probe, operands, 0, y)) return;
      if (!assay_probe_fill(probe, operands, 1, g)) return;
      if (!run_exact(probe, operands, want, 2 * columns)) return;
      assay_probe_release(probe);
    }
  }
}

static bool block_partials_case(assay_probe *probe, assay_dtype dtype, int64_t rows, int64_t columns) {
  const int64_t count = rows * columns;
  double *values = malloc(3 * sizeof *values * (size_t)count);
  assay_case *operands = values == NULL ? NULL : make_packed(probe, dtype, rows, columns);
  bool right = operands != NULL;
  if (right) {
    double *want = values + 2 * count;
    straight_line(dtype, rows, columns, 1.0 / (double)columns, values, values + count, want);
    right =
        assay_probe_fill(probe, operands, 0, values) && assay_probe_fill(probe, operands, 1, values + count);
    for (int again = 0; right && again < 3; again++) right = run_exact(probe, operands, want, count);
  }
  free(values);
  assay_probe_release(probe);
  return right;
}

void assay_vjp_block_partials(assay_probe *probe) {
  /* A block's partial sums were cleared while some were written already: karpathy/llm.c#847. All partial sums
   * of these rows are exact in FP32, so that only a lost one changes the result. */
  if (!block_partials_case(probe, ASSAY_FP32, 4096, 1024)) return;
  if (!block_partials_case(probe, ASSAY_FP16, 256, 1024)) return;
  if (!block_partials_case(probe, ASSAY_FP32, 256, 2048)) return;
  if (!block_partials_case(probe, ASSAY_FP16, 64, 2048)) return;
  (void)block_partials_case(probe, ASSAY_FP32, 64, 8192);
}

void assay_vjp_repeatable(assay_probe *probe) {
  const assay_rng start = probe->rng;
  assay_case *first = assay_probe_make_row(probe);
  probe->rng = start; /* the same contents at other addresses */
  assay_case *second = assay_probe_make_row(probe);
  if (!assay_probe_run_one(probe, first) || !assay_probe_expect_oracle(probe, first, false)) return;
  for (int again = 0; again < 3; again++) {
    if (!assay_probe_run_one(probe, second) || !assay_probe_expect_same(probe, first, second)) return;
  }
}

void assay_vjp_fresh_contents(assay_probe *probe) {
  assay_case *operands = assay_probe_make_row(probe);
  /* The same addresses with new contents; then a single element of g, and a single one of y, changes. */
  for (int round = 0; round < 4; round++) {
    if (operands == NULL) return;
    if (round < 2) {
      if (!fill_both(probe, operands, 1, 1)) return;
    } else {
      const assay_tensor spot = assay_probe_in(probe, operands, round == 2 ? 1 : 0);
      const int64_t r = (int64_t)assay_rng_below(&probe->rng, (uint64_t)spot.shape[0]);
      const int64_t c = (int64_t)assay_rng_below(&probe->rng, (uint64_t)spot.shape[1]);
      assay_put(spot.data, spot.dtype, r * spot.stride[0] + c * spot.stride[1], 0.75);
    }
    if (!assay_probe_run_one(probe, operands)) return;
    if (!assay_probe_expect_oracle(probe, operands, false)) return;
  }
  /* Then another shape in the same process, wider and lower, and the first one again. */
  assay_case *other = make_packed(probe, probe->dtype, probe->row->dims[0] / 2, probe->row->dims[1] + 3);
  if (!fill_both(probe, other, 1, 1)) return;
  if (!assay_probe_run_one(probe, other) || !assay_probe_expect_oracle(probe, other, false)) return;
  if (assay_probe_run_one(probe, operands)) (void)assay_probe_expect_oracle(probe, operands, false);
}

void assay_vjp_two_threads(assay_probe *probe) {
  probe->threads = 1; /* the two calls are to meet each other, not their own helpers */
  assay_case *left = assay_probe_make_row(probe);
  assay_case *right = assay_probe_make_row(probe); /* other contents: the generator has moved on */
  if (left == NULL || right == NULL) return;
  const assay_probe_call calls[] = {{left, 0}, {right, 1}, {left, 0}, {right, 1},
                                    {left, 0}, {right, 1}, {left, 0}, {right, 1}};
  for (int round = 0; round < 8; round++) {
    if (!assay_probe_run(probe, calls, 8)) return;
    if (!assay_probe_expect_oracle(probe, left, false)) return;
    if (!assay_probe_expect_oracle(probe, right, false)) return;
  }
}

void assay_vjp_thread_count(assay_probe *probe) {
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

void assay_vjp_large_strides(assay_probe *probe) {
  const int64_t big = (INT64_C(1) << 31) + 8;
  const strides far[] = {{{big, 2}, {5, 1}},
                         {{5, 1}, {big, 2}},
                         {{3, big / 2}, {5, 1}},
                         {{1, 3}, {3, big}},
                         {{2 * big, 1}, {1, big}}};
  for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) {
    for (int dtype = ASSAY_FP32; dtype <= ASSAY_BF16; dtype += 2) {
      assay_case *operands = make(probe, (assay_dtype)dtype, 3, 5, far[i]);
      if (!fill_both(probe, operands, 1, 2) || !assay_probe_run_one(probe, operands)) return;
      if (!assay_probe_expect_oracle(probe, operands, false)) return;
      assay_probe_release(probe);
    }
  }
}

void assay_vjp_random_shapes(assay_probe *probe) {
  for (int i = 0; i < 500; i++) {
    /* Widths and heights spread over the powers of two, so that small ones are as frequent as large ones. */
    const int64_t columns =
        1 + (int64_t)assay_rng_below(&probe->rng, UINT64_C(1) << assay_rng_below(&probe->rng, 15));
    const int64_t rows =
        2 + (int64_t)assay_rng_below(&probe->rng, UINT64_C(1) << assay_rng_below(&probe->rng, 6));
    const assay_row row = {.dims = {rows, columns}};
    const assay_dtype dtype = (assay_dtype)assay_rng_below(&probe->rng, 3);
    const int layout = (int)assay_rng_below(&probe->rng, ASSAY_VJP_LAYOUTS);
    assay_plan plan = {0};
    probe->subject->plan(&row, dtype, layout, &plan);
    assay_case *operands = assay_probe_make(probe, &plan);
    const double scale = 0.5 + 8 * assay_rng_uniform(&probe->rng);
    if (!fill_both(probe, operands, 1, scale) || !assay_probe_run_one(probe, operands)) return;
    if (!assay_probe_expect_oracle(probe, operands, false)) return;
    assay_probe_release(probe);
  }
}

/* Compares one row of dx with the oracle. */
static bool expect_row(assay_probe *probe, assay_case *operands, int64_t row, double *want, double *allowed) {
  const assay_tensor in[] = {assay_probe_in(probe, operands, 0), assay_probe_in(probe, operands, 1)};
  const assay_tensor dx = assay_probe_out(probe, operands, 0);
  const int64_t columns = dx.shape[1];
  assay_vjp_oracle(0, in, &dx, NULL, row, 1, want, allowed);
  for (int64_t c = 0; c < columns; c++) {
    if (!assay_probe_expect(probe, operands, row * columns + c, want[c], allowed[c])) return false;
  }
  return true;
}

void assay_vjp_full_size(assay_probe *probe) {
  /* Windows over two short arrays: 2^31 + 2^12 different outputs from inputs that fit a cache. */
  const int64_t columns = 4096;
  const int64_t rows = (INT64_C(1) << 19) + 1;
  assay_case *operands = make(probe, ASSAY_FP16, rows, columns, (strides){{1, 1}, {1, 1}});
  if (operands == NULL) return;
  /* Straight into the storage: as logical values the windows would take 16 GiB each. */
  for (int operand = 0; operand < 2; operand++) {
    const assay_tensor view = assay_probe_in(probe, operands, operand);
    for (int64_t i = 0; i < rows + columns - 1; i++) {
      const double value =
          operand == 0 ? assay_rng_uniform(&probe->rng) / (double)columns : 2 * assay_rng_normal(&probe->rng);
      assay_put(view.data, view.dtype, i, value);
    }
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
