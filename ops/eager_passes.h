/* SPDX-License-Identifier: MIT */
/* eager_passes.h - softmax and its gradient as separate launches on a GPU: the baselines of three operators.
 */
#ifndef ASSAY_EAGER_PASSES_H
#define ASSAY_EAGER_PASSES_H

#include <stdbool.h>

#include "assay/workshop.h"

/* The matrix x (rank 2, any strides) without gaps at `to`, in its own type or widened to FP32. */
assay_status assay_eager_copy(const assay_tensor *x, bool wide, void *to, assay_queue *queue);

/* w = float(x); m = max(w); w = w - m; w = exp(w); s = sum(w); w = w / s; y = w: seven launches. */
assay_status assay_eager_softmax(const assay_tensor *x, const assay_tensor *y, assay_queue *queue);

/* y = float(y); g = float(g); p = y * g; s = sum(p); g = g - s; p = y * g; dx = p: seven launches. */
assay_status assay_eager_vjp(const assay_tensor *y, const assay_tensor *g, const assay_tensor *dx,
                             assay_queue *queue);

#endif
