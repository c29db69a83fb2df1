/* SPDX-License-Identifier: MIT */
/*
 * kernel_watch.h - what a watched kernel is compiled with: the functions that the compiler's thread-sanitizer
 * pass calls, which hand every access to the emulator.
 *
 * They stay inside the kernel's object. No sanitizer's library is linked.
 */
#ifndef ASSAY_KERNEL_WATCH_H
#define ASSAY_KERNEL_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "kernel_calls.h"

#define ASSAY_WATCH __attribute__((no_sanitize("thread"), noinline, used, visibility("hidden")))

#define ASSAY_WATCH_OF(name, bytes, kind)                                                                    \
  ASSAY_WATCH void __tsan_##name(void *address) {                                                            \
    assay_calls->access(address, (bytes), (kind), 0, __builtin_return_address(0));                           \
  }
#define ASSAY_WATCH_SIZES(prefix, kind_of_read, kind_of_write)                                               \
  ASSAY_WATCH_OF(prefix##read1, 1, kind_of_read)                                                             \
  ASSAY_WATCH_OF(prefix##read2, 2, kind_of_read)                                                             \
  ASSAY_WATCH_OF(prefix##read4, 4, kind_of_read)                                                             \
  ASSAY_WATCH_OF(prefix##read8, 8, kind_of_read)                                                             \
  ASSAY_WATCH_OF(prefix##read16, 16, kind_of_read)                                                           \
  ASSAY_WATCH_OF(prefix##write1, 1, kind_of_write)                                                           \
  ASSAY_WATCH_OF(prefix##write2, 2, kind_of_write)                                                           \
  ASSAY_WATCH_OF(prefix##write4, 4, kind_of_write)                                                           \
  ASSAY_WATCH_OF(prefix##write8, 8, kind_of_write)                                                           \
  ASSAY_WATCH_OF(prefix##write16, 16, kind_of_write)

ASSAY_WATCH_SIZES(, ASSAY_ACCESS_ALIGNED, ASSAY_ACCESS_ALIGNED | ASSAY_ACCESS_WRITE)
ASSAY_WATCH_SIZES(unaligned_, 0, ASSAY_ACCESS_WRITE)
ASSAY_WATCH_SIZES(volatile_, ASSAY_ACCESS_ALIGNED | ASSAY_ACCESS_ORDERED,
                  ASSAY_ACCESS_ALIGNED | ASSAY_ACCESS_ORDERED | ASSAY_ACCESS_WRITE)
ASSAY_WATCH_SIZES(unaligned_volatile_, ASSAY_ACCESS_ORDERED, ASSAY_ACCESS_ORDERED | ASSAY_ACCESS_WRITE)

ASSAY_WATCH void __tsan_read_range(void *address, size_t bytes) {
  assay_calls->access(address, bytes, 0, 0, __builtin_return_address(0));
}

ASSAY_WATCH void __tsan_write_range(void *address, size_t bytes) {
  assay_calls->access(address, bytes, ASSAY_ACCESS_WRITE, 0, __builtin_return_address(0));
}

ASSAY_WATCH void __tsan_init(void) {
}

/* The words of kernel.h have told of these already, and a watched launch runs on one thread of the operating
 * system. GCC asks for the exchange that says whether it succeeded, Clang for the one that gives the old
 * value. */
#define ASSAY_WATCH_ATOMICS(bits, type)                                                                      \
  ASSAY_WATCH type __tsan_atomic##bits##_load(const volatile void *address, int order) {                     \
    (void)order;                                                                                             \
    return *(const volatile type *)address;                                                                  \
  }                                                                                                          \
  ASSAY_WATCH void __tsan_atomic##bits##_store(volatile void *address, type value, int order) {              \
    (void)order;                                                                                             \
    *(volatile type *)address = value;                                                                       \
  }                                                                                                          \
  ASSAY_WATCH type __tsan_atomic##bits##_compare_exchange_val(volatile void *address, type expected,         \
                                                              type fresh, int order, int failed_order) {     \
    const type old = *(volatile type *)address;                                                              \
    (void)order;                                                                                             \
    (void)failed_order;                                                                                      \
    if (old == expected) *(volatile type *)address = fresh;                                                  \
    return old;                                                                                              \
  }                                                                                                          \
  ASSAY_WATCH bool __tsan_atomic##bits##_compare_exchange_strong(volatile void *address, void *expected,     \
                                                                 type fresh, int order, int failed_order) {  \
    const type old = *(volatile type *)address;                                                              \
    const bool same = old == *(type *)expected;                                                              \
    (void)order;                                                                                             \
    (void)failed_order;                                                                                      \
    if (same) *(volatile type *)address = fresh;                                                             \
    *(type *)expected = old;                                                                                 \
    return same;                                                                                             \
  }

ASSAY_WATCH_ATOMICS(32, unsigned)
ASSAY_WATCH_ATOMICS(64, unsigned long)

/* Copies that a compiler makes of its own accord, as of a large struct. */
ASSAY_WATCH void *memcpy(void *to, const void *from, size_t bytes) {
  assay_calls->move(to, from, bytes, 0, __builtin_return_address(0));
  return to;
}

ASSAY_WATCH void *memmove(void *to, const void *from, size_t bytes) {
  assay_calls->move(to, from, bytes, 0, __builtin_return_address(0));
  return to;
}

ASSAY_WATCH void *memset(void *to, int value, size_t bytes) {
  assay_calls->fill(to, value, bytes, 0, __builtin_return_address(0));
  return to;
}

/* Those of the kernel, which would become loads and stores that nobody is told of. */
#define memcpy(to, from, bytes)  (assay_calls->move((to), (from), (bytes), __LINE__, NULL))
#define memset(to, value, bytes) (assay_calls->fill((to), (value), (bytes), __LINE__, NULL))

#endif
