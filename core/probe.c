/* SPDX-License-Identifier: MIT */
/* probe.c - what checks do again and again, on top of the probe's table; and fills that suit every operator.
 */
#include "probe.h"

#include <stdlib.h>

#include "fill.h"
#include "tensor.h"

void assay_fill_normal(const assay_fill_args *args, double *values) {
  const assay_tensor view = assay_tensor_make(NULL, ASSAY_FP64, args->rank, args->shape);
  int64_t count = 0;
  if (!assay_tensor_count(&view, &count)) return;
  for (int64_t i = 0; i < count; i++) values[i] = args->a + args->b * assay_rng_normal(args->rng);
}

void assay_fill_uniform(const assay_fill_args *args, double *values) {
  const assay_tensor view = assay_tensor_make(NULL, ASSAY_FP64, args->rank, args->shape);
  int64_t count = 0;
  if (!assay_tensor_count(&view, &count)) return;
  for (int64_t i = 0; i < count; i++)
    values[i] = args->a + (args->b - args->a) * assay_rng_uniform(args->rng);
}

void assay_fill_constant(const assay_fill_args *args, double *values) {
  const assay_tensor view = assay_tensor_make(NULL, ASSAY_FP64, args->rank, args->shape);
  int64_t count = 0;
  if (!assay_tensor_count(&view, &count)) return;
  for (int64_t i = 0; i < count; i++) values[i] = args->a;
}

bool assay_probe_fill_with(assay_probe *probe, assay_case *operands, int index, assay_fill *fill, double a,
                           double b) {
  if (operands == NULL) return false;
  const assay_tensor view = assay_probe_in(probe, operands, index);
  int64_t count = 0;
  if (!assay_tensor_count(&view, &count)) return false;
  double *values = malloc(sizeof *values * (size_t)(count > 0 ? count : 1));
  if (values == NULL) {
    assay_probe_unavailable(probe, "not enough memory for the inputs of this case");
    return false;
  }
  assay_fill_args args = {.operand = index, .rank = view.rank, .a = a, .b = b, .rng = &probe->rng};
  for (int i = 0; i < view.rank; i++) args.shape[i] = view.shape[i];
  fill(&args, values);
  const bool filled = assay_probe_fill(probe, operands, index, values);
  free(values);
  return filled;
}

assay_case *assay_probe_make_row(assay_probe *probe) {
  const assay_row *row = probe->row;
  assay_plan plan = {0};
  for (int i = 0; i < ASSAY_MAX_OPTIONS; i++) plan.opt[i] = row->opt[i];
  probe->subject->plan(row, probe->dtype, probe->layout, &plan);
  assay_case *operands = assay_probe_make(probe, &plan);
  for (int i = 0; operands != NULL && i < probe->subject->exports[plan.entry].in_count; i++) {
    if (!assay_probe_fill_with(probe, operands, i, row->fill, row->a, row->b)) return NULL;
  }
  return operands;
}
