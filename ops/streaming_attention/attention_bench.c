/* SPDX-License-Identifier: MIT */
/* attention_bench.c - what is timed of streaming attention: causal heads, against stored scores. */
#include "attention.h"

#include "ops/bench_passes.h"
#include "fill.h"
#include "tensor.h"

/* Queries and keys of deviation 1: scores of about normal size, whatever d is. */
#define HEAD(n, d, types, causal)                                                                            \
  {                                                                                                          \
    {n, d}, types, 1u << ASSAY_ATTENTION_PACKED, assay_fill_normal, 0, 1,                                    \
        {[ASSAY_STREAMING_ATTENTION_CAUSAL] = (causal)}, 0, false                                            \
  }

static const assay_row rows[] = {
    HEAD(129, 32, ASSAY_HAS_FP16, 1),
    HEAD(512, 64, ASSAY_HAS_FP16, 1),
    HEAD(2048, 64, ASSAY_HAS_FP16, 1),
    HEAD(2048, 64, ASSAY_HAS_BF16, 0),
};

static void work(const assay_row *row, assay_dtype dtype, int layout, assay_bench_work *result) {
  (void)dtype, (void)layout;
  const double n = (double)row->dims[ASSAY_ATTENTION_N];
  const double d = (double)row->dims[ASSAY_ATTENTION_D];
  const double heads = row->dims[ASSAY_ATTENTION_HEADS] > 0 ? (double)row->dims[ASSAY_ATTENTION_HEADS] : 1;
  const double batch = row->dims[ASSAY_ATTENTION_BATCH] > 0 ? (double)row->dims[ASSAY_ATTENTION_BATCH] : 1;
  const double pairs = row->opt[ASSAY_STREAMING_ATTENTION_CAUSAL] != 0 ? n * (n + 1) / 2 : n * n;
  result->bytes = 4 * 2 * n * d * heads * batch;
  result->flops = pairs * (4 * d + 4) * heads * batch; /* two products, scale, maximum, exponential, sum */
}

/* Scores of row i with the keys that it sees, then their softmax. */
static void score_row(const float *q, const float *k, int64_t keys, int64_t d, float scale, float *score) {
  float m = -INFINITY;
  for (int64_t j = 0; j < keys; j++) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < d; c++) sum += q[c] * k[j * d + c];
    score[j] = sum * scale;
    if (score[j] > m || isnan(score[j])) m = score[j];
  }
  double total = 0;
  for (int64_t j = 0; j < keys; j++) {
    score[j] = expf(score[j] - m);
    total += score[j];
  }
  for (int64_t j = 0; j < keys; j++) score[j] = (float)(score[j] / total);
}

static void weigh_values(const float *score, const float *v, int64_t keys, int64_t d, float *o) {
  for (int64_t c = 0; c < d; c++) o[c] = 0;
  for (int64_t j = 0; j < keys; j++) {
    const float p = score[j];
#pragma omp simd
    for (int64_t c = 0; c < d; c++) o[c] += p * v[j * d + c];
  }
}

/* One head: all scores are stored before the first is used, as in the definition. */
static assay_status dense_head(const assay_tensor in[3], void *out, bool causal, assay_queue *queue) {
  const int64_t n = in[0].shape[0];
  const int64_t d = in[0].shape[1];
  const float scale = (float)(1 / sqrt((double)d));
  float *wide[4]; /* q, k, v, o */
  for (int i = 0; i < 4; i++) {
    wide[i] = assay_queue_scratch(queue, (size_t)(n * d) * sizeof(float));
    if (wide[i] == NULL) return ASSAY_NO_MEMORY;
    if (i < 3) assay_pass_widen(&in[i], wide[i], assay_pass_threads(queue, n * d));
  }
  float *score = assay_queue_scratch(queue, (size_t)(n * n) * sizeof *score);
  if (score == NULL) return ASSAY_NO_MEMORY;
#pragma omp parallel for num_threads(assay_pass_threads(queue, n *n)) schedule(dynamic, 8)
  for (int64_t i = 0; i < n; i++) {
    score_row(wide[0] + i * d, wide[1], causal ? i + 1 : n, d, scale, score + i * n);
  }
#pragma omp parallel for num_threads(assay_pass_threads(queue, n *n)) schedule(dynamic, 8)
  for (int64_t i = 0; i < n; i++) {
    weigh_values(score + i * n, wide[2], causal ? i + 1 : n, d, wide[3] + i * d);
  }
  assay_pass_round(wide[3], n * d, out, in[0].dtype, assay_pass_threads(queue, n * d));
  return ASSAY_OK;
}

static assay_status dense_attention(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                    assay_queue *queue) {
  const int rank = in[0].rank;
  const int64_t heads = rank == 4 ? in[0].shape[1] : 1;
  const int64_t count = rank == 4 ? in[0].shape[0] * heads : 1;
  const int64_t n = in[0].shape[rank - 2];
  const int64_t d = in[0].shape[rank - 1];
  assay_status status = ASSAY_OK;
  for (int64_t h = 0; h < count && status == ASSAY_OK; h++) {
    assay_tensor head[ASSAY_STREAMING_ATTENTION_INPUTS];
    for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
      const assay_tensor *x = &in[i];
      const int64_t first = rank == 4 ? h / heads * x->stride[0] + h % heads * x->stride[1] : 0;
      head[i] = assay_tensor_make((uint16_t *)x->data + first, x->dtype, 2, (int64_t[]){n, d});
      head[i].stride[0] = x->stride[rank - 2];
    }
    status = dense_head(head, (uint16_t *)out[0].data + h * n * d, opt[ASSAY_STREAMING_ATTENTION_CAUSAL] != 0,
                        queue);
  }
  return status;
}

static const assay_bench_baseline baselines[] = {
    {.name = "dense_attention",
     .expression = "S = float(q) float(k)' / sqrt(d), stored n x n; P = softmax(S); o = P float(v); plain C",
     .rounding = "once, of o; scores, weights and sums are FP32, each row's weights are summed in FP64",
     .entry = {dense_attention}},
};

const assay_bench_table assay_attention_bench = {
    .rows = rows,
    .row_count = (int)(sizeof rows / sizeof rows[0]),
    .work = work,
    .tolerance = "absolute: products, softmax and weighted sum composed, plus 2*u_in*sum(p*abs(v))/sum(p)",
    .knobs = 1u << ASSAY_STREAMING_ATTENTION_BLOCK_N,
    .batch_dims = 2,
    .baselines = baselines,
    .baseline_count = (int)(sizeof baselines / sizeof baselines[0]),
};
