/* SPDX-License-Identifier: MIT */
/* gemm_avx2.c - the vocabulary of gemm_blocked_simd.h in AVX2, FMA and F16C. */
#include "gemm_micro_avx2.h"
#include "vec_avx2.h"

#include "gemm_finish_simd.h"

enum { GEMM_STEPS = 1 };

/* Up to a vector of elements, and zeros behind them. */
VOCABULARY vec load_up_to(const uint16_t *from, int64_t count, assay_dtype dtype) {
  if (count >= VEC_LANES) return vec_load((const char *)from, dtype, 0);
  return vec_load_part((const char *)from, dtype, 0, count > 0 ? (int)count : 0, vec_set1(0.0f));
}

/* A step of B: n elements as floats, and zeros up to a whole panel behind them. */
VOCABULARY void gemm_pack_b(float *to, const uint16_t *from, int64_t step, int steps, int n,
                            assay_dtype dtype) {
  (void)step, (void)steps;
  vec_store_scratch(to, load_up_to(from, n, dtype));
  vec_store_scratch(to + VEC_LANES, load_up_to(from + VEC_LANES, n - VEC_LANES, dtype));
}

/* Rows of A, `step` elements apart, as k groups of GEMM_MR floats; rows beyond `rows` become 0. */
VOCABULARY void gemm_pack_a(float *to, const uint16_t *from, int64_t step, int rows, int64_t k,
                            assay_dtype dtype) {
  for (int64_t p = 0; p < k; p += VEC_LANES) {
    __m256i x[VEC_LANES];
#pragma GCC unroll 8
    for (int r = 0; r < VEC_LANES; ++r) {
      x[r] = r < rows ? _mm256_castps_si256(load_up_to(from + r * step + p, k - p, dtype))
                      : _mm256_setzero_si256();
    }
    transpose8(x);
#pragma GCC unroll 8
    for (int i = 0; i < VEC_LANES; ++i) {
      float *group = to + (p + i) * GEMM_MR;
      if (i >= k - p) break;
      _mm_storeu_si128((__m128i *)(void *)group, _mm256_castsi256_si128(x[i]));
      _mm_storel_epi64((__m128i *)(void *)(group + 4), _mm256_extracti128_si256(x[i], 1));
    }
  }
}

#include "gemm_blocked_simd.h"
#include "gemm_thin_simd.h"

assay_status assay_gemm_avx2(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  gemm_task task = gemm_describe(in, out, queue);
  return gemm_is_thin(&task) ? gemm_thin(&task, queue) : gemm_blocked(&task, opt, queue);
}
