/* SPDX-License-Identifier: MIT */
/* gemm_rejects.c - every kind of bad metadata, each with the status and the word that the sentence must hold.
 */
#include "gemm_case.h"

/* A valid call that each check spoils in one place. */
typedef struct call {
  assay_tensor in[ASSAY_FUSED_GEMM_INPUTS];
  assay_tensor c;
  int64_t opt[ASSAY_MAX_OPTIONS];
} call;

enum { A = ASSAY_FUSED_GEMM_A, B = ASSAY_FUSED_GEMM_B, BIAS = ASSAY_FUSED_GEMM_BIAS };

/* 6 x 5 from 6 x 4 and 4 x 5. */
static bool start(assay_probe *probe, call *valid) {
  assay_case *operands = gemm_make(probe, ASSAY_FP16, 6, 5, 4);
  if (operands == NULL) return false;
  *valid = (call){.c = assay_probe_out(probe, operands, 0)};
  for (int i = 0; i < ASSAY_FUSED_GEMM_INPUTS; i++) valid->in[i] = assay_probe_in(probe, operands, i);
  return true;
}

static void reject(assay_probe *probe, call spoiled, assay_status status, const char *word) {
  (void)assay_probe_reject(probe, spoiled.in, &spoiled.c, spoiled.opt, status, word);
}

void assay_gemm_rejects_pointers(assay_probe *probe) {
  const char *const nulls[] = {"a is NULL", "b is NULL", "bias is NULL"};
  const char *const crooked[] = {"a is not aligned", "b is not aligned", "bias is not aligned"};
  call valid;
  if (!start(probe, &valid)) return;
  for (int i = 0; i < ASSAY_FUSED_GEMM_INPUTS; i++) {
    call bad = valid;
    bad.in[i].data = NULL;
    reject(probe, bad, ASSAY_BAD_POINTER, nulls[i]);
    bad.in[i].data = (char *)valid.in[i].data + 1;
    reject(probe, bad, ASSAY_BAD_POINTER, crooked[i]);
  }
  call bad = valid;
  bad.c.data = NULL;
  reject(probe, bad, ASSAY_BAD_POINTER, "c is NULL");
  bad.c.data = (char *)valid.c.data + 1;
  reject(probe, bad, ASSAY_BAD_POINTER, "c is not aligned");
}

void assay_gemm_rejects_shapes(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.in[A].rank = 3;
  reject(probe, bad, ASSAY_BAD_SHAPE, "a has rank 3");
  bad = valid;
  bad.in[B].rank = 1;
  reject(probe, bad, ASSAY_BAD_SHAPE, "b has rank 1");
  bad = valid;
  bad.in[BIAS].rank = 2;
  reject(probe, bad, ASSAY_BAD_SHAPE, "bias has rank 2");
  bad = valid;
  bad.c.rank = 4;
  reject(probe, bad, ASSAY_BAD_SHAPE, "c has rank 4");
  bad = valid;
  bad.in[A].shape[0] = bad.c.shape[0] = -1;
  reject(probe, bad, ASSAY_BAD_SHAPE, "of a");
  bad = valid;
  bad.in[B].shape[1] = bad.in[BIAS].shape[0] = bad.c.shape[1] = -5;
  reject(probe, bad, ASSAY_BAD_SHAPE, "of b");
  bad = valid;
  bad.in[A].shape[1] = 3; /* the inner sizes differ */
  reject(probe, bad, ASSAY_BAD_SHAPE, "columns");
  bad = valid;
  bad.in[BIAS].shape[0] = 4;
  reject(probe, bad, ASSAY_BAD_SHAPE, "bias has");
  bad = valid;
  bad.c.shape[0] = 5;
  reject(probe, bad, ASSAY_BAD_SHAPE, "c is");
  bad = valid;
  bad.c.shape[1] = 4;
  reject(probe, bad, ASSAY_BAD_SHAPE, "c is");
}

void assay_gemm_rejects_dtypes(assay_probe *probe) {
  const char *const names[] = {"a is", "b is", "bias is"};
  call valid;
  if (!start(probe, &valid)) return;
  for (int i = 0; i < ASSAY_FUSED_GEMM_INPUTS; i++) {
    call bad = valid;
    bad.in[i].dtype = ASSAY_FP32; /* not for this operator */
    reject(probe, bad, ASSAY_BAD_DTYPE, names[i]);
    bad.in[i].dtype = (assay_dtype)17;
    reject(probe, bad, ASSAY_BAD_DTYPE, names[i]);
  }
  call bad = valid; /* agreeing on it does not help */
  bad.in[A].dtype = bad.in[B].dtype = bad.in[BIAS].dtype = bad.c.dtype = ASSAY_FP32;
  reject(probe, bad, ASSAY_BAD_DTYPE, "a is fp32");
  bad = valid;
  bad.in[B].dtype = ASSAY_BF16;
  reject(probe, bad, ASSAY_BAD_DTYPE, "one type");
  bad = valid;
  bad.c.dtype = ASSAY_BF16;
  reject(probe, bad, ASSAY_BAD_DTYPE, "one type");
}

void assay_gemm_rejects_strides(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.in[A].stride[0] = -4;
  reject(probe, bad, ASSAY_BAD_STRIDE, "row stride of a");
  bad = valid;
  bad.in[B].stride[0] = -1;
  reject(probe, bad, ASSAY_BAD_STRIDE, "row stride of b");
  const int64_t steps[] = {0, 2, -1};
  for (int i = 0; i < 3; i++) { /* also a transposed operand would need another column stride */
    bad = valid;
    bad.in[A].stride[1] = steps[i];
    reject(probe, bad, ASSAY_BAD_STRIDE, "column stride of a");
    bad = valid;
    bad.in[B].stride[1] = steps[i];
    reject(probe, bad, ASSAY_BAD_STRIDE, "column stride of b");
    bad = valid;
    bad.in[BIAS].stride[0] = steps[i];
    reject(probe, bad, ASSAY_BAD_STRIDE, "stride of bias");
  }
}

void assay_gemm_rejects_span_overflow(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.in[A].stride[0] = INT64_MAX / 2; /* times 5 wraps around in 64 bits */
  reject(probe, bad, ASSAY_BAD_STRIDE, "a spans more");
  bad = valid;
  bad.in[B].stride[0] = INT64_MAX / 3; /* elements fit, bytes do not */
  reject(probe, bad, ASSAY_BAD_STRIDE, "b spans more");
  bad = valid;
  bad.in[A].shape[0] = bad.c.shape[0] = INT64_MAX / 4;
  bad.in[A].stride[0] = 0; /* only c is too large */
  reject(probe, bad, ASSAY_BAD_STRIDE, "c spans more");
}

void assay_gemm_rejects_output_layout(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  const int64_t strides[][2] = {{6, 1}, {1, 6}, {0, 1}, {10, 2}};
  for (int i = 0; i < 4; i++) {
    call bad = valid;
    bad.c.stride[0] = strides[i][0];
    bad.c.stride[1] = strides[i][1];
    reject(probe, bad, ASSAY_BAD_STRIDE, "contiguous");
  }
}

void assay_gemm_rejects_overlap(assay_probe *probe) {
  const char *const names[] = {"overlaps a", "overlaps b", "overlaps bias"};
  call valid;
  if (!start(probe, &valid)) return;
  for (int i = 0; i < ASSAY_FUSED_GEMM_INPUTS; i++) {
    call bad = valid;
    bad.in[i].data = valid.c.data;
    reject(probe, bad, ASSAY_BAD_ALIAS, names[i]);
    bad.in[i].data = (uint16_t *)valid.c.data + 29; /* the last element of c is the first of the input */
    reject(probe, bad, ASSAY_BAD_ALIAS, names[i]);
  }
  call bad = valid;
  bad.in[A].data = (uint16_t *)valid.c.data + 12; /* one repeated row inside c */
  bad.in[A].stride[0] = 0;
  reject(probe, bad, ASSAY_BAD_ALIAS, "overlaps a");
}

void assay_gemm_rejects_device(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  const char *const names[] = {"a is on", "b is on", "bias is on"};
  for (int i = 0; i < ASSAY_FUSED_GEMM_INPUTS; i++) {
    call bad = valid;
    bad.in[i].device = assay_probe_other_device(&valid.in[i], false);
    reject(probe, bad, ASSAY_BAD_DEVICE, names[i]);
  }
  call bad = valid;
  bad.c.device = assay_probe_other_device(&valid.c, true);
  reject(probe, bad, ASSAY_BAD_DEVICE, "c is on");
}

void assay_gemm_rejects_options(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  const int64_t groups[] = {2, 3, 16, -4, INT64_MAX};
  const int64_t tiles[] = {1, 8, 48, 128, -16};
  for (int i = 0; i < 5; i++) {
    call bad = valid;
    bad.opt[ASSAY_FUSED_GEMM_GROUP] = groups[i];
    reject(probe, bad, ASSAY_BAD_OPTION, "group");
    bad = valid;
    bad.opt[ASSAY_FUSED_GEMM_TILE_M] = tiles[i];
    reject(probe, bad, ASSAY_BAD_OPTION, "tile_m");
  }
}

void assay_gemm_unread_operands(assay_probe *probe) {
  /* What a size of 0 leaves unread may be anything: no pointer is asked for, and none can overlap. */
  assay_case *operands = gemm_make(probe, ASSAY_BF16, 2, 3, 4);
  if (operands == NULL) return;
  assay_tensor in[ASSAY_FUSED_GEMM_INPUTS];
  for (int i = 0; i < ASSAY_FUSED_GEMM_INPUTS; i++) in[i] = assay_probe_in(probe, operands, i);
  assay_tensor c = assay_probe_out(probe, operands, 0);
  assay_message why;
  in[A].data = in[B].data = c.data;
  in[A].shape[1] = in[B].shape[0] = 0;
  if (probe->subject->validate(0, in, &c, NULL, probe->limits, &why) != ASSAY_OK) {
    assay_probe_fail(probe, "matrices without elements are taken to overlap c");
  }
  in[A].data = in[B].data = NULL;
  if (probe->subject->validate(0, in, &c, NULL, probe->limits, &why) != ASSAY_OK) {
    assay_probe_fail(probe, "k = 0 with NULL matrices is refused");
  }
  in[BIAS].data = NULL;
  if (probe->subject->validate(0, in, &c, NULL, probe->limits, &why) != ASSAY_BAD_POINTER) {
    assay_probe_fail(probe, "k = 0 with a NULL bias is accepted, though the bias is read");
  }
  in[A].shape[0] = c.shape[0] = 0;
  c.data = NULL;
  if (probe->subject->validate(0, in, &c, NULL, probe->limits, &why) != ASSAY_OK) {
    assay_probe_fail(probe, "m = 0 with NULL operands is refused");
  }
}
