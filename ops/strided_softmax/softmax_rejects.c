/* SPDX-License-Identifier: MIT */
/* softmax_rejects.c - every kind of bad metadata, each with the status and the word that the sentence must
 * hold. */
#include "probe.h"
#include "softmax.h"

/* A valid call that each check spoils in one place. */
typedef struct call {
  assay_case *operands;
  assay_tensor x;
  assay_tensor y;
  int64_t opt[ASSAY_MAX_OPTIONS];
} call;

static bool start(assay_probe *probe, call *valid) {
  const assay_plan plan = {
      .in = {{.dtype = ASSAY_FP32, .rank = 2, .shape = {6, 5}, .stride = {5, 1}}},
      .out = {{.dtype = ASSAY_FP32, .rank = 2, .shape = {6, 5}, .stride = {5, 1}}},
  };
  *valid = (call){.operands = assay_probe_make(probe, &plan)};
  if (valid->operands == NULL) return false;
  valid->x = assay_probe_in(probe, valid->operands, 0);
  valid->y = assay_probe_out(probe, valid->operands, 0);
  return true;
}

static void reject(assay_probe *probe, call spoiled, assay_status status, const char *word) {
  (void)assay_probe_reject(probe, &spoiled.x, &spoiled.y, spoiled.opt, status, word);
}

void assay_softmax_rejects_pointers(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.x.data = NULL;
  reject(probe, bad, ASSAY_BAD_POINTER, "x is NULL");
  bad = valid;
  bad.y.data = NULL;
  reject(probe, bad, ASSAY_BAD_POINTER, "y is NULL");
  bad = valid;
  bad.x.data = (char *)valid.x.data + 1;
  bad.x.shape[0] = bad.y.shape[0] = 5; /* still inside the buffer */
  reject(probe, bad, ASSAY_BAD_POINTER, "x is not aligned");
  bad.x.data = valid.x.data;
  bad.y.data = (char *)valid.y.data + 2;
  reject(probe, bad, ASSAY_BAD_POINTER, "y is not aligned");
}

void assay_softmax_rejects_shapes(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.x.rank = 3;
  reject(probe, bad, ASSAY_BAD_SHAPE, "x has rank 3");
  bad = valid;
  bad.y.rank = 1;
  reject(probe, bad, ASSAY_BAD_SHAPE, "y has rank 1");
  bad = valid;
  bad.x.shape[0] = bad.y.shape[0] = -1;
  reject(probe, bad, ASSAY_BAD_SHAPE, "rows");
  bad = valid;
  bad.x.shape[1] = bad.y.shape[1] = 0;
  reject(probe, bad, ASSAY_BAD_SHAPE, "columns");
  bad = valid;
  bad.y.shape[0] = 5;
  reject(probe, bad, ASSAY_BAD_SHAPE, "same");
  bad = valid;
  bad.x.shape[1] = 4;
  reject(probe, bad, ASSAY_BAD_SHAPE, "same");
}

void assay_softmax_rejects_dtypes(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.x.dtype = bad.y.dtype = ASSAY_FP64;
  bad.x.shape[0] = bad.y.shape[0] = 3;
  reject(probe, bad, ASSAY_BAD_DTYPE, "x is fp64");
  bad = valid;
  bad.y.dtype = ASSAY_FP16;
  reject(probe, bad, ASSAY_BAD_DTYPE, "one type");
  bad = valid;
  bad.x.dtype = bad.y.dtype = (assay_dtype)17;
  reject(probe, bad, ASSAY_BAD_DTYPE, "x is");
}

void assay_softmax_rejects_strides(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.x.stride[0] = -5;
  reject(probe, bad, ASSAY_BAD_STRIDE, "row stride of x");
  bad = valid;
  bad.x.stride[1] = -1;
  reject(probe, bad, ASSAY_BAD_STRIDE, "column stride of x");
}

void assay_softmax_rejects_span_overflow(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.x.stride[0] = INT64_MAX / 2; /* times 5 wraps around in 64 bits */
  reject(probe, bad, ASSAY_BAD_STRIDE, "spans more");
  bad = valid;
  bad.x.stride[0] = INT64_MAX / 5; /* elements fit, bytes do not */
  reject(probe, bad, ASSAY_BAD_STRIDE, "spans more");
  bad = valid;
  bad.x.shape[0] = bad.y.shape[0] = INT64_MAX / 4;
  bad.x.stride[0] = 0; /* only y is too large */
  reject(probe, bad, ASSAY_BAD_STRIDE, "y of");
}

void assay_softmax_rejects_output_layout(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.x.shape[0] = bad.y.shape[0] = 5;
  bad.y.stride[0] = 6;
  reject(probe, bad, ASSAY_BAD_STRIDE, "contiguous");
  bad = valid;
  bad.y.stride[0] = 1;
  bad.y.stride[1] = 6;
  reject(probe, bad, ASSAY_BAD_STRIDE, "contiguous");
  bad = valid;
  bad.y.stride[0] = 0;
  reject(probe, bad, ASSAY_BAD_STRIDE, "contiguous");
}

void assay_softmax_rejects_overlap(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.x.data = valid.y.data;
  reject(probe, bad, ASSAY_BAD_ALIAS, "overlaps");
  bad.x.shape[0] = bad.y.shape[0] = 3;
  bad.x.data = (float *)valid.y.data + 14; /* the last element of y is the first of x */
  reject(probe, bad, ASSAY_BAD_ALIAS, "overlaps");
  bad.x.data = valid.y.data;
  bad.y.data = (float *)valid.y.data + 14;
  reject(probe, bad, ASSAY_BAD_ALIAS, "overlaps");
  bad = valid;
  bad.x.data = (float *)valid.y.data + 29; /* one repeated element inside y */
  bad.x.stride[0] = bad.x.stride[1] = 0;
  reject(probe, bad, ASSAY_BAD_ALIAS, "overlaps");
}

void assay_softmax_rejects_device(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad;
  for (int cpu = 0; cpu < 2; cpu++) {
    bad = valid;
    bad.x.device = assay_probe_other_device(&valid.x, cpu != 0);
    reject(probe, bad, ASSAY_BAD_DEVICE, "x");
    bad = valid;
    bad.y.device = assay_probe_other_device(&valid.y, cpu != 0);
    reject(probe, bad, ASSAY_BAD_DEVICE, "y");
  }
}

void assay_softmax_rejects_options(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  const int64_t never[] = {1, 5, -4, INT64_MAX};
  for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
    valid.opt[ASSAY_STRIDED_SOFTMAX_WARPS] = never[i];
    reject(probe, valid, ASSAY_BAD_OPTION, "warps");
  }
  /* A real value, but a CPU variant has no warps. */
  if (valid.x.device == ASSAY_DEVICE_CPU) {
    valid.opt[ASSAY_STRIDED_SOFTMAX_WARPS] = 4;
    reject(probe, valid, ASSAY_BAD_OPTION, "warps");
  }
}

void assay_softmax_workshop_limits(assay_probe *probe) {
  const assay_plan plan = {
      .in = {{.dtype = ASSAY_FP16, .rank = 2, .shape = {1, 8193}, .stride = {8193, 1}}},
      .out = {{.dtype = ASSAY_FP16, .rank = 2, .shape = {1, 8193}, .stride = {8193, 1}}},
  };
  assay_case *operands = assay_probe_make(probe, &plan);
  if (operands == NULL) return;
  assay_tensor x = assay_probe_in(probe, operands, 0);
  assay_tensor y = assay_probe_out(probe, operands, 0);
  assay_message why;
  if (probe->subject->validate(0, &x, &y, NULL, ASSAY_LIMITS_WORKSHOP, &why) != ASSAY_BAD_SHAPE) {
    assay_probe_fail(probe, "the workshop's limits accept 8193 columns");
  }
  if (probe->subject->validate(0, &x, &y, NULL, ASSAY_LIMITS_LIBRARY, &why) != ASSAY_OK) {
    assay_probe_fail(probe, "the library's limits refuse 8193 columns");
  }
  x.shape[1] = y.shape[1] = x.stride[0] = y.stride[0] = 8192;
  if (probe->subject->validate(0, &x, &y, NULL, ASSAY_LIMITS_WORKSHOP, &why) != ASSAY_OK) {
    assay_probe_fail(probe, "the workshop's limits refuse 8192 columns");
  }
}
