/* SPDX-License-Identifier: MIT */
/* gemm_avx512.c - the vocabulary of gemm_blocked_simd.h in AVX-512 F, BW, DQ and VL. */
#include "gemm_micro_avx512.h"
#include "vec_avx512.h"

#include "gemm_finish_simd.h"

enum { GEMM_STEPS = 1 };

/* A step of B: n elements as floats, and zeros up to a whole panel behind them. */
VOCABULARY void gemm_pack_b(float *to, const uint16_t *from, int64_t step, int steps, int n,
                            assay_dtype dtype) {
  (void)step, (void)steps;
  const uint32_t lanes = n >= GEMM_NR ? UINT32_MAX : (UINT32_C(1) << n) - 1;
  const __mmask16 right = (__mmask16)(lanes >> VEC_LANES);
  vec_store_scratch(to, widen(_mm256_maskz_loadu_epi16((__mmask16)lanes, from), dtype));
  vec_store_scratch(to + VEC_LANES, widen(_mm256_maskz_loadu_epi16(right, from + VEC_LANES), dtype));
}

/* Rows of A, `step` elements apart, as k groups of GEMM_MR floats; rows beyond `rows` become 0. */
VOCABULARY void gemm_pack_a(float *to, const uint16_t *from, int64_t step, int rows, int64_t k,
                            assay_dtype dtype) {
  const __mmask16 used = (__mmask16)((1u << GEMM_MR) - 1u);
  for (int64_t p = 0; p < k; p += VEC_LANES) {
    const __mmask16 lanes = (__mmask16)(k - p >= VEC_LANES ? 0xffffu : (1u << (k - p)) - 1u);
    __m512i x[VEC_LANES];
#pragma GCC unroll 16
    for (int r = 0; r < VEC_LANES; ++r) {
      const bool real = r < rows;
      x[r] = real ? _mm512_castps_si512(widen(_mm256_maskz_loadu_epi16(lanes, from + r * step + p), dtype))
                  : _mm512_setzero_si512();
    }
    transpose16(x);
#pragma GCC unroll 16
    for (int i = 0; i < VEC_LANES; ++i) {
      if (i < k - p) _mm512_mask_storeu_epi32(to + (p + i) * GEMM_MR, used, x[i]);
    }
  }
}

#include "gemm_blocked_simd.h"
#include "gemm_thin_simd.h"

assay_status assay_gemm_avx512(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                               assay_queue *queue) {
  gemm_task task = gemm_describe(in, out, queue);
  return gemm_is_thin(&task) ? gemm_thin(&task, queue) : gemm_blocked(&task, opt, queue);
}
