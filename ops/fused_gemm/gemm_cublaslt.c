/* SPDX-License-Identifier: MIT */
/*
 * gemm_cublaslt.c - baselines of the fused GEMM on CUDA: cublasLt's own fused product, and the expression in
 * FP32 as separate passes with cublasLt's FP32 product between them.
 *
 * The library is looked for when a baseline is prepared, and the little of its interface that is needed is
 * declared here: no header of it is needed to build. The first call with a shape asks it for algorithms,
 * times each and keeps the fastest. That cannot be captured in a graph; a later call can.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_table.h"
#include "cuda_queue.h"
#include "cuda_tools.h"
#include "nvrtc.h"
#include "ops/ops.h"

/* ---- the library --------------------------------------------------------------------------------------- */

typedef int lt_status; /* 0 is success */
typedef struct lt_object *lt_handle;

typedef struct lt_algorithm {
  uint64_t words[8];
} lt_algorithm;

typedef struct lt_result {
  lt_algorithm algorithm;
  size_t workspace_bytes;
  lt_status status;
  float waves;
  int reserved[4];
} lt_result;

enum { LT_FP32 = 0, LT_FP16 = 2, LT_BF16 = 14, LT_COMPUTE_FP32 = 68 };
enum { LT_EPILOGUE = 7, LT_BIAS_POINTER = 8, LT_BIAS_TYPE = 26 }; /* of a product */
enum { LT_EPILOGUE_NONE = 1, LT_EPILOGUE_RELU_BIAS = 6 };
enum { LT_WORKSPACE_BYTES = 1, LT_REDUCTIONS = 3 }; /* of a preference */
enum { LT_REDUCTIONS_FP32 = 2 };                    /* partial sums are kept in the compute type */

#define LT_FUNCTIONS(X)                                                                                      \
  X(create, "cublasLtCreate", (lt_handle * handle))                                                          \
  X(product_create, "cublasLtMatmulDescCreate", (lt_handle * product, int compute, int scale_type))          \
  X(product_set, "cublasLtMatmulDescSetAttribute",                                                           \
    (lt_handle product, int attribute, const void *value, size_t bytes))                                     \
  X(product_destroy, "cublasLtMatmulDescDestroy", (lt_handle product))                                       \
  X(layout_create, "cublasLtMatrixLayoutCreate",                                                             \
    (lt_handle * layout, int type, uint64_t rows, uint64_t columns, int64_t stride))                         \
  X(layout_destroy, "cublasLtMatrixLayoutDestroy", (lt_handle layout))                                       \
  X(preference_create, "cublasLtMatmulPreferenceCreate", (lt_handle * preference))                           \
  X(preference_set, "cublasLtMatmulPreferenceSetAttribute",                                                  \
    (lt_handle preference, int attribute, const void *value, size_t bytes))                                  \
  X(preference_destroy, "cublasLtMatmulPreferenceDestroy", (lt_handle preference))                           \
  X(suggest, "cublasLtMatmulAlgoGetHeuristic",                                                               \
    (lt_handle handle, lt_handle product, lt_handle a, lt_handle b, lt_handle c, lt_handle d,                \
     lt_handle preference, int most, lt_result *results, int *count))                                        \
  X(multiply, "cublasLtMatmul",                                                                              \
    (lt_handle handle, lt_handle product, const void *alpha, const void *a, lt_handle a_layout,              \
     const void *b, lt_handle b_layout, const void *beta, const void *c, lt_handle c_layout, void *d,        \
     lt_handle d_layout, const lt_algorithm *algorithm, void *workspace, size_t workspace_bytes,             \
     cuda_stream stream))

enum { WORKSPACE_BYTES = 32 << 20, SUGGESTIONS = 16, TIMED_CALLS = 5 };

/* A product in one type on one set of strides, as cublasLt wants it described. */
typedef struct lt_plan {
  struct lt_plan *next;
  assay_dtype dtype;
  int64_t m, n, k, a_stride, b_stride;
  lt_handle product, a, b, c;
  lt_algorithm algorithm;
} lt_plan;

/* What a process has of the library. A worker measures one call at a time, so nothing here is locked. */
static struct {
#define LT_FIELD(field, symbol, parameters) lt_status(*field) parameters;
  LT_FUNCTIONS(LT_FIELD)
#undef LT_FIELD
  bool found;
  lt_handle handle;
  void *workspace;
  void *copies; /* of operands, in FP32 */
  size_t copies_bytes;
  lt_plan *plans;
} lt;

/* By name, then beside each NVRTC: a toolkit or a set of Python packages has both. */
static void *open_library(void) {
  static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"};
  static const char *const folders[] = {"", "../../cublas/lib/"};
  assay_nvrtc_place places[ASSAY_NVRTC_MOST];
  const int count = assay_nvrtc_places(places);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library != NULL) return library;
    for (int p = 0; p < count * 2; p++) {
      char path[ASSAY_PATH_SIZE];
      const char *beside = places[p / 2].path;
      const char *end = strrchr(beside, '/');
      if (end == NULL ||
          !assay_path_format(path, "%.*s/%s%s", (int)(end - beside), beside, folders[p % 2], names[i]))
        continue;
      library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
      if (library != NULL) return library;
    }
  }
  return NULL;
}

static bool prepare(int threads, assay_message *why) {
  (void)threads; /* of the CPU */
  if (lt.found) return true;
  void *library = open_library();
  bool complete = library != NULL;
  void *symbol;
#define LT_LOOK_UP(field, name, parameters)                                                                  \
  symbol = complete ? dlsym(library, name) : NULL;                                                           \
  complete = symbol != NULL;                                                                                 \
  memcpy(&lt.field, &symbol, sizeof symbol); /* POSIX's way around object and function pointers */
  LT_FUNCTIONS(LT_LOOK_UP)
#undef LT_LOOK_UP
  lt.found = complete;
  if (!complete)
    (void)assay_explain(
        why, ASSAY_UNAVAILABLE,
        "libcublasLt.so.13, .12 or .11 was not found: it is part of the CUDA toolkit and of the "
        "Python package nvidia-cublas");
  return complete;
}

/* ---- products ------------------------------------------------------------------------------------------ */

static assay_status failed(const char *what, lt_status status) {
  char text[120];
  snprintf(text, sizeof text, "%s of cublasLt failed with status %d", what, status);
  assay_set_last_error(text);
  return ASSAY_UNAVAILABLE;
}

static lt_status call(const lt_plan *plan, const lt_algorithm *algorithm, const void *a, const void *b,
                      void *c, const cuda_queue *cuda) {
  static const float one = 1, zero = 0;
  return lt.multiply(lt.handle, plan->product, &one, b, plan->b, a, plan->a, &zero, c, plan->c, c, plan->c,
                     algorithm, lt.workspace, WORKSPACE_BYTES, cuda->stream);
}

/* Its matrices are stored by columns: there C is the transpose n x m, and the product B^T A^T. */
static lt_status describe(lt_plan *plan) {
  const int type = plan->dtype == ASSAY_FP32 ? LT_FP32 : plan->dtype == ASSAY_FP16 ? LT_FP16 : LT_BF16;
  const int epilogue = plan->dtype == ASSAY_FP32 ? LT_EPILOGUE_NONE : LT_EPILOGUE_RELU_BIAS;
  const uint64_t m = (uint64_t)plan->m, n = (uint64_t)plan->n, k = (uint64_t)plan->k;
  lt_status status = lt.product_create(&plan->product, LT_COMPUTE_FP32, LT_FP32);
  if (status == 0) status = lt.product_set(plan->product, LT_EPILOGUE, &epilogue, sizeof epilogue);
  if (status == 0 && epilogue == LT_EPILOGUE_RELU_BIAS)
    status = lt.product_set(plan->product, LT_BIAS_TYPE, &type, sizeof type);
  if (status == 0) status = lt.layout_create(&plan->b, type, n, k, plan->b_stride);
  if (status == 0) status = lt.layout_create(&plan->a, type, k, m, plan->a_stride);
  if (status == 0) status = lt.layout_create(&plan->c, type, n, m, plan->n);
  return status;
}

static void forget(lt_plan *plan) {
  if (plan->product != NULL) (void)lt.product_destroy(plan->product);
  const lt_handle layouts[] = {plan->a, plan->b, plan->c};
  for (int i = 0; i < 3; i++) {
    if (layouts[i] != NULL) (void)lt.layout_destroy(layouts[i]);
  }
  free(plan);
}

/* Milliseconds of some calls; a negative number where the algorithm does not run. */
static double time_algorithm(const lt_plan *plan, const lt_algorithm *algorithm, const void *a, const void *b,
                             void *c, assay_queue *queue, const cuda_event *events) {
  const cuda_queue *cuda = assay_cuda_queue_of(queue);
  double milliseconds = -1;
  assay_message why;
  bool runs = call(plan, algorithm, a, b, c, cuda) == 0;
  runs = runs && assay_cuda_event_record(queue, events[0], &why) == ASSAY_OK;
  for (int i = 0; i < TIMED_CALLS && runs; i++) runs = call(plan, algorithm, a, b, c, cuda) == 0;
  runs = runs && assay_cuda_event_record(queue, events[1], &why) == ASSAY_OK;
  runs = runs && assay_cuda_event_elapsed(queue, events[0], events[1], &milliseconds, &why) == ASSAY_OK;
  return runs ? milliseconds : -1;
}

static lt_status suggest(const lt_plan *plan, lt_result *results, int *count) {
  lt_handle preference = NULL;
  const size_t bytes = WORKSPACE_BYTES;
  const uint32_t reductions = LT_REDUCTIONS_FP32;
  lt_status status = lt.preference_create(&preference);
  if (status == 0) status = lt.preference_set(preference, LT_WORKSPACE_BYTES, &bytes, sizeof bytes);
  if (status == 0) status = lt.preference_set(preference, LT_REDUCTIONS, &reductions, sizeof reductions);
  if (status == 0)
    status = lt.suggest(lt.handle, plan->product, plan->b, plan->a, plan->c, plan->c, preference, SUGGESTIONS,
                        results, count);
  if (preference != NULL) (void)lt.preference_destroy(preference);
  return status;
}

static assay_status choose(lt_plan *plan, const void *a, const void *b, void *c, assay_queue *queue) {
  lt_result results[SUGGESTIONS];
  cuda_event events[2] = {NULL, NULL};
  double least = -1;
  int count = 0;
  assay_message why;
  const lt_status status = suggest(plan, results, &count);
  if (status != 0 || count == 0) return failed("asking for algorithms", status);
  bool ready = true;
  for (int i = 0; i < 2; i++) ready = ready && assay_cuda_event_open(queue, &events[i], &why) == ASSAY_OK;
  for (int i = 0; i < count && ready; i++) {
    const double time = time_algorithm(plan, &results[i].algorithm, a, b, c, queue, events);
    if (time < 0 || (least >= 0 && time >= least)) continue;
    least = time;
    plan->algorithm = results[i].algorithm;
  }
  for (int i = 0; i < 2; i++) {
    if (events[i] != NULL) assay_cuda_event_close(queue, events[i]);
  }
  return least >= 0 ? ASSAY_OK : failed("running any algorithm", 0);
}

static assay_status find_plan(const lt_plan *wanted, const void *a, const void *b, const void *bias, void *c,
                              assay_queue *queue, lt_plan **found) {
  for (lt_plan *plan = lt.plans; plan != NULL; plan = plan->next) {
    *found = plan;
    if (plan->dtype == wanted->dtype && plan->m == wanted->m && plan->n == wanted->n &&
        plan->k == wanted->k && plan->a_stride == wanted->a_stride && plan->b_stride == wanted->b_stride)
      return ASSAY_OK;
  }
  assay_message why;
  if (lt.workspace == NULL && assay_cuda_memory_open(queue, WORKSPACE_BYTES, &lt.workspace, &why) != ASSAY_OK)
    return ASSAY_NO_MEMORY;
  lt_status status = lt.handle == NULL ? lt.create(&lt.handle) : 0;
  if (status != 0) return failed("starting", status);
  lt_plan *plan = calloc(1, sizeof *plan);
  if (plan == NULL) return ASSAY_NO_MEMORY;
  *plan = *wanted;
  status = describe(plan);
  if (status == 0 && bias != NULL)
    status = lt.product_set(plan->product, LT_BIAS_POINTER, &bias, sizeof bias);
  const assay_status result =
      status == 0 ? choose(plan, a, b, c, queue) : failed("describing a product", status);
  if (result != ASSAY_OK) {
    forget(plan);
    return result;
  }
  plan->next = lt.plans;
  *found = lt.plans = plan;
  return ASSAY_OK;
}

static assay_status multiply(const lt_plan *wanted, const void *a, const void *b, const void *bias, void *c,
                             assay_queue *queue) {
  const cuda_queue *cuda = assay_cuda_queue_of(queue);
  lt_plan *plan = NULL;
  const assay_status status = find_plan(wanted, a, b, bias, c, queue, &plan);
  if (status != ASSAY_OK) return status;
  lt_status done = bias == NULL ? 0 : lt.product_set(plan->product, LT_BIAS_POINTER, &bias, sizeof bias);
  if (done == 0) done = call(plan, &plan->algorithm, a, b, c, cuda);
  return done == 0 ? ASSAY_OK : failed("a product", done);
}

/* ---- baselines ----------------------------------------------------------------------------------------- */

static lt_plan plan_of(const assay_tensor *in) {
  const assay_tensor *a = &in[ASSAY_FUSED_GEMM_A];
  const assay_tensor *b = &in[ASSAY_FUSED_GEMM_B];
  return (lt_plan){.dtype = a->dtype,
                   .m = a->shape[0],
                   .n = b->shape[1],
                   .k = a->shape[1],
                   .a_stride = a->stride[0],
                   .b_stride = b->stride[0]};
}

static assay_status relu_bias(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                              assay_queue *queue) {
  (void)opt;
  const lt_plan plan = plan_of(in);
  cuda_visit visit;
  if (plan.m == 0 || plan.n == 0) return ASSAY_OK;
  if (plan.k == 0 || plan.a_stride < plan.k || plan.b_stride < plan.n) return ASSAY_UNAVAILABLE;
  /* There its fastest algorithm fails exact integers, as if the sum were rounded twice (seen on an H200). */
  if (plan.k >= 1024 && (plan.a_stride % 8 != 0 || plan.b_stride % 8 != 0)) return ASSAY_UNAVAILABLE;
  if (assay_cuda_enter(assay_cuda_queue_of(queue), &visit) != CUDA_OK) return ASSAY_UNAVAILABLE;
  const assay_status status = multiply(&plan, in[ASSAY_FUSED_GEMM_A].data, in[ASSAY_FUSED_GEMM_B].data,
                                       in[ASSAY_FUSED_GEMM_BIAS].data, out[0].data, queue);
  assay_cuda_leave(&visit);
  return status;
}

/* Frameworks keep freed memory for the next call, so these copies are kept as well. */
static assay_status reserve(size_t bytes, assay_queue *queue) {
  assay_message why;
  if (bytes <= lt.copies_bytes) return ASSAY_OK;
  assay_cuda_memory_close(queue, lt.copies);
  lt.copies = NULL;
  lt.copies_bytes = 0;
  const assay_status status = assay_cuda_memory_open(queue, bytes, &lt.copies, &why);
  if (status == ASSAY_OK) lt.copies_bytes = bytes;
  return status;
}

/* gemm_passes.cu */
assay_status assay_gemm_pass(const char *kernel, const void *from, int64_t stride, void *to, int64_t rows,
                             int64_t columns, assay_dtype dtype, assay_queue *queue);

static assay_status in_passes(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                              assay_queue *queue) {
  (void)opt;
  const lt_plan given = plan_of(in);
  const int64_t m = given.m, n = given.n, k = given.k;
  const lt_plan plan = {.dtype = ASSAY_FP32, .m = m, .n = n, .k = k, .a_stride = k, .b_stride = n};
  const assay_dtype dtype = given.dtype;
  cuda_visit visit;
  if (m == 0 || n == 0) return ASSAY_OK;
  if (k == 0) return ASSAY_UNAVAILABLE;
  if (assay_cuda_enter(assay_cuda_queue_of(queue), &visit) != CUDA_OK) return ASSAY_UNAVAILABLE;
  const int64_t sizes[] = {m * k, k * n, m * n, n};
  float *copies[4] = {NULL};
  size_t bytes = 0;
  for (int i = 0; i < 4; i++) bytes += ((size_t)sizes[i] * sizeof(float) + 255) / 256 * 256;
  assay_status status = reserve(bytes, queue);
  bytes = 0;
  for (int i = 0; i < 4 && status == ASSAY_OK; i++) {
    copies[i] = (float *)((char *)lt.copies + bytes);
    bytes += ((size_t)sizes[i] * sizeof(float) + 255) / 256 * 256;
  }
  float *const a = copies[0], *const b = copies[1], *const c = copies[2], *const bias = copies[3];
  if (status == ASSAY_OK)
    status =
        assay_gemm_pass("pass_widen", in[ASSAY_FUSED_GEMM_A].data, given.a_stride, a, m, k, dtype, queue);
  if (status == ASSAY_OK)
    status =
        assay_gemm_pass("pass_widen", in[ASSAY_FUSED_GEMM_B].data, given.b_stride, b, k, n, dtype, queue);
  if (status == ASSAY_OK) status = multiply(&plan, a, b, NULL, c, queue);
  if (status == ASSAY_OK)
    status = assay_gemm_pass("pass_widen", in[ASSAY_FUSED_GEMM_BIAS].data, 0, bias, 1, n, dtype, queue);
  if (status == ASSAY_OK) status = assay_gemm_pass("pass_add", bias, 0, c, m, n, ASSAY_FP16, queue);
  if (status == ASSAY_OK) status = assay_gemm_pass("pass_relu", c, n, c, m, n, ASSAY_FP16, queue);
  if (status == ASSAY_OK) status = assay_gemm_pass("pass_round", c, n, out[0].data, m, n, dtype, queue);
  assay_cuda_leave(&visit);
  return status;
}

static const char *const sources[] = {"ops/fused_gemm/gemm_cublaslt.c", "ops/fused_gemm/gemm_passes.cu",
                                      NULL};

extern const assay_bench_baseline assay_gemm_cublaslt;
extern const assay_bench_baseline assay_gemm_cublaslt_passes;

const assay_bench_baseline assay_gemm_cublaslt = {
    .name = "cublaslt_relu_bias",
    .expression =
        "c = cublasLtMatmul(a, b) with the epilogue RELU_BIAS, FP32 compute type: the fastest of up "
        "to 16 algorithms that its heuristic names, 32 MiB of workspace",
    .rounding = "once, of c; products and sums are FP32, partial sums as well",
    .backend = ASSAY_CUDA,
    .sources = sources,
    .prepare = prepare,
    .entry = {relu_bias}};

const assay_bench_baseline assay_gemm_cublaslt_passes = {
    .name = "fp32_gemm_then_cast",
    .expression =
        "A = float(a); B = float(b); C = cublasLtMatmul(A, B) in FP32; d = float(bias); C = C + d; "
        "C = relu(C); c = C: seven launches over whole matrices, as a framework runs the expression",
    .rounding = "once, of c; products and sums are FP32",
    .backend = ASSAY_CUDA,
    .sources = sources,
    .prepare = prepare,
    .entry = {in_passes}};
