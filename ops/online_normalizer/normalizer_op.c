/* SPDX-License-Identifier: MIT */
/* normalizer_op.c - the descriptor of the normaliser: validation, operands of cases, variants, the typed
 * calls.
 */
#include "normalizer.h"

#include "cpu.h"
#include "ops/ops.h"
#include "tensor.h"

/* ---- validation ---------------------------------------------------------------------------------------- */

/* An operand and the name that a sentence calls it by. */
typedef struct operand {
  const assay_tensor *tensor;
  const char *name;
} operand;

static assay_status validate_dtype(operand x, assay_message *why) {
  if (x.tensor->dtype == ASSAY_FP32 || x.tensor->dtype == ASSAY_FP64) return ASSAY_OK;
  return assay_explain(why, ASSAY_BAD_DTYPE, "%s is %s; it must be fp32 or fp64", x.name,
                       assay_dtype_name(x.tensor->dtype));
}

/* Rank 1, adjacent elements, all inside the address space. */
static assay_status validate_vector(operand x, assay_message *why) {
  const assay_tensor *tensor = x.tensor;
  if (tensor->rank != 1) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "%s has rank %d; it must be 1", x.name, (int)tensor->rank);
  }
  if (tensor->shape[0] < 0) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "%s has %lld elements; it must be 0 or more", x.name,
                         (long long)tensor->shape[0]);
  }
  if (tensor->stride[0] < 0 || !assay_tensor_contiguous(tensor)) {
    return assay_explain(why, ASSAY_BAD_STRIDE, "the stride of %s is %lld; its elements must be adjacent: 1",
                         x.name, (long long)tensor->stride[0]);
  }
  int64_t extent = 0;
  if (!assay_tensor_extent(tensor, &extent)) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "%s of %lld elements spans more than the address space",
                         x.name, (long long)tensor->shape[0]);
  }
  return ASSAY_OK;
}

static assay_status validate_state(operand state, assay_message *why) {
  if (state.tensor->dtype != ASSAY_FP64) {
    return assay_explain(why, ASSAY_BAD_DTYPE, "%s is %s; a state must be fp64", state.name,
                         assay_dtype_name(state.tensor->dtype));
  }
  const assay_status status = validate_vector(state, why);
  if (status != ASSAY_OK) return status;
  if (state.tensor->shape[0] != 2) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "%s has %lld elements; a state has 2, the maximum and the sum",
                         state.name, (long long)state.tensor->shape[0]);
  }
  return ASSAY_OK;
}

static assay_status validate_pointer(operand x, assay_message *why) {
  if (x.tensor->data == NULL) {
    return assay_explain(why, ASSAY_BAD_POINTER, "%s is NULL; it must point to its first element", x.name);
  }
  if ((uintptr_t)x.tensor->data % assay_dtype_size(x.tensor->dtype) != 0) {
    return assay_explain(why, ASSAY_BAD_POINTER, "%s is not aligned to its elements of %zu bytes", x.name,
                         assay_dtype_size(x.tensor->dtype));
  }
  return ASSAY_OK;
}

static assay_status validate_apart(operand output, operand input, assay_message *why) {
  const assay_span written = assay_tensor_span(output.tensor);
  const assay_span read = assay_tensor_span(input.tensor);
  if (read.lo < written.hi && written.lo < read.hi) {
    return assay_explain(why, ASSAY_BAD_ALIAS, "%s overlaps %s in memory; the output must be separate",
                         output.name, input.name);
  }
  return ASSAY_OK;
}

static assay_status validate_summarise(operand x, operand state, assay_message *why) {
  const bool empty = x.tensor->shape[0] == 0; /* then x may point anywhere */
  assay_status status = validate_dtype(x, why);
  if (status == ASSAY_OK) status = validate_vector(x, why);
  if (status == ASSAY_OK) status = validate_state(state, why);
  if (status == ASSAY_OK && !empty) status = validate_pointer(x, why);
  if (status == ASSAY_OK) status = validate_pointer(state, why);
  if (status == ASSAY_OK && !empty) status = validate_apart(state, x, why);
  return status;
}

static assay_status validate_merge(operand left, operand right, operand state, assay_message *why) {
  assay_status status = validate_state(left, why);
  if (status == ASSAY_OK) status = validate_state(right, why);
  if (status == ASSAY_OK) status = validate_state(state, why);
  if (status == ASSAY_OK) status = validate_pointer(left, why);
  if (status == ASSAY_OK) status = validate_pointer(right, why);
  if (status == ASSAY_OK) status = validate_pointer(state, why);
  if (status == ASSAY_OK) status = validate_apart(state, left, why);
  if (status == ASSAY_OK) status = validate_apart(state, right, why);
  return status;
}

static assay_status validate_finish(operand state, operand x, operand y, assay_message *why) {
  assay_status status = validate_state(state, why);
  if (status == ASSAY_OK) status = validate_dtype(x, why);
  if (status == ASSAY_OK) status = validate_vector(x, why);
  if (status != ASSAY_OK) return status;
  if (y.tensor->dtype != x.tensor->dtype) {
    return assay_explain(why, ASSAY_BAD_DTYPE, "y is %s and x is %s; they must be of one type",
                         assay_dtype_name(y.tensor->dtype), assay_dtype_name(x.tensor->dtype));
  }
  status = validate_vector(y, why);
  if (status != ASSAY_OK) return status;
  if (y.tensor->shape[0] != x.tensor->shape[0]) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "y has %lld elements and x has %lld; it must be the same",
                         (long long)y.tensor->shape[0], (long long)x.tensor->shape[0]);
  }
  if (x.tensor->shape[0] == 0) return ASSAY_OK; /* nothing is read or written: any pointer will do */
  status = validate_pointer(state, why);
  if (status == ASSAY_OK) status = validate_pointer(x, why);
  if (status == ASSAY_OK) status = validate_pointer(y, why);
  if (status == ASSAY_OK) status = validate_apart(y, x, why);
  if (status == ASSAY_OK) status = validate_apart(y, state, why);
  return status;
}

/* The workshop has no limits of its own. */
static assay_status validate(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_limits limits, assay_message *why) {
  (void)opt, (void)limits;
  if (entry == ASSAY_ONLINE_NORMALIZER_SUMMARISE) {
    return validate_summarise((operand){&in[0], "x"}, (operand){&out[0], "state"}, why);
  }
  if (entry == ASSAY_ONLINE_NORMALIZER_MERGE) {
    return validate_merge((operand){&in[0], "left"}, (operand){&in[1], "right"}, (operand){&out[0], "state"},
                          why);
  }
  return validate_finish((operand){&in[0], "state"}, (operand){&in[1], "x"}, (operand){&out[0], "y"}, why);
}

/* A state, or as finish's x. */
static assay_tensor shape_out(int entry, const assay_tensor *in) {
  if (entry != ASSAY_ONLINE_NORMALIZER_FINISH)
    return assay_tensor_make(NULL, ASSAY_FP64, 1, (const int64_t[]){2});
  return assay_tensor_make(NULL, in[1].dtype, in[1].rank, in[1].shape);
}

/* ---- cases --------------------------------------------------------------------------------------------- */

/* All operands are packed: a row's layouts choose the functions instead. */
static const char *const layout_names[] = {"summarise", "merge", "finish"};

void assay_normalizer_plan(int entry, assay_dtype dtype, int64_t count, int64_t shift, assay_plan *plan) {
  const assay_operand_plan state = {.dtype = ASSAY_FP64, .rank = 1, .shape = {2}, .stride = {1}};
  const assay_operand_plan x = {.dtype = dtype, .rank = 1, .shape = {count}, .stride = {1}, .shift = shift};
  plan->entry = entry;
  if (entry == ASSAY_ONLINE_NORMALIZER_FINISH) {
    plan->in[0] = state;
    plan->in[1] = plan->out[0] = x;
  } else {
    plan->in[0] = entry == ASSAY_ONLINE_NORMALIZER_SUMMARISE ? x : state;
    plan->in[1] = plan->out[0] = state;
  }
}

static void plan(const assay_row *row, assay_dtype dtype, int layout, assay_plan *result) {
  assay_normalizer_plan(layout, dtype, row->dims[0], row->shift, result);
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static const assay_variant variants[] = {
#if defined(__x86_64__)
    {.name = "avx512",
     .note = "16 or 8 lanes; a block's maximum, then its sum from the cache; streaming stores",
     .backend = ASSAY_CPU,
     .features = ASSAY_CPU_AVX512,
     .entry = {assay_normalizer_avx512_summarise, assay_normalizer_cpu_merge,
               assay_normalizer_avx512_finish}},
    {.name = "avx2",
     .note = "8 or 4 lanes; a block's maximum, then its sum from the cache; streaming stores",
     .backend = ASSAY_CPU,
     .features = ASSAY_CPU_AVX2,
     .entry = {assay_normalizer_avx2_summarise, assay_normalizer_cpu_merge, assay_normalizer_avx2_finish}},
#endif
    {.name = "plain",
     .note = "portable C, expf and exp",
     .backend = ASSAY_CPU,
     .entry = {assay_normalizer_cpu_summarise, assay_normalizer_cpu_merge, assay_normalizer_cpu_finish}},
};

const assay_operator assay_online_normalizer_op = {
    .subject =
        {
            .name = "online_normalizer",
            .summary = "the mergeable state of a softmax: maximum and sum of exponentials, part by part",
            .formula = "m = max(m1, m2), s = s1*exp(m1 - m) + s2*exp(m2 - m); y = exp(x - m) / s",
            .exports = {{.name = "summarise",
                         .in_names = {"x"},
                         .in_count = 1,
                         .out_names = {"state"},
                         .out_count = 1},
                        {.name = "merge",
                         .in_names = {"left", "right"},
                         .in_count = 2,
                         .out_names = {"state"},
                         .out_count = 1,
                         .in_fp64 = 1u << 0 | 1u << 1},
                        {.name = "finish",
                         .in_names = {"state", "x"},
                         .in_count = 2,
                         .out_names = {"y"},
                         .out_count = 1,
                         .in_fp64 = 1u << 0}},
            .export_count = 3,
            .dim_names = {"count", "parts"},
            .dim_count = 2,
            .layout_names = layout_names,
            .layout_count = 3,
            .validate = validate,
            .plan = plan,
            .shape_out = shape_out,
            .oracle = assay_normalizer_oracle,
            .checks = assay_normalizer_checks,
        },
    .variants = variants,
    .variant_count = (int)(sizeof variants / sizeof variants[0]),
    .bench = &assay_normalizer_bench,
};

/* ---- the typed calls ----------------------------------------------------------------------------------- */

/* The tensor type has one pointer for inputs and outputs; an input's is only read. */
static assay_tensor vector(const void *data, assay_dtype dtype, int64_t count, const assay_queue *queue) {
  return (assay_tensor){.data = (void *)(uintptr_t)data,
                        .dtype = dtype,
                        .device = queue != NULL ? queue->device : ASSAY_DEVICE_CPU,
                        .rank = 1,
                        .shape = {count},
                        .stride = {1}};
}

static assay_status call(int entry, const assay_tensor *in, const assay_tensor *out, assay_queue *queue) {
  assay_message why = {""};
  const assay_status status =
      assay_operator_call(&assay_online_normalizer_op, NULL, entry, in, out, NULL, queue, &why);
  if (status != ASSAY_OK) assay_set_last_error(why.text);
  return status;
}

assay_status assay_normalizer_summarise(assay_dtype dtype, const void *x, int64_t count, double state[2],
                                        assay_queue *queue) {
  const assay_tensor in = vector(x, dtype, count, queue);
  const assay_tensor out = vector(state, ASSAY_FP64, 2, queue);
  return call(ASSAY_ONLINE_NORMALIZER_SUMMARISE, &in, &out, queue);
}

assay_status assay_normalizer_merge(const double left[2], const double right[2], double state[2],
                                    assay_queue *queue) {
  const assay_tensor in[] = {vector(left, ASSAY_FP64, 2, queue), vector(right, ASSAY_FP64, 2, queue)};
  const assay_tensor out = vector(state, ASSAY_FP64, 2, queue);
  return call(ASSAY_ONLINE_NORMALIZER_MERGE, in, &out, queue);
}

assay_status assay_normalizer_finish(const double state[2], assay_dtype dtype, const void *x, int64_t count,
                                     void *y, assay_queue *queue) {
  const assay_tensor in[] = {vector(state, ASSAY_FP64, 2, queue), vector(x, dtype, count, queue)};
  const assay_tensor out = vector(y, dtype, count, queue);
  return call(ASSAY_ONLINE_NORMALIZER_FINISH, in, &out, queue);
}
