/* SPDX-License-Identifier: MIT */
/* split_softmax_probes.c - checks of split softmax that need more than "call once and compare with the
 * oracle". */
#include <math.h>
#include <stdlib.h>

#include "fill.h"
#include "half.h"
#include "probe.h"
#include "split_softmax.h"

enum { WORKSHOP_WIDTH = 131072 };

/* A case of the operator without contents; `layout` says which workspace it has. */
static assay_case *make(assay_probe *probe, assay_dtype dtype, int64_t rows, int64_t columns, int64_t chunk,
                        assay_split_softmax_layout layout) {
  const assay_row row = {.dims = {rows, columns}};
  assay_plan plan = {.opt = {chunk}};
  probe->subject->plan(&row, dtype, (int)layout, &plan);
  return assay_probe_make(probe, &plan);
}

/* Straight into the storage, which is packed. */
static void set(const assay_probe *probe, const assay_case *operands, int64_t index, double value) {
  const assay_tensor x = assay_probe_in(probe, operands, ASSAY_SPLIT_SOFTMAX_X);
  assay_put(x.data, x.dtype, index, value);
}

/* All-zero bits are 0 in every type. */
static void clear(const assay_probe *probe, const assay_case *operands) {
  const assay_tensor x = assay_probe_in(probe, operands, ASSAY_SPLIT_SOFTMAX_X);
  memset(x.data, 0, (size_t)(x.shape[0] * x.shape[1]) * assay_dtype_size(x.dtype));
}

/* The bound of the README for a result y of a row of n elements, `below` its maximum. */
static double bound(assay_dtype dtype, int64_t n, double below, double y) {
  const double u = 0x1p-24;
  const double steps = 8 + fmin((double)n, 1024) + (double)n / 32 + below;
  return y * steps * u + assay_rounding_error(dtype, y) + (y < 0x1p-125 ? 0x1p-149 : 0);
}

void assay_split_softmax_worked_example(assay_probe *probe) {
  /* 300 columns in chunks of 256: 255 zeros and ln(2), then 43 zeros and ln(3). Row 1 is the same, 5 higher:
   * softmax does not see that. s = 255 + 2 + 43 + 3 = 303. */
  for (int dtype = ASSAY_FP32; dtype <= ASSAY_BF16; dtype++) {
    assay_case *operands = make(probe, (assay_dtype)dtype, 2, 300, 256, ASSAY_SPLIT_SOFTMAX_OWN);
    if (operands == NULL) return;
    const double two = assay_round_to((assay_dtype)dtype, log(2));
    const double three = assay_round_to((assay_dtype)dtype, log(3));
    /* Near 5 the type is coarser. */
    const double coarse_two = assay_round_to((assay_dtype)dtype, 5 + two);
    const double coarse_three = assay_round_to((assay_dtype)dtype, 5 + three);
    for (int64_t c = 0; c < 300; c++) {
      set(probe, operands, c, c == 255 ? two : c == 299 ? three : 0);
      set(probe, operands, 300 + c, c == 255 ? coarse_two : c == 299 ? coarse_three : 5);
    }
    if (!assay_probe_run_one(probe, operands)) return;
    for (int64_t i = 0; i < 600; i++) {
      const double high = exp(i < 300 ? two : coarse_two - 5);
      const double higher = exp(i < 300 ? three : coarse_three - 5);
      const double want = (i % 300 == 255 ? high : i % 300 == 299 ? higher : 1) / (298 + high + higher);
      if (!assay_probe_expect(probe, operands, i, want, bound((assay_dtype)dtype, 300, 2, want))) return;
    }
  }
}

/* Rows of zeros give exactly 1/n: 2^-12 for 4096, 2^-17 for 131072, which is a subnormal FP16 number. A sum
 * in FP16 stops at 2048, one in BF16 at 256. tenstorrent/tt-metal#52045, huggingface/candle#3727,
 * sonos/tract#2586, pytorch/executorch#20090. */
void assay_split_softmax_uniform_rows(assay_probe *probe) {
  const int64_t widths[] = {512, 4096, 9000, 131071, 131072};
  for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
    for (int dtype = ASSAY_FP32; dtype <= ASSAY_BF16; dtype++) {
      assay_case *operands =
          make(probe, (assay_dtype)dtype, 1, widths[w], w % 2 == 0 ? 256 : 0, ASSAY_SPLIT_SOFTMAX_OWN);
      if (operands == NULL) return;
      clear(probe, operands);
      if (!assay_probe_run_one(probe, operands)) return;
      const double want = assay_round_to((assay_dtype)dtype, 1.0 / (double)widths[w]);
      for (int64_t i = 0; i < widths[w]; i++) {
        if (!assay_probe_expect(probe, operands, i, want, 0)) return;
      }
      assay_probe_release(probe);
    }
  }
}

/* 0, -1, 0, -1, ...: y is 2/(n*(1 + 1/e)) and 1/e of that; the same reports. */
void assay_split_softmax_alternating_rows(assay_probe *probe) {
  const int64_t n = WORKSHOP_WIDTH;
  for (int dtype = ASSAY_FP32; dtype <= ASSAY_BF16; dtype++) {
    assay_case *operands = make(probe, (assay_dtype)dtype, 1, n, 0, ASSAY_SPLIT_SOFTMAX_NONE);
    if (operands == NULL) return;
    clear(probe, operands);
    for (int64_t i = 1; i < n; i += 2) set(probe, operands, i, -1);
    if (!assay_probe_run_one(probe, operands)) return;
    const double even = 2 / ((double)n * (1 + exp(-1)));
    const double want[2] = {even, even * exp(-1)};
    for (int64_t i = 0; i < n; i++) {
      const double allowed = bound((assay_dtype)dtype, n, (double)(i % 2), want[i % 2]);
      if (!assay_probe_expect(probe, operands, i, want[i % 2], allowed)) return;
    }
  }
}

/* A row of zeros with one 10: e^10/(n - 1 + e^10) there, 1/(n - 1 + e^10) elsewhere. False on failure. */
static bool lone_ten(assay_probe *probe, assay_dtype dtype, int64_t n, int64_t chunk, int64_t place) {
  assay_case *operands = make(probe, dtype, 1, n, chunk, ASSAY_SPLIT_SOFTMAX_OWN);
  if (operands == NULL) return false;
  clear(probe, operands);
  set(probe, operands, place, 10);
  if (!assay_probe_run_one(probe, operands)) return false;
  const double sum = (double)(n - 1) + exp(10);
  const double high = exp(10) / sum;
  const double low = 1 / sum;
  const double allowed_high = bound(dtype, n, 0, high);
  const double allowed_low = bound(dtype, n, 10, low);
  for (int64_t i = 0; i < n; i++) {
    const bool ten = i == place;
    if (!assay_probe_expect(probe, operands, i, ten ? high : low, ten ? allowed_high : allowed_low))
      return false;
  }
  assay_probe_release(probe);
  return true;
}

/* linkedin/Liger-Kernel#1252, tile-ai/TileOPs#796: widths around the limits of one block, the largest entry
 * last, first and at 65536. The path through several chunks is the only one here; these widths make sure. */
void assay_split_softmax_block_limits(assay_probe *probe) {
  const int64_t widths[] = {65535, 65536, 65537, 102400, 131071, 131072};
  for (int64_t w = 0; w < 6; w++) {
    const int64_t n = widths[w];
    const int64_t places[3] = {n - 1, 0, n > 65536 ? 65536 : n / 2};
    for (int64_t dtype = ASSAY_FP32; dtype <= ASSAY_BF16; dtype++) {
      const int64_t chunk = w % 3 == 0 ? 0 : w % 3 == 1 ? 1024 : 256;
      if (!lone_ten(probe, (assay_dtype)dtype, n, chunk, places[(w + dtype) % 3])) return;
    }
  }
}

/* The same reports, past the workshop's limit. */
void assay_split_softmax_beyond_limits(assay_probe *probe) {
  for (int64_t dtype = ASSAY_FP32; dtype <= ASSAY_BF16; dtype++) {
    const int64_t places[3] = {131072, 0, 65536};
    if (!lone_ten(probe, (assay_dtype)dtype, 131073, 0, places[dtype])) return;
  }
  if (!lone_ten(probe, ASSAY_FP32, 1048577, 4096, 1048576)) return;
  if (!lone_ten(probe, ASSAY_FP16, 1048577, 256, 65536)) return;
  (void)lone_ten(probe, ASSAY_BF16, 1048577, 0, 0);
}

/* Makes a case with the contents of another. */
static assay_case *make_like(assay_probe *probe, const assay_case *model, int64_t chunk,
                             assay_split_softmax_layout layout) {
  const assay_tensor from = assay_probe_in(probe, model, ASSAY_SPLIT_SOFTMAX_X);
  assay_case *operands = make(probe, from.dtype, from.shape[0], from.shape[1], chunk, layout);
  if (operands == NULL) return NULL;
  const assay_tensor to = assay_probe_in(probe, operands, ASSAY_SPLIT_SOFTMAX_X);
  memcpy(to.data, from.data, (size_t)(from.shape[0] * from.shape[1]) * assay_dtype_size(from.dtype));
  return operands;
}

void assay_split_softmax_every_chunk_size(assay_probe *probe) {
  const int64_t sizes[] = {0, 256, 1024, 4096};
  const assay_split_softmax_layout layout = (assay_split_softmax_layout)probe->layout;
  assay_case *model = assay_probe_make_row(probe);
  for (int i = 0; i < 4 && model != NULL; i++) {
    assay_case *operands = make_like(probe, model, sizes[i], layout);
    if (!assay_probe_run_one(probe, operands)) return;
    if (!assay_probe_expect_oracle(probe, operands, false)) return;
  }
}

void assay_split_softmax_repeatable(assay_probe *probe) {
  assay_case *first = assay_probe_make_row(probe);
  if (!assay_probe_run_one(probe, first)) return;
  if (!assay_probe_expect_oracle(probe, first, false)) return;
  assay_case *second = make_like(probe, first, probe->row->opt[0], (assay_split_softmax_layout)probe->layout);
  /* Output and workspace hold other random values before every call. */
  for (int again = 0; second != NULL && again < 3; again++) {
    if (!assay_probe_run_one(probe, second) || !assay_probe_expect_same(probe, first, second)) return;
  }
}

void assay_split_softmax_workspace_or_not(assay_probe *probe) {
  assay_case *exact = assay_probe_make_row(probe);
  if (!assay_probe_run_one(probe, exact)) return;
  if (!assay_probe_expect_oracle(probe, exact, false)) return;
  const assay_split_softmax_layout others[] = {ASSAY_SPLIT_SOFTMAX_NONE, ASSAY_SPLIT_SOFTMAX_ROOMY};
  for (int i = 0; i < 2; i++) {
    assay_case *other = make_like(probe, exact, probe->row->opt[0], others[i]);
    if (!assay_probe_run_one(probe, other) || !assay_probe_expect_same(probe, exact, other)) return;
  }
}

void assay_split_softmax_fresh_contents(assay_probe *probe) {
  assay_case *operands = assay_probe_make_row(probe);
  /* The same addresses with new contents, three times; the last time only one element changes. */
  for (int round = 0; round < 3; round++) {
    if (operands == NULL) return;
    const assay_tensor x = assay_probe_in(probe, operands, ASSAY_SPLIT_SOFTMAX_X);
    if (round < 2) {
      if (!assay_probe_fill_with(probe, operands, 0, assay_fill_normal, 0, 1)) return;
    } else {
      set(probe, operands, (int64_t)assay_rng_below(&probe->rng, (uint64_t)(x.shape[0] * x.shape[1])), 7);
    }
    if (!assay_probe_run_one(probe, operands)) return;
    if (!assay_probe_expect_oracle(probe, operands, false)) return;
  }
  /* Then another shape in the same process, wider and lower, and the first one again. */
  assay_case *other = make(probe, probe->dtype, probe->row->dims[0] / 2, probe->row->dims[1] + 300, 1024,
                           (assay_split_softmax_layout)probe->layout);
  if (!assay_probe_fill_with(probe, other, 0, assay_fill_normal, 0, 1)) return;
  if (!assay_probe_run_one(probe, other) || !assay_probe_expect_oracle(probe, other, false)) return;
  if (assay_probe_run_one(probe, operands)) (void)assay_probe_expect_oracle(probe, operands, false);
}

void assay_split_softmax_thread_count(assay_probe *probe) {
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

void assay_split_softmax_random_shapes(assay_probe *probe) {
  const int64_t sizes[] = {0, 256, 1024, 4096};
  for (int i = 0; i < 500; i++) {
    /* Widths and heights spread over the powers of two, so that small ones are as frequent as large ones. */
    const int64_t columns =
        1 + (int64_t)assay_rng_below(&probe->rng, UINT64_C(1) << assay_rng_below(&probe->rng, 18));
    const uint64_t most = columns > 20000 ? 3 : 40;
    const int64_t rows = 1 + (int64_t)assay_rng_below(&probe->rng, most);
    const assay_dtype dtype = (assay_dtype)assay_rng_below(&probe->rng, 3);
    const int64_t chunk = sizes[assay_rng_below(&probe->rng, 4)];
    const uint64_t layout = assay_rng_below(&probe->rng, ASSAY_SPLIT_SOFTMAX_LAYOUTS);
    assay_case *operands = make(probe, dtype, rows, columns, chunk, (assay_split_softmax_layout)layout);
    const double scale = 0.5 + 8 * assay_rng_uniform(&probe->rng);
    if (!assay_probe_fill_with(probe, operands, 0, assay_fill_normal, 0, scale)) return;
    if (!assay_probe_run_one(probe, operands)) return;
    if (!assay_probe_expect_oracle(probe, operands, columns == 1)) return;
    assay_probe_release(probe);
  }
}

/* ---- two calls at the same time, flashinfer-ai/flashinfer#4692 ----------------------------------------- */

/* Row r of zeros but for 20 in column r. Expects the closed forms of one call. */
static bool expect_twenties(assay_probe *probe, assay_case *operands) {
  const assay_tensor x = assay_probe_in(probe, operands, ASSAY_SPLIT_SOFTMAX_X);
  const double sum = (double)(x.shape[1] - 1) + exp(20);
  for (int64_t i = 0; i < x.shape[0] * x.shape[1]; i++) {
    const bool twenty = i / x.shape[1] == i % x.shape[1];
    const double want = (twenty ? exp(20) : 1) / sum; /* 0.9997299 and 2.0606e-9 for 131072 columns */
    if (!assay_probe_expect(probe, operands, i, want, bound(x.dtype, x.shape[1], twenty ? 0 : 20, want)))
      return false;
  }
  return true;
}

/* One call on rows of zeros and one on rows with a 20, alone and then against each other: the same bits. */
static bool side_by_side(assay_probe *probe, int64_t rows, int64_t left_columns, int64_t right_columns,
                         assay_split_softmax_layout layout) {
  assay_case *pair[2] = {make(probe, ASSAY_FP32, rows, left_columns, 0, layout),
                         make(probe, ASSAY_FP32, rows, right_columns, 0, layout)};
  if (pair[0] == NULL || pair[1] == NULL) return false;
  clear(probe, pair[0]);
  clear(probe, pair[1]);
  for (int64_t r = 0; r < rows; r++) set(probe, pair[1], r * right_columns + r, 20);
  assay_case *alone[2];
  for (int i = 0; i < 2; i++) {
    alone[i] = make_like(probe, pair[i], 0, layout);
    if (!assay_probe_run_one(probe, alone[i])) return false;
  }
  const double uniform = assay_round_to(ASSAY_FP32, 1 / (double)left_columns);
  for (int64_t i = 0; i < rows * left_columns; i++) {
    if (!assay_probe_expect(probe, alone[0], i, uniform, 0)) return false; /* 2^-17 for 131072 columns */
  }
  if (!expect_twenties(probe, alone[1])) return false;
  const assay_probe_call calls[] = {{pair[0], 0}, {pair[1], 1}, {pair[0], 0}, {pair[1], 1},
                                    {pair[0], 0}, {pair[1], 1}, {pair[0], 0}, {pair[1], 1}};
  for (int round = 0; round < 5; round++) {
    if (!assay_probe_run(probe, calls, 8)) return false;
    if (!assay_probe_expect_same(probe, alone[0], pair[0])) return false;
    if (!assay_probe_expect_same(probe, alone[1], pair[1])) return false;
  }
  assay_probe_release(probe);
  return true;
}

static void two_calls(assay_probe *probe, assay_split_softmax_layout layout) {
  probe->threads = 1; /* the two calls are to meet each other, not their own helpers */
  if (!side_by_side(probe, 2, WORKSHOP_WIDTH, WORKSHOP_WIDTH, layout)) return;
  (void)side_by_side(probe, 1, WORKSHOP_WIDTH, 99991, layout);
}

void assay_split_softmax_own_workspaces(assay_probe *probe) {
  two_calls(probe, ASSAY_SPLIT_SOFTMAX_OWN);
}

void assay_split_softmax_private_scratch(assay_probe *probe) {
  two_calls(probe, ASSAY_SPLIT_SOFTMAX_NONE);
}

/* One row of the output against the oracle. */
static bool expect_row(assay_probe *probe, assay_case *operands, int64_t row, double *want, double *allowed) {
  const assay_tensor x = assay_probe_in(probe, operands, ASSAY_SPLIT_SOFTMAX_X);
  const assay_tensor y = assay_probe_out(probe, operands, ASSAY_SPLIT_SOFTMAX_Y);
  assay_split_softmax_oracle(0, &x, &y, NULL, row, 1, want, allowed);
  for (int64_t c = 0; c < x.shape[1]; c++) {
    if (!assay_probe_expect(probe, operands, row * x.shape[1] + c, want[c], allowed[c])) return false;
  }
  return true;
}

void assay_split_softmax_full_size(assay_probe *probe) {
  /* 2^31 + 2^17 elements. Rows are windows over one array, so that no two are equal, copied one by one: x has
   * to be packed. */
  const int64_t columns = WORKSHOP_WIDTH;
  const int64_t rows = (INT64_C(1) << 14) + 1;
  assay_case *operands = make(probe, ASSAY_FP16, rows, columns, 0, ASSAY_SPLIT_SOFTMAX_OWN);
  uint16_t *array = malloc(sizeof *array * (size_t)(columns + rows));
  double *want = malloc(2 * sizeof *want * (size_t)columns);
  if (operands != NULL && array != NULL && want != NULL) {
    for (int64_t i = 0; i < columns + rows; i++) {
      assay_put(array, ASSAY_FP16, i, 2 * assay_rng_normal(&probe->rng));
    }
    uint16_t *x = assay_probe_in(probe, operands, ASSAY_SPLIT_SOFTMAX_X).data;
    for (int64_t r = 0; r < rows; r++) memcpy(x + r * columns, array + r, sizeof *x * (size_t)columns);
    bool right = assay_probe_run_one(probe, operands);
    /* One row out of each of 16 bands, chosen after the call; then the last ones, which a wrapped index
     * misses.
     */
    for (int64_t band = 0; right && band < 16 + 2; band++) {
      const int64_t within = (int64_t)assay_rng_below(&probe->rng, (uint64_t)(rows / 16));
      const int64_t row = band < 16 ? band * (rows / 16) + within : rows - 1 - (band - 16);
      right = expect_row(probe, operands, row, want, want + columns);
    }
  }
  free(array);
  free(want);
}
