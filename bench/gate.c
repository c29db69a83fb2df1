/* SPDX-License-Identifier: MIT */
/* gate.c - the oracle on the judge's threads, for all rows of an output or for one of each of 64 bands. */
#include "gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/compare.h"
#include "half.h"
#include "parallel.h"
#include "rng.h"
#include "tensor.h"

typedef struct oracle_work {
  const gate *gate;
  const assay_case *operands;
  int64_t row_at[GATE_ROWS]; /* sampled: index of the row in its problem */
  int64_t problem[GATE_ROWS];
} oracle_work;

/* The problem's own operands: with `dims` leading dimensions taken away, at place `problem` in them. */
static assay_tensor part_of(const assay_tensor *whole, int dims, int64_t problem) {
  assay_tensor part = *whole;
  if (whole->rank != 4 || dims == 0 || whole->data == NULL) return part;
  int64_t offset = 0;
  for (int i = dims - 1; i >= 0; i--) {
    offset += problem % whole->shape[i] * whole->stride[i];
    problem /= whole->shape[i];
  }
  part.data = (unsigned char *)whole->data + (size_t)offset * assay_dtype_size(whole->dtype);
  part.rank = whole->rank - dims;
  memmove(part.shape, part.shape + dims, (size_t)part.rank * sizeof part.shape[0]);
  memmove(part.stride, part.stride + dims, (size_t)part.rank * sizeof part.stride[0]);
  return part;
}

static void ask_oracle(const oracle_work *work, int dims, int64_t problem, int64_t first, int64_t count,
                       int64_t at) {
  const gate *self = work->gate;
  const assay_case *operands = work->operands;
  assay_tensor in[ASSAY_MAX_OPERANDS];
  assay_tensor out[ASSAY_MAX_OPERANDS];
  for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) {
    in[i] = part_of(&operands->in[i].tensor, dims, problem);
    out[i] = part_of(&operands->out[i].tensor, dims, problem);
  }
  self->subject->oracle(operands->entry, in, out, operands->opt, first, count,
                        self->want + at * self->columns, self->allowed + at * self->columns);
}

static void expect_all(void *argument, int lane, int64_t first, int64_t end) {
  (void)lane;
  ask_oracle(argument, 0, 0, first, end - first, first);
}

static void expect_some(void *argument, int lane, int64_t first, int64_t end) {
  (void)lane;
  const oracle_work *work = argument;
  for (int64_t i = first; i < end; i++) {
    ask_oracle(work, work->gate->batch_dims, work->problem[i], work->row_at[i], 1, i);
  }
}

/* One row of each of 64 equal bands, the problems of a batch in turn. */
static void choose_rows(gate *self, const assay_tensor *y, uint64_t seed, oracle_work *work) {
  assay_rng rng;
  assay_rng_seed(&rng, seed);
  const int dims = y->rank == 4 ? self->batch_dims : 0;
  int64_t problems = 1;
  for (int i = 0; i < dims; i++) problems *= y->shape[i];
  const int64_t rows = y->shape[dims];
  self->count = rows < GATE_ROWS ? rows : GATE_ROWS;
  for (int64_t i = 0; i < self->count; i++) {
    const int64_t low = rows * i / self->count;
    const int64_t high = rows * (i + 1) / self->count;
    work->row_at[i] = low + (int64_t)assay_rng_below(&rng, (uint64_t)(high - low));
    work->problem[i] = i % problems;
    self->first[i] = (work->problem[i] * rows + work->row_at[i]) * self->columns;
  }
}

bool gate_open(gate *self, const assay_case *operands, uint64_t seed) {
  const assay_tensor *y = &operands->out[0].tensor;
  oracle_work work = {.gate = self, .operands = operands};
  const int dims = self->sampled && y->rank == 4 ? self->batch_dims : 0;
  self->columns = 1;
  for (int i = dims + 1; i < y->rank; i++) self->columns *= y->shape[i];
  self->count = y->shape[0];
  if (self->sampled) choose_rows(self, y, seed, &work);
  const size_t elements = (size_t)(self->count * self->columns);
  self->want = malloc((elements > 0 ? elements : 1) * sizeof *self->want);
  self->allowed = malloc((elements > 0 ? elements : 1) * sizeof *self->allowed);
  if (self->want == NULL || self->allowed == NULL) {
    gate_close(self);
    return false;
  }
  if (elements > 0) parallel_run(self->threads, self->count, self->sampled ? expect_some : expect_all, &work);
  return true;
}

void gate_close(gate *self) {
  free(self->want);
  free(self->allowed);
  self->want = self->allowed = NULL;
}

typedef struct compare_work {
  const gate *gate;
  const assay_case *operands;
  gate_result results[PARALLEL_MOST];
} compare_work;

static void compare_one(const gate *self, assay_dtype dtype, double got, int64_t at, int64_t position,
                        gate_result *result) {
  const double want = self->exact ? assay_round_to(dtype, self->want[at]) : self->want[at];
  const double allowed = self->exact ? 0 : self->allowed[at];
  const double error = fabs(got - want);
  result->compared++;
  if (!compare_element(dtype, got, want, allowed)) {
    if (result->wrong++ == 0) {
      result->first_wrong = position;
      result->got = got;
      result->want = want;
    }
    return;
  }
  if (!isfinite(error) || error == 0) return;
  const double ulps = error / assay_ulp(dtype, want);
  if (ulps > result->error_ulps) result->error_ulps = ulps;
  if (allowed > 0 && error / allowed > result->error_share) result->error_share = error / allowed;
}

static void compare_rows(void *argument, int lane, int64_t first, int64_t end) {
  compare_work *work = argument;
  const gate *self = work->gate;
  const assay_tensor *y = &work->operands->out[0].tensor;
  for (int64_t row = first; row < end; row++) {
    const int64_t start = self->sampled ? self->first[row] : row * self->columns;
    for (int64_t c = 0; c < self->columns; c++) {
      compare_one(self, y->dtype, assay_get(y->data, y->dtype, start + c), row * self->columns + c, start + c,
                  &work->results[lane]);
    }
  }
}

gate_result gate_compare(const gate *self, const assay_case *operands) {
  compare_work work = {.gate = self, .operands = operands};
  gate_result sum = {0};
  parallel_run(self->threads, self->count, compare_rows, &work);
  for (int i = 0; i < PARALLEL_MOST; i++) {
    const gate_result *part = &work.results[i];
    if (sum.wrong == 0 && part->wrong > 0) {
      sum.first_wrong = part->first_wrong;
      sum.got = part->got;
      sum.want = part->want;
    }
    sum.wrong += part->wrong;
    sum.compared += part->compared;
    if (part->error_ulps > sum.error_ulps) sum.error_ulps = part->error_ulps;
    if (part->error_share > sum.error_share) sum.error_share = part->error_share;
  }
  return sum;
}
