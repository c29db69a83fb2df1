/* SPDX-License-Identifier: MIT */
/*
 * w6_solution.c - streaming attention, written to be read. The lesson beside it derives every step.
 *
 * A row of q meets the keys tile by tile and keeps three things: the largest score so far, the sum of its
 * weights, and the sum of its weighted values, both relative to that maximum. No score outlives its tile.
 */
#include <stdbool.h>

#include "assay/workshop.h"

enum { KEYS_MOST = 64, COLUMNS_MOST = 64 };

/* Fewer scores than this are done before other threads have woken up. */
enum { PARALLEL_SCORES = 65536 };

/* The compiler holds the definition below to the signature that is called. */
ASSAY_API assay_kernel streaming_attention;

/* What a row of q knows of the keys that it has met. */
typedef struct running {
  float maximum;
  float sum;                 /* of exp(score - maximum) */
  float value[COLUMNS_MOST]; /* the sum of exp(score - maximum) * v */
} running;

/* The inputs widened to floats, in scratch: every row is read n times. */
typedef struct operands {
  const float *q, *k, *v;
  int64_t n, d;
} operands;

/* Row r of a view begins at r * stride, and its elements are adjacent. Behind them is a gap: not ours. */
static void widen(const assay_tensor *from, float *to) {
  for (int64_t r = 0; r < from->shape[0]; r++) {
    for (int64_t c = 0; c < from->shape[1]; c++) {
      *to++ = assay_load(from->data, from->dtype, r * from->stride[0] + c);
    }
  }
}

/* The row `query` meets keys first..first+count-1, all of which it sees. */
static void meet_tile(const operands *x, const float *query, int64_t first, int64_t count, running *row) {
  const float scale = 1.0f / sqrtf((float)x->d);
  float weight[KEYS_MOST];

  /* A comparison passes over NaN, but exp below does not: a NaN score makes the sum NaN, and so the row. */
  float maximum = row->maximum;
  for (int64_t j = 0; j < count; j++) {
    const float *key = x->k + (first + j) * x->d;
    float dot = 0.0f;
    for (int64_t c = 0; c < x->d; c++) dot += query[c] * key[c];
    weight[j] = dot * scale;
    if (weight[j] > maximum) maximum = weight[j];
  }
  /* While all scores are -inf, any finite number will do: their weights are to be 0, not exp(-inf + inf). */
  const float origin = maximum == -INFINITY ? 0.0f : maximum;

  float sum = 0.0f;
  for (int64_t j = 0; j < count; j++) {
    weight[j] = expf(weight[j] - origin);
    sum += weight[j];
  }

  /*
   * What was added up so far is relative to the old maximum. One factor moves both sums to the new one; it is
   * 1 where the maximum stays, and 0 for the first tile.
   */
  const float rescale = expf(row->maximum - origin);
  row->maximum = maximum;
  row->sum = row->sum * rescale + sum;
  for (int64_t c = 0; c < x->d; c++) row->value[c] *= rescale;

  float tile[COLUMNS_MOST] = {0};
  for (int64_t j = 0; j < count; j++) {
    const float *value = x->v + (first + j) * x->d;
    for (int64_t c = 0; c < x->d; c++) tile[c] += weight[j] * value[c];
  }
  for (int64_t c = 0; c < x->d; c++) row->value[c] += tile[c];
}

/* Rows first..last-1 of o. */
static void attend(const operands *x, const assay_tensor *o, int64_t first, int64_t last, bool causal,
                   int64_t block) {
  for (int64_t i = first; i < last; i++) {
    running row = {.maximum = -INFINITY};

    /* A causal row ends with its own key. Later tiles are never looked at, and the last one only in part. */
    const int64_t visible = causal ? i + 1 : x->n;
    for (int64_t key = 0; key < visible; key += block) {
      const int64_t left = visible - key;
      meet_tile(x, x->q + i * x->d, key, left < block ? left : block, &row);
    }

    /* The one division, and the one rounding to 16 bits. */
    for (int64_t c = 0; c < x->d; c++) assay_store(o->data, o->dtype, i * x->d + c, row.value[c] / row.sum);
  }
}

assay_status streaming_attention(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                 assay_queue *queue) {
  const assay_tensor *q = &in[ASSAY_STREAMING_ATTENTION_Q];
  const assay_tensor *o = &out[ASSAY_STREAMING_ATTENTION_O];
  const int64_t n = q->shape[0];
  const int64_t d = q->shape[1];
  const bool causal = opt[ASSAY_STREAMING_ATTENTION_CAUSAL] == 1;
  const int64_t block_n = opt[ASSAY_STREAMING_ATTENTION_BLOCK_N];
  const int64_t block = block_n == 0 ? KEYS_MOST : block_n;

  if (n == 0) return ASSAY_OK;
  float *scratch = assay_queue_scratch(queue, (size_t)(3 * n * d) * sizeof(float));
  if (scratch == NULL) return ASSAY_NO_MEMORY;
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) widen(&in[i], scratch + i * n * d);
  const operands x = {scratch, scratch + n * d, scratch + 2 * n * d, n, d};

  /* A row's result depends on that row alone, so the number of threads changes no bit. Strips of few rows,
   * dealt out in turn, share the work evenly although causal rows grow longer. */
  const int64_t strip = 16;
  const int64_t strips = (n + strip - 1) / strip;
#pragma omp parallel for num_threads(queue->threads) schedule(static, 1) if (n * n >= PARALLEL_SCORES)
  for (int64_t s = 0; s < strips; s++) {
    const int64_t last = (s + 1) * strip;
    attend(&x, o, s * strip, last < n ? last : n, causal, block);
  }
  return ASSAY_OK;
}
