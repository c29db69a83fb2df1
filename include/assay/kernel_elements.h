/* SPDX-License-Identifier: MIT */
/*
 * kernel_elements.h - elements of the launch's type, in one source for the GPU and the emulator.
 *
 * The file that includes it has defined ASSAY_INLINE, uint16_t and its kin, the conversions between float and
 * 16-bit types, alone and in pairs, and vector16 (16 bytes as four words). DTYPE is the number of an
 * assay_dtype: 0 FP32, 1 FP16, 2 BF16.
 */
#ifndef ASSAY_KERNEL_ELEMENTS_H
#define ASSAY_KERNEL_ELEMENTS_H

#ifdef DTYPE

#if DTYPE == 0

typedef float element;
#define ELEMENTS_PER_VECTOR 4

ASSAY_INLINE float element_to_float(element e) {
  return e;
}

ASSAY_INLINE element element_from_float(float value) {
  return value;
}

#elif DTYPE == 1

typedef uint16_t element;
#define ELEMENTS_PER_VECTOR 8

ASSAY_INLINE float element_to_float(element e) {
  return fp16_to_float(e);
}

ASSAY_INLINE element element_from_float(float value) {
  return fp16_from_float(value);
}

#define element_pack(low, high) fp16_pack((low), (high))
#define element_max_pair(a, b)  fp16_max_pair((a), (b))
#define mma_m16n8k16(d, a, b)   mma_m16n8k16_fp16((d), (a), (b))

#elif DTYPE == 2

typedef uint16_t element;
#define ELEMENTS_PER_VECTOR 8

ASSAY_INLINE float element_to_float(element e) {
  return bf16_to_float(e);
}

ASSAY_INLINE element element_from_float(float value) {
  return bf16_from_float(value);
}

#define element_pack(low, high) bf16_pack((low), (high))
#define element_max_pair(a, b)  bf16_max_pair((a), (b))
#define mma_m16n8k16(d, a, b)   mma_m16n8k16_bf16((d), (a), (b))

#else
#error "DTYPE must be 0 (FP32), 1 (FP16) or 2 (BF16)"
#endif

/* Element `index` of an array, widened; and written, rounded once. */
ASSAY_INLINE float element_load(const element *data, int64_t index) {
  return element_to_float(data[index]);
}

ASSAY_INLINE void element_store(element *data, int64_t index, float value) {
  data[index] = element_from_float(value);
}

/* Element k of a vector, 0..ELEMENTS_PER_VECTOR-1; a constant k costs nothing. */
ASSAY_INLINE float vector16_get(vector16 vector, int k) {
#if DTYPE == 0
  return __uint_as_float(vector.word[k]);
#else
  return element_to_float((element)(vector.word[k / 2] >> (k % 2 * 16)));
#endif
}

ASSAY_INLINE void vector16_set(vector16 *vector, int k, float value) {
#if DTYPE == 0
  vector->word[k] = __float_as_uint(value);
#else
  const uint32_t other = 0xffffu << (16 - k % 2 * 16);
  vector->word[k / 2] = (vector->word[k / 2] & other) | (uint32_t)element_from_float(value) << (k % 2 * 16);
#endif
}

#endif
#endif
