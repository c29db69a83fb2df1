/* SPDX-License-Identifier: MIT */
/*
 * normalizer_oracle.c - the definition of the normaliser's three functions, and the error that a variant may
 * have.
 *
 * Written for reading; shares no code with any variant. A state is FP64, and FP64 elements are summarised in
 * FP64: so the definition is in long double, with a compensated sum. The bounds are derived in this folder's
 * README.
 */
#include <math.h>

#include "half.h"
#include "normalizer.h"

static const double u32 = 0x1p-24;
static const double u64 = 0x1p-53;

/* A running sum with the rounding error of each addition carried along (Neumaier 1974). */
typedef struct compensated_sum {
  long double sum;
  long double error;
} compensated_sum;

static void add(compensated_sum *total, long double term) {
  const long double sum = total->sum + term;
  const long double lost =
      fabsl(total->sum) >= fabsl(term) ? (total->sum - sum) + term : (term - sum) + total->sum;
  total->sum = sum;
  total->error += lost;
}

/* e^d to more digits than the type's bound counts: FP64's exp serves FP32 elements, and is quicker. */
static long double power(assay_dtype dtype, long double d) {
  return dtype == ASSAY_FP64 ? expl(d) : (long double)exp((double)d);
}

static void write_state(double m, long double s, double relative, double *want, double *allowed) {
  want[0] = m;
  want[1] = (double)s;
  allowed[0] = 0; /* the maximum is one of the numbers that came in */
  allowed[1] = isfinite(want[1]) && want[1] > 0
                   ? want[1] * relative + assay_rounding_error(ASSAY_FP64, want[1])
                   : 0; /* NaN is judged by class, the empty sum is exact */
}

/* (4 + terms + merges) roundings. FP32 sums may be 1024 terms long and built from single elements by merging:
 * 1023 merges, and those of the sums. FP64 sums may be of any length. */
static double summary_bound(assay_dtype dtype, double n) {
  if (dtype == ASSAY_FP64) return (4 + n + n - 1) * u64;
  const double terms = fmin(n, 1024);
  return (4 + terms + terms - 1 + ceil(n / 1024) - 1) * u32;
}

static void summarise(const assay_tensor *x, double *want, double *allowed) {
  const int64_t count = x->shape[0];
  double m = -INFINITY; /* the largest element; NaN is larger than nothing */
  for (int64_t i = 0; i < count; i++) {
    const double value = assay_get(x->data, x->dtype, i);
    if (value > m) m = value;
  }
  compensated_sum total = {0, 0};
  for (int64_t i = 0; i < count; i++) {
    const double value = assay_get(x->data, x->dtype, i);
    if (value == -INFINITY) continue; /* adds exactly nothing, whatever the maximum */
    add(&total, isnan(value) ? (long double)NAN : power(x->dtype, (long double)value - (long double)m));
  }
  const long double s = isfinite(total.error) ? total.sum + total.error : total.sum;
  write_state(m, s, summary_bound(x->dtype, (double)count), want, allowed);
}

static void merge(const double *left, const double *right, double *want, double *allowed) {
  const double m = fmax(left[0], right[0]);
  long double s = 0;
  double distance = 0; /* of the smaller maximum, by its share of the sum */
  long double scaled[2];
  for (int i = 0; i < 2; i++) {
    const double *part = i == 0 ? left : right;
    /* exp(0) for equal maxima, also where both are infinite. */
    scaled[i] = part[0] == m ? part[1] : part[1] * expl((long double)part[0] - (long double)m);
    s += scaled[i];
  }
  for (int i = 0; i < 2; i++) {
    const double below = m - (i == 0 ? left[0] : right[0]);
    if (scaled[i] > 0 && isfinite(below)) distance += below * (double)(scaled[i] / s);
  }
  write_state(m, s, (4 + 2 + 1 + distance) * u64, want, allowed); /* two terms, one merge */
}

static void finish(const double *state, const assay_tensor *x, int64_t first, int64_t count, double *want,
                   double *allowed) {
  const double u = x->dtype == ASSAY_FP64 ? u64 : u32;
  const double tiny = x->dtype == ASSAY_FP64 ? 0x1p-1020 : 0x1p-125;
  const double step = x->dtype == ASSAY_FP64 ? 0x1p-1074 : 0x1p-149;
  for (int64_t i = 0; i < count; i++) {
    const double value = assay_get(x->data, x->dtype, first + i);
    const long double d = (long double)value - (long double)state[0];
    want[i] = (double)(power(x->dtype, d) / (long double)state[1]);
    allowed[i] = 0; /* an infinity and NaN are judged by class; exp(-inf) is an exact zero */
    if (!isfinite(want[i]) || value == -INFINITY) continue;
    /* exp(x - m) may itself be subnormal and off by one more step. Far below that want is 0, whatever d is.
     */
    const double intermediate = want[i] < tiny ? step : 0;
    const double distance = (double)fminl(fabsl(d), 1e6L);
    allowed[i] = want[i] * (4 + distance) * u + assay_rounding_error(x->dtype, want[i]) + intermediate;
  }
}

void assay_normalizer_oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             int64_t first, int64_t count, double *want, double *allowed) {
  (void)out, (void)opt;
  if (entry == ASSAY_ONLINE_NORMALIZER_FINISH) {
    finish(in[0].data, &in[1], first, count, want, allowed);
    return;
  }
  /* A state is written whole: it is computed whole, and the units asked for are copied. */
  double state[2];
  double error[2];
  if (entry == ASSAY_ONLINE_NORMALIZER_SUMMARISE) summarise(&in[0], state, error);
  if (entry == ASSAY_ONLINE_NORMALIZER_MERGE) merge(in[0].data, in[1].data, state, error);
  for (int64_t i = 0; i < count; i++) {
    want[i] = state[first + i];
    allowed[i] = error[first + i];
  }
}
