/* SPDX-License-Identifier: MIT */
/* ceiling.c - copy bandwidth, streaming copy bandwidth and the rate of multiply-adds. */
#include "ceiling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buffer.h"
#include "clock.h"
#include "cpu.h"
#include "parallel.h"
#include "stats.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { FMA_CHAINS = 16, FMA_STEPS = 1 << 21 };

int64_t ceiling_cache_bytes(void) {
  const long third = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const long second = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return third > 0 ? third : second > 0 ? second : 0;
}

typedef struct ceiling_work {
  unsigned char *from;
  unsigned char *to;
  float results[PARALLEL_MOST]; /* keeps the multiply-adds */
} ceiling_work;

enum { CHUNK = 1 << 16 };

static void copy_part(void *argument, int lane, int64_t first, int64_t end) {
  (void)lane;
  const ceiling_work *work = argument;
  /* One copy a line of memory would be the library's memcpy, which streams by itself when it is large. */
  for (int64_t i = first; i < end; i++) memcpy(work->to + i * CHUNK, work->from + i * CHUNK, CHUNK);
}

static void stream_part(void *argument, int lane, int64_t first, int64_t end) {
#if defined(__x86_64__)
  (void)lane;
  const ceiling_work *work = argument;
  const __m128i *from = (const __m128i *)(const void *)(work->from + first * CHUNK);
  __m128i *to = (__m128i *)(void *)(work->to + first * CHUNK);
  const int64_t count = (end - first) * CHUNK / (int64_t)sizeof *to;
  for (int64_t i = 0; i < count; i++) _mm_stream_si128(to + i, _mm_load_si128(from + i));
  _mm_sfence();
#else
  copy_part(argument, lane, first, end);
#endif
}

/* Independent chains, more than any CPU's latency asks for. */
#if defined(__x86_64__)
__attribute__((target("avx512f"))) static float fma_avx512(int64_t steps) {
  __m512 chain[FMA_CHAINS];
  const __m512 factor = _mm512_set1_ps(0.9999f);
  const __m512 term = _mm512_set1_ps(0.0001f);
  for (int i = 0; i < FMA_CHAINS; i++) chain[i] = _mm512_set1_ps((float)i);
  for (int64_t s = 0; s < steps; s++) {
#pragma GCC unroll 16
    for (int i = 0; i < FMA_CHAINS; i++) chain[i] = _mm512_fmadd_ps(chain[i], factor, term);
  }
  for (int i = 1; i < FMA_CHAINS; i++) chain[0] = _mm512_add_ps(chain[0], chain[i]);
  return _mm512_cvtss_f32(chain[0]);
}

__attribute__((target("avx2,fma"))) static float fma_avx2(int64_t steps) {
  enum { CHAINS = 12 }; /* there are 16 registers */
  __m256 chain[CHAINS];
  const __m256 factor = _mm256_set1_ps(0.9999f);
  const __m256 term = _mm256_set1_ps(0.0001f);
  for (int i = 0; i < CHAINS; i++) chain[i] = _mm256_set1_ps((float)i);
  for (int64_t s = 0; s < steps; s++) {
#pragma GCC unroll 12
    for (int i = 0; i < CHAINS; i++) chain[i] = _mm256_fmadd_ps(chain[i], factor, term);
  }
  for (int i = 1; i < CHAINS; i++) chain[0] = _mm256_add_ps(chain[0], chain[i]);
  return _mm256_cvtss_f32(chain[0]);
}
#endif

static float fma_plain(int64_t steps) {
  float chain[4 * FMA_CHAINS];
  for (int i = 0; i < 4 * FMA_CHAINS; i++) chain[i] = (float)i;
  for (int64_t s = 0; s < steps; s++) {
#pragma omp simd
    for (int i = 0; i < 4 * FMA_CHAINS; i++) chain[i] = chain[i] * 0.9999f + 0.0001f;
  }
  for (int i = 1; i < 4 * FMA_CHAINS; i++) chain[0] += chain[i];
  return chain[0];
}

/* Operations of one step on one thread. */
static double fma_flops(void) {
#if defined(__x86_64__)
  if ((assay_cpu_features() & ASSAY_CPU_AVX512) != 0) return 2.0 * 16 * FMA_CHAINS;
  if ((assay_cpu_features() & ASSAY_CPU_AVX2) != 0) return 2.0 * 8 * 12;
#endif
  return 2.0 * 4 * FMA_CHAINS;
}

static void fma_part(void *argument, int lane, int64_t first, int64_t end) {
  ceiling_work *work = argument;
  for (int64_t i = first; i < end; i++) {
#if defined(__x86_64__)
    if ((assay_cpu_features() & ASSAY_CPU_AVX512) != 0) {
      work->results[lane] += fma_avx512(FMA_STEPS);
      continue;
    }
    if ((assay_cpu_features() & ASSAY_CPU_AVX2) != 0) {
      work->results[lane] += fma_avx2(FMA_STEPS);
      continue;
    }
#endif
    work->results[lane] += fma_plain(FMA_STEPS);
  }
}

static void measure(ceiling *one, int threads, int64_t items, parallel_part *part, ceiling_work *work) {
  double seconds[CEILING_SAMPLES];
  parallel_run(threads, items, part, work); /* pages, clocks */
  for (one->count = 0; one->count < CEILING_SAMPLES; one->count++) {
    const int64_t start = assay_now_ns();
    parallel_run(threads, items, part, work);
    const int64_t taken = assay_now_ns() - start;
    one->samples[one->count] = taken > 0 ? taken : 1;
    seconds[one->count] = (double)one->samples[one->count] * 1e-9;
  }
  one->rate = one->work / assay_median(seconds, CEILING_SAMPLES);
}

void ceilings_measure(int threads, ceiling ceilings[CEILINGS]) {
  static const char *const names[CEILINGS] = {"copy", "streaming copy", "fma"};
  const int64_t least = (int64_t)64 << 20;
  const int64_t most = (int64_t)256 << 20;
  const int64_t cache = ceiling_cache_bytes();
  const int64_t bytes = cache < least ? least : cache > most ? most : cache / CHUNK * CHUNK;
  ceiling_work work = {0};
  for (int i = 0; i < CEILINGS; i++) ceilings[i] = (ceiling){.name = names[i], .flops = i == CEILING_FMA};
  assay_mapping from;
  assay_mapping to;
  const bool source = assay_mapping_open_huge(&from, (size_t)bytes);
  const bool target = assay_mapping_open_huge(&to, (size_t)bytes);
  if (source && target) {
    memset(from.pages, 1, (size_t)bytes); /* pages that were never written are all one page of zeros */
    memset(to.pages, 2, (size_t)bytes);
    work.from = from.pages;
    work.to = to.pages;
    ceilings[CEILING_COPY].work = ceilings[CEILING_STREAM].work = 2.0 * (double)bytes;
    measure(&ceilings[CEILING_COPY], threads, bytes / CHUNK, copy_part, &work);
    measure(&ceilings[CEILING_STREAM], threads, bytes / CHUNK, stream_part, &work);
  }
  if (source) assay_mapping_close(&from);
  if (target) assay_mapping_close(&to);
  ceilings[CEILING_FMA].work = fma_flops() * FMA_STEPS * threads;
  measure(&ceilings[CEILING_FMA], threads, threads, fma_part, &work);
}
