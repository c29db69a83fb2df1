/* SPDX-License-Identifier: MIT */
/* softmax_eager.c - what strided softmax is compared with on a GPU: separate launches. */
#include "softmax.h"

#include "ops/eager_passes.h"
#include "tensor.h"

static const char *const sources[] = {
    "ops/strided_softmax/eager_passes.cu", "ops/eager_passes.h",
    "ops/strided_softmax/softmax.cu",      "ops/strided_softmax/softmax_gpu.h",
    "ops/strided_softmax/softmax_eager.c", NULL};

static assay_status eager_passes(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                 assay_queue *queue) {
  (void)opt;
  return assay_eager_softmax(&in[0], &out[0], queue);
}

static assay_status copy_then_rows(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                   assay_queue *queue) {
  assay_tensor packed = assay_tensor_make(NULL, in[0].dtype, in[0].rank, in[0].shape);
  packed.device = in[0].device;
  packed.data =
      assay_queue_scratch(queue, (size_t)(in[0].shape[0] * in[0].shape[1]) * assay_dtype_size(in[0].dtype));
  if (packed.data == NULL) return ASSAY_NO_MEMORY;
  const assay_status status = assay_eager_copy(&in[0], false, packed.data, queue);
  return status == ASSAY_OK ? assay_softmax_cuda(&packed, out, opt, queue) : status;
}

extern const assay_bench_baseline assay_softmax_eager;
extern const assay_bench_baseline assay_softmax_copied;

const assay_bench_baseline assay_softmax_eager = {
    .name = "eager_passes",
    .expression =
        "w = float(x); m = max(w); w = w - m; w = exp(w); s = sum(w); w = w / s; y = w: seven launches",
    .rounding = "once, of y; everything before is FP32",
    .backend = ASSAY_CUDA,
    .entry = {eager_passes},
    .sources = sources};

const assay_bench_baseline assay_softmax_copied = {
    .name = "copy_then_rows",
    .expression = "c = packed copy of x, one launch; y = the library's kernel for packed rows on c, another",
    .rounding = "once, of y; the copy is exact",
    .backend = ASSAY_CUDA,
    .entry = {copy_then_rows},
    .sources = sources};
