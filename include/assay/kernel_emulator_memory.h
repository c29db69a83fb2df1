/* SPDX-License-Identifier: MIT */
/* kernel_emulator_memory.h - the second half of kernel_emulator.h: atomics, copies, matrices, clusters,
 * numbers.
 */
#ifndef ASSAY_KERNEL_EMULATOR_MEMORY_H
#define ASSAY_KERNEL_EMULATOR_MEMORY_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernel_calls.h"

/* An access that the compiler does not announce, or not as what it is. */
#ifdef ASSAY_WATCHED
#define ASSAY_TELL(address, kind, line)                                                                      \
  (assay_calls->access((address), sizeof *(address), (kind), (line), NULL))
#define ASSAY_MOVE(to, from, bytes, line) (assay_calls->move((to), (from), (bytes), (line), NULL))
#else
#define ASSAY_TELL(address, kind, line)   ((void)(address))
#define ASSAY_MOVE(to, from, bytes, line) ((void)memcpy((to), (from), (bytes)))
#endif

/* ---- atomics: real ones, since blocks run on several threads of the operating system ------------------- */

/* Replaces *address by `fresh`, an expression of `old` and `operand`, and gives the old value. */
#define ASSAY_ATOMIC_OF(name, type, fresh)                                                                   \
  ASSAY_INLINE type assay_atomic_##name(type *address, type operand, int line) {                             \
    type old;                                                                                                \
    type next;                                                                                               \
    ASSAY_TELL(address, ASSAY_ACCESS_ATOMIC | ASSAY_ACCESS_WRITE, line);                                     \
    __atomic_load(address, &old, __ATOMIC_RELAXED);                                                          \
    do {                                                                                                     \
      next = (fresh);                                                                                        \
    } while (!__atomic_compare_exchange(address, &old, &next, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));       \
    assay_calls->touch(memcmp(&old, &next, sizeof old) != 0, line);                                          \
    return old;                                                                                              \
  }
#define ASSAY_ATOMICS_OF(name, type)                                                                         \
  ASSAY_ATOMIC_OF(add_##name, type, old + operand)                                                           \
  ASSAY_ATOMIC_OF(min_##name, type, old < operand ? old : operand)                                           \
  ASSAY_ATOMIC_OF(max_##name, type, old > operand ? old : operand)                                           \
  ASSAY_ATOMIC_OF(and_bits_##name, type, old &operand)                                                       \
  ASSAY_ATOMIC_OF(or_bits_##name, type, old | operand)                                                       \
  ASSAY_ATOMIC_OF(xor_bits_##name, type, old ^ operand)                                                      \
  ASSAY_ATOMIC_OF(exchange_##name, type, operand)                                                            \
  ASSAY_INLINE type assay_atomic_cas_##name(type *address, type expected, type fresh, int line) {            \
    type old = expected;                                                                                     \
    ASSAY_TELL(address, ASSAY_ACCESS_ATOMIC | ASSAY_ACCESS_WRITE, line);                                     \
    __atomic_compare_exchange(address, &old, &fresh, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                 \
    assay_calls->touch(old == expected && old != fresh, line);                                               \
    return old;                                                                                              \
  }
/* Signed addition wraps on a GPU; here the compiler is told so (-fwrapv). */
ASSAY_ATOMICS_OF(int, int)
ASSAY_ATOMICS_OF(unsigned, unsigned)
ASSAY_ATOMICS_OF(unsigned_long, unsigned long)
ASSAY_ATOMICS_OF(unsigned_long_long, unsigned long long)
ASSAY_ATOMIC_OF(add_float, float, old + operand)
ASSAY_ATOMIC_OF(exchange_float, float, operand)

#define ASSAY_ATOMIC_INTEGER(operation, address)                                                             \
  _Generic((address),                                                                                        \
      int *: assay_atomic_##operation##_int,                                                                 \
      unsigned *: assay_atomic_##operation##_unsigned,                                                       \
      unsigned long *: assay_atomic_##operation##_unsigned_long,                                             \
      unsigned long long *: assay_atomic_##operation##_unsigned_long_long)
#define ASSAY_ATOMIC_NUMBER(operation, address)                                                              \
  _Generic((address),                                                                                        \
      float *: assay_atomic_##operation##_float,                                                             \
      int *: assay_atomic_##operation##_int,                                                                 \
      unsigned *: assay_atomic_##operation##_unsigned,                                                       \
      unsigned long *: assay_atomic_##operation##_unsigned_long,                                             \
      unsigned long long *: assay_atomic_##operation##_unsigned_long_long)

#define atomicAdd(address, value)  ASSAY_ATOMIC_NUMBER(add, address)((address), (value), __LINE__)
#define atomicExch(address, value) ASSAY_ATOMIC_NUMBER(exchange, address)((address), (value), __LINE__)
#define atomicMin(address, value)  ASSAY_ATOMIC_INTEGER(min, address)((address), (value), __LINE__)
#define atomicMax(address, value)  ASSAY_ATOMIC_INTEGER(max, address)((address), (value), __LINE__)
#define atomicAnd(address, value)  ASSAY_ATOMIC_INTEGER(and_bits, address)((address), (value), __LINE__)
#define atomicOr(address, value)   ASSAY_ATOMIC_INTEGER(or_bits, address)((address), (value), __LINE__)
#define atomicXor(address, value)  ASSAY_ATOMIC_INTEGER(xor_bits, address)((address), (value), __LINE__)
#define atomicCAS(address, expected, value)                                                                  \
  ASSAY_ATOMIC_INTEGER(cas, address)((address), (expected), (value), __LINE__)

ASSAY_INLINE unsigned assay_load_acquire(const unsigned *address, int line) {
  assay_calls->touch(0, line);
  ASSAY_TELL(address, ASSAY_ACCESS_ATOMIC, line);
  return __atomic_load_n(address, __ATOMIC_ACQUIRE);
}

ASSAY_INLINE void assay_store_release(unsigned *address, unsigned value, int line) {
  ASSAY_TELL(address, ASSAY_ACCESS_ATOMIC | ASSAY_ACCESS_WRITE | ASSAY_ACCESS_RELEASE, line);
  __atomic_store_n(address, value, __ATOMIC_RELEASE);
  assay_calls->touch(1, line);
}

#define load_acquire(address)         assay_load_acquire((address), __LINE__)
#define store_release(address, value) assay_store_release((address), (value), __LINE__)
#define spin_pause()                  (assay_calls->pause(__LINE__))

/* ---- asynchronous copies, matrices, clusters ----------------------------------------------------------- */

#define cp_async_16(shared, global) (assay_calls->copy((shared), (global), 16, 16, __LINE__))
#define cp_async_4(shared, global)  (assay_calls->copy((shared), (global), 4, 4, __LINE__))
#define cp_async_16_part(shared, global, bytes)                                                              \
  (assay_calls->copy((shared), (global), 16, (uint32_t)(bytes), __LINE__))
#define cp_async_commit()    (assay_calls->copy_commit(__LINE__))
#define cp_async_wait(count) (assay_calls->copy_wait((count), __LINE__))

ASSAY_INLINE void assay_matrix(int32_t operation, void *to, const void *a, const void *b, int line) {
  assay_warp_request request = {
      .operation = operation, .line = line, .mask = 0xffffffffu, .to = to, .a = a, .b = b};
  assay_calls->meet(&request);
}

#define ldmatrix_x2(to, row)       assay_matrix(ASSAY_WARP_LDMATRIX_X2, (to), (row), NULL, __LINE__)
#define ldmatrix_x4(to, row)       assay_matrix(ASSAY_WARP_LDMATRIX_X4, (to), (row), NULL, __LINE__)
#define ldmatrix_x2_trans(to, row) assay_matrix(ASSAY_WARP_LDMATRIX_X2_TRANS, (to), (row), NULL, __LINE__)
#define ldmatrix_x4_trans(to, row) assay_matrix(ASSAY_WARP_LDMATRIX_X4_TRANS, (to), (row), NULL, __LINE__)
#define mma_m16n8k16_fp16(d, a, b) assay_matrix(ASSAY_WARP_MMA_FP16, (d), (a), (b), __LINE__)
#define mma_m16n8k16_bf16(d, a, b) assay_matrix(ASSAY_WARP_MMA_BF16, (d), (a), (b), __LINE__)

#define cluster_rank()               (assay_self->cluster_rank)
#define cluster_size()               (assay_self->cluster_size)
#define cluster_sync()               ((void)assay_calls->barrier(ASSAY_BARRIER_CLUSTER, 0, __LINE__))
#define cluster_shared(shared, rank) (assay_calls->peer((shared), (rank), __LINE__))

/* ---- vectors of 16 bytes ------------------------------------------------------------------------------- */

typedef struct vector16 {
  uint32_t word[4];
} __attribute__((aligned(16))) vector16;

ASSAY_INLINE vector16 assay_vector16_load(const void *address, int line) {
  vector16 vector;
  assay_calls->align(address, 16, "vector16_load", line);
  ASSAY_MOVE(&vector, address, sizeof vector, line);
  return vector;
}

ASSAY_INLINE void assay_vector16_store(void *address, vector16 vector, int line) {
  assay_calls->align(address, 16, "vector16_store", line);
  ASSAY_MOVE(address, &vector, sizeof vector, line);
}

#define vector16_load(address)               assay_vector16_load((address), __LINE__)
#define vector16_load_once(address)          assay_vector16_load((address), __LINE__)
#define vector16_store(address, vector)      assay_vector16_store((address), (vector), __LINE__)
#define vector16_store_once(address, vector) assay_vector16_store((address), (vector), __LINE__)

/* ---- numbers ------------------------------------------------------------------------------------------- */

#define __ldg(address) (*(address))

ASSAY_INLINE uint32_t __float_as_uint(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

ASSAY_INLINE float __uint_as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

ASSAY_INLINE int __float_as_int(float value) {
  return (int)__float_as_uint(value);
}

ASSAY_INLINE float __int_as_float(int bits) {
  return __uint_as_float((uint32_t)bits);
}

ASSAY_INLINE float rsqrtf(float value) {
  return (float)(1.0 / sqrt(value));
}

#define __expf(value)              expf(value)
#define __logf(value)              logf(value)
#define __fdividef(value, divisor) ((float)(value) / (float)(divisor))
#define __frcp_rn(value)           (1.0f / (float)(value))
#define exp2_approx(value)         exp2f(value)
#define rcp_approx(value)          (1.0f / (float)(value))
#define __popc(value)              __builtin_popcount((unsigned)(value))
#define __ffs(value)               __builtin_ffs((int)(value))

ASSAY_INLINE int __clz(int value) {
  return value == 0 ? 32 : __builtin_clz((unsigned)value);
}

/* Rounding to nearest with ties to even, all cases computed and one picked. */
ASSAY_INLINE float bf16_to_float(uint16_t half) {
  return __uint_as_float((uint32_t)half << 16);
}

ASSAY_INLINE uint16_t bf16_from_float(float value) {
  const uint32_t bits = __float_as_uint(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded); /* the GPU's one NaN */
}

ASSAY_INLINE float fp16_to_float(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
  const uint32_t rest = half & 0x7fffu;
  const uint32_t subnormal = __float_as_uint((float)rest * 0x1p-24f); /* a multiple of 2^-24, exact */
  const uint32_t normal = (rest << 13) + 0x38000000u;                 /* exponent bias 127 - 15 = 112 */
  const uint32_t special = rest == 0x7c00u ? 0x7f800000u : (rest << 13) | 0x7fc00000u;
  return __uint_as_float(sign | (rest < 0x400u ? subnormal : rest >= 0x7c00u ? special : normal));
}

ASSAY_INLINE uint16_t fp16_from_float(float value) {
  const uint32_t bits = __float_as_uint(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t rest = bits & 0x7fffffffu;
  /* Below 2^-14 a result is a multiple of 2^-24: adding 0.5 makes FP32 round at exactly that bit. */
  const uint32_t subnormal = __float_as_uint(__uint_as_float(rest) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (rest - 0x38000000u + 0xfffu + ((rest >> 13) & 1u)) >> 13;
  if (rest > 0x7f800000u) return 0x7fffu; /* the GPU's one NaN */
  const uint32_t magnitude = rest < 0x38800000u ? subnormal : rest >= 0x477ff000u ? 0x7c00u : normal;
  return (uint16_t)(sign | magnitude);
}

ASSAY_INLINE uint32_t fp16_pack(float low, float high) {
  return (uint32_t)fp16_from_float(low) | (uint32_t)fp16_from_float(high) << 16;
}

ASSAY_INLINE uint32_t bf16_pack(float low, float high) {
  return (uint32_t)bf16_from_float(low) | (uint32_t)bf16_from_float(high) << 16;
}

ASSAY_INLINE uint32_t fp16_max_pair(uint32_t a, uint32_t b) {
  return fp16_pack(fmaxf(fp16_to_float((uint16_t)a), fp16_to_float((uint16_t)b)),
                   fmaxf(fp16_to_float((uint16_t)(a >> 16)), fp16_to_float((uint16_t)(b >> 16))));
}

ASSAY_INLINE uint32_t bf16_max_pair(uint32_t a, uint32_t b) {
  return bf16_pack(fmaxf(bf16_to_float((uint16_t)a), bf16_to_float((uint16_t)b)),
                   fmaxf(bf16_to_float((uint16_t)(a >> 16)), bf16_to_float((uint16_t)(b >> 16))));
}

#include "kernel_elements.h"
#include "kernel_rows.h"

#endif
