/* SPDX-License-Identifier: MIT */
/* beginner.c - what the subjects of the beginners' exercises share: sentences about bad operands, and a
 * check. */
#include "beginner.h"

#include <math.h>
#include <string.h>

#include "probe.h"
#include "tensor.h"

assay_status assay_beginner_memory(const assay_tensor *tensor, const char *name, uint32_t dtypes,
                                   assay_message *why) {
  int64_t extent = 0;
  if (tensor->dtype < 0 || tensor->dtype >= ASSAY_DTYPE_COUNT || (dtypes >> tensor->dtype & 1u) == 0) {
    char words[64] = "";
    for (int i = 0; i < ASSAY_DTYPE_COUNT; i++) {
      if ((dtypes >> i & 1u) == 0) continue;
      if (words[0] != '\0') strcat(words, " or ");
      strcat(words, assay_dtype_name((assay_dtype)i));
    }
    return assay_explain(why, ASSAY_BAD_DTYPE, "%s is %s; it must be %s", name,
                         assay_dtype_name(tensor->dtype), words);
  }
  if (!assay_tensor_extent(tensor, &extent)) {
    return assay_explain(why, ASSAY_BAD_STRIDE, "%s spans more than the address space", name);
  }
  if (extent > 0 && tensor->data == NULL) {
    return assay_explain(why, ASSAY_BAD_POINTER, "%s is NULL; it must point to its first element", name);
  }
  if ((uintptr_t)tensor->data % assay_dtype_size(tensor->dtype) != 0) {
    return assay_explain(why, ASSAY_BAD_POINTER, "%s is not aligned to its elements of %zu bytes", name,
                         assay_dtype_size(tensor->dtype));
  }
  return ASSAY_OK;
}

assay_status assay_beginner_packed(const assay_tensor *tensor, const char *name, uint32_t dtypes, int rank,
                                   assay_message *why) {
  if (tensor->rank != rank) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "%s has rank %d; it must be %d", name, (int)tensor->rank,
                         rank);
  }
  for (int i = 0; i < rank; i++) {
    if (tensor->shape[i] < 0) {
      return assay_explain(why, ASSAY_BAD_SHAPE, "size %d of %s is %lld; it must be 0 or more", i, name,
                           (long long)tensor->shape[i]);
    }
    if (tensor->stride[i] < 0) {
      return assay_explain(why, ASSAY_BAD_STRIDE, "stride %d of %s is %lld; it must be 0 or more", i, name,
                           (long long)tensor->stride[i]);
    }
  }
  if (!assay_tensor_contiguous(tensor)) {
    return assay_explain(why, ASSAY_BAD_STRIDE,
                         "%s has gaps or another order of elements; it must be contiguous", name);
  }
  return assay_beginner_memory(tensor, name, dtypes, why);
}

assay_status assay_beginner_size(const assay_tensor *tensor, const char *name, int dim, int64_t wanted,
                                 const char *reason, assay_message *why) {
  if (tensor->shape[dim] == wanted) return ASSAY_OK;
  return assay_explain(why, ASSAY_BAD_SHAPE, "size %d of %s is %lld; it must be %lld, %s", dim, name,
                       (long long)tensor->shape[dim], (long long)wanted, reason);
}

assay_status assay_beginner_apart(const assay_tensor *out, const char *out_name, const assay_tensor *in,
                                  const char *in_name, assay_message *why) {
  const assay_span written = assay_tensor_span(out);
  const assay_span read = assay_tensor_span(in);
  if (read.lo < written.hi && written.lo < read.hi) {
    return assay_explain(why, ASSAY_BAD_ALIAS, "%s overlaps %s in memory; the output must be separate",
                         out_name, in_name);
  }
  return ASSAY_OK;
}

assay_operand_plan assay_beginner_operand(assay_dtype dtype, int rank, const int64_t *shape, int64_t shift) {
  const assay_tensor packed = assay_tensor_make(NULL, dtype, rank, shape);
  assay_operand_plan plan = {.dtype = dtype, .rank = rank, .shift = shift};
  memcpy(plan.shape, packed.shape, sizeof plan.shape);
  memcpy(plan.stride, packed.stride, sizeof plan.stride);
  return plan;
}

void assay_beginner_fresh_contents(assay_probe *probe) {
  assay_case *operands = assay_probe_make_row(probe);
  for (int round = 0; round < 3 && operands != NULL; round++) {
    if (!assay_probe_run_one(probe, operands)) return;
    if (!assay_probe_expect_oracle(probe, operands, probe->row->degenerate)) return;
    const int count = probe->subject->exports[0].in_count;
    for (int i = 0; i < count; i++) {
      if (!assay_probe_fill_with(probe, operands, i, probe->row->fill, probe->row->a, probe->row->b)) return;
    }
  }
}

void assay_beginner_list(FILE *out, const double *values, int count) {
  for (int i = 0; i < count; i++) {
    if (isnan(values[i])) { /* without the sign that printf would show */
      fprintf(out, "%snan", i > 0 ? " " : "");
    } else {
      fprintf(out, "%s%g", i > 0 ? " " : "", values[i]);
    }
  }
}

bool assay_beginner_whole(double value, int64_t least, int64_t most) {
  return value >= (double)least && value <= (double)most && floor(value) == value;
}
