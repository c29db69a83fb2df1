/* SPDX-License-Identifier: MIT */
/* baselines.c - an operator's own baselines, then those that stand in files of their own: of libraries, some
 * of them in builds that find the headers, and of a GPU alone. */
#include "ops.h"

#include "bench_table.h"
#include "ops/operators.h"

extern const assay_bench_baseline assay_attention_eager;
extern const assay_bench_baseline assay_gemm_cublaslt;
extern const assay_bench_baseline assay_gemm_cublaslt_passes;
extern const assay_bench_baseline assay_softmax_copied;
extern const assay_bench_baseline assay_softmax_eager;
extern const assay_bench_baseline assay_split_softmax_allocating;
extern const assay_bench_baseline assay_split_softmax_eager;
extern const assay_bench_baseline assay_vjp_eager;
#if defined(ASSAY_ONEDNN)
extern const assay_bench_baseline assay_softmax_onednn;
extern const assay_bench_baseline assay_vjp_onednn;
extern const assay_bench_baseline assay_gemm_onednn;
extern const assay_bench_baseline assay_split_softmax_onednn;
#endif

static const struct {
  const assay_operator *op; /* NULL ends the table */
  const assay_bench_baseline *baseline;
} optional[] = {
    {&assay_strided_softmax_op, &assay_softmax_eager},
    {&assay_strided_softmax_op, &assay_softmax_copied},
    {&assay_softmax_backward_op, &assay_vjp_eager},
    {&assay_split_softmax_op, &assay_split_softmax_eager},
    {&assay_fused_gemm_op, &assay_gemm_cublaslt_passes},
    {&assay_fused_gemm_op, &assay_gemm_cublaslt},
#if defined(ASSAY_ONEDNN)
    {&assay_strided_softmax_op, &assay_softmax_onednn},
    {&assay_softmax_backward_op, &assay_vjp_onednn},
    {&assay_fused_gemm_op, &assay_gemm_onednn},
    {&assay_split_softmax_op, &assay_split_softmax_onednn},
#endif
    {&assay_split_softmax_op, &assay_split_softmax_allocating},
    {&assay_streaming_attention_op, &assay_attention_eager},
    {NULL, NULL},
};

const assay_bench_baseline *assay_operator_baseline(const assay_operator *op, int index) {
  if (op->bench == NULL || index < 0) return NULL;
  if (index < op->bench->baseline_count) return &op->bench->baselines[index];
  int left = index - op->bench->baseline_count;
  for (int i = 0; optional[i].op != NULL; i++) {
    if (optional[i].op == op && left-- == 0) return optional[i].baseline;
  }
  return NULL;
}
