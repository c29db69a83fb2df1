/* SPDX-License-Identifier: MIT */
/*
 * gemm_order.c - the grouped order of tiles. Tiles of one column of tiles read the same columns of B: walking
 * a few of them one after another keeps these in a near cache, and the rows of A that the group needs stay in
 * a farther one while the columns change.
 */
#include "gemm.h"

#include <assert.h>

assay_gemm_tile assay_gemm_tile_at(int64_t pid, int64_t rows, int64_t columns, int64_t group) {
  assert(rows > 0 && columns > 0 && group > 0 && pid >= 0 && pid / columns < rows);
  const int64_t height = group < rows ? group : rows; /* also keeps the product small */
  const int64_t per_group = height * columns;
  const int64_t first = pid / per_group * height;
  const int64_t left = rows - first;
  const int64_t size = left < height ? left : height; /* of this group: the last one may be short */
  const int64_t within = pid % per_group;
  return (assay_gemm_tile){.row = first + within % size, .column = within / size};
}
