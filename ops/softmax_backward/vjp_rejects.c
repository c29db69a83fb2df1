/* SPDX-License-Identifier: MIT */
/* vjp_rejects.c - every kind of bad metadata, each with the status and the word that the sentence must hold.
 */
#include "probe.h"
#include "vjp.h"

/* A valid call that each check spoils in one place. */
typedef struct call {
  assay_case *operands;
  assay_tensor y;
  assay_tensor g;
  assay_tensor dx;
  int64_t opt[ASSAY_MAX_OPTIONS];
} call;

static bool start(assay_probe *probe, call *valid) {
  const assay_operand_plan packed = {.dtype = ASSAY_FP32, .rank = 2, .shape = {6, 5}, .stride = {5, 1}};
  const assay_plan plan = {.in = {packed, packed}, .out = {packed}};
  *valid = (call){.operands = assay_probe_make(probe, &plan)};
  if (valid->operands == NULL) return false;
  valid->y = assay_probe_in(probe, valid->operands, 0);
  valid->g = assay_probe_in(probe, valid->operands, 1);
  valid->dx = assay_probe_out(probe, valid->operands, 0);
  return true;
}

static void reject(assay_probe *probe, call spoiled, assay_status status, const char *word) {
  const assay_tensor in[] = {spoiled.y, spoiled.g};
  (void)assay_probe_reject(probe, in, &spoiled.dx, spoiled.opt, status, word);
}

static void set_rows(call *spoiled, int64_t rows) {
  spoiled->y.shape[0] = spoiled->g.shape[0] = spoiled->dx.shape[0] = rows;
}

void assay_vjp_rejects_pointers(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.y.data = NULL;
  reject(probe, bad, ASSAY_BAD_POINTER, "y is NULL");
  bad = valid;
  bad.g.data = NULL;
  reject(probe, bad, ASSAY_BAD_POINTER, "g is NULL");
  bad = valid;
  bad.dx.data = NULL;
  reject(probe, bad, ASSAY_BAD_POINTER, "dx is NULL");
  bad = valid;
  set_rows(&bad, 5); /* still inside the buffer */
  bad.y.data = (char *)valid.y.data + 1;
  reject(probe, bad, ASSAY_BAD_POINTER, "y is not aligned");
  bad.y.data = valid.y.data;
  bad.g.data = (char *)valid.g.data + 2;
  reject(probe, bad, ASSAY_BAD_POINTER, "g is not aligned");
  bad.g.data = valid.g.data;
  bad.dx.data = (char *)valid.dx.data + 3;
  reject(probe, bad, ASSAY_BAD_POINTER, "dx is not aligned");
}

void assay_vjp_rejects_shapes(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.y.rank = 3;
  reject(probe, bad, ASSAY_BAD_SHAPE, "y has rank 3");
  bad = valid;
  bad.g.rank = 1;
  reject(probe, bad, ASSAY_BAD_SHAPE, "g has rank 1");
  bad = valid;
  bad.dx.rank = 0;
  reject(probe, bad, ASSAY_BAD_SHAPE, "dx has rank 0");
  bad = valid;
  set_rows(&bad, -1);
  reject(probe, bad, ASSAY_BAD_SHAPE, "rows");
  bad = valid;
  bad.y.shape[1] = bad.g.shape[1] = bad.dx.shape[1] = 0;
  reject(probe, bad, ASSAY_BAD_SHAPE, "columns");
  bad = valid;
  bad.g.shape[0] = 5;
  reject(probe, bad, ASSAY_BAD_SHAPE, "g is 5 x 5");
  bad = valid;
  bad.g.shape[1] = 4;
  reject(probe, bad, ASSAY_BAD_SHAPE, "same");
  bad = valid;
  bad.dx.shape[0] = 5;
  reject(probe, bad, ASSAY_BAD_SHAPE, "dx is 5 x 5");
}

void assay_vjp_rejects_dtypes(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  set_rows(&bad, 3);
  bad.y.dtype = bad.g.dtype = bad.dx.dtype = ASSAY_FP64;
  reject(probe, bad, ASSAY_BAD_DTYPE, "y is fp64");
  bad = valid;
  bad.g.dtype = ASSAY_FP16;
  reject(probe, bad, ASSAY_BAD_DTYPE, "g is fp16");
  bad = valid;
  bad.dx.dtype = ASSAY_BF16;
  reject(probe, bad, ASSAY_BAD_DTYPE, "one type");
  bad = valid;
  bad.y.dtype = bad.g.dtype = bad.dx.dtype = (assay_dtype)17;
  reject(probe, bad, ASSAY_BAD_DTYPE, "y is");
}

void assay_vjp_rejects_strides(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.y.stride[0] = -5;
  reject(probe, bad, ASSAY_BAD_STRIDE, "row stride of y");
  bad = valid;
  bad.y.stride[1] = -1;
  reject(probe, bad, ASSAY_BAD_STRIDE, "column stride of y");
  bad = valid;
  bad.g.stride[0] = -5;
  reject(probe, bad, ASSAY_BAD_STRIDE, "row stride of g");
  bad = valid;
  bad.g.stride[1] = -1;
  reject(probe, bad, ASSAY_BAD_STRIDE, "column stride of g");
}

void assay_vjp_rejects_span_overflow(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.y.stride[0] = INT64_MAX / 2; /* times 5 wraps around in 64 bits */
  reject(probe, bad, ASSAY_BAD_STRIDE, "y of");
  bad = valid;
  bad.g.stride[0] = INT64_MAX / 5; /* elements fit, bytes do not */
  reject(probe, bad, ASSAY_BAD_STRIDE, "g of");
  bad = valid;
  set_rows(&bad, INT64_MAX / 4);
  bad.y.stride[0] = bad.g.stride[0] = 0; /* only dx is too large */
  reject(probe, bad, ASSAY_BAD_STRIDE, "dx of");
}

void assay_vjp_rejects_output_layout(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  set_rows(&bad, 5);
  bad.dx.stride[0] = 6;
  reject(probe, bad, ASSAY_BAD_STRIDE, "contiguous");
  bad = valid;
  bad.dx.stride[0] = 1;
  bad.dx.stride[1] = 6;
  reject(probe, bad, ASSAY_BAD_STRIDE, "contiguous");
  bad = valid;
  bad.dx.stride[0] = 0;
  reject(probe, bad, ASSAY_BAD_STRIDE, "contiguous");
}

void assay_vjp_rejects_overlap(assay_probe *probe) {
  /* In place is refused, with y and with g: NVIDIA/apex#1430 wrote its result into g, and a kernel that
   * copied g to dx first destroyed a y at the same place (ggml-org/ggml#1521, also NVIDIA/apex#1587). */
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.y.data = valid.dx.data;
  reject(probe, bad, ASSAY_BAD_ALIAS, "dx overlaps y");
  bad = valid;
  bad.g.data = valid.dx.data;
  reject(probe, bad, ASSAY_BAD_ALIAS, "dx overlaps g");
  set_rows(&bad, 3);
  bad.g.data = (float *)valid.dx.data + 14; /* the last element of dx is the first of g */
  reject(probe, bad, ASSAY_BAD_ALIAS, "dx overlaps g");
  bad.g.data = valid.g.data;
  bad.y.data = valid.dx.data;
  bad.dx.data = (float *)valid.dx.data + 14; /* and the last of y the first of dx */
  reject(probe, bad, ASSAY_BAD_ALIAS, "dx overlaps y");
  bad = valid;
  bad.g.data = (float *)valid.dx.data + 29; /* one repeated element inside dx */
  bad.g.stride[0] = bad.g.stride[1] = 0;
  reject(probe, bad, ASSAY_BAD_ALIAS, "dx overlaps g");
}

void assay_vjp_rejects_device(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.y.device = assay_probe_other_device(&valid.y, false);
  reject(probe, bad, ASSAY_BAD_DEVICE, "y");
  bad = valid;
  bad.g.device = assay_probe_other_device(&valid.g, false);
  reject(probe, bad, ASSAY_BAD_DEVICE, "g");
  bad = valid;
  bad.dx.device = assay_probe_other_device(&valid.dx, true);
  reject(probe, bad, ASSAY_BAD_DEVICE, "dx");
}

void assay_vjp_rejects_options(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  const int64_t never[] = {1, 5, -4, INT64_MAX};
  for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
    valid.opt[ASSAY_SOFTMAX_BACKWARD_WARPS] = never[i];
    reject(probe, valid, ASSAY_BAD_OPTION, "warps");
  }
  /* A real value, but a CPU variant has no warps. */
  if (valid.y.device == ASSAY_DEVICE_CPU) {
    valid.opt[ASSAY_SOFTMAX_BACKWARD_WARPS] = 8;
    reject(probe, valid, ASSAY_BAD_OPTION, "warps");
  }
}

void assay_vjp_workshop_limits(assay_probe *probe) {
  const assay_operand_plan packed = {.dtype = ASSAY_FP16, .rank = 2, .shape = {1, 8193}, .stride = {8193, 1}};
  const assay_plan plan = {.in = {packed, packed}, .out = {packed}};
  assay_case *operands = assay_probe_make(probe, &plan);
  if (operands == NULL) return;
  assay_tensor in[] = {assay_probe_in(probe, operands, 0), assay_probe_in(probe, operands, 1)};
  assay_tensor dx = assay_probe_out(probe, operands, 0);
  assay_message why;
  if (probe->subject->validate(0, in, &dx, NULL, ASSAY_LIMITS_WORKSHOP, &why) != ASSAY_BAD_SHAPE) {
    assay_probe_fail(probe, "the workshop's limits accept 8193 columns");
  }
  if (probe->subject->validate(0, in, &dx, NULL, ASSAY_LIMITS_LIBRARY, &why) != ASSAY_OK) {
    assay_probe_fail(probe, "the library's limits refuse 8193 columns");
  }
  for (int i = 0; i < 2; i++) in[i].shape[1] = in[i].stride[0] = 8192;
  dx.shape[1] = dx.stride[0] = 8192;
  if (probe->subject->validate(0, in, &dx, NULL, ASSAY_LIMITS_WORKSHOP, &why) != ASSAY_OK) {
    assay_probe_fail(probe, "the workshop's limits refuse 8192 columns");
  }
}
