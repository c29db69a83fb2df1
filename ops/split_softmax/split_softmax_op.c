/* SPDX-License-Identifier: MIT */
/* split_softmax_op.c - the descriptor of split softmax: validation, cases, variants, the typed calls. */
#include "split_softmax.h"

#include "cpu.h"
#include "tensor.h"

enum { WORKSHOP_COLUMNS = 131072 };

static const int64_t chunk_values[] = {256, 1024, 4096};
enum { CHUNK_VALUES = sizeof chunk_values / sizeof chunk_values[0] };

bool assay_split_softmax_floats(int64_t rows, int64_t columns, int64_t chunk, int64_t *floats) {
  const int64_t width = chunk != 0 ? chunk : ASSAY_SPLIT_SOFTMAX_DEFAULT_CHUNK;
  const int64_t chunks = columns / width + (columns % width != 0 ? 1 : 0);
  const int64_t line = ASSAY_SPLIT_SOFTMAX_ALIGNMENT / (int64_t)sizeof(float);
  int64_t needed = 0;
  if (__builtin_mul_overflow(rows, chunks + 1, &needed)) return false;
  if (needed > INT64_MAX / (2 * (int64_t)sizeof(float)) - line) return false;
  *floats = (2 * needed + line - 1) / line * line;
  return true;
}

/* ---- validation ---------------------------------------------------------------------------------------- */

static assay_status validate_chunk(int64_t chunk, assay_message *why) {
  bool known = chunk == 0;
  for (int i = 0; i < CHUNK_VALUES; i++) known = known || chunk == chunk_values[i];
  if (known) return ASSAY_OK;
  return assay_explain(why, ASSAY_BAD_OPTION,
                       "chunk is %lld; it must be 256, 1024, 4096, or 0 for the default", (long long)chunk);
}

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

static assay_status validate_strides(const assay_tensor *tensor, const char *name, assay_message *why) {
  for (int i = 0; i < 2; i++) {
    if (tensor->stride[i] < 0) {
      return assay_explain(why, ASSAY_BAD_STRIDE, "the %s stride of %s is %lld; it must not be negative",
                           i == 0 ? "row" : "column", name, (long long)tensor->stride[i]);
    }
  }
  int64_t extent = 0;
  if (!assay_tensor_extent(tensor, &extent)) {
    return assay_explain(why, ASSAY_BAD_STRIDE,
                         "%s of %lld x %lld elements spans more than the address space", name,
                         (long long)tensor->shape[0], (long long)tensor->shape[1]);
  }
  if (!assay_tensor_contiguous(tensor)) {
    return assay_explain(
        why, ASSAY_BAD_STRIDE, "%s has strides %lld and %lld; it must be contiguous: %lld and 1", name,
        (long long)tensor->stride[0], (long long)tensor->stride[1], (long long)tensor->shape[1]);
  }
  return ASSAY_OK;
}

static bool overlap(const assay_tensor *a, const assay_tensor *b) {
  const assay_span left = assay_tensor_span(a);
  const assay_span right = assay_tensor_span(b);
  return left.lo < right.hi && right.lo < left.hi;
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
  assay_status status = validate_pointer(x, "x", why);
  if (status == ASSAY_OK) status = validate_pointer(y, "y", why);
  if (status != ASSAY_OK) return status;
  if (overlap(x, y)) {
    return assay_explain(why, ASSAY_BAD_ALIAS, "y overlaps x in memory; the output must be separate");
  }
  return ASSAY_OK;
}

/* What a workspace is, before what it overlaps. */
static assay_status validate_workspace_shape(const assay_tensor *workspace, int64_t needed,
                                             assay_message *why) {
  if (workspace->dtype != ASSAY_FP32) {
    return assay_explain(why, ASSAY_BAD_DTYPE, "workspace is %s; it must be fp32",
                         assay_dtype_name(workspace->dtype));
  }
  if (workspace->rank != 1) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "workspace has rank %d; it must be 1", (int)workspace->rank);
  }
  if (workspace->shape[0] < needed) {
    return assay_explain(why, ASSAY_BAD_SHAPE,
                         "workspace has %lld floats; this call needs %lld: see assay_split_softmax_workspace",
                         (long long)workspace->shape[0], (long long)needed);
  }
  int64_t extent = 0;
  if (!assay_tensor_contiguous(workspace) || !assay_tensor_extent(workspace, &extent)) {
    return assay_explain(
        why, ASSAY_BAD_STRIDE,
        "workspace has stride %lld and %lld floats; it must be contiguous, in the address space",
        (long long)workspace->stride[0], (long long)workspace->shape[0]);
  }
  if ((uintptr_t)workspace->data % ASSAY_SPLIT_SOFTMAX_ALIGNMENT != 0) {
    return assay_explain(why, ASSAY_BAD_POINTER, "workspace is not aligned to %d bytes",
                         ASSAY_SPLIT_SOFTMAX_ALIGNMENT);
  }
  return ASSAY_OK;
}

static assay_status validate_workspace(const assay_tensor *x, const assay_tensor *y,
                                       const assay_tensor *workspace, int64_t chunk, assay_message *why) {
  int64_t needed = 0;
  if (!assay_split_softmax_floats(x->shape[0], x->shape[1], chunk, &needed)) {
    return assay_explain(why, ASSAY_BAD_SHAPE,
                         "x of %lld x %lld elements needs a workspace larger than the address space",
                         (long long)x->shape[0], (long long)x->shape[1]);
  }
  if (workspace->data == NULL) return ASSAY_OK; /* the kernel takes scratch */
  const assay_status status = validate_workspace_shape(workspace, needed, why);
  if (status != ASSAY_OK) return status;
  if (overlap(workspace, x)) {
    return assay_explain(why, ASSAY_BAD_ALIAS, "workspace overlaps x in memory; it must be separate");
  }
  if (overlap(workspace, y)) {
    return assay_explain(why, ASSAY_BAD_ALIAS, "workspace overlaps y in memory; it must be separate");
  }
  return ASSAY_OK;
}

static assay_status validate(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_limits limits, assay_message *why) {
  (void)entry; /* there is one */
  const assay_tensor *x = &in[ASSAY_SPLIT_SOFTMAX_X];
  const assay_tensor *y = &out[ASSAY_SPLIT_SOFTMAX_Y];
  const int64_t chunk = opt != NULL ? opt[ASSAY_SPLIT_SOFTMAX_CHUNK] : 0;
  assay_status status = validate_chunk(chunk, why);
  if (status == ASSAY_OK) status = validate_dtypes(x, y, why);
  if (status == ASSAY_OK) status = validate_shapes(x, y, limits, why);
  if (status == ASSAY_OK) status = validate_strides(x, "x", why);
  if (status == ASSAY_OK) status = validate_strides(y, "y", why);
  /* Without rows nothing is read or written: any pointer will do. */
  if (status != ASSAY_OK || x->shape[0] == 0) return status;
  status = validate_memory(x, y, why);
  if (status == ASSAY_OK) {
    status = validate_workspace(x, y, &out[ASSAY_SPLIT_SOFTMAX_WORKSPACE], chunk, why);
  }
  return status;
}

/* As the first input. */
static assay_tensor shape_out(int entry, const assay_tensor *in) {
  (void)entry; /* there is one */
  return assay_tensor_make(NULL, in[0].dtype, in[0].rank, in[0].shape);
}

/* ---- cases --------------------------------------------------------------------------------------------- */

const char *const assay_split_softmax_layout_names[] = {"exact_workspace", "roomy_workspace", "no_workspace"};

static void plan(const assay_row *row, assay_dtype dtype, int layout, assay_plan *result) {
  const int64_t rows = row->dims[0];
  const int64_t columns = row->dims[1];
  const assay_operand_plan matrix = {
      .dtype = dtype, .rank = 2, .shape = {rows, columns}, .stride = {columns, 1}, .shift = row->shift};
  result->in[ASSAY_SPLIT_SOFTMAX_X] = matrix;
  result->out[ASSAY_SPLIT_SOFTMAX_Y] = matrix;
  assay_operand_plan *workspace = &result->out[ASSAY_SPLIT_SOFTMAX_WORKSPACE];
  *workspace = (assay_operand_plan){.dtype = ASSAY_FP32, .rank = 1, .stride = {1}};
  workspace->absent = layout == ASSAY_SPLIT_SOFTMAX_NONE;
  if (workspace->absent) return;
  /* A size that does not fit leaves 0 floats, which validation refuses. */
  (void)assay_split_softmax_floats(rows, columns, result->opt[ASSAY_SPLIT_SOFTMAX_CHUNK],
                                   &workspace->shape[0]);
  if (layout == ASSAY_SPLIT_SOFTMAX_ROOMY) workspace->shape[0] += 1024;
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static const assay_knob knobs[] = {
    {.opt = ASSAY_SPLIT_SOFTMAX_CHUNK, .value_count = CHUNK_VALUES, .values = {256, 1024, 4096}}};

static const assay_variant variants[] = {
#if defined(__x86_64__)
    {.name = "avx512",
     .note = "16 lanes; whole rows or chunks a thread, streaming stores, next-row prefetch",
     .backend = ASSAY_CPU,
     .features = ASSAY_CPU_AVX512,
     .knobs = knobs,
     .knob_count = 1,
     .entry = {assay_split_softmax_avx512}},
    {.name = "avx2",
     .note = "8 lanes; whole rows or chunks a thread, streaming stores, next-row prefetch",
     .backend = ASSAY_CPU,
     .features = ASSAY_CPU_AVX2,
     .knobs = knobs,
     .knob_count = 1,
     .entry = {assay_split_softmax_avx2}},
#endif
    {.name = "cluster",
     .note = "one launch: eight blocks share a row and read each other's states; no workspace is used",
     .backend = ASSAY_CUDA,
     .lowest_arch = 90,
     .knobs = knobs,
     .knob_count = 1,
     .entry = {assay_split_softmax_cluster}},
    {.name = "staged",
     .note = "three launches in the stream's order: states of chunks, states of rows, results",
     .backend = ASSAY_CUDA,
     .lowest_arch = 80,
     .knobs = knobs,
     .knob_count = 1,
     .entry = {assay_split_softmax_cuda}},
    {.name = "plain",
     .note = "portable C, expf",
     .backend = ASSAY_CPU,
     .knobs = knobs,
     .knob_count = 1,
     .entry = {assay_split_softmax_cpu}},
};

extern const assay_operator assay_split_softmax_op;

const assay_operator assay_split_softmax_op = {
    .subject =
        {
            .name = "split_softmax",
            .summary = "softmax of few wide rows, each split into chunks that are worked on separately",
            .formula =
                "y[r,c] = exp(x[r,c] - m[r]) / s[r], (m,s)[r] merged from the (maximum, sum) of chunks",
            .exports = {{.name = "split_softmax",
                         .in_names = {"x"},
                         .in_count = ASSAY_SPLIT_SOFTMAX_INPUTS,
                         .out_names = {"y", "workspace"},
                         .out_count = ASSAY_SPLIT_SOFTMAX_OUTPUTS}},
            .export_count = 1,
            .opt_names = {"chunk"},
            .opt_count = ASSAY_SPLIT_SOFTMAX_OPTIONS,
            .dim_names = {"rows", "columns"},
            .dim_count = 2,
            .layout_names = assay_split_softmax_layout_names,
            .layout_count = ASSAY_SPLIT_SOFTMAX_LAYOUTS,
            .validate = validate,
            .plan = plan,
            .shape_out = shape_out,
            .oracle = assay_split_softmax_oracle,
            .checks = assay_split_softmax_checks,
        },
    .variants = variants,
    .variant_count = (int)(sizeof variants / sizeof variants[0]),
    .bench = &assay_split_softmax_bench,
};

/* ---- typed calls --------------------------------------------------------------------------------------- */

assay_status assay_split_softmax(assay_dtype dtype, const void *x, int64_t rows, int64_t columns, void *y,
                                 int64_t chunk, void *workspace, size_t workspace_bytes, assay_queue *queue) {
  const int32_t device = queue != NULL ? queue->device : ASSAY_DEVICE_CPU;
  const int64_t floats = (int64_t)(workspace_bytes / sizeof(float));
  /* The tensor type has one pointer for inputs and outputs; an input's is only read. */
  const assay_tensor in = {(void *)(uintptr_t)x, dtype, device, 2, {rows, columns}, {columns, 1}};
  const assay_tensor out[] = {{y, dtype, device, 2, {rows, columns}, {columns, 1}},
                              {workspace, ASSAY_FP32, device, 1, {floats}, {1}}};
  return assay_call("split_softmax", NULL, &in, out, (const int64_t[]){chunk}, queue);
}

/* The size behind the public question; `why` names the argument when there is none. */
static assay_status measure(int64_t rows, int64_t columns, int64_t chunk, int64_t *floats,
                            assay_message *why) {
  if (rows < 0 || columns < 1) {
    return assay_explain(why, ASSAY_BAD_SHAPE,
                         "%lld rows of %lld columns; rows must be 0 or more, columns 1 or more",
                         (long long)rows, (long long)columns);
  }
  const assay_status status = validate_chunk(chunk, why);
  if (status != ASSAY_OK || assay_split_softmax_floats(rows, columns, chunk, floats)) return status;
  return assay_explain(why, ASSAY_BAD_SHAPE,
                       "%lld rows of %lld columns need a workspace larger than the address space",
                       (long long)rows, (long long)columns);
}

assay_status assay_split_softmax_workspace(int64_t rows, int64_t columns, int64_t chunk, size_t *bytes,
                                           size_t *alignment) {
  if (bytes == NULL || alignment == NULL) {
    assay_set_last_error(bytes == NULL ? "bytes is NULL; it must take the answer"
                                       : "alignment is NULL; it must take the answer");
    return ASSAY_BAD_POINTER;
  }
  assay_message why = {""};
  int64_t floats = 0;
  const assay_status status = measure(rows, columns, chunk, &floats, &why);
  if (status != ASSAY_OK) {
    assay_set_last_error(why.text);
    return status;
  }
  *bytes = (size_t)floats * sizeof(float);
  *alignment = ASSAY_SPLIT_SOFTMAX_ALIGNMENT;
  return ASSAY_OK;
}
