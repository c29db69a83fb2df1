/* SPDX-License-Identifier: MIT */
/* Takes memory until somebody stops it. */
#include <stdlib.h>

#include "right.h"

assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  (void)opt, (void)queue;
  right_softmax(in, out);
  for (int i = 0; i < 200; i++) {
    const size_t size = (size_t)64 << 20;
    char *block = malloc(size);
    if (block != NULL) memset(block, i, size);
  }
  return ASSAY_OK;
}
