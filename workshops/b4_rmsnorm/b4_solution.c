/* SPDX-License-Identifier: MIT */
/*
 * b4_solution.c - RMS normalisation with a residual: the reference solution, written to be read.
 *
 * 16-bit numbers are only read and written; in between everything is FP32.
 */
#include "assay/workshop.h"

ASSAY_API assay_kernel rmsnorm;

static const float epsilon = 1e-5f;

assay_status rmsnorm(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                     assay_queue *queue) {
  const assay_tensor *x = &in[0];
  const assay_tensor *residual = &in[1];
  const assay_tensor *weight = &in[2];
  const assay_tensor *y = &out[0];
  const assay_dtype dtype = x->dtype;
  const int64_t rows = x->shape[0];
  const int64_t columns = x->shape[1];
  (void)opt;

  float *h = assay_queue_scratch(queue, (size_t)columns * sizeof(float));
  if (h == NULL) return ASSAY_NO_MEMORY;

  for (int64_t r = 0; r < rows; r++) {
    float squares = 0;
    for (int64_t c = 0; c < columns; c++) {
      const int64_t i = r * columns + c;
      h[c] = assay_load(x->data, dtype, i) + assay_load(residual->data, dtype, i);
      squares += h[c] * h[c];
    }

    /* Inside the root epsilon keeps a row of zeros from a division by 0 and changes other rows least. */
    const float root = sqrtf(squares / (float)columns + epsilon);

    for (int64_t c = 0; c < columns; c++) {
      const float normal = h[c] / root;
      /* The only rounding to 16 bits. */
      assay_store(y->data, dtype, r * columns + c, normal * assay_load(weight->data, dtype, c));
    }
  }
  return ASSAY_OK;
}
