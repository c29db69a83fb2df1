/* SPDX-License-Identifier: MIT */
/*
 * kernel_rows.h - rows that begin anywhere, in vectors of 16 bytes, and the exponentials of a softmax; in one
 * source for the GPU and the emulator, like kernel_elements.h, which it needs.
 *
 * Element `first` of a row is the first of a vector; it may lie before the row or behind its `count`
 * elements, where nothing may be read or written.
 */
#ifndef ASSAY_KERNEL_ROWS_H
#define ASSAY_KERNEL_ROWS_H

#ifdef DTYPE

/* How many elements in front of a row belong to the vector that its element 0 stands in. */
ASSAY_INLINE int vector16_shift(const element *row) {
  return (int)((uintptr_t)row / sizeof(element) % ELEMENTS_PER_VECTOR);
}

ASSAY_INLINE bool vector16_inside(int64_t first, int64_t count) {
  return first >= 0 && first + ELEMENTS_PER_VECTOR <= count;
}

/* The vector element by element, `outside` for what the row does not have. */
ASSAY_INLINE vector16 vector16_load_part(const element *row, int64_t first, int64_t count, float outside) {
  vector16 vector = {{0, 0, 0, 0}};
#pragma unroll
  for (int e = 0; e < ELEMENTS_PER_VECTOR; ++e) {
    const bool inside = first + e >= 0 && first + e < count;
    vector16_set(&vector, e, inside ? element_load(row, first + e) : outside);
  }
  return vector;
}

ASSAY_INLINE void vector16_store_part(element *row, int64_t first, int64_t count, vector16 vector) {
#pragma unroll
  for (int e = 0; e < ELEMENTS_PER_VECTOR; ++e) {
    if (first + e >= 0 && first + e < count) element_store(row, first + e, vector16_get(vector, e));
  }
}

/* ELEMENTS_PER_VECTOR values, each rounded once. */
ASSAY_INLINE vector16 vector16_pack(const float *value) {
  vector16 vector;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
#if DTYPE == 0
    vector.word[k] = __float_as_uint(value[k]);
#else
    vector.word[k] = element_pack(value[2 * k], value[2 * k + 1]);
#endif
  }
  return vector;
}

ASSAY_INLINE vector16 vector16_fill(float value) {
  float values[ELEMENTS_PER_VECTOR];
#pragma unroll
  for (int e = 0; e < ELEMENTS_PER_VECTOR; ++e) values[e] = value;
  return vector16_pack(values);
}

/* Element by element the larger of two; beside a NaN, the other one. */
ASSAY_INLINE vector16 vector16_max(vector16 a, vector16 b) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
#if DTYPE == 0
    a.word[k] = __float_as_uint(fmaxf(__uint_as_float(a.word[k]), __uint_as_float(b.word[k])));
#else
    a.word[k] = element_max_pair(a.word[k], b.word[k]);
#endif
  }
  return a;
}

/* The largest of a vector's elements. */
ASSAY_INLINE float vector16_top(vector16 v) {
#if DTYPE == 0
  return fmaxf(fmaxf(vector16_get(v, 0), vector16_get(v, 1)), fmaxf(vector16_get(v, 2), vector16_get(v, 3)));
#else
  v.word[0] =
      element_max_pair(element_max_pair(v.word[0], v.word[1]), element_max_pair(v.word[2], v.word[3]));
  return fmaxf(vector16_get(v, 0), vector16_get(v, 1));
#endif
}

#ifdef FAST

/*
 * The exponentials of a row x with maximum m. What is subtracted is a reference r of m: m itself, or with
 * FAST and FP16 m in units of log 2, rounded. It cancels in the quotient, so its rounding does not matter.
 *
 *     softmax_power(x, softmax_origin(r))     e^(x-m)
 *     softmax_ratio(r, softmax_origin(s))     e^(m-n), r and s the references of m and n >= m
 *
 * The origin is r, or 0 when m is -infinity: that less itself would be NaN. FAST takes exp2_approx, see the
 * derivations in the operators' READMEs; FP32 never does.
 */
#define SOFTMAX_LOG2_E 1.44269504f

ASSAY_INLINE float softmax_reference(float m) {
#if FAST && DTYPE == 1
  return m * SOFTMAX_LOG2_E;
#else
  return m;
#endif
}

ASSAY_INLINE float softmax_origin(float reference) {
  return reference == -ASSAY_INFINITY ? 0.0f : reference;
}

ASSAY_INLINE float softmax_power(float x, float origin) {
#if FAST && DTYPE == 1
  return exp2_approx(fmaf(x, SOFTMAX_LOG2_E, -origin));
#elif FAST && DTYPE == 2
  return exp2_approx((x - origin) * SOFTMAX_LOG2_E);
#else
  return expf(x - origin);
#endif
}

ASSAY_INLINE float softmax_ratio(float reference, float origin) {
#if FAST && DTYPE == 1
  return exp2_approx(reference - origin);
#elif FAST && DTYPE == 2
  return exp2_approx((reference - origin) * SOFTMAX_LOG2_E);
#else
  return expf(reference - origin);
#endif
}

/* A vector of results: the powers times `scale`. */
ASSAY_INLINE vector16 softmax_vector(vector16 x, float origin, float scale) {
  float value[ELEMENTS_PER_VECTOR];
#pragma unroll
  for (int e = 0; e < ELEMENTS_PER_VECTOR; ++e) value[e] = softmax_power(vector16_get(x, e), origin) * scale;
  return vector16_pack(value);
}

#endif
#endif
#endif
