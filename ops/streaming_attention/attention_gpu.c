/* SPDX-License-Identifier: MIT */
/* attention_gpu.c - the variants of attention.cu: which tiles a call of some size gets. */
#include "attention_gpu.h"

#include "tensor.h"

enum { CHIP = 128 };     /* blocks that fill a large GPU */
enum { SHORT = 256 };    /* keys that the warps of one block share in a single round */
enum { SPLIT_MOST = 8 }; /* blocks of a cluster that every GPU with clusters can start */

/* Keys of a tile. Registers decide: sums of many columns leave room for the weights of few keys. */
static int64_t choose_keys(int64_t columns, bool many) {
  if (columns > 128) return 32;
  if (!many || columns <= 32) return 64;
  return columns > 64 ? 48 : 80;
}

/* Blocks of 128 queries read keys the fewest times; where they are too few to fill the chip, there are blocks
 * of 64. Where these are too few as well, `split` has several warps or blocks share the keys of some queries.
 */
static assay_attention_plan make_plan(const assay_tensor *q, int64_t block_n, bool vectors, bool split) {
  const int64_t n = q->shape[q->rank - 2];
  const int64_t d = q->shape[q->rank - 1];
  const int64_t heads = q->rank == 4 ? q->shape[0] * q->shape[1] : 1;
  const int64_t blocks = (n + 63) / 64 * heads;
  assay_attention_plan plan = {.columns = 16,
                               .block_n = block_n,
                               .row_tiles = 1,
                               .row_warps = 4,
                               .key_warps = 1,
                               .split = 1,
                               .vectors = vectors};
  while (plan.columns < d) plan.columns *= 2;
  split = split && plan.columns <= 64 && blocks < CHIP;
  const bool many = (n + 127) / 128 * heads >= CHIP && plan.columns * block_n <= 64 * 64;
  if (block_n == 0) plan.block_n = choose_keys(plan.columns, many);
  if (many && vectors && plan.columns <= 128) plan.row_tiles = 2;  /* which changes no result */
  if (plan.columns > 128 && plan.block_n > 32) plan.row_warps = 2; /* a block has 99 KiB on some GPUs */
  if (split && n <= SHORT) {
    if (block_n == 0) plan.block_n = 32;
    plan.row_warps = 1;
    plan.key_warps = SHORT / plan.block_n;
  } else if (split) {
    while (plan.split < SPLIT_MOST && plan.split * blocks <= CHIP) plan.split *= 2;
  }
  return plan;
}

/* Queries and a ring of one or two rounds of keys and values (see STAGES); at the end sums are in their
 * place. */
static int64_t shared_bytes(const assay_attention_plan *plan) {
  const int64_t rows = 16 * plan->row_tiles * plan->row_warps;
  const int64_t stages = plan->columns * plan->block_n > 128 * 64 ? 1 : 2;
  const int64_t ring = 2 * (plan->columns + 8) * (rows + 2 * stages * plan->block_n * plan->key_warps);
  const int64_t sums = 4 * plan->key_warps * rows * (plan->columns + 8);
  return ring > sums ? ring : sums;
}

static bool is_vectors(const assay_tensor *in, const assay_tensor *o) {
  uint64_t bits = 0;
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    bits |= (uint64_t)(uintptr_t)in[i].data;
    for (int k = 0; k < in[i].rank - 1; k++) bits |= 2 * (uint64_t)in[i].stride[k];
  }
  return bits % 16 == 0 && (uintptr_t)o->data % 4 == 0 && o->shape[o->rank - 1] % 2 == 0;
}

static assay_status attend(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                           assay_queue *queue, bool all, bool split) {
  int64_t count = 0;
  const assay_tensor *q = &in[ASSAY_STREAMING_ATTENTION_Q];
  if (!assay_tensor_count(q, &count) || count == 0) return ASSAY_OK;
  const bool vectors = is_vectors(in, &out[ASSAY_STREAMING_ATTENTION_O]);
  assay_attention_plan plan = make_plan(q, opt[ASSAY_STREAMING_ATTENTION_BLOCK_N], vectors, split);
  plan.shared_bytes = shared_bytes(&plan);
  return assay_attention_attend(in, out, opt, all, &plan, queue);
}

assay_status assay_attention_split(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                   assay_queue *queue) {
  return attend(in, out, opt, queue, false, true);
}

assay_status assay_attention_tiles(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                   assay_queue *queue) {
  return attend(in, out, opt, queue, false, false);
}

assay_status assay_attention_all_tiles(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                       assay_queue *queue) {
  return attend(in, out, opt, queue, true, false);
}
