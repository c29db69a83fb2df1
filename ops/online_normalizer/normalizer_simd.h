/* SPDX-License-Identifier: MIT */
/*
 * normalizer_simd.h - the algorithm that the AVX2 and AVX-512 variants share, for one element type, written
 * over a small vocabulary that each of four files defines before it includes this one:
 *
 *   element, vec, VEC_LANES          float or double, and a vector of them
 *   vec_set1 vec_max vec_add vec_sub vec_mul vec_hmax vec_hsum       vec_max(a, b) is b where either is NaN
 *   vec_exp(d)                       e^d for d <= 0: exactly 1 at 0, exactly 0 at -infinity, NaN for NaN
 *   element_load, element_load_part          elements at any address; absent lanes are -infinity
 *   element_store, element_store_part, element_stream       element_stream wants the address of a whole
 * vector vec_fence                        orders streaming stores
 *
 * A block is read twice: the first time, from memory, for its maximum, the second time, from the cache, for
 * the sum of exponentials, while the next block is asked for. Rescaling then happens once a block.
 */
#ifndef ASSAY_NORMALIZER_SIMD_H
#define ASSAY_NORMALIZER_SIMD_H

#include "normalizer_parts.h"

#define INLINE static inline __attribute__((always_inline))

enum { SUMS = 4, LINE_BYTES = 64, STEP = SUMS * VEC_LANES };

INLINE element simd_max(const element *x, int64_t count) {
  const vec low = vec_set1(-INFINITY);
  vec best[SUMS] = {low, low, low, low};
  int64_t i = 0;
  for (; i + STEP <= count; i += STEP) {
#pragma GCC unroll 4
    for (int k = 0; k < SUMS; k++) best[k] = vec_max(element_load(x + i + k * VEC_LANES), best[k]);
  }
  for (; i + VEC_LANES <= count; i += VEC_LANES) best[0] = vec_max(element_load(x + i), best[0]);
  if (i < count) best[0] = vec_max(element_load_part(x + i, (int)(count - i)), best[0]);
  return vec_hmax(vec_max(vec_max(best[0], best[1]), vec_max(best[2], best[3])));
}

/* The state of a block. A NaN is passed over by the maximum and found by the sum. */
INLINE normalizer_state simd_summary(const element *x, int64_t count, const element *ahead) {
  const element m = simd_max(x, count);
  /* Below nothing but -inf, 0 stands in for the maximum: -inf gives 0 and NaN gives NaN. */
  const vec top = vec_set1(m == -INFINITY ? 0 : m);
  const vec zero = vec_set1(0);
  vec sum[SUMS] = {zero, zero, zero, zero};
  int64_t i = 0;
  for (; i + STEP <= count; i += STEP) {
    const char *line = (const char *)(ahead + i);
#pragma GCC unroll 4
    for (int k = 0; k < STEP * (int)sizeof(element); k += LINE_BYTES) __builtin_prefetch(line + k, 0, 3);
#pragma GCC unroll 4
    for (int k = 0; k < SUMS; k++) {
      sum[k] = vec_add(sum[k], vec_exp(vec_sub(element_load(x + i + k * VEC_LANES), top)));
    }
  }
  for (; i < count; i += VEC_LANES) {
    const vec v = i + VEC_LANES <= count ? element_load(x + i) : element_load_part(x + i, (int)(count - i));
    sum[0] = vec_add(sum[0], vec_exp(vec_sub(v, top)));
  }
  const vec total = vec_add(vec_add(sum[0], sum[1]), vec_add(sum[2], sum[3]));
  return (normalizer_state){(double)m, (double)vec_hsum(total)};
}

/* Elements before the first whole vector at an aligned address of y. */
INLINE int64_t simd_head(const element *y, int64_t count) {
  const uintptr_t vector = VEC_LANES * sizeof(element);
  const int64_t head = (int64_t)((vector - (uintptr_t)y % vector) % vector / sizeof(element));
  return head < count ? head : count;
}

/* y = scale * exp(x - m); returns the largest element of x. */
INLINE element simd_scaled(const element *x, element *y, int64_t count, vec top, vec scale, bool stream) {
  vec best = vec_set1(-INFINITY);
  int64_t i = stream ? simd_head(y, count) : 0;
  if (i > 0) {
    const vec v = element_load_part(x, (int)i);
    best = vec_max(v, best);
    element_store_part(y, vec_mul(vec_exp(vec_sub(v, top)), scale), (int)i);
  }
#pragma GCC unroll 4
  for (; i + VEC_LANES <= count; i += VEC_LANES) {
    const vec v = element_load(x + i);
    const vec result = vec_mul(vec_exp(vec_sub(v, top)), scale);
    best = vec_max(v, best);
    if (stream) {
      element_stream(y + i, result);
    } else {
      element_store(y + i, result);
    }
  }
  if (i < count) {
    const vec v = element_load_part(x + i, (int)(count - i));
    best = vec_max(v, best);
    element_store_part(y + i, vec_mul(vec_exp(vec_sub(v, top)), scale), (int)(count - i));
  }
  if (stream) vec_fence();
  return vec_hmax(best);
}

/* States that no set of such elements has, and elements above the maximum: FP64 and libm take any. */
static void simd_any(normalizer_state state, const element *x, element *y, int64_t count) {
  for (int64_t i = 0; i < count; i++) y[i] = (element)(exp((double)x[i] - state.m) / state.s);
}

INLINE void simd_ending(normalizer_state state, const element *x, element *y, int64_t count, bool stream) {
  const element m = (element)state.m;
  /* False for NaN and for the empty state as well. Up to 2^100 the reciprocal is a normal number. */
  const bool usual = (double)m == state.m && state.s >= 1 && state.s <= 0x1p100;
  if (usual) {
    const vec scale = vec_set1((element)(1 / state.s));
    if (!(simd_scaled(x, y, count, vec_set1(m), scale, stream) > m)) return;
  }
  simd_any(state, x, y, count);
}

#endif
