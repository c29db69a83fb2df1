/* SPDX-License-Identifier: MIT */
/* log_softmax_cpu.c - the log-softmax in portable C: libm's expf and logf, rows spread over threads. */
#include <stdbool.h>

#include "log_softmax.h"

enum { PARTIALS = 32, SERIAL_ELEMENTS = 65536 };

/* The sum of exp(x - m) in 32 partial sums, so that a long row is not one chain of additions. */
static float sum_of_exponentials(const assay_tensor *x, int64_t at, float m) {
  float part[PARTIALS] = {0};
  for (int64_t c = 0; c < x->shape[1]; c++) {
    part[c % PARTIALS] += expf(assay_load(x->data, x->dtype, at + c * x->stride[1]) - m);
  }
  for (int half = PARTIALS / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; k++) part[k] += part[k + half];
  }
  return part[0];
}

static void log_softmax_row(const assay_tensor *x, const assay_tensor *y, int64_t row) {
  const int64_t columns = x->shape[1];
  const int64_t at = row * x->stride[0];
  float m = -INFINITY; /* a NaN is passed over here, and makes the sum NaN */
  for (int64_t c = 0; c < columns; c++) {
    const float value = assay_load(x->data, x->dtype, at + c * x->stride[1]);
    if (value > m) m = value;
  }
  const float log_sum = logf(sum_of_exponentials(x, at, m));
  for (int64_t c = 0; c < columns; c++) {
    const float value = assay_load(x->data, x->dtype, at + c * x->stride[1]);
    assay_store(y->data, y->dtype, row * columns + c, value - m - log_sum);
  }
}

assay_status assay_log_softmax_cpu(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                   assay_queue *queue) {
  (void)opt; /* no knobs */
  const int64_t rows = in[0].shape[0];
  const bool wide = queue->threads > 1 && rows * in[0].shape[1] >= SERIAL_ELEMENTS;
#if defined(_OPENMP)
#pragma omp parallel for num_threads(wide ? queue->threads : 1) schedule(static)
#endif
  for (int64_t row = 0; row < rows; row++) log_softmax_row(&in[0], &out[0], row);
  (void)wide;
  return ASSAY_OK;
}
