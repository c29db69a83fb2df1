/* SPDX-License-Identifier: MIT */
/* The function has another name than the exercise. */
#include "assay/workshop.h"

assay_status my_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                        assay_queue *queue);

assay_status my_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                        assay_queue *queue) {
  (void)in, (void)out, (void)opt, (void)queue;
  return ASSAY_OK;
}
