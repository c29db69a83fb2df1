/* SPDX-License-Identifier: MIT */
/* vjp_avx2.c - the softmax's backward pass on 8 lanes of AVX2, FMA and F16C; the algorithm is vjp_simd.h. */
#include "vec_avx2.h"
#include "vjp_simd.h"

assay_status assay_vjp_avx2(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                            assay_queue *queue) {
  (void)opt; /* no knobs */
  return simd_backward(in, out, queue);
}
