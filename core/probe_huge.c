/* SPDX-License-Identifier: MIT */
/*
 * probe_huge.c - the run function of checks on operands so large that 32 bits do not hold an index: contents
 * that repeat out of step with the rows, and a comparison of some rows that are chosen after the call.
 */
#include "probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"
#include "tensor.h"

enum { BANDS = 64, LAST_ROWS = 3, PATTERN = 1 << 20 };

/* The row's contents for the first rows of `whole`, about PATTERN elements. */
static double *pattern_of(assay_probe *probe, const assay_tensor *whole, int index, int64_t count,
                          int64_t *length) {
  const int64_t inner = count / whole->shape[0];
  int64_t rows = PATTERN / inner + 1;
  if (rows > whole->shape[0]) rows = whole->shape[0];
  assay_fill_args args = {
      .operand = index, .rank = whole->rank, .a = probe->row->a, .b = probe->row->b, .rng = &probe->rng};
  for (int i = 0; i < whole->rank; i++) args.shape[i] = whole->shape[i];
  args.shape[0] = rows;
  *length = rows * inner;
  double *values = malloc(sizeof *values * (size_t)*length);
  if (values != NULL) probe->row->fill(&args, values);
  return values;
}

/* Straight into the storage: as logical values the operand would take many times its room. One element of the
 * pattern is left out where it repeats, so that no two rows are equal, and neither are elements that lie 2^31
 * or 2^32 apart. */
static bool fill_input(assay_probe *probe, assay_case *operands, int index) {
  const assay_tensor whole = assay_probe_in(probe, operands, index);
  int64_t count = 0;
  int64_t length = 0;
  if (!assay_tensor_count(&whole, &count) || count == 0 || !assay_tensor_contiguous(&whole)) {
    assay_probe_fail(probe, "the operands of this check have to be packed");
    return false;
  }
  double *values = pattern_of(probe, &whole, index, count, &length);
  if (values == NULL) {
    assay_probe_unavailable(probe, "not enough memory for the contents of this case");
    return false;
  }
  int64_t done = length < count ? length - 1 : count;
  for (int64_t i = 0; i < done; i++) assay_put(whole.data, whole.dtype, i, values[i]);
  free(values);
  const size_t size = assay_dtype_size(whole.dtype);
  unsigned char *bytes = whole.data;
  while (done < count) {
    const int64_t more = done < count - done ? done : count - done;
    memcpy(bytes + (size_t)done * size, bytes, (size_t)more * size);
    done += more;
  }
  return true;
}

/* Row `first` of the output, which is a part of its first dimension, against the oracle. */
static bool expect_row(assay_probe *probe, assay_case *operands, const assay_plan *plan, int64_t first,
                       int64_t inner, double *want) {
  const assay_export *function = &probe->subject->exports[plan->entry];
  assay_tensor in[ASSAY_MAX_OPERANDS];
  assay_tensor out[ASSAY_MAX_OPERANDS];
  for (int i = 0; i < function->in_count; i++) in[i] = assay_probe_in(probe, operands, i);
  for (int i = 0; i < function->out_count; i++) out[i] = assay_probe_out(probe, operands, i);
  probe->subject->oracle(plan->entry, in, out, plan->opt, first, 1, want, want + inner);
  for (int64_t i = 0; i < inner; i++) {
    if (!assay_probe_expect(probe, operands, first * inner + i, want[i], want[inner + i])) return false;
  }
  return true;
}

void assay_probe_huge(assay_probe *probe) {
  const assay_row *row = probe->row;
  assay_plan plan = {0};
  memcpy(plan.opt, row->opt, sizeof plan.opt);
  probe->subject->plan(row, probe->dtype, probe->layout, &plan);
  assay_case *operands = assay_probe_make(probe, &plan);
  if (operands == NULL) return;
  for (int i = 0; i < probe->subject->exports[plan.entry].in_count; i++) {
    if (!fill_input(probe, operands, i)) return;
  }
  if (!assay_probe_run_one(probe, operands)) return;
  const assay_tensor out = assay_probe_out(probe, operands, 0);
  int64_t count = 0;
  if (!assay_tensor_count(&out, &count)) return;
  const int64_t rows = out.shape[0];
  const int64_t inner = count / rows;
  double *want = malloc(2 * sizeof *want * (size_t)inner);
  if (want == NULL) {
    assay_probe_unavailable(probe, "not enough memory for the expected values of this case");
    return;
  }
  const int64_t bands = rows < BANDS ? rows : BANDS;
  bool right = true;
  /* One of each band, chosen when the output is there; then the last ones, which a wrapped index misses. */
  for (int64_t band = 0; right && band < bands; band++) {
    const int64_t within = (int64_t)assay_rng_below(&probe->rng, (uint64_t)(rows / bands));
    right = expect_row(probe, operands, &plan, band * (rows / bands) + within, inner, want);
  }
  for (int64_t last = 1; right && bands < rows && last <= LAST_ROWS; last++) {
    right = expect_row(probe, operands, &plan, rows - last, inner, want);
  }
  free(want);
}
