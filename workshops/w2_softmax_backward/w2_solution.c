/* SPDX-License-Identifier: MIT */
/*
 * w2_solution.c - the softmax's backward pass, written to be read. The lesson beside it derives the formula.
 *
 * A row goes through two steps: read y and g once, widen them into scratch and add up their products; then
 * write y * (g - sum), rounded to the type of dx. The N-by-N Jacobian is never there.
 */
#include "assay/workshop.h"

/* Partial sums of a dot product. A row of n products is then n / 32 additions deep instead of n. */
enum { LANES = 32 };

/* Problems smaller than this are done before other threads have woken up. */
enum { PARALLEL_ELEMENTS = 65536 };

/* The compiler holds the definition below to the signature that is called. */
ASSAY_API assay_kernel softmax_backward;

/*
 * Where element (row, column) of a view is, counted in elements from its data. y and g each have strides of
 * their own, so each is asked with its own view. It is 64-bit: a view may span more than 2^31 elements.
 */
static int64_t position(const assay_tensor *view, int64_t row, int64_t column) {
  return row * view->stride[0] + column * view->stride[1];
}

/* Widens one row of a view to floats. */
static void read_row(const assay_tensor *view, int64_t row, float *values) {
  for (int64_t c = 0; c < view->shape[1]; c++) {
    values[c] = assay_load(view->data, view->dtype, position(view, row, c));
  }
}

/*
 * The sum of y[c] * g[c]. Product c goes to lane c % LANES; the lanes are then added in pairs. The order
 * depends on `count` alone, so that any number of threads gives the same bits.
 */
static float dot_of(const float *y, const float *g, int64_t count) {
  float lane[LANES] = {0};
  const int64_t whole = count / LANES * LANES;
  for (int64_t c = 0; c < whole; c += LANES) {
    for (int k = 0; k < LANES; k++) lane[k] += y[c + k] * g[c + k];
  }
  for (int64_t c = whole; c < count; c++) lane[c - whole] += y[c] * g[c];
  for (int half = LANES / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; k++) lane[k] += lane[k + half];
  }
  return lane[0];
}

/* Rows first..last-1; `scratch` holds one row of y, then one of g, `pitch` floats apart. */
static void backward_rows(const assay_tensor *in, const assay_tensor *dx, int64_t first, int64_t last,
                          float *scratch, int64_t pitch) {
  const int64_t columns = dx->shape[1];
  float *y = scratch;
  float *g = scratch + pitch;
  for (int64_t r = first; r < last; r++) {
    read_row(&in[ASSAY_SOFTMAX_BACKWARD_Y], r, y);
    read_row(&in[ASSAY_SOFTMAX_BACKWARD_G], r, g);

    /* A NaN of either input makes the sum NaN, and so every element of the row: no special case is needed. */
    const float dot = dot_of(y, g, columns);

    /* dx is contiguous. The difference comes before the product: where g and dot are close, it is exact. The
     * store is the only rounding to a 16-bit type. */
    for (int64_t c = 0; c < columns; c++) {
      assay_store(dx->data, dx->dtype, r * columns + c, y[c] * (g[c] - dot));
    }
  }
}

assay_status softmax_backward(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                              assay_queue *queue) {
  const assay_tensor *dx = &out[ASSAY_SOFTMAX_BACKWARD_DX];
  const int64_t rows = dx->shape[0];
  const int64_t columns = dx->shape[1];
  (void)opt; /* its one knob belongs to CUDA */

  /* Every thread gets two rows of scratch of its own, multiples of 64 bytes so that no cache line is shared.
   */
  const int threads = rows * columns >= PARALLEL_ELEMENTS ? queue->threads : 1;
  const int64_t pitch = (columns + 15) / 16 * 16;
  float *scratch = assay_queue_scratch(queue, (size_t)(threads * 2 * pitch) * sizeof(float));
  if (scratch == NULL) return ASSAY_NO_MEMORY;

#pragma omp parallel for num_threads(threads) schedule(static, 1) if (threads > 1)
  for (int t = 0; t < threads; t++) {
    /* One iteration is one thread's share: neighbouring rows, and no row twice. */
    const int64_t first = rows * t / threads;
    const int64_t last = rows * (t + 1) / threads;
    backward_rows(in, dx, first, last, scratch + t * 2 * pitch, pitch);
  }
  return ASSAY_OK;
}
