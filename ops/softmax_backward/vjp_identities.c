/* SPDX-License-Identifier: MIT */
/*
 * vjp_identities.c - checks that hold the result to something else than the formula of the oracle: the dense
 * Jacobian, two kinds of derivative of L(x) = sum(softmax(x) * g), the adjoint identity, the sum of a row.
 *
 * The oracle gives only the allowed error here, and the proof that no lazy output would have passed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "half.h"
#include "probe.h"
#include "vjp.h"

/* One case with its inputs as FP64 matrices and the errors that its results may have. */
typedef struct problem {
  assay_case *operands;
  int64_t rows;
  int64_t columns;
  double *y;
  double *g;
  double *want; /* of the oracle */
  double *allowed;
} problem;

static void read_input(const assay_tensor *view, double *values) {
  for (int64_t r = 0; r < view->shape[0]; r++) {
    for (int64_t c = 0; c < view->shape[1]; c++) {
      *values++ = assay_get(view->data, view->dtype, r * view->stride[0] + c * view->stride[1]);
    }
  }
}

/* Reads the inputs as they are now. */
static void read_problem(assay_probe *probe, problem *self) {
  const assay_tensor in[] = {assay_probe_in(probe, self->operands, 0),
                             assay_probe_in(probe, self->operands, 1)};
  const assay_tensor dx = assay_probe_out(probe, self->operands, 0);
  read_input(&in[0], self->y);
  read_input(&in[1], self->g);
  assay_vjp_oracle(0, in, &dx, NULL, 0, self->rows, self->want, self->allowed);
}

static bool open_problem(assay_probe *probe, problem *self) {
  *self = (problem){.rows = probe->row->dims[0], .columns = probe->row->dims[1]};
  const size_t count = (size_t)(self->rows * self->columns);
  self->operands = assay_probe_make_row(probe);
  self->y = calloc(4 * count, sizeof *self->y);
  if (self->operands == NULL || self->y == NULL) return false;
  self->g = self->y + count;
  self->want = self->g + count;
  self->allowed = self->want + count;
  read_problem(probe, self);
  return true;
}

static void close_problem(problem *self) {
  free(self->y);
  self->y = NULL;
}

/* ---- the dense Jacobian -------------------------------------------------------------------------------- */

void assay_vjp_dense_jacobian(assay_probe *probe) {
  problem self;
  if (open_problem(probe, &self) && assay_probe_run_one(probe, self.operands)) {
    const int64_t n = self.columns;
    bool right = true;
    for (int64_t i = 0; right && i < self.rows * n; i++) {
      const double *y = self.y + i / n * n;
      const double *g = self.g + i / n * n;
      double dx = 0;
      for (int64_t k = 0; k < n; k++) {
        const double entry = (k == i % n ? y[k] : 0) - y[i % n] * y[k]; /* diag(y) - y*y^T */
        dx += entry * g[k];
      }
      right = assay_probe_expect(probe, self.operands, i, dx, self.allowed[i] + 1e-13);
    }
    (void)assay_probe_expect_oracle(probe, self.operands, false);
  }
  close_problem(&self);
}

/* ---- derivatives of L(x) = sum(softmax(x) * g) --------------------------------------------------------- */

/* The inputs as they arrive are x and g; y becomes softmax(x), rounded to the type, and `x` gets the logits.
 */
static bool become_softmax(assay_probe *probe, problem *self, double *x) {
  const int64_t n = self->columns;
  for (int64_t r = 0; r < self->rows; r++) {
    double *row = self->y + r * n;
    double sum = 0;
    for (int64_t c = 0; c < n; c++) {
      x[r * n + c] = row[c];
      sum += row[c] = exp(row[c]);
    }
    for (int64_t c = 0; c < n; c++) row[c] /= sum;
  }
  if (!assay_probe_fill(probe, self->operands, ASSAY_SOFTMAX_BACKWARD_Y, self->y)) return false;
  read_problem(probe, self);
  return true;
}

/*
 * What rounding y to the type changes: y'(g - sum(y'g)) with relative changes of at most e in y' is off by
 * e*|y|*(|g - dot| + sum|y*g|), to first order. Small results of 16-bit types are checked like the others.
 */
static double rounding_of_y(const problem *self, assay_dtype dtype, int64_t i) {
  const int64_t n = self->columns;
  const double *y = self->y + i / n * n;
  const double *g = self->g + i / n * n;
  double dot = 0;
  double magnitude = 0;
  for (int64_t k = 0; k < n; k++) {
    dot += y[k] * g[k];
    magnitude += fabs(y[k] * g[k]);
  }
  const double e = 1.01 * assay_unit_roundoff(dtype) + 1e-15;
  return e * fabs(y[i % n]) * (fabs(g[i % n] - dot) + magnitude);
}

/* L of one row, with logit `place` moved by h. */
static double loss(const double *x, const double *g, int64_t n, int64_t place, double h) {
  double sum = 0;
  double weighted = 0;
  for (int64_t k = 0; k < n; k++) {
    const double term = exp(x[k] + (k == place ? h : 0));
    sum += term;
    weighted += term * g[k];
  }
  return weighted / sum;
}

/* A number and its derivative; the rules of differentiation are those of the arithmetic. */
typedef struct dual {
  double value;
  double slope;
} dual;

static dual dual_add(dual a, dual b) {
  return (dual){a.value + b.value, a.slope + b.slope};
}

static dual dual_divide(dual a, dual b) {
  return (dual){a.value / b.value, (a.slope * b.value - a.value * b.slope) / (b.value * b.value)};
}

static dual dual_exp(dual a) {
  return (dual){exp(a.value), exp(a.value) * a.slope};
}

/* The slope of L along logit `place`. */
static double dual_slope(const double *x, const double *g, int64_t n, int64_t place) {
  dual sum = {0, 0};
  dual weighted = {0, 0};
  for (int64_t k = 0; k < n; k++) {
    const dual term = dual_exp((dual){x[k], k == place ? 1 : 0});
    sum = dual_add(sum, term);
    weighted = dual_add(weighted, (dual){term.value * g[k], term.slope * g[k]});
  }
  return dual_divide(weighted, sum).slope;
}

/* Every element against the derivative of L by its logit. */
static void expect_derivative(assay_probe *probe, bool central) {
  problem self;
  double *x = NULL;
  if (open_problem(probe, &self)) x = calloc((size_t)(self.rows * self.columns), sizeof *x);
  if (x != NULL && become_softmax(probe, &self, x) && assay_probe_run_one(probe, self.operands)) {
    const int64_t n = self.columns;
    const double h = 0x1p-10;
    bool right = true;
    for (int64_t i = 0; right && i < self.rows * n; i++) {
      const double *row = x + i / n * n;
      const double *g = self.g + i / n * n;
      const double up = central ? loss(row, g, n, i % n, h) : 0;
      const double down = central ? loss(row, g, n, i % n, -h) : 0;
      const double want = central ? (up - down) / (2 * h) : dual_slope(row, g, n, i % n);
      /* L along one logit is a logistic curve times a constant. Its third derivative is nowhere above the
       * first, so a central difference is off by h^2/6 of the slope; its rounding is the last term. */
      const double curvature = central ? h * h / 6 * 1.01 * fabs(want) + 1e-11 : 1e-13;
      const double allowed = self.allowed[i] + rounding_of_y(&self, probe->dtype, i) + curvature;
      right = assay_probe_expect(probe, self.operands, i, want, allowed);
    }
    (void)assay_probe_expect_oracle(probe, self.operands, false);
  }
  free(x);
  close_problem(&self);
}

void assay_vjp_central_difference(assay_probe *probe) {
  expect_derivative(probe, true);
}

void assay_vjp_dual_numbers(assay_probe *probe) {
  expect_derivative(probe, false);
}

/* ---- identities of the whole operator ------------------------------------------------------------------ */

/* Sum of left * right over one row, and of the first's errors. */
static double row_product(const double *left, const double *right, int64_t n) {
  double sum = 0;
  for (int64_t c = 0; c < n; c++) sum += left[c] * right[c];
  return sum;
}

/* The results of the last call, as FP64. */
static void read_result(assay_probe *probe, const problem *self, double *dx) {
  const assay_tensor out = assay_probe_out(probe, self->operands, 0);
  for (int64_t i = 0; i < self->rows * self->columns; i++) dx[i] = assay_get(out.data, out.dtype, i);
}

static double row_error(const problem *self, const double *weights, int64_t row) {
  double sum = 0;
  for (int64_t c = 0; c < self->columns; c++) {
    const double weight = weights == NULL ? 1 : fabs(weights[row * self->columns + c]);
    sum += self->allowed[row * self->columns + c] * weight;
  }
  return sum;
}

static void expect_close(assay_probe *probe, const char *what, int64_t row, double left, double right,
                         double allowed) {
  char text[192];
  if (fabs(left - right) <= allowed) return;
  snprintf(text, sizeof text, "row %lld: %s: %.9g and %.9g differ by %.3g where %.3g is allowed",
           (long long)row, what, left, right, fabs(left - right), allowed);
  assay_probe_fail(probe, text);
}

void assay_vjp_adjoint(assay_probe *probe) {
  problem u;
  problem w = {0};
  const assay_rng start = probe->rng;
  if (open_problem(probe, &u)) {
    /* The same y (the same draws), and a g of its own. */
    const assay_rng after = probe->rng;
    probe->rng = start;
    const bool open = open_problem(probe, &w);
    probe->rng = after;
    const int64_t count = u.rows * u.columns;
    double *ju = calloc(2 * (size_t)count, sizeof *ju);
    if (open && ju != NULL &&
        assay_probe_fill_with(probe, w.operands, ASSAY_SOFTMAX_BACKWARD_G, assay_vjp_fill_pair, 1, 1)) {
      read_problem(probe, &w);
      const assay_probe_call calls[] = {{u.operands, 0}, {w.operands, 0}};
      if (assay_probe_run(probe, calls, 2)) {
        double *jw = ju + count;
        read_result(probe, &u, ju);
        read_result(probe, &w, jw);
        for (int64_t r = 0; r < u.rows; r++) {
          const int64_t at = r * u.columns;
          expect_close(probe, "<J u, w> and <u, J w>", r, row_product(ju + at, w.g + at, u.columns),
                       row_product(jw + at, u.g + at, u.columns),
                       row_error(&u, w.g, r) + row_error(&w, u.g, r) + 1e-12);
        }
        (void)assay_probe_expect_oracle(probe, u.operands, false);
        (void)assay_probe_expect_oracle(probe, w.operands, false);
      }
    }
    free(ju);
  }
  close_problem(&u);
  close_problem(&w);
}

/* y becomes whole multiples of 2^-10 that add up to exactly 1, each exact in every type. */
static void deal_weights(assay_probe *probe, problem *self) {
  for (int64_t r = 0; r < self->rows; r++) {
    double *y = self->y + r * self->columns;
    for (int64_t c = 0; c < self->columns; c++) y[c] = 0;
    for (int k = 0; k < 1024; k++) {
      int64_t c = (int64_t)assay_rng_below(&probe->rng, (uint64_t)self->columns);
      while (y[c] >= 128 * 0x1p-10) c = (c + 1) % self->columns;
      y[c] += 0x1p-10;
    }
  }
}

void assay_vjp_row_sums(assay_probe *probe) {
  problem self;
  double *dx = NULL;
  if (open_problem(probe, &self)) dx = calloc((size_t)(self.rows * self.columns), sizeof *dx);
  if (dx != NULL) {
    deal_weights(probe, &self);
    if (assay_probe_fill(probe, self.operands, ASSAY_SOFTMAX_BACKWARD_Y, self.y)) {
      read_problem(probe, &self);
      if (assay_probe_run_one(probe, self.operands)) {
        read_result(probe, &self, dx);
        for (int64_t r = 0; r < self.rows; r++) {
          double sum = 0;
          for (int64_t c = 0; c < self.columns; c++) sum += dx[r * self.columns + c];
          expect_close(probe, "the sum of dx, and 0", r, sum, 0, row_error(&self, NULL, r) + 1e-12);
        }
        (void)assay_probe_expect_oracle(probe, self.operands, false);
      }
    }
  }
  free(dx);
  close_problem(&self);
}
