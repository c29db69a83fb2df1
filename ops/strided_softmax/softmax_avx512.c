/* SPDX-License-Identifier: MIT */
/* softmax_avx512.c - softmax_simd.h on 16 floats at a time. */
#include <stdbool.h>

#include "vec_exp_avx512.h"

#include "softmax_simd.h"

assay_status assay_softmax_avx512(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                  assay_queue *queue) {
  (void)opt; /* no knobs */
  return simd_softmax(in, out, queue);
}
