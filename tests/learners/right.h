/* SPDX-License-Identifier: MIT */
/* right.h - a right kernel, for the files here that misbehave beside it. */
#ifndef ASSAY_TESTS_RIGHT_H
#define ASSAY_TESTS_RIGHT_H

#include "assay/workshop.h"

static inline void right_softmax(const assay_tensor *in, const assay_tensor *out) {
  const assay_tensor *x = &in[0];
  const int64_t columns = x->shape[1];
  for (int64_t r = 0; r < x->shape[0]; r++) {
    float m = -INFINITY;
    double sum = 0;
    for (int64_t c = 0; c < columns; c++) {
      const float v = assay_load(x->data, x->dtype, r * x->stride[0] + c * x->stride[1]);
      if (v > m) m = v;
    }
    for (int64_t c = 0; c < columns; c++) {
      sum += expf(assay_load(x->data, x->dtype, r * x->stride[0] + c * x->stride[1]) - m);
    }
    for (int64_t c = 0; c < columns; c++) {
      const float v = assay_load(x->data, x->dtype, r * x->stride[0] + c * x->stride[1]);
      assay_store(out[0].data, out[0].dtype, r * columns + c, (float)(expf(v - m) / sum));
    }
  }
}

#endif
