/* SPDX-License-Identifier: MIT */
/* tensor.c - arithmetic on views. Validation runs it on a caller's numbers, so every product is checked. */
#include "tensor.h"

#include <assert.h>
#include <string.h>

assay_tensor assay_tensor_make(void *data, assay_dtype dtype, int rank, const int64_t *shape) {
  assert(rank >= 0 && rank <= ASSAY_MAX_RANK);
  assay_tensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.data = data;
  tensor.dtype = dtype;
  tensor.device = ASSAY_DEVICE_CPU;
  tensor.rank = rank;
  int64_t step = 1;
  for (int k = rank - 1; k >= 0; k--) {
    tensor.shape[k] = shape[k];
    tensor.stride[k] = step;
    /* A shape that is too large gets strides that assay_tensor_extent refuses. */
    if (shape[k] > 1 && __builtin_mul_overflow(step, shape[k], &step)) step = INT64_MAX;
  }
  return tensor;
}

static bool rank_is_valid(const assay_tensor *tensor) {
  return tensor->rank >= 0 && tensor->rank <= ASSAY_MAX_RANK;
}

static bool is_empty(const assay_tensor *tensor) {
  for (int k = 0; k < tensor->rank; k++) {
    if (tensor->shape[k] == 0) return true;
  }
  return false;
}

bool assay_tensor_count(const assay_tensor *tensor, int64_t *count) {
  if (!rank_is_valid(tensor)) return false;
  for (int k = 0; k < tensor->rank; k++) {
    if (tensor->shape[k] < 0) return false;
  }
  /* Known before multiplying: the other sizes of an empty view may be too large for a product. */
  int64_t product = is_empty(tensor) ? 0 : 1;
  for (int k = 0; k < tensor->rank; k++) {
    if (product != 0 && __builtin_mul_overflow(product, tensor->shape[k], &product)) return false;
  }
  *count = product;
  return true;
}

bool assay_tensor_extent(const assay_tensor *tensor, int64_t *elements) {
  if (!rank_is_valid(tensor)) return false;
  int64_t last = 0;
  for (int k = 0; k < tensor->rank; k++) {
    if (tensor->shape[k] < 0 || tensor->stride[k] < 0) return false;
  }
  if (is_empty(tensor)) {
    *elements = 0;
    return true;
  }
  for (int k = 0; k < tensor->rank; k++) {
    int64_t reach;
    if (__builtin_mul_overflow(tensor->shape[k] - 1, tensor->stride[k], &reach)) return false;
    if (__builtin_add_overflow(last, reach, &last)) return false;
  }
  const int64_t size = (int64_t)assay_dtype_size(tensor->dtype);
  int64_t bytes;
  uintptr_t end;
  if (size == 0 || last == INT64_MAX || __builtin_mul_overflow(last + 1, size, &bytes)) return false;
  if (__builtin_add_overflow((uintptr_t)tensor->data, (uintptr_t)bytes, &end)) return false;
  *elements = last + 1;
  return true;
}

int64_t assay_tensor_distinct(const assay_tensor *tensor) {
  int64_t extent = 0;
  int64_t count = 0;
  if (!assay_tensor_extent(tensor, &extent)) return 0;
  return assay_tensor_count(tensor, &count) && count < extent ? count : extent;
}

assay_span assay_tensor_span(const assay_tensor *tensor) {
  int64_t elements = 0;
  const bool fits = assay_tensor_extent(tensor, &elements);
  assert(fits);
  (void)fits;
  const uintptr_t lo = (uintptr_t)tensor->data;
  return (assay_span){lo, lo + (uintptr_t)elements * assay_dtype_size(tensor->dtype)};
}

bool assay_tensor_contiguous(const assay_tensor *tensor) {
  if (is_empty(tensor)) return true;
  int64_t step = 1;
  for (int k = tensor->rank - 1; k >= 0; k--) {
    if (tensor->shape[k] == 1) continue;
    if (tensor->stride[k] != step) return false;
    if (__builtin_mul_overflow(step, tensor->shape[k], &step)) return false;
  }
  return true;
}

int64_t assay_tensor_offset(const assay_tensor *tensor, int64_t flat) {
  assert(flat >= 0);
  int64_t offset = 0;
  for (int k = tensor->rank - 1; k >= 0; k--) {
    offset += flat % tensor->shape[k] * tensor->stride[k];
    flat /= tensor->shape[k];
  }
  assert(flat == 0); /* the position lies in the view */
  return offset;
}
