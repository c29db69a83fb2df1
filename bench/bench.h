/* SPDX-License-Identifier: MIT */
/*
 * bench.h - a measurement: which cases, which variants of each, and what came out.
 *
 * The caller fills in options, loads, cases and variants; bench_measure fills in the rest. Samples that a
 * variant already has (from an interrupted run) are kept, and only the missing processes run.
 */
#ifndef ASSAY_BENCH_H
#define ASSAY_BENCH_H

#include "bench_table.h"
#include "ceiling.h"
#include "check/engine.h"
#include "hash.h"
#include "overhead.h"
#include "sample.h"
#include "schedule.h"

enum { BENCH_NAME = 96, BENCH_REASON = 400, BENCH_VARIANTS = 48 };

typedef enum bench_kind { BENCH_YOURS = 0, BENCH_SOLUTION, BENCH_LIBRARY, BENCH_BASELINE } bench_kind;

/* A kernel that every worker loads. Variants that differ in knobs only share one. */
typedef struct bench_load {
  target_kind target;
  const assay_subject *subject;
  int index;          /* of the library's variant or the baseline */
  const char *object; /* TARGET_OBJECT: the shared object */
} bench_load;

typedef struct bench_variant {
  char name[BENCH_NAME]; /* unique in its case */
  bench_kind kind;
  int load;                         /* index into the run's loads */
  int64_t knobs[ASSAY_MAX_OPTIONS]; /* not 0: instead of the case's option */
  const char *expression;
  const char *rounding;
  const char *source; /* the kernel's own file, relative to the source folder or as it was given */

  verdict gate;
  char reason[BENCH_REASON]; /* why it is not timed, or no longer; empty: it is */
  double error_ulps;
  double error_share;
  int64_t compared;
  int64_t peak_bytes;
  int64_t context_switches;
  int64_t graph_nodes; /* of one call, by the last sample; 0: no graph */
  bench_sample *samples;
  int64_t sample_count;
  int64_t sample_room;
  int64_t calls;  /* of a sample; 0: not known yet */
  double call_ns; /* by the judge's clock, before the samples */
  int64_t spent_ns;
  int64_t beside_ns; /* the least that a request took beside its timed calls; 0: none yet */
  int64_t big_batch; /* calls that both clocks can see */
} bench_variant;

/* An operand whose contents come from a file. */
typedef struct bench_input {
  const char *operand;
  const char *path;
  char sha256[ASSAY_HASH_TEXT]; /* of the file */
  assay_tensor tensor;          /* a view of the file's elements, or a copy */
} bench_input;

typedef struct bench_case {
  const assay_operator *op;
  assay_row row;
  assay_dtype dtype;
  int layout;
  const bench_input *inputs; /* one an input of the function; NULL: the row's fill makes contents */
  bool banded;               /* contents are made in bands of rows, by all threads */
  char name[BENCH_NAME];
  assay_bench_work work;
  bool sampled;        /* the gate looks at some rows only */
  bool sampled_rounds; /* so do the checks of the samples that follow the gate */
  bench_variant variants[BENCH_VARIANTS];
  int variant_count;
} bench_case;

typedef struct bench_run {
  schedule protocol;
  uint64_t seed;
  int threads;
  assay_backend backend; /* ASSAY_CPU or ASSAY_CUDA */
  int timer;             /* index into `timers`; it must fit the backend */
  bool cold;
  bench_load *loads;
  int load_count;
  bench_case *cases;
  int case_count;

  /* Called between requests, with one line of text; and after each process, when results can be kept. */
  void (*progress)(void *user, const char *text);
  void (*checkpoint)(void *user);
  /* Once, when it is known how long the run will take. */
  void (*announce)(void *user, double seconds, int samples);
  void *user;

  ceiling ceilings[CEILINGS];
  gpu_overhead overheads[OVERHEADS]; /* of a GPU */
  int64_t cache_bytes;               /* of the last level, which a cold run empties; 0: not known */
  bool pinned;
  int huge_low, huge_high; /* percent of operands in huge pages, smallest and largest */
  bool complete;
} bench_run;

/* Measures everything. False with a sentence when nothing could be started; an interrupted run is true, and
 * not `complete`. */
bool bench_measure(bench_run *run, assay_message *why);

/* Case `index`, from 0, of the suite that is timed on a backend: those of the operator's table, and behind
 * them those of this backend alone, which are banded. Not described yet. False behind the last. */
bool bench_suite_case(const assay_operator *op, assay_backend backend, int index, bench_case *one);

/* The name of a case from its sizes, layout, options and type; and whether its gate looks at some rows only.
 */
void bench_case_describe(bench_case *one);

/* Shapes and strides of the case's operands: by its sizes and layout, or as its inputs have them. */
void bench_case_plan(const bench_case *one, assay_plan *plan);

/* The word for the layout: the operator's, or "input". */
const char *bench_case_layout(const bench_case *one);

/* The candidate's ratio to the baseline, by the run's protocol. */
void bench_compare(const bench_run *run, const bench_variant *candidate, const bench_variant *baseline,
                   schedule_ratio *ratio);

/* Nanoseconds of a call that the ceilings leave room for. */
double bench_floor_ns(const bench_run *run, const bench_case *one);

/* False without memory. */
bool bench_add_sample(bench_variant *variant, const bench_sample *sample);

/* Gives the samples back. */
void bench_free(bench_run *run);

#endif
