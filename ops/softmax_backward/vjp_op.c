/* SPDX-License-Identifier: MIT */
/* vjp_op.c - the descriptor of softmax_backward: validation, layouts of cases, variants, the typed call. */
#include "vjp.h"

#include "cpu.h"
#include "cuda_driver.h"
#include "tensor.h"
#include "vjp_gpu.h"

enum { WORKSHOP_COLUMNS = 8192 };

/* ---- validation ---------------------------------------------------------------------------------------- */

/* The three operands of a call, and what messages call them. */
typedef struct operand {
  const assay_tensor *tensor;
  const char *name;
} operand;

static assay_status validate_dtypes(const operand list[3], assay_message *why) {
  const assay_dtype first = list[0].tensor->dtype;
  if (first != ASSAY_FP32 && first != ASSAY_FP16 && first != ASSAY_BF16) {
    return assay_explain(why, ASSAY_BAD_DTYPE, "y is %s; it must be fp32, fp16 or bf16",
                         assay_dtype_name(first));
  }
  for (int i = 1; i < 3; i++) {
    if (list[i].tensor->dtype == first) continue;
    return assay_explain(why, ASSAY_BAD_DTYPE, "%s is %s and y is %s; they must be of one type", list[i].name,
                         assay_dtype_name(list[i].tensor->dtype), assay_dtype_name(first));
  }
  return ASSAY_OK;
}

static assay_status validate_shapes(const operand list[3], assay_limits limits, assay_message *why) {
  const assay_tensor *y = list[0].tensor;
  for (int i = 0; i < 3; i++) {
    if (list[i].tensor->rank == 2) continue;
    return assay_explain(why, ASSAY_BAD_SHAPE, "%s has rank %d; it must be 2", list[i].name,
                         (int)list[i].tensor->rank);
  }
  if (y->shape[0] < 0) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "y has %lld rows; it must be 0 or more",
                         (long long)y->shape[0]);
  }
  if (y->shape[1] < 1) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "y has %lld columns; a softmax row has at least 1",
                         (long long)y->shape[1]);
  }
  if (limits == ASSAY_LIMITS_WORKSHOP && y->shape[1] > WORKSHOP_COLUMNS) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "y has %lld columns; the workshop takes 1 to %d",
                         (long long)y->shape[1], WORKSHOP_COLUMNS);
  }
  for (int i = 1; i < 3; i++) {
    const assay_tensor *other = list[i].tensor;
    if (other->shape[0] == y->shape[0] && other->shape[1] == y->shape[1]) continue;
    return assay_explain(why, ASSAY_BAD_SHAPE,
                         "%s is %lld x %lld and y is %lld x %lld; the shapes must be the same", list[i].name,
                         (long long)other->shape[0], (long long)other->shape[1], (long long)y->shape[0],
                         (long long)y->shape[1]);
  }
  return ASSAY_OK;
}

static assay_status validate_strides(const operand list[3], assay_message *why) {
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < 2; k++) {
      if (list[i].tensor->stride[k] >= 0) continue;
      return assay_explain(why, ASSAY_BAD_STRIDE, "the %s stride of %s is %lld; it must be 0 or more",
                           k == 0 ? "row" : "column", list[i].name, (long long)list[i].tensor->stride[k]);
    }
  }
  for (int i = 0; i < 3; i++) {
    const assay_tensor *tensor = list[i].tensor;
    int64_t extent = 0;
    if (assay_tensor_extent(tensor, &extent)) continue;
    return assay_explain(
        why, ASSAY_BAD_STRIDE,
        "%s of %lld x %lld elements with strides %lld and %lld spans more than the address space",
        list[i].name, (long long)tensor->shape[0], (long long)tensor->shape[1], (long long)tensor->stride[0],
        (long long)tensor->stride[1]);
  }
  const assay_tensor *dx = list[2].tensor;
  if (!assay_tensor_contiguous(dx)) {
    return assay_explain(why, ASSAY_BAD_STRIDE,
                         "dx has strides %lld and %lld; it must be contiguous: %lld and 1",
                         (long long)dx->stride[0], (long long)dx->stride[1], (long long)dx->shape[1]);
  }
  return ASSAY_OK;
}

static assay_status validate_pointer(const operand *one, assay_message *why) {
  const size_t size = assay_dtype_size(one->tensor->dtype);
  if (one->tensor->data == NULL) {
    return assay_explain(why, ASSAY_BAD_POINTER, "%s is NULL; it must point to its first element", one->name);
  }
  if ((uintptr_t)one->tensor->data % size != 0) {
    return assay_explain(why, ASSAY_BAD_POINTER, "%s is not aligned to its elements of %zu bytes", one->name,
                         size);
  }
  return ASSAY_OK;
}

static assay_status validate_memory(const operand list[3], assay_message *why) {
  if (list[0].tensor->shape[0] == 0) return ASSAY_OK; /* nothing is read or written: any pointer will do */
  for (int i = 0; i < 3; i++) {
    const assay_status status = validate_pointer(&list[i], why);
    if (status != ASSAY_OK) return status;
  }
  const assay_span written = assay_tensor_span(list[2].tensor);
  for (int i = 0; i < 2; i++) {
    const assay_span read = assay_tensor_span(list[i].tensor);
    if (read.lo < written.hi && written.lo < read.hi) {
      return assay_explain(why, ASSAY_BAD_ALIAS, "dx overlaps %s in memory; the output must be separate",
                           list[i].name);
    }
  }
  return ASSAY_OK;
}

static assay_status validate(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_limits limits, assay_message *why) {
  (void)entry; /* there is one */
  const operand list[3] = {{&in[ASSAY_SOFTMAX_BACKWARD_Y], "y"},
                           {&in[ASSAY_SOFTMAX_BACKWARD_G], "g"},
                           {&out[ASSAY_SOFTMAX_BACKWARD_DX], "dx"}};
  const int64_t warps = opt != NULL ? opt[ASSAY_SOFTMAX_BACKWARD_WARPS] : 0;
  if (warps != 0 && warps != 4 && warps != 8) {
    return assay_explain(why, ASSAY_BAD_OPTION, "warps is %lld; it must be 4, 8, or 0 for the default",
                         (long long)warps);
  }
  assay_status status = validate_dtypes(list, why);
  if (status == ASSAY_OK) status = validate_shapes(list, limits, why);
  if (status == ASSAY_OK) status = validate_strides(list, why);
  if (status == ASSAY_OK) status = validate_memory(list, why);
  return status;
}

/* As the first input. */
static assay_tensor shape_out(int entry, const assay_tensor *in) {
  (void)entry; /* there is one */
  return assay_tensor_make(NULL, in[0].dtype, in[0].rank, in[0].shape);
}

/* ---- cases --------------------------------------------------------------------------------------------- */

const char *const assay_vjp_layout_names[] = {
    "packed",          "transposed",         "y_sliced",          "g_sliced", "sliced",  "y_transposed",
    "g_transposed",    "sliced_transposed",  "stepped",           "general",  "windows", "y_row_broadcast",
    "g_row_broadcast", "y_column_broadcast", "g_column_broadcast"};

/* Row and column stride of y, row and column stride of g. */
static void layout_strides(int64_t rows, int64_t columns, assay_vjp_layout layout, int64_t stride[4]) {
  const int64_t n = columns;
  const int64_t table[ASSAY_VJP_LAYOUTS][4] = {
      [ASSAY_VJP_PACKED] = {n, 1, n, 1},
      [ASSAY_VJP_TRANSPOSED] = {1, rows, 1, rows},
      [ASSAY_VJP_Y_SLICED] = {n + 7, 1, n, 1},
      [ASSAY_VJP_G_SLICED] = {n, 1, n + 5, 1},
      [ASSAY_VJP_SLICED] = {n + 7, 1, n + 3, 1},
      [ASSAY_VJP_Y_TRANSPOSED] = {1, rows, n, 1},
      [ASSAY_VJP_G_TRANSPOSED] = {n, 1, 1, rows},
      [ASSAY_VJP_SLICED_T] = {1, rows + 5, 1, rows + 2},
      [ASSAY_VJP_STEPPED] = {3 * n, 3, 2 * n, 2},
      [ASSAY_VJP_GENERAL] = {2 * n + 11, 2, 4 * n + 1, 3},
      [ASSAY_VJP_WINDOWS] = {1, 1, 1, 1},
      [ASSAY_VJP_Y_ROW_BROADCAST] = {0, 1, n, 1},
      [ASSAY_VJP_G_ROW_BROADCAST] = {n, 1, 0, 1},
      [ASSAY_VJP_Y_COLUMN_BROADCAST] = {1, 0, n, 1},
      [ASSAY_VJP_G_COLUMN_BROADCAST] = {n, 1, 1, 0},
  };
  for (int i = 0; i < 4; i++) stride[i] = table[layout][i];
}

static void plan(const assay_row *row, assay_dtype dtype, int layout, assay_plan *result) {
  const int64_t rows = row->dims[0];
  const int64_t columns = row->dims[1];
  int64_t stride[4];
  layout_strides(rows, columns, (assay_vjp_layout)layout, stride);
  for (int i = 0; i < ASSAY_SOFTMAX_BACKWARD_INPUTS; i++) {
    result->in[i] = (assay_operand_plan){.dtype = dtype,
                                         .rank = 2,
                                         .shape = {rows, columns},
                                         .stride = {stride[2 * i], stride[2 * i + 1]},
                                         .shift = row->shift};
  }
  result->out[0] = (assay_operand_plan){
      .dtype = dtype, .rank = 2, .shape = {rows, columns}, .stride = {columns, 1}, .shift = row->shift};
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static const assay_knob cuda_knobs[] = {{ASSAY_SOFTMAX_BACKWARD_WARPS, 2, {4, 8}}};

/* The kernels take up to 128 KiB of shared memory a block, and a little more: not every architecture with
 * clusters has that. */
static assay_status run_cluster(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                assay_queue *queue) {
  enum { BLOCK_BYTES = 132 * 1024 };
  cuda_device_info info = {.shared_bytes_most = BLOCK_BYTES};
  assay_message why;
  if (queue->device != ASSAY_DEVICE_EMULATOR) {
    const assay_status status = assay_cuda_device(queue->device, &info, &why);
    if (status != ASSAY_OK) return status;
  }
  return info.shared_bytes_most >= BLOCK_BYTES ? assay_vjp_cluster(in, out, opt, queue)
                                               : assay_vjp_cuda(in, out, opt, queue);
}

static const assay_variant variants[] = {
#if defined(__x86_64__)
    {.name = "avx512",
     .note = "16 lanes; packed strips for columns, streaming stores, next-row prefetch",
     .backend = ASSAY_CPU,
     .features = ASSAY_CPU_AVX512,
     .entry = {assay_vjp_avx512}},
    {.name = "avx2",
     .note = "8 lanes; packed strips for columns, streaming stores, next-row prefetch",
     .backend = ASSAY_CPU,
     .features = ASSAY_CPU_AVX2,
     .entry = {assay_vjp_avx2}},
#endif
    {.name = "cluster",
     .note = "as cuda; columns in strips that the blocks of a cluster share, each read once",
     .backend = ASSAY_CUDA,
     .lowest_arch = 90,
     .knobs = cuda_knobs,
     .knob_count = 1,
     .entry = {run_cluster}},
    {.name = "cuda",
     .note = "rows in registers by 16-byte loads, columns in strips, any strides by elements",
     .backend = ASSAY_CUDA,
     .lowest_arch = 80,
     .knobs = cuda_knobs,
     .knob_count = 1,
     .entry = {assay_vjp_cuda}},
    {.name = "plain", .note = "portable C", .backend = ASSAY_CPU, .entry = {assay_vjp_cpu}},
};

extern const assay_operator assay_softmax_backward_op;

const assay_operator assay_softmax_backward_op = {
    .subject =
        {
            .name = "softmax_backward",
            .summary = "gradient of a softmax from its result and the gradient behind it, any strides",
            .formula = "dx[r,c] = y[r,c] * (g[r,c] - sum(y[r,:] * g[r,:]))",
            .exports = {{.name = "softmax_backward",
                         .in_names = {"y", "g"},
                         .in_count = ASSAY_SOFTMAX_BACKWARD_INPUTS,
                         .out_names = {"dx"},
                         .out_count = ASSAY_SOFTMAX_BACKWARD_OUTPUTS}},
            .export_count = 1,
            .opt_names = {"warps"},
            .opt_count = ASSAY_SOFTMAX_BACKWARD_OPTIONS,
            .dim_names = {"rows", "columns"},
            .dim_count = 2,
            .layout_names = assay_vjp_layout_names,
            .layout_count = ASSAY_VJP_LAYOUTS,
            .validate = validate,
            .plan = plan,
            .shape_out = shape_out,
            .oracle = assay_vjp_oracle,
            .checks = assay_vjp_checks,
        },
    .variants = variants,
    .variant_count = (int)(sizeof variants / sizeof variants[0]),
    .bench = &assay_vjp_bench,
};

assay_status assay_softmax_backward(assay_dtype dtype, const void *y, int64_t y_row_stride,
                                    int64_t y_column_stride, const void *g, int64_t g_row_stride,
                                    int64_t g_column_stride, int64_t rows, int64_t columns, void *dx,
                                    int64_t warps, assay_queue *queue) {
  const int32_t device = queue != NULL ? queue->device : ASSAY_DEVICE_CPU;
  /* The tensor type has one pointer for inputs and outputs; an input's is only read. */
  const assay_tensor in[] = {
      {(void *)(uintptr_t)y, dtype, device, 2, {rows, columns}, {y_row_stride, y_column_stride}},
      {(void *)(uintptr_t)g, dtype, device, 2, {rows, columns}, {g_row_stride, g_column_stride}}};
  const assay_tensor out = {dx, dtype, device, 2, {rows, columns}, {columns, 1}};
  return assay_call("softmax_backward", NULL, in, &out, (const int64_t[]){warps}, queue);
}
