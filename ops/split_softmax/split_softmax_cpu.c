/* SPDX-License-Identifier: MIT */
/*
 * split_softmax_cpu.c - split softmax in portable C: any CPU, libm's expf.
 *
 * A chunk is widened to floats on the stack. Sums have 32 partial sums, which also lets compilers vectorise.
 */
#include "split_softmax_parts.h"

enum { PARTIALS = 32, CHUNK_MOST = 4096 };

/* The maximum of a chunk; NaN entries are passed over, the sum finds them. */
static float chunk_max(const float *x, int64_t n) {
  float best[PARTIALS];
  for (int k = 0; k < PARTIALS; ++k) best[k] = -INFINITY;
  int64_t i = 0;
  for (; i + PARTIALS <= n; i += PARTIALS) {
    for (int k = 0; k < PARTIALS; ++k) best[k] = x[i + k] > best[k] ? x[i + k] : best[k];
  }
  for (int k = 0; i + k < n; ++k) best[k] = x[i + k] > best[k] ? x[i + k] : best[k];
  for (int k = 1; k < PARTIALS; ++k) best[0] = best[k] > best[0] ? best[k] : best[0];
  return best[0];
}

static float chunk_sum(const float *terms, int64_t n) {
  float sum[PARTIALS] = {0};
  int64_t i = 0;
  for (; i + PARTIALS <= n; i += PARTIALS) {
    for (int k = 0; k < PARTIALS; ++k) sum[k] += terms[i + k];
  }
  for (int k = 0; i + k < n; ++k) sum[k] += terms[i + k];
  for (int half = PARTIALS / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; ++k) sum[k] += sum[k + half];
  }
  return sum[0];
}

/* exp(x - maximum) of the n elements of chunk k; returns the maximum. Where all elements are -inf, 0 stands
 * in for it: -inf gives 0 and NaN gives NaN. */
static float chunk_terms(const split_task *task, int64_t row, int64_t k, int64_t n, float *terms) {
  const int64_t first = row * task->columns + k * task->chunk;
  for (int64_t i = 0; i < n; ++i) terms[i] = assay_load(task->x, task->dtype, first + i);
  const float m = chunk_max(terms, n);
  const float origin = m == -INFINITY ? 0.0f : m;
  for (int64_t i = 0; i < n; ++i) terms[i] = expf(terms[i] - origin);
  return m;
}

static void partials(const split_task *task, int64_t row, int64_t first, int64_t last, float *states,
                     float *kept) {
  float buffer[CHUNK_MOST];
  for (int64_t k = first; k < last; ++k) {
    float *terms = kept != NULL ? kept + (k - first) * task->chunk : buffer;
    const int64_t n = split_length(task, k);
    states[2 * k] = chunk_terms(task, row, k, n, terms);
    states[2 * k + 1] = chunk_sum(terms, n);
  }
}

static void normalise(const split_task *task, int64_t row, int64_t first, int64_t last, const float *states,
                      const float *kept, const char *next) {
  float buffer[CHUNK_MOST];
  (void)next;
  for (int64_t k = first; k < last; ++k) {
    const float *terms = kept != NULL ? kept + (k - first) * task->chunk : buffer;
    const int64_t n = split_length(task, k);
    if (kept == NULL) (void)chunk_terms(task, row, k, n, buffer);
    const float factor = split_factor(task, states, k);
    const int64_t start = row * task->columns + k * task->chunk;
    for (int64_t i = 0; i < n; ++i) assay_store(task->y, task->dtype, start + i, terms[i] * factor);
  }
}

assay_status assay_split_softmax_cpu(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                     assay_queue *queue) {
  return split_softmax_with(partials, normalise, NULL, in, out, opt, queue);
}
