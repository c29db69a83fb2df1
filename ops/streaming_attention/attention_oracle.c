/* SPDX-License-Identifier: MIT */
/*
 * attention_oracle.c - the definition of attention in FP64, and the error that a variant may have.
 *
 * Written for reading; shares no code with any variant. A masked key or value is never looked at. The bound
 * is derived in this folder's README, whose names are used here.
 */
#include <math.h>
#include <stdlib.h>

#include "attention.h"
#include "half.h"

enum { SHORTEST_TILE = 32, HEAD_SIZE_MOST = 256 };

/* One head, widened. */
typedef struct head {
  assay_dtype dtype;
  int64_t n, d;
  bool causal;
  const double *q, *k, *v; /* [n,d], packed */
  double *x;               /* the scores of one row */
  double *spread;          /* sum_c |q k| / sqrt(d) of each of them */
} head;

/* Sums over the keys of one row, one for each column of v. */
typedef struct columns {
  double sum[HEAD_SIZE_MOST];  /* of p * v, */
  double lost[HEAD_SIZE_MOST]; /* and what its additions lost */
  double off[HEAD_SIZE_MOST];  /* of |v| times what its weight may be off by, see weight_error */
} columns;

/* A running sum with the rounding error of each addition carried along (Neumaier 1974). */
static void add(double *sum, double *lost, double term) {
  const double next = *sum + term;
  *lost += fabs(*sum) >= fabs(term) ? (*sum - next) + term : (term - next) + *sum;
  *sum = next;
}

/* Infinite and NaN sums leave a NaN in what was lost. */
static double total(double sum, double lost) {
  return isfinite(lost) ? sum + lost : sum;
}

/* The scores of row i and the largest of them: NaN when one is NaN. */
static double scores(const head *h, int64_t i, int64_t visible) {
  const double root = sqrt((double)h->d);
  double largest = -INFINITY;
  for (int64_t j = 0; j < visible; j++) {
    double dot =
        0; /* products of two 16-bit numbers are exact in FP64, and 256 of them lose nothing of note */
    double absolute = 0;
    for (int64_t c = 0; c < h->d; c++) {
      const double product = h->q[i * h->d + c] * h->k[j * h->d + c];
      dot += product;
      absolute += fabs(product);
    }
    h->x[j] = dot / root;
    h->spread[j] = absolute / root;
    if (isnan(h->x[j]) || h->x[j] > largest) largest = h->x[j];
    if (isnan(largest)) return NAN;
  }
  return largest;
}

static const double u = 0x1p-24;

static double tiles_after_the_first(int64_t visible) {
  const int64_t tiles = (visible - 1) / SHORTEST_TILE;
  return (double)tiles;
}

/* Relative error of one weight: of its score, of the difference, of exp, of the rescaling steps. */
static double delta(const head *h, int64_t j, double below, int64_t visible) {
  return expm1((double)(h->d + 2) * u * h->spread[j]) + (below + 2 + 3 * tiles_after_the_first(visible)) * u;
}

/* The longest chain of additions, in units of u. */
static double chain(int64_t visible) {
  return fmin((double)visible, 1024) + (double)visible / 32;
}

/* What weight p contributes to the error of a sum of p * v, for v = 1. */
static double weight_error(const head *h, double p, double error, int64_t visible) {
  const double rounded = 2 * fmin(p, assay_rounding_error(h->dtype, p));
  const double subnormal = p > 0 && p < 0x1p-125 ? (2 + tiles_after_the_first(visible)) * 0x1p-149 : 0;
  return p * (error + chain(visible) * u) + rounded + subnormal;
}

static void add_key(const head *h, int64_t j, double p, double off, columns *row) {
  const double *v = h->v + j * h->d;
  for (int64_t c = 0; c < h->d; c++) {
    /* Without a comparison (Knuth), which lets this loop run fast. */
    const double term = p * v[c];
    const double next = row->sum[c] + term;
    const double gained = next - row->sum[c];
    row->lost[c] += (row->sum[c] - (next - gained)) + (term - gained);
    row->sum[c] = next;
    row->off[c] += off * fabs(v[c]);
  }
}

/* `off` of the column and the mean delta of the row, both divided by the sum of the weights. */
static double allowed_error(const head *h, int64_t visible, double off, double s, double mean, double o) {
  const double denominator = (mean + chain(visible) * u) * fabs(o);
  const double division = 3 * u * fabs(o);
  /* Products and rescaled sums that are subnormal in FP32 are off by a step each. */
  const double subnormal = ((double)visible + tiles_after_the_first(visible) + 1) * 0x1p-149 / s;
  const double before = off + denominator + division + subnormal;
  return before + assay_rounding_error(h->dtype, fabs(o) + before);
}

static void attend(const head *h, int64_t i, double *want, double *allowed) {
  const int64_t visible = h->causal ? i + 1 : h->n;
  const double m = scores(h, i, visible);
  columns row;
  for (int64_t c = 0; c < h->d; c++) row.sum[c] = row.lost[c] = row.off[c] = 0;
  double s = 0;
  double lost = 0;
  double mean = 0;
  for (int64_t j = 0; j < visible && !isnan(m); j++) {
    /* -inf - -inf and inf - inf are NaN, as the contract wants; -inf beside finite scores is an exact 0. */
    const double p = exp(h->x[j] - m);
    const double error = p > 0 ? delta(h, j, m - h->x[j], visible) : 0;
    add(&s, &lost, p);
    mean += p * error;
    add_key(h, j, p, weight_error(h, p, error, visible), &row);
  }
  s = isnan(m) ? NAN : total(s, lost);
  for (int64_t c = 0; c < h->d; c++) {
    want[c] = total(row.sum[c], row.lost[c]) / s;
    allowed[c] = isfinite(want[c]) ? allowed_error(h, visible, row.off[c] / s, s, mean / s, want[c]) : 0;
  }
}

/* One matrix of an input, widened into `to`. Tensors of rank 2 have one batch of one head. */
static void widen(const assay_tensor *from, int64_t b, int64_t h, double *to) {
  const int inner = from->rank - 1;
  const int64_t n = from->shape[inner - 1];
  const int64_t d = from->shape[inner];
  const int64_t start = from->rank == 4 ? b * from->stride[0] + h * from->stride[1] : 0;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t c = 0; c < d; c++) {
      const int64_t at = start + i * from->stride[inner - 1] + c * (d > 1 ? from->stride[inner] : 1);
      to[i * d + c] = assay_get(from->data, from->dtype, at);
    }
  }
}

void assay_attention_oracle(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                            int64_t first, int64_t count, double *want, double *allowed) {
  (void)entry;
  const assay_tensor *q = &in[ASSAY_STREAMING_ATTENTION_Q];
  const bool one = q->rank == 2; /* then the units are rows, otherwise batches */
  const int64_t n = q->shape[q->rank - 2];
  const int64_t d = q->shape[q->rank - 1];
  const int64_t heads = one ? 1 : q->shape[1];
  const int64_t from = one ? first : 0;
  const int64_t to = one ? first + count : n;
  double *memory = calloc((size_t)(3 * n * d + 2 * n + 1), sizeof *memory);
  head h = {.dtype = out[ASSAY_STREAMING_ATTENTION_O].dtype,
            .n = n,
            .d = d,
            .causal = opt != NULL && opt[ASSAY_STREAMING_ATTENTION_CAUSAL] == 1};
  for (int64_t unit = 0; unit < (one ? 1 : count) * heads; unit++) {
    for (int i = 0; memory != NULL && i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
      widen(&in[i], first + unit / heads, unit % heads, memory + i * n * d);
    }
    if (memory != NULL) {
      h.q = memory;
      h.k = memory + n * d;
      h.v = memory + 2 * n * d;
      h.x = memory + 3 * n * d;
      h.spread = h.x + n;
    }
    for (int64_t i = from; i < to; i++, want += d, allowed += d) {
      if (memory != NULL) attend(&h, i, want, allowed);
      /* An allowance of NaN passes nothing. */
      for (int64_t c = 0; memory == NULL && c < d; c++) want[c] = 0, allowed[c] = NAN;
    }
  }
  free(memory);
}
