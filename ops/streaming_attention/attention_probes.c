/* SPDX-License-Identifier: MIT */
/* attention_probes.c - checks of streaming attention whose results are known without the oracle. */
#include <math.h>
#include <stdlib.h>

#include "attention.h"
#include "half.h"
#include "probe.h"

enum { CAUSAL = 1 };

/* What the closed forms below need to know of a call. */
typedef struct situation {
  int64_t n, d;
  int64_t heads, batch; /* both 0: rank 2 */
  int64_t causal, block;
  assay_attention_layout layout;
} situation;

static assay_case *make(assay_probe *probe, assay_dtype dtype, const situation *s) {
  const assay_row row = {.dims = {s->n, s->d, s->heads, s->batch}};
  assay_plan plan = {.opt = {s->causal, s->block}};
  probe->subject->plan(&row, dtype, (int)s->layout, &plan);
  return assay_probe_make(probe, &plan);
}

/* Element (row, column) of an operand; rows are counted through all heads and batches. */
typedef double element(const situation *s, int64_t row, int64_t column);

static bool fill_from(assay_probe *probe, assay_case *operands, const situation *s, element *const of[3]) {
  const int64_t rows = s->n * (s->heads > 0 ? s->heads * s->batch : 1);
  double *values = malloc(sizeof *values * (size_t)(rows * s->d));
  bool filled = operands != NULL && values != NULL;
  for (int operand = 0; filled && operand < 3; operand++) {
    for (int64_t i = 0; i < rows * s->d; i++) values[i] = of[operand](s, i / s->d, i % s->d);
    filled = assay_probe_fill(probe, operands, operand, values);
  }
  free(values);
  return filled;
}

/* Calls once and expects `want` of every element, off by one rounding and `more`, relatively, at most. */
static bool run_closed_form(assay_probe *probe, assay_dtype dtype, const situation *s, element *const of[3],
                            element *want, bool exact, double more) {
  assay_case *operands = make(probe, dtype, s);
  if (!fill_from(probe, operands, s, of) || !assay_probe_run_one(probe, operands)) return false;
  const int64_t rows = s->n * (s->heads > 0 ? s->heads * s->batch : 1);
  for (int64_t i = 0; i < rows * s->d; i++) {
    const double value = want(s, i / s->d, i % s->d);
    const double allowed = exact ? 0 : assay_rounding_error(dtype, value) + more * fabs(value);
    if (!assay_probe_expect(probe, operands, i, value, allowed)) return false;
  }
  assay_probe_release(probe);
  return true;
}

static double zero(const situation *s, int64_t row, int64_t column) {
  (void)s, (void)row, (void)column;
  return 0;
}

static double half(const situation *s, int64_t row, int64_t column) {
  (void)s, (void)row, (void)column;
  return 0.5;
}

static double one(const situation *s, int64_t row, int64_t column) {
  (void)s, (void)row, (void)column;
  return 1;
}

/* ---- values -------------------------------------------------------------------------------------------- */

void assay_attention_worked_example(assay_probe *probe) {
  /* Three rows, d = 16, only the first two columns in use: scores q.k / 4 are whole numbers. */
  static const double q[3] = {4, 8, 4};
  static const double k[3] = {0, 1, 3};
  static const double v[3][2] = {{1, 10}, {2, -6}, {4, 3}};
  const int64_t d = 16;
  for (int causal = 0; causal < 2; causal++) {
    for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
      const situation s = {.n = 3, .d = d, .causal = causal};
      assay_case *operands = make(probe, (assay_dtype)dtype, &s);
      double values[3][48] = {{0}};
      for (int64_t j = 0; j < 3; j++) {
        values[0][j * d] = q[j];
        values[1][j * d] = k[j];
        values[2][j * d] = v[j][0];
        values[2][j * d + 1] = v[j][1];
      }
      for (int i = 0; i < 3; i++) {
        if (!assay_probe_fill(probe, operands, i, values[i])) return;
      }
      if (!assay_probe_run_one(probe, operands)) return;
      for (int64_t i = 0; i < 3; i++) {
        double sum = 0;
        double o[2] = {0, 0};
        for (int64_t j = 0; j < (causal == 1 ? i + 1 : 3); j++) {
          const double weight = exp(q[i] * k[j] / 4);
          sum += weight;
          for (int c = 0; c < 2; c++) o[c] += weight * v[j][c];
        }
        for (int c = 0; c < 2; c++) {
          const double want = o[c] / sum;
          /* Weights may be rounded to 16 bits: a rounding relative to the values, of which 10 is the largest.
           */
          const double allowed = 2 * 10 * assay_unit_roundoff((assay_dtype)dtype);
          if (!assay_probe_expect(probe, operands, i * d + c, want, allowed)) return;
        }
        for (int64_t c = 2; c < d; c++) {
          if (!assay_probe_expect(probe, operands, i * d + c, 0, 0)) return;
        }
      }
    }
  }
}

static double lone_value(const situation *s, int64_t row, int64_t column) {
  (void)s;
  return (double)(row * 31 + column * 7 % 64) / 8 - 3;
}

static double any_query(const situation *s, int64_t row, int64_t column) {
  (void)s, (void)row;
  return (double)(column % 5) - 1.75;
}

void assay_attention_single_key(assay_probe *probe) {
  /* One key has weight exp(0) = 1 whatever its score is. */
  element *const of[3] = {any_query, any_query, lone_value};
  for (int64_t d = 16; d <= 64; d *= 2) {
    for (int causal = 0; causal < 2; causal++) {
      for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
        const situation s = {.n = 1, .d = d, .causal = causal};
        if (!run_closed_form(probe, (assay_dtype)dtype, &s, of, lone_value, true, 0)) return;
      }
    }
  }
}

static double zero_or_one(const situation *s, int64_t row, int64_t column) {
  (void)s;
  return (double)((row * 5 + column * 3 + row * row) % 7 < 3);
}

/* The average of the visible values. */
static double average(const situation *s, int64_t row, int64_t column) {
  const int64_t visible = s->causal == 1 ? row + 1 : s->n;
  double sum = 0;
  for (int64_t j = 0; j < visible; j++) sum += zero_or_one(s, j, column);
  return sum / (double)visible;
}

void assay_attention_prefix_averages(assay_probe *probe) {
  /* Equal scores: all weights are 1, sums are whole numbers, and only the division rounds. */
  element *const of[3] = {half, half, zero_or_one};
  static const situation cases[] = {{.n = 33, .d = 16, .causal = 1, .block = 32},
                                    {.n = 130, .d = 32, .causal = 1, .block = 64},
                                    {.n = 65, .d = 64, .causal = 0, .block = 32},
                                    {.n = 300, .d = 16, .causal = 1, .block = 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
      if (!run_closed_form(probe, (assay_dtype)dtype, &cases[i], of, average, false, 0x1p-22)) return;
    }
  }
}

static double wide_value(const situation *s, int64_t row, int64_t column) {
  (void)s;
  return (double)((row * 37 + column * 11) % 127 + 1);
}

static double wide_average(const situation *s, int64_t row, int64_t column) {
  double sum = 0;
  (void)row;
  for (int64_t j = 0; j < s->n; j++) sum += wide_value(s, j, column);
  return sum / (double)s->n;
}

void assay_attention_output_rounding(assay_probe *probe) {
  /* Averages of 3, 7 and 11 whole numbers lie anywhere between two 16-bit numbers. */
  element *const of[3] = {zero, half, wide_value};
  static const int64_t counts[] = {3, 7, 11};
  for (size_t i = 0; i < 3; i++) {
    for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
      const situation s = {.n = counts[i], .d = 32};
      if (!run_closed_form(probe, (assay_dtype)dtype, &s, of, wide_average, false, 0x1p-22)) return;
    }
  }
}

/* ---- the scale and the last column (turboderp-org/exllamav3#316, triton-lang/triton#621) --------------- */

static double last_query(const situation *s, int64_t row, int64_t column) {
  (void)row;
  return column == s->d - 1 ? 4 : 0;
}

static double last_key(const situation *s, int64_t row, int64_t column) {
  return row % s->n == 1 && column == s->d - 1 ? 2 : 0;
}

static double row_number(const situation *s, int64_t row, int64_t column) {
  (void)column;
  return (double)(row % s->n);
}

static double logistic(const situation *s, int64_t row, int64_t column) {
  (void)column;
  if (s->causal == 1 && row % s->n == 0) return 0;
  return 1 / (1 + exp(-8 / sqrt((double)s->d)));
}

/* Scores 0 and 8 / sqrt(d), values 0 and 1: the result is a logistic function of the last column alone. Only
 * the rounding of the two weights to 16 bits may be seen beside that of the result. */
static bool expect_logistic(assay_probe *probe, int64_t d, int64_t heads) {
  element *const of[3] = {last_query, last_key, row_number};
  for (int causal = 0; causal < 2; causal++) {
    for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
      const situation s = {.n = 2, .d = d, .heads = heads, .batch = heads, .causal = causal};
      const double more = assay_unit_roundoff((assay_dtype)dtype) + 0x1p-20;
      if (!run_closed_form(probe, (assay_dtype)dtype, &s, of, logistic, false, more)) return false;
    }
  }
  return true;
}

void assay_attention_scale(assay_probe *probe) {
  if (!expect_logistic(probe, probe->row->dims[ASSAY_ATTENTION_D], 0)) return;
  assay_case *operands = assay_probe_make_row(probe);
  if (assay_probe_run_one(probe, operands)) (void)assay_probe_expect_oracle(probe, operands, false);
}

void assay_attention_any_head_size(assay_probe *probe) {
  static const int64_t sizes[] = {1, 8, 40, 72, 80, 96, 128, 256};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    const int64_t d = sizes[i];
    if (!expect_logistic(probe, d, 0) || !expect_logistic(probe, d, 1)) return;
    /* Random contents, and twice: what is read uninitialised differs from call to call. */
    const situation s = {.n = d == 72 ? 130 : 35, .d = d, .causal = (int64_t)(i % 2)};
    const assay_rng start = probe->rng;
    assay_case *cases[2];
    for (int again = 0; again < 2; again++) {
      probe->rng = start;
      cases[again] = make(probe, i % 2 == 0 ? ASSAY_FP16 : ASSAY_BF16, &s);
      for (int operand = 0; operand < 3; operand++) {
        if (!assay_probe_fill_with(probe, cases[again], operand, assay_attention_fill_loud, 1, 0)) return;
      }
      for (int call = 0; call < 2; call++) {
        if (!assay_probe_run_one(probe, cases[again])) return;
        if (!assay_probe_expect_oracle(probe, cases[again], false)) return;
      }
    }
    if (!assay_probe_expect_same(probe, cases[0], cases[1])) return;
    assay_probe_release(probe);
  }
}

/* ---- NaN behind the last row and in gaps --------------------------------------------------------------- */

static double row_plus_one(const situation *s, int64_t row, int64_t column) {
  (void)s, (void)column;
  return (double)(row + 1);
}

static double middle(const situation *s, int64_t row, int64_t column) {
  (void)column;
  return s->causal == 1 ? (double)(row + 2) / 2 : (double)(s->n + 1) / 2;
}

void assay_attention_padded_nan(assay_probe *probe) {
  /* Key and value tiles were loaded past the last row and masked only after the product
   * (Dao-AILab/flash-attention#1745, #1395, sgl-project/sglang#18685). NaN lies in the gaps behind each row;
   * behind the last row lie NaN up to the end of the page, or no memory at all. */
  element *const of[3] = {half, half, row_plus_one};
  static const int64_t counts[] = {3, 1, 63, 65, 127, 129};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    for (int which = 0; which < 4; which++) {
      const situation s = {.n = counts[i],
                           .d = 64,
                           .causal = which % 2,
                           .layout = which < 2 ? ASSAY_ATTENTION_PACKED : ASSAY_ATTENTION_PITCHED};
      for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
        if (!run_closed_form(probe, (assay_dtype)dtype, &s, of, middle, false, 0x1p-22)) return;
      }
    }
  }
}

/* ---- accumulators (ikawrakow/ik_llama.cpp#1196, ggml-org/llama.cpp#17558, ggml-org/llama.cpp#13991) ---- */

static double near_the_limit(const situation *s, int64_t row, int64_t column) {
  (void)s, (void)row, (void)column;
  return 60000;
}

static double thousand(const situation *s, int64_t row, int64_t column) {
  (void)s, (void)row, (void)column;
  return 1000;
}

void assay_attention_large_values(assay_probe *probe) {
  /* Sums of equal weights pass the largest FP16 number long before they are divided. */
  element *const limit[3] = {zero, half, near_the_limit};
  element *const many[3] = {zero, half, thousand};
  const situation two = {.n = 2, .d = 64};
  if (!run_closed_form(probe, ASSAY_FP16, &two, limit, near_the_limit, true, 0)) return;
  const situation some = {.n = 128, .d = 64};
  const situation longest = {.n = 2048, .d = 16, .causal = CAUSAL};
  for (int dtype = ASSAY_FP16; dtype <= ASSAY_BF16; dtype++) {
    if (!run_closed_form(probe, (assay_dtype)dtype, &some, many, thousand, true, 0)) return;
    if (!run_closed_form(probe, (assay_dtype)dtype, &longest, many, thousand, false, 0x1p-13)) return;
  }
}

static double first_is_one(const situation *s, int64_t row, int64_t column) {
  (void)s, (void)row;
  return column == 0;
}

static double rising(const situation *s, int64_t row, int64_t column) {
  (void)s;
  return column == 0 ? 2 * (double)row : 0;
}

static double falling(const situation *s, int64_t row, int64_t column) {
  return column == 0 ? 2 * (double)(s->n - 1 - row) : 0;
}

static double share(const situation *s, int64_t row, int64_t column) {
  (void)column;
  return (double)row / (double)s->n;
}

void assay_attention_rescaled_ones(assay_probe *probe) {
  /* Scores j / 4 (or j / 2) of 256 keys: the maximum rises in every tile by eight or sixteen, or falls as
   * much. Values of 1 come back as 1 whatever the weights are, if numerator and denominator belong together.
   * Weights rounded to 16 bits leave the denominator as it is: hence more than one rounding. */
  element *const keys[2] = {rising, falling};
  for (int which = 0; which < 8; which++) {
    element *const key = keys[which % 2];
    element *const of_ones[3] = {first_is_one, key, one};
    element *const of_shares[3] = {first_is_one, key, share};
    const assay_dtype dtype = which < 4 ? ASSAY_FP16 : ASSAY_BF16;
    const double more = assay_unit_roundoff(dtype) + 0x1p-15;
    const situation s = {.n = 256, .d = 64, .causal = which / 2 % 2, .block = which % 3 == 0 ? 32 : 64};
    if (!run_closed_form(probe, dtype, &s, of_ones, one, false, more)) return;
    situation narrow = s; /* cheaper for the oracle */
    narrow.d = 16;
    assay_case *operands = make(probe, dtype, &narrow);
    if (!fill_from(probe, operands, &narrow, of_shares) || !assay_probe_run_one(probe, operands)) return;
    const bool rows_alike = s.causal == 0;
    if (!assay_probe_expect_oracle(probe, operands, rows_alike)) return;
    assay_probe_release(probe);
  }
}

/* ---- heads --------------------------------------------------------------------------------------------- */

static double tag(const situation *s, int64_t row, int64_t column) {
  (void)column;
  const int64_t head = row / s->n;
  return (double)(head + 1);
}

void assay_attention_head_tags(assay_probe *probe) {
  /* All values of a head are its number, so any weights give that number back. */
  element *const of[3] = {half, half, tag};
  for (int layout = ASSAY_ATTENTION_PACKED; layout <= ASSAY_ATTENTION_INTERLEAVED; layout++) {
    for (int causal = 0; causal < 2; causal++) {
      const situation s = {.n = 67,
                           .d = 24,
                           .heads = 5,
                           .batch = 3,
                           .causal = causal,
                           .layout = (assay_attention_layout)layout};
      const assay_dtype dtype = causal == 0 ? ASSAY_FP16 : ASSAY_BF16;
      if (!run_closed_form(probe, dtype, &s, of, tag, false, 0)) return;
    }
  }
}
