/* SPDX-License-Identifier: MIT */
/* gemm_bench.c - what is timed of the fused GEMM: shapes, work, and products in FP32 with separate passes. */
#include "gemm.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "cpu.h"
#include "ops/bench_passes.h"

static const assay_row rows[] = {
    {{127, 65, 33}, ASSAY_HAS_FP16, 1u << ASSAY_GEMM_PACKED, assay_gemm_fill_normal, 0, 0, {0}, 0, false},
    {{512, 512, 512}, ASSAY_HAS_FP16, 1u << ASSAY_GEMM_PACKED, assay_gemm_fill_normal, 0, 0, {0}, 0, false},
    {{1024, 1024, 512}, ASSAY_HAS_BF16, 1u << ASSAY_GEMM_PACKED, assay_gemm_fill_normal, 0, 0, {0}, 0, false},
    {{1024, 1024, 2048},
     ASSAY_HAS_FP16,
     1u << ASSAY_GEMM_PADDED,
     assay_gemm_fill_normal,
     0,
     0,
     {0},
     0,
     false},
};

static void work(const assay_row *row, assay_dtype dtype, int layout, assay_bench_work *result) {
  (void)dtype, (void)layout; /* both types have 2 bytes */
  const double m = (double)row->dims[0];
  const double n = (double)row->dims[1];
  const double k = (double)row->dims[2];
  result->bytes = 2 * (m * k + k * n + n + m * n);
  result->flops = 2 * m * n * k;
}

/* Odd integers of eight bits times -1, 0 and 1: FP32 holds every sum, whatever its order; 16 bits do not. */
static void exact(const assay_fill_args *args, double *x) {
  int64_t count = 1;
  for (int i = 0; i < args->rank; i++) count *= args->shape[i];
  for (int64_t i = 0; i < count; i++) {
    const double odd = 2.0 * (double)assay_rng_below(args->rng, 128) + 1;
    const double sign = (double)assay_rng_below(args->rng, 3) - 1;
    x[i] = args->operand == ASSAY_FUSED_GEMM_B ? sign : sign < 0 ? -odd : odd;
  }
}

/* ---- the passes ---------------------------------------------------------------------------------------- */

/* C = A B for packed FP32 matrices. */
typedef void multiply(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c, int threads);

/* Widened copies, a product, bias and ReLU on FP32, one rounding at the end. */
static assay_status in_passes(multiply *product, const assay_tensor *in, const assay_tensor *out,
                              assay_queue *queue) {
  const int64_t m = out[0].shape[0];
  const int64_t n = out[0].shape[1];
  const int64_t k = in[ASSAY_FUSED_GEMM_A].shape[1];
  float *a = assay_queue_scratch(queue, (size_t)(m * k) * sizeof *a);
  float *b = assay_queue_scratch(queue, (size_t)(k * n) * sizeof *b);
  float *c = assay_queue_scratch(queue, (size_t)(m * n) * sizeof *c);
  if (a == NULL || b == NULL || c == NULL) return ASSAY_NO_MEMORY;
  const assay_tensor *bias = &in[ASSAY_FUSED_GEMM_BIAS];
  const int threads = assay_pass_threads(queue, m * n);
  assay_pass_widen(&in[ASSAY_FUSED_GEMM_A], a, assay_pass_threads(queue, m * k));
  assay_pass_widen(&in[ASSAY_FUSED_GEMM_B], b, assay_pass_threads(queue, k * n));
  product(m, n, k, a, b, c, m * n * k < 1 << 18 ? 1 : queue->threads);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      const float sum = c[i * n + j] + assay_load(bias->data, bias->dtype, j);
      c[i * n + j] = sum < 0 ? 0 : sum; /* NaN stays */
    }
  }
  assay_pass_round(c, m * n, out[0].data, out[0].dtype, threads);
  return ASSAY_OK;
}

/* Rows of C stay in the cache while rows of B stream by. */
static void multiply_plain(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c,
                           int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < m; i++) {
    float *row = c + i * n;
    for (int64_t j = 0; j < n; j++) row[j] = 0;
    for (int64_t p = 0; p < k; p++) {
      const float factor = a[i * k + p];
#pragma omp simd
      for (int64_t j = 0; j < n; j++) row[j] += factor * b[p * n + j];
    }
  }
}

static assay_status fp32_gemm_then_cast(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                        assay_queue *queue) {
  (void)opt;
  return in_passes(multiply_plain, in, out, queue);
}

/* ---- OpenBLAS, when this machine has it ---------------------------------------------------------------- */

/* As cblas.h declares it: enums are int, and so are sizes in the usual build. */
typedef void cblas_sgemm_function(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                                  const float *a, int lda, const float *b, int ldb, float beta, float *c,
                                  int ldc);
enum { CBLAS_ROW_MAJOR = 101, CBLAS_NO_TRANS = 111 };

static cblas_sgemm_function *openblas_sgemm;

/* A CPU newer than the library gets its oldest kernels (Prescott on a 2023 Xeon: twelve times slower), so it
 * is told what it may use, unless the environment does. */
static void choose_core(void) {
  const uint32_t features = assay_cpu_features();
  const char *core = (features & ASSAY_CPU_AVX512) != 0 ? "SKYLAKEX" : "HASWELL";
  if ((features & ASSAY_CPU_AVX2) != 0) (void)setenv("OPENBLAS_CORETYPE", core, 0);
}

static bool prepare_openblas(int threads, assay_message *why) {
  choose_core();
  void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  void *sgemm = library != NULL ? dlsym(library, "cblas_sgemm") : NULL;
  void *limit = library != NULL ? dlsym(library, "openblas_set_num_threads") : NULL;
  if (sgemm == NULL || limit == NULL) {
    (void)assay_explain(why, ASSAY_UNAVAILABLE,
                        "libopenblas.so.0 is not here: install OpenBLAS (libopenblas0 on Debian and Ubuntu)");
    return false;
  }
  void (*set_threads)(int);
  memcpy(&set_threads, &limit, sizeof limit); /* POSIX's way around object and function pointers */
  memcpy(&openblas_sgemm, &sgemm, sizeof sgemm);
  set_threads(threads);
  return true;
}

static void multiply_openblas(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c,
                              int threads) {
  (void)threads; /* set once, when the library was loaded */
  openblas_sgemm(CBLAS_ROW_MAJOR, CBLAS_NO_TRANS, CBLAS_NO_TRANS, (int)m, (int)n, (int)k, 1.0f, a, (int)k, b,
                 (int)n, 0.0f, c, (int)n);
}

static assay_status openblas_sgemm_then_cast(const assay_tensor *in, const assay_tensor *out,
                                             const int64_t *opt, assay_queue *queue) {
  (void)opt;
  if (out[0].shape[0] > INT32_MAX || out[0].shape[1] > INT32_MAX || in[0].shape[1] > INT32_MAX) {
    return ASSAY_UNAVAILABLE;
  }
  return in_passes(multiply_openblas, in, out, queue);
}

static const assay_bench_baseline baselines[] = {
    {.name = "fp32_gemm_then_cast",
     .expression =
         "A = float(a); B = float(b); C = A B; C = C + bias; C = relu(C); c = C: whole-matrix passes "
         "in plain C",
     .rounding = "once, of c; products and sums are FP32",
     .entry = {fp32_gemm_then_cast}},
    {.name = "openblas_sgemm_then_cast",
     .expression = "A = float(a); B = float(b); C = cblas_sgemm(A, B); C = relu(C + bias); c = C",
     .rounding = "once, of c; products and sums are FP32",
     .prepare = prepare_openblas,
     .entry = {openblas_sgemm_then_cast}},
};

const assay_bench_table assay_gemm_bench = {
    .rows = rows,
    .row_count = (int)(sizeof rows / sizeof rows[0]),
    .work = work,
    .tolerance = "absolute: (steps + 2)*u*(sum(abs(a*b)) + abs(bias)) + u_out*abs(out)",
    .knobs = 1u << ASSAY_FUSED_GEMM_GROUP | 1u << ASSAY_FUSED_GEMM_TILE_M,
    .exact = exact,
    .baselines = baselines,
    .baseline_count = (int)(sizeof baselines / sizeof baselines[0]),
};
