/* SPDX-License-Identifier: MIT */
/*
 * workshop.h - what an exercise includes. Everything here is inline: a learner's shared object needs libc,
 * libm and OpenMP, and no symbol of Assay.
 *
 * An exercise exports one function of the type assay_kernel under the exercise's name. It is called only with
 * arguments that are already validated, returns ASSAY_OK when the outputs are written, and ASSAY_TODO until
 * then.
 */
#ifndef ASSAY_WORKSHOP_H
#define ASSAY_WORKSHOP_H

#include <math.h>
#include <string.h>

#include "assay/assay.h"

/* The one signature. `in`, `out` and `opt` are arrays; the enums in assay.h name their entries. */
typedef assay_status assay_kernel(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                  assay_queue *queue);

/* A compile-time constant of a CUDA kernel: tile sizes, knobs, the element type. Arrays end with {NULL, 0}.
 */
typedef struct assay_define {
  const char *name;
  int64_t value;
} assay_define;

typedef struct assay_dim3 {
  uint32_t x, y, z;
} assay_dim3;

/* One launch of a CUDA kernel; kernel.h fills it in. */
typedef struct assay_launch {
  const char *file; /* the source that holds the kernel: __FILE__ of the host half */
  const char *kernel;
  assay_dim3 grid, block;
  uint32_t shared_bytes; /* dynamic shared memory of a block */
  uint32_t cluster;      /* blocks a cluster along x; 0 and 1: no clusters */
  const assay_define *defines;
  const void *args; /* the kernel's one argument, copied before the launch returns */
  size_t arg_bytes;
} assay_launch;

/* What a queue can do for a kernel. New entries are added at the end, `version` counts them. */
typedef struct assay_queue_calls {
  uint32_t version;
  /* `bytes` of private memory, 64-byte aligned, contents undefined, valid until the kernel returns. NULL if
   * there is none. Each call gives new memory. Call it from the thread that the kernel was called on. */
  void *(*scratch)(assay_queue *queue, size_t bytes);
  /* Version 2. Starts a kernel, in order with what the queue was given before; NULL on a CPU queue. */
  assay_status (*launch)(assay_queue *queue, const assay_launch *launch);
} assay_queue_calls;

struct assay_queue {
  const assay_queue_calls *calls;
  int32_t device;  /* ASSAY_DEVICE_CPU, ASSAY_DEVICE_EMULATOR or a CUDA device */
  int32_t threads; /* the most threads that the kernel may use */
};

static inline void *assay_queue_scratch(assay_queue *queue, size_t bytes) {
  return queue->calls->scratch(queue, bytes);
}

/* ---- 16-bit floats: exact widening, rounding to nearest with ties to even ------------------------------ */

static inline float assay_float_from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint32_t assay_bits_from_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline float assay_bf16_to_float(uint16_t half) {
  return assay_float_from_bits((uint32_t)half << 16);
}

/* All cases are computed and one is picked: without branches, compilers turn loops over these into vectors.
 */
static inline uint16_t assay_bf16_from_float(float value) {
  const uint32_t bits = assay_bits_from_float(value);
  const uint32_t quiet = (bits >> 16) | 0x40u; /* keeps a NaN a NaN */
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

static inline float assay_fp16_to_float(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
  const uint32_t rest = half & 0x7fffu;
  /* A subnormal is an integer multiple of 2^-24, and FP32 holds that product exactly. */
  const uint32_t subnormal = assay_bits_from_float((float)(int32_t)rest * 0x1p-24f);
  const uint32_t normal = (rest << 13) + 0x38000000u; /* exponent bias 127 - 15 = 112 */
  const uint32_t special = (rest << 13) | 0x7f800000u;
  return assay_float_from_bits(sign | (rest < 0x400u ? subnormal : rest >= 0x7c00u ? special : normal));
}

static inline uint16_t assay_fp16_from_float(float value) {
  const uint32_t bits = assay_bits_from_float(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t rest = bits & 0x7fffffffu;
  /* Below 2^-14 the result is a multiple of 2^-24: adding 0.5 makes FP32 round at exactly that bit. */
  const uint32_t subnormal = assay_bits_from_float(assay_float_from_bits(rest) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (rest - 0x38000000u + 0xfffu + ((rest >> 13) & 1u)) >> 13;
  const uint32_t nan = 0x7e00u | ((rest >> 13) & 0x1ffu);
  const uint32_t large = rest > 0x7f800000u ? nan : 0x7c00u; /* 65520 and above round to infinity */
  const uint32_t magnitude = rest < 0x38800000u ? subnormal : rest >= 0x477ff000u ? large : normal;
  return (uint16_t)(sign | magnitude);
}

/* Reads element `index` (counted in elements from `data`) of an FP32, FP16 or BF16 array as a float. */
static inline float assay_load(const void *data, assay_dtype dtype, int64_t index) {
  if (dtype == ASSAY_FP32) return ((const float *)data)[index];
  const uint16_t half = ((const uint16_t *)data)[index];
  return dtype == ASSAY_FP16 ? assay_fp16_to_float(half) : assay_bf16_to_float(half);
}

/* Writes `value`, rounded once, to element `index` of an FP32, FP16 or BF16 array. */
static inline void assay_store(void *data, assay_dtype dtype, int64_t index, float value) {
  if (dtype == ASSAY_FP32) {
    ((float *)data)[index] = value;
  } else {
    ((uint16_t *)data)[index] =
        dtype == ASSAY_FP16 ? assay_fp16_from_float(value) : assay_bf16_from_float(value);
  }
}

#endif
