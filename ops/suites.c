/* SPDX-License-Identifier: MIT */
/* suites.c - shapes that are timed on one backend only. They stand in files of their own: what is kept of
 * measurements on CPUs stays bound to the tables that it was measured with. */
#include "bench_table.h"
#include "ops/operators.h"
#include "ops.h"

extern const assay_bench_suite assay_softmax_rows_cuda;
extern const assay_bench_suite assay_vjp_rows_cuda;
extern const assay_bench_suite assay_gemm_rows_cuda;
extern const assay_bench_suite assay_split_softmax_rows_cuda;
extern const assay_bench_suite assay_attention_rows_cuda;

static const struct {
  const assay_operator *op;
  const assay_bench_suite *suite;
} suites[] = {
    {&assay_strided_softmax_op, &assay_softmax_rows_cuda},
    {&assay_softmax_backward_op, &assay_vjp_rows_cuda},
    {&assay_fused_gemm_op, &assay_gemm_rows_cuda},
    {&assay_split_softmax_op, &assay_split_softmax_rows_cuda},
    {&assay_streaming_attention_op, &assay_attention_rows_cuda},
};

const assay_bench_suite *assay_operator_suite(const assay_operator *op, assay_backend backend) {
  for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++) {
    if (suites[i].op == op && suites[i].suite->backend == backend) return suites[i].suite;
  }
  return NULL;
}
