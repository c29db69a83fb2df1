/* SPDX-License-Identifier: MIT */
/*
 * gemm_avx512bf16.c - the vocabulary of gemm_blocked_simd.h for BF16 with the instruction that multiplies
 * pairs of such numbers and adds both products to a float. FP16, and numbers that the instruction would flush
 * to 0, go to the variant that widens.
 *
 * Some processors give the instruction half the rate of a multiply-add of floats, others the same, which
 * makes it twice as fast. What CPUID says does not tell one from the other, so a short calibration does.
 */
#include <stdatomic.h>
#include <time.h>

#include "gemm_micro_avx512bf16.h"
#include "vec_avx512.h"

#include "gemm_finish_simd.h"

enum { GEMM_STEPS = 2 };

/* Sixteen columns of two rows: the upper row becomes the low halves of the words. */
VOCABULARY __m512i interleave(__m256i upper, __m256i lower) {
  return _mm512_or_si512(_mm512_cvtepu16_epi32(upper), _mm512_slli_epi32(_mm512_cvtepu16_epi32(lower), 16));
}

/* One or two steps of B: n columns as pairs, and zeros up to a whole panel behind them. A missing second step
 * is 0, as it is in the panel of A. */
VOCABULARY void gemm_pack_b(float *to, const uint16_t *from, int64_t step, int steps, int n,
                            assay_dtype dtype) {
  (void)dtype;
  const uint32_t lanes = n >= GEMM_NR ? UINT32_MAX : (UINT32_C(1) << n) - 1;
  const __m512i upper = _mm512_maskz_loadu_epi16(lanes, from);
  const __m512i lower = steps == 2 ? _mm512_maskz_loadu_epi16(lanes, from + step) : _mm512_setzero_si512();
  const __m512i left = interleave(_mm512_castsi512_si256(upper), _mm512_castsi512_si256(lower));
  const __m512i right = interleave(_mm512_extracti64x4_epi64(upper, 1), _mm512_extracti64x4_epi64(lower, 1));
  _mm512_storeu_si512(to, left);
  _mm512_storeu_si512(to + VEC_LANES, right);
}

/* Rows of A, `step` elements apart, as groups of GEMM_MR pairs, which lie in memory as they are wanted; rows
 * beyond `rows` and a step beyond k become 0. */
VOCABULARY void gemm_pack_a(float *to, const uint16_t *from, int64_t step, int rows, int64_t k,
                            assay_dtype dtype) {
  (void)dtype;
  const __mmask16 used = (__mmask16)((1u << GEMM_MR) - 1u);
  const int64_t at_once = GEMM_STEPS * VEC_LANES;
  for (int64_t p = 0; p < k; p += at_once) {
    const __mmask32 lanes = k - p >= at_once ? UINT32_MAX : (UINT32_C(1) << (k - p)) - 1;
    __m512i x[VEC_LANES];
#pragma GCC unroll 16
    for (int r = 0; r < VEC_LANES; ++r) {
      x[r] = r < rows ? _mm512_maskz_loadu_epi16(lanes, from + r * step + p) : _mm512_setzero_si512();
    }
    transpose16(x);
#pragma GCC unroll 16
    for (int i = 0; i < VEC_LANES; ++i) {
      const int64_t group = p / GEMM_STEPS + i;
      if (GEMM_STEPS * group < k) _mm512_mask_storeu_epi32(to + group * GEMM_MR, used, x[i]);
    }
  }
}

#include "gemm_blocked_simd.h"

/* Magnitudes less 1: zeros become the largest of all, and the least is that of the smallest number. */
static int lowest_exponent(const float *panel, int64_t words) {
  __m512i least = _mm512_set1_epi16(-1);
  for (int64_t i = 0; i < words; i += VEC_LANES) {
    const int64_t left = words - i;
    const __mmask16 lanes = (__mmask16)(left >= VEC_LANES ? 0xffffu : (1u << left) - 1u);
    const __m512i pairs = _mm512_maskz_loadu_epi32(lanes, panel + i);
    const __m512i magnitudes = _mm512_and_si512(pairs, _mm512_set1_epi16(0x7fff));
    least = _mm512_min_epu16(least, _mm512_sub_epi16(magnitudes, _mm512_set1_epi16(1)));
  }
  uint16_t lanes[GEMM_STEPS * VEC_LANES];
  _mm512_storeu_si512(lanes, least);
  int lowest = UINT16_MAX;
  for (int i = 0; i < GEMM_STEPS * VEC_LANES; ++i) lowest = lanes[i] < lowest ? lanes[i] : lowest;
  return lowest == UINT16_MAX ? GEMM_NO_EXPONENT : (lowest + 1) >> 7;
}

assay_status assay_gemm_avx512bf16(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                   assay_queue *queue) {
  gemm_task task = gemm_describe(in, out, queue);
  if (task.dtype != ASSAY_BF16 || gemm_is_thin(&task)) return assay_gemm_avx512(in, out, opt, queue);
  gemm_lowest lowest = {.find = lowest_exponent, .a = GEMM_NO_EXPONENT, .b = GEMM_NO_EXPONENT};
  task.lowest = &lowest;
  const assay_status status = gemm_blocked(&task, opt, queue);
  return status == ASSAY_UNAVAILABLE ? assay_gemm_avx512(in, out, opt, queue) : status;
}

/* ---- calibration --------------------------------------------------------------------------------------- */

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Nanoseconds for some thousand steps of as many independent sums as hide the latency. */
VOCABULARY int64_t time_steps(gemm_multiply *multiply) {
  enum { SUMS = 12, ROUNDS = 400 };
  volatile float one = 1.0f; /* or the products would be known before they are made */
  const int64_t start = now_ns();
  const vec factor = vec_set1(one);
  const vec row = vec_set1(one);
  vec sums[SUMS];
#pragma GCC unroll 12
  for (int s = 0; s < SUMS; ++s) sums[s] = vec_set1((float)s); /* of equal sums one would do for all */
  for (int round = 0; round < ROUNDS; ++round) {
#pragma GCC unroll 12
    for (int s = 0; s < SUMS; ++s) sums[s] = multiply(factor, row, sums[s]);
  }
  vec total = sums[0];
#pragma GCC unroll 12
  for (int s = 1; s < SUMS; ++s) total = vec_add(total, sums[s]);
  one = vec_hsum(total);
  return now_ns() - start;
}

static bool pairs_are_faster(void) {
  enum { TIMES = 6 }; /* the least of a few: an interrupt or a sleeping half of the unit spoils some */
  int64_t floats = INT64_MAX;
  int64_t pairs = INT64_MAX;
  for (int time = 0; time < TIMES; ++time) {
    const int64_t of_floats = time_steps(gemm_multiply_floats);
    const int64_t of_pairs = time_steps(gemm_multiply_pairs);
    floats = of_floats < floats ? of_floats : floats;
    pairs = of_pairs < pairs ? of_pairs : pairs;
  }
  return pairs < GEMM_STEPS * floats;
}

bool assay_gemm_prefers_pairs(void) {
  enum { UNKNOWN = 0, NO, YES };
  static atomic_int answer;
  int known = atomic_load_explicit(&answer, memory_order_relaxed);
  if (known == UNKNOWN) {
    const int mine = pairs_are_faster() ? YES : NO;
    /* The first answer stays: every call of a process takes the same variant. */
    if (atomic_compare_exchange_strong(&answer, &known, mine)) known = mine;
  }
  return known == YES;
}
