/* SPDX-License-Identifier: MIT */
/* bench_passes_avx2.c - FP16 to FP32 and back by the CPU's own instructions, as any program would have it. */
#include <immintrin.h>

#include "ops/bench_passes.h"

void assay_pass_widen_fp16_avx2(const uint16_t *from, int64_t count, float *to) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i halves = _mm_loadu_si128((const __m128i *)(const void *)(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(halves));
  }
  for (; i < count; i++) to[i] = assay_fp16_to_float(from[i]);
}

void assay_pass_round_fp16_avx2(const float *from, int64_t count, uint16_t *to) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i halves =
        _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128((__m128i *)(void *)(to + i), halves);
  }
  for (; i < count; i++) to[i] = assay_fp16_from_float(from[i]);
}
