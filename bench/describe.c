/* SPDX-License-Identifier: MIT */
/* describe.c - names of cases, ceilings of cases, and a run's comparisons. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "tensor.h"

static const double sampled_flops = 2e9;
static const int64_t sampled_outputs = (int64_t)16 << 20;
/* New inputs in every round would have the oracle take longer than the kernels. A process has compared every
 * element by then. */
static const double round_flops = 1e8;
static const int64_t round_outputs = (int64_t)1 << 20;

static void append(char text[BENCH_NAME], const char *joint, const char *word) {
  const size_t used = strlen(text);
  snprintf(text + used, BENCH_NAME - used, "%s%s", used > 0 ? joint : "", word);
}

const char *bench_case_layout(const bench_case *one) {
  return one->inputs != NULL ? "input" : one->op->subject.layout_names[one->layout];
}

void bench_case_plan(const bench_case *one, assay_plan *plan) {
  const assay_subject *subject = &one->op->subject;
  *plan = (assay_plan){.entry = 0};
  memcpy(plan->opt, one->row.opt, sizeof plan->opt);
  subject->plan(&one->row, one->dtype, one->layout, plan);
  for (int i = 0; one->inputs != NULL && i < subject->exports[plan->entry].in_count; i++) {
    const assay_tensor *from = &one->inputs[i].tensor;
    assay_operand_plan *to = &plan->in[i];
    *to = (assay_operand_plan){.dtype = from->dtype, .rank = from->rank};
    memcpy(to->shape, from->shape, sizeof to->shape);
    memcpy(to->stride, from->stride, sizeof to->stride);
  }
}

/* "1024x1024 transposed fp16", "512x64 causal=1 fp16". */
static void name_case(bench_case *one) {
  const assay_subject *subject = &one->op->subject;
  int last = 0; /* sizes that are 0 behind this one were not given */
  one->name[0] = '\0';
  for (int i = 0; i < subject->dim_count; i++) {
    if (one->row.dims[i] != 0) last = i;
  }
  for (int i = 0; i <= last; i++) {
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)one->row.dims[i]);
    append(one->name, "x", number);
  }
  append(one->name, " ", bench_case_layout(one));
  for (int i = 0; i < subject->opt_count; i++) {
    char option[64];
    if (one->row.opt[i] == 0) continue;
    snprintf(option, sizeof option, "%s=%lld", subject->opt_names[i], (long long)one->row.opt[i]);
    append(one->name, " ", option);
  }
  append(one->name, " ", assay_dtype_name(one->dtype));
}

void bench_case_describe(bench_case *one) {
  assay_plan plan;
  int64_t outputs = 1;
  name_case(one);
  one->work = (assay_bench_work){0, 0};
  one->op->bench->work(&one->row, one->dtype, one->layout, &one->work);
  bench_case_plan(one, &plan);
  const assay_tensor y = assay_tensor_make(NULL, plan.out[0].dtype, plan.out[0].rank, plan.out[0].shape);
  if (!assay_tensor_count(&y, &outputs)) outputs = INT64_MAX;
  one->sampled = one->work.flops > sampled_flops || outputs > sampled_outputs;
  one->sampled_rounds = one->work.flops > round_flops || outputs > round_outputs;
}

void bench_compare(const bench_run *run, const bench_variant *candidate, const bench_variant *baseline,
                   schedule_ratio *ratio) {
  *ratio = schedule_compare(&run->protocol, candidate->samples, candidate->sample_count, baseline->samples,
                            baseline->sample_count);
}

double bench_floor_ns(const bench_run *run, const bench_case *one) {
  const double copy = run->ceilings[CEILING_COPY].rate;
  const double stream = run->ceilings[CEILING_STREAM].rate;
  const double bytes = copy > stream ? copy : stream;
  const double flops = run->ceilings[CEILING_FMA].rate;
  const double moving = bytes > 0 ? one->work.bytes / bytes * 1e9 : 0;
  const double working = flops > 0 ? one->work.flops / flops * 1e9 : 0;
  return moving > working ? moving : working;
}

void bench_free(bench_run *run) {
  for (int c = 0; c < run->case_count; c++) {
    for (int v = 0; v < run->cases[c].variant_count; v++) free(run->cases[c].variants[v].samples);
  }
  free(run->cases);
  run->cases = NULL;
  run->case_count = 0;
}
