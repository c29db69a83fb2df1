/* SPDX-License-Identifier: MIT */
/* normalizer_bench.c - what is timed of the online normaliser: its three functions and the two-pass way. */
#include "normalizer.h"

#include "ops/bench_passes.h"

/* Layouts of a row are the three functions. */
enum {
  SUMMARISE = 1 << ASSAY_ONLINE_NORMALIZER_SUMMARISE,
  MERGE = 1 << ASSAY_ONLINE_NORMALIZER_MERGE,
  FINISH = 1 << ASSAY_ONLINE_NORMALIZER_FINISH
};

/* Elements are normal with deviation b. A state of two numbers is what so many of them have. */
static void fill(const assay_fill_args *args, double *values) {
  const int64_t count = args->shape[0];
  for (int64_t i = 0; i < count; i++) values[i] = args->b * assay_rng_normal(args->rng);
  if (count == 2) {
    values[0] = 4 * args->b + values[0] / 8;
    values[1] = args->a * (1 + assay_rng_uniform(args->rng));
  }
}

static const assay_row rows[] = {
    {{32769, 0}, ASSAY_HAS_FP32, SUMMARISE, fill, 1000, 3, {0}, 0, false},
    {{1 << 20, 0}, ASSAY_HAS_FP32, SUMMARISE | FINISH, fill, 1000, 3, {0}, 0, false},
    {{1 << 20, 0}, ASSAY_HAS_FP64, SUMMARISE, fill, 1000, 3, {0}, 0, false},
    {{2, 0}, ASSAY_HAS_FP32, MERGE, fill, 1000, 3, {0}, 0, false},
    {{1 << 23, 0}, ASSAY_HAS_FP32, SUMMARISE | FINISH, fill, 1000, 3, {0}, 0, false},
};

static void work(const assay_row *row, assay_dtype dtype, int layout, assay_bench_work *result) {
  const double count = (double)row->dims[0];
  const double size = dtype == ASSAY_FP64 ? 8 : 4;
  if (layout == ASSAY_ONLINE_NORMALIZER_SUMMARISE) *result = (assay_bench_work){size * count + 16, 4 * count};
  if (layout == ASSAY_ONLINE_NORMALIZER_MERGE) *result = (assay_bench_work){48, 7};
  if (layout == ASSAY_ONLINE_NORMALIZER_FINISH) {
    *result = (assay_bench_work){2 * size * count + 16, 3 * count};
  }
}

static double element(const assay_tensor *x, int64_t i) {
  return x->dtype == ASSAY_FP64 ? ((const double *)x->data)[i] : (double)((const float *)x->data)[i];
}

/* A difference of FP32 elements is taken in FP32's exp, as the operator's variants do. */
static double power(const assay_tensor *x, double d) {
  return x->dtype == ASSAY_FP64 ? exp(d) : (double)expf((float)d);
}

static assay_status two_passes(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                               assay_queue *queue) {
  (void)opt;
  const assay_tensor *x = &in[0];
  const int64_t count = x->shape[0];
  double *state = out[0].data;
  double m = -INFINITY;
  double sum = 0;
#pragma omp parallel for num_threads(assay_pass_threads(queue, count)) schedule(static) reduction(max : m)
  for (int64_t i = 0; i < count; i++) m = element(x, i) > m ? element(x, i) : m;
#pragma omp parallel for num_threads(assay_pass_threads(queue, count)) schedule(static) reduction(+ : sum)
  for (int64_t i = 0; i < count; i++) sum += power(x, element(x, i) - m);
  state[0] = m;
  state[1] = sum;
  return ASSAY_OK;
}

static assay_status exp_then_divide(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                    assay_queue *queue) {
  (void)opt;
  const double *state = in[0].data;
  const assay_tensor *x = &in[1];
  const int64_t count = x->shape[0];
  const bool wide = x->dtype == ASSAY_FP64;
#pragma omp parallel for num_threads(assay_pass_threads(queue, count)) schedule(static)
  for (int64_t i = 0; i < count; i++) {
    const double e = power(x, element(x, i) - state[0]);
    if (wide) ((double *)out[0].data)[i] = e;
    if (!wide) ((float *)out[0].data)[i] = (float)e;
  }
#pragma omp parallel for num_threads(assay_pass_threads(queue, count)) schedule(static)
  for (int64_t i = 0; i < count; i++) {
    if (wide) ((double *)out[0].data)[i] /= state[1];
    if (!wide) ((float *)out[0].data)[i] = (float)(((float *)out[0].data)[i] / state[1]);
  }
  return ASSAY_OK;
}

static const assay_bench_baseline baselines[] = {
    {.name = "two_passes",
     .expression = "summarise: m = max(x); s = sum(exp(x - m)); finish: y = exp(x - m); y = y / s; plain C",
     .rounding = "exponentials in the type of x, the sum in FP64",
     .entry = {two_passes, NULL, exp_then_divide}},
};

const assay_bench_table assay_normalizer_bench = {
    .rows = rows,
    .row_count = (int)(sizeof rows / sizeof rows[0]),
    .work = work,
    .tolerance = "relative: (4 + terms + merges)*u per FP32 step, FP64 states accordingly",
    .baselines = baselines,
    .baseline_count = (int)(sizeof baselines / sizeof baselines[0]),
};
