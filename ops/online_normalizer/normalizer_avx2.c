/* SPDX-License-Identifier: MIT */
/* normalizer_avx2.c - normalizer_simd.h on 8 FP32 elements at a time, and the entries of the variant. */
#include "normalizer.h"
#include "normalizer_vector.h"
#include "vec_exp_avx2.h"

typedef float element;

VOCABULARY vec element_load(const float *x) {
  return vec_load_scratch(x);
}

VOCABULARY vec element_load_part(const float *x, int count) {
  return vec_load_part((const char *)x, ASSAY_FP32, 0, count, vec_set1(-INFINITY));
}

VOCABULARY void element_store(float *y, vec a) {
  vec_store_scratch(y, a);
}

VOCABULARY void element_store_part(float *y, vec a, int count) {
  vec_store_part((char *)y, ASSAY_FP32, 0, a, count);
}

VOCABULARY void element_stream(float *y, vec a) {
  vec_stream((char *)y, ASSAY_FP32, 0, a);
}

#include "normalizer_simd.h"

static normalizer_state summary(const void *x, int64_t count, const void *ahead) {
  return simd_summary(x, count, ahead);
}

static void ending(normalizer_state state, const void *x, void *y, int64_t count, bool stream) {
  if (stream) {
    simd_ending(state, x, y, count, true);
  } else {
    simd_ending(state, x, y, count, false);
  }
}

assay_status assay_normalizer_avx2_summarise(const assay_tensor *in, const assay_tensor *out,
                                             const int64_t *opt, assay_queue *queue) {
  (void)opt; /* no knobs */
  return normalizer_summarise(in, out, queue,
                              in[0].dtype == ASSAY_FP64 ? assay_normalizer_wide_avx2_summary : summary);
}

assay_status assay_normalizer_avx2_finish(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                          assay_queue *queue) {
  (void)opt; /* no knobs */
  normalizer_finish(in, out, queue, in[1].dtype == ASSAY_FP64 ? assay_normalizer_wide_avx2_ending : ending);
  return ASSAY_OK;
}
