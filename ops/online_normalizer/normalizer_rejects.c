/* SPDX-License-Identifier: MIT */
/* normalizer_rejects.c - every kind of bad metadata of the three functions, each with the status and the word
 * that the sentence must hold. */
#include "normalizer_sets.h"

/* A valid call that each check spoils in one place. */
typedef struct call {
  assay_tensor in[ASSAY_MAX_OPERANDS];
  assay_tensor out[ASSAY_MAX_OPERANDS];
} call;

static const int64_t no_options[ASSAY_MAX_OPTIONS];

/* Makes the case of one function, and it alone: a refusal names its function by the first case. */
static bool start(assay_probe *probe, int entry, call *valid) {
  assay_probe_release(probe);
  assay_case *operands = assay_normalizer_case(probe, entry, ASSAY_FP32, 8);
  if (operands == NULL) return false;
  *valid = (call){.in = {assay_probe_in(probe, operands, 0), assay_probe_in(probe, operands, 1)},
                  .out = {assay_probe_out(probe, operands, 0)}};
  return true;
}

static void reject(assay_probe *probe, call spoiled, assay_status status, const char *word) {
  (void)assay_probe_reject(probe, spoiled.in, spoiled.out, no_options, status, word);
}

/* The case, one input or output spoiled by `spoil`, and the refusal. */
typedef void damage(assay_tensor *tensor);

static void spoil_in(assay_probe *probe, int entry, int index, damage *spoil, assay_status status,
                     const char *word) {
  call bad;
  if (!start(probe, entry, &bad)) return;
  spoil(&bad.in[index]);
  reject(probe, bad, status, word);
}

static void spoil_out(assay_probe *probe, int entry, damage *spoil, assay_status status, const char *word) {
  call bad;
  if (!start(probe, entry, &bad)) return;
  spoil(&bad.out[0]);
  reject(probe, bad, status, word);
}

static void no_data(assay_tensor *tensor) {
  tensor->data = NULL;
}

static void odd_address(assay_tensor *tensor) {
  tensor->data = (char *)tensor->data + 1;
}

static void two_dimensions(assay_tensor *tensor) {
  tensor->rank = 2;
  tensor->shape[1] = tensor->stride[1] = 1;
}

static void negative_count(assay_tensor *tensor) {
  tensor->shape[0] = -1;
}

static void one_element(assay_tensor *tensor) {
  tensor->shape[0] = 1;
}

static void half_precision(assay_tensor *tensor) {
  tensor->dtype = ASSAY_FP16;
}

static void single_precision(assay_tensor *tensor) {
  tensor->dtype = ASSAY_FP32;
}

static void no_such_type(assay_tensor *tensor) {
  tensor->dtype = (assay_dtype)17;
}

static void every_second(assay_tensor *tensor) {
  tensor->stride[0] = 2;
}

static void backwards(assay_tensor *tensor) {
  tensor->stride[0] = -1;
}

static void repeated(assay_tensor *tensor) {
  tensor->stride[0] = 0;
}

static void endless(assay_tensor *tensor) {
  tensor->shape[0] = INT64_MAX / 3; /* elements fit, bytes do not */
}

static void on_a_gpu(assay_tensor *tensor) {
  tensor->device = 0;
}

enum {
  SUMMARISE = ASSAY_ONLINE_NORMALIZER_SUMMARISE,
  MERGE = ASSAY_ONLINE_NORMALIZER_MERGE,
  FINISH = ASSAY_ONLINE_NORMALIZER_FINISH
};

void assay_normalizer_rejects_pointers(assay_probe *probe) {
  spoil_in(probe, SUMMARISE, 0, no_data, ASSAY_BAD_POINTER, "x is NULL");
  spoil_out(probe, SUMMARISE, no_data, ASSAY_BAD_POINTER, "state is NULL");
  spoil_in(probe, SUMMARISE, 0, odd_address, ASSAY_BAD_POINTER, "x is not aligned");
  spoil_in(probe, MERGE, 0, no_data, ASSAY_BAD_POINTER, "left is NULL");
  spoil_in(probe, MERGE, 1, no_data, ASSAY_BAD_POINTER, "right is NULL");
  spoil_in(probe, MERGE, 1, odd_address, ASSAY_BAD_POINTER, "right is not aligned");
  spoil_out(probe, MERGE, no_data, ASSAY_BAD_POINTER, "state is NULL");
  spoil_in(probe, FINISH, 0, no_data, ASSAY_BAD_POINTER, "state is NULL");
  spoil_in(probe, FINISH, 1, no_data, ASSAY_BAD_POINTER, "x is NULL");
  spoil_out(probe, FINISH, no_data, ASSAY_BAD_POINTER, "y is NULL");
  spoil_out(probe, FINISH, odd_address, ASSAY_BAD_POINTER, "y is not aligned");
  call bad;
  if (!start(probe, SUMMARISE, &bad)) return;
  bad.in[0].shape[0] = 0; /* no elements: x may be anything, but the state is still written */
  bad.in[0].data = NULL;
  bad.out[0].data = NULL;
  reject(probe, bad, ASSAY_BAD_POINTER, "state is NULL");
}

void assay_normalizer_rejects_shapes(assay_probe *probe) {
  spoil_in(probe, SUMMARISE, 0, two_dimensions, ASSAY_BAD_SHAPE, "x has rank 2");
  spoil_in(probe, SUMMARISE, 0, negative_count, ASSAY_BAD_SHAPE, "x has -1 elements");
  spoil_out(probe, SUMMARISE, one_element, ASSAY_BAD_SHAPE, "state has 1 elements");
  spoil_in(probe, MERGE, 0, one_element, ASSAY_BAD_SHAPE, "left has 1 elements");
  spoil_in(probe, MERGE, 1, two_dimensions, ASSAY_BAD_SHAPE, "right has rank 2");
  spoil_in(probe, FINISH, 0, one_element, ASSAY_BAD_SHAPE, "state has 1 elements");
  spoil_in(probe, FINISH, 1, one_element, ASSAY_BAD_SHAPE, "the same");
  spoil_out(probe, FINISH, one_element, ASSAY_BAD_SHAPE, "the same");
}

void assay_normalizer_rejects_dtypes(assay_probe *probe) {
  spoil_in(probe, SUMMARISE, 0, half_precision, ASSAY_BAD_DTYPE, "x is fp16");
  spoil_in(probe, SUMMARISE, 0, no_such_type, ASSAY_BAD_DTYPE, "x is");
  spoil_out(probe, SUMMARISE, single_precision, ASSAY_BAD_DTYPE, "state is fp32");
  spoil_in(probe, MERGE, 0, single_precision, ASSAY_BAD_DTYPE, "left is fp32");
  spoil_in(probe, MERGE, 1, half_precision, ASSAY_BAD_DTYPE, "right is fp16");
  spoil_in(probe, FINISH, 0, single_precision, ASSAY_BAD_DTYPE, "state is fp32");
  spoil_in(probe, FINISH, 1, half_precision, ASSAY_BAD_DTYPE, "x is fp16");
  spoil_out(probe, FINISH, half_precision, ASSAY_BAD_DTYPE, "one type");
}

void assay_normalizer_rejects_strides(assay_probe *probe) {
  spoil_in(probe, SUMMARISE, 0, every_second, ASSAY_BAD_STRIDE, "stride of x");
  spoil_in(probe, SUMMARISE, 0, backwards, ASSAY_BAD_STRIDE, "stride of x");
  spoil_in(probe, SUMMARISE, 0, repeated, ASSAY_BAD_STRIDE, "stride of x");
  spoil_in(probe, MERGE, 1, every_second, ASSAY_BAD_STRIDE, "stride of right");
  spoil_in(probe, FINISH, 1, backwards, ASSAY_BAD_STRIDE, "stride of x");
  spoil_out(probe, FINISH, every_second, ASSAY_BAD_STRIDE, "stride of y");
}

void assay_normalizer_rejects_span_overflow(assay_probe *probe) {
  spoil_in(probe, SUMMARISE, 0, endless, ASSAY_BAD_SHAPE, "x of");
  spoil_in(probe, FINISH, 1, endless, ASSAY_BAD_SHAPE, "x of");
  spoil_out(probe, FINISH, endless, ASSAY_BAD_SHAPE, "y of");
}

void assay_normalizer_rejects_overlap(assay_probe *probe) {
  call bad;
  if (!start(probe, SUMMARISE, &bad)) return;
  bad.in[0].data = bad.out[0].data;
  reject(probe, bad, ASSAY_BAD_ALIAS, "state overlaps x");
  bad.in[0].data = (float *)bad.out[0].data + 3; /* the sum's upper half is the first element */
  reject(probe, bad, ASSAY_BAD_ALIAS, "state overlaps x");
  for (int side = 0; side < 2; side++) {
    if (!start(probe, MERGE, &bad)) return;
    bad.in[side].data = bad.out[0].data; /* merging in place */
    reject(probe, bad, ASSAY_BAD_ALIAS, side == 0 ? "state overlaps left" : "state overlaps right");
    bad.in[side].data = (double *)bad.out[0].data + 1;
    reject(probe, bad, ASSAY_BAD_ALIAS, side == 0 ? "state overlaps left" : "state overlaps right");
  }
  if (!start(probe, FINISH, &bad)) return;
  const call valid = bad;
  bad.in[1].data = bad.out[0].data;
  reject(probe, bad, ASSAY_BAD_ALIAS, "y overlaps x");
  bad = valid;
  bad.in[0].data = bad.out[0].data; /* 16 bytes of state in 32 of y */
  reject(probe, bad, ASSAY_BAD_ALIAS, "y overlaps state");
}

void assay_normalizer_rejects_device(assay_probe *probe) {
  spoil_in(probe, SUMMARISE, 0, on_a_gpu, ASSAY_BAD_DEVICE, "x");
  spoil_out(probe, SUMMARISE, on_a_gpu, ASSAY_BAD_DEVICE, "state");
  spoil_in(probe, MERGE, 1, on_a_gpu, ASSAY_BAD_DEVICE, "right");
  spoil_in(probe, FINISH, 0, on_a_gpu, ASSAY_BAD_DEVICE, "state");
  spoil_out(probe, FINISH, on_a_gpu, ASSAY_BAD_DEVICE, "y");
}
