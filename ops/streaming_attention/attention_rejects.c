/* SPDX-License-Identifier: MIT */
/* attention_rejects.c - every kind of bad metadata, each with the status and the word that the sentence must
 * hold. */
#include "attention.h"
#include "probe.h"

/* A valid call that each check spoils in one place. */
typedef struct call {
  assay_tensor in[ASSAY_STREAMING_ATTENTION_INPUTS];
  assay_tensor o;
  int64_t opt[ASSAY_MAX_OPTIONS];
} call;

enum { Q = ASSAY_STREAMING_ATTENTION_Q, K = ASSAY_STREAMING_ATTENTION_K, V = ASSAY_STREAMING_ATTENTION_V };

static bool start(assay_probe *probe, call *valid) {
  const assay_row row = {.dims = {4, 16, 2, 3}};
  assay_plan plan = {0};
  probe->subject->plan(&row, ASSAY_FP16, ASSAY_ATTENTION_PACKED, &plan);
  const assay_case *operands = assay_probe_make(probe, &plan);
  if (operands == NULL) return false;
  *valid = (call){.o = assay_probe_out(probe, operands, 0)};
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    valid->in[i] = assay_probe_in(probe, operands, i);
  }
  return true;
}

static void reject(assay_probe *probe, call spoiled, assay_status status, const char *word) {
  (void)assay_probe_reject(probe, spoiled.in, &spoiled.o, spoiled.opt, status, word);
}

/* One size of all four operands. */
static call resized(const call *valid, int dimension, int64_t size) {
  call other = *valid;
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) other.in[i].shape[dimension] = size;
  other.o.shape[dimension] = size;
  return other;
}

void assay_attention_rejects_pointers(assay_probe *probe) {
  static const char *const missing[] = {"q is NULL", "k is NULL", "v is NULL"};
  static const char *const skewed[] = {"q is not aligned", "k is not aligned", "v is not aligned"};
  call valid;
  if (!start(probe, &valid)) return;
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    call bad = valid;
    bad.in[i].data = NULL;
    reject(probe, bad, ASSAY_BAD_POINTER, missing[i]);
    bad = resized(&valid, 0, 2); /* still inside the buffer */
    bad.in[i].data = (char *)valid.in[i].data + 1;
    reject(probe, bad, ASSAY_BAD_POINTER, skewed[i]);
  }
  call bad = valid;
  bad.o.data = NULL;
  reject(probe, bad, ASSAY_BAD_POINTER, "o is NULL");
  bad.o.data = (char *)valid.o.data + 1;
  reject(probe, bad, ASSAY_BAD_POINTER, "o is not aligned");
}

void assay_attention_rejects_shapes(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.in[Q].rank = 3;
  reject(probe, bad, ASSAY_BAD_SHAPE, "q has rank 3");
  bad = valid;
  bad.in[K].rank = 2;
  reject(probe, bad, ASSAY_BAD_SHAPE, "k has rank 2");
  bad = valid;
  bad.o.rank = 2;
  reject(probe, bad, ASSAY_BAD_SHAPE, "o has rank 2");
  for (int dimension = 0; dimension < 3; dimension++) {
    reject(probe, resized(&valid, dimension, -1), ASSAY_BAD_SHAPE, "0 or more");
  }
  reject(probe, resized(&valid, 3, 0), ASSAY_BAD_SHAPE, "1 to 256");
  reject(probe, resized(&valid, 3, 257), ASSAY_BAD_SHAPE, "1 to 256");
  for (int dimension = 0; dimension < 4; dimension++) {
    bad = valid;
    bad.in[K].shape[dimension] = 1;
    reject(probe, bad, ASSAY_BAD_SHAPE, "of k is 1");
    bad = valid;
    bad.in[V].shape[dimension] = 1;
    reject(probe, bad, ASSAY_BAD_SHAPE, "of v is 1");
    bad = valid;
    bad.o.shape[dimension] = 1;
    reject(probe, bad, ASSAY_BAD_SHAPE, "of o is 1");
  }
}

void assay_attention_rejects_dtypes(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  const assay_dtype never[] = {ASSAY_FP32, ASSAY_FP64, (assay_dtype)17};
  for (size_t k = 0; k < sizeof never / sizeof never[0]; k++) {
    call bad = resized(&valid, 0, 0);
    for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) bad.in[i].dtype = never[k];
    bad.o.dtype = never[k];
    reject(probe, bad, ASSAY_BAD_DTYPE, "q is");
  }
  call bad = valid;
  bad.in[K].dtype = ASSAY_BF16;
  reject(probe, bad, ASSAY_BAD_DTYPE, "k is bf16");
  bad = valid;
  bad.in[V].dtype = ASSAY_BF16;
  reject(probe, bad, ASSAY_BAD_DTYPE, "v is bf16");
  bad = valid;
  bad.o.dtype = ASSAY_BF16;
  reject(probe, bad, ASSAY_BAD_DTYPE, "o is bf16");
}

void assay_attention_rejects_strides(assay_probe *probe) {
  static const char *const outer[] = {"of q is -16", "of k is -16", "of v is -16"};
  static const char *const inner[] = {"inner stride of q", "inner stride of k", "inner stride of v"};
  call valid;
  if (!start(probe, &valid)) return;
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    for (int dimension = 0; dimension < 3; dimension++) {
      call bad = valid;
      bad.in[i].stride[dimension] = -16;
      reject(probe, bad, ASSAY_BAD_STRIDE, outer[i]);
    }
    call bad = valid;
    bad.in[i].stride[3] = 0;
    reject(probe, bad, ASSAY_BAD_STRIDE, inner[i]);
    bad.in[i].stride[3] = 2;
    reject(probe, bad, ASSAY_BAD_STRIDE, inner[i]);
  }
}

void assay_attention_rejects_span_overflow(assay_probe *probe) {
  static const char *const words[] = {"q spans more", "k spans more", "v spans more"};
  call valid;
  if (!start(probe, &valid)) return;
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    call bad = valid;
    bad.in[i].stride[2] = INT64_MAX / 2; /* times 3 wraps around in 64 bits */
    reject(probe, bad, ASSAY_BAD_STRIDE, words[i]);
    bad.in[i].stride[2] = INT64_MAX / 4; /* elements fit, bytes do not */
    reject(probe, bad, ASSAY_BAD_STRIDE, words[i]);
  }
  call bad = resized(&valid, 2, INT64_MAX / 16);
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++)
    bad.in[i].stride[2] = 0; /* only o is too large */
  reject(probe, bad, ASSAY_BAD_STRIDE, "o spans more");
}

void assay_attention_rejects_output_layout(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  for (int dimension = 0; dimension < 3; dimension++) {
    call bad = resized(&valid, 0, 2); /* still inside the buffer */
    bad.o.stride[dimension] += 1;
    reject(probe, bad, ASSAY_BAD_STRIDE, "contiguous");
  }
  call bad = valid;
  bad.o.stride[1] = 16; /* rows of all heads beside each other */
  bad.o.stride[2] = 32;
  reject(probe, bad, ASSAY_BAD_STRIDE, "contiguous");
}

void assay_attention_rejects_overlap(assay_probe *probe) {
  static const char *const words[] = {"overlaps q", "overlaps k", "overlaps v"};
  call valid;
  if (!start(probe, &valid)) return;
  const call small = resized(&valid, 0, 1); /* 128 of the 384 elements of each */
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    call bad = valid;
    bad.in[i].data = valid.o.data;
    reject(probe, bad, ASSAY_BAD_ALIAS, words[i]);
    bad = small;
    bad.in[i].data = (uint16_t *)valid.o.data + 127; /* the last element of o is the first of the input */
    reject(probe, bad, ASSAY_BAD_ALIAS, words[i]);
    bad.in[i].data = valid.o.data;
    bad.o.data = (uint16_t *)valid.o.data + 127;
    reject(probe, bad, ASSAY_BAD_ALIAS, words[i]);
  }
}

void assay_attention_rejects_device(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    call bad = valid;
    bad.in[i].device = assay_probe_other_device(&valid.in[i], false);
    reject(probe, bad, ASSAY_BAD_DEVICE, i == Q ? "q" : i == K ? "k" : "v");
  }
  call bad = valid;
  bad.o.device = assay_probe_other_device(&valid.o, true);
  reject(probe, bad, ASSAY_BAD_DEVICE, "o");
}

/* A learner's function is called without the library's dispatch: validation alone must refuse the knob. */
static bool validation_refuses(assay_probe *probe, const call *bad) {
  assay_message why;
  const assay_limits limits = ASSAY_LIMITS_LIBRARY;
  if (probe->subject->validate(0, bad->in, &bad->o, bad->opt, limits, &why) == ASSAY_BAD_OPTION) return true;
  assay_probe_fail(probe, "validation accepts a knob's value that no variant has");
  return false;
}

void assay_attention_rejects_options(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  const int64_t never_causal[] = {2, -1, INT64_MAX};
  const int64_t never_block[] = {1, 16, 48, 128, -32, INT64_MIN};
  for (size_t i = 0; i < sizeof never_causal / sizeof never_causal[0]; i++) {
    call bad = valid;
    bad.opt[ASSAY_STREAMING_ATTENTION_CAUSAL] = never_causal[i];
    if (!validation_refuses(probe, &bad)) return;
    reject(probe, bad, ASSAY_BAD_OPTION, "causal");
  }
  for (size_t i = 0; i < sizeof never_block / sizeof never_block[0]; i++) {
    call bad = valid;
    bad.opt[ASSAY_STREAMING_ATTENTION_BLOCK_N] = never_block[i];
    if (!validation_refuses(probe, &bad)) return;
    reject(probe, bad, ASSAY_BAD_OPTION, "block_n");
  }
}

/* Expects the two sets of limits to take or refuse a call with these sizes; rank 2 when there are no heads.
 */
static bool limits_are(assay_probe *probe, int64_t n, int64_t d, int64_t heads, bool workshop) {
  const assay_row row = {.dims = {n, d, heads, heads > 0 ? 1 : 0}};
  assay_plan plan = {0};
  probe->subject->plan(&row, ASSAY_BF16, ASSAY_ATTENTION_PACKED, &plan);
  const assay_case *operands = assay_probe_make(probe, &plan);
  if (operands == NULL) return false;
  assay_tensor in[ASSAY_STREAMING_ATTENTION_INPUTS];
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) in[i] = assay_probe_in(probe, operands, i);
  const assay_tensor out = assay_probe_out(probe, operands, 0);
  assay_message why;
  const assay_status wanted = workshop ? ASSAY_OK : ASSAY_BAD_SHAPE;
  if (probe->subject->validate(0, in, &out, NULL, ASSAY_LIMITS_WORKSHOP, &why) != wanted) {
    assay_probe_fail(probe, workshop ? "the workshop's limits refuse a call of its size"
                                     : "the workshop's limits accept a call beyond its size");
    return false;
  }
  if (probe->subject->validate(0, in, &out, NULL, ASSAY_LIMITS_LIBRARY, &why) != ASSAY_OK) {
    assay_probe_fail(probe, "the library's limits refuse a valid call");
    return false;
  }
  return true;
}

void assay_attention_workshop_limits(assay_probe *probe) {
  const bool right = limits_are(probe, 2048, 64, 0, true) && limits_are(probe, 0, 16, 0, true) &&
                     limits_are(probe, 2049, 64, 0, false) && limits_are(probe, 5, 24, 0, false) &&
                     limits_are(probe, 5, 128, 0, false) && limits_are(probe, 5, 32, 1, false);
  (void)right; /* the first wrong one has told the judge */
}
