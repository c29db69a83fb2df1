/* SPDX-License-Identifier: MIT */
/*
 * w1_solution.c - strided softmax, written to be read. The lesson beside it derives every step.
 *
 * A row goes through three steps: read it once into scratch and find its maximum; replace every value by
 * exp(value - maximum) and add these up; divide by the sum and round to the type of y.
 */
#include "assay/workshop.h"

/* Partial sums of a row. A row of n terms is then n / 32 additions deep instead of n. */
enum { LANES = 32 };

/* Problems smaller than this are done before other threads have woken up. */
enum { PARALLEL_ELEMENTS = 65536 };

/* The compiler holds the definition below to the signature that is called. */
ASSAY_API assay_kernel strided_softmax;

/*
 * Where element (row, column) of a view is, counted in elements from its data. Nothing more is needed for a
 * transposed, sliced or broadcast view. It is 64-bit: a view may span more than 2^31 elements.
 */
static int64_t position(const assay_tensor *view, int64_t row, int64_t column) {
  return row * view->stride[0] + column * view->stride[1];
}

/*
 * The sum of `count` terms. Term c goes to lane c % LANES; the lanes are then added in pairs. The order
 * depends on `count` alone, so that any number of threads gives the same bits.
 */
static float sum_of(const float *terms, int64_t count) {
  float lane[LANES] = {0};
  const int64_t whole = count / LANES * LANES;
  for (int64_t c = 0; c < whole; c += LANES) {
    for (int k = 0; k < LANES; k++) lane[k] += terms[c + k];
  }
  for (int64_t c = whole; c < count; c++) lane[c - whole] += terms[c];
  for (int half = LANES / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; k++) lane[k] += lane[k + half];
  }
  return lane[0];
}

/* Rows first..last-1; `terms` holds one row. */
static void softmax_rows(const assay_tensor *x, const assay_tensor *y, int64_t first, int64_t last,
                         float *terms) {
  const int64_t columns = x->shape[1];
  for (int64_t r = first; r < last; r++) {
    /*
     * The comparison passes over a NaN, but exp below does not: the term is NaN, so is the sum, so is the
     * row. +inf - +inf, and -inf - -inf in a row of nothing else, are NaN as well: no special case is needed.
     */
    float maximum = -INFINITY;
    for (int64_t c = 0; c < columns; c++) {
      const float value = assay_load(x->data, x->dtype, position(x, r, c));
      if (value > maximum) maximum = value;
      terms[c] = value;
    }

    /* No exponent is above 0: no term overflows, the largest is exactly 1, and the sum is 1 or more. */
    for (int64_t c = 0; c < columns; c++) terms[c] = expf(terms[c] - maximum);
    const float sum = sum_of(terms, columns);

    /* y is contiguous. This store is the only rounding to a 16-bit type. */
    for (int64_t c = 0; c < columns; c++) {
      assay_store(y->data, y->dtype, r * columns + c, terms[c] / sum);
    }
  }
}

assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  const assay_tensor *x = &in[ASSAY_STRIDED_SOFTMAX_X];
  const assay_tensor *y = &out[ASSAY_STRIDED_SOFTMAX_Y];
  const int64_t rows = x->shape[0];
  const int64_t columns = x->shape[1];
  (void)opt; /* its one knob belongs to CUDA */

  /* Every thread gets a row of scratch of its own, a multiple of 64 bytes so that no cache line is shared. */
  const int threads = rows * columns >= PARALLEL_ELEMENTS ? queue->threads : 1;
  const int64_t pitch = (columns + 15) / 16 * 16;
  float *scratch = assay_queue_scratch(queue, (size_t)(threads * pitch) * sizeof(float));
  if (scratch == NULL) return ASSAY_NO_MEMORY;

#pragma omp parallel for num_threads(threads) schedule(static, 1) if (threads > 1)
  for (int t = 0; t < threads; t++) {
    /* One iteration is one thread's share: neighbouring rows, and no row twice. */
    const int64_t first = rows * t / threads;
    const int64_t last = rows * (t + 1) / threads;
    softmax_rows(x, y, first, last, scratch + t * pitch);
  }
  return ASSAY_OK;
}
