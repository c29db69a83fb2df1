/* SPDX-License-Identifier: MIT */
/*
 * kernel_emulator.h - the words of kernel.h for the emulator, in C11 with GNU extensions.
 *
 * A thread of a block is a coroutine. What it does beyond plain loads, stores and arithmetic goes through
 * assay_calls with the line of the source, so that a broken rule can be reported where it stands. Shared
 * memory is static and thread-local: a block runs on one thread of the operating system. Where CUDA C++ has
 * overloads and default arguments, here are macros.
 */
#ifndef ASSAY_KERNEL_EMULATOR_H
#define ASSAY_KERNEL_EMULATOR_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernel_calls.h"

#define ASSAY_EXPORT __attribute__((visibility("default"), used))
#ifdef ASSAY_WATCHED
/* Watched accesses are told with the line of the kernel that a helper was inlined into. */
#define ASSAY_INLINE    static inline __attribute__((always_inline, unused))
#define ASSAY_UNWATCHED __attribute__((no_sanitize("thread")))
#else
#define ASSAY_INLINE static inline __attribute__((unused))
#define ASSAY_UNWATCHED
#endif
#define ASSAY_NAN      __builtin_nanf("")
#define ASSAY_INFINITY __builtin_inff()

static const assay_emulator_calls *assay_calls;
static _Thread_local const assay_thread *assay_self; /* set whenever a coroutine goes on */

ASSAY_EXPORT ASSAY_UNWATCHED void assay_emulator_bind(const assay_emulator_calls *calls) {
  assay_calls = calls;
}

/* Where this object's assay_self is for the calling thread of the operating system. */
ASSAY_EXPORT ASSAY_UNWATCHED const assay_thread **assay_emulator_self(void) {
  return &assay_self;
}

/* ---- kernels and coordinates --------------------------------------------------------------------------- */

#define ASSAY_FIRST(first, ...) (first)

/* KERNEL(name, type of args, most threads a block, least blocks an SM): the last is for the GPU only. */
#define KERNEL(name, type, ...)                                                                              \
  static void name(const type args);                                                                         \
  ASSAY_EXPORT const uint32_t assay_threads_##name = ASSAY_FIRST(__VA_ARGS__, 0);                            \
  ASSAY_EXPORT const uint32_t assay_bytes_##name = sizeof(type);                                             \
  ASSAY_EXPORT void assay_entry_##name(const void *args) {                                                   \
    name(*(const type *)args);                                                                               \
  }                                                                                                          \
  static void name(const type args)

#define __device__           __attribute__((unused))
#define __forceinline__      inline __attribute__((always_inline))
#define __noinline__         __attribute__((noinline))
#define __align__(bytes)     __attribute__((aligned(bytes)))
#define __shared__           static _Thread_local
#define __constant__         static const __attribute__((unused))
#define DYNAMIC_SHARED(name) unsigned char *name = assay_self->shared

#define threadIdx (assay_self->thread)
#define blockIdx  (assay_self->block)
#define blockDim  (assay_self->block_size)
#define gridDim   (assay_self->grid_size)
#define warpSize  ASSAY_WARP_LANES
#define static_assert _Static_assert

/* ---- barriers ------------------------------------------------------------------------------------------ */

#define __syncthreads()            ((void)assay_calls->barrier(ASSAY_BARRIER_PLAIN, 0, __LINE__))
#define __syncthreads_or(value)    (assay_calls->barrier(ASSAY_BARRIER_OR, (value) != 0, __LINE__))
#define __syncthreads_and(value)   (assay_calls->barrier(ASSAY_BARRIER_AND, (value) != 0, __LINE__))
#define __syncthreads_count(value) (assay_calls->barrier(ASSAY_BARRIER_COUNT, (value) != 0, __LINE__))
#ifdef ASSAY_WATCHED
#define __threadfence()       (assay_calls->fence(__LINE__))
#define __threadfence_block() (assay_calls->fence(__LINE__))
#else
#define __threadfence()       __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __threadfence_block() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#endif

/* ---- warps --------------------------------------------------------------------------------------------- */

ASSAY_INLINE uint64_t assay_meet(int32_t operation, uint32_t mask, uint64_t value, int line) {
  assay_warp_request request = {.operation = operation, .line = line, .mask = mask, .value = value};
  assay_calls->meet(&request);
  return request.value;
}

#define ASSAY_SHUFFLE_OF(type, name)                                                                         \
  ASSAY_INLINE type assay_shuffle_##name(int32_t operation, uint32_t mask, type value, int32_t argument,     \
                                         int32_t width, int line) {                                          \
    assay_warp_request request = {                                                                           \
        .operation = operation, .line = line, .mask = mask, .argument = argument, .width = width};           \
    memcpy(&request.value, &value, sizeof value);                                                            \
    assay_calls->meet(&request);                                                                             \
    memcpy(&value, &request.value, sizeof value);                                                            \
    return value;                                                                                            \
  }
ASSAY_SHUFFLE_OF(float, float)
ASSAY_SHUFFLE_OF(double, double)
ASSAY_SHUFFLE_OF(int, int)
ASSAY_SHUFFLE_OF(unsigned, unsigned)
ASSAY_SHUFFLE_OF(long, long)
ASSAY_SHUFFLE_OF(unsigned long, unsigned_long)
ASSAY_SHUFFLE_OF(long long, long_long)
ASSAY_SHUFFLE_OF(unsigned long long, unsigned_long_long)

/* The plus sign promotes small integers as an overloaded call does. */
#define ASSAY_SHUFFLE(operation, mask, value, argument, width, ...)                                          \
  _Generic(+(value), float                                                                                   \
           : assay_shuffle_float, double                                                                     \
           : assay_shuffle_double, int                                                                       \
           : assay_shuffle_int, unsigned                                                                     \
           : assay_shuffle_unsigned, long                                                                    \
           : assay_shuffle_long, unsigned long                                                               \
           : assay_shuffle_unsigned_long, long long                                                          \
           : assay_shuffle_long_long, unsigned long long                                                     \
           : assay_shuffle_unsigned_long_long)((operation), (mask), (value), (int32_t)(argument), (width),   \
                                               __LINE__)

/* (mask, value, lane or distance or pattern, width = 32) */
#define __shfl_sync(mask, value, ...)                                                                        \
  ASSAY_SHUFFLE(ASSAY_WARP_SHUFFLE, mask, value, __VA_ARGS__, ASSAY_WARP_LANES, 0)
#define __shfl_up_sync(mask, value, ...)                                                                     \
  ASSAY_SHUFFLE(ASSAY_WARP_SHUFFLE_UP, mask, value, __VA_ARGS__, ASSAY_WARP_LANES, 0)
#define __shfl_down_sync(mask, value, ...)                                                                   \
  ASSAY_SHUFFLE(ASSAY_WARP_SHUFFLE_DOWN, mask, value, __VA_ARGS__, ASSAY_WARP_LANES, 0)
#define __shfl_xor_sync(mask, value, ...)                                                                    \
  ASSAY_SHUFFLE(ASSAY_WARP_SHUFFLE_XOR, mask, value, __VA_ARGS__, ASSAY_WARP_LANES, 0)

#define ASSAY_SECOND(first, second, ...) (second)
#define __syncwarp(...)                                                                                      \
  ((void)assay_meet(ASSAY_WARP_SYNC, ASSAY_SECOND(0, ##__VA_ARGS__, 0xffffffffu, 0), 0, __LINE__))

#define __ballot_sync(mask, value) ((unsigned)assay_meet(ASSAY_WARP_BALLOT, (mask), (value) != 0, __LINE__))
#define __any_sync(mask, value)    ((int)assay_meet(ASSAY_WARP_ANY, (mask), (value) != 0, __LINE__))
#define __all_sync(mask, value)    ((int)assay_meet(ASSAY_WARP_ALL, (mask), (value) != 0, __LINE__))
#define __activemask()             (assay_calls->active_mask(__LINE__))

ASSAY_INLINE uint64_t assay_match_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

ASSAY_INLINE uint64_t assay_match_value(uint64_t value) {
  return value;
}

#define __match_any_sync(mask, value)                                                                        \
  ((unsigned)assay_meet(ASSAY_WARP_MATCH_ANY, (mask),                                                        \
                        _Generic(+(value), float                                                             \
                                 : assay_match_bits, default                                                 \
                                 : assay_match_value)(value),                                                \
                        __LINE__))

ASSAY_INLINE int assay_reduce_signed(int32_t operation, uint32_t mask, int value, int line) {
  if (operation == ASSAY_WARP_MIN) operation = ASSAY_WARP_MIN_SIGNED;
  if (operation == ASSAY_WARP_MAX) operation = ASSAY_WARP_MAX_SIGNED;
  return (int)(uint32_t)assay_meet(operation, mask, (uint32_t)value, line);
}

ASSAY_INLINE unsigned assay_reduce_unsigned(int32_t operation, uint32_t mask, unsigned value, int line) {
  return (unsigned)assay_meet(operation, mask, value, line);
}

#define ASSAY_REDUCE(operation, mask, value)                                                                 \
  _Generic((value), int                                                                                      \
           : assay_reduce_signed, unsigned                                                                   \
           : assay_reduce_unsigned)((operation), (mask), (value), __LINE__)
#define __reduce_add_sync(mask, value) ASSAY_REDUCE(ASSAY_WARP_ADD, mask, value)
#define __reduce_min_sync(mask, value) ASSAY_REDUCE(ASSAY_WARP_MIN, mask, value)
#define __reduce_max_sync(mask, value) ASSAY_REDUCE(ASSAY_WARP_MAX, mask, value)
#define __reduce_and_sync(mask, value) assay_reduce_unsigned(ASSAY_WARP_AND, (mask), (value), __LINE__)
#define __reduce_or_sync(mask, value)  assay_reduce_unsigned(ASSAY_WARP_OR, (mask), (value), __LINE__)
#define __reduce_xor_sync(mask, value) assay_reduce_unsigned(ASSAY_WARP_XOR, (mask), (value), __LINE__)

ASSAY_INLINE float assay_warp_sum(float value, int line) {
  for (int distance = 16; distance > 0; distance /= 2)
    value += assay_shuffle_float(ASSAY_WARP_SHUFFLE_XOR, 0xffffffffu, value, distance, 32, line);
  return value;
}

ASSAY_INLINE float assay_warp_max(float value, int line) {
  for (int distance = 16; distance > 0; distance /= 2)
    value = fmaxf(value, assay_shuffle_float(ASSAY_WARP_SHUFFLE_XOR, 0xffffffffu, value, distance, 32, line));
  return value;
}

#define warp_sum(value) assay_warp_sum((value), __LINE__)
#define warp_max(value) assay_warp_max((value), __LINE__)

#include "kernel_emulator_memory.h"

#ifdef ASSAY_WATCHED
#include "kernel_watch.h"
#endif

#endif
