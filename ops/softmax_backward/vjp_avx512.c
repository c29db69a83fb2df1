/* SPDX-License-Identifier: MIT */
/* vjp_avx512.c - the softmax's backward pass on 16 lanes of AVX-512 with masks; the algorithm is vjp_simd.h.
 */
#include "vec_avx512.h"
#include "vjp_simd.h"

assay_status assay_vjp_avx512(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                              assay_queue *queue) {
  (void)opt; /* no knobs */
  return simd_backward(in, out, queue);
}
