/* SPDX-License-Identifier: MIT */
/* suite.c - the cases of an operator's suite, one after the other. */
#include "bench.h"
#include "ops/ops.h"

bool bench_suite_case(const assay_operator *op, assay_backend backend, int index, bench_case *one) {
  const assay_bench_table *table = op->bench;
  const assay_bench_suite *more = assay_operator_suite(op, backend);
  const int all = table->row_count + (more != NULL ? more->row_count : 0);
  for (int r = 0; r < all; r++) {
    const bool own = r < table->row_count;
    const assay_row *row = own ? &table->rows[r] : &more->rows[r - table->row_count];
    for (int dtype = 0; dtype < ASSAY_DTYPE_COUNT; dtype++) {
      if ((row->dtypes >> dtype & 1u) == 0) continue;
      for (int layout = 0; layout < op->subject.layout_count; layout++) {
        if ((row->layouts >> layout & 1u) == 0 || index-- > 0) continue;
        *one = (bench_case){
            .op = op, .row = *row, .dtype = (assay_dtype)dtype, .layout = layout, .banded = !own};
        return true;
      }
    }
  }
  return false;
}
