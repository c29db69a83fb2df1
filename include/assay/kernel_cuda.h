/* SPDX-License-Identifier: MIT */
/*
 * kernel_cuda.h - the words of kernel.h for a GPU, compiled by NVRTC as C++17 without any other header.
 *
 * Threads, barriers, shuffles, votes, reductions, atomics and the mathematical functions are the compiler's
 * own. Here is what CUDA C++ keeps in large headers, as PTX. Clusters need compute capability 9.0; the
 * rest 8.0.
 */
#ifndef ASSAY_KERNEL_CUDA_H
#define ASSAY_KERNEL_CUDA_H

#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef unsigned long long uintptr_t;
#else
#include <stdint.h>
#endif

static_assert(sizeof(int64_t) == 8 && sizeof(void *) == 8, "sizes must be those of the host");

#define ASSAY_INLINE   static __device__ __forceinline__
#define ASSAY_NAN      __int_as_float(0x7fffffff)
#define ASSAY_INFINITY __int_as_float(0x7f800000)

/* KERNEL(name, type of args, most threads a block, least blocks an SM): the last may be left out. */
#define KERNEL(name, type, ...)                                                                              \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__) name(const __grid_constant__ type args)

#define DYNAMIC_SHARED(name)                                                                                 \
  extern __shared__ __align__(16) unsigned char assay_dynamic_shared[];                                      \
  unsigned char *name = assay_dynamic_shared

/* ---- warps --------------------------------------------------------------------------------------------- */

ASSAY_INLINE float warp_sum(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

ASSAY_INLINE float warp_max(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
  return value;
}

/* ---- waiting for memory -------------------------------------------------------------------------------- */

ASSAY_INLINE unsigned load_acquire(const unsigned *address) {
  unsigned value;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

ASSAY_INLINE void store_release(unsigned *address, unsigned value) {
  asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

ASSAY_INLINE void spin_pause() {
  __nanosleep(20);
}

/* ---- asynchronous copies ------------------------------------------------------------------------------- */

ASSAY_INLINE uint32_t assay_shared_address(const void *shared) {
  return (uint32_t)__cvta_generic_to_shared(shared);
}

ASSAY_INLINE void cp_async_16(void *shared, const void *global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(assay_shared_address(shared)),
               "l"(__cvta_generic_to_global(global))
               : "memory");
}

/* Copies the first `bytes` of 16, 0..16, and sets the rest to zero. */
ASSAY_INLINE void cp_async_16_part(void *shared, const void *global, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(assay_shared_address(shared)),
               "l"(__cvta_generic_to_global(global)), "r"(bytes)
               : "memory");
}

ASSAY_INLINE void cp_async_4(void *shared, const void *global) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(assay_shared_address(shared)),
               "l"(__cvta_generic_to_global(global))
               : "memory");
}

ASSAY_INLINE void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits until at most `count` (a constant) of this thread's groups are under way. */
#define cp_async_wait(count) asm volatile("cp.async.wait_group %0;" ::"n"(count) : "memory")

/* ---- matrices ------------------------------------------------------------------------------------------ */

ASSAY_INLINE void ldmatrix_x4(uint32_t to[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(assay_shared_address(row))
               : "memory");
}

ASSAY_INLINE void ldmatrix_x4_trans(uint32_t to[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(assay_shared_address(row))
               : "memory");
}

ASSAY_INLINE void ldmatrix_x2(uint32_t to[2], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(assay_shared_address(row))
               : "memory");
}

ASSAY_INLINE void ldmatrix_x2_trans(uint32_t to[2], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(assay_shared_address(row))
               : "memory");
}

/* d += a * b for fragments of a 16 x 16 and a 16 x 8 matrix; d is FP32. */
ASSAY_INLINE void mma_m16n8k16_fp16(float d[4], const uint32_t a[4], const uint32_t b[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
               "{%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

ASSAY_INLINE void mma_m16n8k16_bf16(float d[4], const uint32_t a[4], const uint32_t b[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
               "{%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* ---- clusters ------------------------------------------------------------------------------------------ */

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
ASSAY_INLINE uint32_t cluster_rank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

ASSAY_INLINE uint32_t cluster_size() {
  uint32_t size;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}

ASSAY_INLINE void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

/* The same place in the shared memory of another block of the cluster. */
ASSAY_INLINE void *cluster_shared(void *shared, uint32_t rank) {
  void *peer;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(peer) : "l"(shared), "r"(rank));
  return peer;
}
#endif

/* ---- vectors of 16 bytes ------------------------------------------------------------------------------- */

typedef struct __align__(16) vector16 {
  uint32_t word[4];
}
vector16;

ASSAY_INLINE vector16 vector16_load(const void *address) {
  const uint4 words = *(const uint4 *)address;
  vector16 vector;
  vector.word[0] = words.x;
  vector.word[1] = words.y;
  vector.word[2] = words.z;
  vector.word[3] = words.w;
  return vector;
}

/* For global memory that the kernel only reads, and only once: it does not displace what L1 holds. */
ASSAY_INLINE vector16 vector16_load_once(const void *address) {
  vector16 vector;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(vector.word[0]), "=r"(vector.word[1]), "=r"(vector.word[2]), "=r"(vector.word[3])
               : "l"(__cvta_generic_to_global(address)));
  return vector;
}

ASSAY_INLINE void vector16_store(void *address, vector16 vector) {
  *(uint4 *)address = make_uint4(vector.word[0], vector.word[1], vector.word[2], vector.word[3]);
}

/* For global memory that nobody reads soon. */
ASSAY_INLINE void vector16_store_once(void *address, vector16 vector) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(address)),
               "r"(vector.word[0]), "r"(vector.word[1]), "r"(vector.word[2]), "r"(vector.word[3])
               : "memory");
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

/* Within 2 ulp; subnormal results are 0. */
ASSAY_INLINE float exp2_approx(float value) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

/* Within 1 ulp; subnormal results are 0. */
ASSAY_INLINE float rcp_approx(float value) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

ASSAY_INLINE float fp16_to_float(uint16_t half) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
}

ASSAY_INLINE uint16_t fp16_from_float(float value) {
  uint16_t half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return half;
}

ASSAY_INLINE float bf16_to_float(uint16_t half) {
  return __uint_as_float((uint32_t)half << 16);
}

ASSAY_INLINE uint16_t bf16_from_float(float value) {
  uint16_t half;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return half;
}

/* Two floats, each rounded once, as one register: `low` in bits 0..15. */
ASSAY_INLINE uint32_t fp16_pack(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

ASSAY_INLINE uint32_t bf16_pack(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

/* The larger numbers of two pairs; beside a NaN, the other one. */
ASSAY_INLINE uint32_t fp16_max_pair(uint32_t a, uint32_t b) {
  uint32_t pair;
  asm("max.f16x2 %0, %1, %2;" : "=r"(pair) : "r"(a), "r"(b));
  return pair;
}

ASSAY_INLINE uint32_t bf16_max_pair(uint32_t a, uint32_t b) {
  uint32_t pair;
  asm("max.bf16x2 %0, %1, %2;" : "=r"(pair) : "r"(a), "r"(b));
  return pair;
}

#include "kernel_elements.h"
#include "kernel_rows.h"

#endif
