/* SPDX-License-Identifier: MIT */
/* split_softmax_avx512.c - split_softmax_simd.h on 16 floats at a time. */
#include <stdbool.h>

#include "vec_exp_avx512.h"

#include "split_softmax_simd.h"

assay_status assay_split_softmax_avx512(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                        assay_queue *queue) {
  return split_softmax_with(partials, normalise, turn, in, out, opt, queue);
}
