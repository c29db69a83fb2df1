/* SPDX-License-Identifier: MIT */
/* attention_gpu.h - the GPU functions behind the operator's tables, and how they share their work. */
#ifndef ASSAY_ATTENTION_GPU_H
#define ASSAY_ATTENTION_GPU_H

#include "attention.h"

assay_kernel assay_attention_split; /* attention_gpu.c */
assay_kernel assay_attention_tiles;
assay_kernel assay_attention_all_tiles;
assay_kernel assay_attention_dense; /* attention_dense.cu: the baseline */

/* How a call is cut up: the defines of attention.cu that have these names in capitals. */
typedef struct assay_attention_plan {
  int64_t columns;   /* d rounded up to 16, 32, 64, 128 or 256 */
  int64_t block_n;   /* keys of a warp's tile */
  int64_t row_tiles; /* 16 queries each, of a warp */
  int64_t row_warps; /* of a block, side by side in the queries */
  int64_t key_warps; /* of a block, side by side in the keys */
  int64_t split;     /* blocks of a cluster, side by side in the keys */
  int64_t vectors;   /* 1: rows of q, k and v begin at 16 bytes, and pairs of results lie in whole words */
  int64_t shared_bytes;
} assay_attention_plan;

/* Starts attention.cu's kernel. all: tiles in the future of all their queries are visited too. The arguments
 * are valid and there is something to do. */
assay_status assay_attention_attend(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                    bool all, const assay_attention_plan *plan, assay_queue *queue);

#endif
