/* SPDX-License-Identifier: MIT */
/* split_softmax_rejects.c - every kind of bad metadata, each with the status and the word that the sentence
 * must hold. */
#include "probe.h"
#include "split_softmax.h"

enum { ROWS = 8, COLUMNS = 700, CHUNK = 256, CHUNKS = 3 };

/* Two floats for every chunk and for every row, up to the next multiple of 64 bytes. */
enum { FLOATS = 2 * ROWS * (CHUNKS + 1) };
_Static_assert(FLOATS % 16 == 0, "the workspace of these checks has no slack");

/* A valid call that each check spoils in one place. */
typedef struct call {
  assay_case *operands;
  assay_tensor x;
  assay_tensor out[ASSAY_SPLIT_SOFTMAX_OUTPUTS];
  int64_t opt[ASSAY_MAX_OPTIONS];
} call;

enum { Y = ASSAY_SPLIT_SOFTMAX_Y, WORKSPACE = ASSAY_SPLIT_SOFTMAX_WORKSPACE };

static bool start(assay_probe *probe, call *valid) {
  const assay_operand_plan matrix = {
      .dtype = ASSAY_FP32, .rank = 2, .shape = {ROWS, COLUMNS}, .stride = {COLUMNS, 1}};
  const assay_plan plan = {
      .in = {matrix},
      .out = {matrix, {.dtype = ASSAY_FP32, .rank = 1, .shape = {FLOATS + 1024}, .stride = {1}}},
      .opt = {CHUNK},
  };
  *valid = (call){.operands = assay_probe_make(probe, &plan), .opt = {CHUNK}};
  if (valid->operands == NULL) return false;
  valid->x = assay_probe_in(probe, valid->operands, 0);
  valid->out[Y] = assay_probe_out(probe, valid->operands, Y);
  valid->out[WORKSPACE] = assay_probe_out(probe, valid->operands, WORKSPACE);
  valid->out[WORKSPACE].shape[0] = FLOATS;
  return true;
}

static void reject(assay_probe *probe, call spoiled, assay_status status, const char *word) {
  (void)assay_probe_reject(probe, &spoiled.x, spoiled.out, spoiled.opt, status, word);
}

/* Both matrices get this shape, packed. */
static void reshape(call *spoiled, int64_t rows, int64_t columns) {
  assay_tensor *both[2] = {&spoiled->x, &spoiled->out[Y]};
  for (int i = 0; i < 2; i++) {
    both[i]->shape[0] = rows;
    both[i]->shape[1] = both[i]->stride[0] = columns;
  }
}

void assay_split_softmax_rejects_pointers(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.x.data = NULL;
  reject(probe, bad, ASSAY_BAD_POINTER, "x is NULL");
  bad = valid;
  bad.out[Y].data = NULL;
  reject(probe, bad, ASSAY_BAD_POINTER, "y is NULL");
  bad = valid;
  reshape(&bad, ROWS - 1, COLUMNS); /* moved, they are still inside their buffers */
  bad.x.data = (char *)valid.x.data + 1;
  reject(probe, bad, ASSAY_BAD_POINTER, "x is not aligned");
  bad.x.data = valid.x.data;
  bad.out[Y].data = (char *)valid.out[Y].data + 2;
  reject(probe, bad, ASSAY_BAD_POINTER, "y is not aligned");
}

void assay_split_softmax_rejects_shapes(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.x.rank = 3;
  reject(probe, bad, ASSAY_BAD_SHAPE, "x has rank 3");
  bad = valid;
  bad.out[Y].rank = 1;
  reject(probe, bad, ASSAY_BAD_SHAPE, "y has rank 1");
  bad = valid;
  reshape(&bad, -1, COLUMNS);
  reject(probe, bad, ASSAY_BAD_SHAPE, "rows");
  reshape(&bad, ROWS, 0);
  reject(probe, bad, ASSAY_BAD_SHAPE, "columns");
  bad = valid;
  bad.out[Y].shape[0] = ROWS - 1;
  reject(probe, bad, ASSAY_BAD_SHAPE, "same");
  bad = valid;
  bad.x.shape[1] = bad.x.stride[0] = COLUMNS - 1;
  reject(probe, bad, ASSAY_BAD_SHAPE, "same");
}

void assay_split_softmax_rejects_dtypes(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  reshape(&bad, ROWS / 2, COLUMNS);
  bad.x.dtype = bad.out[Y].dtype = ASSAY_FP64;
  reject(probe, bad, ASSAY_BAD_DTYPE, "x is fp64");
  bad = valid;
  bad.out[Y].dtype = ASSAY_FP16;
  reject(probe, bad, ASSAY_BAD_DTYPE, "one type");
  bad = valid;
  bad.x.dtype = bad.out[Y].dtype = (assay_dtype)17;
  reject(probe, bad, ASSAY_BAD_DTYPE, "x is");
}

void assay_split_softmax_rejects_strides(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.x.stride[0] = -COLUMNS;
  reject(probe, bad, ASSAY_BAD_STRIDE, "row stride of x");
  bad = valid;
  bad.x.stride[1] = -1;
  reject(probe, bad, ASSAY_BAD_STRIDE, "column stride of x");
  bad = valid;
  bad.out[Y].stride[1] = -1;
  reject(probe, bad, ASSAY_BAD_STRIDE, "column stride of y");
}

void assay_split_softmax_rejects_gaps(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  reshape(&bad, ROWS - 1, COLUMNS);
  bad.x.stride[0] = COLUMNS + 1;
  reject(probe, bad, ASSAY_BAD_STRIDE, "x has strides");
  bad.x.stride[0] = 0; /* one row repeated is no packed matrix either */
  reject(probe, bad, ASSAY_BAD_STRIDE, "x has strides");
  bad.x.stride[0] = 1;
  bad.x.stride[1] = ROWS - 1;
  reject(probe, bad, ASSAY_BAD_STRIDE, "x has strides");
  bad.x = valid.x;
  bad.x.shape[0] = ROWS - 1;
  bad.out[Y].stride[0] = COLUMNS + 1;
  reject(probe, bad, ASSAY_BAD_STRIDE, "y has strides");
}

void assay_split_softmax_rejects_span_overflow(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  reshape(&bad, INT64_MAX / COLUMNS, COLUMNS); /* elements fit, bytes do not */
  reject(probe, bad, ASSAY_BAD_STRIDE, "spans more");
  reshape(&bad, INT64_MAX / 2, COLUMNS); /* the number of elements wraps around */
  reject(probe, bad, ASSAY_BAD_STRIDE, "spans more");
  /* Rows of one element that fit, but whose states do not; only addresses are compared here. */
  bad.x.dtype = bad.out[Y].dtype = ASSAY_FP16;
  reshape(&bad, INT64_C(1) << 60, 1);
  bad.x.data = (void *)(uintptr_t)4096;
  bad.out[Y].data = (void *)((uintptr_t)1 << 62);
  bad.out[WORKSPACE].data = NULL;
  assay_message why;
  if (probe->subject->validate(0, &bad.x, bad.out, bad.opt, ASSAY_LIMITS_LIBRARY, &why) != ASSAY_BAD_SHAPE) {
    assay_probe_fail(probe, "states larger than the address space are accepted");
  }
}

void assay_split_softmax_rejects_overlap(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.x.data = valid.out[Y].data;
  reject(probe, bad, ASSAY_BAD_ALIAS, "y overlaps x");
  reshape(&bad, ROWS / 2, COLUMNS);
  bad.x.data = (float *)valid.out[Y].data + ROWS / 2 * COLUMNS - 1; /* y's last element is x's first */
  reject(probe, bad, ASSAY_BAD_ALIAS, "y overlaps x");
  bad.x.data = valid.out[Y].data;
  bad.out[Y].data = (float *)valid.out[Y].data + ROWS / 2 * COLUMNS - 1;
  reject(probe, bad, ASSAY_BAD_ALIAS, "y overlaps x");
}

void assay_split_softmax_rejects_device(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.x.device = assay_probe_other_device(&valid.x, false);
  reject(probe, bad, ASSAY_BAD_DEVICE, "x");
  bad = valid;
  bad.out[Y].device = assay_probe_other_device(&valid.out[Y], true);
  reject(probe, bad, ASSAY_BAD_DEVICE, "y");
  bad = valid;
  bad.out[WORKSPACE].device = assay_probe_other_device(&valid.out[WORKSPACE], false);
  reject(probe, bad, ASSAY_BAD_DEVICE, "workspace");
}

void assay_split_softmax_rejects_options(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  const int64_t never[] = {1, 255, 257, 512, 2048, 8192, -256, INT64_MAX};
  for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
    valid.opt[ASSAY_SPLIT_SOFTMAX_CHUNK] = never[i];
    reject(probe, valid, ASSAY_BAD_OPTION, "it must be 256, 1024, 4096"); /* whatever the variant has */
  }
}

void assay_split_softmax_rejects_workspace_size(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  const int64_t too_small[] = {FLOATS - 1, FLOATS / 2, 2 * ROWS * CHUNKS, 1, 0, -1};
  for (size_t i = 0; i < sizeof too_small / sizeof too_small[0]; i++) {
    bad.out[WORKSPACE].shape[0] = too_small[i];
    reject(probe, bad, ASSAY_BAD_SHAPE, "workspace");
  }
  bad = valid;
  reshape(&bad, ROWS, COLUMNS);
  bad.out[WORKSPACE].rank = 2;
  bad.out[WORKSPACE].shape[1] = 1;
  reject(probe, bad, ASSAY_BAD_SHAPE, "workspace has rank 2");
  /* One column more than a whole chunk needs a whole chunk's states more. */
  bad = valid;
  reshape(&bad, ROWS - 1, 3 * CHUNK + 1);
  bad.out[WORKSPACE].shape[0] = 2 * (ROWS - 1) * (CHUNKS + 1);
  reject(probe, bad, ASSAY_BAD_SHAPE, "workspace");
}

void assay_split_softmax_rejects_workspace_type(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  bad.out[WORKSPACE].dtype = ASSAY_FP16;
  reject(probe, bad, ASSAY_BAD_DTYPE, "workspace is fp16");
  bad.out[WORKSPACE].dtype = ASSAY_FP64;
  reject(probe, bad, ASSAY_BAD_DTYPE, "workspace is fp64");
  bad = valid;
  bad.out[WORKSPACE].stride[0] = 2;
  reject(probe, bad, ASSAY_BAD_STRIDE, "workspace");
  bad.out[WORKSPACE].stride[0] = -1;
  reject(probe, bad, ASSAY_BAD_STRIDE, "workspace");
}

void assay_split_softmax_rejects_workspace_place(assay_probe *probe) {
  call valid;
  if (!start(probe, &valid)) return;
  call bad = valid;
  const int64_t off[] = {2, 4, 16, 32};
  for (size_t i = 0; i < sizeof off / sizeof off[0]; i++) {
    bad.out[WORKSPACE].data = (char *)valid.out[WORKSPACE].data + off[i];
    reject(probe, bad, ASSAY_BAD_POINTER, "workspace");
  }
  /* Inside x and inside y, at the next address that is aligned. */
  for (int inside_y = 0; inside_y < 2; inside_y++) {
    char *matrix = inside_y ? valid.out[Y].data : valid.x.data;
    bad = valid;
    bad.out[WORKSPACE].data = matrix + (64 - (uintptr_t)matrix % 64) % 64 + 64;
    reject(probe, bad, ASSAY_BAD_ALIAS, inside_y ? "workspace overlaps y" : "workspace overlaps x");
  }
}

static void expect_limit(assay_probe *probe, const assay_tensor *x, const assay_tensor *out,
                         assay_limits limits, assay_status status, const char *complaint) {
  assay_message why;
  if (probe->subject->validate(0, x, out, NULL, limits, &why) != status) assay_probe_fail(probe, complaint);
}

void assay_split_softmax_workshop_limits(assay_probe *probe) {
  const int64_t widest = 131072;
  const assay_operand_plan matrix = {
      .dtype = ASSAY_FP16, .rank = 2, .shape = {1, widest + 1}, .stride = {widest + 1, 1}};
  const assay_plan plan = {.in = {matrix}, .out = {matrix, {.dtype = ASSAY_FP32, .rank = 1, .absent = true}}};
  assay_case *operands = assay_probe_make(probe, &plan);
  if (operands == NULL) return;
  assay_tensor x = assay_probe_in(probe, operands, 0);
  assay_tensor out[] = {assay_probe_out(probe, operands, Y), assay_probe_out(probe, operands, WORKSPACE)};
  expect_limit(probe, &x, out, ASSAY_LIMITS_WORKSHOP, ASSAY_BAD_SHAPE,
               "the workshop's limits accept 131073 columns");
  expect_limit(probe, &x, out, ASSAY_LIMITS_LIBRARY, ASSAY_OK, "the library's limits refuse 131073 columns");
  x.shape[1] = x.stride[0] = out[Y].shape[1] = out[Y].stride[0] = widest;
  expect_limit(probe, &x, out, ASSAY_LIMITS_WORKSHOP, ASSAY_OK,
               "the workshop's limits refuse 131072 columns");
}
