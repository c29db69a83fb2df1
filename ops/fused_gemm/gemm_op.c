/* SPDX-License-Identifier: MIT */
/* gemm_op.c - the descriptor of the fused GEMM: validation, layouts of cases, variants, the typed call. */
#include "gemm.h"

#include "cpu.h"
#include "tensor.h"

/* ---- validation ---------------------------------------------------------------------------------------- */

/* The operands of a call under their names. */
typedef struct gemm_operands {
  const assay_tensor *a;
  const assay_tensor *b;
  const assay_tensor *bias;
  const assay_tensor *c;
} gemm_operands;

static assay_status validate_dtypes(const gemm_operands *x, assay_message *why) {
  if (x->a->dtype != ASSAY_FP16 && x->a->dtype != ASSAY_BF16) {
    return assay_explain(why, ASSAY_BAD_DTYPE, "a is %s; it must be fp16 or bf16",
                         assay_dtype_name(x->a->dtype));
  }
  const assay_tensor *const others[] = {x->b, x->bias, x->c};
  const char *const names[] = {"b", "bias", "c"};
  for (int i = 0; i < 3; i++) {
    if (others[i]->dtype != x->a->dtype) {
      return assay_explain(why, ASSAY_BAD_DTYPE, "%s is %s and a is %s; all operands must be of one type",
                           names[i], assay_dtype_name(others[i]->dtype), assay_dtype_name(x->a->dtype));
    }
  }
  return ASSAY_OK;
}

static assay_status validate_rank(const assay_tensor *tensor, const char *name, int rank,
                                  assay_message *why) {
  if (tensor->rank != rank) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "%s has rank %d; it must be %d", name, (int)tensor->rank,
                         rank);
  }
  for (int i = 0; i < rank; i++) {
    if (tensor->shape[i] < 0) {
      return assay_explain(why, ASSAY_BAD_SHAPE, "size %d of %s is %lld; it must be 0 or more", i, name,
                           (long long)tensor->shape[i]);
    }
  }
  return ASSAY_OK;
}

static assay_status validate_shapes(const gemm_operands *x, assay_message *why) {
  assay_status status = validate_rank(x->a, "a", 2, why);
  if (status == ASSAY_OK) status = validate_rank(x->b, "b", 2, why);
  if (status == ASSAY_OK) status = validate_rank(x->bias, "bias", 1, why);
  if (status == ASSAY_OK) status = validate_rank(x->c, "c", 2, why);
  if (status != ASSAY_OK) return status;
  if (x->b->shape[0] != x->a->shape[1]) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "a has %lld columns and b has %lld rows; they must be as many",
                         (long long)x->a->shape[1], (long long)x->b->shape[0]);
  }
  if (x->bias->shape[0] != x->b->shape[1]) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "bias has %lld elements; b has %lld columns and needs as many",
                         (long long)x->bias->shape[0], (long long)x->b->shape[1]);
  }
  if (x->c->shape[0] != x->a->shape[0] || x->c->shape[1] != x->b->shape[1]) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "c is %lld x %lld; it must be %lld x %lld",
                         (long long)x->c->shape[0], (long long)x->c->shape[1], (long long)x->a->shape[0],
                         (long long)x->b->shape[1]);
  }
  return ASSAY_OK;
}

static assay_status validate_matrix_strides(const assay_tensor *tensor, const char *name,
                                            assay_message *why) {
  if (tensor->stride[0] < 0) {
    return assay_explain(why, ASSAY_BAD_STRIDE, "the row stride of %s is %lld; it must be 0 or more", name,
                         (long long)tensor->stride[0]);
  }
  if (tensor->stride[1] < 0 || (tensor->shape[1] > 1 && tensor->stride[1] != 1)) {
    return assay_explain(why, ASSAY_BAD_STRIDE, "the column stride of %s is %lld; it must be 1", name,
                         (long long)tensor->stride[1]);
  }
  return ASSAY_OK;
}

static assay_status validate_span(const assay_tensor *tensor, const char *name, assay_message *why) {
  int64_t extent = 0;
  if (assay_tensor_extent(tensor, &extent)) return ASSAY_OK;
  return assay_explain(why, ASSAY_BAD_STRIDE, "%s spans more than the address space", name);
}

static assay_status validate_strides(const gemm_operands *x, assay_message *why) {
  assay_status status = validate_matrix_strides(x->a, "a", why);
  if (status == ASSAY_OK) status = validate_matrix_strides(x->b, "b", why);
  if (status == ASSAY_OK) status = validate_span(x->a, "a", why);
  if (status == ASSAY_OK) status = validate_span(x->b, "b", why);
  if (status == ASSAY_OK) status = validate_span(x->c, "c", why);
  if (status != ASSAY_OK) return status;
  if (!assay_tensor_contiguous(x->bias)) {
    return assay_explain(why, ASSAY_BAD_STRIDE, "the stride of bias is %lld; it must be contiguous: 1",
                         (long long)x->bias->stride[0]);
  }
  if (!assay_tensor_contiguous(x->c)) {
    return assay_explain(why, ASSAY_BAD_STRIDE,
                         "c has strides %lld and %lld; it must be contiguous: %lld and 1",
                         (long long)x->c->stride[0], (long long)x->c->stride[1], (long long)x->c->shape[1]);
  }
  return validate_span(x->bias, "bias", why);
}

static bool is_empty(const assay_tensor *tensor) {
  for (int i = 0; i < tensor->rank; i++) {
    if (tensor->shape[i] == 0) return true;
  }
  return false;
}

static assay_status validate_pointer(const assay_tensor *tensor, const char *name, assay_message *why) {
  if (tensor->data == NULL) {
    return assay_explain(why, ASSAY_BAD_POINTER, "%s is NULL; it must point to its first element", name);
  }
  if ((uintptr_t)tensor->data % assay_dtype_size(tensor->dtype) != 0) {
    return assay_explain(why, ASSAY_BAD_POINTER, "%s is not aligned to its elements of %zu bytes", name,
                         assay_dtype_size(tensor->dtype));
  }
  return ASSAY_OK;
}

static assay_status validate_memory(const gemm_operands *x, assay_message *why) {
  if (is_empty(x->c)) return ASSAY_OK; /* nothing is read or written: any pointer will do */
  assay_status status = validate_pointer(x->c, "c", why);
  if (status != ASSAY_OK) return status;
  const assay_span written = assay_tensor_span(x->c);
  const assay_tensor *const inputs[] = {x->a, x->b, x->bias};
  const char *const names[] = {"a", "b", "bias"};
  for (int i = 0; i < 3; i++) {
    if (is_empty(inputs[i])) continue; /* with k = 0 neither a nor b is read */
    status = validate_pointer(inputs[i], names[i], why);
    if (status != ASSAY_OK) return status;
    const assay_span read = assay_tensor_span(inputs[i]);
    if (read.lo < written.hi && written.lo < read.hi) {
      return assay_explain(why, ASSAY_BAD_ALIAS, "c overlaps %s in memory; the output must be separate",
                           names[i]);
    }
  }
  return ASSAY_OK;
}

static assay_status validate_options(const int64_t *opt, assay_message *why) {
  const int64_t group = opt != NULL ? opt[ASSAY_FUSED_GEMM_GROUP] : 0;
  const int64_t tile_m = opt != NULL ? opt[ASSAY_FUSED_GEMM_TILE_M] : 0;
  if (group != 0 && group != 1 && group != 4 && group != 8) {
    return assay_explain(why, ASSAY_BAD_OPTION, "group is %lld; it must be 1, 4 or 8, or 0 for the default",
                         (long long)group);
  }
  if (tile_m != 0 && tile_m != 16 && tile_m != 32 && tile_m != 64) {
    return assay_explain(why, ASSAY_BAD_OPTION,
                         "tile_m is %lld; it must be 16, 32 or 64, or 0 for the default", (long long)tile_m);
  }
  return ASSAY_OK;
}

static assay_status validate(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_limits limits, assay_message *why) {
  (void)entry, (void)limits; /* there is one entry, and the workshop takes all sizes */
  const gemm_operands operands = {.a = &in[ASSAY_FUSED_GEMM_A],
                                  .b = &in[ASSAY_FUSED_GEMM_B],
                                  .bias = &in[ASSAY_FUSED_GEMM_BIAS],
                                  .c = &out[ASSAY_FUSED_GEMM_C]};
  assay_status status = validate_options(opt, why);
  if (status == ASSAY_OK) status = validate_dtypes(&operands, why);
  if (status == ASSAY_OK) status = validate_shapes(&operands, why);
  if (status == ASSAY_OK) status = validate_strides(&operands, why);
  if (status == ASSAY_OK) status = validate_memory(&operands, why);
  return status;
}

static assay_tensor shape_out(int entry, const assay_tensor *in) {
  (void)entry; /* there is one */
  const int64_t shape[2] = {in[ASSAY_FUSED_GEMM_A].shape[0], in[ASSAY_FUSED_GEMM_B].shape[1]};
  return assay_tensor_make(NULL, in[ASSAY_FUSED_GEMM_A].dtype, 2, shape);
}

/* ---- cases --------------------------------------------------------------------------------------------- */

const char *const assay_gemm_layout_names[] = {"packed",     "padded_a",   "padded_b",           "padded",
                                               "repeated_a", "repeated_b", "overlapping_windows"};

static void plan(const assay_row *row, assay_dtype dtype, int layout, assay_plan *result) {
  const int64_t m = row->dims[0];
  const int64_t n = row->dims[1];
  const int64_t k = row->dims[2];
  const int64_t steps[ASSAY_GEMM_LAYOUTS][2] = {
      [ASSAY_GEMM_PACKED] = {k, n},       [ASSAY_GEMM_PADDED_A] = {k + 7, n},
      [ASSAY_GEMM_PADDED_B] = {k, n + 5}, [ASSAY_GEMM_PADDED] = {2 * k + 3, n + 11},
      [ASSAY_GEMM_REPEATED_A] = {0, n},   [ASSAY_GEMM_REPEATED_B] = {k, 0},
      [ASSAY_GEMM_WINDOWS] = {1, 1},
  };
  const assay_operand_plan blank = {.dtype = dtype, .rank = 2, .shift = row->shift};
  for (int i = 0; i < ASSAY_FUSED_GEMM_INPUTS; i++) result->in[i] = blank;
  result->out[0] = blank;
  assay_operand_plan *a = &result->in[ASSAY_FUSED_GEMM_A];
  assay_operand_plan *b = &result->in[ASSAY_FUSED_GEMM_B];
  assay_operand_plan *bias = &result->in[ASSAY_FUSED_GEMM_BIAS];
  assay_operand_plan *c = &result->out[ASSAY_FUSED_GEMM_C];
  a->shape[0] = c->shape[0] = m;
  a->shape[1] = b->shape[0] = k;
  b->shape[1] = c->shape[1] = c->stride[0] = bias->shape[0] = n;
  a->stride[0] = steps[layout][0];
  b->stride[0] = steps[layout][1];
  a->stride[1] = b->stride[1] = c->stride[1] = bias->stride[0] = 1;
  bias->rank = 1;
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static const assay_knob knobs[] = {
    {.opt = ASSAY_FUSED_GEMM_GROUP, .value_count = 3, .values = {1, 4, 8}},
    {.opt = ASSAY_FUSED_GEMM_TILE_M, .value_count = 3, .values = {16, 32, 64}},
};

#define KNOBS .knobs = knobs, .knob_count = (int)(sizeof knobs / sizeof knobs[0])

assay_kernel assay_gemm_cuda; /* gemm_loose.cu */

static const assay_variant variants[] = {
#if defined(__x86_64__)
    {.name = "avx512bf16",
     .note = "packed pairs of BF16, 14 x 32 blocks of C in registers; FP16 as avx512",
     .backend = ASSAY_CPU,
     .features = ASSAY_CPU_AVX512 | ASSAY_CPU_AVX512_BF16,
     .preferred = assay_gemm_prefers_pairs,
     KNOBS,
     .entry = {assay_gemm_avx512bf16}},
    {.name = "avx512",
     .note = "packed FP32 panels, 14 x 32 blocks of C in registers",
     .backend = ASSAY_CPU,
     .features = ASSAY_CPU_AVX512,
     KNOBS,
     .entry = {assay_gemm_avx512}},
    {.name = "avx2",
     .note = "packed FP32 panels, 6 x 16 blocks of C in registers",
     .backend = ASSAY_CPU,
     .features = ASSAY_CPU_AVX2,
     KNOBS,
     .entry = {assay_gemm_avx2}},
#endif
    {.name = "cuda",
     .note = "mma on tiles that pass through shared memory in several stages; sums stay in registers",
     .backend = ASSAY_CUDA,
     .lowest_arch = 80,
     KNOBS,
     .entry = {assay_gemm_cuda}},
    {.name = "plain",
     .note = "the same blocking in portable C",
     .backend = ASSAY_CPU,
     KNOBS,
     .entry = {assay_gemm_cpu}},
};

extern const assay_operator assay_fused_gemm_op;

const assay_operator assay_fused_gemm_op = {
    .subject =
        {
            .name = "fused_gemm",
            .summary = "product of two 16-bit matrices, plus a bias, through ReLU, rounded once",
            .formula = "c[i,j] = relu(sum(a[i,:] * b[:,j]) + bias[j])",
            .exports = {{.name = "fused_gemm",
                         .in_names = {"a", "b", "bias"},
                         .in_count = ASSAY_FUSED_GEMM_INPUTS,
                         .out_names = {"c"},
                         .out_count = ASSAY_FUSED_GEMM_OUTPUTS}},
            .export_count = 1,
            .opt_names = {"group", "tile_m"},
            .opt_count = ASSAY_FUSED_GEMM_OPTIONS,
            .dim_names = {"m", "n", "k"},
            .dim_count = 3,
            .layout_names = assay_gemm_layout_names,
            .layout_count = ASSAY_GEMM_LAYOUTS,
            .validate = validate,
            .plan = plan,
            .shape_out = shape_out,
            .oracle = assay_gemm_oracle,
            .checks = assay_gemm_checks,
        },
    .variants = variants,
    .variant_count = (int)(sizeof variants / sizeof variants[0]),
    .bench = &assay_gemm_bench,
};

assay_status assay_fused_gemm(assay_dtype dtype, const void *a, int64_t a_row_stride, const void *b,
                              int64_t b_row_stride, const void *bias, int64_t m, int64_t n, int64_t k,
                              void *c, int64_t group, int64_t tile_m, assay_queue *queue) {
  const int32_t device = queue != NULL ? queue->device : ASSAY_DEVICE_CPU;
  /* The tensor type has one pointer for inputs and outputs; an input's is only read. */
  const assay_tensor in[ASSAY_FUSED_GEMM_INPUTS] = {
      [ASSAY_FUSED_GEMM_A] = {(void *)(uintptr_t)a, dtype, device, 2, {m, k}, {a_row_stride, 1}},
      [ASSAY_FUSED_GEMM_B] = {(void *)(uintptr_t)b, dtype, device, 2, {k, n}, {b_row_stride, 1}},
      [ASSAY_FUSED_GEMM_BIAS] = {(void *)(uintptr_t)bias, dtype, device, 1, {n}, {1}},
  };
  const assay_tensor out = {c, dtype, device, 2, {m, n}, {n, 1}};
  const int64_t opt[ASSAY_FUSED_GEMM_OPTIONS] = {
      [ASSAY_FUSED_GEMM_GROUP] = group, [ASSAY_FUSED_GEMM_TILE_M] = tile_m};
  return assay_call("fused_gemm", NULL, in, &out, opt, queue);
}
