/* SPDX-License-Identifier: MIT */
/* log_softmax_op.c - the descriptor of log-softmax: validation, layouts of cases, the table of variants. */
#include "log_softmax.h"

#include "ops/operators.h"
#include "tensor.h"

enum { WORKSHOP_COLUMNS = 8192 };

/* ---- validation ---------------------------------------------------------------------------------------- */

static assay_status validate_shapes(const assay_tensor *x, const assay_tensor *y, assay_limits limits,
                                    assay_message *why) {
  if (x->rank != 2) return assay_explain(why, ASSAY_BAD_SHAPE, "x has rank %d; it must be 2", (int)x->rank);
  if (y->rank != 2) return assay_explain(why, ASSAY_BAD_SHAPE, "y has rank %d; it must be 2", (int)y->rank);
  if (x->shape[0] < 0)
    return assay_explain(why, ASSAY_BAD_SHAPE, "x has %lld rows; it must be 0 or more",
                         (long long)x->shape[0]);
  if (x->shape[1] < 1)
    return assay_explain(why, ASSAY_BAD_SHAPE, "x has %lld columns; it must be 1 or more",
                         (long long)x->shape[1]);
  if (limits == ASSAY_LIMITS_WORKSHOP && x->shape[1] > WORKSHOP_COLUMNS)
    return assay_explain(why, ASSAY_BAD_SHAPE, "x has %lld columns; the workshop takes 1 to %d",
                         (long long)x->shape[1], WORKSHOP_COLUMNS);
  if (y->shape[0] != x->shape[0] || y->shape[1] != x->shape[1])
    return assay_explain(why, ASSAY_BAD_SHAPE, "y is %lld x %lld; it must be %lld x %lld, as x is",
                         (long long)y->shape[0], (long long)y->shape[1], (long long)x->shape[0],
                         (long long)x->shape[1]);
  return ASSAY_OK;
}

static assay_status validate_strides(const assay_tensor *x, const assay_tensor *y, assay_message *why) {
  int64_t extent = 0;
  if (x->stride[0] < 0 || x->stride[1] < 0)
    return assay_explain(why, ASSAY_BAD_STRIDE, "x has strides %lld and %lld; they must be 0 or more",
                         (long long)x->stride[0], (long long)x->stride[1]);
  if (!assay_tensor_extent(x, &extent) || !assay_tensor_extent(y, &extent))
    return assay_explain(why, ASSAY_BAD_STRIDE, "x or y spans more than the address space");
  if (!assay_tensor_contiguous(y))
    return assay_explain(why, ASSAY_BAD_STRIDE, "y has strides %lld and %lld; it must be contiguous",
                         (long long)y->stride[0], (long long)y->stride[1]);
  return ASSAY_OK;
}

static assay_status validate_pointer(const assay_tensor *tensor, const char *name, assay_message *why) {
  if (tensor->data == NULL)
    return assay_explain(why, ASSAY_BAD_POINTER, "%s is NULL; it must point to its first element", name);
  if ((uintptr_t)tensor->data % assay_dtype_size(tensor->dtype) != 0)
    return assay_explain(why, ASSAY_BAD_POINTER, "%s is not aligned to its elements of %zu bytes", name,
                         assay_dtype_size(tensor->dtype));
  return ASSAY_OK;
}

static assay_status validate_memory(const assay_tensor *x, const assay_tensor *y, assay_message *why) {
  if (x->shape[0] == 0) return ASSAY_OK; /* nothing is read or written: any pointer will do */
  assay_status status = validate_pointer(x, "x", why);
  if (status == ASSAY_OK) status = validate_pointer(y, "y", why);
  if (status != ASSAY_OK) return status;
  const assay_span read = assay_tensor_span(x);
  const assay_span written = assay_tensor_span(y);
  if (read.lo < written.hi && written.lo < read.hi)
    return assay_explain(why, ASSAY_BAD_ALIAS, "y overlaps x in memory; the output must be separate");
  return ASSAY_OK;
}

static assay_status validate(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_limits limits, assay_message *why) {
  (void)entry, (void)opt; /* there is one function, and no knob */
  const assay_tensor *x = &in[0];
  const assay_tensor *y = &out[0];
  if (x->dtype != ASSAY_FP32 && x->dtype != ASSAY_FP16 && x->dtype != ASSAY_BF16)
    return assay_explain(why, ASSAY_BAD_DTYPE, "x is %s; it must be fp32, fp16 or bf16",
                         assay_dtype_name(x->dtype));
  if (y->dtype != x->dtype)
    return assay_explain(why, ASSAY_BAD_DTYPE, "y is %s; it must be %s, as x is", assay_dtype_name(y->dtype),
                         assay_dtype_name(x->dtype));
  assay_status status = validate_shapes(x, y, limits, why);
  if (status == ASSAY_OK) status = validate_strides(x, y, why);
  if (status == ASSAY_OK) status = validate_memory(x, y, why);
  return status;
}

static assay_tensor shape_out(int entry, const assay_tensor *in) {
  (void)entry;
  return assay_tensor_make(NULL, in[0].dtype, in[0].rank, in[0].shape);
}

/* ---- cases --------------------------------------------------------------------------------------------- */

static const char *const layout_names[] = {"packed", "transposed"};

static void plan(const assay_row *row, assay_dtype dtype, int layout, assay_plan *result) {
  const int64_t rows = row->dims[0];
  const int64_t columns = row->dims[1];
  result->in[0] = (assay_operand_plan){
      .dtype = dtype, .rank = 2, .shape = {rows, columns}, .stride = {columns, 1}, .shift = row->shift};
  result->out[0] = result->in[0];
  if (layout == 1) {
    result->in[0].stride[0] = 1;
    result->in[0].stride[1] = rows;
  }
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static const assay_variant variants[] = {
    {.name = "plain",
     .note = "portable C, expf and logf",
     .backend = ASSAY_CPU,
     .entry = {assay_log_softmax_cpu}},
};

const assay_operator assay_log_softmax_op = {
    .subject =
        {
            .name = "log_softmax",
            .summary = "logarithm of the softmax over the columns of a matrix view",
            .formula = "y[r,c] = x[r,c] - max(x[r,:]) - ln(sum(exp(x[r,:] - max(x[r,:]))))",
            .exports = {{.name = "log_softmax",
                         .in_names = {"x"},
                         .in_count = 1,
                         .out_names = {"y"},
                         .out_count = 1}},
            .export_count = 1,
            .dim_names = {"rows", "columns"},
            .dim_count = 2,
            .layout_names = layout_names,
            .layout_count = 2,
            .validate = validate,
            .plan = plan,
            .shape_out = shape_out,
            .oracle = assay_log_softmax_oracle,
            .checks = assay_log_softmax_checks,
        },
    .variants = variants,
    .variant_count = (int)(sizeof variants / sizeof variants[0]),
    .bench = &assay_log_softmax_bench,
};
