/* SPDX-License-Identifier: MIT */
/* One element of a large output is a little off. */
#include "right.h"

assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  (void)opt, (void)queue;
  right_softmax(in, out);
  const int64_t last = out[0].shape[0] * out[0].shape[1] - 1;
  if (last >= 0)
    assay_store(out[0].data, out[0].dtype, last, 1.01f * assay_load(out[0].data, out[0].dtype, last));
  return ASSAY_OK;
}
