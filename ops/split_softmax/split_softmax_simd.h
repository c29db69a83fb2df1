/* SPDX-License-Identifier: MIT */
/*
 * split_softmax_simd.h - the two stages that touch elements, as the AVX2 and AVX-512 variants share them,
 * written over the words of vec_exp_avx2.h or vec_exp_avx512.h, which a variant includes before this file.
 */
#ifndef ASSAY_SPLIT_SOFTMAX_SIMD_H
#define ASSAY_SPLIT_SOFTMAX_SIMD_H

#include "split_softmax_parts.h"

#define INLINE static inline __attribute__((always_inline))

enum {
  SUMS = 4,                     /* vectors of partial sums: 32 sums or more */
  LINE_BYTES = 64,              /* a cache line */
  STREAM_BYTES_LEAST = 4 << 20, /* outputs from here on bypass the caches */
};

/* The maximum of 16-bit floats as integers of the same order, without widening. A NaN may win or be passed
 * over: the exponentials find it. */
INLINE float chunk_max_halves(const char *x, assay_dtype dtype, int64_t n) {
  const int64_t last = n - KEY_LANES; /* the vector there overlaps others, which a maximum does not mind */
  const key end = key_load(x, last);
  key best[SUMS] = {end, end, end, end};
  int64_t i = 0;
  for (; i + SUMS * KEY_LANES <= n; i += SUMS * KEY_LANES) {
#pragma GCC unroll 4
    for (int k = 0; k < SUMS; ++k) best[k] = key_max(best[k], key_load(x, i + k * KEY_LANES));
  }
  for (; i < last; i += KEY_LANES) best[0] = key_max(best[0], key_load(x, i));
  const int16_t top = key_hmax(key_max(key_max(best[0], best[1]), key_max(best[2], best[3])));
  const uint16_t half = (uint16_t)(top < 0 ? top ^ 0x7fff : top);
  return dtype == ASSAY_FP16 ? assay_fp16_to_float(half) : assay_bf16_to_float(half);
}

INLINE float chunk_max(const char *x, assay_dtype dtype, int64_t n) {
  if (dtype != ASSAY_FP32 && n >= KEY_LANES) return chunk_max_halves(x, dtype, n);
  vec best[SUMS];
#pragma GCC unroll 4
  for (int k = 0; k < SUMS; ++k) best[k] = vec_set1(-INFINITY);
  int64_t i = 0;
  for (; i + SUMS * VEC_LANES <= n; i += SUMS * VEC_LANES) {
#pragma GCC unroll 4
    for (int k = 0; k < SUMS; ++k) best[k] = vec_max(vec_load(x, dtype, i + k * VEC_LANES), best[k]);
  }
  for (; i + VEC_LANES <= n; i += VEC_LANES) best[0] = vec_max(vec_load(x, dtype, i), best[0]);
  if (i < n) best[0] = vec_max(vec_load_part(x, dtype, i, (int)(n - i), vec_set1(-INFINITY)), best[0]);
  return vec_hmax(vec_max(vec_max(best[0], best[1]), vec_max(best[2], best[3])));
}

/* A block of SUMS vectors of exp(x - origin): added to the partial sums, and kept on demand. */
INLINE void sum_block(const char *x, assay_dtype dtype, int64_t i, vec top, vec sum[SUMS], float *kept) {
#pragma GCC unroll 4
  for (int k = 0; k < SUMS; ++k) {
    const vec v = vec_exp(vec_sub(vec_load(x, dtype, i + k * VEC_LANES), top));
    if (kept != NULL) vec_store_scratch(kept + i + k * VEC_LANES, v);
    sum[k] = vec_add(sum[k], v);
  }
}

/* The blocks from i on, the rest of the chunk after them, and the total. */
INLINE float sum_rest(const char *x, assay_dtype dtype, int64_t i, int64_t n, vec top, vec sum[SUMS],
                      float *kept) {
  for (; i + SUMS * VEC_LANES <= n; i += SUMS * VEC_LANES) sum_block(x, dtype, i, top, sum, kept);
  for (; i < n; i += VEC_LANES) {
    vec v = i + VEC_LANES <= n ? vec_load(x, dtype, i)
                               : vec_load_part(x, dtype, i, (int)(n - i), vec_set1(-INFINITY));
    v = vec_exp(vec_sub(v, top));
    if (kept != NULL) vec_store_scratch(kept + i, v);
    sum[0] = vec_add(sum[0], v);
  }
  return vec_hsum(vec_add(vec_add(sum[0], sum[1]), vec_add(sum[2], sum[3])));
}

/* The sum of exp(x - origin) over a chunk, with the exponentials kept on demand, in whole vectors. */
INLINE float chunk_sum(const char *x, assay_dtype dtype, int64_t n, float origin, float *kept) {
  const vec zero = vec_set1(0.0f);
  vec sum[SUMS] = {zero, zero, zero, zero};
  return sum_rest(x, dtype, 0, n, vec_set1(origin), sum, kept);
}

/* Where all entries are -inf, 0 stands in for the maximum: -inf gives 0 and NaN gives NaN. */
INLINE float origin_of(float m) {
  return m == -INFINITY ? 0.0f : m;
}

INLINE bool split_streams(const split_task *task) {
  return task->rows * task->columns * task->size >= STREAM_BYTES_LEAST;
}

INLINE const char *chunk_of(const split_task *task, assay_dtype dtype, int64_t row, int64_t k) {
  return task->x + (row * task->columns + k * task->chunk) * (dtype == ASSAY_FP32 ? 4 : 2);
}

/* Chunks [first, last) of a row, with the element type and what is kept as constants. */
INLINE void typed_partials(const split_task *task, assay_dtype dtype, int64_t row, int64_t first,
                           int64_t last, float *states, float *kept) {
  for (int64_t k = first; k < last; ++k) {
    const int64_t n = split_length(task, k);
    const char *x = chunk_of(task, dtype, row, k);
    const float m = chunk_max(x, dtype, n);
    states[2 * k] = m;
    if (kept != NULL) {
      states[2 * k + 1] = chunk_sum(x, dtype, n, origin_of(m), kept + (k - first) * task->chunk);
    } else {
      states[2 * k + 1] = chunk_sum(x, dtype, n, origin_of(m), NULL);
    }
  }
}

static void partials(const split_task *task, int64_t row, int64_t first, int64_t last, float *states,
                     float *kept) {
  if (task->dtype == ASSAY_FP32) typed_partials(task, ASSAY_FP32, row, first, last, states, kept);
  if (task->dtype == ASSAY_FP16) typed_partials(task, ASSAY_FP16, row, first, last, states, kept);
  if (task->dtype == ASSAY_BF16) typed_partials(task, ASSAY_BF16, row, first, last, states, kept);
}

/* Elements before the first whole vector at an aligned address. */
INLINE int64_t stream_head(const char *y, assay_dtype dtype, int64_t n) {
  const uintptr_t size = dtype == ASSAY_FP32 ? 4 : 2;
  const uintptr_t vector = VEC_LANES * size;
  const int64_t head = (int64_t)((vector - (uintptr_t)y % vector) % vector / size);
  return head < n ? head : n;
}

INLINE void store_whole(char *y, assay_dtype dtype, int64_t i, vec v, bool stream) {
  if (stream) {
    vec_stream(y, dtype, i, v);
  } else {
    vec_store(y, dtype, i, v);
  }
}

/* Exponentials of elements [i, i + count) of a chunk: kept ones, or computed as in stage 1. */
INLINE vec exponentials(const char *x, assay_dtype dtype, int64_t i, int count, vec top, const float *kept) {
  if (kept != NULL) return vec_load_scratch(kept + i);
  const vec v =
      count == VEC_LANES ? vec_load(x, dtype, i) : vec_load_part(x, dtype, i, count, vec_set1(-INFINITY));
  return vec_exp(vec_sub(v, top));
}

/* One chunk of y. Lines of `next` are asked for while its stores drain. */
INLINE void chunk_scale(const char *x, char *y, assay_dtype dtype, int64_t n, float origin, float scale,
                        bool stream, const float *kept, const char *next) {
  const int64_t size = dtype == ASSAY_FP32 ? 4 : 2;
  const vec top = vec_set1(origin);
  const vec factor = vec_set1(scale);
  int64_t i = stream ? stream_head(y, dtype, n) : 0;
  if (i > 0) {
    vec_store_part(y, dtype, 0, vec_mul(exponentials(x, dtype, 0, (int)i, top, kept), factor), (int)i);
  }
  for (; i + SUMS * VEC_LANES <= n; i += SUMS * VEC_LANES) {
    if (next != NULL) {
#pragma GCC unroll 4
      for (int64_t byte = 0; byte < SUMS * VEC_LANES * size; byte += LINE_BYTES) {
        __builtin_prefetch(next + i * size + byte, 0, 2);
      }
    }
#pragma GCC unroll 4
    for (int k = 0; k < SUMS; ++k) {
      const int64_t at = i + k * VEC_LANES;
      store_whole(y, dtype, at, vec_mul(exponentials(x, dtype, at, VEC_LANES, top, kept), factor), stream);
    }
  }
  for (; i + VEC_LANES <= n; i += VEC_LANES) {
    store_whole(y, dtype, i, vec_mul(exponentials(x, dtype, i, VEC_LANES, top, kept), factor), stream);
  }
  if (i < n) {
    const int left = (int)(n - i);
    vec_store_part(y, dtype, i, vec_mul(exponentials(x, dtype, i, left, top, kept), factor), left);
  }
}

/*
 * Finishes a chunk of one row and starts the same chunk of the next: y = scale * kept, while kept takes the
 * exponentials of x, whose sum is returned. Stores that leave the caches, prefetches of `next` and arithmetic
 * overlap that way. Blocks of y are aligned and so up to a vector ahead of those of x: no value is
 * overwritten before it has been used.
 */
INLINE float chunk_turn(float *kept, char *y, float scale, const char *x, float origin, const char *next,
                        assay_dtype dtype, int64_t n, bool stream) {
  const int64_t size = dtype == ASSAY_FP32 ? 4 : 2;
  const vec factor = vec_set1(scale);
  const vec top = vec_set1(origin);
  const vec zero = vec_set1(0.0f);
  vec sum[SUMS] = {zero, zero, zero, zero};
  const int64_t head = stream ? stream_head(y, dtype, n) : 0;
  if (head > 0) vec_store_part(y, dtype, 0, vec_mul(vec_load_scratch(kept), factor), (int)head);
  int64_t i = 0;
  for (; i + head + SUMS * VEC_LANES <= n; i += SUMS * VEC_LANES) {
#pragma GCC unroll 4
    for (int64_t byte = 0; byte < SUMS * VEC_LANES * size; byte += LINE_BYTES) {
      __builtin_prefetch(next + i * size + byte, 0, 2);
    }
#pragma GCC unroll 4
    for (int k = 0; k < SUMS; ++k) {
      const int64_t at = i + head + k * VEC_LANES;
      store_whole(y, dtype, at, vec_mul(vec_load_scratch(kept + at), factor), stream);
    }
    sum_block(x, dtype, i, top, sum, kept);
  }
  int64_t j = i + head;
  for (; j + VEC_LANES <= n; j += VEC_LANES) {
    store_whole(y, dtype, j, vec_mul(vec_load_scratch(kept + j), factor), stream);
  }
  if (j < n) vec_store_part(y, dtype, j, vec_mul(vec_load_scratch(kept + j), factor), (int)(n - j));
  return sum_rest(x, dtype, i, n, top, sum, kept);
}

INLINE void typed_turn(const split_task *task, assay_dtype dtype, bool stream, int64_t row,
                       const float *states, float *after, float *kept, bool ahead) {
  const int64_t row_bytes = task->columns * task->size;
  for (int64_t k = 0; k < task->chunks; ++k) {
    const int64_t n = split_length(task, k);
    char *y = task->y + (chunk_of(task, dtype, row, k) - task->x);
    const char *x = chunk_of(task, dtype, row + 1, k);
    const float m = chunk_max(x, dtype, n);
    after[2 * k] = m;
    after[2 * k + 1] = chunk_turn(kept + k * task->chunk, y, split_factor(task, states, k), x, origin_of(m),
                                  ahead ? x + row_bytes : x, dtype, n, stream);
  }
  if (stream) vec_fence();
}

static void turn(const split_task *task, int64_t row, const float *states, float *after, float *kept,
                 bool ahead) {
  const bool stream = split_streams(task);
  if (task->dtype == ASSAY_FP32 && stream)
    typed_turn(task, ASSAY_FP32, true, row, states, after, kept, ahead);
  if (task->dtype == ASSAY_FP32 && !stream)
    typed_turn(task, ASSAY_FP32, false, row, states, after, kept, ahead);
  if (task->dtype == ASSAY_FP16 && stream)
    typed_turn(task, ASSAY_FP16, true, row, states, after, kept, ahead);
  if (task->dtype == ASSAY_FP16 && !stream)
    typed_turn(task, ASSAY_FP16, false, row, states, after, kept, ahead);
  if (task->dtype == ASSAY_BF16 && stream)
    typed_turn(task, ASSAY_BF16, true, row, states, after, kept, ahead);
  if (task->dtype == ASSAY_BF16 && !stream)
    typed_turn(task, ASSAY_BF16, false, row, states, after, kept, ahead);
}

INLINE void typed_normalise(const split_task *task, assay_dtype dtype, bool stream, int64_t row,
                            int64_t first, int64_t last, const float *states, const float *kept,
                            const char *next) {
  for (int64_t k = first; k < last; ++k) {
    const int64_t n = split_length(task, k);
    const char *x = chunk_of(task, dtype, row, k);
    char *y = task->y + (x - task->x);
    const float scale = split_factor(task, states, k);
    if (kept == NULL) {
      chunk_scale(x, y, dtype, n, origin_of(states[2 * k]), scale, stream, NULL, NULL);
    } else {
      const char *ahead = next == NULL ? NULL : next + (x - chunk_of(task, dtype, row, 0));
      chunk_scale(x, y, dtype, n, 0.0f, scale, stream, kept + (k - first) * task->chunk, ahead);
    }
  }
  if (stream) vec_fence();
}

/* The element type and the kind of store become constants. */
static void normalise(const split_task *task, int64_t row, int64_t first, int64_t last, const float *states,
                      const float *kept, const char *next) {
  const bool stream = split_streams(task);
  if (task->dtype == ASSAY_FP32 && stream)
    typed_normalise(task, ASSAY_FP32, true, row, first, last, states, kept, next);
  if (task->dtype == ASSAY_FP32 && !stream)
    typed_normalise(task, ASSAY_FP32, false, row, first, last, states, kept, next);
  if (task->dtype == ASSAY_FP16 && stream)
    typed_normalise(task, ASSAY_FP16, true, row, first, last, states, kept, next);
  if (task->dtype == ASSAY_FP16 && !stream)
    typed_normalise(task, ASSAY_FP16, false, row, first, last, states, kept, next);
  if (task->dtype == ASSAY_BF16 && stream)
    typed_normalise(task, ASSAY_BF16, true, row, first, last, states, kept, next);
  if (task->dtype == ASSAY_BF16 && !stream)
    typed_normalise(task, ASSAY_BF16, false, row, first, last, states, kept, next);
}

#endif
