/* SPDX-License-Identifier: MIT */
/* bench_passes.c - packing, widening and rounding whole tensors: what a program without a fused kernel does.
 */
#include "bench_passes.h"

#include "cpu.h"
#include "tensor.h"

enum { TILE = 32, SPAN = 4096, SERIAL_BELOW = 1 << 16 };

int assay_pass_threads(const assay_queue *queue, int64_t elements) {
  return elements < SERIAL_BELOW ? 1 : queue->threads;
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* One tile of rows [r, r + TILE) and columns [c, c + TILE). */
static void pack_tile(const assay_tensor *x, void *to, int64_t r, int64_t c) {
  const int64_t rows = least(x->shape[0], r + TILE);
  const int64_t columns = least(x->shape[1], c + TILE);
  for (int64_t i = r; i < rows; i++) {
    for (int64_t k = c; k < columns; k++) {
      const int64_t from = i * x->stride[0] + k * x->stride[1];
      const int64_t at = i * x->shape[1] + k;
      if (x->dtype == ASSAY_FP32) {
        ((float *)to)[at] = ((const float *)x->data)[from];
      } else {
        ((uint16_t *)to)[at] = ((const uint16_t *)x->data)[from];
      }
    }
  }
}

static bool has_f16c(void) {
#if defined(__x86_64__)
  return (assay_cpu_features() & ASSAY_CPU_AVX2) != 0;
#else
  return false;
#endif
}

/* Adjacent FP16 elements by the instructions for it; false where there are none. */
static bool widen_by_instruction(const assay_tensor *x, int64_t from, int64_t step, int64_t count,
                                 float *to) {
#if defined(__x86_64__)
  if (x->dtype == ASSAY_FP16 && step == 1 && has_f16c()) {
    assay_pass_widen_fp16_avx2((const uint16_t *)x->data + from, count, to);
    return true;
  }
#endif
  (void)x, (void)from, (void)step, (void)count, (void)to;
  return false;
}

/* One type a loop, so that the compiler can turn each into vectors. */
static void widen_span(const assay_tensor *x, int64_t from, int64_t step, int64_t count, float *to) {
  if (widen_by_instruction(x, from, step, count, to)) return;
  const float *singles = x->data;
  const uint16_t *halves = x->data;
  if (x->dtype == ASSAY_FP32) {
#pragma omp simd
    for (int64_t k = 0; k < count; k++) to[k] = singles[from + k * step];
  } else if (x->dtype == ASSAY_FP16) {
#pragma omp simd
    for (int64_t k = 0; k < count; k++) to[k] = assay_fp16_to_float(halves[from + k * step]);
  } else {
#pragma omp simd
    for (int64_t k = 0; k < count; k++) to[k] = assay_bf16_to_float(halves[from + k * step]);
  }
}

static void widen_tile(const assay_tensor *x, float *to, int64_t r, int64_t c) {
  const int64_t rows = least(x->shape[0], r + TILE);
  const int64_t columns = least(x->shape[1], c + TILE);
  for (int64_t i = r; i < rows; i++) {
    const int64_t from = i * x->stride[0] + c * x->stride[1];
    widen_span(x, from, x->stride[1], columns - c, to + i * x->shape[1] + c);
  }
}

void assay_pass_pack(const assay_tensor *x, void *to, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t r = 0; r < x->shape[0]; r += TILE) {
    for (int64_t c = 0; c < x->shape[1]; c += TILE) pack_tile(x, to, r, c);
  }
}

void assay_pass_widen(const assay_tensor *x, float *to, int threads) {
  if (x->stride[1] == 1) { /* whole rows: tiles are for transposes */
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t r = 0; r < x->shape[0]; r++) {
      widen_span(x, r * x->stride[0], 1, x->shape[1], to + r * x->shape[1]);
    }
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t r = 0; r < x->shape[0]; r += TILE) {
    for (int64_t c = 0; c < x->shape[1]; c += TILE) widen_tile(x, to, r, c);
  }
}

static void round_span(const float *from, int64_t count, uint16_t *to) {
#if defined(__x86_64__)
  if (has_f16c()) {
    assay_pass_round_fp16_avx2(from, count, to);
    return;
  }
#endif
#pragma omp simd
  for (int64_t i = 0; i < count; i++) to[i] = assay_fp16_from_float(from[i]);
}

void assay_pass_round(const float *from, int64_t count, void *to, assay_dtype dtype, int threads) {
  uint16_t *halves = to;
  if (dtype == ASSAY_FP32) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
    for (int64_t i = 0; i < count; i++) ((float *)to)[i] = from[i];
  } else if (dtype == ASSAY_FP16) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < count; i += SPAN) round_span(from + i, least(SPAN, count - i), halves + i);
  } else {
#pragma omp parallel for simd num_threads(threads) schedule(static)
    for (int64_t i = 0; i < count; i++) halves[i] = assay_bf16_from_float(from[i]);
  }
}

bool assay_pass_packed(const assay_tensor *x, assay_queue *queue, assay_tensor *packed) {
  const int64_t count = x->shape[0] * x->shape[1];
  const size_t size = x->dtype == ASSAY_FP32 ? 4 : 2;
  void *copy = assay_queue_scratch(queue, (size_t)count * size);
  if (copy == NULL) return false;
  assay_pass_pack(x, copy, assay_pass_threads(queue, count));
  *packed = assay_tensor_make(copy, x->dtype, x->rank, x->shape);
  packed->device = x->device;
  return true;
}
