/* SPDX-License-Identifier: MIT */
/* apply_input.c - an input of `assay apply`: conversions, each of them one rounding, and copies. */
#include "apply.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/half.h"
#include "core/tensor.h"

void *apply_memory(size_t bytes, const char *what, assay_message *why) {
  enum { ALIGNMENT = 64 };
  void *memory = NULL;
  if (bytes <= assay_memory_bytes() && posix_memalign(&memory, ALIGNMENT, bytes > 0 ? bytes : 1) == 0)
    return memory;
  assay_explain(why, ASSAY_NO_MEMORY, "needs %zu MiB of memory for %s, more than there is here", bytes >> 20,
                what);
  return NULL;
}

void apply_place(const assay_tensor *tensor, int64_t flat, char text[APPLY_PLACE_TEXT]) {
  int64_t index[ASSAY_MAX_RANK] = {0};
  for (int k = tensor->rank - 1; k >= 0; k--) {
    index[k] = flat % tensor->shape[k];
    flat /= tensor->shape[k];
  }
  int used = snprintf(text, APPLY_PLACE_TEXT, "[");
  for (int k = 0; k < tensor->rank; k++) {
    used += snprintf(text + used, APPLY_PLACE_TEXT - (size_t)used, "%s%lld", k == 0 ? "" : ",",
                     (long long)index[k]);
  }
  snprintf(text + used, APPLY_PLACE_TEXT - (size_t)used, "]");
}

bool apply_input_open(apply_input *input, const char *name, const char *path, assay_message *why) {
  *input = (apply_input){.name = name, .path = path};
  if (!assay_npy_open(path, &input->file, why)) return false;
  input->view = assay_npy_tensor(&input->file.header, input->file.data);
  input->tensor = input->view;
  return true;
}

void apply_input_close(apply_input *input) {
  free(input->copy);
  assay_npy_close(&input->file);
  input->copy = NULL;
}

/* ---- walking ------------------------------------------------------------------------------------------- */

/* The elements along the last axis follow each other in row-major order: a line. */
static int64_t line_length(const assay_tensor *tensor) {
  return tensor->rank == 0 ? 1 : tensor->shape[tensor->rank - 1];
}

static int64_t line_stride(const assay_tensor *tensor) {
  return tensor->rank == 0 ? 1 : tensor->stride[tensor->rank - 1];
}

static int64_t count_of(const assay_tensor *tensor) {
  int64_t count = 0;
  const bool counted = assay_tensor_count(tensor, &count);
  assert(counted); /* it lies in a file */
  (void)counted;
  return count;
}

/* Room for all elements, contiguous, in another type; NULL data with a sentence. */
static assay_tensor new_copy(const assay_tensor *from, assay_dtype dtype, assay_message *why) {
  assay_tensor copy = assay_tensor_make(NULL, dtype, from->rank, from->shape);
  const size_t size = assay_dtype_size(dtype);
  const int64_t count = count_of(from);
  if ((uint64_t)count > SIZE_MAX / size) {
    assay_explain(why, ASSAY_NO_MEMORY, "is too large to be converted to %s", assay_dtype_name(dtype));
    return copy;
  }
  copy.data = apply_memory((size_t)count * size, "a copy", why);
  return copy;
}

static void adopt(apply_input *input, const assay_tensor *copy) {
  free(input->copy);
  input->tensor = *copy;
  input->copy = copy->data;
}

/* ---- conversion ---------------------------------------------------------------------------------------- */

bool apply_input_convert(apply_input *input, assay_dtype wanted, int asked, assay_message *why) {
  const assay_tensor *view = &input->view;
  if (input->file.header.patterns && asked != ASSAY_BF16) {
    assay_explain(why, ASSAY_BAD_DTYPE, "holds '%s': add --dtype bf16 if these are bf16 numbers, bit by bit",
                  input->file.header.descr);
    return false;
  }
  input->tensor = *view;
  if (view->dtype == wanted) return true;
  const assay_tensor copy = new_copy(view, wanted, why);
  if (copy.data == NULL) return false;
  const int64_t length = line_length(view);
  const int64_t count = count_of(view);
  const int64_t stride = line_stride(view);
  for (int64_t begin = 0; begin < count; begin += length) {
    const int64_t offset = assay_tensor_offset(view, begin);
    for (int64_t i = 0; i < length; i++) {
      const double value = assay_get(view->data, view->dtype, offset + i * stride);
      assay_put(copy.data, wanted, begin + i, value);
      if (isfinite(value) && isinf(assay_get(copy.data, wanted, begin + i))) input->overflowed++;
    }
  }
  adopt(input, &copy);
  return true;
}

bool apply_input_pack(apply_input *input, assay_message *why) {
  const assay_tensor from = input->tensor;
  const assay_tensor copy = new_copy(&from, from.dtype, why);
  if (copy.data == NULL) return false;
  const size_t size = assay_dtype_size(from.dtype);
  const int64_t length = line_length(&from);
  const int64_t count = count_of(&from);
  const int64_t stride = line_stride(&from);
  for (int64_t begin = 0; begin < count; begin += length) {
    const char *line = (const char *)from.data + (size_t)assay_tensor_offset(&from, begin) * size;
    char *to = (char *)copy.data + (size_t)begin * size;
    for (int64_t i = 0; i < length; i++)
      memcpy(to + (size_t)i * size, line + (size_t)(i * stride) * size, size);
  }
  adopt(input, &copy);
  input->packed = true;
  return true;
}

bool apply_input_finite(const apply_input *input, assay_message *why) {
  const assay_tensor *tensor = &input->tensor;
  const int64_t length = line_length(tensor);
  const int64_t count = count_of(tensor);
  const int64_t stride = line_stride(tensor);
  for (int64_t begin = 0; begin < count; begin += length) {
    const int64_t offset = assay_tensor_offset(tensor, begin);
    for (int64_t i = 0; i < length; i++) {
      const double value = assay_get(tensor->data, tensor->dtype, offset + i * stride);
      if (isfinite(value)) continue;
      char place[APPLY_PLACE_TEXT];
      apply_place(tensor, begin + i, place);
      assay_explain(why, ASSAY_BAD_OPTION, "has %s at %s%s: --finite promises that there is none",
                    isnan(value) ? "nan"
                    : value > 0  ? "inf"
                                 : "-inf",
                    place, input->viewed ? " of the view" : "");
      return false;
    }
  }
  return true;
}
