/* SPDX-License-Identifier: MIT */
/* rotate.c - reads a view in an order that begins somewhere else in every round. */
#include "rotate.h"

#include <assert.h>
#include <string.h>

#include "half.h"
#include "rng.h"
#include "tensor.h"

/* 1 .. size - 1, the same for every axis of this length; 0 where there is nothing to rotate. */
static int64_t shift_of(uint64_t seed, int64_t size) {
  assay_rng rng;
  if (size < 2) return 0;
  assay_rng_seed(&rng, assay_seed_mix(seed, (uint64_t)size));
  return 1 + (int64_t)assay_rng_below(&rng, (uint64_t)(size - 1));
}

static int64_t count_of(const assay_tensor *from) {
  int64_t count = 0;
  const bool counted = assay_tensor_count(from, &count);
  assert(counted); /* its elements lie in memory */
  (void)counted;
  return count;
}

/* The next place in row-major order. */
static void step(const assay_tensor *from, int64_t place[ASSAY_MAX_RANK]) {
  for (int k = from->rank - 1; k >= 0; k--) {
    if (++place[k] < from->shape[k]) return;
    place[k] = 0;
  }
}

void rotate_read(const assay_tensor *from, const uint64_t *seed, double *values) {
  int64_t shift[ASSAY_MAX_RANK] = {0};
  int64_t place[ASSAY_MAX_RANK] = {0};
  const int64_t count = count_of(from);
  for (int k = 0; seed != NULL && k < from->rank; k++) shift[k] = shift_of(*seed, from->shape[k]);
  for (int64_t i = 0; i < count; i++) {
    int64_t at = 0;
    for (int k = 0; k < from->rank; k++) {
      const int64_t turned = place[k] + shift[k];
      at += (turned < from->shape[k] ? turned : turned - from->shape[k]) * from->stride[k];
    }
    values[i] = assay_get(from->data, from->dtype, at);
    step(from, place);
  }
}

bool rotate_constant(const assay_tensor *from) {
  const size_t size = assay_dtype_size(from->dtype);
  const char *data = from->data;
  const int64_t count = count_of(from);
  for (int64_t i = 1; i < count; i++) {
    const size_t offset = (size_t)assay_tensor_offset(from, i) * size;
    if (memcmp(data + offset, data, size) != 0) return false;
  }
  return true;
}
