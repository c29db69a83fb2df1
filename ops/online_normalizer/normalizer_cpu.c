/* SPDX-License-Identifier: MIT */
/*
 * normalizer_cpu.c - the normaliser in portable C: any CPU, libm's exponentials. A block is read twice, once
 * for its maximum and once for the sum, in 32 partial sums, which also lets compilers vectorise.
 */
#include "normalizer.h"
#include "normalizer_parts.h"

enum { PARTIALS = 32 };

/* NaN elements are passed over by the maximum and found by the sum. */
static normalizer_state summary32(const void *elements, int64_t count, const void *ahead) {
  (void)ahead;
  const float *x = elements;
  float best[PARTIALS];
  float sum[PARTIALS] = {0};
  for (int k = 0; k < PARTIALS; k++) best[k] = -INFINITY;
  for (int64_t i = 0; i < count; i += PARTIALS) {
    const int some = count - i < PARTIALS ? (int)(count - i) : PARTIALS;
    for (int k = 0; k < some; k++) best[k] = x[i + k] > best[k] ? x[i + k] : best[k];
  }
  for (int k = 1; k < PARTIALS; k++) best[0] = best[k] > best[0] ? best[k] : best[0];
  /* Below nothing but -inf, 0 stands in for the maximum: -inf gives 0 and NaN gives NaN. */
  const float top = best[0] == -INFINITY ? 0.0f : best[0];
  for (int64_t i = 0; i < count; i += PARTIALS) {
    const int some = count - i < PARTIALS ? (int)(count - i) : PARTIALS;
    for (int k = 0; k < some; k++) sum[k] += expf(x[i + k] - top);
  }
  for (int half = PARTIALS / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; k++) sum[k] += sum[k + half];
  }
  return (normalizer_state){(double)best[0], (double)sum[0]};
}

static normalizer_state summary64(const void *elements, int64_t count, const void *ahead) {
  (void)ahead;
  const double *x = elements;
  double best[PARTIALS];
  double sum[PARTIALS] = {0};
  for (int k = 0; k < PARTIALS; k++) best[k] = -INFINITY;
  for (int64_t i = 0; i < count; i += PARTIALS) {
    const int some = count - i < PARTIALS ? (int)(count - i) : PARTIALS;
    for (int k = 0; k < some; k++) best[k] = x[i + k] > best[k] ? x[i + k] : best[k];
  }
  for (int k = 1; k < PARTIALS; k++) best[0] = best[k] > best[0] ? best[k] : best[0];
  const double top = best[0] == -INFINITY ? 0.0 : best[0]; /* as above */
  for (int64_t i = 0; i < count; i += PARTIALS) {
    const int some = count - i < PARTIALS ? (int)(count - i) : PARTIALS;
    for (int k = 0; k < some; k++) sum[k] += exp(x[i + k] - top);
  }
  for (int half = PARTIALS / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; k++) sum[k] += sum[k + half];
  }
  return (normalizer_state){best[0], sum[0]};
}

/* The difference is taken in FP64, where any state's maximum is exact. An element of another set may lie
 * above the maximum: FP64 has room for exponentials that FP32 has not. */
static void ending32(normalizer_state state, const void *elements, void *results, int64_t count,
                     bool stream) {
  (void)stream;
  const float *x = elements;
  float *y = results;
  for (int64_t i = 0; i < count; i++) {
    const double d = (double)x[i] - state.m;
    y[i] = (float)((d > 0 ? exp(d) : (double)expf((float)d)) / state.s);
  }
}

static void ending64(normalizer_state state, const void *elements, void *results, int64_t count,
                     bool stream) {
  (void)stream;
  const double *x = elements;
  double *y = results;
  for (int64_t i = 0; i < count; i++) y[i] = exp(x[i] - state.m) / state.s;
}

assay_status assay_normalizer_cpu_summarise(const assay_tensor *in, const assay_tensor *out,
                                            const int64_t *opt, assay_queue *queue) {
  (void)opt; /* no knobs */
  return normalizer_summarise(in, out, queue, in[0].dtype == ASSAY_FP64 ? summary64 : summary32);
}

assay_status assay_normalizer_cpu_merge(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                        assay_queue *queue) {
  (void)opt, (void)queue;
  const double *left = in[0].data;
  const double *right = in[1].data;
  double *state = out[0].data;
  const normalizer_state merged =
      normalizer_merge64((normalizer_state){left[0], left[1]}, (normalizer_state){right[0], right[1]});
  state[0] = merged.m;
  state[1] = merged.s;
  return ASSAY_OK;
}

assay_status assay_normalizer_cpu_finish(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                         assay_queue *queue) {
  (void)opt; /* no knobs */
  normalizer_finish(in, out, queue, in[1].dtype == ASSAY_FP64 ? ending64 : ending32);
  return ASSAY_OK;
}
