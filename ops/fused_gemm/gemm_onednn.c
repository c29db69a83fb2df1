/* SPDX-License-Identifier: MIT */
/* gemm_onednn.c - oneDNN's matmul with bias and ReLU as a baseline of fused_gemm. */
#include "gemm.h"
#include "ops/onednn.h"
#include "tensor.h"

/* The bias as a matrix of one row, which is how oneDNN takes it. */
static assay_status run(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                        assay_queue *queue) {
  (void)opt;
  assay_tensor all[ASSAY_FUSED_GEMM_INPUTS];
  memcpy(all, in, sizeof all);
  assay_tensor *bias = &all[ASSAY_FUSED_GEMM_BIAS];
  const int64_t columns = bias->shape[0];
  *bias = assay_tensor_make(bias->data, bias->dtype, 2, (const int64_t[]){1, columns});
  return assay_onednn_run(ASSAY_ONEDNN_MATMUL_RELU, all, ASSAY_FUSED_GEMM_INPUTS, out, queue);
}

static const char *const sources[] = {"ops/fused_gemm/gemm_onednn.c", ASSAY_ONEDNN_SOURCES, NULL};

extern const assay_bench_baseline assay_gemm_onednn;

const assay_bench_baseline assay_gemm_onednn = {
    .name = "onednn_matmul_relu",
    .expression = "c = oneDNN's matmul primitive with bias and a ReLU behind it, one primitive",
    .rounding = "once, of c; products and sums are FP32; FP16 goes through FP32 copies, which are timed",
    .sources = sources,
    .prepare = assay_onednn_prepare,
    .entry = {run}};
