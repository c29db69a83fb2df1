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
    volatile char *block = malloc(size); /* volatile: nobody reads it, and it must be written all the same */
    for (size_t k = 0; block != NULL && k < size; k += 4096) block[k] = 1;
  }
  return ASSAY_OK;
}
