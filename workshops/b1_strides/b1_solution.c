/* SPDX-License-Identifier: MIT */
/*
 * b1_solution.c - strides: the reference solution, written to be read.
 *
 * One loop serves every rank and every layout: it never asks what kind of view it has.
 */
#include "assay/workshop.h"

ASSAY_API assay_kernel strides;

/* The element of `view` that stands at the packed position: quotients and remainders give the index, from the
 * last dimension to the first, and each index counts its own stride. */
static float element(const assay_tensor *view, int64_t position) {
  int64_t offset = 0;
  for (int d = view->rank - 1; d >= 0; d--) {
    const int64_t index = position % view->shape[d];
    position /= view->shape[d];
    offset += index * view->stride[d];
  }
  const float *data = view->data;
  return data[offset];
}

assay_status strides(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                     assay_queue *queue) {
  float *y = out[0].data;
  (void)opt, (void)queue;

  int64_t count = 1; /* 0 as soon as one size is 0: then no element is asked for */
  for (int d = 0; d < out[0].rank; d++) count *= out[0].shape[d];

  for (int64_t p = 0; p < count; p++) y[p] = element(&in[0], p) + element(&in[1], p);
  return ASSAY_OK;
}
