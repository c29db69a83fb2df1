/* SPDX-License-Identifier: MIT */
/* normalizer_avx512.c - the AVX-512 variant, and the vocabulary of normalizer_simd.h for FP32 in AVX-512 F,
 * BW, DQ and VL: 16 floats, masks, scalef. */
#include <immintrin.h>

#include "normalizer.h"
#include "normalizer_vector.h"

#define VOCABULARY static inline __attribute__((always_inline))

enum { VEC_LANES = 16 };

typedef float element;
typedef __m512 vec;

VOCABULARY vec vec_set1(float a) {
  return _mm512_set1_ps(a);
}

/* The second operand where either is NaN, as in the instruction. */
VOCABULARY vec vec_max(vec a, vec b) {
  return _mm512_max_ps(a, b);
}

VOCABULARY vec vec_add(vec a, vec b) {
  return _mm512_add_ps(a, b);
}

VOCABULARY vec vec_sub(vec a, vec b) {
  return _mm512_sub_ps(a, b);
}

VOCABULARY vec vec_mul(vec a, vec b) {
  return _mm512_mul_ps(a, b);
}

VOCABULARY float vec_hmax(vec a) {
  return _mm512_reduce_max_ps(a);
}

VOCABULARY float vec_hsum(vec a) {
  return _mm512_reduce_add_ps(a);
}

/* d = n*ln2 + f*ln2 with n an integer and |f| <= 1/2; the polynomial is minimax for 2^f with the constant
 * term held at 1: relative error 0.4 * 2^-24. */
VOCABULARY vec vec_exp(vec d) {
  const vec log2e = _mm512_set1_ps(0x1.715476p+0f);
  const vec big = _mm512_set1_ps(0x1.8p23f);
  const vec n =
      _mm512_sub_ps(_mm512_fmadd_round_ps(d, log2e, big, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), big);
  vec f = _mm512_fmsub_ps(d, log2e, n);
  f = _mm512_fmadd_ps(d, _mm512_set1_ps(0x1.4ae0cp-26f), f);
  vec p = _mm512_set1_ps(0x1.470b4ap-13f);
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0x1.5f7276p-10f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0x1.3b270ep-7f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0x1.c6ae72p-5f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0x1.ebfbe2p-3f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0x1.62e432p-1f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.0f));
  /* e^-104 rounds to 0 in FP32; the mask also keeps -infinity's undefined f out, and lets NaN in. */
  const __mmask16 counts = _mm512_cmp_ps_mask(d, _mm512_set1_ps(-104.0f), _CMP_NLE_UQ);
  return _mm512_maskz_scalef_ps(counts, p, n);
}

VOCABULARY __mmask16 first_lanes(int count) {
  return (__mmask16)((1u << count) - 1u);
}

VOCABULARY vec vec_load(const float *x) {
  return _mm512_loadu_ps(x);
}

VOCABULARY vec vec_load_part(const float *x, int count) {
  return _mm512_mask_loadu_ps(_mm512_set1_ps(-INFINITY), first_lanes(count), x);
}

VOCABULARY void vec_store(float *y, vec a) {
  _mm512_storeu_ps(y, a);
}

VOCABULARY void vec_store_part(float *y, vec a, int count) {
  _mm512_mask_storeu_ps(y, first_lanes(count), a);
}

VOCABULARY void vec_stream(float *y, vec a) {
  _mm512_stream_ps(y, a);
}

VOCABULARY void vec_fence(void) {
  _mm_sfence();
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

assay_status assay_normalizer_avx512_summarise(const assay_tensor *in, const assay_tensor *out,
                                               const int64_t *opt, assay_queue *queue) {
  (void)opt; /* no knobs */
  return normalizer_summarise(in, out, queue,
                              in[0].dtype == ASSAY_FP64 ? assay_normalizer_wide_avx512_summary : summary);
}

assay_status assay_normalizer_avx512_finish(const assay_tensor *in, const assay_tensor *out,
                                            const int64_t *opt, assay_queue *queue) {
  (void)opt; /* no knobs */
  normalizer_finish(in, out, queue, in[1].dtype == ASSAY_FP64 ? assay_normalizer_wide_avx512_ending : ending);
  return ASSAY_OK;
}
