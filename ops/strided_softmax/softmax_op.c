/* SPDX-License-Identifier: MIT */
/* softmax_op.c - the descriptor of strided softmax: validation, layouts of cases, variants, the typed call.
 */
#include "softmax.h"

#include "cpu.h"
#include "softmax_gpu.h"
#include "tensor.h"

enum { WORKSHOP_COLUMNS = 8192 };

/* ---- validation ---------------------------------------------------------------------------------------- */

static assay_status validate_dtypes(const assay_tensor *x, const assay_tensor *y, assay_message *why) {
  if (x->dtype != ASSAY_FP32 && x->dtype != ASSAY_FP16 && x->dtype != ASSAY_BF16) {
    return assay_explain(why, ASSAY_BAD_DTYPE, "x is %s; it must be fp32, fp16 or bf16",
                         assay_dtype_name(x->dtype));
  }
  if (y->dtype != x->dtype) {
    return assay_explain(why, ASSAY_BAD_DTYPE, "y is %s and x is %s; they must be of one type",
                         assay_dtype_name(y->dtype), assay_dtype_name(x->dtype));
  }
  return ASSAY_OK;
}

static assay_status validate_shapes(const assay_tensor *x, const assay_tensor *y, assay_limits limits,
                                    assay_message *why) {
  if (x->rank != 2) return assay_explain(why, ASSAY_BAD_SHAPE, "x has rank %d; it must be 2", (int)x->rank);
  if (y->rank != 2) return assay_explain(why, ASSAY_BAD_SHAPE, "y has rank %d; it must be 2", (int)y->rank);
  if (x->shape[0] < 0) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "x has %lld rows; it must be 0 or more",
                         (long long)x->shape[0]);
  }
  if (x->shape[1] < 1) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "x has %lld columns; a softmax row needs at least 1",
                         (long long)x->shape[1]);
  }
  if (limits == ASSAY_LIMITS_WORKSHOP && x->shape[1] > WORKSHOP_COLUMNS) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "x has %lld columns; the workshop takes 1 to %d",
                         (long long)x->shape[1], WORKSHOP_COLUMNS);
  }
  if (y->shape[0] != x->shape[0] || y->shape[1] != x->shape[1]) {
    return assay_explain(
        why, ASSAY_BAD_SHAPE, "y is %lld x %lld and x is %lld x %lld; the shapes must be the same",
        (long long)y->shape[0], (long long)y->shape[1], (long long)x->shape[0], (long long)x->shape[1]);
  }
  return ASSAY_OK;
}

static assay_status validate_strides(const assay_tensor *x, const assay_tensor *y, assay_message *why) {
  for (int i = 0; i < 2; i++) {
    if (x->stride[i] < 0) {
      return assay_explain(why, ASSAY_BAD_STRIDE, "the %s stride of x is %lld; it must be 0 or more",
                           i == 0 ? "row" : "column", (long long)x->stride[i]);
    }
  }
  int64_t extent = 0;
  if (!assay_tensor_extent(x, &extent)) {
    return assay_explain(
        why, ASSAY_BAD_STRIDE,
        "x of %lld x %lld elements with strides %lld and %lld spans more than the address space",
        (long long)x->shape[0], (long long)x->shape[1], (long long)x->stride[0], (long long)x->stride[1]);
  }
  if (!assay_tensor_extent(y, &extent)) {
    return assay_explain(why, ASSAY_BAD_STRIDE, "y of %lld x %lld elements spans more than the address space",
                         (long long)y->shape[0], (long long)y->shape[1]);
  }
  if (!assay_tensor_contiguous(y)) {
    return assay_explain(why, ASSAY_BAD_STRIDE,
                         "y has strides %lld and %lld; it must be contiguous: %lld and 1",
                         (long long)y->stride[0], (long long)y->stride[1], (long long)y->shape[1]);
  }
  return ASSAY_OK;
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

static assay_status validate_memory(const assay_tensor *x, const assay_tensor *y, assay_message *why) {
  if (x->shape[0] == 0) return ASSAY_OK; /* nothing is read or written: any pointer will do */
  assay_status status = validate_pointer(x, "x", why);
  if (status == ASSAY_OK) status = validate_pointer(y, "y", why);
  if (status != ASSAY_OK) return status;
  const assay_span read = assay_tensor_span(x);
  const assay_span written = assay_tensor_span(y);
  if (read.lo < written.hi && written.lo < read.hi) {
    return assay_explain(why, ASSAY_BAD_ALIAS, "y overlaps x in memory; the output must be separate");
  }
  return ASSAY_OK;
}

static assay_status validate(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_limits limits, assay_message *why) {
  (void)entry; /* there is one */
  const assay_tensor *x = &in[ASSAY_STRIDED_SOFTMAX_X];
  const assay_tensor *y = &out[ASSAY_STRIDED_SOFTMAX_Y];
  const int64_t warps = opt != NULL ? opt[ASSAY_STRIDED_SOFTMAX_WARPS] : 0;
  if (warps != 0 && warps != 4 && warps != 8) {
    return assay_explain(why, ASSAY_BAD_OPTION, "warps is %lld; it must be 4, 8, or 0 for the default",
                         (long long)warps);
  }
  assay_status status = validate_dtypes(x, y, why);
  if (status == ASSAY_OK) status = validate_shapes(x, y, limits, why);
  if (status == ASSAY_OK) status = validate_strides(x, y, why);
  if (status == ASSAY_OK) status = validate_memory(x, y, why);
  return status;
}

/* As the first input. */
static assay_tensor shape_out(int entry, const assay_tensor *in) {
  (void)entry; /* there is one */
  return assay_tensor_make(NULL, in[0].dtype, in[0].rank, in[0].shape);
}

/* ---- cases --------------------------------------------------------------------------------------------- */

const char *const assay_softmax_layout_names[] = {
    "packed",        "transposed",        "sliced",
    "stepped",       "sliced_transposed", "general",
    "row_broadcast", "column_broadcast",  "overlapping_windows"};

static void layout_strides(int64_t rows, int64_t columns, assay_softmax_layout layout, int64_t stride[2]) {
  const int64_t table[ASSAY_SOFTMAX_LAYOUTS][2] = {
      [ASSAY_SOFTMAX_PACKED] = {columns, 1},     [ASSAY_SOFTMAX_TRANSPOSED] = {1, rows},
      [ASSAY_SOFTMAX_SLICED] = {columns + 7, 1}, [ASSAY_SOFTMAX_STEPPED] = {3 * columns, 3},
      [ASSAY_SOFTMAX_SLICED_T] = {1, rows + 5},  [ASSAY_SOFTMAX_GENERAL] = {2 * columns + 11, 2},
      [ASSAY_SOFTMAX_ROW_BROADCAST] = {0, 1},    [ASSAY_SOFTMAX_COLUMN_BROADCAST] = {1, 0},
      [ASSAY_SOFTMAX_WINDOWS] = {1, 1},
  };
  stride[0] = table[layout][0];
  stride[1] = table[layout][1];
}

static void plan(const assay_row *row, assay_dtype dtype, int layout, assay_plan *result) {
  const int64_t rows = row->dims[0];
  const int64_t columns = row->dims[1];
  result->in[0] =
      (assay_operand_plan){.dtype = dtype, .rank = 2, .shape = {rows, columns}, .shift = row->shift};
  result->out[0] = result->in[0];
  layout_strides(rows, columns, (assay_softmax_layout)layout, result->in[0].stride);
  layout_strides(rows, columns, ASSAY_SOFTMAX_PACKED, result->out[0].stride);
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static const assay_knob cuda_knobs[] = {{ASSAY_STRIDED_SOFTMAX_WARPS, 2, {4, 8}}};

static const assay_variant variants[] = {
#if defined(__x86_64__)
    {.name = "avx512",
     .note = "16 lanes; packed strips for columns, streaming stores, next-row prefetch",
     .backend = ASSAY_CPU,
     .features = ASSAY_CPU_AVX512,
     .entry = {assay_softmax_avx512}},
    {.name = "avx2",
     .note = "8 lanes; packed strips for columns, streaming stores, next-row prefetch",
     .backend = ASSAY_CPU,
     .features = ASSAY_CPU_AVX2,
     .entry = {assay_softmax_avx2}},
#endif
    {.name = "cluster",
     .note = "as cuda; columns in strips that the blocks of a cluster share, each read once",
     .backend = ASSAY_CUDA,
     .lowest_arch = 90,
     .knobs = cuda_knobs,
     .knob_count = 1,
     .entry = {assay_softmax_cluster}},
    {.name = "cuda",
     .note = "rows in registers by 16-byte loads, columns through a tile, any strides by elements",
     .backend = ASSAY_CUDA,
     .lowest_arch = 80,
     .knobs = cuda_knobs,
     .knob_count = 1,
     .entry = {assay_softmax_cuda}},
    {.name = "plain", .note = "portable C, expf", .backend = ASSAY_CPU, .entry = {assay_softmax_cpu}},
};

extern const assay_operator assay_strided_softmax_op;

const assay_operator assay_strided_softmax_op = {
    .subject =
        {
            .name = "strided_softmax",
            .summary = "softmax over the columns of a matrix view with any nonnegative strides",
            .formula = "y[r,c] = exp(x[r,c] - max(x[r,:])) / sum(exp(x[r,:] - max(x[r,:])))",
            .exports = {{.name = "strided_softmax",
                         .in_names = {"x"},
                         .in_count = ASSAY_STRIDED_SOFTMAX_INPUTS,
                         .out_names = {"y"},
                         .out_count = ASSAY_STRIDED_SOFTMAX_OUTPUTS}},
            .export_count = 1,
            .opt_names = {"warps"},
            .opt_count = ASSAY_STRIDED_SOFTMAX_OPTIONS,
            .dim_names = {"rows", "columns"},
            .dim_count = 2,
            .layout_names = assay_softmax_layout_names,
            .layout_count = ASSAY_SOFTMAX_LAYOUTS,
            .validate = validate,
            .plan = plan,
            .shape_out = shape_out,
            .oracle = assay_softmax_oracle,
            .checks = assay_softmax_checks,
        },
    .variants = variants,
    .variant_count = (int)(sizeof variants / sizeof variants[0]),
    .bench = &assay_softmax_bench,
};

assay_status assay_strided_softmax(assay_dtype dtype, const void *x, int64_t rows, int64_t columns,
                                   int64_t row_stride, int64_t column_stride, void *y, int64_t warps,
                                   assay_queue *queue) {
  const int32_t device = queue != NULL ? queue->device : ASSAY_DEVICE_CPU;
  /* The tensor type has one pointer for inputs and outputs; an input's is only read. */
  const assay_tensor in = {(void *)(uintptr_t)x,       dtype, device, 2, {rows, columns},
                           {row_stride, column_stride}};
  const assay_tensor out = {y, dtype, device, 2, {rows, columns}, {columns, 1}};
  return assay_call("strided_softmax", NULL, &in, &out, (const int64_t[]){warps}, queue);
}
