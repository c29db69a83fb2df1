/* SPDX-License-Identifier: MIT */
/* shared_workspace.h - what becomes of two calls on two queues that are given one workspace, or one each. */
#ifndef ASSAY_SHARED_WORKSPACE_H
#define ASSAY_SHARED_WORKSPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "op.h"

/* Who has which workspace. */
typedef enum workspace_use {
  WORKSPACE_EACH = 0, /* one each */
  WORKSPACE_SHARED,   /* one for both, and nothing orders the calls */
  WORKSPACE_IN_ORDER, /* one for both, and the second queue waits until the first call is through */
  WORKSPACE_USES
} workspace_use;

typedef struct workspace_trial {
  int64_t elements; /* of the results of each call */
  int64_t wrong[2]; /* of these, outside the operator's bound */
  double got, want; /* at the first wrong one */
  int rounds;       /* that both calls were given to their streams at once; 0 on the emulator */
  int rounds_wrong; /* after which an element of either was wrong */
} workspace_trial;

/* Two calls of split softmax in three stages, on two queues of `backend` (ASSAY_CUDA or ASSAY_SIMT). Where
 * nothing orders two queues, all stages of the second call may come between the first two of the first: this
 * is the order that is tried. On a GPU both are then given to their streams again and again as they come.
 * Status: UNAVAILABLE (the backend), NO_MEMORY, KERNEL_FAULT. */
assay_status workspace_try(assay_backend backend, workspace_use use, workspace_trial *trial,
                           assay_message *why);

/* The same with each use, told in sentences to `say`. True when all was right but for one workspace without
 * an order, which went wrong: that is what is to be shown. */
bool workspace_show(assay_backend backend, void (*say)(const char *line), assay_message *why);

#endif
