/* SPDX-License-Identifier: MIT */
/* contents.c - operands of hundreds of megabytes would keep one thread busy for longer than all samples take.
 * Bands do not depend on how many threads share them. */
#include "contents.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "parallel.h"
#include "tensor.h"

enum { BANDS = 256, SHARED_LEAST = 1 << 22 };

typedef struct band_work {
  const contents_way *how;
  case_operand *operand;
  int dimension; /* that is cut */
  int64_t bands;
  int64_t inner; /* elements behind one index of it */
  atomic_bool failed;
} band_work;

static void make_bands(void *argument, int lane, int64_t first, int64_t end) {
  (void)lane;
  band_work *work = argument;
  const int64_t all = work->how->args.shape[work->dimension];
  for (int64_t band = first; band < end; band++) {
    const int64_t from = all * band / work->bands;
    const int64_t count = all * (band + 1) / work->bands - from;
    assay_rng rng;
    assay_fill_args args = work->how->args;
    double *values = malloc((size_t)(count * work->inner > 0 ? count * work->inner : 1) * sizeof *values);
    if (values == NULL) {
      atomic_store(&work->failed, true);
      return;
    }
    assay_rng_seed(&rng, work->bands > 1 ? assay_seed_mix(work->how->seed, (uint64_t)band) : work->how->seed);
    args.rng = &rng;
    args.shape[work->dimension] = count;
    work->how->fill(&args, values);
    case_fill_part(work->operand, from * work->inner, count * work->inner, values);
    free(values);
  }
}

typedef struct poison_work {
  const assay_case *operands;
  int index;
} poison_work;

static void poison_part(void *argument, int lane, int64_t first, int64_t end) {
  (void)lane;
  const poison_work *work = argument;
  case_poison_part(work->operands, work->index, first, end - first);
}

void contents_poison(assay_case *operands, uint64_t seed, int threads) {
  case_poison_edges(operands, seed);
  for (int i = 0; i < operands->function->out_count; i++) {
    int64_t count = 0;
    poison_work work = {operands, i};
    if (operands->out[i].slot < 0 || !assay_tensor_count(&operands->out[i].tensor, &count)) continue;
    parallel_run(count >= SHARED_LEAST ? threads : 1, count, poison_part, &work);
  }
}

bool contents_make(const contents_way *self, case_operand *operand) {
  band_work work = {.how = self, .operand = operand, .bands = 1, .inner = 1};
  const assay_fill_args *args = &self->args;
  /* Rows stay whole. Leading dimensions of one element hold nothing that could be shared out. */
  while (self->banded && work.dimension < args->rank - 2 && args->shape[work.dimension] == 1)
    work.dimension++;
  for (int i = work.dimension + 1; i < args->rank; i++) work.inner *= args->shape[i];
  const int64_t rows = args->shape[work.dimension];
  if (self->banded && args->rank > 1 && rows > 1) work.bands = rows < BANDS ? rows : BANDS;
  parallel_run(self->threads, work.bands, make_bands, &work);
  return !atomic_load(&work.failed);
}
